//! The sub-words of the attribute values of a page, each value read once.

use super::tags::Attribute;
use dehusk_html::{ValueMemo, hash_str};

/// Where the sub-words of a value are among those of all values.
pub(super) type Span = (u32, u32);

/// The sub-words of values, each value read once.
#[derive(Default)]
pub(super) struct WordLists {
    /// Those of all values.
    words: Vec<u32>,
    /// Those of a class and of an id are the same.
    of_names: ValueMemo<Span>,
    of_properties: ValueMemo<Span>,
}

/// Number of sub-words above which a list is kept without repeats.
const MANY: usize = 64;

impl WordLists {
    /// The sub-words of a value for which `is_known`; `None` for an attribute that has none.
    pub(super) fn of_value(
        &mut self,
        attribute: Attribute,
        value: &str,
        is_known: impl Fn(&u32) -> bool,
    ) -> Option<Span> {
        let WordLists { words, of_names, of_properties } = self;
        Some(match attribute {
            Attribute::Class | Attribute::Id => of_names.get_or_read(value, |value| {
                let from = words.len();
                split(value, &mut |word| words.push(hash_str(word) as u32));
                tidied(words, from, is_known)
            }),
            Attribute::Itemprop => of_properties.get_or_read(value, |value| {
                words.push(hash_str(&format!("itemprop {}", value.trim())) as u32);
                tidied(words, words.len() - 1, is_known)
            }),
            _ => return None,
        })
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

/// Leaves out the unknown ones of the words from here on, and gives their place. Many are kept once each.
fn tidied(words: &mut Vec<u32>, from: usize, is_known: impl Fn(&u32) -> bool) -> Span {
    if words.len() - from > MANY {
        words[from..].sort_unstable();
    }
    let mut n = from;
    for at in from..words.len() {
        let word = words[at];
        let is_new = n == from || words[n - 1] != word;
        words[n] = word;
        n += usize::from(is_new && is_known(&word));
    }
    words.truncate(n);
    (from as u32, n as u32)
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
    if word.bytes().any(|byte| byte.is_ascii_uppercase()) { each(&word.to_ascii_lowercase()) } else { each(word) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_gives_the_same_words_whatever_was_read_before() {
        let mut lists = WordLists::default();
        let mut read = |attribute: Attribute, value: &str| {
            let span = lists.of_value(attribute, value, |word| *word != hash_str("unknown") as u32)?;
            Some(lists.distinct(&[span]))
        };
        let words = |words: &[&str]| {
            let mut words: Vec<u32> = words.iter().map(|word| hash_str(word) as u32).collect();
            words.sort_unstable();
            Some(words)
        };
        for _ in 0..2 {
            assert_eq!(read(Attribute::Class, "post unknown body"), words(&["body", "post"]));
            assert_eq!(read(Attribute::Id, "post unknown body"), words(&["body", "post"]));
            assert_eq!(read(Attribute::Itemprop, " post"), words(&["itemprop post"]));
            assert_eq!(read(Attribute::Itemprop, "unknown"), words(&["itemprop unknown"]));
            assert_eq!(read(Attribute::Style, "post"), None);
        }
        let many = "a".repeat(9);
        assert_eq!(read(Attribute::Class, &format!("{many} ").repeat(2 * MANY)), words(&[&many]));
    }

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
