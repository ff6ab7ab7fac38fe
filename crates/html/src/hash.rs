//! Hashes of names and values. The function is fixed: hashes of different pages and of different crawls are compared by
//! integer equality, without a shared interner.

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::by_place::PlaceMemo;

/// Hash of a name; never 0, which means "none".
pub fn hash_str(text: &str) -> u64 {
    xxh3_64(text.as_bytes()).max(1)
}

/// Minimum length of a long value. Long values are hashed once for all nodes that share them.
pub const LONG_VALUE: usize = 64;

/// Hash of an attribute: its hashed name with its value.
pub fn hash_pair(name: u64, value: &str) -> u64 {
    if value.len() < LONG_VALUE {
        xxh3_64_with_seed(value.as_bytes(), name)
    } else {
        hash_long_pair(name, hash_str(value))
    }
}

/// Hash of an attribute with a long value: its hashed name with its hashed value.
pub fn hash_long_pair(name: u64, value: u64) -> u64 {
    mix(value, name)
}

/// Hashes of the values of one tree's attributes. Long ones are hashed once.
#[derive(Default)]
pub struct ValueHashes(PlaceMemo<u64>);

impl ValueHashes {
    /// Hash of an id; 0 for an empty one.
    pub fn id(&mut self, value: &str) -> u64 {
        self.0.get_or_read(value, |value| match value.trim() {
            "" => 0,
            value => hash_str(value),
        })
    }

    /// Hash of an attribute: its hashed name with its value.
    pub fn pair(&mut self, name: u64, value: &str) -> u64 {
        if value.len() < LONG_VALUE {
            hash_pair(name, value)
        } else {
            hash_long_pair(name, self.0.get_or_read(value, hash_str))
        }
    }
}

/// Chains a number into a hash; order matters.
pub fn mix(hash: u64, value: u64) -> u64 {
    // The finalizer of splitmix64 over a rotated sum: cheap, and every input bit affects every output bit.
    let mut x = hash.rotate_left(29).wrapping_add(value).wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
