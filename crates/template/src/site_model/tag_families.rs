//! Families of tags: what an element is for, as a number that a forest reads.

use std::sync::LazyLock;

use dehusk_html::hash_str;
use rustc_hash::FxHashMap;

use super::encoded_page::EncodedPage;

/// Families of tags. A tag that is not listed has none (0); a text is the first family.
const FAMILIES: [&[&str]; 15] = [
    &["a"],
    &["p", "blockquote", "pre", "code"],
    &["div", "section", "center"],
    &["span", "b", "strong", "i", "em", "font", "small", "time", "label"],
    &["li", "dt", "dd"],
    &["ul", "ol", "dl"],
    &["td", "th"],
    &["tr", "table", "tbody"],
    &["h1", "h2", "h3", "h4"],
    &["br", "hr"],
    &["img", "svg", "path", "iframe"],
    &["input", "form", "button", "select", "option"],
    &["nav", "aside"],
    &["header", "footer"],
    &["main", "article"],
];

static FAMILY: LazyLock<FxHashMap<u32, f32>> = LazyLock::new(|| {
    let tags = FAMILIES.iter().zip(2_u8..).flat_map(|(tags, family)| tags.iter().map(move |tag| (tag, family)));
    tags.map(|(tag, family)| ((hash_str(tag) as u32).max(1), f32::from(family))).collect()
});

/// Family of links.
const LINK: f32 = 2.0;

/// The family of the tag of each node.
pub(super) fn families(page: &EncodedPage) -> Vec<f32> {
    let family = |node: usize| {
        let tag = page.signature(node).tag;
        if tag == 0 { 1.0 } else { FAMILY.get(&tag).copied().unwrap_or(0.0) }
    };
    (0..page.len()).map(family).collect()
}

/// Whether each node is a link, or is in one.
pub(super) fn is_in_link(page: &EncodedPage, families: &[f32]) -> Vec<bool> {
    let mut is_in_link: Vec<bool> = families.iter().map(|family| *family == LINK).collect();
    // The body is none.
    for node in 1..is_in_link.len() {
        is_in_link[node] |= is_in_link[page.parent[node] as usize];
    }
    is_in_link
}
