//! One rule, and what it matches.

use super::encode::{Side, encode};

/// One `Allow` or `Disallow` line.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Rule {
    pub(super) allow: bool,
    /// Percent-encoded. `*` is the only special byte; a final `$` is stored as `ends`.
    pattern: Vec<u8>,
    ends: bool,
}

impl Rule {
    pub(super) fn parse(allow: bool, value: &[u8]) -> Option<Rule> {
        let (value, ends) = value.strip_suffix(b"$").map_or((value, false), |rest| (rest, true));
        if value.is_empty() && !ends {
            return None;
        }
        Some(Rule { allow, pattern: encode(value, Side::Rule), ends })
    }

    /// The rule for `/x/` that `Allow: /x/index.html` implies, as in Google's parser.
    pub(super) fn folder_of_index(&self) -> Option<Rule> {
        let at = self.pattern.iter().rposition(|byte| *byte == b'/')? + 1;
        let is_index = self.allow && matches!(&self.pattern[at..], b"index.html" | b"index.htm");
        is_index.then(|| Rule { allow: true, pattern: self.pattern[..at].to_vec(), ends: true })
    }

    /// Whether it matches every path.
    pub(super) fn is_of_all(&self) -> bool {
        let begin = self.pattern.strip_suffix(b"*").unwrap_or(&self.pattern);
        matches!(begin, b"" | b"/") && (!self.ends || begin.len() < self.pattern.len())
    }

    /// Octets of the pattern. The longest matching pattern is the most specific rule (2.2.2).
    pub(super) fn length(&self) -> usize {
        self.pattern.len() + usize::from(self.ends)
    }

    /// Whether the pattern matches a path. The leftmost match of each part between stars is enough, because a star
    /// matches any gap. Linear in the path for each part.
    pub(super) fn matches(&self, path: &[u8]) -> bool {
        let mut parts = self.pattern.split(|byte| *byte == b'*');
        let Some(mut rest) = parts.next().and_then(|first| path.strip_prefix(first)) else { return false };
        let mut parts = parts.peekable();
        if parts.peek().is_none() {
            return !self.ends || rest.is_empty();
        }
        while let Some(part) = parts.next() {
            if parts.peek().is_none() && self.ends {
                return rest.ends_with(part);
            }
            let Some(at) = find(rest, part) else { return false };
            rest = &rest[at + part.len()..];
        }
        true
    }
}

/// A pattern of paths as in a rule, for other files that are written like robots.txt.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PathPattern {
    rule: Rule,
    text: String,
}

impl PathPattern {
    /// The pattern; `None` where it is empty.
    pub(crate) fn new(text: &str) -> Option<PathPattern> {
        Some(PathPattern { rule: Rule::parse(true, text.trim().as_bytes())?, text: text.trim().to_owned() })
    }

    /// As written.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Whether it matches a path with its query.
    pub(crate) fn matches(&self, path: &str) -> bool {
        self.rule.matches(&encode(path.as_bytes(), Side::Url))
    }
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    memchr::memmem::find(text, part)
}
