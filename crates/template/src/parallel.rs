//! Maps and sorts, on all cores with the feature `parallel`.

/// Maps every item of a slice.
pub(crate) fn map<T: Sync, R: Send>(items: &[T], f: impl Fn(&T) -> R + Sync + Send) -> Vec<R> {
    map_range(items.len(), |at| f(&items[at]))
}

/// Maps the numbers below `n`.
#[cfg(feature = "parallel")]
pub(crate) fn map_range<R: Send>(n: usize, f: impl Fn(usize) -> R + Sync + Send) -> Vec<R> {
    use rayon::iter::{IntoParallelIterator, ParallelIterator};
    (0..n).into_par_iter().map(f).collect()
}

/// Maps the numbers below `n`.
#[cfg(not(feature = "parallel"))]
pub(crate) fn map_range<R: Send>(n: usize, f: impl Fn(usize) -> R + Sync + Send) -> Vec<R> {
    (0..n).map(f).collect()
}

/// Sorts numbers.
pub(crate) fn sort(numbers: &mut [u64]) {
    #[cfg(feature = "parallel")]
    rayon::slice::ParallelSliceMut::par_sort_unstable(numbers);
    #[cfg(not(feature = "parallel"))]
    numbers.sort_unstable();
}
