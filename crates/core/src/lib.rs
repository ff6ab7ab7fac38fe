//! Removes the template of a web site from its pages: menus, banners, footers, everything that the pages of the site
//! have in common. Nobody writes rules; a few pages of the site are enough to learn from.
//!
//! # The model
//!
//! A [`Page`] is parsed HTML. A [`SiteModel`] is learned from two or more pages of one site: it keeps each as a
//! *training page*, reduced to hashes. To clean another page, the model aligns it to every training page, node by node.
//! A node whose subtree is equal on pages like this one is *evidence* for template; a node that no training page has is
//! the page's own. The *labels* of all nodes are then decided jointly on the tree, and a [`Cleaned`] page gives the
//! rest as text or HTML, with a *confidence* and the *step* that labeled it.
//!
//! A page that resembles no training page is labeled by the document frequency of its texts, and a page that shows
//! nothing of the site by itself. [`Page::clean`] does the latter without any model.
//!
//! Models grow: [`SiteModel::add`] takes further pages, [`SiteModel::merge`] joins models that were learned elsewhere.
//! Both are independent of order and bounded in memory. [`SiteModel::to_bytes`] stores a model.
//!
//! Everything here is a pure function of its input: no I/O, no clock, no threads that outlive a call.
//!
//! # Example
//!
//! ```
//! use dehusk_core::{Page, PageOptions, SiteModel};
//!
//! let htmls = [
//!     "<nav><a href=/>Home</a></nav><h1>Rye</h1><p>A hardy grain.</p>",
//!     "<nav><a href=/>Home</a></nav><h1>Oats</h1><p>Good for porridge.</p>",
//!     "<nav><a href=/>Home</a></nav><h1>Maize</h1><p>Also called corn.</p>",
//! ];
//! let pages: Vec<Page> = htmls.iter().map(|html| Page::parse(*html, &PageOptions::default())).collect();
//! let model = SiteModel::learn(&pages)?;
//!
//! let new = Page::parse("<nav><a href=/>Home</a></nav><h1>Rice</h1><p>Grows in water.</p>", &PageOptions::default());
//! let cleaned = model.clean(&new);
//! assert_eq!(cleaned.text(), "Rice\n\nGrows in water.\n");
//! assert!(cleaned.confidence() > 0.9);
//! # Ok::<(), dehusk_core::LearnError>(())
//! ```
//!
//! # Features
//!
//! `strings` adds template strings (Foschini 2007) for the `dehusk` program. It needs a C compiler; the default
//! features do not.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub mod calendar;
pub mod changing_parts;
pub mod chunks;
pub mod clean;
mod cleaning;
pub mod corpus;
mod facade;
mod language;
pub mod metadata;
mod options;
mod page_markdown;
pub mod page_rules;
pub mod pii;
mod posts;
mod quality;
pub mod rights;
pub mod suspicion;
#[cfg(test)]
mod test_pages;

#[doc(inline)]
pub use clean::{Alone, CleanOptions, HiddenText, KeepText};
pub use cleaning::cleaning_number;
pub use dehusk_content::{Favor, Labels, RestKind, RestKinds};
#[doc(inline)]
pub use dehusk_html::{KeepNodes, NodeId, Note, PageUrl, ParseOptions, ParserKind, Tree, UrlError};
pub use dehusk_render::{MarkdownImages, MarkdownLinks, MarkdownOptions};
pub use dehusk_template::method::Method;
pub use dehusk_template::site_model::SiteModelOptions;
pub use facade::{Cleaned, Html, LearnError, MergeError, ModelError, Page, PageOptions, SiteModel};
pub use language::{LanguageModel, TextLanguage, detect_language, language_of};
#[doc(inline)]
pub use metadata::{Fact, Metadata, MetadataInput, SiteMetadata, Source};
pub use options::Options;
pub use page_markdown::write_page_markdown;
#[doc(inline)]
pub use page_rules::PageRules;
pub use posts::{Post, posts};
pub use quality::{QUALITY_SIGNALS, Quality};
