//! What is known of each node of a page, as numbers for [`super::forest`]: what the training pages have of it, where it
//! stands, and how much main content is expected in it.

use super::encoded_page::EncodedPage;
use super::node_matches::{NodeMatches, column};
use super::tag_families::families;

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
    "ln_letters",
    "share_letters",
    "share_expected",
    "ln_expected",
    "ln_expected_outside",
    "ln_size",
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
    "ln_siblings",
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
    "parent_ln_letters",
    "parent_nodes_mapped",
    "parent_ln_size",
    "grand_equal",
    "grand_text_equal",
    "grand_text_other",
    "grand_text_expected",
    "grand_nodes_mapped",
    "grand_ln_letters",
    "ancestor_n_equal",
    "ancestor_text_expected",
    // The page.
    "page_training_pages",
    "page_similarity",
    "page_least_similarity",
    "page_kind",
    "page_ln_nodes",
    "page_ln_letters",
    "page_text_other",
    "page_text_expected",
    "page_on_all",
    "page_text_on_two",
    "page_agreement",
];

/// The features of all nodes of a page, a column for each of [`FEATURES`]. A share of nothing is -1.
pub(super) struct NodeFeatures(pub(super) Vec<Column>);

/// A feature of all nodes.
#[derive(Clone)]
pub(super) enum Column {
    /// A value for each node.
    Nodes(Vec<f32>),
    /// The same value for all nodes.
    Page(f32),
}

impl Column {
    /// The value of a node.
    pub(super) fn value(&self, node: usize) -> f32 {
        match self {
            Column::Nodes(values) => values[node],
            Column::Page(value) => *value,
        }
    }
}

impl NodeFeatures {
    /// The features of a page that is not empty. `expected` is the expected main content of each node, in letters.
    pub(super) fn new(page: &EncodedPage, found: &NodeMatches, expected: &[f32]) -> NodeFeatures {
        let families = families(page);
        let text = Text::new(page, found, expected);
        let mut columns = Vec::with_capacity(FEATURES.len());
        found.write(&mut columns);
        text.write(page, &mut columns);
        write_place(page, found, &text, &families, &mut columns);
        [0.95, 0.5].into_iter().for_each(|share| write_root(page, &text, share, &mut columns));
        write_ancestors(page, &mut columns);
        write_page(page, found, &text, &mut columns);
        NodeFeatures(columns)
    }
}

/// Sums over the subtree of each node.
struct Text {
    letters: Vec<f32>,
    expected: Vec<f32>,
    equal: Vec<f32>,
    other: Vec<f32>,
    on_two: Vec<f32>,
    mean_equal: Vec<f32>,
    nodes_mapped: Vec<f32>,
    nodes_equal: Vec<f32>,
    /// Letters of the page before each node, and those that are expected to be content.
    before: Vec<f32>,
    expected_before: Vec<f32>,
}

impl Text {
    fn new(page: &EncodedPage, found: &NodeMatches, expected: &[f32]) -> Text {
        let n_pages = found.n_pages.max(1) as f32;
        let letters = |node: usize| page.chars[node] as f32;
        let sums = |of: &dyn Fn(usize) -> f32| subtree_sums(page, (0..page.len()).map(of).collect());
        let before = |of: &dyn Fn(usize) -> f32| {
            let until = |sum: &mut f32, node: usize| {
                let after = *sum + of(node);
                Some(std::mem::replace(sum, after))
            };
            (0..page.len()).scan(0.0, until).collect()
        };
        Text {
            letters: sums(&letters),
            expected: sums(&|node| expected[node]),
            equal: sums(&|node| letters(node) * found.equal[node]),
            other: sums(&|node| letters(node) * (found.mapped[node] - found.equal[node])),
            on_two: sums(&|node| if found.n_has_subtree(node) >= 2 { letters(node) } else { 0.0 }),
            mean_equal: sums(&|node| letters(node) * f32::from(found.n_has_subtree(node)) / n_pages),
            nodes_mapped: sums(&|node| found.mapped[node]),
            nodes_equal: sums(&|node| found.equal[node]),
            before: before(&letters),
            expected_before: before(&|node| expected[node]),
        }
    }

    /// Parts of the letters of each subtree.
    fn share(&self, sums: &[f32]) -> Vec<f32> {
        let share = |(sum, letters): (&f32, &f32)| if *letters > 0.0 { sum / letters } else { -1.0 };
        sums.iter().zip(&self.letters).map(share).collect()
    }

    fn all(&self) -> f32 {
        self.letters.first().copied().unwrap_or(0.0).max(1.0)
    }

    fn all_expected(&self) -> f32 {
        self.expected.first().copied().unwrap_or(0.0)
    }

    fn write(&self, page: &EncodedPage, columns: &mut Vec<Column>) {
        let (n, all_expected) = (page.len() as f32, self.all_expected());
        let size = column(&page.columns.size, |size| *size as f32);
        let of_nodes = |sums: &[f32]| sums.iter().zip(&size).map(|(sum, size)| sum / size).collect();
        columns.extend(
            [
                self.share(&self.equal),
                self.share(&self.other),
                self.share(&self.expected),
                self.share(&self.on_two),
                self.share(&self.mean_equal),
                column(&self.letters, |letters| libm::log1pf(*letters)),
                column(&self.letters, |letters| letters / self.all()),
                column(&self.expected, |expected| expected / all_expected.max(1.0)),
                column(&self.expected, |expected| libm::log1pf(expected.max(0.0))),
                column(&self.expected, |expected| libm::log1pf((all_expected - expected).max(0.0))),
                column(&size, |size| libm::log1pf(*size)),
                column(&size, |size| size / n),
                of_nodes(&self.nodes_mapped),
                of_nodes(&self.nodes_equal),
            ]
            .map(Column::Nodes),
        );
    }
}

fn subtree_sums(page: &EncodedPage, mut sums: Vec<f32>) -> Vec<f32> {
    for node in (1..sums.len()).rev() {
        sums[page.parent[node] as usize] += sums[node];
    }
    sums
}

fn write_place(page: &EncodedPage, found: &NodeMatches, text: &Text, families: &[f32], columns: &mut Vec<Column>) {
    let n = page.len();
    let nodes = |of: &dyn Fn(usize) -> f32| (0..n).map(of).collect::<Vec<f32>>();
    let parent = |node: usize| page.parent[node] as usize;
    let mut depth = vec![0.0_f32; n];
    (1..n).for_each(|node| depth[node] = depth[parent(node)] + 1.0);
    let n_children = |node: usize| page.columns.n_children[node] as f32;
    let all_expected = text.all_expected().max(1.0);
    // Sums over the children of each node.
    let (mut mapped, mut letters, mut equal) = (vec![0.0_f32; n], vec![0.0_f32; n], vec![0.0_f32; n]);
    for node in 1..n {
        mapped[parent(node)] += found.mapped[node];
        letters[parent(node)] += text.letters[node];
        equal[parent(node)] += text.equal[node];
    }
    let share = |sum: f32, of: f32| if of > 0.5 { sum / of } else { -1.0 };
    let is_root = |node: usize| node == 0;
    columns.extend(
        [
            depth,
            nodes(&|node| node as f32 / n as f32),
            nodes(&|node| text.before[node] / text.all()),
            nodes(&|node| 1.0 - (text.before[node] + text.letters[node]) / text.all()),
            nodes(&|node| text.expected_before[node] / all_expected),
            nodes(&|node| 1.0 - (text.expected_before[node] + text.expected[node]) / all_expected),
            nodes(&|node| libm::log1pf(n_children(parent(node)))),
            families.to_vec(),
            nodes(&|node| families[parent(node)]),
            nodes(&|node| {
                if is_root(node) {
                    -1.0
                } else {
                    share(mapped[parent(node)] - found.mapped[node], n_children(parent(node)) - 1.0)
                }
            }),
            nodes(&|node| {
                let above = parent(node);
                if is_root(node) {
                    -1.0
                } else {
                    share(equal[above] - text.equal[node], letters[above] - text.letters[node])
                }
            }),
        ]
        .map(Column::Nodes),
    );
}

/// The smallest element that holds this share of the expected content.
fn write_root(page: &EncodedPage, text: &Text, share: f32, columns: &mut Vec<Column>) {
    let least = share * text.all_expected();
    let mut root = 0;
    while let Some(below) = page
        .columns
        .children(root)
        .map(|child| child.node)
        .find(|node| text.expected[*node] >= least && page.columns.n_children[*node] > 0)
    {
        root = below;
    }
    let n = page.len();
    let mut place = vec![0.0; n];
    place[root..root + page.columns.size[root] as usize].fill(1.0);
    let mut above = root;
    while above > 0 {
        above = page.parent[above] as usize;
        place[above] = 2.0;
    }
    columns.extend([
        Column::Nodes(place),
        Column::Page(text.expected[root] / text.letters[root].max(1.0)),
        Column::Page(text.letters[root] / text.all()),
    ]);
}

fn write_ancestors(page: &EncodedPage, columns: &mut Vec<Column>) {
    const OF_PARENT: [&str; 9] = [
        "equal",
        "mapped",
        "n_equal",
        "text_equal",
        "text_other",
        "text_expected",
        "ln_letters",
        "nodes_mapped",
        "ln_size",
    ];
    const OF_GRANDPARENT: [&str; 6] =
        ["equal", "text_equal", "text_other", "text_expected", "nodes_mapped", "ln_letters"];
    const OF_ANCESTORS: [&str; 2] = ["n_equal", "text_expected"];
    let at = |name: &str| FEATURES.iter().position(|feature| *feature == name).unwrap_or_default();
    let parent = |node: usize| page.parent[node] as usize;
    let n = page.len();
    for name in OF_PARENT {
        let of = &columns[at(name)];
        columns.push(Column::Nodes((0..n).map(|node| of.value(parent(node))).collect()));
    }
    for name in OF_GRANDPARENT {
        let of = &columns[at(name)];
        columns.push(Column::Nodes((0..n).map(|node| of.value(parent(parent(node)))).collect()));
    }
    for name in OF_ANCESTORS {
        let (of, mut greatest) = (&columns[at(name)], vec![0.0_f32; n]);
        // The body is an ancestor of everything.
        for node in (1..n).filter(|node| parent(*node) > 0) {
            greatest[node] = greatest[parent(node)].max(of.value(parent(node)));
        }
        columns.push(Column::Nodes(greatest));
    }
}

fn write_page(page: &EncodedPage, found: &NodeMatches, text: &Text, columns: &mut Vec<Column>) {
    let n = page.len();
    let n_pages = found.n_pages.max(1) as f32;
    let on_all = found.n_equal.iter().filter(|n| usize::from(**n) >= found.n_pages).count();
    let values = [
        found.n_pages as f32,
        found.shares.iter().sum::<f32>() / n_pages,
        found.shares.last().copied().unwrap_or(0.0),
        found.n_kind as f32 / n_pages,
        libm::logf(n as f32),
        libm::log1pf(text.all()),
        text.other[0] / text.all(),
        text.expected[0] / text.all(),
        on_all as f32 / n as f32,
        text.on_two[0] / text.all(),
        found.agreement,
    ];
    columns.extend(values.map(Column::Page));
}
