//! What was read of values, such as those of attributes, which many elements share.

use rustc_hash::FxHashMap;

use super::hash::hash_str;

/// What was read of values, by the value. Of two values with the same hash, only the first one is remembered: what is
/// given for a value never depends on the others.
#[derive(Debug)]
pub struct ValueMemo<T> {
    by_hash: FxHashMap<u64, (Box<str>, T)>,
}

impl<T> Default for ValueMemo<T> {
    fn default() -> ValueMemo<T> {
        ValueMemo { by_hash: FxHashMap::default() }
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
                read
            }
        }
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
        assert_eq!(known.by_hash.len(), 1);
        // As if two values had one hash.
        known.by_hash.insert(hash_str("barley"), ("oats".into(), 4));
        assert_eq!(known.get_or_read("barley", str::len), 6);
        assert_eq!(known.get_or_read("barley", |_| 7), 7);
        assert_eq!(known.by_hash.len(), 2);
    }
}
