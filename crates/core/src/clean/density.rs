//! The main text of a page, by the page alone: length, links, prose and position of its blocks.
//!
//! The last step of the chain, for a page whose site has shown no other page, and a filter on top of the template for
//! users who want main text only. In the line of the text-density extractors (Kohlschütter 2010, Sun 2011). The labels
//! of a page are decided jointly on its tree.

use crate::dom::{NodeId, Tree, normalized_chars};
use crate::labeling::max_sum_labels;
use crate::labels::Labels;

/// Which of the two sets of weights is used.
#[derive(Clone, Copy)]
enum Weights {
    /// For a page of which nothing else is known.
    Alone,
    /// For what is left of a page without its template.
    Rest,
}

/// The features of a text node: name, weight for a page alone, weight beside a template. Their sum is the score of the
/// text as no main text.
///
/// Both columns were found with a covariance-matrix evolution strategy that maximized the main-content F1 of four mixed
/// collections at once. docs/measurements.md has the figures on sites left out.
const FEATURES: [(&str, f64, f64); 21] = [
    ("constant", 1.14, -0.4),
    ("log length of the block", -0.78, -0.2),
    ("link share of the block", 0.24, 0.17),
    ("in a link", 0.7, 0.32),
    ("link share of the outer block", -0.13, 0.53),
    ("punctuation of the block", 0.04, 0.41),
    ("prose share of the outer block", 0.83, 1.28),
    ("block is prose", -0.87, -1.54),
    ("in the core", -0.82, -0.82),
    ("in a side element", 1.2, 1.18),
    ("in a main element", -1.51, -1.27),
    ("in an element with a side name", 0.34, 0.28),
    ("in an element with a main name", -0.49, -0.3),
    ("block is a paragraph", -0.68, -0.28),
    ("block is a heading", -0.86, -0.53),
    ("block is a list item or cell", -0.37, 0.45),
    ("distance to the middle of the page", 1.12, 0.96),
    ("log mean length in the outer block", 0.03, 0.46),
    ("texts since the last prose", -0.02, -0.27),
    ("texts to the next prose", -0.16, -0.39),
    ("share of all prose two blocks up", -1.02, -0.86),
];

impl Weights {
    fn score(self, features: &[f64; FEATURES.len()]) -> f64 {
        let weight = |(_, alone, rest): &(&str, f64, f64)| match self {
            Weights::Alone => *alone,
            Weights::Rest => *rest,
        };
        features.iter().zip(&FEATURES).map(|(value, feature)| value * weight(feature)).sum()
    }

    /// Costs of an edge from other text to main text, and back.
    fn edge_costs(self) -> (f64, f64) {
        match self {
            Weights::Alone => (0.48, 0.5),
            Weights::Rest => (0.59, 0.94),
        }
    }
}

/// Labels everything that is not main text. Text that is known to be template stays so, and does not count for its
/// neighbors. The confidence is the share of prose in the main text.
pub(super) fn density_labels(tree: &Tree, is_template: &[bool]) -> Labels {
    let counted = tree.counted();
    let parent: Vec<u32> =
        counted.clone().map(|node| (tree.shape.parent[node] as usize).saturating_sub(counted.start) as u32).collect();
    let weights = if is_template.contains(&true) { Weights::Rest } else { Weights::Alone };
    let texts = Body::new(tree, is_template).texts(weights);
    let scores = texts.iter().map(|text| text.map_or(0.0, |text| text.score)).collect();
    let (out, back) = weights.edge_costs();
    let mut labels = max_sum_labels(&parent, scores, out, back);
    let (mut kept, mut prose) = (0.0, 0.0);
    for ((label, text), node) in labels.iter_mut().zip(&texts).zip(counted.clone()) {
        *label |= is_template[node];
        if let Some(text) = text.filter(|_| !*label) {
            let chars = normalized_chars(tree.text(NodeId::new(node))) as f64;
            (kept, prose) = (kept + chars, prose + if text.is_prose { chars } else { 0.0 });
        }
    }
    let mut all = vec![false; tree.len()];
    all[counted].copy_from_slice(&labels);
    Labels::new(all).with_confidence(if kept > 0.0 { prose / kept } else { 0.0 })
}

/// Sums over a subtree.
#[derive(Clone, Copy, Default)]
struct Sums {
    chars: f64,
    link_chars: f64,
    /// Ends of sentences and commas.
    marks: f64,
    /// Characters of blocks that are prose.
    prose: f64,
    texts: f64,
}

impl Sums {
    fn of_text(text: &str, in_link: bool) -> Sums {
        const MARKS: [char; 11] = [',', '.', ';', '!', '?', '，', '。', '、', '；', '！', '？'];
        let chars = normalized_chars(text) as f64;
        let marks = text.chars().filter(|c| MARKS.contains(c)).count() as f64;
        Sums { chars, link_chars: if in_link { chars } else { 0.0 }, marks, prose: 0.0, texts: 1.0 }
    }

    fn add(&mut self, other: Sums) {
        self.chars += other.chars;
        self.link_chars += other.link_chars;
        self.marks += other.marks;
        self.prose += other.prose;
        self.texts += other.texts;
    }

    /// Whether a block of this text is prose: long, with sentences, with few links.
    fn is_prose(&self) -> bool {
        self.prose == 0.0 && self.chars >= 60.0 && self.marks >= 2.0 && self.link_chars < 0.5 * self.chars
    }
}

/// A scored text node.
#[derive(Clone, Copy)]
struct Text {
    /// Score as no main text.
    score: f64,
    /// Whether its block is prose.
    is_prose: bool,
}

/// The body of a page, with what the features need. Nodes are numbered from the body on.
struct Body<'t> {
    tree: &'t Tree,
    is_template: &'t [bool],
    /// Number of the body in the tree.
    first: usize,
    n: usize,
    sums: Vec<Sums>,
    in_link: Vec<bool>,
    /// The nearest block around each node, or the node itself.
    block: Vec<usize>,
    roles: Vec<Role>,
}

impl<'t> Body<'t> {
    fn new(tree: &'t Tree, is_template: &'t [bool]) -> Body<'t> {
        let counted = tree.counted();
        let (first, n) = (counted.start, counted.len());
        let mut body = Body {
            tree,
            is_template,
            first,
            n,
            sums: vec![Sums::default(); n],
            in_link: vec![false; n],
            block: vec![0; n],
            roles: vec![Role::default(); n],
        };
        body.pass_down();
        body.sum_up();
        body
    }

    fn id(&self, node: usize) -> NodeId {
        NodeId::new(node + self.first)
    }

    fn parent(&self, node: usize) -> usize {
        (self.tree.shape.parent[node + self.first] as usize).saturating_sub(self.first)
    }

    fn is_own_text(&self, node: usize) -> bool {
        self.tree.is_text(self.id(node)) && !self.is_template[node + self.first]
    }

    /// What holds below an element: links, roles, the nearest block.
    fn pass_down(&mut self) {
        for node in 0..self.n {
            let (at, above) = (self.id(node), self.parent(node));
            let name = self.tree.name(at);
            self.in_link[node] = self.in_link[above] || name == "a";
            self.roles[node] = self.roles[above];
            self.block[node] = self.block[above];
            if self.tree.is_text(at) {
                continue;
            }
            if node == 0 || !is_inline(name) {
                self.block[node] = node;
            }
            self.roles[node].enter(self.tree, at, name);
        }
    }

    fn sum_up(&mut self) {
        for node in (0..self.n).rev() {
            if self.is_own_text(node) {
                self.sums[node] = Sums::of_text(self.tree.text(self.id(node)), self.in_link[node]);
            }
            if self.block[node] == node && self.sums[node].is_prose() {
                self.sums[node].prose = self.sums[node].chars;
            }
            if node > 0 {
                let (sums, above) = (self.sums[node], self.parent(node));
                self.sums[above].add(sums);
            }
        }
    }

    /// The nodes of the core: the deepest element with most of the prose. Empty when that is the body.
    fn core(&self) -> std::ops::Range<usize> {
        let all = self.sums.first().map_or(0.0, |sums| sums.prose);
        let has_most = |child: &usize| self.sums[*child].prose > 0.6 * all && all > 0.0;
        let mut core = 0;
        while let Some(child) = children(self.tree, core, self.first).find(has_most) {
            core = child;
        }
        let size = self.tree.shape.size.get(core + self.first).copied().unwrap_or(0) as usize;
        if core > 0 { core..core + size } else { 0..0 }
    }

    /// The text nodes of the body with their scores; `None` for elements and known template.
    fn texts(&self, weights: Weights) -> Vec<Option<Text>> {
        if self.n == 0 {
            return Vec::new();
        }
        let all = self.sums[0];
        let core = self.core();
        let is_prose = |node: usize| self.sums[self.block[node]].prose > 0.0;
        let since_prose = steps(self.tree, self.first, (0..self.n).collect(), &is_prose);
        let to_prose = steps(self.tree, self.first, (0..self.n).rev().collect(), &is_prose);
        let mut before = 0.0;
        let text = |node: usize| {
            if !self.is_own_text(node) {
                return None;
            }
            let chars = self.sums[node].chars;
            let position = (before + 0.5 * chars) / all.chars.max(1.0);
            before += chars;
            let near = (since_prose[node], to_prose[node]);
            let features = self.features(node, all, core.contains(&node), position, near);
            Some(Text { score: weights.score(&features), is_prose: self.sums[self.block[node]].prose > 0.0 })
        };
        (0..self.n).map(text).collect()
    }

    /// The features of a text node, in the order of [`FEATURES`].
    fn features(
        &self,
        node: usize,
        all: Sums,
        is_core: bool,
        position: f64,
        (since_prose, to_prose): (f64, f64),
    ) -> [f64; FEATURES.len()] {
        let own_block = self.block[node];
        let outer_block = self.block[self.parent(own_block)];
        let (own, outer) = (self.sums[own_block], self.sums[outer_block]);
        let role = &self.roles[node];
        let tag = self.tree.name(self.id(own_block));
        let flag = |is: bool| f64::from(u8::from(is));
        [
            1.0,
            (1.0 + own.chars).ln() / 5.0,
            own.link_chars / own.chars.max(1.0),
            flag(self.in_link[node]),
            outer.link_chars / outer.chars.max(1.0),
            (own.marks / own.chars.max(1.0) * 40.0).min(2.0),
            outer.prose / outer.chars.max(1.0),
            flag(own.prose > 0.0),
            flag(is_core),
            flag(role.is_side),
            flag(role.is_main),
            flag(role.is_named_side),
            flag(role.is_named_main),
            flag(matches!(tag, "p" | "pre" | "blockquote")),
            flag(matches!(tag, "h1" | "h2" | "h3" | "h4")),
            flag(matches!(tag, "li" | "dd" | "dt" | "td" | "th")),
            (position - 0.5).abs() * 2.0,
            (1.0 + outer.chars / outer.texts.max(1.0)).ln() / 5.0,
            since_prose,
            to_prose,
            self.sums[self.block[self.parent(outer_block)]].prose / all.prose.max(1.0),
        ]
    }
}

/// Text nodes from each node back to the last prose, in this order of the nodes, from 0 to 1.
fn steps(tree: &Tree, first: usize, order: Vec<usize>, is_prose: &impl Fn(usize) -> bool) -> Vec<f64> {
    const FAR: f64 = 10.0;
    let (mut steps, mut since) = (vec![0.0; order.len()], FAR);
    for node in order {
        if tree.is_text(NodeId::new(node + first)) {
            steps[node] = since / FAR;
            since = if is_prose(node) { 0.0 } else { (since + 1.0_f64).min(FAR) };
        }
    }
    steps
}

/// The roles of the elements around a node.
#[derive(Clone, Copy, Default)]
struct Role {
    is_side: bool,
    is_main: bool,
    is_named_side: bool,
    is_named_main: bool,
}

impl Role {
    fn enter(&mut self, tree: &Tree, node: NodeId, name: &str) {
        self.is_side |= matches!(
            name,
            "nav" | "footer" | "aside" | "header" | "form" | "button" | "select" | "menu" | "dialog" | "figcaption"
        );
        self.is_main |= matches!(name, "main" | "article");
        for (attr, value) in tree.attrs(node) {
            if matches!(attr, "class" | "id" | "role") {
                let value = value.to_ascii_lowercase();
                self.is_named_side |= SIDE.iter().any(|word| value.contains(word));
                self.is_named_main |= MAIN.iter().any(|word| value.contains(word));
            }
        }
    }
}

/// Parts of class names and ids, English as most authors write them.
const SIDE: [&str; 22] = [
    "nav",
    "menu",
    "foot",
    "header",
    "side",
    "banner",
    "breadcrumb",
    "related",
    "recommend",
    "share",
    "social",
    "comment",
    "promo",
    "advert",
    "sponsor",
    "subscri",
    "newsletter",
    "cookie",
    "widget",
    "copyright",
    "pager",
    "tags",
];
const MAIN: [&str; 8] = ["article", "content", "main", "story", "post", "entry", "body", "text"];

fn is_inline(name: &str) -> bool {
    matches!(
        name,
        "a" | "abbr"
            | "b"
            | "big"
            | "cite"
            | "code"
            | "em"
            | "font"
            | "i"
            | "kbd"
            | "mark"
            | "q"
            | "s"
            | "small"
            | "span"
            | "strong"
            | "sub"
            | "sup"
            | "time"
            | "tt"
            | "u"
            | "var"
            | "ins"
            | "del"
            | "wbr"
            | "br"
    )
}

fn children(tree: &Tree, node: usize, first: usize) -> impl Iterator<Item = usize> + '_ {
    tree.shape.children(NodeId::new(node + first)).map(move |child| child - first)
}
