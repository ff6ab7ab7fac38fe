//! Maps the first children of two nodes at once, where they have the same shape.
//!
//! Two nodes have the same shape when they and what is below them have the same signatures and the same numbers of
//! children, one by one. Without ids, and without subtrees that a training page has, one by one is also how they are
//! mapped. The paragraphs of an article and the rows of a table are such children.

use super::align::{NodeMatch, Walk};
use super::alike;
use super::columns::Children;
use super::interner::UNKNOWN;

impl Walk<'_> {
    /// Maps the first children of the node `x` that are still to come, as long as they have the shape of those of the
    /// other node. Returns their number.
    pub(super) fn map_same_shapes(&mut self, x: usize, here: &mut Children<'_>, there: &mut Children<'_>) -> usize {
        /// Nodes from which on it is tried.
        const FEWEST: usize = 16;
        let (Some(i), Some(j)) = (here.first(), there.first()) else { return 0 };
        let most = here.n_nodes().min(there.n_nodes());
        if most < FEWEST || !alike::same_shapes_are_mapped(self.options.threshold) {
            return 0;
        }
        let before = self.known.partition_point(|known| (*known as usize) < i.node);
        let most = self.known.get(before).map_or(most, |known| most.min(*known as usize - i.node));
        let same = self.n_same(i.node, j.node, most);
        // Whole children only.
        let parents = &self.page.parent[i.node..];
        let is_child = |parent: &u32| *parent == x as u32;
        let n = if same == here.n_nodes() { same } else { parents[..=same].iter().rposition(is_child).unwrap_or(0) };
        if n < FEWEST {
            return 0;
        }
        // Only nodes with an id are mapped before their parents are.
        debug_assert!(!self.scratch.taken[j.node..j.node + n].contains(&true), "a node is mapped before its parent");
        let n_children = parents[..n].iter().map(|parent| u32::from(is_child(parent))).sum::<u32>();
        let mut rest = here.clone();
        rest.skip_nodes(n_children, n);
        // In other positions they are mapped one by one where the lists are too long to compare all pairs.
        let is_long = (n_children as usize).saturating_pow(2) > self.options.max_pairs;
        if !(i.position == j.position || is_long) || self.may_be_equal(rest.clone(), j.node..j.node + n) {
            return 0;
        }
        self.matches[i.node..i.node + n].fill(NodeMatch::Partial);
        self.scratch.taken[j.node..j.node + n].fill(true);
        *here = rest;
        there.skip_nodes(n_children, n);
        n_children as usize
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
        EncodedPage::of(&tree, &tokens(&tree).into_iter().collect())
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
        let training_page = TrainingPage::of(&other[0], 0, 0, &interner);
        let mut to_align = PageToAlign::of(&page);
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
