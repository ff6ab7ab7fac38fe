//! What was read of values, such as those of attributes, which many elements and pages share.

use rustc_hash::FxHashMap;

use super::hash::hash_str;

/// What was read of values, by the value. Of two values with the same hash, only the first one is remembered: what is
/// given for a value never depends on the others.
#[derive(Debug)]
pub struct ValueMemo<T> {
    by_hash: FxHashMap<u64, (Box<str>, T)>,
    n_bytes: usize,
}

impl<T> Default for ValueMemo<T> {
    fn default() -> ValueMemo<T> {
        ValueMemo { by_hash: FxHashMap::default(), n_bytes: 0 }
    }
}

impl<T: Copy> ValueMemo<T> {
    /// What is known of a value, or what `read` reads of it.
    pub fn get_or_read(&mut self, value: &str, read: impl FnOnce(&str) -> T) -> T {
        let hash = hash_str(value);
        match self.by_hash.get(&hash) {
            Some((known, read)) if **known == *value => *read,
            Some(_) => read(value),
            None => {
                let read = read(value);
                self.by_hash.insert(hash, (value.into(), read));
                self.n_bytes += value.len();
                read
            }
        }
    }

    /// Number of values.
    pub fn n_values(&self) -> usize {
        self.by_hash.len()
    }

    /// Bytes of all values.
    pub fn n_bytes(&self) -> usize {
        self.n_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_read_once_and_never_taken_for_another() {
        let mut known = ValueMemo::default();
        assert_eq!(known.get_or_read("rye", str::len), 3);
        assert_eq!(known.get_or_read("rye", |_| unreachable!("it was read before")), 3);
        assert_eq!((known.n_values(), known.n_bytes()), (1, 3));
        // As if two values had one hash.
        known.by_hash.insert(hash_str("barley"), ("oats".into(), 4));
        assert_eq!(known.get_or_read("barley", str::len), 6);
        assert_eq!(known.get_or_read("barley", |_| 7), 7);
        assert_eq!((known.n_values(), known.n_bytes()), (2, 3));
    }
}
