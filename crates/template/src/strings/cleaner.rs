//! Finds the strings of a template in other documents.

use dehusk_content::Labels;
use std::ops::Range;

use daachorse::CharwiseDoubleArrayAhoCorasick;
use rustc_hash::FxHashMap;

use super::StringsError;
use super::learned::{MOST_KEYS, StringTemplate};
use super::patterns::Patterns;
use super::tokens::{Document, TokenPlace, Tokenizer};
use crate::strings::{StringOptions, StringTokens};
use dehusk_html::{NodeId, Tree, hash_str};

/// A template of strings, prepared for use on many documents.
///
/// All strings form one automaton over tokens, in which each token is one character. A document is scanned once,
/// however many strings there are. Strings are matched against the original document and the union of the matches is
/// removed, so the order of the strings has no effect.
#[derive(Clone)]
pub struct StringCleaner {
    patterns: Patterns,
    tokens: StringTokens,
    characters: FxHashMap<u64, char>,
    automaton: Option<CharwiseDoubleArrayAhoCorasick<u32>>,
    merge_gap: usize,
    merge_text: bool,
    min_cut: usize,
}

/// A plain text without its template.
#[derive(Clone, Debug, PartialEq)]
pub struct CleanedText {
    /// The remaining text. Lines that contained only template are dropped.
    pub text: String,
    /// Removed byte ranges of the document.
    pub removed: Vec<Range<usize>>,
    /// Share of the document's tokens that the strings cover.
    pub share: f64,
}

/// First character that represents a token. All characters from here on take four bytes in UTF-8.
const FIRST: u32 = 0x1_0000;
/// Represents every token that is in no string.
const UNKNOWN: char = '\u{10ffff}';

impl StringCleaner {
    /// Builds the automaton. A string that may be an idiom is included only if `is_used` accepts its hash.
    pub fn new(
        template: &StringTemplate,
        patterns: &Patterns,
        how: &StringOptions,
        is_used: impl Fn(u64) -> bool,
    ) -> Result<StringCleaner, StringsError> {
        let mut characters: FxHashMap<u64, char> = FxHashMap::default();
        let mut strings = Vec::new();
        for string in &template.strings {
            if template.may_be_idiom(string, how) && !is_used(template.hash(string)) {
                continue;
            }
            let mut text = String::with_capacity(4 * template.len_of(string));
            for key in template.keys(string) {
                let next = characters.len() as u32;
                if next as usize >= MOST_KEYS {
                    return Err(StringsError::Automaton(format!("more than {MOST_KEYS} different tokens")));
                }
                text.push(*characters.entry(hash_str(key)).or_insert(char::from_u32(FIRST + next).unwrap_or(UNKNOWN)));
            }
            strings.push(text);
        }
        strings.sort_unstable();
        strings.dedup();
        let failed = |e: daachorse::errors::DaachorseError| StringsError::Automaton(e.to_string());
        let automaton = if strings.is_empty() {
            None
        } else {
            Some(CharwiseDoubleArrayAhoCorasick::new(&strings).map_err(failed)?)
        };
        Ok(StringCleaner {
            patterns: patterns.clone(),
            tokens: template.tokens,
            characters,
            automaton,
            merge_gap: how.merge_gap,
            merge_text: how.merge_text,
            min_cut: how.min_cut,
        })
    }

    /// Removes the strings from a plain text.
    pub fn clean_text(&self, text: &str) -> CleanedText {
        let (places, covered) = self.covered(Document::Text(text));
        let n_covered = covered.iter().filter(|is| **is).count();
        let bytes = |at: usize| match places[at] {
            TokenPlace::Bytes(start, end) => start as usize..end as usize,
            _ => 0..0,
        };
        let mut removed: Vec<Range<usize>> = Vec::new();
        let mut at = 0;
        while at < covered.len() {
            let run = covered[at..].iter().take_while(|is| **is).count();
            if run > 0 {
                let (start, end) = (bytes(at).start, bytes(at + run - 1).end);
                match removed.last_mut() {
                    Some(last) if self.is_gap(&text[last.end..start]) => last.end = end,
                    _ => removed.push(start..end),
                }
            }
            at += run.max(1);
        }
        removed.retain(|range| text[range.clone()].chars().count() >= self.min_cut);
        let share = n_covered as f64 / covered.len().max(1) as f64;
        CleanedText { text: without(text, &removed), removed, share }
    }

    /// Whether the gap is shorter than `merge_gap` characters, and contains no letter or digit unless `merge_text` is
    /// set.
    fn is_gap(&self, between: &str) -> bool {
        between.chars().count() < self.merge_gap && (self.merge_text || !between.contains(char::is_alphanumeric))
    }

    /// Labels elements whose start tag is covered by a string, and text nodes whose tokens are all covered. A `pre` or
    /// `code` element with an uncovered text is kept whole. The confidence is the share of covered tokens.
    pub fn label(&self, tree: &Tree) -> Labels {
        let (places, covered) = self.covered(Document::Page(tree));
        let mut is_template = vec![false; tree.len()];
        let mut is_open: Vec<bool> = vec![false; tree.len()];
        for (place, is_covered) in places.iter().zip(&covered) {
            match place {
                TokenPlace::Open(node) => is_template[node.index()] = *is_covered,
                TokenPlace::Within(node) => {
                    is_open[node.index()] |= !is_covered;
                    is_template[node.index()] = !is_open[node.index()];
                }
                _ => {}
            }
        }
        for pre in tree.all("pre").chain(tree.all("code")) {
            let whole = tree.shape.subtree(pre);
            if whole.clone().any(|node| tree.is_text(NodeId::new(node)) && !is_template[node]) {
                is_template[whole].fill(false);
            }
        }
        // The body element encloses the whole page, so any covered token makes it template.
        if let Some(body) = tree.body() {
            is_template[body.index()] = covered.iter().any(|is| *is);
        }
        let share = covered.iter().filter(|is| **is).count() as f64 / covered.len().max(1) as f64;
        Labels::new(is_template).with_confidence(share)
    }

    /// Positions of a document's tokens, and whether the strings cover each.
    fn covered(&self, document: Document<'_>) -> (Vec<TokenPlace>, Vec<bool>) {
        let (mut places, mut text) = (Vec::new(), String::new());
        Tokenizer::new(&self.patterns, self.tokens).run(document, |hash, _, place| {
            places.push(place);
            text.push(self.characters.get(&hash).copied().unwrap_or(UNKNOWN));
        });
        let mut covered = vec![false; places.len()];
        let Some(automaton) = &self.automaton else { return (places, covered) };
        // Of the strings that end at a token, the longest covers all that the others cover.
        let mut deeper = vec![0_i32; places.len() + 1];
        for found in automaton.find_overlapping_no_suffix_iter(&text) {
            deeper[found.start() / 4] += 1;
            deeper[found.end() / 4] -= 1;
        }
        let mut depth = 0;
        for (is_covered, change) in covered.iter_mut().zip(&deeper) {
            depth += change;
            *is_covered = depth > 0;
        }
        (places, covered)
    }
}

/// The text without these ranges. A line of which only white space remains is dropped.
fn without(text: &str, removed: &[Range<usize>]) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut at, mut next) = (0, removed.iter().peekable());
    for line in text.split_inclusive('\n') {
        let (start, end) = (at, at + line.len());
        let (before, mut is_cut, mut from) = (out.len(), false, start);
        while let Some(range) = next.peek().filter(|range| range.start < end) {
            is_cut = true;
            out.push_str(text.get(from..range.start).unwrap_or_default());
            from = range.end.clamp(from, end);
            if range.end > end {
                break;
            }
            next.next();
        }
        // A range that starts on an earlier line may cover the start of this line.
        out.push_str(&text[from.min(end)..end]);
        if is_cut && out[before..].trim().is_empty() {
            out.truncate(before);
        }
        at = end;
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Corpus;
    use super::*;
    use dehusk_html::ParseOptions;
    use dehusk_html::parse;

    fn how() -> StringOptions {
        StringOptions { merge_gap: 0, ..StringOptions::default() }
    }

    /// A template of the given strings.
    fn template(strings: &[&str]) -> StringTemplate {
        let keys: Vec<String> = strings.iter().flat_map(|s| s.split(' ')).map(str::to_owned).collect();
        let mut from = 0;
        let strings: Vec<serde_json::Value> = strings
            .iter()
            .map(|string| {
                let tokens: Vec<usize> = (from..from + string.split(' ').count()).collect();
                from += tokens.len();
                serde_json::json!({"t": tokens, "df": 2, "tf": 2})
            })
            .collect();
        let json = serde_json::json!({
            "schema": 1, "tokens": "ws", "n_documents": 2, "n_tokens": 9, "cut": 2, "keys": keys, "strings": strings,
            "n_left_out": 0,
        });
        StringTemplate::from_json(json.to_string().as_bytes()).unwrap()
    }

    fn clean(strings: &[&str], text: &str, how: &StringOptions) -> CleanedText {
        let patterns = Patterns::none();
        StringCleaner::new(&template(strings), &patterns, how, |_| true).unwrap().clean_text(text)
    }

    #[test]
    fn aabb_is_removed_in_any_order() {
        for strings in [["a a b b", "a b"], ["a b", "a a b b"]] {
            let cleaned = clean(&strings, "x a a b b y", &how());
            assert_eq!((cleaned.text.as_str(), cleaned.removed.len()), ("x  y", 1));
            assert!((cleaned.share - 4.0 / 6.0).abs() < 1e-9);
        }
    }

    #[test]
    fn near_cuts_are_merged_and_empty_lines_go() {
        let text = "head one\nhead x two\nown words\ntail one\nend";
        let strings = ["head one", "head", "two", "tail one"];
        assert_eq!(clean(&strings, text, &how()).text, " x \nown words\nend");
        assert_eq!(
            clean(&strings, text, &StringOptions { merge_gap: 4, ..how() }).text,
            " x \nown words\nend",
            "a word"
        );
        let marked = text.replace(" x ", " * ");
        assert_eq!(clean(&strings, &marked, &StringOptions { merge_gap: 4, ..how() }).text, "own words\nend");
        assert_eq!(clean(&strings, text, &StringOptions { min_cut: 5, ..how() }).text, " x two\nown words\nend");
        assert_eq!(clean(&["b c"], "a b\nc d\n", &how()).text, "a  d\n", "over the end of a line");
        assert_eq!(clean(&["b c"], "a\nb\nc\nd\n", &how()).text, "a\nd\n");
    }

    #[test]
    fn a_page_is_labelled_by_whole_texts() {
        let page = |own: &str| {
            let html = format!("<nav><b>Home</b></nav><p>By {own}</p><em>Kept for good</em>");
            parse(&html, &ParseOptions::default())
        };
        let pages = ["one", "two", "three"].map(page);
        let patterns = Patterns::shipped();
        let mut collection = Corpus::new(patterns.clone(), StringTokens::Auto);
        for page in &pages {
            let prepared = collection.prepare(Document::Page(page));
            collection.add(prepared).unwrap();
        }
        let template = StringTemplate::learn(collection, &how()).unwrap();
        let cleaner = StringCleaner::new(&template, &patterns, &how(), |_| true).unwrap();
        let new = page("four");
        let Labels { is_template, confidence: share, .. } = cleaner.label(&new);
        let kept = new.counted().map(NodeId::new).filter(|node| new.is_text(*node));
        let kept: Vec<&str> = kept.filter(|node| !is_template[node.index()]).map(|node| new.text(node)).collect();
        assert_eq!(kept, ["By four"], "a text that is covered in part stays");
        assert!(share > 0.8);
        let code =
            parse("<nav><b>Home</b></nav><pre><b>Home</b> = <em>Kept for good</em></pre>", &ParseOptions::default());
        let is_template = cleaner.label(&code).is_template;
        let pre = code.all("pre").next().unwrap();
        assert!(code.shape.subtree(pre).all(|node| !is_template[node]), "code in pieces is no code");
        let Labels { is_template, confidence: share, .. } = cleaner.label(&parse("<p>other", &ParseOptions::default()));
        assert!(share < 0.5 && is_template.iter().filter(|is| **is).count() <= 1);
    }

    proptest! {
        #[test]
        fn the_automaton_finds_what_a_plain_search_finds(
            strings in proptest::collection::vec(proptest::collection::vec(0..3_u8, 1..4), 1..6),
            text in proptest::collection::vec(0..4_u8, 0..30),
            turn in 0..6_usize,
        ) {
            let join = |list: &Vec<u8>| list.iter().map(u8::to_string).collect::<Vec<_>>().join(" ");
            let mut covered = vec![false; text.len()];
            for string in &strings {
                for at in 0..text.len() {
                    if text[at..].starts_with(string) {
                        covered[at..at + string.len()].fill(true);
                    }
                }
            }
            let mut words: Vec<String> = strings.iter().map(join).collect();
            let by = turn % words.len();
            words.rotate_left(by);
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let cleaned = clean(&words, &join(&text), &how());
            let left: Vec<u8> = text.iter().zip(&covered).filter(|(_, is)| !**is).map(|(token, _)| *token).collect();
            prop_assert_eq!(cleaned.text.split_whitespace().collect::<Vec<_>>().join(" "), join(&left));
        }
    }
}
