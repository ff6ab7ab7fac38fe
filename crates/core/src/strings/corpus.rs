//! Documents lined up as one text of token numbers.

use rustc_hash::FxHashMap;

use super::StringsError;
use super::patterns::Patterns;
use super::tokens::{Document, Tokenizer};
use crate::strings::StringTokens;

/// Keys of tokens by number.
#[derive(Clone, Debug, Default)]
pub(super) struct Vocabulary {
    numbers: FxHashMap<u64, u32>,
    /// The keys one after the other, with their ends.
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

/// A document cut into tokens, ready to be added; made in parallel.
pub struct TokenizedDocument {
    /// Numbers of known tokens; new ones are below zero, -1 for the first of `new`.
    numbers: Vec<i32>,
    new: Vec<(u64, Box<str>)>,
    is_page: bool,
}

/// The documents that a template is learned from.
///
/// Life of a document: [`Corpus::prepare`] cuts it by what the collection knows already, on any thread; `add` appends
/// it. Only the numbers of its tokens are kept, four bytes each.
pub struct Corpus {
    pub(super) patterns: Patterns,
    pub(super) tokens: StringTokens,
    pub(super) vocabulary: Vocabulary,
    /// Numbers of tokens; the end of document n is -1 - n.
    pub(super) text: Vec<i32>,
    pub(super) starts: Vec<u32>,
    pub(super) has_pages: bool,
}

impl Corpus {
    /// An empty one.
    pub fn new(patterns: Patterns, tokens: StringTokens) -> Corpus {
        let vocabulary = Vocabulary::default();
        Corpus { patterns, tokens, vocabulary, text: Vec::new(), starts: Vec::new(), has_pages: false }
    }

    /// Documents so far.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// None yet?
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Tokens so far, an end for each document among them.
    pub fn n_tokens(&self) -> usize {
        self.text.len()
    }

    /// Cuts a document.
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
        // The ends have numbers of their own behind those of the tokens.
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
