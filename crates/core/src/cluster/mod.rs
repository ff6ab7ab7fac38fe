//! Which pages of a pile share a layout? (Gottron 2008; ALGORITHMS 3.2 and 3.3)
//!
//! A page is reduced to a set of structural features (`features.rs`), pages are linked when their sets are near
//! (`linkage.rs`), and what came of it is judged by indices (`indices.rs`). The cluster of one page is its training set
//! (`training.rs`).

mod features;
mod indices;
mod linkage;
mod options;
mod training;

pub use features::Features;
pub use indices::{dunn, precision_and_recall, rand};
pub use linkage::{component, single_linkage};
pub use options::{ClusterBy, ClusterOptions, GottronOptions};
pub use training::training_set;
