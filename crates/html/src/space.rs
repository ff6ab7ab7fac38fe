//! White space in texts, found byte by byte.
//!
//! Most bytes are ASCII, and of the others only four begin a character that is white space.

/// White space as in the corpus labels: Unicode white space and the information separators.
pub fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// What a byte may begin.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// No white space.
    Other,
    /// White space of Unicode.
    Space,
    /// An information separator.
    Separator,
    /// White space of several bytes, perhaps.
    Perhaps,
}

static CLASSES: [Class; 256] = {
    let (mut classes, mut byte) = ([Class::Other; 256], 0);
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b'\t'..=b'\r' | b' ' => Class::Space,
            0x1c..=0x1f => Class::Separator,
            // U+0085 and U+00A0; U+1680; U+2000 to U+205F; U+3000.
            0xc2 | 0xe1 | 0xe2 | 0xe3 => Class::Perhaps,
            _ => Class::Other,
        };
        byte += 1;
    }
    classes
};

/// Whether a byte begins no white space.
fn is_plain(byte: u8) -> bool {
    CLASSES[usize::from(byte)] == Class::Other
}

/// The longest parts of a text in which single blanks separate the words: nearly always few. Joined by blanks, they are
/// the text with each run of white space as one blank. Information separators are white space, too.
pub(crate) fn runs(text: &str) -> Runs<'_> {
    Runs { text, at: 0, separators_part: true }
}

/// As `runs`, with white space of Unicode only.
pub fn unicode_runs(text: &str) -> Runs<'_> {
    Runs { text, at: 0, separators_part: false }
}

/// Whether a text is white space.
pub(crate) fn is_blank(text: &str) -> bool {
    let mut runs = runs(text);
    runs.skip_space();
    runs.at == text.len()
}

/// An iterator over parts of a text, none of which is empty, or begins or ends with white space.
pub struct Runs<'t> {
    text: &'t str,
    at: usize,
    separators_part: bool,
}

impl Runs<'_> {
    /// Bytes of the white space at this place, 0 for none.
    fn space_at(&self, at: usize) -> usize {
        match self.text.as_bytes().get(at).map(|byte| CLASSES[usize::from(*byte)]) {
            Some(Class::Space) => 1,
            Some(Class::Separator) => usize::from(self.separators_part),
            Some(Class::Perhaps) => {
                let c = self.text.get(at..).and_then(|rest| rest.chars().next());
                c.filter(|c| c.is_whitespace()).map_or(0, char::len_utf8)
            }
            Some(Class::Other) | None => 0,
        }
    }

    /// Whether the byte at this place belongs to the run of the one before it.
    fn goes_on(&self) -> bool {
        let bytes = self.text.as_bytes();
        let byte = bytes[self.at];
        match CLASSES[usize::from(byte)] {
            Class::Other => true,
            // One blank between two words.
            Class::Space => byte == b' ' && self.at + 1 < bytes.len() && self.space_at(self.at + 1) == 0,
            Class::Separator | Class::Perhaps => self.space_at(self.at) == 0,
        }
    }

    fn skip_space(&mut self) {
        let bytes = self.text.as_bytes();
        loop {
            // Nearly all white space is ASCII.
            while bytes.get(self.at).is_some_and(|byte| CLASSES[usize::from(*byte)] == Class::Space) {
                self.at += 1;
            }
            match self.space_at(self.at) {
                0 => return,
                n => self.at += n,
            }
        }
    }
}

impl<'t> Iterator for Runs<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        if self.at == 0 {
            let run = self.text.trim_ascii();
            if is_one_run(run, |_| false) {
                self.at = self.text.len();
                return Some(run);
            }
        }
        self.skip_space();
        let (bytes, from) = (self.text.as_bytes(), self.at);
        while self.at < bytes.len() {
            self.at += plain_length(&bytes[self.at..], |_| false);
            // One step is tested byte by byte, then whole steps are tried again.
            let until = (self.at + STEP).min(bytes.len());
            while self.at < until {
                let next_is_plain = || bytes.get(self.at + 1).is_some_and(|next| is_plain(*next));
                let is_between = bytes[self.at] == b' ' && next_is_plain();
                if !is_plain(bytes[self.at]) && !is_between && !self.goes_on() {
                    break;
                }
                self.at += 1;
            }
            if self.at < until {
                break;
            }
        }
        self.text.get(from..self.at).filter(|run| !run.is_empty())
    }
}

/// Number of bytes that [`plain_length`] tests at once.
const STEP: usize = 16;

/// Number of bytes at the beginning of a text that belong to one run, in whole steps. None of them `is_special`.
#[inline(always)]
fn plain_length(bytes: &[u8], is_special: impl Fn(u8) -> bool) -> usize {
    let mut length = 0;
    while let Some(step) = bytes.get(length..).and_then(|rest| rest.first_chunk())
        && is_plain_step(step, &is_special)
    {
        // A blank at the end is tested again with the byte after it.
        length += STEP - usize::from(step[STEP - 1] == b' ');
    }
    length
}

/// Whether no byte of a step begins white space, except for single blanks, or is special. The last byte is only what
/// comes after it. The comparisons have no branches, so that they are compiled to vector instructions.
#[inline(always)]
fn is_plain_step(step: &[u8; STEP + 1], is_special: impl Fn(u8) -> bool) -> bool {
    let mut has_special = false;
    for (byte, next) in step.iter().zip(&step[1..]) {
        let may_be_space = (*byte < b' ') | (*byte == 0xc2) | (0xe1..=0xe3).contains(byte);
        has_special |= may_be_space | ((*byte == b' ') & (*next <= b' ')) | is_special(*byte);
    }
    !has_special
}

/// Whether a text is one run without white space around it or special bytes, if that is easily seen: most texts are.
/// No visible character of ASCII may be special.
#[inline(always)]
pub(super) fn is_one_run(text: &str, is_special: impl Fn(u8) -> bool) -> bool {
    let bytes = text.as_bytes();
    let (Some(b'!'..=b'~'), Some(b'!'..=b'~')) = (bytes.first(), bytes.last()) else { return false };
    match bytes.last_chunk() {
        // The last step overlaps with the one before. Its last byte is no white space.
        Some(last) => bytes.len() - plain_length(bytes, &is_special) <= STEP + 1 && is_plain_step(last, &is_special),
        None => {
            let mut step = [b'x'; STEP + 1];
            step[..bytes.len()].copy_from_slice(bytes);
            is_plain_step(&step, is_special)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_parted_by_more_than_one_blank() {
        let joined = |runs: Runs<'_>| runs.collect::<Vec<&str>>().join(" ");
        let by_words = |text: &str, is: fn(char) -> bool| {
            text.split(is).filter(|word| !word.is_empty()).collect::<Vec<&str>>().join(" ")
        };
        for c in (0..0x1_0000).filter_map(char::from_u32) {
            let texts = [
                format!("{c}á{c}{c}b c{c}"),
                format!(" {c} d {c}e{c} f "),
                format!("{c}{c}{c}"),
                format!("fifteen letters {c} {c}sixteen letters {c}fifteen letters{c} "),
            ];
            for text in texts {
                assert_eq!(joined(runs(&text)), by_words(&text, is_space), "{c:?}");
                assert_eq!(joined(unicode_runs(&text)), by_words(&text, char::is_whitespace), "{c:?}");
                assert_eq!(is_blank(&text), text.chars().all(is_space), "{c:?}");
            }
        }
        // White space at each place of texts of each length around one and two steps.
        for length in 1..3 * STEP {
            for at in 0..length {
                for space in [" ", "  ", "\n", "\u{1d}", "\u{a0}", "é"] {
                    let text = format!("{}{space}{}", "a".repeat(at), "b".repeat(length - at));
                    assert_eq!(joined(runs(&text)), by_words(&text, is_space), "{text:?}");
                }
            }
        }
        assert!(runs("one two three").eq(["one two three"]));
        assert!(runs(" one  two\nthree ").eq(["one", "two", "three"]));
        assert!(is_blank("") && runs("").next().is_none());
    }
}
