//! Tokenizers that users name: `tokenizer.json`, as Hugging Face's models have it.

use std::sync::Arc;

use dehusk_core::corpus::TokenCounter;

/// Why a tokenizer cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("export.tokenizer {path:?}: {reason}")]
pub struct TokenizerError {
    path: String,
    reason: String,
}

/// The tokenizer of a file; none for an empty name. Special tokens are not counted.
///
/// # Errors
///
/// The file cannot be read, or is no tokenizer.
pub fn open(path: &str) -> Result<Option<Arc<dyn TokenCounter>>, TokenizerError> {
    if path.is_empty() {
        return Ok(None);
    }
    load(path).map(Some).map_err(|reason| TokenizerError { path: path.to_owned(), reason })
}

#[cfg(not(feature = "tokens"))]
fn load(_: &str) -> Result<Arc<dyn TokenCounter>, String> {
    Err("this program was built without the feature `tokens`".to_owned())
}

#[cfg(feature = "tokens")]
fn load(path: &str) -> Result<Arc<dyn TokenCounter>, String> {
    let mut tokenizer = tokenizers::Tokenizer::from_file(path).map_err(|e| e.to_string())?;
    // Some files cut or fill up every text.
    tokenizer.with_truncation(None).map_err(|e| e.to_string())?;
    tokenizer.with_padding(None);
    Ok(Arc::new(Tokens(tokenizer)))
}

#[cfg(feature = "tokens")]
struct Tokens(tokenizers::Tokenizer);

#[cfg(feature = "tokens")]
impl std::fmt::Debug for Tokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Tokens({} tokens)", self.0.get_vocab_size(true))
    }
}

#[cfg(feature = "tokens")]
impl TokenCounter for Tokens {
    fn count(&self, text: &str) -> Option<usize> {
        self.0.encode_fast(text, false).ok().map(|encoding| encoding.len())
    }
}

#[cfg(all(test, feature = "tokens"))]
mod tests {
    use super::open;

    #[test]
    fn tokens_are_those_of_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("tokenizer.json");
        let file = r#"{"version": "1.0", "truncation": {"direction": "Right", "max_length": 2, "strategy": "LongestFirst",
            "stride": 0}, "padding": null, "added_tokens": [], "normalizer": null,
            "pre_tokenizer": {"type": "Whitespace"}, "post_processor": null, "decoder": null,
            "model": {"type": "WordLevel", "vocab": {"[UNK]": 0, "rye": 1, "and": 2}, "unk_token": "[UNK]"}}"#;
        std::fs::write(&path, file).unwrap();
        let tokens = open(path.to_str().unwrap()).unwrap().unwrap();
        assert_eq!(tokens.count("rye and oats, rye"), Some(5));
        assert_eq!(tokens.count(""), Some(0));
        std::fs::write(&path, "{}").unwrap();
        let error = open(path.to_str().unwrap()).unwrap_err().to_string();
        assert!(error.starts_with("export.tokenizer") && error.contains("tokenizer.json"), "{error}");
        assert!(open("none.json").is_err() && open("").unwrap().is_none());
    }
}
