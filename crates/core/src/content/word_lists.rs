//! The sub-words of attribute values, in lists that a thread keeps from page to page.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use super::tags::Attribute;
use crate::dom::{hash_str, mix};

/// Where the sub-words of a value are among those of all values.
pub(super) type Span = (u32, u32);

/// The sub-words of values, each value read once.
#[derive(Default)]
pub(super) struct WordLists {
    /// Those of all values.
    words: Vec<u32>,
    /// By the hash of the value. Equal hashes count as equal values.
    by_value: FxHashMap<u64, Span>,
    /// Sums over the distinct words of several lists, by a hash of the lists.
    sums: FxHashMap<u64, f32>,
}

/// Number of values, of words and of sums above which lists are dropped instead of kept for the next page.
const MOST_VALUES: usize = 1 << 12;
const MOST_WORDS: usize = 1 << 14;
const MOST_SUMS: usize = 1 << 13;

/// Number of sub-words above which a list is kept without repeats.
const MANY: usize = 64;

thread_local! {
    static KEPT: RefCell<WordLists> = RefCell::default();
}

impl WordLists {
    /// The lists of the pages before. Pages of a site have the same values for the most part.
    pub(super) fn kept() -> WordLists {
        KEPT.take()
    }

    /// Keeps the lists for the next page, unless there are too many.
    pub(super) fn keep(self) {
        let is_small = self.by_value.len() <= MOST_VALUES && self.words.len() <= MOST_WORDS;
        if is_small && self.sums.len() <= MOST_SUMS {
            KEPT.set(self);
        }
    }

    /// The sub-words of a value for which `is_known`; `None` for an attribute that has none.
    pub(super) fn of_value(
        &mut self,
        attribute: Attribute,
        value: &str,
        is_known: impl Fn(&u32) -> bool,
    ) -> Option<Span> {
        let is_property = match attribute {
            Attribute::Class | Attribute::Id => false,
            Attribute::Itemprop => true,
            _ => return None,
        };
        let key = mix(u64::from(is_property), hash_str(value));
        if let Some(known) = self.by_value.get(&key) {
            return Some(*known);
        }
        let from = self.words.len();
        match is_property {
            true => self.words.push(hash_str(&format!("itemprop {}", value.trim())) as u32),
            false => split(value, &mut |word| self.words.push(hash_str(word) as u32)),
        }
        let span = self.tidied(from, is_known);
        self.by_value.insert(key, span);
        Some(span)
    }

    /// Leaves out the unknown ones of the words from here on. Many are kept once each.
    fn tidied(&mut self, from: usize, is_known: impl Fn(&u32) -> bool) -> Span {
        if self.words.len() - from > MANY {
            self.words[from..].sort_unstable();
        }
        let mut n = from;
        for at in from..self.words.len() {
            let word = self.words[at];
            let is_new = n == from || self.words[n - 1] != word;
            self.words[n] = word;
            n += usize::from(is_new && is_known(&word));
        }
        self.words.truncate(n);
        (from as u32, n as u32)
    }

    /// The sum of what `sum` gives for the distinct words of these lists, computed once for each number and lists.
    pub(super) fn sum(&mut self, number: u64, spans: &[Span], sum: impl FnOnce(&[u32]) -> f32) -> f32 {
        let key = spans.iter().fold(number, |key, (from, until)| mix(key, u64::from(*from) << 32 | u64::from(*until)));
        if let Some(known) = self.sums.get(&key) {
            return *known;
        }
        let sum = sum(&self.distinct(spans));
        self.sums.insert(key, sum);
        sum
    }

    /// Each of the sub-words of these lists once, ascending.
    pub(super) fn distinct(&self, spans: &[Span]) -> Vec<u32> {
        let words = spans.iter().flat_map(|(from, until)| &self.words[*from as usize..*until as usize]);
        let mut words: Vec<u32> = words.copied().collect();
        words.sort_unstable();
        words.dedup();
        words
    }
}

/// Letters of a sub-word, in small letters.
const LETTERS: std::ops::RangeInclusive<usize> = 2..=20;

/// Splits at everything but ASCII letters, and before a capital that follows a small letter or precedes one.
fn split(names: &str, each: &mut dyn FnMut(&str)) {
    let bytes = names.as_bytes();
    let mut begin = 0;
    for (at, byte) in bytes.iter().enumerate() {
        let is_letter = byte.is_ascii_alphabetic();
        let begins = byte.is_ascii_uppercase() && {
            let next_is_small = bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase);
            let after_small = at > 0 && bytes[at - 1].is_ascii_lowercase();
            after_small || (next_is_small && begin < at)
        };
        if !is_letter || begins {
            give(names.get(begin..at).unwrap_or_default(), each);
            begin = if is_letter { at } else { at + 1 };
        }
    }
    give(names.get(begin..).unwrap_or_default(), each);
}

fn give(word: &str, each: &mut dyn FnMut(&str)) {
    if !LETTERS.contains(&word.len()) {
        return;
    }
    match word.bytes().any(|byte| byte.is_ascii_uppercase()) {
        true => each(&word.to_ascii_lowercase()),
        false => each(word),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_into_sub_words() {
        let words = |names: &str| {
            let mut words = Vec::new();
            split(names, &mut |word| words.push(word.to_owned()));
            words
        };
        assert_eq!(
            words("postBody entry-content x h2 HTMLText a_b"),
            ["post", "body", "entry", "content", "html", "text"]
        );
        assert_eq!(words("é-nav"), ["nav"]);
    }
}
