//! Licences of Really Simple Licensing (RSL 1.0, Recommendation of 2025): `content` elements with an address pattern,
//! `license` elements with what they permit and prohibit, and what is paid for.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use crate::robots::{PathPattern, path_and_query};
use dehusk_core::rights::{Form, Place, Statement, Use, Verdict};
use dehusk_html::PageUrl;

/// `content` elements that are kept.
const MAX_CONTENTS: usize = 1000;

/// A licence file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Licence {
    contents: Vec<Content>,
}

/// What is said about the addresses of a pattern.
#[derive(Clone, Debug, Default, PartialEq)]
struct Content {
    /// Origin, where the pattern names one.
    origin: Option<String>,
    paths: Option<PathPattern>,
    /// Whether a licence must be had from a server.
    has_server: bool,
    permitted: Vec<Use>,
    prohibited: Vec<Use>,
}

/// One `license` element while it is read.
#[derive(Default)]
struct Terms {
    permitted: Vec<Use>,
    prohibited: Vec<Use>,
    is_paid: bool,
}

/// What is known while a file is read.
#[derive(Default)]
struct Reading {
    licence: Option<Licence>,
    content: Option<Content>,
    terms: Terms,
    /// Whether the text that follows permits (true) or prohibits (false) uses.
    list: Option<bool>,
}

/// Reads a file; `None` where it is none of RSL. What follows a mistake of the XML is ignored.
pub(super) fn read(text: &str) -> Option<Licence> {
    let mut reader = Reader::from_str(text.trim_start_matches('\u{feff}'));
    reader.config_mut().check_end_names = false;
    let mut reading = Reading::default();
    loop {
        match reader.read_event() {
            Ok(Event::Eof) | Err(_) => return reading.licence,
            Ok(Event::Start(start)) => reading.start(&start),
            Ok(Event::Empty(start)) => {
                reading.start(&start);
                reading.end(start.local_name().as_ref());
            }
            Ok(Event::Text(text)) => reading.text(&text),
            Ok(Event::End(end)) => reading.end(end.local_name().as_ref()),
            Ok(_) => {}
        }
    }
}

impl Reading {
    fn start(&mut self, start: &BytesStart<'_>) {
        match start.local_name().as_ref() {
            "rsl" => _ = self.licence.get_or_insert_default(),
            "content" => self.content = Content::of(start),
            "license" => self.terms = Terms::default(),
            name @ ("permits" | "prohibits") => {
                let is_usage = attribute(start, "type").is_none_or(|kind| kind == "usage");
                self.list = is_usage.then_some(name == "permits");
            }
            "payment" => self.terms.is_paid = attribute(start, "type").is_some_and(|kind| kind != "free"),
            "standard" | "custom" | "amount" => self.terms.is_paid = true,
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        let uses = text.split(|c: char| c == ',' || c.is_whitespace()).flat_map(uses_of).copied();
        match self.list {
            Some(true) => self.terms.permitted.extend(uses),
            Some(false) => self.terms.prohibited.extend(uses),
            None => {}
        }
    }

    fn end(&mut self, name: &str) {
        match name {
            "permits" | "prohibits" => self.list = None,
            "license" => {
                let terms = std::mem::take(&mut self.terms);
                if let Some(content) = &mut self.content {
                    content.add(terms);
                }
            }
            "content" => {
                if let (Some(licence), Some(content)) = (&mut self.licence, self.content.take())
                    && licence.contents.len() < MAX_CONTENTS
                {
                    licence.contents.push(content);
                }
            }
            _ => {}
        }
    }
}

impl Content {
    fn of(start: &BytesStart<'_>) -> Option<Content> {
        let url = attribute(start, "url")?;
        let (origin, path) = match url.split_once("://") {
            Some((scheme, rest)) => {
                let (host, path) = rest.find('/').map_or((rest, "/"), |at| rest.split_at(at));
                (Some(format!("{scheme}://{host}").to_ascii_lowercase()), path.to_owned())
            }
            None => (None, url),
        };
        let has_server = attribute(start, "server").is_some();
        Some(Content { origin, paths: Some(PathPattern::new(&path)?), has_server, ..Content::default() })
    }

    /// Adds a licence. A use is permitted where one of them permits it for nothing.
    fn add(&mut self, terms: Terms) {
        self.prohibited.extend(terms.prohibited);
        if !terms.is_paid && !self.has_server {
            self.permitted.extend(terms.permitted);
        }
    }

    /// Bytes of the pattern, if it matches.
    fn matched(&self, url: &PageUrl, path: &str) -> Option<usize> {
        let is_of_origin = self.origin.as_ref().is_none_or(|origin| *origin == url.origin());
        self.paths.as_ref().filter(|paths| is_of_origin && paths.matches(path)).map(|paths| paths.text().len())
    }
}

impl Licence {
    /// What it says about a page: the `content` with the longest pattern counts.
    pub(super) fn statement(&self, address: &str, url: &PageUrl) -> Option<Statement> {
        let path = path_and_query(url);
        let matched = self.contents.iter().filter_map(|content| Some((content.matched(url, &path)?, content)));
        let (_, content) = matched.max_by_key(|(length, _)| *length)?;
        let verdict = |of: &Use| match (content.prohibited.contains(of), content.permitted.contains(of)) {
            (true, _) => Some(Verdict::Deny),
            (false, true) => Some(Verdict::Allow),
            _ => None,
        };
        let uses: Vec<(Use, Verdict)> = Use::ALL.iter().filter_map(|of| Some((*of, verdict(of)?))).collect();
        let named = |wanted| {
            let names: Vec<&str> =
                uses.iter().filter(|(_, verdict)| *verdict == wanted).map(|(of, _)| of.name()).collect();
            if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
        };
        let words = format!("{address}: permits {}, prohibits {}", named(Verdict::Allow), named(Verdict::Deny));
        Some(Statement::new(Form::Rsl, Place::Robots, words, uses))
    }
}

/// The uses that a word of the vocabulary stands for. `train-ai` and the like are words of its first draft.
fn uses_of(word: &str) -> &'static [Use] {
    match word {
        "all" => &[Use::Search, Use::Input, Use::Train, Use::Archive],
        "ai-all" => &[Use::Input, Use::Train],
        "ai-train" | "train-ai" | "train-genai" => &[Use::Train],
        "ai-input" | "ai-index" | "ai-use" => &[Use::Input],
        "search" => &[Use::Search],
        _ => &[],
    }
}

fn attribute(start: &BytesStart<'_>, name: &str) -> Option<String> {
    let attribute = start.try_get_attribute(name).ok()??;
    Some(attribute.value.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use dehusk_core::rights::Rights;

    fn of(text: &str, path: &str) -> Option<Vec<(Use, Verdict)>> {
        let url = PageUrl::parse(&format!("https://s.com{path}")).unwrap();
        Some(read(text)?.statement("https://s.com/l.xml", &url)?.uses)
    }

    fn rsl(content: &str) -> String {
        format!("<rsl xmlns=\"https://rslstandard.org/rsl\">{content}</rsl>")
    }

    #[test]
    fn what_is_prohibited_is_denied_and_what_is_free_allowed() {
        let text = rsl("<content url=\"/\"><license><permits type=\"usage\">search</permits><prohibits \
             type=\"usage\">ai-all</prohibits></license></content>");
        let expected = [(Use::Search, Verdict::Allow), (Use::Input, Verdict::Deny), (Use::Train, Verdict::Deny)];
        assert_eq!(of(&text, "/a").unwrap(), expected);
        let paid = rsl(
            "<content url=\"/\"><license><permits type=\"usage\">ai-train</permits><payment type=\"subscription\">\
             <custom>https://s.com/c</custom></payment></license></content>",
        );
        assert_eq!(of(&paid, "/a").unwrap(), []);
        let server =
            rsl("<content url=\"/\" server=\"https://r.org\"><license><permits>all</permits></license></content>");
        assert_eq!(of(&server, "/a").unwrap(), []);
        let user = rsl("<content url='/'><license><prohibits type='user'>all</prohibits></license></content>");
        assert_eq!(of(&user, "/a").unwrap(), []);
    }

    #[test]
    fn the_longest_pattern_of_the_origin_counts() {
        let text = rsl("<content url=\"https://s.com/*\"><license><prohibits>all</prohibits></license></content>\
             <content url=\"/open/\"><license><permits>ai-train, search</permits><payment type='free'/></license></content>\
             <content url=\"https://other.com/open/x/*\"><license><prohibits>all</prohibits></license></content>");
        assert_eq!(of(&text, "/a").unwrap().len(), 4);
        let rights = |path| {
            let url = PageUrl::parse(&format!("https://s.com{path}")).unwrap();
            Rights::new(read(&text).unwrap().statement("l", &url))
        };
        assert_eq!(rights("/open/x/y").verdict(Use::Train), Some(Verdict::Allow));
        assert_eq!(rights("/a").verdict(Use::Train), Some(Verdict::Deny));
    }

    #[test]
    fn what_is_malformed_says_nothing_or_what_came_before() {
        for text in ["", "<html><body>", "{}", "<rsl", "<feed><content url='/'/></feed>"] {
            assert!(of(text, "/a").is_none(), "{text}");
        }
        let cut = rsl("<content url='/'><license><prohibits>ai-train</prohibits></license></content><content url=");
        assert_eq!(of(&cut, "/a").unwrap(), [(Use::Train, Verdict::Deny)]);
        assert!(of(&rsl("<content><license><prohibits>all</prohibits></license></content>"), "/a").is_none());
        assert_eq!(of(&rsl("<content url=\"/\"/>"), "/a").unwrap(), []);
    }
}
