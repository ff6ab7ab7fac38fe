//! A number for what the text of a page depends on beside the page and the model of its site: the options, the weights,
//! the program. Stored texts of another number are made again.

use crate::clean::CleanOptions;
use crate::options::Options;
use dehusk_content::weights_number;
use dehusk_html::ParseOptions;
use dehusk_template::site_model::SiteModelOptions;
use dehusk_template::site_model::forests_number;
use serde::Serialize;
use xxhash_rust::xxh3::xxh3_64;

/// Changes when this version of the program cleans a page otherwise than the former one.
const CLEANING_VERSION: u64 = 9;

/// What is hashed, by its names and values as JSON: the form does not change with the compiler.
#[derive(Serialize)]
struct Cleaning<'a> {
    version: u64,
    weights: u64,
    forests: u64,
    clean: &'a CleanOptions,
    parse: &'a ParseOptions,
    site_model: &'a SiteModelOptions,
}

/// A fingerprint of all that the text of a page depends on beside the page and the model of its site. A store cleans a
/// page again when it changes.
pub fn cleaning_number(core: &Options) -> u64 {
    let (version, weights, forests) = (CLEANING_VERSION, weights_number(), forests_number());
    let (clean, parse, site_model) = (&core.clean, &core.parse, &core.learn.site_model);
    let json = serde_json::to_string(&Cleaning { version, weights, forests, clean, parse, site_model });
    xxh3_64(json.unwrap_or_else(|e| e.to_string()).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_changes_with_the_options_and_with_nothing_else() {
        let usual = cleaning_number(&Options::default());
        assert_eq!(usual, cleaning_number(&Options::default()));
        let mut other = Options::default();
        other.parse.max_depth -= 1;
        assert_ne!(usual, cleaning_number(&other));
        // Whoever changes this line changes CLEANING_VERSION, or what is hashed: stored pages are cleaned again.
        assert_eq!(usual, 9_638_108_198_973_987_289);
    }
}
