//! Models of languages in the format of fastText, such as GlotLID, OpenLID and lid.176.

use std::sync::Arc;

use dehusk_core::LanguageModel;

/// Why a model of languages cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("export.language_model {path:?}: {reason}")]
pub struct LanguageModelError {
    path: String,
    reason: String,
}

/// The model of a file; none for an empty name. A file of a gigabyte takes as much memory, once.
///
/// # Errors
///
/// The file cannot be read, is no model for classification, or is quantized.
pub fn open(path: &str) -> Result<Option<Arc<dyn LanguageModel>>, LanguageModelError> {
    if path.is_empty() {
        return Ok(None);
    }
    match load(path) {
        Ok(model) => Ok(Some(model)),
        Err(reason) => Err(LanguageModelError { path: path.to_owned(), reason }),
    }
}

#[cfg(not(feature = "fasttext"))]
fn load(_: &str) -> Result<Arc<dyn LanguageModel>, String> {
    Err("this program was built without the feature `fasttext`".to_owned())
}

#[cfg(feature = "fasttext")]
use with_fasttext::load;

#[cfg(feature = "fasttext")]
mod with_fasttext {
    use std::fmt;
    use std::fs::File;
    use std::io::Read;
    use std::panic::catch_unwind;
    use std::sync::Arc;

    use dehusk_core::LanguageModel;
    use fasttext::FastText;

    /// The first bytes of a model.
    const MAGIC: [u8; 4] = 793_712_314_u32.to_le_bytes();

    struct FastTextModel(FastText);

    impl fmt::Debug for FastTextModel {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "FastTextModel({} labels)", self.0.get_labels().0.len())
        }
    }

    impl LanguageModel for FastTextModel {
        fn label(&self, text: &str) -> Option<(String, f64)> {
            let best = self.0.predict(text, 1, 0.0).into_iter().next()?;
            let label = best.label.strip_prefix("__label__").unwrap_or(&best.label).to_owned();
            // Rounding can give a little more than 1.
            Some((label, f64::from(best.prob).clamp(0.0, 1.0)))
        }
    }

    pub(super) fn load(path: &str) -> Result<Arc<dyn LanguageModel>, String> {
        let mut magic = [0; 4];
        File::open(path)
            .map_err(|e| e.to_string())?
            .read_exact(&mut magic)
            .map_err(|_| "no fastText model".to_owned())?;
        if magic != MAGIC {
            return Err("no fastText model".to_owned());
        }
        // The library checks most of a file, but not all.
        let model = catch_unwind(|| FastText::load_model(path)).map_err(|_| "a damaged fastText model".to_owned())?;
        let model = model.map_err(|e| e.to_string())?;
        if model.is_quant() {
            return Err("a quantized model (.ftz), whose labels would be wrong; take the .bin file".to_owned());
        }
        if model.get_labels().0.is_empty() {
            return Err("a model of word vectors, which has no labels".to_owned());
        }
        Ok(Arc::new(FastTextModel(model)))
    }
}

#[cfg(all(test, feature = "fasttext"))]
mod tests {
    use std::fs;

    use fasttext::FastText;
    use fasttext::args::{Args, ModelName};

    use super::open;

    #[test]
    fn a_model_of_a_file_tells_languages() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
        let lines = "__label__eng_Latn the rye is a grain and the bread is good\n\
                     __label__deu_Latn der Roggen ist ein Getreide und das Brot ist gut\n";
        fs::write(path("lines.txt"), lines.repeat(50)).unwrap();
        let mut args = Args { input: path("lines.txt").into(), epoch: 20, dim: 8, thread: 1, ..Args::default() };
        args.model = ModelName::Supervised;
        args.bucket = 1000;
        args.min_count = 1;
        FastText::train(args).unwrap().save_model(path("model.bin")).unwrap();
        let model = open(&path("model.bin")).unwrap().unwrap();
        assert_eq!(model.label("the bread is good").unwrap().0, "eng_Latn");
        let (label, probability) = model.label("das Brot ist gut").unwrap();
        assert_eq!(label, "deu_Latn");
        assert!((0.5..=1.0).contains(&probability));

        let error = |path: &str| open(path).unwrap_err().to_string();
        assert!(open("").unwrap().is_none());
        assert!(error(&path("none.bin")).contains("export.language_model"));
        assert!(error(&path("lines.txt")).ends_with("no fastText model"));
        let bytes = fs::read(path("model.bin")).unwrap();
        for n in [4, 5, 60, 100, bytes.len() / 2, bytes.len() - 1] {
            fs::write(path("cut.bin"), &bytes[..n]).unwrap();
            assert!(error(&path("cut.bin")).contains("cut.bin"), "{n} bytes");
        }
    }
}
