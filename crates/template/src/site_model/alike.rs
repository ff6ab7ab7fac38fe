//! Pairs the most similar children of two nodes, by the equality probability (thesis, definition 3.2.2), with stable
//! names only and without order.

use std::cmp::Ordering;

use super::columns::{Child, Columns};
use super::encoded_page::EncodedPage;
use super::interner::{Interner, NodeSignature, UNKNOWN};
use super::matching::Matching;
use crate::equality_weights::EqualityWeights;

/// The nodes of a page and of a training page, to be compared.
pub(super) struct Alike<'a> {
    pub(super) page: &'a EncodedPage,
    /// The columns of the training page.
    pub(super) there: &'a Columns,
    pub(super) interner: &'a Interner,
    /// Nodes are paired when their equality probability is above this.
    pub(super) threshold: f64,
}

/// Buffers that are reused by the next lists of the same page.
#[derive(Default)]
pub(super) struct Pairing {
    /// Hashes of the tag names on the right. Most pairs of two lists are told apart by them.
    right_tags: Vec<u32>,
    alike: Vec<(usize, NameEquality)>,
    is_taken: Vec<bool>,
    matching: Matching,
    names: KnownNames,
}

/// What the names of pairs of signatures were found to add, by both: a page is compared to many training pages. `None`
/// for nodes that cannot be mapped.
#[derive(Default)]
struct KnownNames(Vec<((u32, u32), Option<NameEquality>)>);

impl KnownNames {
    /// A power of two. Later pairs replace earlier ones.
    const MOST: usize = 256;

    /// The names of two signatures, the first one by its number on the page.
    #[inline(always)]
    fn get_or_find(&mut self, pair: (u32, u32), find: impl FnOnce() -> Option<NameEquality>) -> Option<NameEquality> {
        if self.0.is_empty() {
            self.0.resize(Self::MOST, ((UNKNOWN, UNKNOWN), None));
        }
        let at = pair.0.wrapping_mul(31).wrapping_add(pair.1) as usize % Self::MOST;
        let known = &mut self.0[at];
        if known.0 != pair {
            *known = (pair, find());
        }
        known.1
    }
}

impl Alike<'_> {
    /// Pairs children of two nodes that have m and n children, best pair first. The lists are used up.
    pub(super) fn pair(
        &self,
        (m, n): (u32, u32),
        (left, right): (&mut Vec<Child>, &mut Vec<Child>),
        buffers: &mut Pairing,
        mut out: impl FnMut(usize, usize),
    ) {
        self.pair_same_places((m, n), (left, right), &mut buffers.is_taken, &mut out);
        if left.is_empty() || right.is_empty() {
            return;
        }
        let Pairing { right_tags, alike, matching, names, .. } = buffers;
        matching.begin();
        right_tags.clear();
        right_tags.extend(right.iter().map(|j| self.signature(j.node).tag));
        // Neighbors have the same names more often than not.
        let mut last = None;
        for (a, i) in left.iter().enumerate() {
            let here = self.page.signature_number(i.node);
            if last.replace(here) != Some(here) {
                self.find_alike(i.node, (right, right_tags), names, alike);
            }
            for (b, names) in &*alike {
                let p = self.with_names(*names, (*i, right[*b]), (m, n));
                if p > self.threshold {
                    matching.add(p, a, *b);
                }
            }
        }
        matching.best_first((left.len(), right.len()), |a, b| out(left[a].node, right[b].node));
    }

    /// Lists the places of the nodes on the right that a node may be mapped to, by its names.
    fn find_alike(
        &self,
        i: usize,
        (right, right_tags): (&[Child], &[u32]),
        names: &mut KnownNames,
        alike: &mut Vec<(usize, NameEquality)>,
    ) {
        let (here, tag) = (self.page.signature_number(i), self.page.signature(i).tag);
        alike.clear();
        for (b, j) in right.iter().enumerate().filter(|(b, _)| right_tags[*b] == tag) {
            let there = self.there.signature[j.node];
            let names =
                names.get_or_find((here, there), || self.names(i, j.node).filter(|names| self.may_be_alike(*names)));
            alike.extend(names.map(|names| (b, names)));
        }
    }

    /// Whether nodes of these names have a probability above the threshold, where all else is equal.
    #[inline(always)]
    fn may_be_alike(&self, names: NameEquality) -> bool {
        const W: EqualityWeights = EqualityWeights::THESIS2014;
        match names {
            NameEquality::Text => TEXT + TEXT_POSITION > self.threshold,
            NameEquality::Element(names) => names + W.children + W.position > self.threshold,
        }
    }

    /// Pairs children with the same names and the same number of children whose positions agree, counted from the
    /// beginning or from the end. Each is more similar to the other than to any child that differs in one of these.
    /// Those that are not paired stay in the lists.
    fn pair_same_places(
        &self,
        (m, n): (u32, u32),
        (left, right): (&mut Vec<Child>, &mut Vec<Child>),
        is_taken: &mut Vec<bool>,
        mut out: impl FnMut(usize, usize),
    ) {
        is_taken.clear();
        is_taken.resize(right.len(), false);
        let (mut from_begin, mut from_end) = (0, 0);
        left.retain(|i| {
            let at_end = (i.position + n).saturating_sub(m);
            from_begin = first_from(right, from_begin, i.position);
            from_end = first_from(right, from_end, at_end);
            let (begin, end) = ((from_begin, i.position), (from_end, at_end));
            let is_same = |(b, position): (usize, u32)| {
                let j = right.get(b).filter(|j| j.position == position && !is_taken[b])?;
                (self.is_same_kind(i.node, j.node) && self.is_alike(*i, *j, m, n)).then_some(b)
            };
            let found = match m.cmp(&n) {
                Ordering::Less => is_same(begin).or_else(|| is_same(end)),
                Ordering::Equal => is_same(begin),
                Ordering::Greater => is_same(end).or_else(|| is_same(begin)),
            };
            let Some(b) = found else { return true };
            is_taken[b] = true;
            out(i.node, right[b].node);
            false
        });
        let mut is_taken = is_taken.iter();
        right.retain(|_| !is_taken.next().copied().unwrap_or(false));
    }

    /// Whether two children differ in nothing but ids and what is below them.
    #[inline(always)]
    fn is_same_kind(&self, i: usize, j: usize) -> bool {
        let (page, there) = (&self.page.columns, self.there);
        let has_same_names = || {
            let (a, b) = (self.page.signature(i), self.signature(j));
            a.tag == b.tag && a.classes == b.classes && a.attrs == b.attrs
        };
        page.n_children[i] == there.n_children[j] && (page.signature[i] == there.signature[j] || has_same_names())
    }

    /// Whether two children can be mapped, in lists of m and n members.
    #[inline(always)]
    pub(super) fn is_alike(&self, i: Child, j: Child, m: u32, n: u32) -> bool {
        self.probability(i, j, m, n).is_some_and(|p| p > self.threshold)
    }

    /// Whether two only children can be mapped. Most of them are texts.
    pub(super) fn are_alike_alone(&self, i: usize, j: usize) -> bool {
        let (here, there) = (self.page.columns.signature[i], self.there.signature[j]);
        if self.interner.is_text(here) && self.interner.is_text(there) {
            return TEXT + TEXT_POSITION > self.threshold;
        }
        let only = |node: usize| Child { node, position: 1 };
        self.is_alike(only(i), only(j), 1, 1)
    }

    fn signature(&self, j: usize) -> &NodeSignature {
        &self.interner.signatures()[self.there.signature[j] as usize]
    }

    /// The equality probability with the weights of the thesis, in lists of m and n members.
    #[inline(always)]
    fn probability(&self, i: Child, j: Child, m: u32, n: u32) -> Option<f64> {
        Some(self.with_names(self.names(i.node, j.node)?, (i, j), (m, n)))
    }

    /// What the names of two nodes add to their probability. `None` where they cannot be mapped.
    #[inline(always)]
    fn names(&self, i: usize, j: usize) -> Option<NameEquality> {
        const W: EqualityWeights = EqualityWeights::THESIS2014;
        let is_same = self.page.columns.signature[i] == self.there.signature[j];
        let a = self.page.signature(i);
        let b = if is_same { a } else { self.signature(j) };
        if a.tag != b.tag {
            return None;
        }
        if a.is_text() {
            return Some(NameEquality::Text);
        }
        if a.id != 0 && b.id != 0 {
            return None;
        }
        let overlap = if is_same { overlap_with_itself } else { overlap };
        let classes = W.class * overlap(&a.classes, &b.classes, W.no_class);
        Some(NameEquality::Element(classes + W.attributes * overlap(&a.attrs, &b.attrs, W.no_attributes)))
    }

    /// The probability of two children with these names, in lists of m and n members. That of texts depends only on
    /// their position.
    #[inline(always)]
    fn with_names(&self, names: NameEquality, (i, j): (Child, Child), (m, n): (u32, u32)) -> f64 {
        const W: EqualityWeights = EqualityWeights::THESIS2014;
        let position = position_score(i, j, m, n);
        match names {
            NameEquality::Text => TEXT + TEXT_POSITION * position,
            NameEquality::Element(names) => {
                let children = ratio(self.page.columns.n_children[i.node], self.there.n_children[j.node]);
                names + W.children * children + W.position * position
            }
        }
    }
}

/// Whether two nodes of one signature without an id, with equally many children, are mapped in equal positions.
pub(super) fn same_shapes_are_mapped(threshold: f64) -> bool {
    let w = EqualityWeights::THESIS2014;
    let element = w.class * w.no_class.min(1.0) + w.attributes * w.no_attributes.min(1.0) + w.children + w.position;
    element.min(TEXT + TEXT_POSITION) > threshold
}

/// The first place at this one or behind it whose child has this position or a later one.
#[inline(always)]
fn first_from(children: &[Child], at: usize, position: u32) -> usize {
    let before = children.get(at..).unwrap_or_default().iter().take_while(|child| child.position < position);
    at + before.count()
}

/// What the names of two nodes add to their equality probability.
#[derive(Clone, Copy)]
enum NameEquality {
    /// Both are texts.
    Text,
    /// Both are elements.
    Element(f64),
}

/// The equality probability of two texts: `TEXT`, and `TEXT_POSITION` times the agreement of their positions.
const TEXT: f64 = 0.6;
const TEXT_POSITION: f64 = 0.4;

/// The agreement of two positions in lists of m and n nodes, counted from the end that fits better.
#[inline(always)]
fn position_score(i: Child, j: Child, m: u32, n: u32) -> f64 {
    let (p, q) = (i.position, j.position);
    let off = p.abs_diff(q).min((m.saturating_sub(p)).abs_diff(n.saturating_sub(q)));
    1.0 - f64::from(off) / f64::from(m.max(n).max(1))
}

/// `overlap` of equal lists.
fn overlap_with_itself(a: &[u32], _: &[u32], none: f64) -> f64 {
    if a.is_empty() { none } else { 1.0 }
}

/// Jaccard index: the number of shared members over the number of all members; `none` if both are empty.
fn overlap(a: &[u32], b: &[u32], none: f64) -> f64 {
    if a.is_empty() && b.is_empty() {
        return none;
    }
    let (mut i, mut j, mut shared) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            Ordering::Less => i += 1,
            Ordering::Greater => j += 1,
            Ordering::Equal => (i, j, shared) = (i + 1, j + 1, shared + 1),
        }
    }
    f64::from(shared) / (a.len() + b.len() - shared as usize) as f64
}

#[inline(always)]
fn ratio(m: u32, n: u32) -> f64 {
    if m == n { 1.0 } else { f64::from(m.min(n)) / f64::from(m.max(n)) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rustc_hash::FxHashSet;

    use super::*;
    use crate::site_model::SiteModelOptions;
    use dehusk_html::{ParseOptions, parse};

    /// A page of a list whose items have these names, ids and numbers of children; some items are texts.
    fn page(items: &[(u8, u8, u8)]) -> EncodedPage {
        let item = |(name, id, n): &(u8, u8, u8)| {
            let names = ["", "class=a", "class='a b'", "class=b title=x", "title=x"][*name as usize % 5];
            let tag = ["i", "b"][*id as usize % 2];
            let id = if *id == 0 { format!("id=i{name}") } else { String::new() };
            match n {
                9 => format!("text {name}<br>"),
                n => format!("<{tag} {names} {id}>{}</{tag}>", "<u>x</u>".repeat(*n as usize)),
            }
        };
        let html: String = items.iter().map(item).collect();
        let tree = parse(&format!("<p>{html}"), &ParseOptions::default());
        EncodedPage::new(&tree, &super::super::names::tokens(&tree).into_iter().collect())
    }

    fn items() -> impl Strategy<Value = Vec<(u8, u8, u8)>> {
        proptest::collection::vec((0..3_u8, 0..5_u8, prop_oneof![0..3_u8, Just(9)]), 1..14)
    }

    /// All pairs in the order of their probabilities.
    fn literal(alike: &Alike<'_>, (m, n): (u32, u32), left: &[Child], right: &[Child]) -> FxHashSet<(usize, usize)> {
        let mut pairs = Vec::new();
        for (a, i) in left.iter().enumerate() {
            for (b, j) in right.iter().enumerate() {
                let (x, y) = (alike.page.signature(i.node), alike.signature(j.node));
                let ids = x.id != 0 && y.id != 0;
                let position = position_score(*i, *j, m, n);
                let sizes = (alike.page.columns.n_children[i.node], alike.there.n_children[j.node]);
                let p = 0.5 * overlap(&x.classes, &y.classes, 0.99)
                    + 0.2 * overlap(&x.attrs, &y.attrs, 0.25)
                    + 0.1
                        * if sizes == (0, 0) {
                            1.0
                        } else {
                            f64::from(sizes.0.min(sizes.1)) / f64::from(sizes.0.max(sizes.1))
                        }
                    + 0.2 * position;
                let p = if x.is_text() { 0.6 + 0.4 * position } else { p };
                if x.tag == y.tag && (x.is_text() || !ids) && p > alike.threshold {
                    pairs.push((p, a, b));
                }
            }
        }
        pairs.sort_by(|x, y| y.0.total_cmp(&x.0).then((x.1, x.2).cmp(&(y.1, y.2))));
        let (mut used, mut taken, mut found) = (FxHashSet::default(), FxHashSet::default(), FxHashSet::default());
        for (_, a, b) in pairs {
            if !used.contains(&a) && !taken.contains(&b) {
                used.insert(a);
                taken.insert(b);
                found.insert((left[a].node, right[b].node));
            }
        }
        found
    }

    proptest! {
        #[test]
        fn the_most_similar_children_are_paired(
            here in items(),
            others in items(),
            changes in proptest::collection::vec(0..6_u8, 14),
            left_out in proptest::collection::vec(0..9_u8, 60),
        ) {
            // The same list with items that are replaced or missing.
            let there: Vec<_> = here.iter().zip(others.iter().cycle()).zip(&changes).filter(|(_, change)| **change > 0)
                .map(|((own, other), change)| if *change == 1 { *other } else { *own }).collect();
            let mut pages = [page(&here), page(&there)];
            let mut interner = Interner::default();
            interner.intern_pages(&mut pages, |_| true);
            let [page, training_page] = pages;
            let threshold = SiteModelOptions::default().threshold;
            let alike = Alike { page: &page, there: &training_page.columns, interner: &interner, threshold };
            let (left, right) = (page.columns.children(1), training_page.columns.children(1));
            let lengths = (page.columns.n_children[1], training_page.columns.n_children[1]);
            // Children that are mapped already are not in the lists.
            let mut kept = left_out.iter();
            let mut is_kept = |_: &Child| *kept.next().unwrap_or(&1) > 0;
            let (mut left, mut right): (Vec<_>, Vec<_>) =
                (left.filter(&mut is_kept).collect(), right.filter(&mut is_kept).collect());
            let expected = literal(&alike, lengths, &left, &right);
            let mut found = FxHashSet::default();
            alike.pair(lengths, (&mut left, &mut right), &mut Pairing::default(), |i, j| { found.insert((i, j)); });
            prop_assert_eq!(found, expected);
        }
    }
}
