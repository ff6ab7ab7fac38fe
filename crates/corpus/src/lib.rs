//! Documents in, rows out: what becomes of stored pages, and the pipeline that runs documents through all cores.
//!
//! [`export`] makes a corpus of a store: pages are cleaned on all cores and written into parts that a later run goes on
//! from. [`pipeline`] reads, works and writes at the same time, in order and in bounded memory:
//!
//! ```
//! let mut squares = Vec::new();
//! let read = |put: &mut dyn FnMut(u64) -> bool| (1..=4).for_each(|n| drop(put(n)));
//! dehusk_corpus::pipeline::run(read, |_| 8, |n| n * n, |square| {
//!     squares.push(square);
//!     Ok::<(), ()>(())
//! })?;
//! assert_eq!(squares, [1, 4, 9, 16]);
//! # Ok::<(), ()>(())
//! ```

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub mod export;
pub mod language_model;
pub mod registry;
pub mod tokenizer;
pub mod pipeline;
