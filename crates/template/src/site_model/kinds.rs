//! The kinds of a site's pages: training pages that show the same template.
//!
//! A site of a shop and a blog, or of an old and a new layout, has two templates. Two training pages are of one kind if
//! each shows at least [`SAME_KIND`] of the other's template, by its nodes and the tags above them; so are pages that a
//! chain of such pairs connects. Another page is of the kind of the training page whose template it shows most of.

use rustc_hash::FxHashMap;

use super::interner::Interner;
use super::training_page::TrainingPage;
use super::{MIN_TEMPLATE, TrainingSet};
use dehusk_content::Labels;
use dehusk_html::mix;

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

impl TrainingSet {
    /// The kinds of the training pages. They depend on the set of pages only.
    pub fn kinds(&self) -> &Kinds {
        self.kinds.get_or_init(|| self.find_kinds())
    }

    /// The kind of a page that this set has labeled, from 0: its number in [`Kinds::sizes`]. `None` for a page that
    /// shows nothing of a template.
    pub fn kind_of(&self, labels: &Labels) -> Option<usize> {
        self.kind_at(labels.nearest?)
    }

    /// The kind of the training page with this number of its URL.
    fn kind_at(&self, url: u64) -> Option<usize> {
        let at = self.pages.iter().position(|page| page.url == url && !page.is_hidden)?;
        self.kinds().of_page[at]
    }

    /// The kind of each training page.
    pub(super) fn kinds_of_pages(&self) -> &[Option<usize>] {
        &self.kinds().of_page
    }

    fn find_kinds(&self) -> Kinds {
        let paths: Vec<PathCounts> = self.pages.iter().map(|page| PathCounts::new(page, &self.interner)).collect();
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
}

/// How often each signature below a path of tags is in the template of a training page, and on the page.
struct PathCounts(FxHashMap<u64, PathCount>);

#[derive(Clone, Copy, Default)]
struct PathCount {
    template: u32,
    all: u32,
}

/// Nodes of a page for each of its paths, in most pages.
const NODES: usize = 4;

impl PathCounts {
    fn new(page: &TrainingPage, interner: &Interner) -> PathCounts {
        let mut counts: FxHashMap<u64, PathCount> = FxHashMap::default();
        counts.reserve(page.len() / NODES);
        // The open elements: their paths, and where they end.
        let mut open: Vec<(u64, usize)> = Vec::new();
        let (signatures, sizes) = (page.columns.signature.to_vec(), page.columns.size.to_vec());
        let is_template = page.labels().to_vec();
        for node in 0..page.len() {
            while open.last().is_some_and(|(_, end)| *end <= node) {
                open.pop();
            }
            let above = open.last().map_or(0, |(path, _)| *path);
            let number = signatures[node];
            // Classes above it vary on pages that look alike, such as those of the body.
            let tag = interner.signatures()[number as usize].tag;
            open.push((mix(above, u64::from(tag)), node + sizes[node] as usize));
            let path = mix(above, u64::from(number));
            // The body counts nothing: every page has one.
            if node > 0 {
                let count = counts.entry(path).or_default();
                count.all += 1;
                count.template += u32::from(is_template[node]);
            }
        }
        PathCounts(counts)
    }

    /// Share of this page's template whose paths are on another page.
    fn shown_by(&self, other: &PathCounts) -> f64 {
        let template = || self.0.iter().filter(|(_, count)| count.template > 0);
        let shown = template().map(|(path, count)| other.0.get(path).map_or(0, |other| other.all.min(count.template)));
        let all = template().map(|(_, count)| count.template);
        f64::from(shown.sum::<u32>()) / f64::from(all.sum::<u32>()).max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site_model::SiteModelOptions;
    use dehusk_html::{ParseOptions, Tree, parse};

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
        assert_eq!(learned.kinds().sizes, [5, 3]);
        let find = |set: &TrainingSet, html: &str| {
            let labels = set.label(&parse(html, &ParseOptions::default()));
            (set.kind_of(&labels), labels.confidence)
        };
        let (other_shop, other_blog) = (find(&learned, &shop(77)), find(&learned, &blog(78)));
        assert_eq!((other_shop.0, other_blog.0), (Some(0), Some(1)));
        assert!(other_shop.1 > 0.9 && other_blog.1 > 0.9, "{other_shop:?} {other_blog:?}");
        assert_eq!(find(&learned, &shop(2)), (Some(0), 1.0), "a training page");
        assert!(find(&learned, "<p>A page of its own").1 < 0.2);
        // The stored set has the same kinds, whatever the order of learning was.
        pages.reverse();
        let stored = set(&pages).store();
        let mut kinds: Vec<usize> = stored.page_kinds().map(|(_, kind)| kind).collect();
        kinds.sort_unstable();
        assert_eq!(kinds, [0, 0, 0, 0, 0, 1, 1, 1]);
        let loaded = stored.load(&SiteModelOptions::default());
        assert_eq!((&loaded.kinds().sizes[..], find(&loaded, &blog(9))), (&[5, 3][..], find(&learned, &blog(9))));
    }

    #[test]
    fn pages_without_a_template_are_of_no_kind() {
        let pages: Vec<String> = (0..4).map(|n| format!("<p>page {n}")).collect();
        let learned = set(&pages);
        assert_eq!(learned.kinds().sizes, Vec::<usize>::new());
        assert_eq!(learned.kind_of(&learned.label(&parse("<p>x", &ParseOptions::default()))), None);
        assert_eq!(learned.store().page_kinds().count(), 0);
    }
}
