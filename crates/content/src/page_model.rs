//! The main content of a page by the page alone.

use std::cell::OnceCell;

use super::amount::{Favor, kept_blocks};
use super::features::Facts;
use super::net::sigmoid;
use super::rest::{RestKinds, rest_kinds};
use super::slot_means::with_slot_means;
use super::taught::TaughtSlots;
use super::weights::Weights;
use crate::Labels;
use dehusk_html::{NodeId, Tree};

/// Maximum number of nodes of a page that is judged. The features of a block take a kilobyte, so a larger page would
/// need more memory than its tree. It is kept whole.
const MAX_NODES: usize = 100_000;

/// A block of a page: a run of text that a reader sees as one paragraph, item, cell or line.
#[derive(Clone, Debug)]
pub struct TextBlock<'p> {
    /// Its text, white space collapsed.
    pub text: &'p str,
    /// Its text nodes, in order.
    pub nodes: Vec<NodeId>,
    /// The nearest element around it that is not inline.
    pub container: NodeId,
}

/// A page with the judgement of the page model on each block.
pub struct JudgedPage<'t> {
    tree: &'t Tree,
    /// `None` for a page that is too large.
    pub(super) facts: Option<Facts<'t>>,
    /// The logit of main content, by block.
    pub(super) logits: Vec<f32>,
}

/// A page that is judged when its judgement is first asked for, and only once.
pub struct LazyJudged<'t> {
    /// The page.
    pub tree: &'t Tree,
    judged: OnceCell<JudgedPage<'t>>,
}

impl<'t> LazyJudged<'t> {
    /// A page that is not judged yet.
    pub fn new(tree: &'t Tree) -> LazyJudged<'t> {
        LazyJudged { tree, judged: OnceCell::new() }
    }

    /// Whether the judgement was asked for.
    pub fn was_asked(&self) -> bool {
        self.judged.get().is_some()
    }

    /// The judged page.
    pub fn page(&self) -> &JudgedPage<'t> {
        self.judged.get_or_init(|| JudgedPage::new(self.tree))
    }
}

impl<'t> JudgedPage<'t> {
    /// Judges all blocks of a page.
    pub fn new(tree: &'t Tree) -> JudgedPage<'t> {
        let Some(weights) = Weights::of_page().filter(|_| tree.counted().len() <= MAX_NODES) else {
            return JudgedPage { tree, facts: None, logits: Vec::new() };
        };
        let facts = Facts::new(tree);
        let mut page = weights.net.page(facts.len());
        facts.for_each_row(&weights.classes, |row| page.add(row));
        let logits = page.logits();
        JudgedPage { tree, facts: Some(facts), logits }
    }

    /// The logits of main content, by block.
    pub fn logits(&self) -> &[f32] {
        &self.logits
    }

    /// Labels everything but the main content. The confidence is the mean probability of what is kept, by words.
    pub fn labels(&self, favor: Favor) -> Labels {
        self.labels_by(&self.slot_logits(), favor)
    }

    /// The same by what was taught of the site.
    pub fn taught_labels(&self, favor: Favor, taught: &TaughtSlots) -> Labels {
        let mut logits = self.slot_logits();
        taught.apply(self, &mut logits);
        self.labels_by(&logits, favor)
    }

    /// The logits, each moved toward the mean of its slot.
    fn slot_logits(&self) -> Vec<f32> {
        self.facts.as_ref().map_or_else(Vec::new, |facts| with_slot_means(facts, &self.logits))
    }

    /// The blocks, in document order.
    pub fn blocks(&self) -> Vec<TextBlock<'_>> {
        let Some(facts) = &self.facts else { return Vec::new() };
        let block = |block| TextBlock {
            text: facts.blocks.text_of(block),
            nodes: facts.blocks.nodes_of(block).collect(),
            container: NodeId::new(block.container),
        };
        facts.blocks.list.iter().map(block).collect()
    }

    /// The probability, of 255, that each counted node is main content. 0 for elements.
    pub fn content_probabilities(&self) -> Vec<u8> {
        let counted = self.tree.counted();
        let mut probabilities = vec![0; counted.len()];
        let Some(facts) = &self.facts else { return probabilities };
        for (block, logit) in facts.blocks.list.iter().zip(&self.logits) {
            for node in facts.blocks.nodes_of(block) {
                probabilities[node.index() - counted.start] = (255.0 * sigmoid(*logit)).round() as u8;
            }
        }
        probabilities
    }

    /// The text nodes of the blocks of these kinds, as if none were main content.
    pub fn rest(&self, kinds: RestKinds) -> Vec<NodeId> {
        let Some(facts) = self.facts.as_ref().filter(|_| !kinds.is_empty()) else { return Vec::new() };
        let of_kinds = facts.blocks.list.iter().zip(rest_kinds(facts));
        let chosen = of_kinds.filter(|(_, kind)| kind.is_some_and(|kind| kinds.contains(kind)));
        chosen.flat_map(|(block, _)| facts.blocks.nodes_of(block)).collect()
    }

    pub(super) fn labels_by(&self, logits: &[f32], favor: Favor) -> Labels {
        let Some(facts) = &self.facts else { return Labels::none(self.tree) };
        let words: Vec<f32> = facts.measures.list.iter().map(|m| m.n_words().max(1.0)).collect();
        let kept = kept_blocks(logits, &words, favor);
        let (mut sum, mut total) = (0.0_f64, 0.0_f64);
        for ((logit, n), _) in logits.iter().zip(&words).zip(&kept).filter(|(_, is_kept)| **is_kept) {
            sum += f64::from(sigmoid(*logit) * n);
            total += f64::from(*n);
        }
        let confidence = if total > 0.0 { sum / total } else { 0.0 };
        Labels::new(self.node_labels(facts, &kept)).with_confidence(confidence)
    }

    /// The labels of all nodes: the texts of kept blocks are the page's own, and the elements around them. An element
    /// without text, such as a picture, goes with most of the text around it.
    fn node_labels(&self, facts: &Facts<'_>, kept: &[bool]) -> Vec<bool> {
        let tree = self.tree;
        let counted = tree.counted();
        let mut is_template = vec![false; tree.len()];
        is_template[counted.clone()].fill(true);
        // Length of the text below each node, and of what is kept of it.
        let mut lengths = vec![(0.0_f32, 0.0_f32); tree.len()];
        for (at, block) in facts.blocks.list.iter().enumerate() {
            for node in facts.blocks.nodes_of(block) {
                is_template[node.index()] = !kept[at];
                let len = tree.text(node).len() as f32;
                lengths[node.index()] = (len, if kept[at] { len } else { 0.0 });
            }
        }
        for node in counted.clone().skip(1).rev() {
            let parent = tree.shape.parent[node] as usize;
            lengths[parent].0 += lengths[node].0;
            lengths[parent].1 += lengths[node].1;
        }
        let mut around = vec![false; tree.len()];
        for node in counted.clone() {
            let (all, own) = lengths[node];
            let above = if node == counted.start { false } else { around[tree.shape.parent[node] as usize] };
            around[node] = if all > 0.0 { 2.0 * own > all } else { above };
            if !tree.is_text(NodeId::new(node)) {
                is_template[node] = if all > 0.0 { own == 0.0 } else { !above };
            }
        }
        is_template
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dehusk_html::{ParseOptions, parse};
    use dehusk_render::write_own_html;

    #[test]
    fn an_article_is_kept_with_its_picture_and_without_its_menu() {
        let prose = "Rye is a grass, grown as a grain, and it is closely related to wheat and barley. ".repeat(3);
        let html = format!(
            "<title>Rye</title><nav><ul><li><a href=/>Home</a><li><a href=/b>About us</a></ul><img src=logo></nav>
            <main><article><h1>Rye</h1><p>{prose}<p><img src=rye>{prose}</article></main>
            <footer><a href=/p>Privacy</a> <a href=/t>Terms</a> © 2026</footer>"
        );
        let tree = parse(&html, &ParseOptions::default());
        let labels = JudgedPage::new(&tree).labels(Favor::Balanced);
        let text = labels.text(&tree);
        assert!(text.contains("closely related") && !text.contains("Privacy") && !text.contains("About us"), "{text}");
        let html = write_own_html(&tree, None, labels.is_own());
        assert!(html.contains("rye\"") && !html.contains("logo"), "{html}");
        assert!(labels.confidence > 0.5, "{}", labels.confidence);
    }

    /// Stored outputs: the bits of the logits must be the same on every machine and with every number of threads.
    #[test]
    fn logits_have_the_same_bits_everywhere() {
        const STORED: u64 = 3083387352428381271;
        let pages = ["Rye", "北京的天气很好，我们去公园。", "خبز الشعير، وهو طعام قديم.", "Хлеб из ржи, 12.05.2026"];
        let html = |text: &str| {
            format!(
                "<title>{text}</title><nav class=topMenu><a href=/>Home</a> | <a href=#x>{text}</a></nav><main>
                <h1>{text}</h1><p>{}<ul><li>{text}: 1/2<li><b>{text}</b></ul></main><footer>© {text} 12:30</footer>",
                text.repeat(20)
            )
        };
        let logits = pages.map(|text| JudgedPage::new(&parse(&html(text), &ParseOptions::default())).logits().to_vec());
        let bits = logits.iter().flatten().fold(0, |sum, logit| dehusk_html::mix(sum, u64::from(logit.to_bits())));
        assert_eq!(bits, STORED, "retrained weights have other outputs: {logits:?}");
    }

    #[test]
    fn a_page_that_is_too_large_is_kept_whole() {
        let tree = parse(&"<li>x".repeat(MAX_NODES / 2 + 1), &ParseOptions::default());
        let judged = JudgedPage::new(&tree);
        let labels = judged.labels(Favor::Balanced);
        assert!(judged.logits().is_empty() && labels == Labels::none(&tree));
        assert_eq!(judged.content_probabilities().len(), tree.counted().len());
    }

    #[test]
    fn long_values_of_cloned_elements_count_for_each() {
        let long = "post body content nav x1 ".repeat(40);
        let attrs = format!("class='{long}' id='{long}' itemprop='{long}' style='{}display:none'", ";".repeat(400));
        let cloned = format!("<p><b {attrs}>Rye is a grass.{}", "<p class=a>It is grown as a grain.".repeat(5));
        let again = format!("</b><p class=a><b {attrs}>It is grown as a grain.").repeat(5);
        let written = format!("<p><b {attrs}>Rye is a grass.{again}");
        let [cloned, written] = [cloned, written].map(|html| parse(&html, &ParseOptions::default()));
        assert_eq!(cloned.len(), written.len());
        let [cloned, written] = [cloned, written].map(|tree| JudgedPage::new(&tree).logits().to_vec());
        assert!(cloned.len() == 6 && cloned == written, "{cloned:?} {written:?}");
    }

    #[test]
    fn empty_pages_have_nothing_to_judge() {
        for html in ["", "<frameset>", "<p> </p>", "<img>"] {
            let tree = parse(html, &ParseOptions::default());
            let judged = JudgedPage::new(&tree);
            assert!(judged.logits().is_empty() && judged.labels(Favor::Balanced).confidence == 0.0, "{html}");
        }
        // Whatever a limit leaves of a page.
        for max_nodes in 0..8 {
            let tree =
                parse("<title>x</title><p>a<b>c</b><p>d", &ParseOptions { max_nodes, ..ParseOptions::default() });
            let judged = JudgedPage::new(&tree);
            assert_eq!(judged.labels(Favor::Balanced).is_template.len(), tree.len(), "{max_nodes} nodes");
        }
    }
}
