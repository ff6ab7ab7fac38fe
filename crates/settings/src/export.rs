//! What pages of an export are compared by.

use serde::Serialize;

/// `[export]`
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Export {
    /// How near-duplicates are found.
    pub near: MinHash,
    /// Least number of words of a paragraph that is compared with those of other pages.
    pub min_paragraph: usize,
    /// File of a fastText model that tells languages; empty = the built-in detector.
    pub language_model: String,
    /// File of a tokenizer by which tokens are counted; empty = they are not.
    pub tokenizer: String,
    /// Characters of a chunk, at most.
    pub chunk_chars: usize,
    /// Tokens of a chunk, at most; 0 = characters count.
    pub chunk_tokens: usize,
}

/// MinHash with locality-sensitive hashing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct MinHash {
    /// Words of a shingle.
    pub shingle: usize,
    /// Bands. Two texts with an equal one are near-duplicates.
    pub bands: usize,
    /// Hashes of a band.
    pub rows: usize,
}

impl Default for Export {
    fn default() -> Export {
        Export {
            near: MinHash::default(),
            min_paragraph: 8,
            language_model: String::new(),
            tokenizer: String::new(),
            chunk_chars: 2000,
            chunk_tokens: 0,
        }
    }
}

impl Default for MinHash {
    fn default() -> MinHash {
        MinHash { shingle: 5, bands: 14, rows: 8 }
    }
}
