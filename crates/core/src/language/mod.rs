//! The language of a text: by its script, by its trigrams (whatlang), and by what its page declares.

mod function_words;
mod model;
mod script;

pub use model::LanguageModel;

use isolang::Language;
use whatlang::Lang;

use function_words::has_function_words;
use script::{Script, main_script};

/// Letters below which a text in a script of many languages says nothing about its language.
const FEWEST_LETTERS: usize = 24;

/// Letters after which a text is not read further.
const MOST_LETTERS: usize = 4_000;

/// Confidence below which the language of a text in a script of many languages is unknown.
const LEAST_CONFIDENCE: f64 = 0.5;

/// The language of a text.
#[derive(Clone, Debug, PartialEq)]
pub struct TextLanguage {
    /// ISO 639-1 code; 639-3 where there is no shorter one.
    pub code: String,
    /// From 0 to 1; `None` where only the page says so.
    pub confidence: Option<f64>,
    with_script: String,
}

impl TextLanguage {
    fn new(code: String, confidence: Option<f64>, script: Script) -> TextLanguage {
        let long = match code.as_str() {
            // A macro language in the table of codes.
            "zh" => "cmn",
            code => Language::from_639_1(code).map_or(code, |language| language.to_639_3()),
        };
        let script = if code == "ja" { "Jpan" } else { script.iso_15924() };
        let with_script = format!("{long}_{script}");
        TextLanguage { code, confidence, with_script }
    }

    /// ISO 639-3 code and ISO 15924 script: `eng_Latn`, `cmn_Hani`.
    pub fn with_script(&self) -> &str {
        &self.with_script
    }
}

/// The language of a text as an ISO 639-1 code (639-3 where there is no shorter one), and how sure it is, from 0 to 1.
/// `None` for a text that is too short, or in no language.
pub fn detect_language(text: &str) -> Option<(String, f64)> {
    let (script, text) = (main_script(beginning(text))?, beginning(text));
    let n_letters = text.chars().filter(|c| c.is_alphabetic()).take(FEWEST_LETTERS).count();
    // Languages with a script of their own need no trigrams.
    if let Some(code) = script.only_language(text) {
        return (n_letters >= 2).then(|| (code.to_owned(), 1.0));
    }
    let info = whatlang::detect(text)?;
    let needed = if script.has_many_languages() { LEAST_CONFIDENCE } else { 0.0 };
    (n_letters >= FEWEST_LETTERS && info.confidence() >= needed).then(|| (code(info.lang()), info.confidence()))
}

/// The language of a text whose page declares one, as a BCP 47 tag.
///
/// What is declared is taken where nothing is detected, and where the detector does not know that language: it then
/// finds a related one, and is sure of it. Most pages that declare a wrong language are in a large one, so what is
/// detected stands if the text has the function words of that. A `model` is believed in place of all that.
pub fn language_of(text: &str, declared: Option<&str>, model: Option<&dyn LanguageModel>) -> Option<TextLanguage> {
    if let Some(found) = model.and_then(|model| model::by_model(model, text)) {
        return Some(found);
    }
    let declared = declared.map(|tag| tag.split('-').next().unwrap_or_default().to_ascii_lowercase());
    let declared = declared.filter(|code| !code.is_empty());
    let script = main_script(beginning(text)).unwrap_or(Script::Other);
    let detected = detect_language(text);
    let by_page = |code: String| TextLanguage::new(code, None, script);
    let Some((code, confidence)) = detected else { return declared.map(by_page) };
    match declared {
        Some(declared) if !is_known(&declared) && script.has_many_languages() && !has_function_words(text, &code) => {
            Some(by_page(declared))
        }
        _ => Some(TextLanguage::new(code, Some(confidence), script)),
    }
}

/// The part of a text that is read.
fn beginning(text: &str) -> &str {
    let end = text.char_indices().filter(|(_, c)| c.is_alphabetic()).nth(MOST_LETTERS).map_or(text.len(), |(at, _)| at);
    &text[..end]
}

/// Whether the detector knows a language.
fn is_known(declared: &str) -> bool {
    // The macro language of both Norwegian ones.
    declared == "no" || declared == "nn" || Lang::all().iter().any(|lang| code(*lang) == declared)
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
    use super::*;

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
            ("hi", "राई एक अनाज है जो ठंडे क्षेत्रों में उगाया जाता है और इससे रोटी बनाई जाती है।"),
        ];
        for (code, text) in texts {
            assert_eq!(detect_language(text).map(|(code, _)| code).as_deref(), Some(code), "{text}");
        }
        for text in ["", "OK", "Menu Home", "12345 678", "---"] {
            assert_eq!(detect_language(text), None, "{text}");
        }
    }

    #[test]
    fn latin_words_do_not_hide_the_script_of_a_text() {
        let text = "ライ麦は寒い地方で栽培される穀物です。 let rye = Grain::new(\"secale\"); println!(rye);";
        assert_eq!(detect_language(text), Some(("ja".to_owned(), 1.0)));
        let text = "黑麦 rye 是一种谷物 a cereal grain，主要种植在寒冷的地区 cold regions of Europe。";
        assert_eq!(detect_language(text), Some(("zh".to_owned(), 1.0)));
    }

    #[test]
    fn a_language_that_the_detector_lacks_is_as_declared() {
        let of = |text: &str, declared: &str| {
            language_of(text, Some(declared), None).map(|found| (found.code, found.confidence.is_some()))
        };
        let basque = "Zekalea belar bat da, eta alea lortzeko landatzen da lurralde hotzetan, ogia egiteko.";
        assert_eq!(of(basque, "eu"), Some(("eu".to_owned(), false)));
        let english = "Rye is a grass that is grown as a grain, and it is used for bread and beer.";
        assert_eq!(of(english, "eu"), Some(("en".to_owned(), true)));
        assert_eq!(of(english, "de"), Some(("en".to_owned(), true)));
        assert_eq!(of("OK", "eu-ES"), Some(("eu".to_owned(), false)));
        assert_eq!(language_of("", None, None), None);
    }

    #[test]
    fn languages_are_written_with_their_script() {
        let tag = |text: &str| language_of(text, None, None).map(|language| language.with_script).unwrap();
        assert_eq!(tag("Rye is a grass that is grown as a grain, and it is used for bread and beer."), "eng_Latn");
        assert_eq!(tag("黑麦是一种谷物，主要种植在寒冷的地区。"), "cmn_Hani");
        assert_eq!(tag("ライ麦は寒い地方で栽培される穀物です。"), "jpn_Jpan");
        assert_eq!(tag("Рожь выращивают как зерно, из неё пекут хлеб и варят пиво в холодных краях."), "rus_Cyrl");
    }
}
