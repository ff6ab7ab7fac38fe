//! Equality probability of two nodes (thesis, definition 3.2.2).

use super::options::EtdmOptions;
use super::options::{AttrMode, NodeText};
use crate::equality_weights::EqualityWeights;
use dehusk_html::{Compared, SetId, Sets, Shape};

/// A node with its position in the full child list of its parent.
#[derive(Clone, Copy, Debug)]
pub struct Side {
    /// Number in its shape.
    pub node: usize,
    /// Position among its siblings, from 1.
    pub position: u32,
    /// Number of siblings, including the node itself.
    pub of: u32,
}

impl Side {
    /// A node of a shape.
    pub fn new(shape: &Shape, node: usize) -> Side {
        let parent = shape.parent[node] as usize;
        Side { node, position: shape.position[node], of: shape.n_children[parent].max(1) }
    }
}

/// Scores pairs of nodes of two trees.
pub struct Equality<'a> {
    /// The key page or the template.
    pub left: Compared<'a>,
    /// The page that is mapped to.
    pub right: Compared<'a>,
    weights: EqualityWeights,
    text: NodeText,
    left_classes: SetColumn<'a>,
    right_classes: SetColumn<'a>,
    left_attrs: SetColumn<'a>,
    right_attrs: SetColumn<'a>,
}

/// The set of each node of a tree.
#[derive(Clone, Copy)]
struct SetColumn<'a> {
    of_node: &'a [SetId],
    sets: &'a Sets,
}

impl<'a> Equality<'a> {
    /// A scorer with the parameters of `options`.
    pub fn new(left: Compared<'a>, right: Compared<'a>, options: &EtdmOptions) -> Equality<'a> {
        let classes = |tree: Compared<'a>| {
            if options.ignore_generated {
                SetColumn { of_node: &tree.loose.classes, sets: &tree.loose.sets }
            } else {
                SetColumn { of_node: &tree.fields.classes, sets: &tree.fields.sets }
            }
        };
        let attrs = |tree: Compared<'a>| match options.attr_mode {
            AttrMode::NameValue => SetColumn { of_node: &tree.fields.attrs, sets: &tree.fields.sets },
            AttrMode::Name => SetColumn { of_node: &tree.loose.attrs, sets: &tree.loose.sets },
        };
        Equality {
            left,
            right,
            weights: options.weights,
            text: options.text,
            left_classes: classes(left),
            right_classes: classes(right),
            left_attrs: attrs(left),
            right_attrs: attrs(right),
        }
    }

    /// The score of two nodes, if it is above the threshold.
    pub fn score_above_threshold(&self, a: Side, b: Side) -> Option<f64> {
        let p = self.score(a, b);
        self.passes(p).then_some(p)
    }

    /// Whether a probability is above the threshold, or equal to it where `threshold_inclusive` is set.
    pub fn passes(&self, p: f64) -> bool {
        p > self.weights.threshold || (self.weights.threshold_inclusive && p >= self.weights.threshold)
    }

    /// The probability that `a` and `b` are the same node of the template.
    pub fn score(&self, a: Side, b: Side) -> f64 {
        match self.likeness(a.node, b.node) {
            Likeness::Fixed(p) => p,
            likeness => likeness.at(position_score(a.position, a.of, b.position, b.of)),
        }
    }

    /// The part of the score that does not depend on the positions.
    pub(super) fn likeness(&self, x: usize, y: usize) -> Likeness {
        let (left, right) = (self.left.fields, self.right.fields);
        if self.left.shape.tag[x] != self.right.shape.tag[y] {
            return Likeness::Fixed(0.0);
        }
        if self.text == NodeText::Equal && left.text[x] != right.text[y] {
            return Likeness::Fixed(0.0);
        }
        let w = &self.weights;
        if left.id[x] != 0 && left.id[x] == right.id[y] {
            // Equal ids outrank everything, including the shortcut below.
            return Likeness::Fixed(if w.exact_wins { 4.0 } else { 1.0 });
        }
        let class = overlap((self.left_classes, x), (self.right_classes, y), w.no_class);
        let attributes = overlap((self.left_attrs, x), (self.right_attrs, y), w.no_attributes);
        if w.exact_wins && class >= 1.0 && attributes >= 1.0 {
            return Likeness::Exact;
        }
        let children = ratio(self.left.shape.n_children[x], self.right.shape.n_children[y], w.no_children);
        weigh(w, class, attributes, children)
    }

    /// Key of the kind of a left node. Nodes with equal keys score equally except for their position.
    pub(super) fn left_kind(&self, node: usize) -> [u64; 6] {
        self.kind(&self.left, self.left_classes, self.left_attrs, node)
    }

    /// Key of the kind of a right node.
    pub(super) fn right_kind(&self, node: usize) -> [u64; 6] {
        self.kind(&self.right, self.right_classes, self.right_attrs, node)
    }

    fn kind(&self, tree: &Compared<'_>, classes: SetColumn<'_>, attrs: SetColumn<'_>, node: usize) -> [u64; 6] {
        let (shape, fields) = (tree.shape, tree.fields);
        let text = if self.text == NodeText::Equal { fields.text[node] } else { 0 };
        let sets = [classes, attrs].map(|column| u64::from(column.of_node[node].0));
        [shape.tag[node], text, fields.id[node], sets[0], sets[1], u64::from(shape.n_children[node])]
    }

    /// For each left node, the smallest score of a node of its subtree with itself.
    ///
    /// Where it is above the threshold, the mapping of the subtree to an equal subtree is the identity.
    pub fn least_self_scores(&self) -> Vec<f64> {
        let own =
            Equality { right: self.left, right_classes: self.left_classes, right_attrs: self.left_attrs, ..*self };
        let shape = self.left.shape;
        let mut least: Vec<f64> = (0..shape.len())
            .map(|node| {
                let side = Side::new(shape, node);
                own.score(side, side)
            })
            .collect();
        for node in (1..least.len()).rev() {
            let parent = shape.parent[node] as usize;
            least[parent] = least[parent].min(least[node]);
        }
        least
    }
}

/// A score before the positions are known. The last step of definition 3.2.2 adds the position score.
#[derive(Clone, Copy, Debug)]
pub(super) enum Likeness {
    /// The same for all positions.
    Fixed(f64),
    /// Class and attributes are equal, which outranks every sum.
    Exact,
    /// The weighted sum of class, attributes and children, and the weight of the position. The order of summation is
    /// fixed, because the last bit can decide the comparison with the threshold.
    Sum { before: f64, position: f64 },
}

impl Likeness {
    /// The probability for a position score (Pp).
    pub(super) fn at(self, score: f64) -> f64 {
        match self {
            Likeness::Fixed(p) => p,
            // A full position score ranks higher still.
            Likeness::Exact if score >= 1.0 => 3.0,
            Likeness::Exact => 2.0,
            Likeness::Sum { before, position } => before + position * score,
        }
    }
}

fn overlap((a, x): (SetColumn<'_>, usize), (b, y): (SetColumn<'_>, usize), both_empty: f64) -> f64 {
    let (shared, either) = a.sets.overlap(a.of_node[x], b.sets, b.of_node[y]);
    if either == 0 { both_empty } else { shared as f64 / either as f64 }
}

fn weigh(w: &EqualityWeights, class: f64, attributes: f64, children: f64) -> Likeness {
    let before = w.class * class + w.attributes * attributes + w.children * children;
    Likeness::Sum { before, position: w.position }
}

fn ratio(a: u32, b: u32, both_zero: f64) -> f64 {
    match a.max(b) {
        0 => both_zero,
        most => f64::from(a.min(b)) / f64::from(most),
    }
}

/// Pp: the agreement of two positions, counted from the end that fits better; in `[1/m, 1]`.
///
/// `i` of `c` on one side, `k` of `d` on the other, from 1; `m = min(c, d)`.
pub fn position_score(i: u32, c: u32, k: u32, d: u32) -> f64 {
    diagonal_score(c, d, i64::from(k) - i64::from(i))
}

/// Pp by the offset `k - i` of the positions. In two lists of `c` and `d` nodes it depends only on this offset.
pub(super) fn diagonal_score(c: u32, d: u32, delta: i64) -> f64 {
    let (c, d) = (i64::from(c), i64::from(d));
    // A node of the shorter list can be shifted by up to `|d - c|` positions in the longer list without loss.
    let longer = d - c;
    let off = if longer >= 0 { 0.max(-delta).max(delta - longer) } else { 0.max(delta).max(longer - delta) };
    1.0 - off as f64 / c.min(d) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use dehusk_html::ParseOptions;
    use dehusk_html::parse;

    fn row(i: u32, c: u32, d: u32) -> Vec<f64> {
        (1..=d).map(|k| (position_score(i, c, k, d) * 1000.0).round() / 1000.0).collect()
    }

    #[test]
    fn position_rows_of_the_figures() {
        assert_eq!(row(4, 4, 6), [0.25, 0.5, 0.75, 1.0, 1.0, 1.0], "figure 3.1");
        assert_eq!(row(4, 5, 7), [0.4, 0.6, 0.8, 1.0, 1.0, 1.0, 0.8], "figure 3.2");
        assert_eq!(row(2, 4, 4), [0.75, 1.0, 0.75, 0.5]);
    }

    /// The same score as the authors' HybEx computes it, with windows.
    fn window(i: i64, c: i64, k: i64, d: i64) -> f64 {
        let (less, diff) = (c.min(d), c - d);
        let start = if diff < 0 { 0 } else { -diff };
        let (from, to) = (start + i - 1, start + i - 1 + diff.abs() + 1);
        let (from, to, k) = (from.max(0), to.min(d), k - 1);
        let off = if k < from { from - k } else { (k - to + 1).max(0) };
        1.0 - off as f64 / less as f64
    }

    #[test]
    fn position_score_equals_the_window_form() {
        for (c, d) in (1..=11).flat_map(|c| (1..=11).map(move |d| (c, d))) {
            for (i, k) in (1..=c).flat_map(|i| (1..=d).map(move |k| (i, k))) {
                let want = window(i.into(), c.into(), k.into(), d.into());
                assert!((position_score(i, c, k, d) - want).abs() < 1e-9, "{i} of {c}, {k} of {d}");
            }
        }
    }

    #[test]
    fn last_step_of_example_3_2_5() {
        // The early weights with the rounded values that the thesis prints.
        let weights = EtdmOptions::thesis2014().weights;
        let sum = |w: &EqualityWeights, class: f64, attributes: f64, children: f64, position: f64| {
            weigh(w, class, attributes, children).at(position)
        };
        let early = EqualityWeights { class: 0.4, attributes: 0.1, children: 0.1, position: 0.4, ..weights };
        assert!((sum(&early, 1.0, 0.66, 0.66, 0.95) - 0.912).abs() < 1e-9);
        assert!((sum(&early, 1.0, 2.0 / 3.0, 2.0 / 3.0, 0.95) - 0.91333).abs() < 1e-5);
    }

    /// Scores of typical pairs at equal positions. The threshold is derived from them; the thesis gives no value.
    #[test]
    fn scores_of_typical_pairs() {
        let score_by = |attr_mode: AttrMode, a: &str, b: &str| {
            let learn = EtdmOptions { attr_mode, ..EtdmOptions::thesis2014() };
            let [a, b] = [a, b].map(|attrs| parse(&format!("<div{attrs}></div>"), &ParseOptions::default()));
            let node = a.counted().start + 1;
            Equality::new(a.compared(), b.compared(), &learn)
                .score(Side::new(&a.shape, node), Side::new(&b.shape, node))
        };
        let score = |a: &str, b: &str| score_by(AttrMode::NameValue, a, b);
        // The thesis compares names.
        assert!((score_by(AttrMode::Name, " class=x title=1", " class=x title=2") - 1.0).abs() < 1e-9);
        let cases = [
            ("", "", 0.845),
            (" class=x", " class=x", 0.85),
            (" class=x title=1", " class=x title=2", 0.80),
            (" title=1", " title=2", 0.795),
            (" class='x y'", " class='y z w'", 0.475),
            (" class='x y'", " class=x", 0.60),
            (" class=x", " class=y", 0.35),
            (" id=a class=x", " id=a class=y", 1.0),
            (" id=a", " id=b", 0.845),
        ];
        for (a, b, want) in cases {
            assert!((score(a, b) - want).abs() < 1e-9, "{a} {b}: {}", score(a, b));
        }
    }
}
