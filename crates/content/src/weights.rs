//! The weights of the page model, as `scripts/content/weights.py` writes them.
//!
//! A line with the version, then in little-endian bytes: FNV-1a of the rest, FNV-1a of the names of the features, the
//! numbers of features, of weights and of sub-words, the weights, and each sub-word's hash with its two weights.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use super::class_words::ClassWords;
use super::features::feature_names;
use super::net::Net;

const MAGIC: &[u8] = b"dehusk content net 1\n";

/// A net and the weights of sub-words.
#[derive(Clone, Debug)]
pub(super) struct Weights {
    /// Checksum of the file.
    number: u64,
    pub(super) net: Net,
    pub(super) classes: ClassWords,
}

impl Weights {
    /// Reads a file. `None` for one of another version, a damaged one, or one that was trained on other features.
    pub(super) fn read(bytes: &[u8], names: &[String]) -> Option<Weights> {
        let (sum, body) = bytes.strip_prefix(MAGIC)?.split_first_chunk::<8>()?;
        if fnv(body) != u64::from_le_bytes(*sum) {
            return None;
        }
        let (trained_on, body) = body.split_first_chunk::<8>()?;
        if fnv(names.join("\n").as_bytes()) != u64::from_le_bytes(*trained_on) {
            return None;
        }
        let (head, body) = body.split_at_checked(12)?;
        let [n_features, n_weights, n_words] = [0, 4, 8].map(|at| number(head, at) as usize);
        if n_features != names.len() {
            return None;
        }
        let (weights, words) = body.split_at_checked(n_weights.checked_mul(4)?)?;
        if words.len() != n_words.checked_mul(12)? {
            return None;
        }
        let weights: Vec<f32> = weights.chunks_exact(4).map(|bytes| f32::from_bits(number(bytes, 0))).collect();
        let word =
            |bytes: &[u8]| (number(bytes, 0), [f32::from_bits(number(bytes, 4)), f32::from_bits(number(bytes, 8))]);
        let words: FxHashMap<u32, [f32; 2]> = words.chunks_exact(12).map(word).collect();
        let length = names.iter().position(|name| name == "own.ln_length")?;
        let (number, classes) = (u64::from_le_bytes(*sum), ClassWords::new(words));
        Some(Weights { number, net: Net::read(n_features, length, &weights)?, classes })
    }

    /// The weights of the page model.
    pub(super) fn of_page() -> Option<&'static Weights> {
        PAGE.get_or_init(|| Weights::read(include_bytes!("page.weights"), &feature_names())).as_ref()
    }

    /// The weights of the site model.
    pub(super) fn of_site() -> Option<&'static Weights> {
        SITE.get_or_init(|| Weights::read(include_bytes!("site.weights"), &site_names())).as_ref()
    }
}

/// Read once. A test holds that the weights in the repository can be read.
static PAGE: OnceLock<Option<Weights>> = OnceLock::new();
static SITE: OnceLock<Option<Weights>> = OnceLock::new();

/// Replaces the weights in the program, for figures on sites that other weights were not trained on. Returns whether
/// both were read, and nothing was labeled before.
pub fn use_weights(page: &[u8], site: &[u8]) -> bool {
    let (page, site) = (Weights::read(page, &feature_names()), Weights::read(site, &site_names()));
    page.is_some() && site.is_some() && PAGE.set(page).is_ok() && SITE.set(site).is_ok()
}

/// A number for all weights that main content is chosen by. Other weights leave another text of the same page.
pub fn weights_number() -> u64 {
    let number = |weights: Option<&Weights>| weights.map_or(0, |weights| weights.number);
    let numbers = [number(Weights::of_page()), number(Weights::of_site()), super::rest::weights_number()];
    fnv(&numbers.map(u64::to_le_bytes).concat())
}

fn site_names() -> Vec<String> {
    let site = super::site_blocks::NAMES.map(|name| format!("site.{name}"));
    std::iter::once("own.ln_length".to_owned()).chain(site).collect()
}

pub(super) fn number(bytes: &[u8], at: usize) -> u32 {
    bytes[at..].first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

/// 64-bit FNV-1a.
pub(super) fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_weights_are_whole_and_of_these_features() {
        assert!(Weights::of_page().is_some(), "train again: scripts/content/README.md");
        assert!(Weights::of_site().is_some(), "train again: scripts/content/README.md");
        let bytes = include_bytes!("page.weights");
        for at in [0, 25, 40, bytes.len() / 2, bytes.len() - 1] {
            let mut damaged = bytes.to_vec();
            damaged[at] ^= 1;
            assert!(Weights::read(&damaged, &feature_names()).is_none(), "byte {at}");
        }
        assert!(Weights::read(&bytes[..bytes.len() - 1], &feature_names()).is_none());
        assert!(Weights::read(b"", &feature_names()).is_none());
    }
}
