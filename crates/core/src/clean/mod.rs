//! One page and a template to what is the page's own.

mod comments;
mod hidden;
mod label_page;
mod options;
mod template_matcher;
mod whole_blocks;

pub use comments::comments_text;
pub use hidden::without_hidden;
pub use label_page::{LabeledPage, label_candidate, label_page};
pub use options::{Alone, CleanOptions, HiddenText, KeepText};
pub use template_matcher::TemplateMatcher;
