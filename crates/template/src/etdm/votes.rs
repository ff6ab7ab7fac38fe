//! Exact top-down mapping with votes (thesis, sections 3.3 and 3.4, Algorithm 3).
//!
//! Each page votes independently: the key page is mapped to it from the body down, and every mapped key node gets a
//! vote. Algorithm 3 as printed intersects the template with each page in turn, which covers only the case t = n. The
//! text of the thesis and the authors' HybEx use votes. Votes never increase from root to leaf, so the template is a
//! connected tree that contains the body.

use super::equality::Equality;
use super::mapping::{Mapped, map_trees};
use super::options::EtdmOptions;
use dehusk_content::Labels;
use dehusk_html::Tree;

/// Votes for the nodes of a key page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Votes {
    /// Votes by node number; 0 for nodes before the body.
    ///
    /// Exact for every node that reaches `min_votes`. Counting stops early for nodes that can no longer reach it.
    pub votes: Vec<u16>,
    /// Pages that voted (m in the thesis).
    pub n_voters: usize,
    /// Votes required for a template node (t').
    pub min_votes: usize,
    /// Whether a child list was too long for the exact mapping.
    pub approximate: bool,
}

impl Votes {
    /// Whether this node is a template node.
    pub fn is_template(&self, node: usize) -> bool {
        self.n_voters > 0 && usize::from(self.votes[node]) >= self.min_votes
    }

    /// The labels of the key page, with its votes as support.
    pub fn labels(&self, key: &Tree) -> Labels {
        let mut labels = Labels { support: self.votes.clone(), ..Labels::none(key) };
        key.counted().for_each(|node| labels.is_template[node] = self.is_template(node));
        labels.with_confidence(1.0)
    }
}

/// Lets `voters` vote on the nodes of `key`.
pub fn vote(key: &Tree, voters: &[&Tree], options: &EtdmOptions) -> Votes {
    vote_with(key, voters, options, true)
}

fn vote_with(key: &Tree, voters: &[&Tree], options: &EtdmOptions, early_stop: bool) -> Votes {
    let m = voters.len();
    let wanted = if options.min_votes == 0 { m / 2 + 1 } else { options.min_votes };
    let least = wanted.min(m);
    let mut result = Votes { votes: vec![0; key.len()], n_voters: m, min_votes: least, approximate: false };
    let n_counted = key.counted().len();
    for (i, voter) in voters.iter().enumerate() {
        let left = m - i;
        // A node with fewer votes than this can no longer reach the threshold.
        let needed = if early_stop { least.saturating_sub(left) } else { 0 };
        let mut ballot = cast(key, voter, options, &result.votes, needed);
        let may_cover =
            |nodes: usize| options.near_complete > 0.0 && nodes as f64 >= options.near_complete * n_counted as f64;
        if needed > 0 && may_cover(ballot.mapped + ballot.skipped) {
            ballot = cast(key, voter, options, &result.votes, 0);
        }
        if may_cover(ballot.mapped) {
            result.min_votes += 1;
        }
        result.approximate |= ballot.approximate;
        let mut open = 0;
        for (votes, change) in result.votes.iter_mut().zip(&ballot.changes) {
            open += change;
            *votes += u16::from(open > 0);
        }
    }
    // Without the cap, two near-identical pages out of three would require more votes than there are pages.
    result.min_votes = result.min_votes.min(m);
    result
}

/// The votes of one page, as a difference array: voting for a subtree takes two writes.
struct Ballot {
    changes: Vec<i32>,
    mapped: usize,
    /// Nodes below mapped nodes that were not visited.
    skipped: usize,
    approximate: bool,
}

fn cast(key: &Tree, voter: &Tree, options: &EtdmOptions, votes: &[u16], needed: usize) -> Ballot {
    let mut ballot = Ballot { changes: vec![0; key.len() + 1], mapped: 0, skipped: 0, approximate: false };
    let (Some(body), Some(other)) = (key.body(), voter.body()) else { return ballot };
    let equality = Equality::new(key.compared(), voter.compared(), options);
    let least_self = equality.least_self_scores();
    let mut skipped = 0;
    ballot.approximate = map_trees(
        &equality,
        (body, other),
        options,
        &least_self,
        |node| {
            let goes_on = usize::from(votes[node]) >= needed;
            if !goes_on {
                skipped += key.shape.size[node] as usize - 1;
            }
            goes_on
        },
        |Mapped { left, size, .. }| {
            ballot.mapped += size;
            ballot.changes[left] += 1;
            ballot.changes[left + size] -= 1;
        },
    );
    ballot.skipped = skipped;
    ballot
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::test_pages;
    use dehusk_html::ParseOptions;
    use dehusk_html::parse;

    fn page(html: &str) -> Tree {
        parse(html, &ParseOptions::default())
    }

    #[test]
    fn the_vote_example() {
        let key = page("<nav id=n></nav><div class=main></div><footer class=f></footer>");
        let voters = [
            page("<nav id=n></nav><div class=main></div><footer class=f></footer>"),
            page("<nav id=n></nav><footer class=f></footer>"),
            page("<header></header><div class=other></div>"),
        ];
        let names = |t: usize| {
            let learn = EtdmOptions { min_votes: t, ..EtdmOptions::thesis2014() };
            let votes = vote_with(&key, &voters.iter().collect::<Vec<_>>(), &learn, false);
            let at = |n: usize| key.name(dehusk_html::NodeId::new(n)).to_owned();
            key.counted().filter(|n| usize::from(votes.votes[*n]) >= t).map(at).collect::<Vec<_>>()
        };
        assert_eq!(names(1), ["body", "nav", "div", "footer"]);
        assert_eq!(names(2), ["body", "nav", "footer"]);
        assert_eq!(names(3), ["body"]);
    }

    #[test]
    fn a_near_complete_page_raises_the_threshold_up_to_m() {
        let key = page("<div class=a><p>x</p></div>");
        let same = page("<div class=a><p>x</p></div>");
        let other = page("<span>y</span>");
        let learn = EtdmOptions::hybex2020();
        assert_eq!(vote(&key, &[&same, &other, &other], &EtdmOptions::thesis2014()).min_votes, 2, "not in the thesis");
        assert_eq!(vote(&key, &[&same, &other, &other], &learn).min_votes, 3);
        assert_eq!(vote(&key, &[&same, &same, &other], &learn).min_votes, 3, "capped");
        assert_eq!(vote(&key, &[&other], &learn).min_votes, 1, "a short subdigraph");
        assert_eq!(vote(&key, &[], &learn).n_voters, 0);
        assert!(!vote(&key, &[], &learn).is_template(1));
    }

    #[test]
    fn equal_text_is_a_choice() {
        let key = page("<p>menu</p><p>one</p>");
        let voters = [page("<p>menu</p><p>two</p>"), page("<p>menu</p><p>three</p>")];
        let voters: Vec<&Tree> = voters.iter().collect();
        let count = |text| {
            let votes = vote(&key, &voters, &EtdmOptions { text, ..EtdmOptions::thesis2014() });
            key.counted().filter(|n| votes.is_template(*n)).count()
        };
        assert_eq!(count(crate::etdm::NodeText::Structural), 5);
        assert_eq!(count(crate::etdm::NodeText::Equal), 4);
    }

    proptest! {
        #[test]
        fn early_stop_and_equal_subtrees_change_no_template(
            pages in test_pages::pages(3, 0..9), t in 1..4_usize,
        ) {
            let key = page(&pages[3]);
            let voters: Vec<Tree> = pages[..3].iter().map(|html| page(html)).collect();
            let voters: Vec<&Tree> = voters.iter().collect();
            let learn = EtdmOptions { min_votes: t, ..EtdmOptions::thesis2014() };
            let fast = vote(&key, &voters, &learn);
            let full = vote_with(&key, &voters, &learn, false);
            prop_assert_eq!(fast.min_votes, full.min_votes);
            for n in key.counted() {
                prop_assert_eq!(fast.is_template(n), full.is_template(n), "node {}", n);
                let parent = key.shape.parent[n] as usize;
                prop_assert!(n == key.counted().start || full.votes[n] <= full.votes[parent], "monotone");
            }
            // The mapping without the shortcut for equal subtrees: a self score of 0 switches it off.
            for (voter, expected) in voters.iter().zip([0, 1, 2]) {
                let equality = Equality::new(key.compared(), voter.compared(), &learn);
                let count = |least_self: &[f64]| {
                    let mut mapped = vec![false; key.len()];
                    map_trees(&equality, (key.body().unwrap(), voter.body().unwrap()), &learn, least_self, |_| true,
                        |m| mapped[m.left..m.left + m.size].fill(true));
                    mapped
                };
                prop_assert_eq!(count(&equality.least_self_scores()), count(&vec![0.0; key.len()]), "voter {}", expected);
            }
        }
    }
}
