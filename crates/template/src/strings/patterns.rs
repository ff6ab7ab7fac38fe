//! Mutable patterns such as dates, numbers and addresses. Each match becomes one symbol, whatever its text.

use std::sync::{Arc, LazyLock, OnceLock};

use regex_automata::meta::{BuildError, Cache, Regex};
use regex_automata::util::syntax;
use regex_automata::{Input, Match};
use serde::{Deserialize, Serialize};

/// A list of patterns, compiled into one automaton when they are first searched for.
#[derive(Clone, Debug)]
pub struct Patterns {
    list: Arc<[Pattern]>,
    /// Copies share it.
    regex: Arc<OnceLock<Regex>>,
}

/// One kind of mutable text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pattern {
    /// Name that represents it in a template.
    pub name: String,
    /// Regular expression.
    pub regex: String,
    /// A text that it matches as a whole.
    pub test: String,
}

impl Default for Patterns {
    fn default() -> Patterns {
        Patterns::shipped()
    }
}

impl PartialEq for Patterns {
    fn eq(&self, other: &Patterns) -> bool {
        self.list == other.list
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    pattern: Vec<Pattern>,
}

/// Why a list is rejected.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum PatternsError {
    /// Not valid TOML, or not of the expected form.
    #[error("{0}")]
    Form(String),
    /// An expression that does not compile.
    #[error("pattern {name}: {reason}")]
    Regex {
        /// The pattern.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A pattern that does not match the whole of its test text.
    #[error("pattern {name}: does not match the whole of its test {test:?}")]
    Test {
        /// The pattern.
        name: String,
        /// Its test text.
        test: String,
    },
    /// A pattern that matches the empty text would match everywhere.
    #[error("pattern {0}: matches the empty text")]
    Empty(String),
}

impl Patterns {
    /// Reads a TOML list of `[[pattern]]` with `name`, `regex` and `test`.
    ///
    /// An error of form names the line, and does not quote it: settings of a stranger may name any file.
    pub fn parse(text: &str) -> Result<Patterns, PatternsError> {
        let patterns = Patterns::unchecked(text)?;
        patterns.check()?;
        Ok(patterns)
    }

    /// The patterns that ship with the program. They are compiled once.
    pub fn shipped() -> Patterns {
        // A test ensures that the list is well formed. To check it here would cost each start 30 ms.
        static SHIPPED: LazyLock<Patterns> =
            LazyLock::new(|| Patterns::unchecked(include_str!("patterns.toml")).unwrap_or_else(|_| Patterns::none()));
        SHIPPED.clone()
    }

    /// No patterns: all text is taken literally.
    pub fn none() -> Patterns {
        Patterns { list: Arc::default(), regex: Arc::default() }
    }

    /// A list that was stored.
    pub(super) fn of(list: Vec<Pattern>) -> Result<Patterns, PatternsError> {
        let patterns = Patterns { list: list.into(), ..Patterns::none() };
        patterns.check()?;
        Ok(patterns)
    }

    fn unchecked(text: &str) -> Result<Patterns, PatternsError> {
        let file: File = toml::from_str(text).map_err(|e| PatternsError::Form(form_error(text, &e)))?;
        Ok(Patterns { list: file.pattern.into(), ..Patterns::none() })
    }

    /// Whether each pattern compiles, matches its test and does not match everywhere.
    fn check(&self) -> Result<(), PatternsError> {
        for pattern in &*self.list {
            let Pattern { name, regex, test } = pattern;
            let compiled =
                Regex::new(regex).map_err(|e| PatternsError::Regex { name: name.clone(), reason: e.to_string() })?;
            let shortest = syntax::parse(regex).ok().and_then(|hir| hir.properties().minimum_len());
            if compiled.is_match("") || shortest == Some(0) {
                return Err(PatternsError::Empty(name.clone()));
            }
            if compiled.find(test).is_none_or(|found| found.range() != (0..test.len())) {
                return Err(PatternsError::Test { name: name.clone(), test: test.clone() });
            }
        }
        let compiled = self.compiled().map_err(|e| PatternsError::Form(e.to_string()))?;
        self.regex.get_or_init(|| compiled);
        Ok(())
    }

    fn compiled(&self) -> Result<Regex, Box<BuildError>> {
        let all: Vec<&str> = self.list.iter().map(|pattern| pattern.regex.as_str()).collect();
        Regex::new_many(&all).map_err(Box::new)
    }

    fn regex(&self) -> &Regex {
        self.regex.get_or_init(|| self.compiled().unwrap_or_else(|_| none()))
    }

    /// The patterns, in their order.
    pub fn list(&self) -> &[Pattern] {
        &self.list
    }

    /// Scratch space for one thread.
    pub(super) fn cache(&self) -> Cache {
        self.regex().create_cache()
    }

    /// The leftmost match at or after `at`. Of several patterns that match there, the first in the list is taken.
    pub(super) fn find_at(&self, text: &str, at: usize, cache: &mut Cache) -> Option<Match> {
        self.regex().search_with(cache, &Input::new(text).range(at..))
    }
}

/// The line of a TOML error, and what is wrong there.
fn form_error(text: &str, error: &toml::de::Error) -> String {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    format!("line {}: not a list of [[pattern]] with name, regex and test", before.matches('\n').count() + 1)
}

/// An expression that matches nothing.
#[expect(clippy::expect_used, reason = "a list of no expression compiles")]
fn none() -> Regex {
    Regex::new_many::<&str>(&[]).expect("no expression")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_no_list_of_patterns_is_not_quoted() {
        for text in ["root:*:20228:0:99999:7:::", "\npassword = \"hunter2\"", "[[pattern]]\nname = 7\nroot = \"\""] {
            let error = Patterns::parse(text).unwrap_err().to_string();
            assert!(error.starts_with("line ") && error.ends_with("with name, regex and test"), "{error}");
        }
    }

    #[test]
    fn the_shipped_list_does_what_it_says() {
        let patterns = Patterns::parse(include_str!("patterns.toml")).unwrap();
        assert!(patterns.list().len() > 10);
        for (at, pattern) in patterns.list().iter().enumerate() {
            let found = patterns.find_at(&pattern.test, 0, &mut patterns.cache()).unwrap();
            assert_eq!((found.pattern().as_usize(), found.range()), (at, 0..pattern.test.len()), "{}", pattern.name);
        }
        let first = |text: &str| {
            let found = patterns.find_at(text, 0, &mut patterns.cache())?;
            Some(patterns.list()[found.pattern().as_usize()].name.as_str())
        };
        assert_eq!((first("Mayor Marches"), first("in May"), first("on Mon.")), (None, Some("month"), Some("weekday")));
        assert_eq!(Patterns::none().find_at("2026", 0, &mut Patterns::none().cache()), None);
    }

    #[test]
    fn a_wrong_list_is_refused_by_the_name_of_the_pattern() {
        let refusal = |regex: &str, test: &str| {
            let text = format!("[[pattern]]\nname = \"mine\"\nregex = '{regex}'\ntest = \"{test}\"");
            Patterns::parse(&text).unwrap_err().to_string()
        };
        assert_eq!(refusal("[0-9]", "12"), "pattern mine: does not match the whole of its test \"12\"");
        assert_eq!(refusal("[0-9]*", "12"), "pattern mine: matches the empty text");
        assert_eq!(refusal(r"\b(?:[0-9]+)?\b", "12"), "pattern mine: matches the empty text");
        assert!(refusal("[0-9", "1").starts_with("pattern mine: "));
        assert!(Patterns::parse("[[pattern]]\nname = 3").unwrap_err().to_string().contains("name"));
        assert!(Patterns::parse("[[patterns]]").is_err());
    }
}
