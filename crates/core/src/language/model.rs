//! Languages by a detector that the user brings.

use std::fmt::Debug;

use isolang::Language;

use super::script::main_script;
use super::{TextLanguage, beginning};

/// A detector of languages, such as a fastText model.
pub trait LanguageModel: Debug + Send + Sync {
    /// The most probable label of a text, as in `eng_Latn` or `en`, with its probability. The text is one line.
    fn label(&self, text: &str) -> Option<(String, f64)>;
}

/// Languages of a macro language that has a code of two letters, as models name them: with the language's own code.
#[rustfmt::skip]
const MACRO_LANGUAGES: [(&str, &str); 34] = [
    ("als", "sq"), ("arb", "ar"), ("ayr", "ay"), ("azj", "az"), ("cmn", "zh"), ("ckb", "ku"), ("dgo", "doi"),
    ("ekk", "et"), ("fuv", "ff"), ("gaz", "om"), ("gug", "gn"), ("ike", "iu"), ("kmr", "ku"), ("khk", "mn"),
    ("knc", "kr"), ("lvs", "lv"), ("nob", "nb"), ("npi", "ne"), ("ory", "or"), ("pbt", "ps"), ("pes", "fa"),
    ("plt", "mg"), ("prs", "fa"), ("quy", "qu"), ("quz", "qu"), ("src", "sc"), ("swh", "sw"), ("twi", "ak"),
    ("uzn", "uz"), ("ydd", "yi"), ("yue", "zh"), ("zho", "zh"), ("zsm", "ms"), ("zyb", "za"),
];

/// The language of a text by a model. `None` for a text without letters.
pub(super) fn by_model(model: &dyn LanguageModel, text: &str) -> Option<TextLanguage> {
    let text = beginning(text);
    let script = main_script(text)?;
    let line = text.replace(['\n', '\r'], " ");
    let (label, probability) = model.label(&line)?;
    let (name, written) = label.split_once('_').unwrap_or((&label, script.iso_15924()));
    let code = match name {
        name if name.len() == 2 => name.to_owned(),
        name => short_code(name).to_owned(),
    };
    let long = Language::from_639_1(name).map_or(name, |language| language.to_639_3());
    Some(TextLanguage { code, confidence: Some(probability), with_script: format!("{long}_{written}") })
}

fn short_code(long: &str) -> &str {
    let of_macro = MACRO_LANGUAGES.iter().find(|(name, _)| *name == long).map(|(_, code)| *code);
    of_macro.or_else(|| Language::from_639_3(long)?.to_639_1()).unwrap_or(long)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::language_of;

    #[derive(Debug)]
    struct Always(&'static str);

    impl LanguageModel for Always {
        fn label(&self, text: &str) -> Option<(String, f64)> {
            assert!(!text.contains('\n'));
            Some((self.0.to_owned(), 0.75))
        }
    }

    #[test]
    fn labels_of_models_become_codes() {
        let of = |label: &'static str| {
            let found = language_of("Rye\nis a grass.", Some("de"), Some(&Always(label))).unwrap();
            assert_eq!(found.confidence, Some(0.75));
            (found.code.clone(), found.with_script().to_owned())
        };
        let pair = |code: &str, long: &str| (code.to_owned(), long.to_owned());
        assert_eq!(of("eng_Latn"), pair("en", "eng_Latn"));
        assert_eq!(of("zho_Hans"), pair("zh", "zho_Hans"));
        assert_eq!(of("arb_Arab"), pair("ar", "arb_Arab"));
        assert_eq!(of("sco_Latn"), pair("sco", "sco_Latn"));
        assert_eq!(of("eu"), pair("eu", "eus_Latn"));
        assert_eq!(language_of("12 - 3", None, Some(&Always("eng_Latn"))), None, "no letters");
        assert_eq!(language_of("12", Some("de"), Some(&Always("eng_Latn"))).unwrap().code, "de");
    }
}
