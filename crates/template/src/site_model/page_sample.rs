//! A bounded sample of the pages of a site that does not depend on their order.

use std::collections::BTreeMap;

use xxhash_rust::xxh3::xxh3_64;

use super::training_page::rank;

/// A sample of the pages of one site, to learn its model from: those whose URLs have the least hashes.
///
/// It does not depend on the order of the pages, and samples of parts can be merged, so that a site of any size is
/// learned in bounded memory on any number of machines. Of several versions of a page, the one whose body has the least
/// hash is kept. `T` is what is kept of a page.
///
/// ```
/// use dehusk_template::site_model::PageSample;
///
/// let mut sample = PageSample::new(2);
/// for (id, body) in [(1, "rye"), (2, "oats"), (3, "corn"), (1, "rye")] {
///     sample.insert(id, body.as_bytes(), || Ok::<_, ()>(body)).unwrap();
/// }
/// assert_eq!(sample.iter().count(), 2);
/// ```
#[derive(Clone, Debug)]
pub struct PageSample<T> {
    most: usize,
    pages: BTreeMap<u64, Sampled<T>>,
}

#[derive(Clone, Debug)]
struct Sampled<T> {
    id: u64,
    body: u64,
    value: T,
}

impl<T> PageSample<T> {
    /// Pages that a model is learned from, unless something else is asked for.
    pub const SIZE: usize = 9;

    /// Bytes of a page above which it is no sample.
    pub const MAX_BYTES: usize = 1_000_000;

    /// An empty sample of at most this many pages.
    pub fn new(most: usize) -> PageSample<T> {
        PageSample { most, pages: BTreeMap::new() }
    }

    /// Offers a page: `id` is the fingerprint of its URL. `value` is called if the page is kept. Returns whether it is.
    ///
    /// # Errors
    ///
    /// The error of `value`.
    pub fn insert<E>(&mut self, id: u64, body: &[u8], value: impl FnOnce() -> Result<T, E>) -> Result<bool, E> {
        let rank = rank(id);
        let is_beyond =
            self.pages.len() >= self.most && self.pages.last_key_value().is_none_or(|(last, _)| rank > *last);
        if is_beyond || body.len() >= Self::MAX_BYTES {
            return Ok(false);
        }
        let body = xxh3_64(body);
        if self.pages.get(&rank).is_some_and(|known| known.body <= body) {
            return Ok(false);
        }
        self.keep(rank, Sampled { id, body, value: value()? });
        Ok(true)
    }

    /// Adds the pages of another sample.
    pub fn merge(&mut self, other: PageSample<T>) {
        for (rank, page) in other.pages {
            if self.pages.get(&rank).is_none_or(|known| page.body < known.body) {
                self.keep(rank, page);
            }
        }
    }

    fn keep(&mut self, rank: u64, page: Sampled<T>) {
        self.pages.insert(rank, page);
        while self.pages.len() > self.most {
            self.pages.pop_last();
        }
    }

    /// The pages with their ids, in the order of the sample.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        self.pages.values().map(|page| (page.id, &page.value))
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use proptest::prelude::*;

    use super::*;

    fn sample(pages: &[(u64, u8)]) -> PageSample<(u64, u8)> {
        let mut sample = PageSample::new(3);
        for page in pages {
            sample.insert(page.0, &[page.1], || Ok::<_, Infallible>(*page)).unwrap();
        }
        sample
    }

    fn pages(sample: &PageSample<(u64, u8)>) -> Vec<(u64, (u64, u8))> {
        sample.iter().map(|(id, page)| (id, *page)).collect()
    }

    proptest! {
        #[test]
        fn a_sample_depends_on_its_pages_only(all in proptest::collection::vec((0..9u64, 0..3u8), 0..24), at in 0..24usize) {
            let whole = pages(&sample(&all));
            let reversed: Vec<_> = all.iter().rev().copied().collect();
            prop_assert_eq!(&whole, &pages(&sample(&reversed)));
            let (one, two) = all.split_at(at.min(all.len()));
            let mut merged = sample(two);
            merged.merge(sample(one));
            prop_assert_eq!(&whole, &pages(&merged));
            prop_assert!(whole.len() <= 3);
        }
    }

    #[test]
    fn large_pages_are_no_sample_and_an_error_keeps_what_was_there() {
        let mut sample = PageSample::new(1);
        assert_eq!(sample.insert(1, b"rye", || Ok::<_, u8>("rye")), Ok(true));
        assert_eq!(sample.insert(1, b"rye", || Err(7)), Ok(false));
        assert_eq!(sample.insert(2, &vec![b'x'; PageSample::<&str>::MAX_BYTES], || Err(7)), Ok(false));
        let before: Vec<_> = sample.iter().map(|(id, value)| (id, *value)).collect();
        let failed = (2..100).any(|id| sample.insert(id, b"oats", || Err(7)).is_err());
        assert!(failed && sample.iter().map(|(id, value)| (id, *value)).eq(before));
        assert_eq!(PageSample::new(0).insert(1, b"rye", || Ok::<_, u8>("rye")), Ok(false));
    }
}
