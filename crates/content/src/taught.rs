//! What somebody has said about the blocks of a few pages of a site, kept by slot.
//!
//! The pages of a site do not say which of its own texts are main content: dates, boxes about the author and lists of
//! the newest posts are on no two pages alike. Whoever labels two pages, a person or a program, says it for all blocks
//! in the same slots: the same names of elements and first classes from the body down. One page that was chosen well
//! and labeled by the gold brings words F1 from .944 to .965, two bring it to .976
//! (docs/lab/2026-11-27-taught-slots.md).

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::numbers::ln;
use super::page_model::JudgedPage;
use super::site_blocks::{PageBlocks, weight_in_slot};
use dehusk_html::{NodeId, mix};

/// Pages of a site whose labels are kept: the first ones by the numbers of their URLs.
const MOST_PAGES: usize = 64;

/// Weight that each label has before anything is taught.
const PRIOR: f32 = 2.0;

/// What is left of the logit of a block whose slot was taught.
const LEFT: f32 = 0.3;

/// Limit of that logit.
const MOST_LOGIT: f32 = 6.0;

/// The labels of the blocks of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct TaughtPage {
    /// Each slot with the weights of its blocks: of those that are main content, and of all that were labeled.
    slots: BTreeMap<u32, (u32, u32)>,
}

/// The labels of a site as they are stored. Hashes and numbers only: nothing of a page can be read from them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaughtPages {
    /// By the number of the page's URL.
    pages: BTreeMap<u64, TaughtPage>,
}

impl TaughtPages {
    /// Whether nothing was taught.
    pub fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    /// Number of labeled pages.
    pub fn n_pages(&self) -> usize {
        self.pages.len()
    }

    /// Sets the labels of a page in the place of those it had: whether each block is main content, `None` for one that
    /// was not labeled. Returns whether any was.
    pub fn set(&mut self, url: u64, page: &JudgedPage<'_>, labels: &[Option<bool>]) -> bool {
        let Some(facts) = &page.facts else { return false };
        let mut taught = TaughtPage::default();
        for (at, (m, is_main)) in facts.measures.list.iter().zip(labels).enumerate() {
            let Some(is_main) = is_main else { continue };
            let weight = weight_in_slot(m.n_words()) as u32;
            let (main, all) = taught.slots.entry(facts.slot(at) as u32).or_default();
            (*main, *all) = (*main + if *is_main { weight } else { 0 }, *all + weight);
        }
        let is_labeled = !taught.slots.is_empty();
        if is_labeled {
            self.pages.insert(url, taught);
            self.bound();
        }
        is_labeled
    }

    /// The labels of both. Of two versions of a page's labels, the greater one stays, so that the order is the same.
    pub fn merge(&self, other: &TaughtPages) -> TaughtPages {
        let mut merged = self.clone();
        for (url, page) in &other.pages {
            let known = merged.pages.entry(*url).or_default();
            if *known < *page {
                known.clone_from(page);
            }
        }
        merged.bound();
        merged
    }

    fn bound(&mut self) {
        while self.pages.len() > MOST_PAGES {
            self.pages.pop_last();
        }
    }
}

/// The labels of a site, summed up by slot.
#[derive(Clone, Debug, Default)]
pub struct TaughtSlots {
    pages: TaughtPages,
    slots: FxHashMap<u32, (f32, f32)>,
}

impl TaughtSlots {
    /// Sums the labels of pages.
    pub fn new(pages: TaughtPages) -> TaughtSlots {
        let mut slots: FxHashMap<u32, (f32, f32)> = FxHashMap::default();
        for (slot, (main, all)) in pages.pages.values().flat_map(|page| &page.slots) {
            let sum = slots.entry(*slot).or_default();
            // What was read from outside may be damaged.
            *sum = (sum.0 + (*main).min(*all) as f32, sum.1 + *all as f32);
        }
        TaughtSlots { pages, slots }
    }

    /// The labels, page by page.
    pub fn pages(&self) -> &TaughtPages {
        &self.pages
    }

    /// Whether nothing was taught.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Number of slots.
    pub fn n_slots(&self) -> usize {
        self.slots.len()
    }

    /// A number for the content; 0 where nothing was taught.
    pub fn number(&self) -> u64 {
        let slots = self.pages.pages.values().flat_map(|page| &page.slots);
        slots.fold(0, |number, (slot, (main, all))| {
            mix(mix(number, u64::from(*slot)), u64::from(*main) << 32 | u64::from(*all))
        })
    }

    /// Moves the logits of blocks whose slots were taught.
    pub(super) fn apply(&self, page: &JudgedPage<'_>, logits: &mut [f32]) {
        let Some(facts) = page.facts.as_ref().filter(|_| !self.is_empty()) else { return };
        for (at, logit) in logits.iter_mut().enumerate().take(facts.len()) {
            if let Some((main, all)) = self.slots.get(&(facts.slot(at) as u32)) {
                let taught = ln((main + PRIOR) / (all - main + PRIOR));
                *logit = LEFT * logit.clamp(-MOST_LOGIT, MOST_LOGIT) + taught;
            }
        }
    }

    /// The text nodes of the blocks whose slots are mostly main content by what was taught.
    pub fn main_texts(&self, page: &JudgedPage<'_>) -> Vec<NodeId> {
        let Some(facts) = page.facts.as_ref().filter(|_| !self.is_empty()) else { return Vec::new() };
        let is_main = |at: usize| self.slots.get(&(facts.slot(at) as u32)).is_some_and(|(main, all)| 2.0 * main > *all);
        let blocks = facts.blocks.list.iter().enumerate().filter(|(at, _)| is_main(*at));
        blocks.flat_map(|(_, block)| facts.blocks.nodes_of(block)).collect()
    }
}

/// The pages of a site that say most when they are labeled, the best first.
///
/// A slot says as much as its blocks have words on all pages, the more the less the page model is sure of them. The
/// next page is the one whose slots, those of the pages before left out, say most.
pub fn pages_to_teach(pages: &[PageBlocks], known: &TaughtSlots, n: usize) -> Vec<usize> {
    /// What a slot of which the page model is sure says beside one in doubt.
    const SURE: f32 = 0.1;
    let slots: Vec<FxHashMap<u32, (f32, f32)>> = pages.iter().map(|page| page.slot_sums(MOST_LOGIT)).collect();
    let mut of_site: FxHashMap<u32, (f32, f32)> = FxHashMap::default();
    for (slot, (sum, words)) in slots.iter().flatten() {
        let of_slot = of_site.entry(*slot).or_default();
        *of_slot = (of_slot.0 + sum, of_slot.1 + words);
    }
    of_site.retain(|slot, _| !known.slots.contains_key(slot));
    let doubt = |sum: f32, words: f32| 1.0 - (2.0 * super::net::sigmoid(sum / words) - 1.0).abs() + SURE;
    let mut left: FxHashMap<u32, f32> =
        of_site.into_iter().map(|(slot, (sum, words))| (slot, words * doubt(sum, words))).collect();
    let mut chosen: Vec<usize> = Vec::new();
    while chosen.len() < n.min(pages.len()) {
        // In the order of the slots, so that the sum is the same everywhere.
        let says = |at: &usize| {
            let mut of_page: Vec<(u32, f32)> =
                slots[*at].keys().filter_map(|slot| Some((*slot, *left.get(slot)?))).collect();
            of_page.sort_unstable_by_key(|(slot, _)| *slot);
            of_page.iter().map(|(_, says)| says).sum::<f32>()
        };
        let others: Vec<(usize, f32)> =
            (0..pages.len()).filter(|at| !chosen.contains(at)).map(|at| (at, says(&at))).collect();
        let Some((best, _)) = others.into_iter().reduce(|a, b| if b.1 > a.1 { b } else { a }) else { break };
        left.retain(|slot, _| !slots[best].contains_key(slot));
        chosen.push(best);
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Favor, SiteBlocks};
    use dehusk_html::{ParseOptions, Tree, parse};

    /// An article, and a box about its author.
    fn page(name: &str) -> Tree {
        let top = "<div class=top>The society of farmers has described all grains of the north since 1990.</div>";
        let article = format!(
            "<div class=article><h1>{name}</h1><p>Farmers sow {name} in autumn, and they harvest {name} in summer, when
            the days are long. {name} is used for bread, and for beer.</div>"
        );
        let author = format!(
            "<div class=author>This was written by Ann of {name} hill, who has lived among the farmers of that country for
            years, and who knows its people, and their ways of growing {name}.</div>"
        );
        parse(&format!("<title>{name}</title>{top}{article}{author}"), &ParseOptions::default())
    }

    /// The labels of a teacher for whom the box about the author is not main content, and the heading is.
    fn taught(name: &str) -> TaughtPages {
        let tree = page(name);
        let mut pages = TaughtPages::default();
        assert!(pages.set(7, &JudgedPage::new(&tree), &[None, Some(true), Some(true), Some(false)]));
        pages
    }

    #[test]
    fn what_is_taught_on_one_page_holds_on_the_others() {
        let site = ["Rye", "Oats", "Barley", "Millet"].map(|name| PageBlocks::new(&JudgedPage::new(&page(name))));
        let site = SiteBlocks::new(site.into_iter());
        let tree = page("Maize");
        let judged = JudgedPage::new(&tree);
        let text = |taught: &TaughtSlots| site.labels(&judged, Favor::Balanced, taught).unwrap().text(&tree);
        assert!(text(&TaughtSlots::default()).contains("written by Ann"));
        let slots = TaughtSlots::new(taught("Rye"));
        assert_eq!((slots.n_slots(), slots.pages().n_pages()), (3, 1));
        let found = text(&slots);
        assert!(found.starts_with("Maize\n") && found.contains("sow Maize") && !found.contains("Ann"), "{found}");
        let texts: Vec<String> = slots.main_texts(&judged).into_iter().map(|id| tree.text(id).to_owned()).collect();
        assert_eq!(texts.len(), 2, "{texts:?}");
    }

    #[test]
    fn labels_of_a_page_replace_those_it_had() {
        let mut pages = taught("Rye");
        let number = TaughtSlots::new(pages.clone()).number();
        let tree = page("Rye");
        let judged = JudgedPage::new(&tree);
        assert!(!pages.set(7, &judged, &[None; 4]), "nothing was labeled");
        assert_eq!(TaughtSlots::new(pages.clone()).number(), number);
        assert!(pages.set(7, &judged, &[Some(false); 4]) && pages.n_pages() == 1);
        assert_ne!(TaughtSlots::new(pages.clone()).number(), number);
        let other = taught("Oats");
        assert_eq!(pages.merge(&other), other.merge(&pages));
        assert_eq!((TaughtSlots::default().number(), pages.merge(&TaughtPages::default())), (0, pages));
    }

    #[test]
    fn more_pages_than_are_kept_are_left_out() {
        let tree = page("Rye");
        let mut pages = TaughtPages::default();
        for url in 0..70 {
            assert!(pages.set(url, &JudgedPage::new(&tree), &[Some(true)]));
        }
        assert_eq!(pages.n_pages(), MOST_PAGES);
    }

    #[test]
    fn the_page_with_what_others_lack_is_labeled_first() {
        let html = |body: &str| PageBlocks::new(&JudgedPage::new(&parse(body, &ParseOptions::default())));
        let post = "<div class=post><p>Rye is a grass, and it is grown as a grain in all countries.</p></div>";
        let list = "<ul class=list><li>Rye, and other grains of the north</ul>";
        let pages = [html(list), html(&format!("{post}{list}")), html("<i>x</i>")];
        assert_eq!(pages_to_teach(&pages, &TaughtSlots::default(), 9)[0], 1);
        assert_eq!(pages_to_teach(&pages, &TaughtSlots::default(), 2).len(), 2);
        assert!(pages_to_teach(&[], &TaughtSlots::default(), 2).is_empty());
    }

    #[test]
    fn what_was_stored_is_read() {
        let pages = taught("Rye");
        let json = serde_json::to_string(&pages).unwrap();
        assert_eq!(serde_json::from_str::<TaughtPages>(&json).unwrap(), pages);
    }
}
