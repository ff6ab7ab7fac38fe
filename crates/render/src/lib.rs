//! A page, or the part of it that is kept, as HTML that runs nothing and as Markdown.
//!
//! ```
//! use dehusk_html::{ParseOptions, parse};
//! use dehusk_render::{MarkdownOptions, write_markdown, write_own_html};
//!
//! let tree = parse("<nav>Home</nav><h1>Rye</h1><p onclick=x()>A <b>grass</b>.", &ParseOptions::default());
//! let nav = tree.all("nav").next().unwrap();
//! let keeps = |node| !tree.shape.subtree(nav).contains(&dehusk_html::NodeId::index(node));
//! let markdown = write_markdown(&tree, None, &MarkdownOptions::default(), keeps);
//! assert_eq!(markdown, "# Rye\n\nA **grass**.\n");
//! assert!(write_own_html(&tree, None, keeps).contains("<h1>Rye</h1><p>A <b>grass</b>.</p>"));
//! ```
//!
//! `html.rs` writes the tree as a document that is safe to open: `policy.rs` says which elements and attributes it may
//! have, `addresses.rs` makes links absolute, `images.rs` finds the source of a picture that a script would load, and
//! `repeats.rs` bounds how often one attribute is written. `template_html.rs` writes the template of a page with the
//! page's own design, which is as safe as the page.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod addresses;
mod html;
mod images;
mod markdown;
mod policy;
mod repeats;
mod template_html;
#[cfg(test)]
#[path = "../../core/src/test_pages.rs"]
mod test_pages;

pub use html::{write_html, write_own_html};
pub use markdown::{MarkdownImages, MarkdownLinks, MarkdownOptions, MarkdownWriter, write_markdown};
pub use policy::{is_void, text_element};
pub use template_html::{style_elements, write_template_html};
