//! Aligns a page to a training page, equal content first.
//!
//! Children are mapped from the bodies down: equal subtrees in any order, then the pairs with the highest equality
//! probability (thesis, definition 3.2.2, with stable names only and without order). Two elements that both have an id
//! are no such pair. Remaining nodes are searched for on the whole training page, by unique id or equal subtree.

use super::SiteModelOptions;
use super::alike::{Alike, Pairing};
use super::columns::{Child, Columns};
use super::encoded_page::EncodedPage;
use super::interner::{Interner, NodeSignature, UNKNOWN};
use super::scratch::Scratch;
use super::training_page::TrainingPage;

/// How much of a node is on a training page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum NodeMatch {
    /// Nothing.
    #[default]
    Absent,
    /// The node, with a difference in the node itself or below it.
    Partial,
    /// Its subtree, in the same position.
    Equal,
    /// Its subtree, in another position.
    Moved,
}

impl NodeMatch {
    /// The match of a number of two bits.
    pub(super) fn of_number(number: u8) -> NodeMatch {
        match number & 3 {
            0 => NodeMatch::Absent,
            1 => NodeMatch::Partial,
            2 => NodeMatch::Equal,
            _ => NodeMatch::Moved,
        }
    }

    /// Whether the training page has the node.
    pub(super) fn is_mapped(self) -> bool {
        self != NodeMatch::Absent
    }

    /// Whether the training page has the whole subtree of the node.
    pub(super) fn has_subtree(self) -> bool {
        matches!(self, NodeMatch::Equal | NodeMatch::Moved)
    }
}

/// The alignment of a page to one training page: how much of each node is there.
#[derive(Debug, Default)]
pub(super) struct Alignment {
    pub(super) matches: Vec<NodeMatch>,
}

impl Alignment {
    /// Share of the characters of the page's text that are also on the training page. `all` is their number.
    pub(super) fn equal_text(&self, page: &EncodedPage, all: u64) -> f64 {
        let texts = self.matches.iter().zip(&page.chars);
        // A page has fewer characters than 2^32.
        let equal: u32 = texts.map(|(found, n)| if found.has_subtree() { *n } else { 0 }).sum();
        if all == 0 { 0.0 } else { f64::from(equal) / all as f64 }
    }
}

/// A page, and what each of its alignments asks of it.
pub(super) struct PageToAlign<'p> {
    pub(super) page: &'p EncodedPage,
    /// Nodes with an id, and nodes whose subtree some training page has. Ascending.
    pub(super) known: Vec<u32>,
    /// Those of them that may be found anywhere on a training page: all with an id, and of the others the texts and the
    /// elements with text.
    movable: Vec<u32>,
}

impl PageToAlign<'_> {
    pub(super) fn new(page: &EncodedPage) -> PageToAlign<'_> {
        let has_id = |node: u32| page.signature(node as usize).id != 0;
        let is_known = |node: &u32| page.columns.subtree[*node as usize] != UNKNOWN || has_id(*node);
        let known: Vec<u32> = (0..page.len() as u32).filter(is_known).collect();
        let movable = known.iter().copied().filter(|node| page.has_text[*node as usize] || has_id(*node)).collect();
        PageToAlign { page, known, movable }
    }
}

/// Aligns a page to `training_page`. Afterwards, [`Scratch::taken`] has the nodes of the training page that the page
/// shows.
pub(super) fn align(
    to_align: &PageToAlign<'_>,
    training_page: &TrainingPage,
    interner: &Interner,
    options: &SiteModelOptions,
    scratch: &mut Scratch,
) -> Alignment {
    let PageToAlign { page, known, movable } = to_align;
    let mut matches = vec![NodeMatch::Absent; page.len()];
    scratch.taken.clear();
    scratch.taken.resize(training_page.len(), false);
    scratch.is_noted = false;
    if !page.is_empty() && training_page.len() > 0 {
        let (mut lists, mut there) = (std::mem::take(&mut scratch.lists), std::mem::take(&mut scratch.there));
        training_page.columns.write_to(&mut there);
        let mut walk =
            Walk { page, known, training_page, there: &there, interner, options, matches: &mut matches, scratch };
        walk.from((0, 0), &mut lists);
        walk.find_moved(movable, &mut lists);
        (scratch.lists, scratch.there) = (lists, there);
    }
    Alignment { matches }
}

pub(super) struct Walk<'a> {
    pub(super) page: &'a EncodedPage,
    /// [`PageToAlign::known`].
    pub(super) known: &'a [u32],
    training_page: &'a TrainingPage,
    /// The columns of the training page.
    pub(super) there: &'a Columns,
    interner: &'a Interner,
    pub(super) options: &'a SiteModelOptions,
    pub(super) matches: &'a mut [NodeMatch],
    pub(super) scratch: &'a mut Scratch,
}

/// Buffers for the current child lists.
#[derive(Default)]
pub(super) struct Lists {
    left: Vec<Child>,
    right: Vec<Child>,
    pairing: Pairing,
}

impl<'a> Walk<'a> {
    /// Maps two nodes and what is below them. The lists are buffers.
    fn from(&mut self, (x, y): (usize, usize), lists: &mut Lists) {
        self.map(x, y);
        while let Some((x, y)) = self.scratch.open.pop() {
            self.map_children((x, y), lists);
        }
    }

    /// Maps two nodes and the chains of only children below them. Where a node has more children, they are mapped
    /// later: all that is mapped below two nodes lies below them, so that the order of pairs does not matter.
    #[inline(always)]
    fn map(&mut self, mut x: usize, mut y: usize) {
        let (page, training_page) = (&self.page.columns, self.there);
        while page.subtree[x] != training_page.subtree[y] {
            self.matches[x] = NodeMatch::Partial;
            self.scratch.taken[y] = true;
            match (page.n_children[x], training_page.n_children[y]) {
                (0, _) | (_, 0) => return,
                (1, 1) if self.may_map_only(x + 1, y + 1) => (x, y) = (x + 1, y + 1),
                (1, 1) => return,
                _ => return self.scratch.open.push((x, y)),
            }
        }
        self.equal(x, y);
    }

    #[inline(always)]
    fn equal(&mut self, x: usize, y: usize) {
        // The sizes can differ: a hostile page can produce equal hashes for different subtrees.
        let (here, there) = (self.page.columns.size[x] as usize, self.there.size[y] as usize);
        self.matches[x..x + here].fill(NodeMatch::Equal);
        self.scratch.taken[y..y + there].fill(true);
    }

    /// Whether `map_children` would map two only children.
    fn may_map_only(&self, i: usize, j: usize) -> bool {
        let (page, training_page) = (&self.page.columns, self.there);
        if self.scratch.taken[j] {
            return false;
        }
        if page.subtree[i] == training_page.subtree[j] {
            return true;
        }
        self.alike().are_alike_alone(i, j)
    }

    fn map_children(&mut self, (x, y): (usize, usize), lists: &mut Lists) {
        let Lists { left, right, .. } = &mut *lists;
        let n_mapped = self.list_children(x, y, left, right);
        if !left.is_empty() && !right.is_empty() {
            self.map_equal(left, right);
            // Long lists are first paired by signature. If the rest is still too long, it is not mapped.
            if (left.len() + n_mapped).saturating_mul(right.len() + n_mapped) > self.options.max_pairs {
                self.map_same_signatures(left, right);
            }
            if left.len().saturating_mul(right.len()) <= self.options.max_pairs {
                let (m, n) = (self.page.columns.n_children[x], self.there.n_children[y]);
                let Lists { left, right, pairing } = lists;
                match (&left[..], &right[..]) {
                    // Two children that are left over, as in a third of all lists.
                    ([i], [j]) if self.alike().is_alike(*i, *j, m, n) => self.map(i.node, j.node),
                    ([_], [_]) => {}
                    _ => self.alike().pair((m, n), (left, right), pairing, |i, j| self.map(i, j)),
                }
            }
        }
    }

    /// Maps the equal children that both lists begin with, then those of the same shape, and lists the others that are
    /// not mapped yet. Returns the number of those of the same shape.
    fn list_children(&mut self, x: usize, y: usize, left: &mut Vec<Child>, right: &mut Vec<Child>) -> usize {
        let (page, training_page) = (&self.page.columns, self.there);
        let (mut here, mut there) = (page.children(x), training_page.children(y));
        while let (Some(i), Some(j)) = (here.first(), there.first()) {
            if !self.scratch.taken[j.node] {
                if page.subtree[i.node] != training_page.subtree[j.node] {
                    break;
                }
                self.equal(i.node, j.node);
                here.next();
            }
            there.next();
        }
        let same_shape = self.same_shape(x, &here, &there);
        if let (Some(first), Some(i), Some(j)) = (same_shape, here.first(), there.first()) {
            self.matches[i.node..i.node + first.n_nodes].fill(NodeMatch::Partial);
            self.scratch.taken[j.node..j.node + first.n_nodes].fill(true);
            (here, there) = (here.without(first), there.without(first));
        }
        left.clear();
        left.reserve(page.n_children[x] as usize);
        here.for_each(|i| left.push(i));
        right.clear();
        right.reserve(training_page.n_children[y] as usize);
        there.filter(|j| !self.scratch.taken[j.node]).for_each(|j| right.push(j));
        same_shape.map_or(0, |first| first.n_children as usize)
    }

    /// Pairs children of equal signature in their order, in linear time. For long lists of similar items, scoring all
    /// pairs would give much the same result.
    fn map_same_signatures(&mut self, left: &mut Vec<Child>, right: &mut Vec<Child>) {
        let (page, training_page) = (&self.page.columns.signature, &self.there.signature);
        // Where both lists begin alike, the n-th of a signature here is the n-th there.
        let n = left.iter().zip(&*right).take_while(|(i, j)| page[i.node] == training_page[j.node]).count();
        left.drain(..n).zip(right.drain(..n)).for_each(|(i, j)| self.map(i.node, j.node));
        if left.is_empty() || right.is_empty() {
            return;
        }
        let n = self.interner.signatures().len();
        let mut by_signature = std::mem::take(&mut self.scratch.by_signature);
        by_signature.pair(n, (left, page), (right, training_page), |i, j| self.map(i, j));
        self.scratch.by_signature = by_signature;
    }

    /// Pairs children with equal subtrees in their order; leaves the others in the lists.
    fn map_equal(&mut self, left: &mut Vec<Child>, right: &mut Vec<Child>) {
        let (a, b) = (&self.page.columns.subtree, &self.there.subtree);
        if left.iter().all(|i| a[i.node] == UNKNOWN) {
            return;
        }
        let mut by_subtree = std::mem::take(&mut self.scratch.by_subtree);
        by_subtree.pair(self.interner.n_subtrees(), (left, a), (right, b), |i, j| self.equal(i, j));
        self.scratch.by_subtree = by_subtree;
    }

    fn alike(&self) -> Alike<'a> {
        let threshold = self.options.threshold;
        Alike { page: self.page, there: self.there, interner: self.interner, threshold }
    }

    fn signature(&self, j: usize) -> &NodeSignature {
        &self.interner.signatures()[self.there.signature[j] as usize]
    }

    /// Whether the subtree of a node is anywhere on the training page.
    fn is_found(&mut self, x: usize) -> bool {
        let scratch = &mut *self.scratch;
        if !std::mem::replace(&mut scratch.is_noted, true) {
            scratch.found_in.begin(self.interner.n_subtrees());
            self.there.subtree.iter().for_each(|subtree| scratch.found_in.note(*subtree));
        }
        scratch.found_in.has(self.page.columns.subtree[x])
    }

    fn find_moved(&mut self, movable: &[u32], lists: &mut Lists) {
        for x in movable.iter().map(|node| *node as usize) {
            if self.matches[x] != NodeMatch::Absent {
                continue;
            }
            let signature = self.page.signature(x);
            let by_id = (signature.id != 0).then(|| self.training_page.find_id(signature.id)).flatten();
            let is_free = |y: &usize| !self.scratch.taken[*y] && signature.tag == self.signature(*y).tag;
            if let Some(y) = by_id.filter(is_free) {
                self.from((x, y), lists);
            } else if self.page.has_text[x] && self.is_found(x) {
                let end = x + self.page.columns.size[x] as usize;
                self.matches[x..end].fill(NodeMatch::Moved);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site_model::names::tokens;
    use crate::site_model::scratch::Scratch;
    use dehusk_html::{ParseOptions, parse};

    fn aligned(here: &str, there: &str) -> Vec<NodeMatch> {
        let [mut page, there] = [here, there].map(|html| {
            let tree = parse(html, &ParseOptions::default());
            EncodedPage::new(&tree, &tokens(&tree).into_iter().collect())
        });
        let (mut interner, mut there) = (Interner::default(), [there]);
        interner.intern_pages(&mut there, |_| true);
        page.number(&interner);
        let training_page = TrainingPage::new(&there[0], 0, 0, &interner);
        let options = SiteModelOptions::default();
        align(&PageToAlign::new(&page), &training_page, &interner, &options, &mut Scratch::for_page()).matches
    }

    #[test]
    fn a_child_that_is_left_over_is_mapped_to_one_like_it_only() {
        use NodeMatch::{Absent, Equal, Partial};
        let found = |child: &str, other: &str| aligned(&format!("<p>rye</p>{child}"), &format!("<p>rye</p>{other}"));
        let [body, paragraph, text] = [Partial, Equal, Equal];
        let div = "<div class=a>barley</div>";
        assert_eq!(found(div, "<div class=a>oats</div>"), [body, paragraph, text, Partial, Partial]);
        assert_eq!(found(div, "<ul>oats</ul>"), [body, paragraph, text, Absent, Absent]);
        assert_eq!(found(div, "<div class='b c d'><i>oats</i><b>x</b></div>"), [body, paragraph, text, Absent, Absent]);
    }
}
