//! Template strings as regular expressions, the paper's own output format (Foschini 2007, section 3.4).

use super::StringsError;
use super::learned::{StringTemplate, TemplateString};
use super::patterns::Patterns;
use super::tokens::{GLUED, PATTERN};
use crate::strings::StringTokens;

impl StringTemplate {
    /// One regular expression per string, in the order of the strings.
    ///
    /// Unlike in the paper's examples, literals are escaped (`you\?`), and an expression also matches at the start and
    /// end of a text. An expression matches where the string does in the documents that it was learned from: a blank
    /// must stand before and behind it, but not beside a pattern, which other characters may touch, nor where a
    /// document has a pattern that touches its last word. There it may also match within a longer word. The syntax is
    /// the common subset of Rust, RE2, Python and Perl.
    pub fn expressions(&self, patterns: &Patterns) -> Result<Vec<String>, StringsError> {
        let blank = self.blank()?;
        let expression = |string: &TemplateString| {
            let (before, after) = self.edges(string, blank);
            format!("{before}{}{after}", self.core(string, blank, patterns))
        };
        Ok(self.strings.iter().map(expression).collect())
    }

    /// What must stand before and behind a string.
    fn edges(&self, string: &TemplateString, blank: &str) -> (String, String) {
        let first = self.keys(string).next().unwrap_or_default();
        let last = self.keys(string).last().unwrap_or_default();
        let is_pattern = last.strip_prefix(GLUED).unwrap_or(last).starts_with(PATTERN);
        let before = if first.starts_with(GLUED) { String::new() } else { format!("(?:^|{blank})") };
        let is_open = is_pattern || string.is_touched;
        let after = if is_open { String::new() } else { format!("(?:{blank}|$)") };
        (before, after)
    }

    fn blank(&self) -> Result<&'static str, StringsError> {
        match self.tokens {
            _ if self.of_pages => Err(StringsError::NoExpressions),
            StringTokens::Ws => Ok(r"\s+"),
            StringTokens::F2007 => Ok(r"[\-\s]+"),
            StringTokens::Html | StringTokens::Auto => Err(StringsError::NoExpressions),
        }
    }

    fn core(&self, string: &TemplateString, blank: &str, patterns: &Patterns) -> String {
        let mut out = String::new();
        for key in self.keys(string) {
            let (is_glued, key) = key.strip_prefix(GLUED).map_or((false, key), |key| (true, key));
            if !out.is_empty() && !is_glued {
                out.push_str(blank);
            }
            match key.strip_prefix(PATTERN) {
                Some(name) => match patterns.list().iter().find(|pattern| pattern.name == name) {
                    // `(?-u:\b)` is specific to Rust; other engines need `\b`.
                    Some(pattern) => out.push_str(&grouped(&pattern.regex.replace(r"(?-u:\b)", r"\b"))),
                    // The template was learned with a pattern that this list lacks.
                    None => out.push_str(r"\S+"),
                },
                None => out.push_str(&regex_syntax::escape(key)),
            }
        }
        out
    }
}

/// A single character class, repeated or not, stays as it is. Any other expression is put into a group.
fn grouped(regex: &str) -> String {
    let is_plain = regex.starts_with('[') && regex.find(']').is_some_and(|end| regex.len() <= end + 2);
    if is_plain { regex.to_owned() } else { format!("(?:{regex})") }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use regex_automata::meta::Regex;
    use regex_automata::{Anchored, Input};

    use super::super::{Corpus, Document, StringCleaner};
    use super::*;
    use crate::strings::StringOptions;

    fn numbers() -> Patterns {
        Patterns::parse("[[pattern]]\nname = \"number\"\nregex = '[0-9]+'\ntest = \"24\"").unwrap()
    }

    fn learn(texts: &[&str], tokens: StringTokens, patterns: &Patterns) -> StringTemplate {
        let mut collection = Corpus::new(patterns.clone(), tokens);
        for text in texts {
            let prepared = collection.prepare(Document::Text(text));
            collection.add(prepared).unwrap();
        }
        StringTemplate::learn(collection, &StringOptions { min_ratio: 0.0, max_idiom: 0, ..StringOptions::default() })
            .unwrap()
    }

    fn cores(texts: &[&str], tokens: StringTokens) -> Vec<String> {
        let patterns = numbers();
        let template = learn(texts, tokens, &patterns);
        let blank = template.blank().unwrap();
        template.strings.iter().map(|string| template.core(string, blank, &patterns)).collect()
    }

    #[test]
    fn the_worked_examples() {
        let age = ["I'm 24 years old", "I'm 25 years old"];
        assert_eq!(cores(&age, StringTokens::Ws), [r"I'm\s+[0-9]+\s+years\s+old"]);
        let hello = ["hello! How are you?", "hello! How are you?"];
        assert_eq!(cores(&hello, StringTokens::Ws), [r"hello!\s+How\s+are\s+you\?"]);
        let full = learn(&hello, StringTokens::Ws, &numbers()).expressions(&numbers()).unwrap();
        let regex = Regex::new(&full[0]).unwrap();
        assert!(regex.is_match("so hello!  How are you?") && !regex.is_match("hello! How are yo"));
        assert!(!regex.is_match("hello! How are you?s"));
        let year = ["word-by (2004) end", "word by (2005) end"];
        assert_eq!(cores(&year, StringTokens::F2007), [r"word[\-\s]+by[\-\s]+\([0-9]+\)[\-\s]+end"]);
        let page = dehusk_html::parse("<p>a b", &dehusk_html::ParseOptions::default());
        let mut collection = Corpus::new(numbers(), StringTokens::Auto);
        for _ in 0..2 {
            let prepared = collection.prepare(Document::Page(&page));
            collection.add(prepared).unwrap();
        }
        let template = StringTemplate::learn(collection, &StringOptions::default()).unwrap();
        assert!(template.expressions(&numbers()).unwrap_err().to_string().contains("papers.strings.tokens"));
    }

    /// What all expressions match at any position, as blanks: matches of one expression may overlap.
    fn without_matches(text: &str, expressions: &[Regex]) -> String {
        let mut covered = vec![false; text.len()];
        for (regex, at) in expressions.iter().flat_map(|regex| (0..=text.len()).map(move |at| (regex, at))) {
            if let Some(found) = regex.find(Input::new(text).range(at..).anchored(Anchored::Yes)) {
                covered[found.range()].fill(true);
            }
        }
        text.char_indices().map(|(at, c)| if covered[at] { ' ' } else { c }).collect()
    }

    proptest! {
        #[test]
        fn expressions_match_what_is_cut_from_the_documents(
            texts in proptest::collection::vec(proptest::collection::vec((0..8_usize, any::<bool>()), 1..9), 2..6),
        ) {
            const WORDS: [&str; 8] = ["a", "b.", "(c", "7", "42", "d*", "e", "),"];
            let blank = |is_apart: bool| if is_apart { " " } else { "" };
            let join = |list: &Vec<(usize, bool)>| -> String {
                list.iter().map(|(word, is_apart)| WORDS[*word].to_owned() + blank(*is_apart)).collect()
            };
            let texts: Vec<String> = texts.iter().map(join).collect();
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let patterns = numbers();
            let template = learn(&texts, StringTokens::Ws, &patterns);
            let stored = StringTemplate::from_json(&template.to_json()).unwrap();
            prop_assert_eq!(stored.patterns().unwrap(), patterns.clone());
            let how = StringOptions { merge_gap: 0, ..StringOptions::default() };
            let cleaner = StringCleaner::new(&template, &patterns, &how, |_| true).unwrap();
            let expressions: Vec<Regex> =
                template.expressions(&patterns).unwrap().iter().map(|text| Regex::new(text).unwrap()).collect();
            for (string, regex) in template.strings.iter().zip(&expressions) {
                let n = texts.iter().filter(|text| regex.is_match(*text)).count();
                prop_assert!(n >= string.df as usize, "{:?} matches {} of {:?}", regex, n, texts);
            }
            for text in &texts {
                let left = without_matches(text, &expressions);
                let cleaned = cleaner.clean_text(text).text;
                let mut kept = cleaned.chars();
                // No letter is left that the cleaner has cut.
                let is_in_order = left.chars().filter(|c| !c.is_whitespace()).all(|c| kept.any(|other| other == c));
                prop_assert!(is_in_order, "{left:?} is left of {text:?}, {cleaned:?} by the cleaner");
            }
        }
    }
}
