//! Two training sets of one site become one, in any order.

use rustc_hash::FxHashMap;

use super::TrainingSet;
use super::stored::{StoredPage, StoredTrainingSet};
use super::training_page::rank;

/// Training pages of a merged set that are not extra pages.
const MAX_TRAINING_PAGES: usize = 24;

impl TrainingSet {
    /// The set that knows the pages of both.
    ///
    /// The result depends on what is merged and not on the order. Training pages and extra pages are two samples, each
    /// of the pages with the smallest hashes of their URLs; of two versions of a page, one is chosen by its content. So
    /// a site of any size can be learned in parts, on many machines, in bounded memory. Both sets must have the same
    /// options; those of `self` are kept. A name is known to the result when it was known to one of the sets.
    pub fn merge(&self, other: &TrainingSet) -> TrainingSet {
        let mut signatures = Vec::new();
        let mut pages = self.store().renumbered(&mut signatures);
        pages.extend(other.store().renumbered(&mut signatures));
        let sample = |is_extra: bool, most: usize| {
            let mut versions: FxHashMap<u64, &StoredPage> = FxHashMap::default();
            for page in pages.iter().filter(|page| page.is_extra == is_extra) {
                let known = versions.entry(page.url).or_insert(page);
                if page.cmp_content(known, &signatures).is_lt() {
                    *known = page;
                }
            }
            let mut sample: Vec<&StoredPage> = versions.into_values().collect();
            sample.sort_unstable_by_key(|page| rank(page.url));
            sample.truncate(most);
            sample
        };
        let mut kept = sample(false, MAX_TRAINING_PAGES);
        kept.extend(sample(true, self.options.extra_pages));
        let kept = kept.into_iter().cloned().collect();
        let taught = self.taught.pages().merge(other.taught.pages());
        let missing_page = self.missing_page.iter().chain(&other.missing_page).max().cloned();
        StoredTrainingSet::new(signatures, kept, taught, missing_page).load(&self.options)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::SiteModelOptions;
    use super::*;
    use crate::test_pages;
    use dehusk_html::{ParseOptions, Tree, parse};

    fn learn(pages: &[String], first: u64) -> Option<TrainingSet> {
        let trees: Vec<Tree> = pages.iter().map(|html| parse(html, &ParseOptions::default())).collect();
        let numbered: Vec<(u64, &Tree)> = (first..).zip(&trees).collect();
        let mut set = TrainingSet::learn(&numbered[..2], &SiteModelOptions { extra_pages: 2, ..Default::default() })?.0;
        for (url, tree) in &numbered[2..] {
            let labeled = set.candidate(tree);
            set.add(*url, labeled);
        }
        Some(set)
    }

    proptest! {
        #[test]
        fn sets_merge_in_any_order(a in test_pages::pages(4, 0..16), b in test_pages::pages(4, 0..16), c in test_pages::pages(4, 0..16), new in test_pages::pages(1, 0..16)) {
            // Neighbors share a URL, with another version of its page.
            let sets = (learn(&a, 0), learn(&b, 3), learn(&c, 6));
            let (Some(a), Some(b), Some(c)) = sets else { return Ok(()) };
            let merged = a.merge(&b).merge(&c);
            let new = parse(&new[0], &ParseOptions::default());
            for other in [b.merge(&a).merge(&c), a.merge(&b.merge(&c)), c.merge(&b).merge(&a)] {
                prop_assert_eq!(merged.store(), other.store());
                prop_assert_eq!(merged.store().page_ids(), other.store().page_ids());
                prop_assert_eq!(merged.label(&new), other.label(&new));
            }
            prop_assert_eq!(a.merge(&a).label(&new), a.merge(&a).merge(&a).label(&new));
        }
    }

    #[test]
    fn a_merged_set_is_bounded() {
        let page =
            |n: u64| format!("<nav><a href=/>Home</a></nav><p>Page {n}<p>It is about {n}.<footer>The end</footer>");
        let part = |first: u64| learn(&(first..first + 9).map(page).collect::<Vec<_>>(), first).unwrap();
        let merged = (0..20).map(|n| part(n * 9)).reduce(|a, b| a.merge(&b)).unwrap();
        assert_eq!(merged.pages.len(), MAX_TRAINING_PAGES + 2);
        let tree = parse(&page(1000), &ParseOptions::default());
        assert_eq!(merged.label(&tree).text_nodes(&tree), "Page 1000 It is about 1000.");
    }
}
