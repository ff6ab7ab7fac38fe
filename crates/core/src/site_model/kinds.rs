//! The kinds of a site's pages: training pages that show the same template.
//!
//! A site of a shop and a blog, or of an old and a new layout, has two templates. Two training pages are of one kind if
//! each shows at least [`SAME_KIND`] of the other's template, by its nodes and the tags above them; so are pages that a
//! chain of such pairs connects. Another page is of the kind of the training page whose template it shows most of.

use rustc_hash::FxHashMap;

use super::align::{Scratch, align};
use super::encoded_page::EncodedPage;
use super::interner::Interner;
use super::training_page::TrainingPage;
use super::{MIN_TEMPLATE, TrainingSet};
use crate::dom::{Tree, mix};

/// Share of a training page's template that another page of its kind shows.
const SAME_KIND: f64 = 0.5;

/// The kinds of a training set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kinds {
    /// Number of training pages of each kind, falling.
    pub sizes: Vec<usize>,
    /// The kind of each training page; `None` for a page without a template.
    of_page: Vec<Option<usize>>,
}

/// The kind of a page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PageKind {
    /// Number of the kind in [`Kinds::sizes`].
    pub kind: usize,
    /// Greatest share of the template of one of its training pages that the page shows, 0 to 1.
    pub coverage: f64,
}

impl TrainingSet {
    /// The kinds of the training pages. They depend on the set of pages only.
    pub fn kinds(&self) -> Kinds {
        let paths: Vec<PathCounts> = self.pages.iter().map(|page| PathCounts::of(page, &self.interner)).collect();
        let is_one = |a: usize, b: usize| paths[a].shown_by(&paths[b]).min(paths[b].shown_by(&paths[a])) >= SAME_KIND;
        let mut found: Vec<Vec<usize>> = Vec::new();
        let mut left: Vec<usize> = (0..paths.len()).filter(|at| self.pages[*at].n_template() >= MIN_TEMPLATE).collect();
        while !left.is_empty() {
            let (mut pages, mut next) = (vec![left.remove(0)], 0);
            while let Some(at) = pages.get(next).copied() {
                next += 1;
                pages.extend(left.extract_if(.., |other| is_one(at, *other)));
            }
            found.push(pages);
        }
        // Stable: kinds of one size keep the order of their first pages.
        found.sort_by_key(|pages| std::cmp::Reverse(pages.len()));
        let mut of_page = vec![None; paths.len()];
        for (kind, pages) in found.iter().enumerate() {
            pages.iter().for_each(|page| of_page[*page] = Some(kind));
        }
        Kinds { sizes: found.iter().map(Vec::len).collect(), of_page }
    }

    /// The kind of a page. `None` if no training page has a template.
    pub fn kind_of(&self, kinds: &Kinds, tree: &Tree) -> Option<PageKind> {
        let mut page = EncodedPage::of(tree, &self.vocabulary);
        page.number(&self.interner);
        let mut scratch = Scratch::default();
        let mut best: Option<PageKind> = None;
        for (training_page, kind) in self.pages.iter().zip(&kinds.of_page) {
            let Some(kind) = kind.filter(|_| !training_page.is_hidden) else { continue };
            let coverage = match training_page.digest == page.digest() {
                true => 1.0,
                false => {
                    training_page.coverage(&align(&page, training_page, &self.interner, &self.options, &mut scratch))
                }
            };
            if best.is_none_or(|best| coverage > best.coverage) {
                best = Some(PageKind { kind, coverage });
            }
        }
        best
    }
}

/// How often each signature below a path of tags is in the template of a training page, and on the page.
struct PathCounts {
    template: FxHashMap<u64, u32>,
    all: FxHashMap<u64, u32>,
}

impl PathCounts {
    fn of(page: &TrainingPage, interner: &Interner) -> PathCounts {
        let mut counts = PathCounts { template: FxHashMap::default(), all: FxHashMap::default() };
        // The open elements: their paths, and where they end.
        let mut open: Vec<(u64, usize)> = Vec::new();
        for node in 0..page.len() {
            while open.last().is_some_and(|(_, end)| *end <= node) {
                open.pop();
            }
            let above = open.last().map_or(0, |(path, _)| *path);
            let number = page.columns.signature[node];
            // Classes above it vary on pages that look alike, such as those of the body.
            let tag = interner.signatures()[number as usize].tag;
            open.push((mix(above, u64::from(tag)), node + page.columns.size[node] as usize));
            let path = mix(above, u64::from(number));
            // The body counts nothing: every page has one.
            if node > 0 {
                *counts.all.entry(path).or_default() += 1;
                *counts.template.entry(path).or_default() += u32::from(page.template()[node]);
            }
        }
        counts
    }

    /// Share of this page's template whose paths are on another page.
    fn shown_by(&self, other: &PathCounts) -> f64 {
        let shown = self.template.iter().map(|(path, n)| other.all.get(path).copied().unwrap_or(0).min(*n));
        f64::from(shown.sum::<u32>()) / f64::from(self.template.values().sum::<u32>()).max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dom::{ParseOptions, parse};
    use crate::site_model::SiteModelOptions;

    fn shop(n: usize) -> String {
        format!(
            "<div class=bar><a href=/>Shop</a><a href=/b>Basket</a></div><table class=shelf><tr><td>Rye<td>Oats</table>
            <h1>Item {n}</h1><p>about item {n}<div class=terms>Free delivery</div>"
        )
    }

    fn blog(n: usize) -> String {
        format!(
            "<header class=blog><h2>Room</h2><ul class=menu><li>News<li>Letters<li>Essays</ul></header>
            <article><p>entry {n}</article><footer class=blog>Set by hand</footer>"
        )
    }

    fn set(pages: &[String]) -> TrainingSet {
        let trees: Vec<Tree> = pages.iter().map(|html| parse(html, &ParseOptions::default())).collect();
        let numbered: Vec<(u64, &Tree)> = (0..).zip(&trees).collect();
        TrainingSet::learn(&numbered, &SiteModelOptions::default()).unwrap().0
    }

    #[test]
    fn a_shop_and_a_blog_are_two_kinds_and_pages_find_theirs() {
        let mut pages: Vec<String> = (0..5).map(shop).collect();
        pages.extend((0..3).map(blog));
        let learned = set(&pages);
        let kinds = learned.kinds();
        assert_eq!(kinds.sizes, [5, 3]);
        let find = |html: &str| learned.kind_of(&kinds, &parse(html, &ParseOptions::default())).unwrap();
        let (other_shop, other_blog) = (find(&shop(77)), find(&blog(78)));
        assert_eq!((other_shop.kind, other_blog.kind), (0, 1));
        assert!(other_shop.coverage > 0.9 && other_blog.coverage > 0.9, "{other_shop:?} {other_blog:?}");
        assert_eq!(find(&shop(2)), PageKind { kind: 0, coverage: 1.0 }, "a training page");
        assert!(find("<p>A page of its own").coverage < 0.2);
        // The stored set has the same kinds, whatever the order of learning was.
        pages.reverse();
        let stored = set(&pages).store().load(&SiteModelOptions::default());
        assert_eq!(
            (stored.kinds().sizes, stored.kind_of(&stored.kinds(), &parse(&blog(9), &ParseOptions::default()))),
            { (vec![5, 3], learned.kind_of(&kinds, &parse(&blog(9), &ParseOptions::default()))) }
        );
    }

    #[test]
    fn pages_without_a_template_are_of_no_kind() {
        let pages: Vec<String> = (0..4).map(|n| format!("<p>page {n}")).collect();
        let learned = set(&pages);
        let kinds = learned.kinds();
        assert_eq!(kinds.sizes, Vec::<usize>::new());
        assert_eq!(learned.kind_of(&kinds, &parse("<p>x", &ParseOptions::default())), None);
    }
}
