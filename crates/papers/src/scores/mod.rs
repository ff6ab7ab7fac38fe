//! How well a page was cleaned: by template nodes, the measure of the TECO suite, and by words of the main content.

mod nodes;
mod words;

pub use nodes::{NodeCounts, Score, expand, node_score};
pub use words::{WordScore, bag_score, lcs_score, tokens};
