//! The script of a text.

/// Scripts that most pages of the web are in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Script {
    Latin,
    Cyrillic,
    Arabic,
    Hebrew,
    Greek,
    Armenian,
    Georgian,
    Devanagari,
    Bengali,
    Gurmukhi,
    Gujarati,
    Oriya,
    Tamil,
    Telugu,
    Kannada,
    Malayalam,
    Sinhala,
    Thai,
    Lao,
    Tibetan,
    Myanmar,
    Ethiopic,
    Khmer,
    Hangul,
    /// Chinese characters and Japanese syllables.
    Han,
    Other,
}

/// Letters of an alphabet that say as much as a Chinese character or a syllable.
const LETTERS_OF_CHARACTER: usize = 3;

/// Share of syllables from which on Chinese characters are Japanese.
const LEAST_KANA: f64 = 0.05;

/// The script that says most of a text; `None` for one without letters.
pub(super) fn main_script(text: &str) -> Option<Script> {
    let mut counts = [0_usize; Script::Other as usize + 1];
    for c in text.chars().filter(|c| c.is_alphabetic()) {
        let script = Script::of(c);
        let weight = if matches!(script, Script::Han | Script::Hangul) { LETTERS_OF_CHARACTER } else { 1 };
        counts[script as usize] += weight;
    }
    let (at, n) = counts.iter().enumerate().max_by_key(|(at, n)| (**n, usize::MAX - at))?;
    (*n > 0).then(|| ALL[at].0)
}

/// All scripts in their order, with their ISO 15924 codes, the range of their letters, and the language that alone is
/// written in it.
const ALL: [(Script, &str, std::ops::RangeInclusive<u32>, Option<&str>); 26] = [
    (Script::Latin, "Latn", 0x41..=0x24f, None),
    (Script::Cyrillic, "Cyrl", 0x400..=0x52f, None),
    (Script::Arabic, "Arab", 0x600..=0x77f, None),
    (Script::Hebrew, "Hebr", 0x590..=0x5ff, None),
    (Script::Greek, "Grek", 0x370..=0x3ff, Some("el")),
    (Script::Armenian, "Armn", 0x530..=0x58f, Some("hy")),
    (Script::Georgian, "Geor", 0x10a0..=0x10ff, Some("ka")),
    (Script::Devanagari, "Deva", 0x900..=0x97f, None),
    (Script::Bengali, "Beng", 0x980..=0x9ff, Some("bn")),
    (Script::Gurmukhi, "Guru", 0xa00..=0xa7f, Some("pa")),
    (Script::Gujarati, "Gujr", 0xa80..=0xaff, Some("gu")),
    (Script::Oriya, "Orya", 0xb00..=0xb7f, Some("or")),
    (Script::Tamil, "Taml", 0xb80..=0xbff, Some("ta")),
    (Script::Telugu, "Telu", 0xc00..=0xc7f, Some("te")),
    (Script::Kannada, "Knda", 0xc80..=0xcff, Some("kn")),
    (Script::Malayalam, "Mlym", 0xd00..=0xd7f, Some("ml")),
    (Script::Sinhala, "Sinh", 0xd80..=0xdff, Some("si")),
    (Script::Thai, "Thai", 0xe00..=0xe7f, Some("th")),
    (Script::Lao, "Laoo", 0xe80..=0xeff, Some("lo")),
    (Script::Tibetan, "Tibt", 0xf00..=0xfff, Some("bo")),
    (Script::Myanmar, "Mymr", 0x1000..=0x109f, Some("my")),
    (Script::Ethiopic, "Ethi", 0x1200..=0x139f, None),
    (Script::Khmer, "Khmr", 0x1780..=0x17ff, Some("km")),
    (Script::Hangul, "Hang", 0xac00..=0xd7af, Some("ko")),
    (Script::Han, "Hani", 0x3040..=0x9fff, None),
    (Script::Other, "Zyyy", 0..=0, None),
];

impl Script {
    fn of(c: char) -> Script {
        match u32::from(c) {
            0x1e00..=0x1eff | 0xff21..=0xff5a => Script::Latin,
            0x1f00..=0x1fff => Script::Greek,
            0xfb50..=0xfdff | 0xfe70..=0xfeff | 0x8a0..=0x8ff => Script::Arabic,
            0x1100..=0x11ff | 0x3130..=0x318f => Script::Hangul,
            0xf900..=0xfaff | 0x20000..=0x3ffff => Script::Han,
            code => ALL.iter().find(|(_, _, letters, _)| letters.contains(&code)).map_or(Script::Other, |all| all.0),
        }
    }

    pub(super) fn iso_15924(self) -> &'static str {
        ALL[self as usize].1
    }

    /// The language of a text in a script that one language has; Chinese or Japanese by the syllables.
    pub(super) fn only_language(self, text: &str) -> Option<&'static str> {
        if self != Script::Han {
            return ALL[self as usize].3;
        }
        let characters = || text.chars().filter(|c| Script::of(*c) == Script::Han);
        let is_kana = |c: &char| matches!(c, '\u{3040}'..='\u{30ff}');
        let share = characters().filter(is_kana).count() as f64 / characters().count().max(1) as f64;
        Some(if share >= LEAST_KANA { "ja" } else { "zh" })
    }

    /// Whether so many languages are written in it that a detector can be wrong.
    pub(super) fn has_many_languages(self) -> bool {
        matches!(self, Script::Latin | Script::Cyrillic | Script::Arabic | Script::Other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_scripts() {
        for (at, (script, code, letters, _)) in ALL.iter().enumerate() {
            assert_eq!(*script as usize, at, "{code}");
            let first = char::from_u32(*letters.start()).filter(|c| c.is_alphabetic());
            assert!(first.is_none_or(|c| Script::of(c) == *script), "{code}");
        }
        assert_eq!(main_script("12 ... 3"), None);
        assert_eq!(main_script("rye ржаной хлеб"), Some(Script::Cyrillic));
    }
}
