//! The headers of a response in which owners speak.

use super::{Form, Place, Statement, Use, Verdict, content_signal, content_usage, tdm_reservation};

/// Names of the headers that are kept, in lower case.
const NAMES: [&str; 6] = ["x-robots-tag", "content-signal", "content-usage", "tdm-reservation", "tdm-policy", "link"];

/// The lines of these headers, as sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RightsHeaders(Vec<(&'static str, String)>);

impl RightsHeaders {
    /// Those of a response. `lines` gives the lines of a header by its name in lower case.
    pub fn new<L: IntoIterator<Item = String>>(lines: impl Fn(&'static str) -> L) -> RightsHeaders {
        RightsHeaders(
            NAMES.into_iter().flat_map(|name| lines(name).into_iter().map(move |line| (name, line))).collect(),
        )
    }

    fn lines<'h>(&'h self, name: &'h str) -> impl Iterator<Item = &'h str> {
        self.0.iter().filter(move |(one, _)| *one == name).map(|(_, line)| line.as_str())
    }

    /// `X-Robots-Tag` lines.
    pub fn robots_tags(&self) -> Vec<String> {
        self.lines("x-robots-tag").map(str::to_owned).collect()
    }

    /// What they say, but for `X-Robots-Tag`.
    pub(super) fn statements(&self) -> Vec<Statement> {
        let mut all = Vec::new();
        let mut say = |form, words: &str, uses| all.push(Statement::new(form, Place::Header, words, uses));
        self.lines("content-signal").for_each(|line| say(Form::ContentSignal, line, content_signal(line)));
        // Lines of one field are one list (RFC 9651, 4.2).
        let usage = self.lines("content-usage").collect::<Vec<_>>().join(", ");
        if !usage.is_empty() {
            say(Form::ContentUsage, &usage, content_usage(&usage));
        }
        let policy = self.lines("tdm-policy").next();
        for line in self.lines("tdm-reservation") {
            let words = policy.map_or(line.to_owned(), |policy| format!("{line}, policy {policy}"));
            say(Form::Tdmrep, &words, tdm_reservation(line));
        }
        for (address, is_rsl) in self.lines("link").flat_map(licences) {
            let (form, uses) =
                if is_rsl { (Form::Rsl, Vec::new()) } else { (Form::CreativeCommons, allowed_by(&address)) };
            if is_rsl || !uses.is_empty() {
                say(form, &address, uses);
            }
        }
        all
    }
}

/// Addresses of licences that a `Link` header names (RFC 8288), and whether each is one of RSL.
fn licences(line: &str) -> Vec<(String, bool)> {
    let mut found = Vec::new();
    let mut rest = line;
    while let Some((_, after)) = rest.split_once('<') {
        let Some((address, after)) = after.split_once('>') else { break };
        let (parameters, next) = parameters(after);
        rest = next;
        let has = |name: &str, value: &str| {
            parameters.iter().any(|(one, text)| {
                one.eq_ignore_ascii_case(name) && text.split_whitespace().any(|word| word.eq_ignore_ascii_case(value))
            })
        };
        if has("rel", "license") {
            found.push((address.trim().to_owned(), has("type", super::page::RSL_TYPE)));
        }
    }
    found
}

/// The parameters behind a target, up to the comma before the next one, and what follows.
fn parameters(mut text: &str) -> (Vec<(String, String)>, &str) {
    let mut all = Vec::new();
    loop {
        text = text.trim_start();
        let Some(after) = text.strip_prefix(';') else { return (all, text) };
        let end = after.find(['=', ';', ',']).unwrap_or(after.len());
        let (name, after) = after.split_at(end);
        let (value, after) = match after.strip_prefix('=').map(str::trim_start) {
            Some(quoted) if quoted.starts_with('"') => quoted[1..].split_once('"').unwrap_or((&quoted[1..], "")),
            Some(token) => token.split_at(token.find([';', ',']).unwrap_or(token.len())),
            None => ("", after),
        };
        all.push((name.trim().to_owned(), value.trim().to_owned()));
        text = after;
    }
}

/// What a licence of Creative Commons, named by its address or its short name, allows.
pub(super) fn allowed_by(text: &str) -> Vec<(Use, Verdict)> {
    let text = text.to_ascii_lowercase();
    let allow = |uses: &[Use]| uses.iter().map(|of| (*of, Verdict::Allow)).collect();
    // The host of an address, and not a part of the path of another one.
    let is_host = |before: &str| {
        let before = before.strip_suffix("www.").unwrap_or(before);
        before.ends_with("//") || before.is_empty() || before.ends_with(char::is_whitespace)
    };
    let named = text.split_once("creativecommons.org/").filter(|(before, _)| is_host(before));
    if named.is_none() && text.contains("://") {
        return Vec::new();
    }
    let licence = named.map(|(_, path)| path).or_else(|| {
        let at = text.find("cc by").or_else(|| text.find("cc-by")).or_else(|| text.find("cc0"))?;
        Some(&text[at..])
    });
    let Some(licence) = licence else { return Vec::new() };
    let code = licence.strip_prefix("licenses/").or_else(|| licence.strip_prefix("publicdomain/")).unwrap_or(licence);
    let words: Vec<&str> = code.split(['/', '-', ' ', '_', ',', '.']).take(5).collect();
    let is_known = ["by", "zero", "mark", "cc", "cc0"].iter().any(|word| words.first() == Some(word));
    match words.iter().any(|word| matches!(*word, "nc" | "nd" | "noncommercial" | "noderivs")) {
        _ if !is_known => Vec::new(),
        true => allow(&[Use::Search, Use::Archive]),
        false => allow(&Use::ALL),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(lines: &[(&'static str, &str)]) -> Vec<(Form, String, usize)> {
        let of = |name| lines.iter().filter(move |(one, _)| *one == name).map(|(_, line)| (*line).to_owned());
        let all = RightsHeaders::new(|name| of(name).collect::<Vec<_>>()).statements();
        all.into_iter().map(|one| (one.form, one.words, one.uses.len())).collect()
    }

    #[test]
    fn each_header_is_a_statement_and_lines_of_a_dictionary_are_one() {
        let lines = [("content-usage", "train-ai=n"), ("content-usage", "search=y"), ("content-signal", "ai-train=no")];
        let expected = [
            (Form::ContentSignal, "ai-train=no".to_owned(), 1),
            (Form::ContentUsage, "train-ai=n, search=y".to_owned(), 2),
        ];
        assert_eq!(said(&lines), expected);
        let policy = [("tdm-reservation", "1"), ("tdm-policy", "https://a.org/p.json")];
        assert_eq!(said(&policy), [(Form::Tdmrep, "1, policy https://a.org/p.json".to_owned(), 2)]);
    }

    #[test]
    fn licences_are_told_from_other_links() {
        let line = "</next>; rel=next, <https://a.org/l.xml>; rel=\"license\"; type=\"application/rsl+xml\", \
                    <https://creativecommons.org/licenses/by-nc/4.0/>;rel=license";
        let expected = [
            (Form::Rsl, "https://a.org/l.xml".to_owned(), 0),
            (Form::CreativeCommons, "https://creativecommons.org/licenses/by-nc/4.0/".to_owned(), 2),
        ];
        assert_eq!(said(&[("link", line)]), expected);
        for odd in ["<", "<a", "<a>;", "<a>; rel", "<a>; rel=\"license", "a; rel=license", "<a>;;;=;", ""] {
            assert!(said(&[("link", odd)]).len() <= 1, "{odd}");
        }
    }

    #[test]
    fn licences_of_creative_commons_are_told_by_address_and_name() {
        for (text, n) in [
            ("https://creativecommons.org/licenses/by/4.0/", 4),
            ("http://creativecommons.org/licenses/by-sa/3.0/de/", 4),
            ("https://creativecommons.org/publicdomain/zero/1.0/", 4),
            ("https://creativecommons.org/publicdomain/mark/1.0/", 4),
            ("https://creativecommons.org/licenses/by-nc-sa/4.0/", 2),
            ("https://creativecommons.org/licenses/by-nd/2.0/", 2),
            ("Licensed CC BY 4.0", 4),
            ("CC-BY-NC 4.0", 2),
            ("https://creativecommons.org/about/", 0),
            ("http://evil.test/creativecommons.org/licenses/by/4.0/", 0),
            ("http://evil.test/cc-by", 0),
            ("Text: //www.creativecommons.org/licenses/by/4.0/", 4),
            ("all rights reserved", 0),
        ] {
            assert_eq!(allowed_by(text).len(), n, "{text}");
        }
    }
}
