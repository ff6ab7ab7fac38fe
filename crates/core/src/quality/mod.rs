//! Signals of the quality of a text, as published with corpora: Gopher (Rae et al. 2021, A1.1), C4 (Raffel et al. 2020,
//! 2.2), FineWeb (Penedo et al. 2024, 3.5) and RedPajama-V2 (Weber et al. 2024), under the names that they have there.
//!
//! A line is what a line break ends, blank lines left out. A word is what white space separates; normalized, it is in
//! lower case without punctuation. docs/columns.md defines each signal.

mod grams;
mod lines;

use dehusk_html::hash_str;
use grams::{Grams, Words};
use lines::LineSignals;

/// The signals of one text, by name, in the order of [`QUALITY_SIGNALS`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Quality {
    /// Values, from 0 to 1 unless the name is of a count or a mean.
    pub values: [f64; N_SIGNALS],
}

const N_SIGNALS: usize = QUALITY_SIGNALS.len();

/// Names of the signals.
pub const QUALITY_SIGNALS: [&str; 31] = [
    "rps_doc_word_count",
    "rps_doc_mean_word_length",
    "rps_doc_symbol_to_word_ratio",
    "rps_doc_frac_no_alph_words",
    "rps_doc_frac_all_caps_words",
    "rps_doc_frac_unique_words",
    "rps_doc_unigram_entropy",
    "rps_doc_lorem_ipsum",
    "rps_doc_curly_bracket",
    "rps_doc_frac_lines_end_with_ellipsis",
    "rps_doc_frac_chars_top_2gram",
    "rps_doc_frac_chars_top_3gram",
    "rps_doc_frac_chars_top_4gram",
    "rps_doc_frac_chars_dupe_5grams",
    "rps_doc_frac_chars_dupe_6grams",
    "rps_doc_frac_chars_dupe_7grams",
    "rps_doc_frac_chars_dupe_8grams",
    "rps_doc_frac_chars_dupe_9grams",
    "rps_doc_frac_chars_dupe_10grams",
    "gopher_frac_lines_bullet",
    "gopher_n_stop_words",
    "gopher_dup_line_frac",
    "gopher_dup_line_char_frac",
    "gopher_dup_para_frac",
    "gopher_dup_para_char_frac",
    "c4_frac_lines_terminal_punct",
    "c4_n_javascript_lines",
    "fineweb_line_punct_ratio",
    "fineweb_short_line_ratio",
    "fineweb_char_dup_ratio",
    "fineweb_new_line_ratio",
];

/// The eight stop words of Gopher, of which a text in English has two or more.
const STOP_WORDS: [&str; 8] = ["the", "be", "to", "of", "and", "that", "have", "with"];

impl Quality {
    /// The signals of a text. All are 0 for an empty one.
    pub fn new(text: &str) -> Quality {
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let raw: Vec<&str> = text.split_whitespace().collect();
        let words: Vec<String> = raw.iter().map(|word| normalized(word)).filter(|word| !word.is_empty()).collect();
        if raw.is_empty() {
            return Quality::default();
        }
        let known = Words::new(&words);
        let mut grams = Grams::of_one_word(&known);
        let [top2, top3, top4] = [2, 3, 4].map(|_| {
            grams.lengthen();
            grams.top()
        });
        let [dup5, dup6, dup7, dup8, dup9, dup10] = [5, 6, 7, 8, 9, 10].map(|_| {
            grams.lengthen();
            grams.duplicated()
        });
        let n_chars = text.chars().count();
        let symbols = text.matches('#').count() + text.matches("...").count() + text.matches('…').count();
        let share = |n: usize, of: usize| if of == 0 { 0.0 } else { n as f64 / of as f64 };
        let n_lines = |is: &dyn Fn(&str) -> bool| lines.iter().filter(|line| is(line)).count();
        let n_raw = |is: &dyn Fn(&str) -> bool| raw.iter().filter(|word| is(word)).count();
        let of_lines = LineSignals::new(text, raw.len());
        let [dup_lines, dup_line_chars, dup_paragraphs, dup_paragraph_chars] = of_lines.again;
        let lower = text.to_lowercase();
        let stop_words = STOP_WORDS.iter().filter(|stop| known.counts.contains_key(&hash_str(stop))).count();
        let values = [
            words.len() as f64,
            share(known.chars.iter().sum(), words.len()),
            share(symbols, raw.len()),
            share(n_raw(&|word| !word.contains(char::is_alphabetic)), raw.len()),
            share(n_raw(&is_all_caps), raw.len()),
            share(known.counts.len(), words.len()),
            known.entropy(),
            share(lower.matches("lorem ipsum").count(), n_chars),
            share(text.matches(['{', '}']).count(), n_chars),
            share(n_lines(&|line| line.ends_with("...") || line.ends_with('…')), lines.len()),
            top2,
            top3,
            top4,
            dup5,
            dup6,
            dup7,
            dup8,
            dup9,
            dup10,
            share(n_lines(&|line| line.starts_with(['•', '‣', '▪', '-', '*', '–', '●', '○'])), lines.len()),
            stop_words as f64,
            dup_lines,
            dup_line_chars,
            dup_paragraphs,
            dup_paragraph_chars,
            share(n_lines(&|line| line.ends_with(['.', '!', '?', '"', '”'])), lines.len()),
            n_lines(&|line| line.to_lowercase().contains("javascript")) as f64,
            of_lines.ends,
            of_lines.short,
            of_lines.repeated,
            of_lines.breaks,
        ];
        Quality { values: values.map(|value| (value * 1e6).round() / 1e6) }
    }

    /// Names and values.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, f64)> + '_ {
        QUALITY_SIGNALS.into_iter().zip(self.values)
    }
}

fn normalized(word: &str) -> String {
    word.chars()
        .filter(|c| c.is_alphanumeric() || !(c.is_ascii_punctuation() || is_mark(*c)))
        .flat_map(char::to_lowercase)
        .collect()
}

/// Punctuation outside of ASCII.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{205e}' | '。' | '、' | '〃' | '\u{3008}'..='\u{3011}' | '«' | '»' | '¡' | '¿' | '，' | '！' | '？' | '：' | '；')
}

fn is_all_caps(word: &str) -> bool {
    word.contains(char::is_alphabetic) && !word.contains(char::is_lowercase) && word.contains(char::is_uppercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signal(text: &str, name: &str) -> f64 {
        Quality::new(text).named().find(|(known, _)| *known == name).unwrap().1
    }

    #[test]
    fn signals_follow_their_definitions() {
        assert_eq!(Quality::new(" \n"), Quality::default());
        let text = "The rye and the oats.\n\n- to be\n- to be\n\nREAD MORE ... #tag";
        for (name, expected) in [
            ("rps_doc_word_count", 12.0),
            ("rps_doc_symbol_to_word_ratio", 2.0 / 15.0),
            ("rps_doc_frac_no_alph_words", 3.0 / 15.0),
            ("rps_doc_frac_all_caps_words", 2.0 / 15.0),
            ("rps_doc_frac_unique_words", 9.0 / 12.0),
            ("gopher_frac_lines_bullet", 0.5),
            ("gopher_n_stop_words", 4.0),
            ("gopher_dup_line_frac", 0.25),
            ("fineweb_char_dup_ratio", 7.0 / 53.0),
            ("c4_frac_lines_terminal_punct", 0.25),
            ("fineweb_short_line_ratio", 1.0),
        ] {
            assert!((signal(text, name) - expected).abs() < 1e-5, "{name}: {}", signal(text, name));
        }
        let twice = "one two three four five six ".repeat(2);
        assert_eq!(signal(&twice, "rps_doc_frac_chars_dupe_5grams"), 1.0);
        assert_eq!(signal("a b c d e f g", "rps_doc_frac_chars_dupe_5grams"), 0.0);
        assert!((signal("ab ab ab", "rps_doc_frac_chars_top_2gram") - 8.0 / 6.0).abs() < 1e-5);
        assert!((signal("a b", "rps_doc_unigram_entropy") - 2f64.ln()).abs() < 1e-5);
    }
}
