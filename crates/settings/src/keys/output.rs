//! The other keys of the store and of exports.

use std::time::Duration;

use super::{Key, keys};
use crate::values::{at_least, duration, whole};

pub(super) const OUTPUT: &[Key] = keys! {
    "store.lease" = "30.0", "PostgreSQL: how long the hosts of a crawl that is not heard of stay leased to it. Others take them over after that and one full delay.",
        |s, v| s.store.lease => at_least(duration(v)?, Duration::from_secs(2))?;
    "store.zstd_level" = "3", "zstd compression level of stored pages.",
        |s, v| s.store.zstd_level => whole(v, 1, 19)? as i32;
    "store.keep_nights" = "0", "Runs of which old versions of pages and the log of requests are kept. 0 = all.",
        |s, v| s.store.keep.nights => whole(v, 0, 1_000_000)?;
    "export.shingle" = "5", "Words of a shingle of MinHash, which finds near-duplicates. 5 with 14 bands of 8 rows: FineWeb. A text is near another one with probability 1 - (1 - s^rows)^bands, s being the overlap of their shingles (Jaccard).",
        |s, v| s.export.near.shingle => whole(v, 1, 64)?;
    "export.bands" = "14", "Bands of MinHash. More find more. Each takes 16 bytes of disk a page.",
        |s, v| s.export.near.bands => whole(v, 1, 64)?;
    "export.rows" = "8", "Hashes of a band of MinHash. Fewer find texts that are less alike.",
        |s, v| s.export.near.rows => whole(v, 1, 16)?;
    "export.language_model" = "\"\"", "File of a fastText model (.bin, not quantized) that tells the language of rows, such as GlotLID, OpenLID or lid.176. Its labels are eng_Latn or en. Also for dehusk clean --rows. Empty = the built-in detector.",
        |s, v| s.export.language_model => v.as_str().ok_or("expected a text")?.trim().to_owned();
    "export.min_paragraph" = "8", "Least number of words of a paragraph that dehusk export --paragraphs compares with those of other pages.",
        |s, v| s.export.min_paragraph => whole(v, 1, 1_000_000)?;
};
