//! The comments of a page.

use super::{CleanOptions, KeepText, TemplateMatcher, label_page};
use dehusk_content::{RestKind, RestKinds};
use dehusk_html::Tree;

/// The text of the comments of a page: what `main+comments` keeps beyond `main`.
pub fn comments_text(page: &Tree, matcher: Option<&TemplateMatcher>, options: &CleanOptions) -> String {
    let with = |keep| label_page(page, None, matcher, &CleanOptions { keep, ..*options }).labels;
    let main = with(KeepText::Main);
    let mut both = with(KeepText::MainAnd(RestKinds::default().with(RestKind::Comments)));
    // What is main content is no comment.
    both.is_template.iter_mut().zip(&main.is_template).for_each(|(is, of_main)| *is |= !of_main);
    both.text(page)
}
