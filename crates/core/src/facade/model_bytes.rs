//! The written form of a site model: a line with the version, a checksum, JSON.

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use dehusk_template::serialized::json_of;
use dehusk_template::site_model::{SiteModelOptions, StoredTrainingSet};

const NAME: &str = "dehusk site model ";
const VERSION: u32 = 1;

/// Why bytes are not a site model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// They are something else.
    #[error("not a dehusk site model")]
    NotAModel,
    /// They were written by a later version.
    #[error("site model of version {found}; this program reads up to version {VERSION}, please update dehusk")]
    Version {
        /// The version found.
        found: u32,
    },
    /// They were cut off or changed.
    #[error("damaged site model: {reason}")]
    Damaged {
        /// What is wrong.
        reason: String,
    },
}

#[derive(Serialize)]
struct Written<'a> {
    options: &'a SiteModelOptions,
    training_set: &'a StoredTrainingSet,
}

#[derive(Deserialize)]
struct Read {
    options: SiteModelOptions,
    training_set: StoredTrainingSet,
}

pub(super) fn write(training_set: &StoredTrainingSet, options: &SiteModelOptions) -> Vec<u8> {
    let json = json_of(&Written { options, training_set });
    let mut bytes = format!("{NAME}{VERSION}\n").into_bytes();
    bytes.extend(xxh3_64(&json).to_le_bytes());
    bytes.extend(json);
    bytes
}

pub(super) fn read(bytes: &[u8]) -> Result<(StoredTrainingSet, SiteModelOptions), ModelError> {
    let damaged = |reason: &dyn std::fmt::Display| ModelError::Damaged { reason: reason.to_string() };
    let rest = bytes.strip_prefix(NAME.as_bytes()).ok_or(ModelError::NotAModel)?;
    let end = rest.iter().take(12).position(|byte| *byte == b'\n').ok_or(ModelError::NotAModel)?;
    let version = std::str::from_utf8(&rest[..end]).ok().and_then(|version| version.parse().ok());
    match version.ok_or(ModelError::NotAModel)? {
        VERSION => {}
        found => return Err(ModelError::Version { found }),
    }
    let (sum, json) = rest[end + 1..].split_first_chunk::<8>().ok_or_else(|| damaged(&"it ends too soon"))?;
    if xxh3_64(json).to_le_bytes() != *sum {
        return Err(damaged(&"its checksum is wrong"));
    }
    let Read { options, training_set } = serde_json::from_slice(json).map_err(|e| damaged(&e))?;
    training_set.check().map_err(|e| damaged(&e))?;
    Ok((training_set, options))
}
