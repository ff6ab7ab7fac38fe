//! Words and marks of a text, in any script.

use std::ops::Range;
use std::sync::LazyLock;

use super::text_scan::{LOWER_CASE, count_bytes, first_byte, for_each_run, hash_part, non_ascii};
use dehusk_html::mix;

/// Whether a character of Chinese, Japanese or Korean script is a word by itself here, and weighs as three letters.
pub(super) fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}

/// Marks between and at the end of clauses.
pub(super) const fn is_mark(c: char) -> bool {
    matches!(
        c,
        ',' | '.' | ';' | '!' | '?' | ':' | '，' | '。' | '、' | '；' | '！' | '？' | '：' | '،' | '؛' | '؟' | '।'
    )
}

/// Marks that end a sentence.
pub(super) fn ends_sentence(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | '。' | '！' | '？' | '…' | '؟' | '।')
}

/// Marks that may stand behind the end of a sentence.
pub(super) fn closes(c: char) -> bool {
    matches!(c, '"' | '\u{201d}' | '\'' | ')' | '）' | '」' | '»')
}

/// Marks between the entries of a menu or a path.
pub(super) const fn is_separator(c: char) -> bool {
    matches!(c, '|' | '»' | '›' | '→' | '·' | '•' | '«' | '‹' | '/' | '>')
}

/// Length of a text: its characters without white space, an ideograph as three.
pub(super) fn weight(text: &str) -> u32 {
    let is_space = |byte: u8| (byte == b' ') | (b'\t'..=b'\r').contains(&byte);
    let ascii = count_bytes(text.as_bytes(), |byte| byte.is_ascii() & !is_space(byte));
    if text.is_ascii() {
        return ascii;
    }
    let other = |c: char| if is_ideograph(c) { 3 } else { u32::from(!c.is_whitespace()) };
    ascii + non_ascii(text).map(other).sum::<u32>()
}

/// A word of a text.
#[derive(Clone, Copy)]
pub(super) enum Word<'t> {
    /// ASCII letters, digits and `_`, in the case of the text.
    Ascii(&'t [u8]),
    /// In lower case, with [`LOWER_UNDERSCORE`] for `_`.
    Lower(&'t str),
    /// A word of one character.
    Ideograph(char),
}

/// What `_` becomes when the bit of lower case letters is set.
const LOWER_UNDERSCORE: char = '\x7f';

impl Word<'_> {
    /// Breaks ties between words of equal frequency.
    pub(super) fn rank(self) -> u64 {
        // FNV-1a over the characters in lower case.
        let step = |word: u64, c: u64| (word ^ 0xcbf2_9ce4_8422_2325 ^ c).wrapping_mul(0x0100_0000_01b3) | 1;
        let small_byte = |byte: &u8| u64::from(byte.to_ascii_lowercase());
        let small_char = |c: char| if c == LOWER_UNDERSCORE { u64::from(b'_') } else { u64::from(c) };
        match self {
            Word::Ascii(word) => mix(0, word.iter().map(small_byte).fold(0, step)),
            Word::Lower(word) => mix(0, word.chars().map(small_char).fold(0, step)),
            Word::Ideograph(c) => mix(1, u64::from(c)),
        }
    }
}

/// Calls `each` with a hash of every word and the word: a run of letters, digits and `_` in lower case, or one
/// ideograph.
pub(super) fn for_each_word(text: &str, mut each: impl FnMut(u64, Word<'_>)) {
    let is_letter = |byte: u8| (byte | 0x20).wrapping_sub(b'a') < 26 || byte.wrapping_sub(b'0') < 10 || byte == b'_';
    let is_ascii = text.is_ascii();
    let read = |run: Range<usize>| match text.get(run.clone()) {
        Some(run) if !is_ascii && !run.is_ascii() => for_each_other_word(run, &mut each),
        _ => each(hash_part(text.as_bytes(), run.clone(), LOWER_CASE), Word::Ascii(&text.as_bytes()[run])),
    };
    // Characters that are not ASCII are classified one by one.
    for_each_run(text.as_bytes(), |byte| is_letter(byte) || !byte.is_ascii(), read);
}

/// The words of a text that is not all ASCII.
fn for_each_other_word(text: &str, mut each: impl FnMut(u64, Word<'_>)) {
    let (parts, mut word) = (&*PARTS, String::with_capacity(text.len()));
    let mut end = |word: &mut String, ideograph: Option<char>| {
        if !word.is_empty() {
            each(hash_part(word.as_bytes(), 0..word.len(), 0), Word::Lower(word));
            word.clear();
        }
        if let Some(c) = ideograph {
            each(mix(1, u64::from(c)), Word::Ideograph(c));
        }
    };
    for c in text.chars() {
        match parts.get(c as usize).copied().unwrap_or_else(|| part_of(c)) {
            Part::Letter(c) => word.push(c),
            Part::Letters => word.extend(c.to_lowercase()),
            Part::Word => end(&mut word, Some(c)),
            Part::None => end(&mut word, None),
        }
    }
    end(&mut word, None);
}

/// What a character is to the words of a text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// No part of a word.
    None,
    /// A letter, a digit or `_`, in lower case.
    Letter(char),
    /// A letter whose lower case is to be looked up.
    Letters,
    /// A word by itself.
    Word,
}

/// The characters of at most two bytes, which are letters of most alphabets.
static PARTS: LazyLock<Vec<Part>> = LazyLock::new(|| ('\0'..'\u{800}').map(part_of).collect());

/// What a character is, without the table.
fn part_of(c: char) -> Part {
    match c {
        '_' => Part::Letter(LOWER_UNDERSCORE),
        '\0'..='\x7f' if c.is_ascii_alphanumeric() => Part::Letter(c.to_ascii_lowercase()),
        '\0'..='\x7f' => Part::None,
        // Ideographs and syllables, all of which are letters: frequent, and slow to look up.
        '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' => Part::Word,
        _ if !c.is_alphanumeric() => Part::None,
        _ if is_ideograph(c) => Part::Word,
        '\u{80}'..'\u{800}' => {
            let mut small = c.to_lowercase();
            match (small.next(), small.next()) {
                (Some(small), None) => Part::Letter(small),
                _ => Part::Letters,
            }
        }
        _ => Part::Letters,
    }
}

/// Whether a text holds a time or a date: `12:30`, `1/2/2026`, a year, or their ideographs.
pub(super) fn has_date(text: &str) -> bool {
    let mut rest = text;
    while let Some(at) = first_byte(rest.as_bytes(), |byte| byte.is_ascii_digit()) {
        let before = rest[..at].chars().next_back();
        let digits = rest[at..].bytes().take_while(u8::is_ascii_digit).count();
        let (number, behind) = (&rest[at..at + digits], &rest[at + digits..]);
        let next = behind.chars().next();
        let n_behind = |mark: char| {
            behind.strip_prefix(mark).map_or(0, |behind| behind.bytes().take_while(u8::is_ascii_digit).count())
        };
        let is_clock = n_behind(':') >= 2;
        let is_date = ['.', '/', '-'].into_iter().any(|mark| {
            let second = n_behind(mark);
            let third = behind.get(1 + second..).unwrap_or_default();
            (1..=2).contains(&second)
                && third
                    .strip_prefix(['.', '/', '-'])
                    .is_some_and(|third| third.starts_with(|c: char| c.is_ascii_digit()))
        });
        let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        let is_year =
            digits == 4 && (number.starts_with("19") || number.starts_with("20")) && !is_word(before) && !is_word(next);
        if is_clock || is_date || is_year || next == Some('年') || next == Some('月') {
            return true;
        }
        rest = behind;
    }
    false
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rustc_hash::{FxHashMap, FxHashSet};

    use super::*;

    fn words(text: &str) -> Vec<u64> {
        let mut words = Vec::new();
        for_each_word(text, |word, _| words.push(word));
        words
    }

    #[test]
    fn words_are_runs_of_letters_or_single_ideographs() {
        assert_eq!(words("One, two-three").len(), 3);
        assert_eq!(words("ÉTÉ été").len(), 2);
        assert_eq!(words("ÉTÉ")[0], words("été")[0]);
        assert_eq!(words("One, two_3")[..], words("été one TWO_3")[1..]);
        assert_eq!(words("北京 is").len(), 3);
        assert_eq!((weight("a b"), weight("北京"), weight("é é")), (2, 6, 2));
        assert!(words("  …").is_empty());
    }

    /// The literal form of [`for_each_word`].
    fn split(text: &str) -> Vec<String> {
        let mut words = vec![String::new()];
        for c in text.chars() {
            let alone = is_ideograph(c) && c.is_alphanumeric();
            if alone || !(c.is_alphanumeric() || c == '_') {
                words.push(if alone { c.to_string() } else { String::new() });
            }
            match words.last_mut() {
                Some(word) if !alone && (c.is_alphanumeric() || c == '_') => word.extend(c.to_lowercase()),
                _ => words.push(String::new()),
            }
        }
        words.retain(|word| !word.is_empty());
        words
    }

    proptest! {
        #[test]
        fn words_and_weights_are_those_of_the_characters(
            places in proptest::collection::vec(any::<prop::sample::Index>(), 0..300)
        ) {
            let letters: Vec<char> = "aZ9_ .\t\u{b}-éÉßİ’北ア\u{3000}ё🌾".chars().collect();
            let text: String = places.iter().map(|place| *place.get(&letters)).collect();
            let (mut found, mut hashes) = (Vec::new(), FxHashMap::default());
            for_each_word(&text, |hash, word| {
                found.push(word.rank());
                hashes.insert(hash, word.rank());
            });
            let expected = split(&text);
            let rank = |word: &String| match word.chars().next() {
                Some(c) if is_ideograph(c) => Word::Ideograph(c).rank(),
                _ => Word::Lower(word).rank(),
            };
            prop_assert_eq!(found, expected.iter().map(rank).collect::<Vec<u64>>());
            prop_assert_eq!(hashes.len(), expected.iter().collect::<FxHashSet<_>>().len());
            let weight_of = |c: char| if is_ideograph(c) { 3 } else { u32::from(!c.is_whitespace()) };
            prop_assert_eq!(weight(&text), text.chars().map(weight_of).sum::<u32>());
        }
    }

    #[test]
    fn a_word_is_hashed_alike_in_any_text() {
        let word = |text: &str| words(text)[0];
        for name in ["a", "MY_name_1", "eightlet", "nine_more", "a_word_of_many_letters_that_goes_on"] {
            assert_eq!(word(name), word(&format!("{}…é", name.to_lowercase())), "{name}");
            assert_eq!(word(name), word(&format!("{name}, and more behind it")), "{name}");
        }
    }

    #[test]
    fn letters_of_a_table_are_those_of_unicode() {
        for c in '\u{80}'..'\u{1000}' {
            let small: String = c.to_lowercase().collect();
            // The small form of U+0130 ends in a mark that is no letter.
            if small.chars().all(char::is_alphanumeric) || !c.is_alphanumeric() {
                assert_eq!(words(&format!("a{c}b")), words(&format!("a{small}b")), "{c}");
            }
            assert_eq!(words(&c.to_string()).len(), usize::from(c.is_alphanumeric()), "{c}");
        }
    }

    #[test]
    fn every_ideograph_is_a_word() {
        let others = ('\u{3000}'..='\u{d7ff}').filter(|c| words(&c.to_string()).is_empty());
        assert!(others.clone().all(|c| !c.is_alphanumeric()) && others.count() > 0);
    }

    #[test]
    fn dates_are_found_and_prices_are_not() {
        for text in ["at 12:30", "1/2/2026", "3.4.99", "in 1999.", "2026年", "5月"] {
            assert!(has_date(text), "{text}");
        }
        for text in ["", "rye", "3.50", "a1999b", "19990", "1:2"] {
            assert!(!has_date(text), "{text}");
        }
    }
}
