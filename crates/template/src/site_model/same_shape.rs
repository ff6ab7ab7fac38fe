//! Maps the first children of two nodes at once, where they have the same shape: the paragraphs of an article, the rows
//! of a table. One by one, each would be looked up, paired and pushed.
//!
//! **Claim.** Take the first children of `x` that are still to come, and those of `y`, with all that is below them, in
//! preorder. Let the first `n` nodes of both agree one by one in signature and number of children, and be whole
//! children. Then the alignment maps the `i`-th of these nodes to the `i`-th, if
//!
//! 1. no node of the page among them has an id, or a subtree that a training page has;
//! 2. no other child of `x` has a subtree that is among these nodes of `y`;
//! 3. the first children have the same position, or the lists are so long that children are paired by signature;
//! 4. a pair that agrees in everything but words is above the threshold ([`alike::same_shapes_are_mapped`]).
//!
//! **Proof**, from the top down. Preorder and numbers of children determine a sequence of ordered trees, so the nodes
//! correspond as nodes of equal trees. By 1, no node here is mapped by its subtree or its id, and by 2 none there is
//! taken by an equal child; so children are paired by probability or by signature.
//! *By signature* (`map_same_signatures`), the `i`-th child of a signature here goes to the `i`-th there. The lists
//! begin alike, so these correspond.
//! *By probability*, corresponding children have equal names and equally many children, and `pair_same_places` pairs
//! such children in equal positions first. In the lists of `x` and `y` positions are equal by 3. In longer lists here
//! it asks for the position from the end first, which is an earlier one: it is before the list, or it is taken, since
//! the children before were paired in their order. Below, corresponding lists have equal lengths, and all positions
//! agree. So corresponding children are paired, by 4 above the threshold, and the claim holds for their children. A
//! property test compares both ways.

use super::align::Walk;
use super::alike;
use super::columns::Children;
use super::interner::UNKNOWN;

/// Children at the beginning of a list, and the nodes that they and what is below them have.
#[derive(Clone, Copy)]
pub(super) struct FirstChildren {
    pub(super) n_children: u32,
    pub(super) n_nodes: usize,
}

impl Walk<'_> {
    /// The first children of the node `x` that are still to come, as long as they have the shape of those of the other
    /// node and may be mapped to them at once. `None` for too few.
    pub(super) fn same_shape(&self, x: usize, here: &Children<'_>, there: &Children<'_>) -> Option<FirstChildren> {
        /// Nodes from which on it is tried.
        const FEWEST: usize = 16;
        let (i, j) = (here.first()?, there.first()?);
        let most = here.n_nodes().min(there.n_nodes());
        if most < FEWEST || !alike::same_shapes_are_mapped(self.options.threshold) {
            return None;
        }
        let before = self.known.partition_point(|known| (*known as usize) < i.node);
        let most = self.known.get(before).map_or(most, |known| most.min(*known as usize - i.node));
        let same = self.n_same(i.node, j.node, most);
        // Whole children only.
        let parents = &self.page.parent[i.node..];
        let is_child = |parent: &u32| *parent == x as u32;
        let n_nodes =
            if same == here.n_nodes() { same } else { parents[..=same].iter().rposition(is_child).unwrap_or(0) };
        if n_nodes < FEWEST {
            return None;
        }
        // Only nodes with an id are mapped before their parents are.
        debug_assert!(!self.scratch.taken[j.node..j.node + n_nodes].contains(&true), "mapped before its parent");
        let n_children = parents[..n_nodes].iter().map(|parent| u32::from(is_child(parent))).sum::<u32>();
        let first = FirstChildren { n_children, n_nodes };
        let is_long = (n_children as usize).saturating_pow(2) > self.options.max_pairs;
        let is_in_place = i.position == j.position || is_long;
        (is_in_place && !self.may_be_equal(here.without(first), j.node..j.node + n_nodes)).then_some(first)
    }

    /// Nodes from `i` and `j` on, at most so many, that have the same signatures and numbers of children.
    fn n_same(&self, i: usize, j: usize, most: usize) -> usize {
        const AT_ONCE: usize = 16;
        let (page, training_page) = (&self.page.columns, self.there);
        let (a, b) = (&page.signature[i..i + most], &training_page.signature[j..j + most]);
        let (c, d) = (&page.n_children[i..i + most], &training_page.n_children[j..j + most]);
        let differs = |at: usize| (a[at] ^ b[at]) | (c[at] ^ d[at]);
        let mut n = 0;
        while n + AT_ONCE <= most && (n..n + AT_ONCE).fold(0, |any, at| any | differs(at)) == 0 {
            n += AT_ONCE;
        }
        n + (n..most).take_while(|at| differs(*at) == 0).count()
    }

    /// Whether one of these children may be equal to a node of the training page in this range. Equal children are
    /// mapped before others.
    fn may_be_equal(&self, children: Children<'_>, range: std::ops::Range<usize>) -> bool {
        /// Children that are looked up. With more it is not tried.
        const MOST: usize = 16;
        let mut n = 0;
        let there = &self.there.subtree[range];
        let mut known = children.map(|child| self.page.columns.subtree[child.node]).filter(|known| *known != UNKNOWN);
        known.any(|known| {
            n += 1;
            n > MOST || there.contains(&known)
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::site_model::SiteModelOptions;
    use crate::site_model::align::{NodeMatch, PageToAlign, align};
    use crate::site_model::encoded_page::EncodedPage;
    use crate::site_model::interner::Interner;
    use crate::site_model::names::tokens;
    use crate::site_model::scratch::Scratch;
    use crate::site_model::training_page::TrainingPage;
    use dehusk_html::{ParseOptions, parse};

    /// A list of items: each kind so many times, with words of this page, and some that both pages have.
    fn page(own: &str, items: &[(u8, u8, u8)]) -> EncodedPage {
        let mut html = String::from("<main>");
        for (kind, times, shared) in items {
            for n in 0..*times {
                let is_shared = *shared < 20 && n % 8 == shared % 8;
                let word = if is_shared { format!("word {}", n % 3) } else { format!("{own} {n}") };
                html += &match kind % 8 {
                    0..3 => format!("<p class=line>{word}</p>"),
                    3 => format!("<li><b>{word}</b> and <a>{word}</a><br></li>"),
                    4 => format!("<p>{word}</p>"),
                    5 => format!("<p class=line><i>{word}</i></p>"),
                    6 => format!("<p id=k{kind}{n}>{word}</p>"),
                    _ => format!("<dl><dt>{word}</dt><dd>a<dd>{word}</dl><hr>"),
                };
            }
        }
        encoded(&html)
    }

    fn encoded(html: &str) -> EncodedPage {
        let tree = parse(html, &ParseOptions::default());
        EncodedPage::new(&tree, &tokens(&tree).into_iter().collect())
    }

    fn aligned(
        page: &EncodedPage,
        other: &EncodedPage,
        max_pairs: usize,
        is_one_by_one: bool,
    ) -> (Vec<NodeMatch>, Vec<bool>) {
        let (mut page, mut other) = (page.clone(), [other.clone()]);
        let mut interner = Interner::default();
        interner.intern_pages(&mut other, |_| true);
        page.number(&interner);
        let training_page = TrainingPage::new(&other[0], 0, 0, &interner);
        let mut to_align = PageToAlign::new(&page);
        if is_one_by_one {
            to_align.known = (0..page.len() as u32).collect();
        }
        let options = SiteModelOptions { max_pairs, ..SiteModelOptions::default() };
        let mut scratch = Scratch::for_page();
        let found = align(&to_align, &training_page, &interner, &options, &mut scratch).matches;
        (found, scratch.taken)
    }

    fn items() -> impl Strategy<Value = Vec<(u8, u8, u8)>> {
        proptest::collection::vec((any::<u8>(), 1..30_u8, 0..40_u8), 1..6)
    }

    proptest! {
        #[test]
        fn children_of_the_same_shape_are_mapped_as_one_by_one(
            here in items(),
            others in items(),
            more in 0..30_u8,
            max_pairs in prop_oneof![Just(0), Just(40), Just(4096)],
        ) {
            // The same kinds, a list that is longer, and other items behind them.
            let mut there = here.clone();
            if let Some(first) = there.get_mut(usize::from(more) % 4) {
                first.1 = first.1.wrapping_add(more);
            }
            there.truncate(1 + usize::from(more) % 6);
            there.extend(others);
            let (here, there) = (page("rye", &here), page("oats", &there));
            prop_assert_eq!(aligned(&here, &there, max_pairs, false), aligned(&here, &there, max_pairs, true));
            prop_assert_eq!(aligned(&there, &here, max_pairs, false), aligned(&there, &here, max_pairs, true));
        }
    }

    #[test]
    fn children_in_other_positions_are_compared() {
        let lines = |own: &str, n: usize| (0..n).map(|n| format!("<p>{own} {n}</p>")).collect::<String>();
        // The first child on the right is found by its id before its parent is.
        let here = format!("<ul><li><b id=c>rye</b></ul><ol><li><div id=y>{}</div></ol>", lines("rye", 20));
        let there = format!("<div id=y><b id=c>oats</b>{}</div>", lines("oats", 25));
        let (here, there) = (encoded(&here), encoded(&there));
        assert_eq!(aligned(&here, &there, 4096, false), aligned(&here, &there, 4096, true));
        assert!(aligned(&here, &there, 4096, false).0.iter().filter(|found| found.is_mapped()).count() > 40);
    }
}
