//! Many pages of a site to its template.
//!
//! `equality.rs` scores two nodes, `child_map.rs` maps two child lists (with the pairs of `best_first.rs`, taken into
//! `accepted.rs`), `mapping.rs` walks two trees with it, and `etdm.rs` votes. The result is a [`Template`]: a plain value that names its key page, its voters and its
//! parameters, and can be applied on any later night without the pages that taught it.

mod accepted;
mod anchors;
mod best_first;
mod changes;
mod child_map;
mod equality;
mod etdm;
mod mapping;
mod stored;

pub use changes::{Block, changes};
pub use child_map::{Pair, map_children};
pub use equality::{Equality, Side, position_score};
pub use etdm::{Votes, vote};
pub use mapping::{Mapped, map_trees};
pub use stored::{SCHEMA, Template, TemplateError, TemplateNode};
