//! The lines and paragraphs of a text, as the filters of datatrove see them: FineWeb (Penedo et al. 2024, 3.5) and
//! Gopher's repetition (Rae et al. 2021, A1.1).

use rustc_hash::FxHashSet;

use dehusk_html::hash_str;

/// Characters of a line that is short, at most.
const SHORT: usize = 30;

/// Marks that end sentences, in all scripts: the first and the last of each range.
#[rustfmt::skip]
const ENDS: &[(char, char)] = &[
    ('\u{21}', '\u{21}'), ('\u{2e}', '\u{2e}'), ('\u{3f}', '\u{3f}'), ('\u{589}', '\u{589}'), ('\u{61d}', '\u{61f}'),
    ('\u{6d4}', '\u{6d4}'), ('\u{700}', '\u{702}'), ('\u{7f9}', '\u{7f9}'), ('\u{837}', '\u{837}'),
    ('\u{839}', '\u{839}'), ('\u{83d}', '\u{83e}'), ('\u{964}', '\u{965}'), ('\u{104a}', '\u{104b}'),
    ('\u{1362}', '\u{1362}'), ('\u{1367}', '\u{1368}'), ('\u{166e}', '\u{166e}'), ('\u{1735}', '\u{1736}'),
    ('\u{17d4}', '\u{17d6}'), ('\u{17d9}', '\u{17da}'), ('\u{1803}', '\u{1803}'), ('\u{1809}', '\u{1809}'),
    ('\u{1944}', '\u{1945}'), ('\u{1aa8}', '\u{1aab}'), ('\u{1b5a}', '\u{1b5b}'), ('\u{1b5e}', '\u{1b5f}'),
    ('\u{1b7d}', '\u{1b7e}'), ('\u{1c3b}', '\u{1c3c}'), ('\u{1c7e}', '\u{1c7f}'), ('\u{203c}', '\u{203d}'),
    ('\u{2047}', '\u{2049}'), ('\u{2e2e}', '\u{2e2e}'), ('\u{2e3c}', '\u{2e3c}'), ('\u{2e53}', '\u{2e54}'),
    ('\u{3002}', '\u{3002}'), ('\u{a4ff}', '\u{a4ff}'), ('\u{a60e}', '\u{a60f}'), ('\u{a6f3}', '\u{a6f3}'),
    ('\u{a6f7}', '\u{a6f7}'), ('\u{a876}', '\u{a877}'), ('\u{a8ce}', '\u{a8cf}'), ('\u{a92f}', '\u{a92f}'),
    ('\u{a9c8}', '\u{a9c9}'), ('\u{aa5d}', '\u{aa5f}'), ('\u{aaf0}', '\u{aaf1}'), ('\u{abeb}', '\u{abeb}'),
    ('\u{fe52}', '\u{fe52}'), ('\u{fe56}', '\u{fe57}'), ('\u{ff01}', '\u{ff01}'), ('\u{ff0e}', '\u{ff0e}'),
    ('\u{ff1f}', '\u{ff1f}'), ('\u{ff61}', '\u{ff61}'), ('\u{10a56}', '\u{10a57}'), ('\u{10f55}', '\u{10f59}'),
    ('\u{10f86}', '\u{10f89}'), ('\u{11047}', '\u{11048}'), ('\u{110be}', '\u{110c1}'), ('\u{11141}', '\u{11143}'),
    ('\u{111c5}', '\u{111c6}'), ('\u{111cd}', '\u{111cd}'), ('\u{111de}', '\u{111df}'), ('\u{11238}', '\u{11239}'),
    ('\u{1123b}', '\u{1123c}'), ('\u{112a9}', '\u{112a9}'), ('\u{1144b}', '\u{1144c}'), ('\u{115c2}', '\u{115c3}'),
    ('\u{115c9}', '\u{115d7}'), ('\u{11641}', '\u{11642}'), ('\u{1173c}', '\u{1173e}'), ('\u{11944}', '\u{11944}'),
    ('\u{11946}', '\u{11946}'), ('\u{11a42}', '\u{11a43}'), ('\u{11a9b}', '\u{11a9c}'), ('\u{11c41}', '\u{11c42}'),
    ('\u{11ef7}', '\u{11ef8}'), ('\u{11f43}', '\u{11f44}'), ('\u{16a6e}', '\u{16a6f}'), ('\u{16af5}', '\u{16af5}'),
    ('\u{16b37}', '\u{16b38}'), ('\u{16b44}', '\u{16b44}'), ('\u{16e98}', '\u{16e98}'), ('\u{1bc9f}', '\u{1bc9f}'),
    ('\u{1da88}', '\u{1da88}'),
];

/// What the lines of a text say of it. Shares of an empty text are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct LineSignals {
    /// Share of the lines that end a sentence.
    pub(super) ends: f64,
    /// Share of the lines of at most 30 characters.
    pub(super) short: f64,
    /// Characters of lines that stand before already, of those of the text without line breaks.
    pub(super) repeated: f64,
    /// Line breaks for each word.
    pub(super) breaks: f64,
    /// Lines, and paragraphs, that stand before already; and their characters, of those of the text.
    pub(super) again: [f64; 4],
}

impl LineSignals {
    pub(super) fn new(text: &str, n_words: usize) -> LineSignals {
        let share = |n: usize, of: usize| if of == 0 { 0.0 } else { n as f64 / of as f64 };
        let lines: Vec<&str> = text.split('\n').filter(|line| !line.trim().is_empty()).collect();
        let n_breaks = text.matches('\n').count();
        let n_chars = text.chars().count();
        let of_lines = |is: &dyn Fn(&str) -> bool| share(lines.iter().filter(|line| is(line)).count(), lines.len());
        let parts = |text: &str, breaks: usize| {
            let parts = split(text, breaks);
            let (n, chars) = repeated(&parts);
            [share(n, parts.len()), share(chars, n_chars)]
        };
        let ([lines_again, line_chars], [paragraphs, paragraph_chars]) = (parts(text, 1), parts(text.trim(), 2));
        LineSignals {
            ends: of_lines(&|line| line.ends_with(ends_sentence)),
            short: of_lines(&|line| line.chars().count() <= SHORT),
            repeated: share(repeated(&lines).1, n_chars - n_breaks),
            breaks: share(n_breaks, n_words),
            again: [lines_again, line_chars, paragraphs, paragraph_chars],
        }
    }
}

fn ends_sentence(c: char) -> bool {
    let after = ENDS.partition_point(|(first, _)| *first <= c);
    after > 0 && c <= ENDS[after - 1].1
}

/// The parts between runs of at least so many line breaks. What is before the first run and behind the last one are
/// parts, too, even if they are empty.
fn split(text: &str, breaks: usize) -> Vec<&str> {
    let (mut parts, mut begin, mut at) = (Vec::new(), 0, 0);
    while let Some(found) = text[at..].find('\n').map(|found| at + found) {
        let end = found + text[found..].bytes().take_while(|byte| *byte == b'\n').count();
        if end - found >= breaks {
            parts.push(&text[begin..found]);
            begin = end;
        }
        at = end;
    }
    parts.push(&text[begin..]);
    parts
}

/// Number of parts that stand before already, and their characters.
fn repeated(parts: &[&str]) -> (usize, usize) {
    let mut seen = FxHashSet::default();
    let again = parts.iter().filter(|part| !seen.insert(hash_str(part)));
    again.fold((0, 0), |(n, chars), part| (n + 1, chars + part.chars().count()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_as_the_filters_do() {
        // Four lines with words; " " is none. "Rye." comes again, and a line with a space behind its mark ends nothing.
        let text = "Rye.\n \nRye.\nWhat grows in the field of the north?\n\n\nOats. \n";
        let signals = LineSignals::new(text, 11);
        let n_chars = text.chars().count() as f64;
        assert_eq!(signals.ends, 3.0 / 4.0);
        assert_eq!(signals.short, 3.0 / 4.0);
        assert_eq!(signals.repeated, 4.0 / (n_chars - 7.0));
        assert_eq!(signals.breaks, 7.0 / 11.0);
        // Gopher's lines are those of runs of line breaks, the empty one at the end among them.
        assert_eq!(signals.again, [1.0 / 6.0, 4.0 / n_chars, 0.0, 0.0]);
        assert_eq!(LineSignals::new("", 0), LineSignals::default());
        assert_eq!(LineSignals::new("a\n\n\na\n\nb", 3).again[2], 1.0 / 3.0);
    }

    #[test]
    fn sentences_end_in_all_scripts() {
        assert!(['.', '!', '?', '。', '؟', '।', '\u{2e54}', '\u{1da88}'].into_iter().all(ends_sentence));
        assert!([':', ';', ')', '"', '…', 'a', '\n'].into_iter().all(|c| !ends_sentence(c)));
    }
}
