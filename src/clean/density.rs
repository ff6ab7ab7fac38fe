//! What is main text on a page, by the page alone: length, links, prose and place of its blocks.
//!
//! The last step of the chain where a site has shown no other page (ALGORITHMS 8, step 5), and a filter on top of the
//! template for who wants main text only. In the line of the text-density extractors (Kohlschütter 2010, Sun 2011);
//! the labels of a page are decided together on its tree, as those of the witnesses are.

use crate::dom::{NodeId, Tree, normalized_chars};
use crate::witness::decide_tree;

/// What is known of a text by its page.
const N: usize = 21;

/// Weights of the features, whose sum is the score of a text as no main text, and the costs of edges between labels.
struct Weights {
    text: [f64; N],
    out: f64,
    back: f64,
}

/// For a page of which nothing else is known. Both sets were found with a covariance-matrix evolution strategy that
/// maximised main-content F1 of four piles of pages at once; docs/measurements.md has the figures on sites left out.
const ALONE: Weights = Weights {
    text: [
        1.14, -0.78, 0.24, 0.7, -0.13, 0.04, 0.83, -0.87, -0.82, 1.2, -1.51, 0.34, -0.49, -0.68, -0.86, -0.37, 1.12,
        0.03, -0.02, -0.16, -1.02,
    ],
    out: 0.48,
    back: 0.5,
};

/// For what is left of a page without its template.
const REST: Weights = Weights {
    text: [
        -0.4, -0.2, 0.17, 0.32, 0.53, 0.41, 1.28, -1.54, -0.82, 1.18, -1.27, 0.28, -0.3, -0.28, -0.53, 0.45, 0.96,
        0.46, -0.27, -0.39, -0.86,
    ],
    out: 0.59,
    back: 0.94,
};

/// Which nodes are not main text, by node number, and the share of prose in what is. Texts that are known as template
/// are out, and count for nothing around them.
pub(super) fn by_density(tree: &Tree, is_template: &[bool]) -> (Vec<bool>, f64) {
    let counted = tree.counted();
    let parent: Vec<u32> =
        counted.clone().map(|node| (tree.shape.parent[node] as usize).saturating_sub(counted.start) as u32).collect();
    let weights = if is_template.contains(&true) { REST } else { ALONE };
    let texts = texts(tree, is_template, &weights.text);
    let scores = texts.iter().map(|text| text.map_or(0.0, |text| text.score)).collect();
    let mut labels = decide_tree(&parent, scores, weights.out, weights.back);
    let (mut kept, mut prose) = (0.0, 0.0);
    for ((label, text), node) in labels.iter_mut().zip(&texts).zip(counted.clone()) {
        *label |= is_template[node];
        if let Some(text) = text.filter(|_| !*label) {
            let chars = normalized_chars(tree.text(NodeId::new(node))) as f64;
            (kept, prose) = (kept + chars, prose + if text.reads { chars } else { 0.0 });
        }
    }
    let mut all = vec![false; tree.len()];
    all[counted].copy_from_slice(&labels);
    (all, if kept > 0.0 { prose / kept } else { 0.0 })
}

/// Sums of a subtree.
#[derive(Clone, Copy, Default)]
struct Sums {
    chars: f64,
    link_chars: f64,
    /// Ends of sentences and commas.
    marks: f64,
    /// Characters of texts that read as prose.
    prose: f64,
    texts: f64,
}

/// What is known of a text.
#[derive(Clone, Copy)]
struct Text {
    /// As no main text.
    score: f64,
    /// Does its block read as prose?
    reads: bool,
}

/// The texts of the body, `None` for elements and known template; by place in the body.
fn texts(tree: &Tree, is_template: &[bool], weights: &[f64; N]) -> Vec<Option<Text>> {
    let counted = tree.counted();
    let (first, n) = (counted.start, counted.len());
    if n == 0 {
        return Vec::new();
    }
    let parent = |node: usize| (tree.shape.parent[node + first] as usize).saturating_sub(first);
    let mut sums = vec![Sums::default(); n];
    // What stands above: a link, and the nearest block.
    let (mut in_link, mut block) = (vec![false; n], vec![0; n]);
    let mut roles = vec![Role::default(); n];
    for node in 0..n {
        let at = NodeId::new(node + first);
        let above = parent(node);
        let name = tree.name(at);
        (in_link[node], roles[node], block[node]) = (in_link[above] || name == "a", roles[above], block[above]);
        if tree.is_text(at) {
            continue;
        }
        if node == 0 || !is_inline(name) {
            block[node] = node;
        }
        roles[node].enter(tree, at, name);
    }
    for node in (0..n).rev() {
        let at = NodeId::new(node + first);
        if tree.is_text(at) && !is_template[node + first] {
            let text = tree.text(at);
            let chars = normalized_chars(text) as f64;
            let marks = text
                .chars()
                .filter(|c| matches!(c, ',' | '.' | ';' | '!' | '?' | '，' | '。' | '、' | '；' | '！' | '？'))
                .count() as f64;
            sums[node] =
                Sums { chars, link_chars: if in_link[node] { chars } else { 0.0 }, marks, prose: 0.0, texts: 1.0 };
        }
        // A block of prose: long, with sentences, hardly any links.
        let s = sums[node];
        if block[node] == node && s.prose == 0.0 && s.chars >= 60.0 && s.marks >= 2.0 && s.link_chars < 0.5 * s.chars {
            sums[node].prose = s.chars;
        }
        if node > 0 {
            let (s, above) = (sums[node], &mut sums[parent(node)]);
            above.chars += s.chars;
            above.link_chars += s.link_chars;
            above.marks += s.marks;
            above.prose += s.prose;
            above.texts += s.texts;
        }
    }
    let all = sums.first().copied().unwrap_or_default();
    // The deepest element with most of the prose, and the outermost ancestors of the others count as far.
    let mut core = 0;
    while let Some(child) =
        children(tree, core, first).find(|child| sums[*child].prose > 0.6 * all.prose && all.prose > 0.0)
    {
        core = child;
    }
    let core_end = core + tree.shape.size.get(core + first).copied().unwrap_or(0) as usize;
    let reads = |node: usize| sums[block[node]].prose > 0.0;
    let (last, next) =
        (steps(tree, first, (0..n).collect(), &reads), steps(tree, first, (0..n).rev().collect(), &reads));
    let mut before = 0.0;
    (0..n)
        .map(|node| {
            let at = NodeId::new(node + first);
            if !tree.is_text(at) || is_template[node + first] {
                return None;
            }
            let (chars, own_block) = (sums[node].chars, block[node]);
            let s = sums[own_block];
            let outer_block = block[parent(own_block)];
            let outer = sums[outer_block];
            let place = (before + 0.5 * chars) / all.chars.max(1.0);
            before += chars;
            let role = &roles[node];
            let tag = tree.name(NodeId::new(own_block + first));
            let flag = |is: bool| f64::from(u8::from(is));
            let features = [
                1.0,
                (1.0 + s.chars).ln() / 5.0,
                s.link_chars / s.chars.max(1.0),
                flag(in_link[node]),
                outer.link_chars / outer.chars.max(1.0),
                (s.marks / s.chars.max(1.0) * 40.0).min(2.0),
                outer.prose / outer.chars.max(1.0),
                flag(s.prose > 0.0),
                flag(core > 0 && (core..core_end).contains(&node)),
                flag(role.is_side),
                flag(role.is_main),
                flag(role.is_named_side),
                flag(role.is_named_main),
                flag(tag == "p" || tag == "pre" || tag == "blockquote"),
                flag(matches!(tag, "h1" | "h2" | "h3" | "h4")),
                flag(matches!(tag, "li" | "dd" | "dt" | "td" | "th")),
                (place - 0.5).abs() * 2.0,
                (1.0 + outer.chars / outer.texts.max(1.0)).ln() / 5.0,
                last[node],
                next[node],
                sums[block[parent(outer_block)]].prose / all.prose.max(1.0),
            ];
            let score = features.iter().zip(weights).map(|(f, w)| f * w).sum();
            Some(Text { score, reads: s.prose > 0.0 })
        })
        .collect()
}

/// Texts from each node to the last one that reads as prose, in this order of the nodes; from 0 to 1.
fn steps(tree: &Tree, first: usize, order: Vec<usize>, reads: &impl Fn(usize) -> bool) -> Vec<f64> {
    const FAR: f64 = 10.0;
    let (mut steps, mut since) = (vec![0.0; order.len()], FAR);
    for node in order {
        if tree.is_text(NodeId::new(node + first)) {
            steps[node] = since / FAR;
            since = if reads(node) { 0.0 } else { (since + 1.0_f64).min(FAR) };
        }
    }
    steps
}

/// What the elements around a node say that they are.
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

/// Parts of class names and ids, as English-minded authors give them.
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
