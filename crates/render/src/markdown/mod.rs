//! A page as Markdown (CommonMark 0.31 and GFM 0.29, with footnotes, `$` formulas, and definition lists of one
//! paragraph a name as Pandoc and PHP Markdown Extra have them).
//!
//! `build/` walks the kept nodes once and makes blocks of runs (`block.rs`). `write.rs` writes blocks, and
//! `inline.rs` the runs of a line. A run carries its marks, so that emphasis and links that overlap or cross blocks on
//! the page are written as Markdown can read them.

mod block;
mod build;
mod code;
mod escape;
mod footnotes;
mod formulas;
mod inline;
mod mathml;
mod options;
mod table;
mod write;

pub use options::{MarkdownImages, MarkdownLinks, MarkdownOptions};

use std::ops::Range;

use build::Builder;
use dehusk_html::PageUrl;
use dehusk_html::{NodeId, Tree};

/// The nodes that `keeps` selects as Markdown.
///
/// Links and pictures are absolute where `url`, the address of the page, or its `base` element is known. Forms are left
/// out. Tables that only lay the page out are unrolled, and those with spans are written with empty cells.
pub fn write_markdown(
    tree: &Tree,
    url: Option<&PageUrl>,
    options: &MarkdownOptions,
    keeps: impl Fn(NodeId) -> bool,
) -> String {
    MarkdownWriter::new(tree, url, options, keeps).write()
}

/// Writes the nodes of a page as Markdown: all of them, or parts of the page.
pub struct MarkdownWriter<'t> {
    builder: Builder<'t>,
    links: MarkdownLinks,
}

impl<'t> MarkdownWriter<'t> {
    /// For the nodes that `keeps` selects, as in [`write_markdown`].
    pub fn new(
        tree: &'t Tree,
        url: Option<&'t PageUrl>,
        options: &'t MarkdownOptions,
        keeps: impl Fn(NodeId) -> bool,
    ) -> MarkdownWriter<'t> {
        MarkdownWriter { builder: Builder::new(tree, url, options, &keeps), links: options.links }
    }

    /// Puts a line above what an element holds: the author and the day of a post. A rule divides it from what stands
    /// before it in the same block.
    pub fn put_above(&mut self, element: NodeId, facts: Vec<String>) {
        self.builder.above.insert(element, facts);
    }

    /// The whole page.
    pub fn write(mut self) -> String {
        let body = self.builder.body();
        body.map_or_else(String::new, |body| write::write(&self.builder.document(body), self.links))
    }

    /// What one element holds, without some ranges of nodes in it.
    pub fn write_part(&mut self, element: NodeId, without: &[Range<usize>]) -> String {
        let document = self.builder.document_without(element, without);
        write::write(&document, self.links)
    }
}

/// Whether an element stands on lines of its own.
pub(super) fn is_block(name: &str) -> bool {
    #[rustfmt::skip]
    let is = matches!(
        name,
        "address" | "article" | "aside" | "blockquote" | "body" | "caption" | "center" | "dd" | "details" | "dialog"
        | "dir" | "div" | "dl" | "dt" | "fieldset" | "figcaption" | "figure" | "footer" | "form" | "h1" | "h2" | "h3"
        | "h4" | "h5" | "h6" | "header" | "hgroup" | "hr" | "legend" | "li" | "listing" | "main" | "menu" | "nav"
        | "ol" | "p" | "plaintext" | "pre" | "search" | "section" | "summary" | "table" | "tbody" | "tfoot" | "thead"
        | "tr" | "ul" | "xmp"
    );
    is
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{MarkdownOptions, write_markdown};
    use crate::test_pages;
    use dehusk_html::{ParseOptions, parse};

    #[test]
    fn frames_of_films_are_links_and_those_of_advertisements_are_not() {
        let written = |html: &str| {
            write_markdown(&parse(html, &ParseOptions::default()), None, &MarkdownOptions::default(), |_| true)
        };
        let film = "<p>a</p><iframe title='How rye grows' src='https://film.test/embed/1'></iframe>";
        assert_eq!(written(film), "a\n\n[How rye grows](https://film.test/embed/1)\n");
        let long = format!("<p>a</p><iframe allowfullscreen src='https://ads.test/?{}'></iframe>", "x".repeat(600));
        assert_eq!(written(&long), "a\n");
        assert_eq!(written("<p>a</p><iframe title=Advertisement src='https://ads.test/1'></iframe>"), "a\n");
    }

    proptest! {
        /// Any page is written, whatever is kept of it, and twice the same.
        #[test]
        fn any_page_is_written(pages in test_pages::pages(1, 0..30), every in 1_usize..5) {
            let tree = parse(&pages[0], &ParseOptions::default());
            let write = || write_markdown(&tree, None, &MarkdownOptions::default(), |node| node.index() % every == 0);
            prop_assert_eq!(write(), write());
        }

        #[test]
        fn any_markup_is_written(html in "(<(/)?(p|b|i|a href=x|ul|li|ol start=3|table|tr|td|th|pre|code|br|dl|dt|dd|sup|h2)>|[a*_`|\\[\\]!#$ ]|1\\. |- ){0,60}") {
            let tree = parse(&html, &ParseOptions::default());
            let written = write_markdown(&tree, None, &MarkdownOptions::default(), |_| true);
            let letters = |text: &str| text.chars().filter(|c| *c == 'a').count();
            let shown: usize = tree.counted().map(|at| letters(tree.text(dehusk_html::NodeId::new(at)))).sum();
            prop_assert_eq!(letters(&written), shown, "{}", written);
        }
    }
}
