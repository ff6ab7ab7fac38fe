//! Clusters the pages of a mixed collection by layout (Gottron 2008, sections 4 and 5).
//!
//! A page is reduced to a set of structural features (`features.rs`). Pages are linked if their sets are near
//! (`linkage.rs`). Indices measure the quality of the result (`indices.rs`). The cluster of one page is its training
//! set (`training.rs`).

mod features;
mod indices;
mod linkage;
mod options;
mod training;

pub use features::Features;
pub use indices::{dunn, dunn_by, precision_and_recall, rand};
pub use linkage::{component, single_linkage, single_linkage_by};
pub use options::{ClusterBy, ClusterOptions, GottronOptions};
pub use training::MIN_CLUSTER;
pub use training::training_set;
