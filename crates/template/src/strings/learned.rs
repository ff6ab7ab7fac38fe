//! The template strings of a source.

use std::cmp::Reverse;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use super::StringsError;
use super::corpus::Corpus;
use super::idioms::keep_standing;
use super::patterns::{Pattern, Patterns, PatternsError};
use super::repeats::{Documents, Repeat, maximal_repeats};
use super::suffix::Suffixes;
use super::threshold::Histogram;
use super::tokens::{GLUED, shown};
use crate::serialized::json_of;
use crate::strings::{InnerStrings, StringOptions, StringTokens};
use dehusk_html::{hash_str, mix};

/// Largest number of distinct tokens that the automaton has characters for.
pub(super) const MOST_KEYS: usize = 1_048_575;

/// Version of the stored form.
const SCHEMA: u32 = 1;

/// The strings that the documents of a source repeat.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StringTemplate {
    schema: u32,
    /// How documents are tokenized.
    pub tokens: StringTokens,
    /// Number of documents that it was learned from.
    pub n_documents: usize,
    /// Number of tokens in these documents, including end markers.
    pub n_tokens: usize,
    /// Smallest document frequency of a template string.
    pub cut: u32,
    /// Token keys by number.
    keys: Vec<String>,
    /// The strings, longest first.
    pub strings: Vec<TemplateString>,
    /// Number of strings left out because of `papers.strings.max_total` or the limit on distinct tokens.
    pub n_left_out: usize,
    /// Whether it was learned from pages.
    #[serde(default)]
    pub of_pages: bool,
    /// The patterns that it was learned with; `None`: those that ship with the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    patterns: Option<Vec<Pattern>>,
}

/// One string of a template.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TemplateString {
    /// Numbers of its tokens.
    #[serde(rename = "t")]
    tokens: Vec<u32>,
    /// Number of documents that contain it.
    pub df: u32,
    /// Number of occurrences.
    pub tf: u32,
    /// Whether a token touches its end, such as a number, in one of the documents that it was learned from.
    #[serde(rename = "g", default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_touched: bool,
}

impl StringTemplate {
    /// Learns a template from a corpus (Foschini 2007, section 3.2, steps 3 to 9).
    ///
    /// Repeats are enumerated twice, once for the histogram and once for those above its cut, so that only the latter
    /// are stored. The memory that grows with the input is 12 bytes per token (text, suffix array and common prefixes)
    /// and the distinct tokens.
    pub fn learn(corpus: Corpus, options: &StringOptions) -> Result<StringTemplate, StringsError> {
        let Corpus { patterns, vocabulary, mut text, starts, has_pages, tokens } = corpus;
        let (n_documents, n_tokens) = (starts.len(), text.len());
        // Each end marker gets a number of its own, above those of the tokens.
        let n_keys = vocabulary.len() as i32;
        text.iter_mut().filter(|number| **number < 0).for_each(|end| *end = n_keys - 1 - *end);
        text.shrink_to_fit();
        let suffixes = Suffixes::new(text)?;
        let documents = Documents::new(starts, suffixes.text.len());
        let is_word: Vec<bool> = (0..vocabulary.len()).map(|number| !vocabulary.key(number).starts_with('<')).collect();
        let filter = RepeatFilter {
            min_tokens: options.min_tokens,
            min_df: (options.min_df_share * n_documents as f64).ceil().max(2.0) as u32,
            n_tokens: n_tokens as u64,
            // A run of tags alone is not worth removing.
            is_word: if has_pages { &is_word } else { &[] },
        };
        let (cut, mut kept) = select(&suffixes, &documents, n_documents, &filter, options);
        let suffixes = suffixes.without_prefixes();
        // Longest first, then highest document frequency. Ties are sorted by rank, which is the order of the tokens.
        kept.sort_unstable_by_key(|repeat| (Reverse(repeat.len), Reverse(repeat.df), repeat.left));
        let keeps_inner = options.inner == InnerStrings::Keep;
        keep_standing(&suffixes, &documents, &mut kept, cut, keeps_inner, options.max_idiom);
        let n_kept = n_within(&suffixes, &kept, options.max_total);
        let is_glued = |token: i32| token < n_keys && vocabulary.key(token as usize).starts_with(GLUED);
        let (keys, strings) =
            with_keys(&suffixes, &kept[..n_kept], |token| vocabulary.key(token as usize).to_owned(), is_glued);
        let tokens = match tokens {
            StringTokens::Auto if has_pages => StringTokens::Html,
            StringTokens::Auto => StringTokens::Ws,
            tokens => tokens,
        };
        let n_left_out = kept.len() - n_kept;
        let (schema, of_pages) = (SCHEMA, has_pages);
        let patterns = (patterns != Patterns::shipped()).then(|| patterns.list().to_vec());
        Ok(StringTemplate { schema, tokens, n_documents, n_tokens, cut, keys, strings, n_left_out, of_pages, patterns })
    }

    /// Keys of a string's tokens.
    pub(super) fn keys<'a>(&'a self, string: &'a TemplateString) -> impl Iterator<Item = &'a str> {
        string.tokens.iter().map(|number| self.keys[*number as usize].as_str())
    }

    /// Hash of a string's tokens. It does not depend on the source.
    pub fn hash(&self, string: &TemplateString) -> u64 {
        self.keys(string).fold(0, |hash, key| mix(hash, hash_str(key)))
    }

    /// Whether the string is an idiom if many sources have it. Long strings and strings that contain a tag with a class
    /// or an id are exempt.
    pub fn may_be_idiom(&self, string: &TemplateString, how: &StringOptions) -> bool {
        let is_short = how.longest_idiom == 0 || string.tokens.len() <= how.longest_idiom;
        let has_name = |key: &str| key.starts_with('<') && (key.contains(" class=\"") || key.contains(" id=\""));
        is_short && !self.keys(string).any(has_name)
    }

    /// A string in readable form: tokens separated by blanks, patterns by name.
    pub fn text(&self, string: &TemplateString) -> String {
        let mut out = String::new();
        for key in self.keys(string) {
            if !out.is_empty() && !key.starts_with(GLUED) {
                out.push(' ');
            }
            out.push_str(&shown(key));
        }
        out
    }

    /// Number of tokens of a string.
    pub fn len_of(&self, string: &TemplateString) -> usize {
        string.tokens.len()
    }

    /// The patterns that it was learned with.
    pub fn patterns(&self) -> Result<Patterns, PatternsError> {
        self.patterns.as_ref().map_or_else(|| Ok(Patterns::shipped()), |list| Patterns::of(list.clone()))
    }

    /// The stored form.
    pub fn to_json(&self) -> Vec<u8> {
        json_of(self)
    }

    /// Reads the stored form.
    pub fn from_json(bytes: &[u8]) -> Result<StringTemplate, StringsError> {
        #[derive(Deserialize)]
        struct Version {
            schema: u32,
        }
        let form = |e: serde_json::Error| StringsError::Form(e.to_string());
        let Version { schema } = serde_json::from_slice(bytes).map_err(form)?;
        if schema > SCHEMA {
            return Err(StringsError::Newer(schema));
        }
        let template: StringTemplate = serde_json::from_slice(bytes).map_err(form)?;
        let n = template.keys.len() as u32;
        let is_sound = |s: &TemplateString| !s.tokens.is_empty() && s.tokens.iter().all(|token| *token < n);
        match template.strings.iter().position(|string| !is_sound(string)) {
            Some(at) => Err(StringsError::Form(format!("string {at} is empty or refers to an unknown token"))),
            None => Ok(template),
        }
    }
}

/// The tokens of a repeat.
fn span<'a>(suffixes: &'a Suffixes, repeat: &Repeat) -> &'a [i32] {
    let at = suffixes.array[repeat.left as usize] as usize;
    &suffixes.text[at..at + repeat.len as usize]
}

/// The tokens that follow the occurrences of a repeat.
fn followers<'a>(suffixes: &'a Suffixes, repeat: &Repeat) -> impl Iterator<Item = i32> + use<'a> {
    let len = repeat.len as usize;
    let starts = &suffixes.array[repeat.left as usize..(repeat.left + repeat.tf) as usize];
    starts.iter().filter_map(move |start| suffixes.text.get(*start as usize + len).copied())
}

/// Which repeats can be template strings.
struct RepeatFilter<'a> {
    min_tokens: usize,
    min_df: u32,
    /// Tokens of the corpus.
    n_tokens: u64,
    /// Whether each token is a word; empty where every repeat has words.
    is_word: &'a [bool],
}

impl RepeatFilter<'_> {
    fn admits(&self, suffixes: &Suffixes, repeat: &Repeat) -> bool {
        let has_word = || span(suffixes, repeat).iter().any(|token| self.is_word[*token as usize]);
        repeat.len as usize >= self.min_tokens
            // A product above the number of tokens means that occurrences overlap, like those of "x x x" in a long run
            // of x. Such runs contain a string of every length and would make all later steps quadratic.
            && u64::from(repeat.tf) * u64::from(repeat.len) <= self.n_tokens
            && repeat.df >= self.min_df
            && (self.is_word.is_empty() || has_word())
    }
}

/// The document frequency at which strings are template, and the repeats that reach it.
fn select(
    suffixes: &Suffixes,
    documents: &Documents,
    n_documents: usize,
    filter: &RepeatFilter<'_>,
    options: &StringOptions,
) -> (u32, Vec<Repeat>) {
    let mut histogram = Histogram::new(n_documents);
    maximal_repeats(suffixes, documents, |repeat| {
        if filter.admits(suffixes, &repeat) {
            histogram.add(repeat.df);
        }
    });
    let cut = histogram.cut(options);
    let mut kept: Vec<Repeat> = Vec::new();
    maximal_repeats(suffixes, documents, |repeat| {
        if repeat.df >= cut && filter.admits(suffixes, &repeat) {
            kept.push(repeat);
        }
    });
    (cut, kept)
}

/// Number of leading repeats that keep within the limits on tokens.
fn n_within(suffixes: &Suffixes, kept: &[Repeat], max_total: usize) -> usize {
    let (mut total, mut distinct): (usize, FxHashSet<i32>) = (0, FxHashSet::default());
    let within = kept.iter().take_while(|repeat| {
        total += repeat.len as usize;
        distinct.extend(span(suffixes, repeat));
        total <= max_total && distinct.len() <= MOST_KEYS
    });
    within.count()
}

/// The distinct tokens of the strings, and the strings as their numbers.
fn with_keys(
    suffixes: &Suffixes,
    kept: &[Repeat],
    key: impl Fn(i32) -> String,
    is_glued: impl Fn(i32) -> bool,
) -> (Vec<String>, Vec<TemplateString>) {
    let mut numbers: FxHashMap<i32, u32> = FxHashMap::default();
    let mut keys = Vec::new();
    let mut number = |token: i32| {
        *numbers.entry(token).or_insert_with(|| {
            keys.push(key(token));
            keys.len() as u32 - 1
        })
    };
    let string = |repeat: &Repeat| TemplateString {
        tokens: span(suffixes, repeat).iter().map(|token| number(*token)).collect(),
        df: repeat.df,
        tf: repeat.tf,
        is_touched: followers(suffixes, repeat).any(&is_glued),
    };
    let strings = kept.iter().map(string).collect();
    (keys, strings)
}

#[cfg(test)]
mod tests {
    use super::super::{Document, Patterns};
    use super::*;
    use dehusk_html::ParseOptions;
    use dehusk_html::parse;

    fn learn(documents: &[Document<'_>]) -> StringTemplate {
        let mut collection = Corpus::new(Patterns::shipped(), StringTokens::Auto);
        for document in documents {
            let prepared = collection.prepare(*document);
            collection.add(prepared).unwrap();
        }
        StringTemplate::learn(collection, &StringOptions::default()).unwrap()
    }

    #[test]
    fn what_all_documents_say_is_template_with_its_dates() {
        let texts: Vec<String> = ["red", "green", "blue", "gray"]
            .iter()
            .enumerate()
            .map(|(n, color)| format!("The {color} page. Printed on {n} May 2026 by the house"))
            .collect();
        let documents: Vec<Document<'_>> = texts.iter().map(|text| Document::Text(text)).collect();
        let template = learn(&documents);
        let strings: Vec<String> = template.strings.iter().map(|string| template.text(string)).collect();
        assert_eq!(strings, ["page. Printed on [number] [month] [number] by the house"]);
        assert_eq!((template.strings[0].df, template.n_documents, template.tokens), (4, 4, StringTokens::Ws));
        let read = StringTemplate::from_json(&template.to_json()).unwrap();
        assert_eq!(read, template);
        let refusal = |text: String| StringTemplate::from_json(text.as_bytes()).unwrap_err().to_string();
        let json = String::from_utf8(template.to_json()).unwrap();
        assert!(refusal(json.replace("\"schema\":1", "\"schema\":7")).contains("please update"));
        assert!(refusal(json.replace("\"t\":[0", "\"t\":[70")).contains("string 0"));
    }

    #[test]
    fn tags_count_but_not_alone() {
        let page = |own: &str| parse(&format!("<div class=m><b>Home</b></div><i>{own}</i>"), &ParseOptions::default());
        let pages = ["one", "two", "three"].map(page);
        let template = learn(&pages.each_ref().map(Document::Page));
        let strings: Vec<String> = template.strings.iter().map(|string| template.text(string)).collect();
        assert_eq!(strings, [r#"<body> <div class="m"> <b> Home </b> </div> <i>"#]);
        assert!(!template.may_be_idiom(&template.strings[0], &StringOptions::default()));
        assert!(learn(&[]).strings.is_empty());
    }

    #[test]
    fn rows_of_one_word_are_no_work_and_hide_no_template() {
        let html = format!("<nav><b>Home</b> of the house</nav><p>{}</p>", "x ".repeat(20_000));
        let pages = [0, 1].map(|_| parse(&html, &ParseOptions::default()));
        let found = learn(&pages.each_ref().map(Document::Page));
        assert!(found.text(&found.strings[0]).contains("Home </b> of the house"), "{}", found.strings.len());
        assert!(found.strings.len() < 100, "{}", found.strings.len());
        let text = "x ".repeat(300_000);
        assert!(learn(&[Document::Text(&text), Document::Text(&text)]).strings.len() < 100);
        let email = "1-".repeat(300_000);
        assert!(learn(&[Document::Text(&email)]).strings.is_empty());
    }
}
