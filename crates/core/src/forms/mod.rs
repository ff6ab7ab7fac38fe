//! The forms in which a cleaned page is written.
//!
//! `html.rs` writes the tree as a document that is safe to open: `policy.rs` says which elements and attributes it may
//! have, `addresses.rs` makes links absolute, `images.rs` finds the source of a picture that a script would load, and
//! `repeats.rs` bounds how often one attribute is written.

mod addresses;
mod html;
mod images;
mod markdown;
mod policy;
mod repeats;

pub use html::{write_html, write_own_html};
pub use markdown::{MarkdownImages, MarkdownLinks, MarkdownOptions, write_markdown};
pub use policy::{is_void, text_element};
