//! What was read of long attribute values, by their place.
//!
//! Error recovery can give thousands of elements the same attribute (the adoption agency algorithm clones open
//! formatting elements). A value of a megabyte must not be read again for each of them.

use rustc_hash::FxHashMap;

/// Bytes from which a value is long. Shorter ones are read again.
const LONG: usize = 256;

/// What was read of the long values of one page.
#[derive(Debug)]
pub struct PlaceMemo<T>(FxHashMap<(usize, usize), T>);

impl<T> Default for PlaceMemo<T> {
    fn default() -> PlaceMemo<T> {
        PlaceMemo(FxHashMap::default())
    }
}

impl<T: Copy> PlaceMemo<T> {
    /// Whether a value is remembered.
    pub fn is_long(value: &str) -> bool {
        value.len() >= LONG
    }

    /// What is known of a value; `None` for a short one, and for one that was not read yet.
    pub fn get(&self, value: &str) -> Option<T> {
        if Self::is_long(value) { self.0.get(&place(value)).copied() } else { None }
    }

    /// What is known of a value, or what `read` reads of it.
    pub fn get_or_read(&mut self, value: &str, read: impl FnOnce(&str) -> T) -> T {
        self.get(value).unwrap_or_else(|| {
            let read = read(value);
            self.insert(value, read);
            read
        })
    }

    /// Remembers what was read of a value, if it is long.
    pub fn insert(&mut self, value: &str, read: T) {
        if Self::is_long(value) {
            self.0.insert(place(value), read);
        }
    }
}

/// Values of one tree are parts of its buffer, so their addresses tell them apart.
fn place(value: &str) -> (usize, usize) {
    (value.as_ptr() as usize, value.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_value_is_known_at_its_place_only() {
        let text = "a".repeat(3 * LONG);
        let (one, other, short) = (&text[..LONG], &text[LONG..2 * LONG], &text[1..LONG]);
        let mut known = PlaceMemo::default();
        known.insert(one, 1);
        known.insert(short, 2);
        assert_eq!([one, other, short].map(|value| known.get(value)), [Some(1), None, None]);
        assert_eq!(known.get(&text[..LONG + 1]), None);
    }
}
