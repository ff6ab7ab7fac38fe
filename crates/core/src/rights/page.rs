//! What a page and its response say.

use super::headers::allowed_by;
use super::{Form, Place, RightsHeaders, Statement, Use, Verdict, tdm_reservation};
use crate::page_rules::{OurAgents, directives_of_line};
use dehusk_html::{NodeId, ScriptKind, Tree};

/// The media type of a licence of RSL.
pub(super) const RSL_TYPE: &str = "application/rsl+xml";

/// Names of `meta` elements that may hold a licence of Creative Commons.
const LICENCE_NAMES: [&str; 5] = ["dc.rights", "dcterms.rights", "dcterms.license", "license", "rights"];

/// What a page and the headers of its response say, to our agents. The tree need not hold the whole page.
pub fn page_statements(headers: &RightsHeaders, tree: &Tree, agents: &[String]) -> Vec<Statement> {
    let ours = OurAgents::new(agents);
    let mut all = headers.statements();
    for line in headers.robots_tags() {
        let uses = uses_of(&directives_of_line(&line, &ours));
        all.push(Statement::new(Form::RobotsTag, Place::Header, line, uses));
    }
    let mut say = |form, words: &str, uses| all.push(Statement::new(form, Place::Page, words.trim(), uses));
    let attribute = |node: NodeId, name: &str| tree.attr(node, name).unwrap_or_default();
    let metas: Vec<(&str, &str)> = tree
        .all("meta")
        .filter_map(|meta| Some((tree.attr(meta, "name")?.trim(), tree.attr(meta, "content")?)))
        .collect();
    let named = |name: &str| metas.iter().find(|(one, _)| one.eq_ignore_ascii_case(name)).map(|(_, content)| *content);
    for (name, content) in &metas {
        if name.eq_ignore_ascii_case("robots") || ours.contains(name) {
            let uses = uses_of(content);
            // Pages that only ask for an index or a preview say nothing about rights.
            if !uses.is_empty() || content.to_ascii_lowercase().contains("noimageai") {
                say(Form::RobotsTag, &format!("{name}: {content}"), uses);
            }
        } else if LICENCE_NAMES.iter().any(|one| name.eq_ignore_ascii_case(one)) {
            let uses = allowed_by(content);
            if !uses.is_empty() {
                say(Form::CreativeCommons, content, uses);
            }
        }
    }
    if let Some(reservation) = named("tdm-reservation") {
        let policy = named("tdm-policy").map(|policy| format!(", policy {policy}")).unwrap_or_default();
        say(Form::Tdmrep, &format!("{reservation}{policy}"), tdm_reservation(reservation));
    }
    for node in tree.all("link").chain(tree.all("a")) {
        if !attribute(node, "rel").split_whitespace().any(|word| word.eq_ignore_ascii_case("license")) {
            continue;
        }
        let address = attribute(node, "href");
        let is_rsl = attribute(node, "type").trim().eq_ignore_ascii_case(RSL_TYPE);
        let uses = if is_rsl { Vec::new() } else { allowed_by(address) };
        if is_rsl || !uses.is_empty() {
            say(if is_rsl { Form::Rsl } else { Form::CreativeCommons }, address, uses);
        }
    }
    for (_, _, _, text) in tree.data_scripts().filter(|(kind, ..)| *kind == ScriptKind::Rsl) {
        say(Form::Rsl, text, Vec::new());
    }
    all
}

/// The uses that robots directives deny.
fn uses_of(directives: &str) -> Vec<(Use, Verdict)> {
    let mut denied: Vec<Use> = Vec::new();
    let lower = directives.to_ascii_lowercase();
    let is_separator = |c: char| c.is_whitespace() || matches!(c, ',' | ';' | '/' | '|');
    let mut words = lower.split(is_separator).filter(|word| !word.is_empty()).peekable();
    while let Some(word) = words.next() {
        let value = word.split_once(':').map(|(_, value)| value);
        let value = if value == Some("") { words.peek().copied() } else { value };
        denied.extend_from_slice(match word.split_once(':').map_or(word, |(name, _)| name) {
            "noai" => &[Use::Input, Use::Train],
            "noarchive" => &[Use::Input, Use::Train, Use::Archive],
            "nosnippet" => &[Use::Input],
            "max-snippet" if value == Some("0") => &[Use::Input],
            "noindex" | "none" => &[Use::Search],
            _ => &[],
        });
    }
    Use::ALL.into_iter().filter(|of| denied.contains(of)).map(|of| (of, Verdict::Deny)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rights::Rights;
    use dehusk_html::{ParseOptions, parse};

    fn of(headers: &[(&'static str, &str)], html: &str) -> Rights {
        let lines = |name| headers.iter().filter(move |(one, _)| *one == name).map(|(_, line)| (*line).to_owned());
        let headers = RightsHeaders::new(|name| lines(name).collect::<Vec<_>>());
        let tree = parse(html, &ParseOptions::default());
        Rights::new(page_statements(&headers, &tree, &["dehusk/1".to_owned()]))
    }

    fn denied(rights: &Rights) -> Vec<&'static str> {
        Use::ALL.into_iter().filter(|of| rights.denial(*of).is_some()).map(Use::name).collect()
    }

    #[test]
    fn directives_in_headers_and_metas_for_all_and_for_us() {
        for (line, expected) in [
            ("noai, noimageai", vec!["input", "train"]),
            ("noarchive", vec!["input", "train", "archive"]),
            ("max-snippet: 0", vec!["input"]),
            ("max-snippet:20, nosnippet", vec!["input"]),
            ("none", vec!["search"]),
            ("dehusk: noai", vec!["input", "train"]),
            ("otherbot: noai", vec![]),
            ("noimageai", vec![]),
            ("max-snippet:50, all", vec![]),
        ] {
            let header = of(&[("x-robots-tag", line)], "");
            assert_eq!(denied(&header), expected, "{line}");
            assert_eq!(header.robots_tags(), [line], "verbatim");
            if !line.contains("bot:") && !line.contains("dehusk:") {
                let meta = of(&[], &format!("<meta name=robots content='{line}'>"));
                assert_eq!(denied(&meta), expected, "{line}");
            }
        }
        assert_eq!(
            denied(&of(&[], "<meta name=Dehusk content=noai><meta name=gptbot content=none>")),
            ["input", "train"]
        );
        assert!(of(&[], "<meta name=robots content='index, follow, max-image-preview:large'>").is_empty());
    }

    #[test]
    fn reservations_and_licences_of_a_page() {
        let page = "<meta name=tdm-reservation content=1><meta name=tdm-policy content=https://a.org/p>";
        let rights = of(&[], page);
        assert_eq!((denied(&rights), rights.lines().len()), (vec!["input", "train"], 1));
        let free = of(&[], "<a rel='nofollow license' href=https://creativecommons.org/licenses/by/4.0/>CC</a>");
        assert_eq!(free.verdict(Use::Train), Some(Verdict::Allow));
        let text = of(&[], "<meta name=DC.rights content='Text is CC BY-NC 4.0'>");
        assert_eq!((text.verdict(Use::Train), text.verdict(Use::Search)), (None, Some(Verdict::Allow)));
        let rsl = of(&[], "<link rel=license type=application/rsl+xml href=/l.xml><link rel=license href=/terms>");
        assert_eq!(rsl.lines(), ["rsl (page): /l.xml"]);
        let inline = of(&[], "<script type=application/rsl+xml><rsl></rsl></script>");
        assert_eq!(inline.lines(), ["rsl (page): <rsl></rsl>"]);
        let both = of(&[("content-usage", "train-ai=y")], page);
        assert_eq!(both.conflicts(), [Use::Train]);
    }
}
