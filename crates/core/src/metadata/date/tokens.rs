//! A text in numbers, words and marks, as dates consist of them.

/// A part of a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Token<'t> {
    /// A number of this many digits.
    Number(u64, usize),
    Word(&'t str),
    /// What stands between; white space alone is ' '.
    Mark(char),
}

/// Number of tokens that are looked at: a date stands at the start of what names one.
const MOST_TOKENS: usize = 200;

/// The first tokens of a text, and the byte at which each of them begins.
pub(super) fn tokens(text: &str) -> (Vec<Token<'_>>, Vec<usize>) {
    let (mut tokens, mut starts) = (Vec::new(), Vec::new());
    let mut rest = text;
    while let Some(c) = rest.chars().next().filter(|_| tokens.len() < MOST_TOKENS) {
        let is_thai = ('\u{e01}'..='\u{e4e}').contains(&c);
        let is_same = |other: char| match c {
            c if digit(c).is_some() => digit(other).is_some(),
            // Each of these is a word by itself, in a row without blanks.
            '年' | '月' | '日' | '년' | '월' | '일' => false,
            c if c.is_alphabetic() => {
                let is_part = other.is_alphabetic() || is_combining(other) || (is_thai && other == '.');
                is_part && !matches!(other, '年' | '月' | '日' | '년' | '월' | '일')
            }
            c if c.is_whitespace() => other.is_whitespace(),
            _ => false,
        };
        let n = rest.char_indices().skip(1).find(|(_, other)| !is_same(*other)).map_or(rest.len(), |(at, _)| at);
        let (token, after) = rest.split_at(n);
        starts.push(text.len() - rest.len());
        rest = after;
        tokens.push(match c {
            c if digit(c).is_some() => number(token),
            c if c.is_alphabetic() => Token::Word(token),
            c if c.is_whitespace() => Token::Mark(' '),
            c => Token::Mark(c),
        });
    }
    (tokens, starts)
}

/// The value of a digit: of ASCII, Arabic, Persian, Devanagari, Bengali or Thai.
fn digit(c: char) -> Option<u64> {
    const ZEROS: [char; 6] = ['0', '\u{660}', '\u{6f0}', '\u{966}', '\u{9e6}', '\u{e50}'];
    ZEROS.iter().find_map(|zero| u64::from(c).checked_sub(u64::from(*zero)).filter(|value| *value < 10))
}

fn number(digits: &str) -> Token<'_> {
    let add = |sum: u64, c: char| sum.saturating_mul(10).saturating_add(digit(c).unwrap_or(0));
    Token::Number(digits.chars().fold(0, add), digits.chars().count())
}

/// Whether a character continues the word before it though it is no letter: vowel signs, joiners of consonants.
fn is_combining(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{900}'..='\u{963}' | '\u{980}'..='\u{9e3}' | '\u{e31}'..='\u{e4e}')
}
