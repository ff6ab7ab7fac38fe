//! The template of a site: the nodes that its pages have in common.
//!
//! A [`Template`] is a plain value that names its key page, its training pages and its parameters. It can be applied
//! later without the pages that it was learned from.

mod changes;
mod node;
mod stored;

pub use changes::{Block, changes};
pub use node::TemplateNode;
pub use stored::{Provenance, SCHEMA, Template, TemplateError};
