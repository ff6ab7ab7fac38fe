//! The language of a text, by its script and its trigrams (whatlang).

use isolang::Language;
use whatlang::{Lang, Script};

/// Letters below which a text in a script of many languages says nothing about its language.
const FEWEST_LETTERS: usize = 24;

/// Letters after which a text is not read further.
const MOST_LETTERS: usize = 4_000;

/// Share of trust below which a language is unknown.
const LEAST_CONFIDENCE: f64 = 0.5;

/// The language of a text as an ISO 639-1 code (639-3 where there is no shorter one), and how sure it is, from 0 to 1.
/// `None` for a text that is too short, or in no language.
pub fn detect_language(text: &str) -> Option<(String, f64)> {
    let end = text.char_indices().filter(|(_, c)| c.is_alphabetic()).nth(MOST_LETTERS).map_or(text.len(), |(at, _)| at);
    let text = &text[..end];
    let info = whatlang::detect(text)?;
    let n_letters = text.chars().filter(|c| c.is_alphabetic()).take(FEWEST_LETTERS).count();
    // Languages with a script of their own need no trigrams.
    let has_own_script = matches!(
        info.script(),
        Script::Hangul
            | Script::Hiragana
            | Script::Katakana
            | Script::Thai
            | Script::Greek
            | Script::Georgian
            | Script::Armenian
            | Script::Khmer
            | Script::Tamil
            | Script::Telugu
            | Script::Mandarin
    );
    let is_long_enough = n_letters >= if has_own_script { 2 } else { FEWEST_LETTERS };
    (is_long_enough && info.confidence() >= LEAST_CONFIDENCE).then(|| (code(info.lang()), info.confidence()))
}

fn code(lang: Lang) -> String {
    match lang {
        // A macro language in the table of codes.
        Lang::Cmn => "zh".to_owned(),
        Lang::Pes => "fa".to_owned(),
        Lang::Nob => "nb".to_owned(),
        lang => {
            let known = Language::from_639_3(lang.code());
            known.and_then(|known| known.to_639_1()).unwrap_or(lang.code()).to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::detect_language;

    #[test]
    fn languages_are_told_apart_and_short_texts_are_unknown() {
        let texts = [
            ("en", "Rye is a grass that is grown as a grain, and it is used for bread and beer."),
            ("de", "Roggen ist ein Getreide, das vor allem im Norden und Osten angebaut wird."),
            ("fr", "Le seigle est une céréale que l'on cultive surtout dans les régions froides."),
            ("es", "El centeno es un cereal que se cultiva sobre todo en las regiones frías."),
            ("ru", "Рожь выращивают как зерно, из неё пекут хлеб и варят пиво в холодных краях."),
            ("zh", "黑麦是一种谷物，主要种植在寒冷的地区。"),
            ("ja", "ライ麦は寒い地方で栽培される穀物です。"),
            ("ko", "호밀은 추운 지방에서 재배되는 곡물이다."),
            ("ar", "الجاودار نوع من الحبوب يزرع في المناطق الباردة ويستخدم في صنع الخبز."),
            ("th", "ข้าวไรย์เป็นธัญพืชที่ปลูกในพื้นที่หนาวเย็น"),
        ];
        for (code, text) in texts {
            assert_eq!(detect_language(text).map(|(code, _)| code).as_deref(), Some(code), "{text}");
        }
        for text in ["", "OK", "Menu Home", "12345 678", "---"] {
            assert_eq!(detect_language(text), None, "{text}");
        }
    }
}
