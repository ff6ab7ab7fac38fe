//! `/ai.txt` by Spawning: rules as in robots.txt, for training. Its patterns name kinds of files: `Disallow: *.html`.

use crate::robots::Robots;
use dehusk_core::rights::{Form, Place, Statement, Use, Verdict};
use dehusk_html::PageUrl;

/// The rules for our agents.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct AiTxt(Box<Robots>);

impl AiTxt {
    /// The rules of a file; `None` where it is a page.
    pub(super) fn read(text: &str, agents: &[String]) -> Option<AiTxt> {
        let is_page = text.trim_start_matches('\u{feff}').trim_start().starts_with('<');
        (!is_page).then(|| AiTxt(Box::new(Robots::parse(text.as_bytes(), agents))))
    }

    /// What they say about a page. One whose path does not end as a file does is HTML.
    pub(super) fn statement(&self, url: &PageUrl) -> Option<Statement> {
        let path = url.path();
        let has_ending = path.rsplit('/').next().is_some_and(|name| name.contains('.'));
        let path = if has_ending { path.to_owned() } else { format!("{path}.html") };
        let is_allowed = self.0.rule_of(&path)?;
        let (words, verdict) = if is_allowed { ("allows it", Verdict::Allow) } else { ("disallows it", Verdict::Deny) };
        Some(Statement::new(Form::AiTxt, Place::File, words, vec![(Use::Train, verdict)]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn train(text: &str, path: &str) -> Option<Verdict> {
        let url = PageUrl::parse(&format!("http://s.com{path}")).unwrap();
        let rules = AiTxt::read(text, &["dehusk/1".to_owned()])?;
        Some(rules.statement(&url)?.uses[0].1)
    }

    #[test]
    fn kinds_of_files_and_paths() {
        let text =
            "# prevents training\nUser-Agent: *\nDisallow: *.html\nDisallow: *.txt\nAllow: *.pdf\nAllow: /open/a";
        for (path, expected) in [
            ("/a.html", Some(Verdict::Deny)),
            ("/a/b", Some(Verdict::Deny)),
            ("/", Some(Verdict::Deny)),
            ("/a.pdf", Some(Verdict::Allow)),
            ("/open/a", Some(Verdict::Allow)),
            ("/a.php", None),
        ] {
            assert_eq!(train(text, path), expected, "{path}");
        }
        assert_eq!(train("User-Agent: *\nDisallow: /", "/x"), Some(Verdict::Deny));
        assert_eq!(train("User-Agent: other\nDisallow: /", "/x"), None);
    }

    #[test]
    fn pages_and_other_texts_say_nothing() {
        for text in ["", "<!doctype html><p>User-agent: *\nDisallow: /", "Training: deny", "\u{0}\u{1}"] {
            assert_eq!(train(text, "/x"), None, "{text}");
        }
    }
}
