//! What is known of each node of a page, as numbers for [`super::forest`]: what the training pages have of it, where it
//! stands, and how much main content is expected in it.

use super::encoded_page::EncodedPage;
use super::node_matches::NodeMatches;
use super::subtree_sums::SubtreeSums;

/// The names of the features. A forest is read only if it was trained on these.
pub(super) const FEATURES: [&str; 68] = [
    // The node, by weight and by number of the training pages that have it.
    "equal",
    "mapped",
    "other",
    "n_equal",
    "n_mapped",
    "n_moved",
    "n_partial",
    "few_equal",
    "kind_equal",
    // The letters and nodes of its subtree.
    "text_equal",
    "text_other",
    "text_expected",
    "text_on_two",
    "text_mean_equal",
    "letters",
    "share_letters",
    "share_expected",
    "expected",
    "expected_outside",
    "size",
    "share_size",
    "nodes_mapped",
    "nodes_equal",
    // Its place.
    "depth",
    "position",
    "text_before",
    "text_after",
    "expected_before",
    "expected_after",
    "siblings",
    "tag",
    "parent_tag",
    "siblings_mapped",
    "siblings_text_equal",
    // The smallest elements with most of the expected content: 1 inside of it, 2 around it; what it holds.
    "root_95",
    "density_95",
    "share_95",
    "root_50",
    "density_50",
    "share_50",
    // Its parent and grandparent, and the greatest of all ancestors.
    "parent_equal",
    "parent_mapped",
    "parent_n_equal",
    "parent_text_equal",
    "parent_text_other",
    "parent_text_expected",
    "parent_letters",
    "parent_nodes_mapped",
    "parent_size",
    "grand_equal",
    "grand_text_equal",
    "grand_text_other",
    "grand_text_expected",
    "grand_nodes_mapped",
    "grand_letters",
    "ancestor_n_equal",
    "ancestor_text_expected",
    // The page.
    "page_training_pages",
    "page_similarity",
    "page_least_similarity",
    "page_kind",
    "page_nodes",
    "page_letters",
    "page_text_other",
    "page_text_expected",
    "page_on_all",
    "page_text_on_two",
    "page_agreement",
];

/// The features of nodes of a page, a column for each of [`FEATURES`]. A share of nothing is -1.
pub(super) struct NodeFeatures(pub(super) Vec<Column>);

/// A feature of the nodes.
#[derive(Clone)]
pub(super) enum Column {
    /// A value for each node.
    Nodes(Vec<f32>),
    /// The same value for all nodes.
    Page(f32),
}

impl Column {
    /// The value of the node at this place of the list.
    pub(super) fn value(&self, at: usize) -> f32 {
        match self {
            Column::Nodes(values) => values[at],
            Column::Page(value) => *value,
        }
    }
}

/// What the features are computed from.
pub(super) struct Evidence<'a> {
    pub(super) page: &'a EncodedPage,
    pub(super) found: &'a NodeMatches,
    /// The family of the tag of each node.
    pub(super) families: &'a [f32],
    /// The main content that is expected in each node, in letters.
    pub(super) expected: &'a [f32],
}

impl NodeFeatures {
    /// The features of some of the nodes of a page that is not empty.
    pub(super) fn new(evidence: &Evidence<'_>, nodes: &[usize]) -> NodeFeatures {
        let sums = SubtreeSums::new(evidence);
        let of = Of { evidence, sums: &sums, page: evidence.page, found: evidence.found };
        let mut columns = Columns { nodes, columns: Vec::with_capacity(FEATURES.len()) };
        of.write_matches(&mut columns);
        of.write_subtree(&mut columns);
        of.write_place(&mut columns);
        [0.95, 0.5].into_iter().for_each(|share| of.write_root(share, &mut columns));
        of.write_ancestors(&mut columns);
        of.write_page(&mut columns);
        NodeFeatures(columns.columns)
    }
}

/// The columns that are written.
struct Columns<'a> {
    nodes: &'a [usize],
    columns: Vec<Column>,
}

impl Columns<'_> {
    fn push(&mut self, of: impl Fn(usize) -> f32) {
        self.columns.push(Column::Nodes(self.nodes.iter().map(|node| of(*node)).collect()));
    }

    fn push_page(&mut self, value: f32) {
        self.columns.push(Column::Page(value));
    }
}

/// The features of a node, by its number.
#[derive(Clone, Copy)]
struct Of<'a> {
    evidence: &'a Evidence<'a>,
    sums: &'a SubtreeSums,
    page: &'a EncodedPage,
    found: &'a NodeMatches,
}

impl Of<'_> {
    fn parent(&self, node: usize) -> usize {
        self.page.parent[node] as usize
    }

    fn grandparent(&self, node: usize) -> usize {
        self.parent(self.parent(node))
    }

    fn n_equal(&self, node: usize) -> f32 {
        f32::from(self.found.n_equal[node]) / self.found.n_pages.max(1) as f32
    }

    fn size(&self, node: usize) -> f32 {
        self.page.columns.size[node] as f32
    }

    fn n_children(&self, node: usize) -> f32 {
        self.page.columns.n_children[node] as f32
    }

    /// Part of the letters of its subtree.
    fn share(&self, sum: f32, node: usize) -> f32 {
        let letters = self.sums.letters(node);
        if letters > 0.0 { sum / letters } else { -1.0 }
    }

    fn text_equal(&self, node: usize) -> f32 {
        self.share(self.sums.equal(node), node)
    }

    fn text_other(&self, node: usize) -> f32 {
        self.share(self.sums.other(node), node)
    }

    fn text_expected(&self, node: usize) -> f32 {
        self.share(self.sums.expected(node), node)
    }

    fn nodes_mapped(&self, node: usize) -> f32 {
        self.sums.nodes_mapped(node) / self.size(node)
    }

    fn write_matches(self, columns: &mut Columns<'_>) {
        let found = self.found;
        let of_pages = |n: u16| f32::from(n) / found.n_pages.max(1) as f32;
        columns.push(|node| found.equal[node]);
        columns.push(|node| found.mapped[node]);
        columns.push(|node| found.mapped[node] - found.equal[node]);
        columns.push(|node| self.n_equal(node));
        columns.push(|node| of_pages(found.n_mapped[node]));
        columns.push(|node| of_pages(found.n_moved[node]));
        columns.push(|node| of_pages(found.n_partial[node]));
        columns.push(|node| f32::from(found.n_equal[node].min(4)));
        columns.push(|node| f32::from(found.of_kind[node]) / found.n_kind.max(1) as f32);
    }

    fn write_subtree(self, columns: &mut Columns<'_>) {
        let (sums, n) = (self.sums, self.page.len() as f32);
        columns.push(|node| self.text_equal(node));
        columns.push(|node| self.text_other(node));
        columns.push(|node| self.text_expected(node));
        columns.push(|node| self.share(sums.on_two(node), node));
        columns.push(|node| self.share(sums.mean_equal(node), node));
        columns.push(|node| sums.letters(node));
        columns.push(|node| sums.letters(node) / sums.all_letters());
        columns.push(|node| sums.expected(node) / sums.all_expected().max(1.0));
        columns.push(|node| sums.expected(node).max(0.0));
        columns.push(|node| (sums.all_expected() - sums.expected(node)).max(0.0));
        columns.push(|node| self.size(node));
        columns.push(|node| self.size(node) / n);
        columns.push(|node| self.nodes_mapped(node));
        columns.push(|node| sums.nodes_equal(node) / self.size(node));
    }

    fn write_place(self, columns: &mut Columns<'_>) {
        let (sums, found, families, n) = (self.sums, self.found, self.evidence.families, self.page.len());
        let parent = |node: usize| self.parent(node);
        let (mut depth, mut children_mapped) = (vec![0.0_f32; n], vec![0.0_f32; n]);
        for node in 1..n {
            depth[node] = depth[parent(node)] + 1.0;
            children_mapped[parent(node)] += found.mapped[node];
        }
        let all_expected = sums.all_expected().max(1.0);
        let share = |sum: f32, of: f32| if of > 0.5 { sum / of } else { -1.0 };
        columns.push(|node| depth[node]);
        columns.push(|node| node as f32 / n as f32);
        columns.push(|node| sums.letters_before[node] / sums.all_letters());
        columns.push(|node| 1.0 - (sums.letters_before[node] + sums.letters(node)) / sums.all_letters());
        columns.push(|node| sums.expected_before[node] / all_expected);
        columns.push(|node| 1.0 - (sums.expected_before[node] + sums.expected(node)) / all_expected);
        columns.push(|node| self.n_children(parent(node)));
        columns.push(|node| families[node]);
        columns.push(|node| families[parent(node)]);
        columns.push(|node| match node {
            0 => -1.0,
            _ => share(children_mapped[parent(node)] - found.mapped[node], self.n_children(parent(node)) - 1.0),
        });
        columns.push(|node| {
            // An element has no letters but those of its children.
            let beside = |sum: &dyn Fn(usize) -> f32| sum(parent(node)) - sum(node);
            match node {
                0 => -1.0,
                _ => share(beside(&|node| sums.equal(node)), beside(&|node| sums.letters(node))),
            }
        });
    }

    /// The smallest element that holds this share of the expected content.
    fn write_root(self, share: f32, columns: &mut Columns<'_>) {
        let (page, sums) = (self.page, self.sums);
        let least = share * sums.all_expected();
        let mut root = 0;
        while let Some(below) = page
            .columns
            .children(root)
            .map(|child| child.node)
            .find(|node| sums.expected(*node) >= least && page.columns.n_children[*node] > 0)
        {
            root = below;
        }
        let end = |node: usize| node + page.columns.size[node] as usize;
        columns.push(|node| match node {
            _ if node >= root && node < end(root) => 1.0,
            _ if node < root && root < end(node) => 2.0,
            _ => 0.0,
        });
        columns.push_page(sums.expected(root) / sums.letters(root).max(1.0));
        columns.push_page(sums.letters(root) / sums.all_letters());
    }

    fn write_ancestors(self, columns: &mut Columns<'_>) {
        let (above, twice) = (|node: usize| self.parent(node), |node: usize| self.grandparent(node));
        columns.push(|node| self.found.equal[above(node)]);
        columns.push(|node| self.found.mapped[above(node)]);
        columns.push(|node| self.n_equal(above(node)));
        columns.push(|node| self.text_equal(above(node)));
        columns.push(|node| self.text_other(above(node)));
        columns.push(|node| self.text_expected(above(node)));
        columns.push(|node| self.sums.letters(above(node)));
        columns.push(|node| self.nodes_mapped(above(node)));
        columns.push(|node| self.size(above(node)));
        columns.push(|node| self.found.equal[twice(node)]);
        columns.push(|node| self.text_equal(twice(node)));
        columns.push(|node| self.text_other(twice(node)));
        columns.push(|node| self.text_expected(twice(node)));
        columns.push(|node| self.nodes_mapped(twice(node)));
        columns.push(|node| self.sums.letters(twice(node)));
        let n_equal = self.greatest_above(|node| self.n_equal(node));
        columns.push(|node| n_equal[node]);
        let text_expected = self.greatest_above(|node| self.text_expected(node));
        columns.push(|node| text_expected[node]);
    }

    /// The greatest value of the ancestors of each node. The body does not count: it is an ancestor of everything.
    fn greatest_above(&self, of: impl Fn(usize) -> f32) -> Vec<f32> {
        let mut greatest = vec![0.0_f32; self.page.len()];
        for node in 1..greatest.len() {
            let parent = self.parent(node);
            if parent > 0 {
                greatest[node] = greatest[parent].max(of(parent));
            }
        }
        greatest
    }

    fn write_page(self, columns: &mut Columns<'_>) {
        let (sums, found, n) = (self.sums, self.found, self.page.len() as f32);
        let n_pages = found.n_pages.max(1) as f32;
        let on_all = found.n_equal.iter().filter(|n| usize::from(**n) >= found.n_pages).count();
        let values = [
            found.n_pages as f32,
            found.shares.iter().sum::<f32>() / n_pages,
            found.shares.last().copied().unwrap_or(0.0),
            found.n_kind as f32 / n_pages,
            n,
            sums.all_letters(),
            sums.other(0) / sums.all_letters(),
            sums.expected(0) / sums.all_letters(),
            on_all as f32 / n,
            sums.on_two(0) / sums.all_letters(),
            found.agreement,
        ];
        values.into_iter().for_each(|value| columns.push_page(value));
    }
}
