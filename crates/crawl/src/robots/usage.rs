//! What robots.txt says about the use of paths: `Content-Signal` and `Content-Usage`.

use super::encode::{Side, encode};
use super::rule::Rule;
use dehusk_core::rights::{Form, Place, Statement, Use, Verdict, content_signal, content_usage};

/// Statements about one path that are kept.
const MAX_STATEMENTS: usize = 20;

/// One such line.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct UsageRule {
    form: Form,
    /// The paths that it concerns.
    paths: Option<Rule>,
    words: String,
    uses: Vec<(Use, Verdict)>,
}

impl UsageRule {
    /// A path is followed by white space and the uses (draft-ietf-aipref-attach-04, 3). Without one, as in
    /// `Content-Signal: ai-train=no`, the line is for all paths.
    pub(super) fn parse(form: Form, value: &[u8]) -> UsageRule {
        let has_path = matches!(value.first(), Some(b'/' | b'*'));
        let end = value.iter().position(u8::is_ascii_whitespace).filter(|_| has_path);
        let (path, rest) = value.split_at(end.unwrap_or(0));
        let paths = Rule::parse(true, if end.is_some() { path } else { b"/" });
        let uses = String::from_utf8_lossy(rest);
        let uses = if form == Form::ContentUsage { content_usage(uses.trim()) } else { content_signal(&uses) };
        UsageRule { form, paths, words: String::from_utf8_lossy(value).into_owned(), uses }
    }
}

/// What these lines say about a path: of each form those with the longest pattern that matches. Two of the same length
/// both count.
pub(super) fn statements(lines: &[UsageRule], path: &str) -> Vec<Statement> {
    if lines.is_empty() {
        return Vec::new();
    }
    let path = encode(path.as_bytes(), Side::Url);
    let length = |line: &UsageRule| line.paths.as_ref().filter(|paths| paths.matches(&path)).map(Rule::length);
    let forms = [Form::ContentSignal, Form::ContentUsage].into_iter();
    let of_form = |form| lines.iter().filter(move |line| line.form == form);
    let longest = forms.filter_map(|form| Some((form, of_form(form).filter_map(length).max()?)));
    let chosen = longest.flat_map(|(form, longest)| of_form(form).filter(move |line| length(line) == Some(longest)));
    chosen
        .take(MAX_STATEMENTS)
        .map(|line| Statement::new(line.form, Place::Robots, line.words.clone(), line.uses.clone()))
        .collect()
}

#[cfg(test)]
mod tests {
    use crate::robots::Robots;
    use dehusk_core::rights::{Rights, Use, Verdict};
    use dehusk_html::PageUrl;

    fn of(text: &str, agent: &str, path: &str) -> Rights {
        let robots = Robots::parse(text.as_bytes(), &[agent.to_owned()]);
        Rights::new(robots.statements(&PageUrl::parse(&format!("http://s.com{path}")).unwrap()))
    }

    /// The example of draft-ietf-aipref-attach-04, 3.4.
    #[test]
    fn paths_and_groups_as_the_draft_has_them() {
        let text = "User-Agent: *\nAllow: /\nDisallow: /never/\nContent-Usage: / train-ai=n\nContent-Usage: /ai-ok/ \
                    train-ai=y\n\nUser-Agent: ExampleBot\nAllow: /\nContent-Usage: / train-ai=y";
        for (agent, path, verdict) in [
            ("dehusk", "/test", Verdict::Deny),
            ("dehusk", "/ai-ok/test", Verdict::Allow),
            ("examplebot", "/test", Verdict::Allow),
        ] {
            assert_eq!(of(text, agent, path).verdict(Use::Train), Some(verdict), "{agent} {path}");
        }
    }

    #[test]
    fn lines_without_a_path_are_for_all_and_two_of_a_length_both_count() {
        let text = "User-agent: *\nContent-Signal: ai-train=no, search=yes, ai-input=yes\nContent-usage:train-ai=n#x\nAllow: /";
        let rights = of(text, "dehusk", "/a");
        let all = [Use::Search, Use::Input, Use::Train].map(|one| rights.verdict(one));
        assert_eq!(all, [Some(Verdict::Allow), Some(Verdict::Allow), Some(Verdict::Deny)]);
        assert_eq!(rights.statements.len(), 2);
        let twice =
            "User-agent: *\nContent-Usage: /a train-ai=y\nContent-Usage: /a train-ai=n\nContent-Usage: / search=n";
        let rights = of(twice, "dehusk", "/a/b");
        assert_eq!((rights.verdict(Use::Train), rights.verdict(Use::Search)), (Some(Verdict::Deny), None));
        assert_eq!(rights.conflicts(), [Use::Train]);
        assert!(
            of("Content-Signal: ai-train=no", "dehusk", "/").denial(Use::Train).is_some(),
            "before the first group"
        );
        assert!(of("User-agent: other\nContent-Signal: ai-train=no", "dehusk", "/").is_empty());
    }

    /// They are no rules of RFC 9309: agents named around one share the rules that follow (2.2.4).
    #[test]
    fn such_lines_loosen_no_rule() {
        for line in ["Content-Signal: ai-train=yes", "Content-Usage: / train-ai=y", "License: https://s.com/l.xml"] {
            let text = format!("User-agent: dehusk\n{line}\nUser-agent: other\nDisallow: /private");
            let robots = Robots::parse(text.as_bytes(), &["dehusk".to_owned()]);
            assert!(!robots.allows(&PageUrl::parse("http://s.com/private").unwrap()), "{line}");
            let first = format!("{line}\nUser-agent: *\nDisallow: /private");
            let robots = Robots::parse(first.as_bytes(), &["dehusk".to_owned()]);
            assert!(!robots.allows(&PageUrl::parse("http://s.com/private").unwrap()), "{line}");
        }
    }

    #[test]
    fn all_agents_of_a_list_hear_what_stands_in_it() {
        let text = "User-agent: *\nContent-Signal: ai-train=no\nUser-agent: dehusk\nAllow: /";
        for agent in ["dehusk", "other"] {
            assert!(of(text, agent, "/").denial(Use::Train).is_some(), "{agent}");
        }
        assert!(of("User-agent: dehusk\nContent-Signal: ai-train=no", "dehusk", "/").denial(Use::Train).is_some());
    }

    #[test]
    fn licences_are_those_of_our_group_and_of_all() {
        let text = "License: https://s.com/all.xml\nUser-agent: other\nAllow: /\nLicense: https://s.com/other.xml\nUser-agent: \
                    dehusk\nDisallow: /x\nLicense: https://s.com/ours.xml";
        let robots = Robots::parse(text.as_bytes(), &["dehusk".to_owned()]);
        assert_eq!(robots.licences(), ["https://s.com/all.xml", "https://s.com/ours.xml"]);
        assert_eq!(of(text, "dehusk", "/a").lines()[0], "rsl (robots.txt): https://s.com/all.xml");
    }
}
