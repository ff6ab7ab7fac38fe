//! The interface of this crate: pages in memory, the model of their site, pages without template.

mod cleaned;
mod model_bytes;
mod page;
mod site_model;

pub use cleaned::Cleaned;
pub use model_bytes::ModelError;
pub use page::{Html, Page, PageOptions};
pub use site_model::{LearnError, MergeError, SiteModel};
