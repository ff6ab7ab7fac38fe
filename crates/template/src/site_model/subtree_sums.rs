//! Sums over the subtree of each node of a page, and over what is before it.

use super::node_features::Evidence;

/// The numbers that are summed: letters, expected letters, letters that are equal, other, on two training pages, and
/// equal in the mean; nodes that are mapped, and equal.
type Sums = [f32; 8];

pub(super) struct SubtreeSums {
    sums: Vec<Sums>,
    /// Letters of the page before each node.
    pub(super) letters_before: Vec<f32>,
    /// Those that are expected to be content.
    pub(super) expected_before: Vec<f32>,
}

impl SubtreeSums {
    pub(super) fn new(evidence: &Evidence<'_>) -> SubtreeSums {
        let (page, found, expected) = (evidence.page, evidence.found, evidence.expected);
        let n_pages = found.n_pages.max(1) as f32;
        let letters = |node: usize| page.chars[node] as f32;
        let of_node = |node: usize| {
            let (letters, n_has, equal) = (letters(node), found.n_has_subtree(node), found.equal[node]);
            [
                letters,
                expected[node],
                letters * equal,
                letters * (found.mapped[node] - equal),
                if n_has >= 2 { letters } else { 0.0 },
                letters * f32::from(n_has) / n_pages,
                found.mapped[node],
                equal,
            ]
        };
        let mut sums: Vec<Sums> = (0..page.len()).map(of_node).collect();
        for node in (1..sums.len()).rev() {
            let of_child = sums[node];
            let of_parent = &mut sums[page.parent[node] as usize];
            of_parent.iter_mut().zip(of_child).for_each(|(sum, more)| *sum += more);
        }
        let before = |of: &dyn Fn(usize) -> f32| {
            let until = |sum: &mut f32, node: usize| {
                let after = *sum + of(node);
                Some(std::mem::replace(sum, after))
            };
            (0..page.len()).scan(0.0, until).collect()
        };
        SubtreeSums { sums, letters_before: before(&letters), expected_before: before(&|node| expected[node]) }
    }

    pub(super) fn letters(&self, node: usize) -> f32 {
        self.sums[node][0]
    }

    pub(super) fn expected(&self, node: usize) -> f32 {
        self.sums[node][1]
    }

    pub(super) fn equal(&self, node: usize) -> f32 {
        self.sums[node][2]
    }

    pub(super) fn other(&self, node: usize) -> f32 {
        self.sums[node][3]
    }

    pub(super) fn on_two(&self, node: usize) -> f32 {
        self.sums[node][4]
    }

    pub(super) fn mean_equal(&self, node: usize) -> f32 {
        self.sums[node][5]
    }

    pub(super) fn nodes_mapped(&self, node: usize) -> f32 {
        self.sums[node][6]
    }

    pub(super) fn nodes_equal(&self, node: usize) -> f32 {
        self.sums[node][7]
    }

    /// Letters of the page, one at least.
    pub(super) fn all_letters(&self) -> f32 {
        self.sums.first().map_or(0.0, |sums| sums[0]).max(1.0)
    }

    /// Letters of the page that are expected to be content.
    pub(super) fn all_expected(&self) -> f32 {
        self.sums.first().map_or(0.0, |sums| sums[1])
    }
}
