//! Relabels training pages without their HTML, after the set has grown.

use std::cell::LazyCell;

use rustc_hash::FxHashSet;

use super::TrainingSet;
use super::aligned::KeptAlignments;
use super::encoded_page::EncodedPage;
use super::training_page::TrainingPage;
use dehusk_content::{LabelRuns, Labels, LazyJudged, NarrowColumn};

/// Names that are remembered of a page.
const MOST_NAMES: usize = 2000;

/// State kept so that a training page can be relabeled without its HTML.
#[derive(Clone, Debug)]
pub(super) struct RelabelState {
    /// Characters of each text, in order.
    chars: NarrowColumn,
    /// Names of the page outside the vocabulary that it was encoded with, ascending.
    other_names: Box<[u32]>,
    /// Number of names that later pages had brought into the vocabulary by then.
    n_later: usize,
    /// The probability of main content of each text, where the page model was asked.
    probabilities: Option<Box<[u8]>>,
    alignments: KeptAlignments,
}

impl TrainingSet {
    /// The state by which a page with these names can be relabeled. `None` where the page is kept in part, or has very
    /// many names of its own.
    pub(super) fn relabel_state(
        &self,
        page: &EncodedPage,
        judged: &LazyJudged<'_>,
        names: &FxHashSet<u32>,
        alignments: KeptAlignments,
    ) -> Option<RelabelState> {
        if page.len() != judged.tree.counted().len() {
            return None;
        }
        let texts = || (0..page.len()).filter(|node| page.signature(*node).is_text());
        let chars: Vec<u32> = texts().map(|node| page.chars[node]).collect();
        let probabilities = judged.was_asked().then(|| judged.page().content_probabilities());
        let mut other_names: Vec<u32> = names.difference(self.vocabulary.names()).copied().collect();
        other_names.sort_unstable();
        (other_names.len() <= MOST_NAMES).then(|| RelabelState {
            chars: NarrowColumn::new(&chars),
            other_names: other_names.into(),
            n_later: self.later_names.len(),
            probabilities: probabilities.map(|of_nodes| texts().map(|node| of_nodes[node]).collect()),
            alignments,
        })
    }

    /// The labels of a page that this process has added or learned from, by the set as it is now, if they are those
    /// that the page had when it was added. `None` where they differ, and where that cannot be told without the page:
    /// it is kept in part, a name of it has become known since, or the page model is needed for the first time.
    ///
    /// The labels are of the counted nodes. [`TrainingSet::label`] gives the same ones.
    pub fn confirm_labels(&self, url: u64) -> Option<Labels> {
        let page = self.pages.iter().find(|page| page.url == url && !page.is_hidden)?;
        let encoded = self.rebuild(page)?;
        let RelabelState { probabilities, alignments, .. } = page.relabel_state.as_ref()?;
        let probabilities = LazyCell::new(|| probabilities.as_ref().map(|of_texts| by_node(&encoded, of_texts)));
        let labels = self.decide(&encoded, &probabilities, self.aligned(&encoded, alignments))?;
        (LabelRuns::new(&labels.is_template) == *page.labels()).then_some(labels)
    }

    fn rebuild(&self, page: &TrainingPage) -> Option<EncodedPage> {
        let RelabelState { chars, other_names, n_later, .. } = page.relabel_state.as_ref()?;
        if self.later_names[*n_later..].iter().any(|name| other_names.binary_search(name).is_ok()) {
            return None;
        }
        let signatures = self.interner.signatures();
        let columns = page.columns.to_columns();
        let (mut leaves, mut chars) = (page.leaves(&columns, &self.interner).into_iter(), chars.to_vec().into_iter());
        let own = columns.n_children.iter().map(|n| if *n == 0 { leaves.next().unwrap_or(0) } else { 0 }).collect();
        let is_text = |signature: &u32| signatures[*signature as usize].is_text();
        let length = |signature: &u32| if is_text(signature) { chars.next().unwrap_or(0) } else { 0 };
        let chars = columns.signature.iter().map(length).collect();
        let encoded = EncodedPage::rebuilt(signatures, &columns.signature, columns.n_children.clone(), own);
        Some(encoded.with_numbers(columns, chars, page.digest))
    }
}

/// The probability of main content of each node of a page, from that of its texts.
fn by_node(page: &EncodedPage, of_texts: &[u8]) -> Vec<u8> {
    let mut of_texts = of_texts.iter().copied();
    let of_node = |node: usize| page.signature(node).is_text().then(|| of_texts.next()).flatten();
    (0..page.len()).map(of_node).map(Option::unwrap_or_default).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::site_model::SiteModelOptions;
    use crate::test_pages;
    use dehusk_html::{ParseOptions, Tree, parse};

    fn trees(pages: &[String]) -> Vec<Tree> {
        pages.iter().map(|html| parse(html, &ParseOptions::default())).collect()
    }

    /// A set learned from the first pages, to which the others are added. With the labels that each page had then.
    fn grown(trees: &[Tree], n_learned: usize) -> Option<(TrainingSet, Vec<Labels>)> {
        let numbered: Vec<(u64, &Tree)> = (0..).zip(trees).collect();
        let (mut set, mut labels) = TrainingSet::learn(&numbered[..n_learned], &SiteModelOptions::default())?;
        for (url, tree) in &numbered[n_learned..] {
            let labeled = set.candidate(tree);
            labels.push(labeled.labels.clone());
            set.add(*url, labeled);
        }
        Some((set, labels))
    }

    proptest! {
        #[test]
        fn confirmed_labels_are_those_of_the_page(pages in test_pages::pages(9, 0..24), n_learned in 2..6_usize) {
            let trees = trees(&pages);
            let Some((set, then)) = grown(&trees, n_learned) else { return Ok(()) };
            for ((url, tree), then) in (0..).zip(&trees).zip(then) {
                let Some(confirmed) = set.confirm_labels(url) else { continue };
                let now = set.label(tree);
                prop_assert_eq!(&confirmed.clone().shifted(tree), &now);
                prop_assert_eq!(now.is_template, then.is_template);
            }
        }
    }

    fn article(words: &str, more: &str) -> String {
        let text = format!("{words} is a grain. {words} is sown in autumn, and it is harvested in summer. ").repeat(3);
        format!("<nav><a href=/>Home</a> <a href=/a>About</a></nav>{more}<main><h1>{words}</h1><p>{text}</main>")
    }

    #[test]
    fn labels_that_stand_are_confirmed() {
        let pages: Vec<String> = ["rye", "oats", "corn", "rice", "wheat", "spelt"].map(|name| article(name, "")).into();
        let (set, _) = grown(&trees(&pages), 3).unwrap();
        assert!((0..6).all(|url| set.confirm_labels(url).is_some_and(|labels| labels.nearest == Some(url))));
        assert_eq!(set.confirm_labels(6), None, "no such page");
        let stored = set.store().load(&SiteModelOptions::default());
        assert_eq!(stored.confirm_labels(0), None, "text lengths are not stored");
    }

    #[test]
    fn labels_that_the_page_model_decided_are_confirmed() {
        // Most of each page is template, so that the page model is asked.
        let terms = "All prices are in crowns, and they are valid until the end of the season. ".repeat(40);
        let more = format!("<aside><p>{terms}</aside>");
        let byline = "Written by our editors";
        let page = |name: &str| {
            let text = format!("Much is known of {name}, which is sown in autumn, and harvested in summer. ").repeat(9);
            article(name, &more).replace("</h1>", &format!("</h1><p>{byline}</p><p>{text}</p>"))
        };
        let pages: Vec<String> = ["rye", "oats", "corn", "rice", "wheat", "spelt"].map(page).into();
        let trees = trees(&pages);
        let (set, _) = grown(&trees, 3).unwrap();
        for (url, tree) in (0..).zip(&trees) {
            let confirmed = set.confirm_labels(url).map(|labels| labels.shifted(tree));
            assert_eq!(confirmed.as_ref(), Some(&set.label(tree)));
            // All pages have it, and it stands among the main content.
            assert!(confirmed.is_some_and(|labels| labels.text(tree).contains(byline)));
        }
    }

    #[test]
    fn labels_that_change_are_not_confirmed() {
        // A box that the first page alone has becomes template, when others come that have it, too.
        let more = "<aside><p>Our newsletter comes every week</p></aside>";
        let with = |name: &str| article(name, more);
        let mut pages = vec![with("rye"), article("oats", ""), article("corn", "")];
        pages.extend(["rice", "wheat", "spelt", "millet", "barley"].map(with));
        let trees = trees(&pages);
        let (set, labels) = grown(&trees, 3).unwrap();
        assert_ne!(set.label(&trees[0]).is_template, labels[0].is_template);
        assert_eq!(set.confirm_labels(0), None);
        assert!(set.confirm_labels(1).is_some());
    }

    #[test]
    fn a_name_that_has_become_known_since_needs_the_page() {
        let mut pages: Vec<String> = ["rye", "oats", "corn"].map(|name| article(name, "")).into();
        pages.extend(["rice", "wheat"].map(|name| article(name, "<b class=new></b>")));
        let (set, _) = grown(&trees(&pages), 3).unwrap();
        assert_eq!(set.confirm_labels(3), None, "the first page that had the name");
        assert!([0, 1, 2, 4].iter().all(|url| set.confirm_labels(*url).is_some()));
    }
}
