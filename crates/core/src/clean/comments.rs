//! The comments of a page.

use super::{CleanOptions, KeepText, TemplateMatcher, label_page};
use dehusk_content::{Labels, RestKind, RestKinds};
use dehusk_html::Tree;

/// Labels by which the comments of a page are its own, and all else is not: what `main+comments` keeps beyond `main`.
pub fn comment_labels(page: &Tree, matcher: Option<&TemplateMatcher>, options: &CleanOptions) -> Labels {
    let with = |keep| label_page(page, None, matcher, &CleanOptions { keep, ..*options }).labels;
    let main = with(KeepText::Main);
    let mut both = with(KeepText::MainAnd(RestKinds::default().with(RestKind::Comments)));
    // What is main content is no comment.
    both.is_template.iter_mut().zip(&main.is_template).for_each(|(is, of_main)| *is |= !of_main);
    both
}
