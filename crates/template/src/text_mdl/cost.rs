//! The cost of a clustering (Kim and Shim 2011).
//!
//! | symbol | here |
//! |---|---|
//! | D_c | `members` |
//! | E_c with s_p | `counts` |
//! | T_c | `template()` |

use super::Merge;

/// Pages of one template.
#[derive(Clone, Debug, PartialEq)]
pub struct Cluster {
    /// Numbers of its pages.
    pub members: Vec<u32>,
    /// Essential paths of any member, ascending, each with the number of members that have it.
    counts: Vec<(u32, u32)>,
}

/// Number of ones that a path costs. A template path costs one, plus one difference for each member without it. Any
/// other path costs one for each member with it.
fn cost_of(n: u32, count: u32) -> u64 {
    u64::from((1 + n - count).min(count))
}

impl Cluster {
    pub(super) fn new(page: u32, paths: &[u32]) -> Cluster {
        Cluster { members: vec![page], counts: paths.iter().map(|path| (*path, 1)).collect() }
    }

    /// Adds a page with exactly the same paths.
    pub(super) fn again(&mut self, page: u32) {
        self.members.push(page);
        self.counts.iter_mut().for_each(|(_, count)| *count += 1);
    }

    /// Template paths: those of at least (|D_c| + 1) / 2 of its pages.
    pub fn template(&self) -> Vec<u32> {
        let n = self.members.len() as u32;
        self.counts.iter().filter(|(_, count)| 2 * count > n).map(|(path, _)| *path).collect()
    }

    /// Count cost. Under the paper's assumption of sparse matrices it is proportional to their entropy.
    pub fn cost(&self) -> u64 {
        let n = self.members.len() as u32;
        self.counts.iter().map(|(_, count)| cost_of(n, *count)).sum()
    }

    /// Number of essential paths, summed over its pages.
    pub(super) fn n_ones(&self) -> u64 {
        self.counts.iter().map(|(_, count)| u64::from(*count)).sum()
    }

    /// Number of distinct essential paths.
    pub(super) fn n_paths(&self) -> usize {
        self.counts.len()
    }

    pub(super) fn paths(&self) -> impl Iterator<Item = (u32, u32)> {
        self.counts.iter().copied()
    }

    /// The saving of a merge with another cluster, in time linear in their paths. A path that only one of them has
    /// saves nothing, so clusters without a shared path never merge.
    pub(super) fn saving(&self, other: &Cluster) -> f64 {
        let (n, m) = (self.members.len() as u32, other.members.len() as u32);
        let mut saved = 0_i64;
        merged(&self.counts, &other.counts, |_, a, b| {
            let before = if a > 0 { cost_of(n, a) } else { 0 } + if b > 0 { cost_of(m, b) } else { 0 };
            saved += before as i64 - cost_of(n + m, a + b) as i64;
        });
        saved as f64
    }
}

impl Merge for Cluster {
    fn absorb(&mut self, other: Cluster) {
        let mut counts = Vec::with_capacity(self.counts.len() + other.counts.len());
        merged(&self.counts, &other.counts, |path, a, b| counts.push((path, a + b)));
        counts.shrink_to_fit();
        self.counts = counts;
        self.members.extend(other.members);
    }
}

/// Passes each path of either side to `take`, with its count on each side.
fn merged(left: &[(u32, u32)], right: &[(u32, u32)], mut take: impl FnMut(u32, u32, u32)) {
    let (mut i, mut j) = (0, 0);
    while i < left.len() || j < right.len() {
        let a = left.get(i).map_or(u32::MAX, |(path, _)| *path);
        let b = right.get(j).map_or(u32::MAX, |(path, _)| *path);
        let path = a.min(b);
        let in_left = if a == path { left[i].1 } else { 0 };
        let in_right = if b == path { right[j].1 } else { 0 };
        take(path, in_left, in_right);
        (i, j) = (i + usize::from(a == path), j + usize::from(b == path));
    }
}

/// What clusters put into the matrices: ones of the templates, and differences of both signs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Parts {
    ones: i64,
    more: i64,
    less: i64,
}

impl Parts {
    /// Adds a path that `count` of `n` pages have.
    fn add(&mut self, n: u32, count: u32) {
        if 2 * count > n {
            self.ones += 1;
            self.less += i64::from(n - count);
        } else {
            self.more += i64::from(count);
        }
    }
}

impl std::ops::Add for Parts {
    type Output = Parts;

    fn add(self, other: Parts) -> Parts {
        Parts { ones: self.ones + other.ones, more: self.more + other.more, less: self.less + other.less }
    }
}

impl std::ops::Sub for Parts {
    type Output = Parts;

    fn sub(self, other: Parts) -> Parts {
        Parts { ones: self.ones - other.ones, more: self.more - other.more, less: self.less - other.less }
    }
}

impl Cluster {
    pub(super) fn parts(&self) -> Parts {
        let mut parts = Parts::default();
        self.counts.iter().for_each(|(_, count)| parts.add(self.members.len() as u32, *count));
        parts
    }

    /// The parts of this cluster and another one together. `None` if they share no path.
    pub(super) fn joined_parts(&self, other: &Cluster) -> Option<Parts> {
        let n = (self.members.len() + other.members.len()) as u32;
        let (mut parts, mut shares) = (Parts::default(), false);
        merged(&self.counts, &other.counts, |_, a, b| {
            parts.add(n, a + b);
            shares |= a > 0 && b > 0;
        });
        shares.then_some(parts)
    }
}

/// The cost in bits of a clustering of `n_pages` pages over `n_paths` paths, by the entropy of the matrices. This is
/// the paper's definition; under the assumption of sparse matrices it becomes the count cost.
pub fn entropy_cost(clusters: &[Cluster], n_pages: usize, n_paths: usize) -> f64 {
    entropy_of(clusters.iter().map(Cluster::parts).fold(Parts::default(), |sum, parts| sum + parts), n_pages, n_paths)
}

/// The same from what all clusters put into the matrices.
pub(super) fn entropy_of(parts: Parts, n_pages: usize, n_paths: usize) -> f64 {
    let cells = (n_pages * n_paths) as f64;
    let [ones, more, less] = [parts.ones, parts.more, parts.less].map(|n| n as f64);
    let entropy = |counts: &[f64]| {
        let part = |count: &f64| if *count > 0.0 { -count / cells * (count / cells).log2() } else { 0.0 };
        cells * counts.iter().map(part).sum::<f64>()
    };
    let n = n_pages as f64;
    entropy(&[ones, cells - ones]) + entropy(&[more, less, cells - more - less]) + n * n.log2()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn clusters(groups: &[&[usize]]) -> Vec<Cluster> {
        let pages: [&[u32]; 4] = [&[1, 2, 3, 4], &[1, 2, 3, 4, 5], &[1, 2, 3, 4, 5], &[1, 2]];
        let of = |group: &&[usize]| {
            let mut cluster = Cluster::new(group[0] as u32, pages[group[0]]);
            group[1..].iter().for_each(|page| cluster.absorb(Cluster::new(*page as u32, pages[*page])));
            cluster
        };
        groups.iter().map(of).collect()
    }

    #[test]
    fn the_worked_costs() {
        let cases: [(&[&[usize]], u64, f64); 4] = [
            (&[&[0], &[1], &[2], &[3]], 16, 40.0),
            (&[&[0], &[1, 2], &[3]], 11, 37.7076),
            (&[&[0, 1, 2], &[3]], 8, 38.6720),
            (&[&[0, 1, 2, 3]], 8, 46.7881),
        ];
        for (groups, count, bits) in cases {
            let clusters = clusters(groups);
            assert_eq!(clusters.iter().map(Cluster::cost).sum::<u64>(), count, "{groups:?}");
            let found = entropy_cost(&clusters, 4, 8);
            assert!((found - bits).abs() < 5e-5, "{groups:?}: {found}");
        }
        assert_eq!(clusters(&[&[0, 1, 2]])[0].template(), [1, 2, 3, 4, 5], "ties go in");
    }

    proptest! {
        #[test]
        fn the_template_is_the_one_of_least_cost_and_savings_add_up(
            sets in proptest::collection::vec(proptest::collection::btree_set(0..6_u32, 0..6), 2..6),
            cut in 1..5_usize,
        ) {
            let pages: Vec<Vec<u32>> = sets.iter().map(|set| set.iter().copied().collect()).collect();
            let of = |range: std::ops::Range<usize>| {
                let mut cluster = Cluster::new(range.start as u32, &pages[range.start]);
                range.skip(1).for_each(|page| cluster.absorb(Cluster::new(page as u32, &pages[page])));
                cluster
            };
            let whole = of(0..pages.len());
            let cost = |template: u32| {
                let in_it = |path: &u32| template >> path & 1 == 1;
                let differences = |set: &std::collections::BTreeSet<u32>| {
                    let own: u32 = set.iter().map(|path| 1 << path).sum();
                    u64::from((own ^ template).count_ones())
                };
                (0..6).filter(in_it).count() as u64 + sets.iter().map(differences).sum::<u64>()
            };
            let least = (0..64).map(cost).min().unwrap();
            prop_assert_eq!(whole.cost(), least);
            prop_assert_eq!(cost(whole.template().iter().map(|path| 1 << path).sum()), least);
            let cut = cut.min(pages.len() - 1);
            let (left, right) = (of(0..cut), of(cut..pages.len()));
            prop_assert_eq!(left.saving(&right) as i64, (left.cost() + right.cost()) as i64 - whole.cost() as i64);
        }
    }
}
