//! Near-duplicates by MinHash (Broder 1997), by default with the parameters of FineWeb (Penedo et al. 2024): shingles
//! of five words, 112 hashes in 14 bands of 8. Two texts whose shingles overlap by `s` (Jaccard) share one of `b` bands
//! of `r` rows with probability `1 - (1 - s^r)^b`: with 14 bands of 8, .77 at .75, .99 at .85, .05 at .5.

use std::sync::LazyLock;

use unicode_segmentation::UnicodeSegmentation;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use dehusk_settings::MinHash;

/// Maximum number of hashes of a text.
pub(crate) const MOST_HASHES: usize = 1024;

/// A Mersenne prime: products of its residues are reduced by shifts.
const PRIME: u64 = (1 << 61) - 1;

/// Factors and offsets of the hash functions.
static HASHERS: LazyLock<Vec<(u64, u64)>> =
    LazyLock::new(|| (0..MOST_HASHES as u64).map(|n| (seeded(2 * n), seeded(2 * n + 1))).collect());

/// One number for each band; texts with an equal one are near-duplicates. Empty for a text of fewer words than a
/// shingle. A Chinese or Japanese character is a word.
pub fn bands(text: &str, by: MinHash) -> Vec<u64> {
    let lower = text.to_lowercase();
    let words: Vec<u64> = lower.unicode_words().map(|word| xxh3_64(word.as_bytes())).collect();
    if words.len() < by.shingle {
        return Vec::new();
    }
    let mut least = vec![u64::MAX; (by.bands * by.rows).min(MOST_HASHES)];
    for shingle in words.windows(by.shingle) {
        let hash =
            shingle.iter().fold(0_u64, |hash, word| hash.rotate_left(7).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ word);
        let hash = hash % PRIME;
        for (least, (factor, offset)) in least.iter_mut().zip(HASHERS.iter()) {
            *least = (*least).min(residue(u128::from(hash) * u128::from(*factor) + u128::from(*offset)));
        }
    }
    let band = |(number, rows): (usize, &[u64])| {
        let bytes: Vec<u8> = rows.iter().flat_map(|row| row.to_le_bytes()).collect();
        xxh3_64_with_seed(&bytes, number as u64)
    };
    least.chunks(by.rows).enumerate().map(band).collect()
}

/// A factor or an offset: a residue that is not 0.
fn seeded(n: u64) -> u64 {
    xxh3_64_with_seed(b"minhash", n) % (PRIME - 1) + 1
}

fn residue(number: u128) -> u64 {
    let folded = (number & u128::from(PRIME)) as u64 + (number >> 61) as u64;
    if folded >= PRIME { folded - PRIME } else { folded }
}

#[cfg(test)]
mod tests {
    use super::bands;
    use dehusk_settings::MinHash;

    /// A text of words that depend on numbers, with every `nth` word another one.
    fn text(seed: u64, nth: usize) -> String {
        let word = |at: usize| {
            let is_other = nth > 0 && at.is_multiple_of(nth);
            let mixed = (seed + at as u64 + if is_other { 1_000_000 } else { 0 }).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            format!("w{}", mixed >> 44)
        };
        (0..300).map(word).collect::<Vec<_>>().join(" ")
    }

    fn is_near(one: &str, other: &str) -> bool {
        is_near_by(one, other, MinHash::default())
    }

    fn is_near_by(one: &str, other: &str, by: MinHash) -> bool {
        let other = bands(other, by);
        bands(one, by).iter().any(|band| other.contains(band))
    }

    #[test]
    fn copies_share_bands_and_other_texts_do_not() {
        let share = |nth: usize| (0..50).filter(|n| is_near(&text(n * 1000, 0), &text(n * 1000, nth))).count();
        assert_eq!(share(0), 50);
        let shares = [100, 20, 10, 5].map(share);
        println!("of 50 copies with 1, 5, 10 and 20 % of the words changed, {shares:?} are found");
        assert!(shares[0] == 50 && shares[3] < 5, "{shares:?}");
        assert_eq!((1..50).filter(|n| is_near(&text(0, 0), &text(n * 1000, 0))).count(), 0);
        // Shorter shingles and bands find most copies with a fifth of the words changed, here spread evenly.
        let loose = MinHash { shingle: 3, bands: 64, rows: 3 };
        assert!((0..50).filter(|n| is_near_by(&text(n * 1000, 0), &text(n * 1000, 5), loose)).count() > 20);
        assert_eq!((1..50).filter(|n| is_near_by(&text(0, 0), &text(n * 1000, 0), loose)).count(), 0);
        assert!(bands("too few words", MinHash::default()).is_empty());
        assert!(is_near("Rye is a grass, grown as a grain!", "rye is a grass grown as a GRAIN"));
    }
}
