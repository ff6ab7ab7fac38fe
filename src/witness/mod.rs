//! Pages of a site as witnesses of what is template on any page of it.
//!
//! The key page and its voters are kept: tags, stable names and hashes of texts, nothing of the words (`page.rs`).
//! To label a page it is aligned to every witness (`align.rs`): a node is equal there, mapped with other words, or
//! absent. What witnesses say is weighed by how much of the page they share, so that a listing does not vote the
//! sidebar of an article out, and the labels of all nodes are decided together on the tree (`verdict.rs`). The same
//! function labels the key page, its voters (each without its own testimony) and every page that comes later.
//!
//! From the papers: the training pages of TeMex (thesis, section 2), its equality probability for what is left when
//! equal subtrees are mapped, and Gottron's document frequency, here of a node in its place. A departure from the
//! exact top-down mapping with votes, measured in docs/measurements.md; `label.by = "votes"` is the thesis' own.
//!
//! Invariants, each with a test: labels depend on the set of witnesses and not on their order; a witness labelled
//! again by the stored family gets the labels it had when the family was learned; work is linear in the page for each
//! witness, but for child lists that differ, whose product is bounded.

mod align;
mod frequency;
mod known;
mod page;
mod stored;
mod tables;
mod verdict;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::dom::Tree;
use crate::settings::Learn;

use align::{Alignment, Room, align};
use known::{Witness, rank};
use page::{Page, tokens};
pub use stored::{StoredError, StoredFamily};
use tables::Tables;
pub use verdict::decide_tree;
use verdict::{Testimony, decide};

/// Witnesses of one site, ready to label pages.
#[derive(Clone, Debug, Default)]
pub struct Family {
    /// Ascending by digest: sums of what they say are of floats, and one order gives one sum.
    pages: Vec<Witness>,
    tables: Tables,
    /// Names that at least two witnesses bear; others are generated or a page's own.
    vocabulary: FxHashSet<u32>,
    /// Names that one page bore that was added since.
    once: FxHashSet<u32>,
    params: Params,
}

/// A template of fewer nodes says nothing of a page that shows it.
const FEW: usize = 3;

/// What of the learning parameters matters here.
#[derive(Clone, Copy, Debug, Default)]
struct Params {
    /// Nodes that are no equal subtrees are mapped when their equality probability is above this.
    threshold: f64,
    /// Nodes of a witness that are kept.
    max_nodes: usize,
    /// Children of one node of a witness that are kept.
    children: usize,
    /// Child lists of more pairs are mapped kind by kind.
    pairs: usize,
    /// Names of one page that are remembered.
    names: usize,
    /// Pages kept beside the training pages.
    further: usize,
}

/// Labels of one page.
#[derive(Clone, Debug, PartialEq)]
pub struct Labels {
    /// By node number; false outside the body.
    pub is_template: Vec<bool>,
    /// Witnesses that have the node, by node number.
    pub support: Vec<u16>,
    /// The greatest share of a witness' template that the page shows.
    pub confidence: f64,
}

impl Family {
    /// A family of the key page and its voters, each with a number that stands for its URL, and the labels of each. Fewer
    /// than two pages are no family.
    pub fn learn(trees: &[(u64, &Tree)], learn: &Learn) -> Option<(Family, Vec<Labels>)> {
        if trees.len() < 2 {
            return None;
        }
        let params = Params::of(learn);
        let mut bearers: FxHashMap<u32, u32> = FxHashMap::default();
        for (_, tree) in trees {
            tokens(tree).into_iter().for_each(|token| *bearers.entry(token).or_default() += 1);
        }
        let vocabulary: FxHashSet<u32> = bearers.into_iter().filter(|(_, n)| *n >= 2).map(|(token, _)| token).collect();
        let pages = trees.iter().map(|(_, tree)| Page::of(tree, &vocabulary).bounded(params));
        let mut pages: Vec<Page> = pages.collect();
        let mut family = Family { vocabulary, params, ..Family::default() };
        let mut witnesses: Vec<(&Page, Witness)> = Vec::with_capacity(pages.len());
        family.tables.take(&mut pages, |_| true);
        for (page, (url, _)) in pages.iter().zip(trees).filter(|(page, _)| !page.is_empty()) {
            witnesses.push((page, Witness::of(page, *url, page.digest(), &family.tables)));
        }
        witnesses.sort_by_key(|(_, witness)| (witness.digest, witness.url));
        witnesses.dedup_by_key(|(_, witness)| witness.digest);
        if witnesses.len() < 2 {
            return None;
        }
        let (kept, witnesses): (Vec<&Page>, Vec<Witness>) = witnesses.into_iter().unzip();
        family.pages = witnesses;
        family.gather_vocabulary();
        // Confidence is measured by the labels of the witnesses.
        let labels: Vec<Labels> = kept.iter().map(|page| Labels { confidence: 1.0, ..family.judge(page) }).collect();
        for (witness, labels) in family.pages.iter_mut().zip(&labels) {
            witness.set_template(&labels.is_template);
        }
        let settled: FxHashMap<u64, Labels> = kept.iter().map(|page| page.digest()).zip(labels).collect();
        // A page that is kept whole was labelled as a witness.
        let label = |((_, tree), page): (&(u64, &Tree), &Page)| match settled.get(&page.digest()) {
            Some(labels) if labels.is_template.len() == tree.counted().len() => labels.clone().shifted(tree),
            _ => family.label(tree),
        };
        let labels = trees.iter().zip(&pages).map(label).collect();
        Some((family, labels))
    }

    /// Adds a page of the site with its labels and the number of its URL: more pages of more kinds know more. Beside
    /// the training pages those with the least hashes of their URLs are kept, which is a sample of all pages seen,
    /// whatever order they came in. A later version takes the place of an earlier one. Says whether it was kept.
    pub fn add(&mut self, url: u64, tree: &Tree, labels: &[bool]) -> bool {
        let same = self.pages.iter().position(|known| known.url == url);
        let further = self.pages.iter().enumerate().filter(|(_, known)| known.is_further);
        let gives_way = match same {
            Some(_) => same,
            None if further.clone().count() < self.params.further => None,
            None => match further.max_by_key(|(_, known)| known.rank()) {
                Some((at, known)) if rank(url) < known.rank() => Some(at),
                _ => return false,
            },
        };
        let mut page = Page::of(tree, &self.vocabulary);
        if page.is_empty() || self.pages.iter().any(|known| known.digest == page.digest()) {
            return false;
        }
        if self.learn_names(tree) {
            page = Page::of(tree, &self.vocabulary);
        }
        let is_further = gives_way.is_none_or(|at| self.pages.remove(at).is_further);
        let mut page = page.bounded(self.params);
        self.make_known(&mut page);
        let mut witness = Witness::of(&page, url, page.digest(), &self.tables);
        witness.is_further = is_further;
        match labels.get(tree.counted()).filter(|labels| labels.len() == page.len()) {
            Some(labels) => witness.set_template(labels),
            // It is kept in part.
            None => witness.set_template(&self.judge(&page).is_template),
        }
        let at = self.pages.partition_point(|known| known.digest < witness.digest);
        self.pages.insert(at, witness);
        true
    }

    /// Takes up the names of a page that another page bore too. Are there such?
    fn learn_names(&mut self, tree: &Tree) -> bool {
        let known = self.vocabulary.len();
        for token in tokens(tree) {
            if !self.vocabulary.contains(&token) && self.once.len() < self.params.names && !self.once.insert(token) {
                self.vocabulary.insert(token);
            }
        }
        self.vocabulary.len() > known
    }

    /// Takes the kinds and subtrees of a page into the tables, and drops what only a witness had that gave way.
    fn make_known(&mut self, page: &mut Page) {
        let mut is_used = vec![false; self.tables.n_subtrees()];
        let subtrees = self.pages.iter().flat_map(|page| &page.columns.subtree);
        subtrees.for_each(|subtree| is_used[*subtree as usize] = true);
        let new = self.tables.take(std::slice::from_mut(page), |subtree| is_used[subtree]);
        self.pages.iter_mut().for_each(|page| page.renumber(&new));
    }

    /// The vocabulary is what the kept nodes bear, so that a stored family has the same.
    fn gather_vocabulary(&mut self) {
        let mut is_used = vec![false; self.tables.kinds().len()];
        let kinds = self.pages.iter().flat_map(|page| &page.columns.kind);
        kinds.for_each(|kind| is_used[*kind as usize] = true);
        let used = self.tables.kinds().iter().zip(is_used).filter(|(_, is_used)| *is_used);
        self.vocabulary = used.flat_map(|(kind, _)| kind.tokens()).collect();
    }

    /// The labels of a page.
    pub fn label(&self, tree: &Tree) -> Labels {
        let mut page = Page::of(tree, &self.vocabulary);
        page.number(&self.tables);
        self.judge(&page).shifted(tree)
    }

    /// The greatest share of the template of a witness that this page shows, its own older versions left out: how well
    /// the page at this URL stands among the others.
    pub fn standing(&self, url: u64, tree: &Tree) -> f64 {
        let mut page = Page::of(tree, &self.vocabulary);
        page.number(&self.tables);
        let mut room = Room::default();
        let least = self.middling_template() / 4;
        let others = self.pages.iter().filter(|witness| witness.url != url && witness.digest != page.digest());
        let others = others.filter(|witness| witness.n_template() >= least.max(FEW));
        let shown = others.map(|witness| witness.shown(&align(&page, witness, &self.tables, self.params, &mut room)));
        shown.fold(0.0, f64::max)
    }

    /// Median of the witnesses' template nodes. A page of another layout can share so little with the rest that any page
    /// shows all of that.
    fn middling_template(&self) -> usize {
        let mut sizes: Vec<usize> = self.pages.iter().map(Witness::n_template).collect();
        sizes.sort_unstable();
        sizes.get(sizes.len() / 2).copied().unwrap_or(0)
    }

    /// A page that is a witness itself is judged by the others, and so is another version of one.
    fn judge(&self, page: &Page) -> Labels {
        let mut heard: Vec<(&Witness, Alignment)> = Vec::with_capacity(self.pages.len());
        let (mut confidence, mut room) = (0.0_f64, Room::default());
        for witness in &self.pages {
            if witness.digest == page.digest() {
                confidence = 1.0;
                continue;
            }
            let alignment = align(page, witness, &self.tables, self.params, &mut room);
            if witness.n_template() >= FEW {
                confidence = confidence.max(witness.shown(&alignment));
            }
            heard.push((witness, alignment));
        }
        if let Some(copy) = copy_among(page, &heard) {
            heard.remove(copy);
        }
        let mut testimony = Testimony::new(page);
        heard.iter().for_each(|(_, alignment)| testimony.add(alignment));
        let (is_template, support) = decide(page, &testimony);
        Labels { is_template, support, confidence }
    }
}

/// The witness that is this page of another night: it has nearly all of its text where no other comes near. It knows
/// what the page says, not what is template.
fn copy_among(page: &Page, heard: &[(&Witness, Alignment)]) -> Option<usize> {
    /// What a copy lacks of the text, at most; and as a part of what any other witness lacks.
    const LACKS: f64 = 0.1;
    const OF_OTHERS: f64 = 0.2;
    let lacking: Vec<f64> = heard.iter().map(|(_, alignment)| 1.0 - alignment.equal_text(page)).collect();
    let copy = (0..lacking.len()).min_by(|a, b| lacking[*a].total_cmp(&lacking[*b]))?;
    let others = lacking.iter().enumerate().filter(|(at, _)| *at != copy).map(|(_, lacks)| *lacks);
    let nearest = others.fold(f64::INFINITY, f64::min);
    (nearest.is_finite() && lacking[copy] < LACKS && lacking[copy] < OF_OTHERS * nearest).then_some(copy)
}

impl Labels {
    /// Labels of the counted nodes as labels of all nodes of the tree.
    fn shifted(self, tree: &Tree) -> Labels {
        let counted = tree.counted();
        let mut all = Labels { is_template: vec![false; tree.len()], support: vec![0; tree.len()], ..self };
        all.is_template[counted.clone()].copy_from_slice(&self.is_template);
        all.support[counted].copy_from_slice(&self.support);
        all
    }
}

impl Params {
    fn of(learn: &Learn) -> Params {
        Params {
            threshold: learn.witness_threshold,
            max_nodes: learn.witness_nodes,
            children: learn.witness_children,
            pairs: learn.witness_pairs,
            names: learn.witness_names,
            further: learn.witness_further,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::dom::{NodeId, parse, soup};
    use crate::settings::{PageLimits, Preset};

    fn page(html: &str) -> Tree {
        parse(html, &PageLimits::default())
    }

    fn article(words: &str) -> String {
        format!(
            "<header><a href=/>Home</a><a href=/about>About us</a></header><main class=text><h1>{words} title</h1>\
             <p>All that {words} is about, in a sentence.</p><p>{words} again, and more of it.</p></main>\
             <footer class=foot><p>Some rights reserved</p></footer>"
        )
    }

    fn learned(pages: &[String]) -> (Vec<Tree>, Family, Vec<Labels>) {
        let trees: Vec<Tree> = pages.iter().map(|html| page(html)).collect();
        let (family, labels) = Family::learn(&numbered(&trees), &Preset::Dehusk.learn()).expect("pages enough");
        (trees, family, labels)
    }

    fn numbered(trees: &[Tree]) -> Vec<(u64, &Tree)> {
        (0..).zip(trees).collect()
    }

    fn own_text(tree: &Tree, labels: &Labels) -> String {
        let own = tree.counted().map(NodeId::new).filter(|n| tree.is_text(*n) && !labels.is_template[n.index()]);
        own.map(|n| tree.text(n).to_owned()).collect::<Vec<_>>().join("|")
    }

    fn articles() -> Vec<String> {
        ["rye", "oats", "corn", "rice"].map(article).to_vec()
    }

    #[test]
    fn what_the_pages_share_is_template_and_what_they_say_is_not() {
        let (trees, family, labels) = learned(&articles());
        let expected = "rye title|All that rye is about, in a sentence.|rye again, and more of it.";
        assert_eq!(own_text(&trees[0], &labels[0]), expected);
        let new = page(&article("barley"));
        let judged = family.label(&new);
        assert_eq!(own_text(&new, &judged), expected.replace("rye", "barley"));
        assert!(judged.confidence > 0.9, "{}", judged.confidence);
        let other = family.label(&page("<table><tr><td>another site</table>"));
        assert!(other.confidence < 0.1 && other.is_template.iter().filter(|t| **t).count() <= 1, "{other:?}");
        assert_eq!(family.label(&page("<frameset>")).confidence, 0.0);
    }

    #[test]
    fn a_page_of_another_night_is_no_evidence_for_itself() {
        let (_, family, _) = learned(&articles());
        let changed = page(&article("rye").replace("more of it", "a correction of tonight"));
        let own = own_text(&changed, &family.label(&changed));
        assert_eq!(own, "rye title|All that rye is about, in a sentence.|rye again, and a correction of tonight.");
    }

    #[test]
    fn one_page_or_twins_are_no_family() {
        let learn = Preset::Dehusk.learn();
        let (one, twin) = (page(&article("rye")), page(&article("rye")));
        assert!(Family::learn(&[], &learn).is_none());
        assert!(Family::learn(&[(1, &one)], &learn).is_none());
        assert!(Family::learn(&[(1, &one), (2, &twin)], &learn).is_none());
    }

    #[test]
    fn further_pages_are_a_bounded_sample_that_no_order_changes() {
        let further: Vec<Tree> = (0..60).map(|n| page(&article(&format!("grain {n}")))).collect();
        let sharpened = |turn: usize| {
            let (_, mut family, _) = learned(&articles());
            for at in 0..further.len() {
                let at = (at + turn) % further.len();
                let labels = family.label(&further[at]).is_template;
                family.add(100 + at as u64, &further[at], &labels);
            }
            family
        };
        let (one, other) = (sharpened(0), sharpened(23));
        assert_eq!(one.pages.len(), 4 + 16);
        let urls = |family: &Family| family.pages.iter().map(|page| page.url).collect::<Vec<_>>();
        assert_eq!(urls(&one), urls(&other));
        let new = page(&article("barley"));
        assert_eq!(one.label(&new).is_template, other.label(&new).is_template);
        // Tonight's version of a page takes the place of yesterday's; what is known is not added again.
        let mut later = one;
        let at = later.pages.iter().find(|page| page.is_further).unwrap().url;
        assert!(!later.add(at, &further[at as usize - 100], &[]));
        assert!(later.add(at, &page(&article("grain of another night")), &[]));
        assert_eq!(later.pages.len(), 20);
    }

    #[test]
    fn a_section_that_no_training_page_has_is_known_once_it_was_seen() {
        let section = |words: &str| {
            let menu = "<aside class=section><a href=/s/1>First step</a><a href=/s/2>Second step</a></aside>";
            page(&article(words).replace("<main", &format!("{menu}<main")))
        };
        let (_, mut family, _) = learned(&articles());
        let new = section("barley");
        assert!(own_text(&new, &family.label(&new)).contains("First step"));
        for (url, words) in (10..).zip(["malt", "hops", "wheat", "millet", "sorghum", "teff", "spelt"]) {
            family.add(url, &section(words), &[]);
        }
        let own = own_text(&new, &family.label(&new));
        assert!(!own.contains("First step") && own.contains("All that barley"), "{own}");
    }

    #[test]
    fn damaged_families_are_refused() {
        let (_, family, _) = learned(&articles());
        let json = serde_json::to_string(&family.store()).unwrap();
        let stored: StoredFamily = serde_json::from_str(&json).unwrap();
        assert!(stored.check().is_ok());
        let refusal = |from: &str, to: &str| {
            assert!(json.contains(from), "{from} in {json}");
            let stored: StoredFamily = serde_json::from_str(&json.replacen(from, to, 1)).unwrap();
            assert!(stored.load(&Preset::Dehusk.learn()).pages.len() < 4);
            stored.check().unwrap_err().to_string()
        };
        assert!(refusal("\"children\":[3,", "\"children\":[2,").contains("witness 1: its"));
        assert!(refusal("\"children\":[3,", "\"children\":[4000000000,").contains("no tree"));
        assert!(refusal("\"labels\":[", "\"labels\":[9,").contains("labels"));
        assert!(refusal("\"leaves\":[", "\"leaves\":[9,").contains("leaf"));
        assert!(refusal("\"kinds\":[0,", "\"kinds\":[999,").contains("kind"));
    }

    #[test]
    fn long_lists_and_large_pages_are_kept_in_part() {
        let list = |name: &str| {
            let items: String = (0..2000).map(|n| format!("<li>{name} {n}</li>")).collect();
            article(name).replace("</main>", &format!("<ul>{items}</ul></main>"))
        };
        let (trees, family, labels) = learned(&["rye", "oats", "corn"].map(list));
        assert!(family.pages.iter().all(|page| page.len() < 1000), "{}", family.pages[0].len());
        let own = own_text(&trees[1], &labels[1]);
        assert!(own.contains("oats 1000") && own.contains("oats 1999") && !own.contains("reserved"), "{own:.300}");
        assert_eq!(labels[1].confidence, 1.0, "known again, though it is kept in part");
    }

    proptest! {
        #[test]
        fn neither_order_nor_storing_changes_a_label(
            pages in soup::pages(3, 0..24), turn in 0..4_usize,
        ) {
            let trees: Vec<Tree> = pages.iter().map(|html| page(html)).collect();
            let learn = Preset::Dehusk.learn();
            let known = numbered(&trees[..3]);
            let Some((family, labels)) = Family::learn(&known, &learn) else { return Ok(()) };
            let mut turned = known.clone();
            turned.rotate_left(turn % 3);
            let (other, _) = Family::learn(&turned, &learn).unwrap();
            let json = serde_json::to_vec(&family.store()).unwrap();
            let stored: StoredFamily = serde_json::from_slice(&json).unwrap();
            prop_assert!(stored.check().is_ok());
            let stored = stored.load(&learn);
            for (at, tree) in trees.iter().enumerate() {
                let label = family.label(tree);
                prop_assert_eq!(&label, &other.label(tree), "order");
                prop_assert_eq!(&label, &stored.label(tree), "stored");
                if let Some(first) = labels.get(at) {
                    prop_assert_eq!(&label, first, "known page {}", at);
                }
                for node in tree.counted().skip(1) {
                    prop_assert!(!label.is_template[node] || label.support[node] > 0, "nobody has node {}", node);
                }
            }
        }
    }
}
