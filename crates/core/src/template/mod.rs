//! The template of a site: the nodes that its pages have in common.
//!
//! `equality.rs` scores two nodes. `child_map.rs` maps two child lists: `best_first.rs` generates the candidate pairs,
//! and `accepted.rs` holds the accepted ones. `mapping.rs` maps two trees, and `etdm.rs` counts votes. The result is a
//! [`Template`]: a plain value that names its key page, its training pages and its parameters. It can be applied later
//! without the pages that it was learned from.

mod accepted;
mod anchors;
mod best_first;
mod changes;
mod child_map;
mod equality;
mod etdm;
mod legacy;
mod mapping;
mod node;
mod options;
mod pair;
mod stored;

pub use crate::equality_weights::EqualityWeights;
pub use changes::{Block, changes};
pub use child_map::map_children;
pub use equality::{Equality, Side, position_score};
pub use etdm::{Votes, vote};
pub use mapping::{Mapped, map_trees};
pub use node::TemplateNode;
pub use options::{AttrMode, ChildMap, EtdmOptions, NodeText};
pub use pair::Pair;
pub use stored::{Provenance, SCHEMA, Template, TemplateError};
