//! The `base` element of a page.

use super::PageUrl;
use crate::Tree;

/// Bytes of a base that is read: each link of a page is resolved against it.
const MOST_BASE: usize = 4096;

/// The URL that relative links of a page are resolved against.
pub fn base_url(tree: &Tree, url: &PageUrl) -> PageUrl {
    tree.all("base")
        .find_map(|base| tree.attr(base, "href"))
        .filter(|href| href.len() <= MOST_BASE)
        .and_then(|href| url.join(href))
        .unwrap_or_else(|| url.clone())
}
