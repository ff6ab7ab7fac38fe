//! Words and marks of a text, in any script.

use std::sync::LazyLock;

use crate::dom::mix;

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
    if text.is_ascii() {
        return text.as_bytes().chunks(usize::from(u8::MAX)).map(weight_of_step).sum();
    }
    text.chars().filter(|c| !c.is_whitespace()).map(|c| if is_ideograph(c) { 3 } else { 1 }).sum()
}

/// Bytes of ASCII that are no white space. The sum of a step fits into a byte, so that the loop is compiled to
/// vector instructions.
fn weight_of_step(step: &[u8]) -> u32 {
    let is_space = |byte: u8| (byte == b' ') | ((b'\t'..=b'\r').contains(&byte) & (byte != 0x0b));
    u32::from(step.iter().map(|byte| u8::from(!is_space(*byte))).sum::<u8>())
}

/// Calls `each` with a hash of every word: a run of letters, digits and `_` in lower case, or one ideograph.
pub(super) fn for_each_word(text: &str, mut each: impl FnMut(u64)) {
    if text.is_ascii() {
        return for_each_ascii_word(text.as_bytes(), each);
    }
    let (parts, mut word) = (&*PARTS, 0_u64);
    for c in text.chars() {
        match parts.get(c as usize).copied().unwrap_or_else(|| part_of(c)) {
            Part::Letter(c) => word = step(word, u64::from(c)),
            Part::Letters => c.to_lowercase().for_each(|c| word = step(word, u64::from(c as u32))),
            part => {
                if word != 0 {
                    each(mix(0, std::mem::take(&mut word)));
                }
                if part == Part::Word {
                    each(mix(1, u64::from(c as u32)));
                }
            }
        }
    }
    if word != 0 {
        each(mix(0, word));
    }
}

/// What a character is to the words of a text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// No part of a word.
    None,
    /// A letter, a digit or `_`, in lower case.
    Letter(u32),
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
        '_' => Part::Letter(c as u32),
        '\0'..='\x7f' if c.is_ascii_alphanumeric() => Part::Letter(u32::from(c.to_ascii_lowercase())),
        '\0'..='\x7f' => Part::None,
        // Ideographs and syllables, all of which are letters: frequent, and slow to look up.
        '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' => Part::Word,
        _ if !c.is_alphanumeric() => Part::None,
        _ if is_ideograph(c) => Part::Word,
        '\u{80}'..'\u{800}' => {
            let mut small = c.to_lowercase();
            match (small.next(), small.next()) {
                (Some(small), None) => Part::Letter(small as u32),
                _ => Part::Letters,
            }
        }
        _ => Part::Letters,
    }
}

/// Letters, digits and `_` of ASCII, in lower case; 0 for other bytes.
static WORD_BYTES: [u8; 256] = {
    let (mut bytes, mut byte) = ([0; 256], 0_u8);
    while byte < 128 {
        if byte.is_ascii_alphanumeric() || byte == b'_' {
            bytes[byte as usize] = byte.to_ascii_lowercase();
        }
        byte += 1;
    }
    bytes
};

fn for_each_ascii_word(text: &[u8], mut each: impl FnMut(u64)) {
    let mut word = 0;
    for byte in text {
        match WORD_BYTES[usize::from(*byte)] {
            0 if word != 0 => each(mix(0, std::mem::take(&mut word))),
            0 => {}
            byte => word = step(word, u64::from(byte)),
        }
    }
    if word != 0 {
        each(mix(0, word));
    }
}

fn step(word: u64, c: u64) -> u64 {
    // FNV-1a over characters; never 0 for a word.
    (word ^ 0xcbf2_9ce4_8422_2325 ^ c).wrapping_mul(0x0100_0000_01b3) | 1
}

/// Whether a text holds a time or a date: `12:30`, `1/2/2026`, a year, or their ideographs.
pub(super) fn has_date(text: &str) -> bool {
    if !text.bytes().any(|byte| byte.is_ascii_digit()) {
        return false;
    }
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
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
    use super::*;

    fn words(text: &str) -> Vec<u64> {
        let mut words = Vec::new();
        for_each_word(text, |word| words.push(word));
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

    #[test]
    fn a_long_text_weighs_as_much_as_its_characters() {
        let all: String = (0..128_u8).map(char::from).collect();
        for n in [1, 2, 3, 9] {
            let text = all.repeat(n);
            assert_eq!(weight(&text), text.chars().filter(|c| !c.is_ascii_whitespace()).count() as u32);
        }
        assert_eq!(weight(&"a".repeat(1000)), 1000);
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
