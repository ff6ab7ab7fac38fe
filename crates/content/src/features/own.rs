//! The text of the block itself, and the elements around it.

use super::Facts;
use crate::head::{Head, HeadWords};
use crate::measures::Measure;
use crate::numbers::{ln, ln1p, share};
use crate::tags::{AROUND, HOLDERS, Is};

pub(super) const NAMES: [&str; 31] = [
    "ln_length",
    "ln_words",
    "link_share",
    "ln_links",
    "word_length",
    "marks",
    "ends_sentence",
    "ln_commas",
    "capitalized",
    "all_capitals",
    "digits",
    "separators",
    "copyright_sign",
    "date",
    "one_word",
    "emphasized",
    "begins_lower",
    "ln_texts",
    "question_or_exclamation",
    "ln_repeats",
    "word_frequency",
    "frequent_words",
    "title_precision",
    "title_recall",
    "description_recall",
    "local_links",
    "ends_with_colon",
    "time_element",
    "images",
    "absolute_links",
    "prose",
];

pub(super) const ARTICLE: [&str; 3] = ["ln_articles", "own_article_share", "ln_list_children"];

fn flag(is: bool) -> f32 {
    f32::from(u8::from(is))
}

/// Nodes between the container and the last text, beyond which its images are not counted as the block's.
const FAR: usize = 30;

pub(super) fn write(facts: &Facts<'_>, at: usize, out: &mut [f32]) {
    let m = &facts.measures.list[at];
    let words = &facts.measures.words[m.words.clone()];
    let n = m.n_words();
    let repeats = facts.measures.text_counts.get(&m.text).copied().unwrap_or(1);
    let (mut ln_counts, mut n_frequent) = (0.0, 0_u32);
    for word in words {
        ln_counts += facts.measures.ln_counts[*word as usize];
        n_frequent += u32::from(facts.measures.is_frequent[*word as usize]);
    }
    let (precision, recall) = facts.title_overlap[at];
    let described = facts.head.description.count_distinct(words);
    let block = &facts.blocks.list[at];
    let last = facts.blocks.nodes_of(block).last().map_or(block.container, |node| node.index());
    let images =
        if last - block.container < FAR { facts.sums.images_between(block.container, last + 1).min(3.0) } else { 0.0 };
    out.copy_from_slice(&[
        ln1p(m.len),
        ln1p(n),
        m.link_share(),
        ln1p(m.links),
        (m.len / n.max(1.0)).min(20.0) / 5.0,
        m.mark_rate(),
        flag(m.ends_sentence),
        ln1p(m.commas),
        m.capitalized,
        m.all_capitals,
        share(m.digits, m.chars),
        m.separators.min(3.0),
        flag(m.has_copyright),
        flag(m.has_date),
        flag(n <= 1.0),
        m.emphasis_len / m.len.max(1.0),
        flag(m.begins_lower),
        ln1p(m.texts).min(3.0),
        flag(m.asks_or_exclaims),
        ln(repeats as f32),
        ln_counts / n.max(1.0) / 5.0,
        n_frequent as f32 / n.max(1.0),
        precision,
        recall,
        share(described, facts.head.description.n),
        m.local_links / m.links.max(1.0),
        flag(m.ends_with_colon),
        flag(m.has_time_element),
        images,
        m.absolute_links / m.links.max(1.0),
        flag(m.is_prose),
    ]);
}

/// Share of a block's words that are in the title, and share of the title's words that are in the block.
pub(super) fn title_overlap(head: &Head, measure: &Measure, words: &[u32]) -> (f32, f32) {
    let in_title = head.title.count(words);
    if in_title == 0.0 {
        return (0.0, 0.0);
    }
    let recall = |title: &HeadWords| share(title.count_distinct(words), title.n);
    (in_title / measure.n_words().max(1.0), recall(&head.title).max(recall(&head.og_title)))
}

pub(super) fn write_holder(facts: &Facts<'_>, at: usize, out: &mut [f32]) {
    out[holder(facts, facts.blocks.list[at].container)] = 1.0;
}

pub(super) fn write_outer_holder(facts: &Facts<'_>, at: usize, out: &mut [f32]) {
    let container = facts.blocks.list[at].container;
    let mut outer = facts.parent(container);
    while !facts.blocks.is_holder[outer] && outer > facts.tree.counted().start {
        outer = facts.parent(outer);
    }
    if outer != container {
        out[holder(facts, outer)] = 1.0;
    }
}

fn holder(facts: &Facts<'_>, node: usize) -> usize {
    usize::from(facts.tags.tag(dehusk_html::NodeId::new(node)).holder).min(HOLDERS.len() - 1)
}

pub(super) fn write_around(facts: &Facts<'_>, at: usize, out: &mut [f32]) {
    let around = facts.elements.list[facts.blocks.first_node(&facts.blocks.list[at])].around;
    for (bit, value) in out.iter_mut().enumerate().take(AROUND.len()) {
        *value = flag(around >> bit & 1 == 1);
    }
}

pub(super) fn write_article(facts: &Facts<'_>, at: usize, ln_articles: f32, out: &mut [f32]) {
    out[0] = ln_articles;
    let start = facts.tree.counted().start;
    let (mut node, mut has_article, mut has_item) = (facts.blocks.list[at].container, false, false);
    loop {
        match facts.tags.tag(dehusk_html::NodeId::new(node)).is {
            Is::Article if !has_article => {
                has_article = true;
                out[1] = share(facts.sums.subtree(facts.tree, node).len, facts.sums.all.len);
            }
            Is::Li if !has_item => {
                has_item = true;
                out[2] = ln1p(facts.tree.shape.n_children[facts.parent(node)] as f32);
            }
            _ => {}
        }
        if node == start {
            return;
        }
        node = facts.parent(node);
    }
}
