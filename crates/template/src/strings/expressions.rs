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
    /// end of a text. An expression matches what the string matches, with one exception: it needs blanks around it, so
    /// it misses an occurrence that touches its neighbor, such as a bracket directly before a date. The syntax is the
    /// common subset of Rust, RE2, Python and Perl.
    pub fn expressions(&self, patterns: &Patterns) -> Result<Vec<String>, StringsError> {
        let blank = self.blank()?;
        Ok(self
            .strings
            .iter()
            .map(|s| format!("(?:^|{blank}){}(?:{blank}|$)", self.core(s, blank, patterns)))
            .collect())
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

    proptest! {
        #[test]
        fn expressions_match_where_the_automaton_does(
            texts in proptest::collection::vec(proptest::collection::vec(0..7_usize, 1..9), 2..6),
            new in proptest::collection::vec(0..7_usize, 0..20),
        ) {
            const WORDS: [&str; 7] = ["a", "b.", "(c", "7", "42", "d*", "e"];
            let join = |list: &Vec<usize>| list.iter().map(|word| WORDS[*word]).collect::<Vec<_>>().join(" ");
            let texts: Vec<String> = texts.iter().map(join).collect();
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let patterns = numbers();
            let template = learn(&texts, StringTokens::Ws, &patterns);
            let how = StringOptions { merge_gap: 0, ..StringOptions::default() };
            let new = join(&new);
            let cleaned = StringCleaner::new(&template, &patterns, &how, |_| true).unwrap().clean_text(&new);
            // Every expression is tried at every position, because matches of one expression may overlap.
            let mut covered = vec![false; new.len()];
            for expression in template.expressions(&patterns).unwrap() {
                let regex = Regex::new(&format!("^{}", expression)).unwrap();
                let starts = (0..=new.len()).filter(|at| *at == 0 || new[*at..].starts_with(' '));
                for start in starts {
                    if let Some(found) = regex.find(&new[start..]) {
                        covered[start..start + found.end()].fill(true);
                    }
                }
            }
            let left: String = new.char_indices().map(|(at, c)| if covered[at] { ' ' } else { c }).collect();
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            prop_assert_eq!(words(&left), words(&cleaned.text));
        }
    }
}
