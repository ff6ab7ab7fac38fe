//! Labels the nodes of one page: which are template, which are the page's own.

mod comments;
mod hidden;
mod steps;
mod options;
mod template_matcher;
mod whole_blocks;
mod whole_tables;

pub use comments::comment_labels;
pub use hidden::without_hidden;
pub use options::{Alone, CleanOptions, HiddenText, KeepText};
pub use steps::{LabeledPage, label_candidate, label_page};
pub use template_matcher::TemplateMatcher;
