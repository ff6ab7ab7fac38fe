//! Exact top-down mapping and its votes (Alarte 2014): which nodes of a key page are template.
//!
//! `equality.rs` scores two nodes. `child_map.rs` maps two child lists: `best_first.rs` generates the candidate pairs,
//! and `accepted.rs` holds the accepted ones. `mapping.rs` maps two trees, and `votes.rs` counts votes.

mod accepted;
mod anchors;
mod best_first;
mod child_map;
mod equality;
mod mapping;
mod options;
mod pair;
mod votes;

pub use crate::equality_weights::EqualityWeights;
pub use child_map::map_children;
pub use equality::{Equality, Side, position_score};
pub use mapping::{Mapped, map_trees};
pub use options::{AttrMode, ChildMap, EtdmOptions, NodeText};
pub use pair::Pair;
pub use votes::{Votes, vote};
