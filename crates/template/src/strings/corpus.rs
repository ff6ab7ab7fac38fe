//! Documents concatenated into one text of token numbers.

use rustc_hash::FxHashMap;

use super::StringsError;
use super::patterns::Patterns;
use super::tokens::{Document, Tokenizer};
use crate::strings::StringTokens;

/// Token keys by number.
#[derive(Clone, Debug, Default)]
pub(super) struct Vocabulary {
    numbers: FxHashMap<u64, u32>,
    /// All keys concatenated. The key of token n ends at `ends[n]`.
    keys: String,
    ends: Vec<usize>,
}

impl Vocabulary {
    pub(super) fn number(&self, hash: u64) -> Option<u32> {
        self.numbers.get(&hash).copied()
    }

    pub(super) fn add(&mut self, hash: u64, key: &str) -> u32 {
        let next = self.ends.len() as u32;
        let number = *self.numbers.entry(hash).or_insert(next);
        if number == next {
            self.keys.push_str(key);
            self.ends.push(self.keys.len());
        }
        number
    }

    pub(super) fn key(&self, number: usize) -> &str {
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.keys[start..self.ends[number]]
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }
}

/// A tokenized document, ready to be added. Documents can be tokenized in parallel.
pub struct TokenizedDocument {
    /// Numbers of known tokens. New tokens are negative: -1 is the first of `new`.
    numbers: Vec<i32>,
    new: Vec<(u64, Box<str>)>,
    is_page: bool,
}

/// The documents that a template is learned from.
///
/// [`Corpus::prepare`] tokenizes a document with the current vocabulary, on any thread. `add` then appends it. Of each
/// document only the token numbers are kept, four bytes each.
pub struct Corpus {
    pub(super) patterns: Patterns,
    pub(super) tokens: StringTokens,
    pub(super) vocabulary: Vocabulary,
    /// Token numbers. The end marker of document n is -1 - n.
    pub(super) text: Vec<i32>,
    pub(super) starts: Vec<u32>,
    pub(super) has_pages: bool,
}

impl Corpus {
    /// An empty corpus.
    pub fn new(patterns: Patterns, tokens: StringTokens) -> Corpus {
        let vocabulary = Vocabulary::default();
        Corpus { patterns, tokens, vocabulary, text: Vec::new(), starts: Vec::new(), has_pages: false }
    }

    /// Number of documents.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Whether the corpus has no documents.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Number of tokens, including one end marker per document.
    pub fn n_tokens(&self) -> usize {
        self.text.len()
    }

    /// Tokenizes a document.
    pub fn prepare(&self, document: Document<'_>) -> TokenizedDocument {
        let (mut numbers, mut new) = (Vec::new(), Vec::<(u64, Box<str>)>::new());
        let mut at_new: FxHashMap<u64, i32> = FxHashMap::default();
        Tokenizer::new(&self.patterns, self.tokens_of(document)).run(document, |hash, key, _| {
            numbers.push(match self.vocabulary.number(hash) {
                Some(number) => number as i32,
                None => *at_new.entry(hash).or_insert_with(|| {
                    new.push((hash, key.into()));
                    -(new.len() as i32)
                }),
            });
        });
        TokenizedDocument { numbers, new, is_page: matches!(document, Document::Page(_)) }
    }

    fn tokens_of(&self, document: Document<'_>) -> StringTokens {
        match (self.tokens, document) {
            (StringTokens::Auto, Document::Text(_)) => StringTokens::Ws,
            (tokens, _) => tokens,
        }
    }

    /// Appends a document.
    pub fn add(&mut self, document: TokenizedDocument) -> Result<(), StringsError> {
        // Each end marker later gets a number of its own, above those of the tokens.
        let len = self.text.len() + document.numbers.len() + 1;
        if len + self.starts.len() >= i32::MAX as usize {
            return Err(StringsError::TooLong);
        }
        self.has_pages |= document.is_page;
        let new: Vec<i32> = document.new.iter().map(|(hash, key)| self.vocabulary.add(*hash, key) as i32).collect();
        self.starts.push(self.text.len() as u32);
        let number = |number: i32| if number < 0 { new[(-1 - number) as usize] } else { number };
        self.text.extend(document.numbers.into_iter().map(number));
        self.text.push(-(self.starts.len() as i32));
        Ok(())
    }
}
