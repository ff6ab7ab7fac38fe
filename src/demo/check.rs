//! Compares what was learned of a demo site with what is known by construction.

use super::{DemoPage, DemoSite, MARK};
use dehusk_core::clean::CleanOptions;
use dehusk_core::clean::{LabeledPage, TemplateMatcher, label_page};
use dehusk_html::ParseOptions;
use dehusk_html::{NodeId, Tree, parse};
use dehusk_papers::scores::{Score, bag_score, node_score, tokens};
use dehusk_template::template::Template;

/// Scores of one site.
#[derive(Clone, Copy, Debug)]
pub struct Check {
    /// Node score of the key page.
    pub key: Score,
    /// Mean node score of the pages that contain enough of the template.
    pub nodes: Score,
    /// Number of pages with another layout, which contain too little of the template.
    pub n_other: usize,
    /// Share of a page's own words that cleaning kept: mean over all pages.
    pub words_kept: f64,
    /// Share of the words left by cleaning that are the page's own: mean over all pages.
    pub words_clean: f64,
}

/// Applies a learned template to every page of its site and scores the labels.
pub fn check_site(site: &DemoSite, template: &Template) -> Check {
    let applier = TemplateMatcher::from_template(template);
    let limits = ParseOptions::default();
    let mut scores = Vec::new();
    let (mut key, mut n_other) = (Score::default(), 0);
    let mut words = Vec::new();
    for (path, page) in &site.pages {
        let tree = parse(&page.html(), &limits);
        let LabeledPage { labels: applied, by_template, .. } =
            label_page(&tree, None, Some(&applier), &CleanOptions::default());
        let found: Vec<u8> = tree.counted().map(|n| if applied.is_template[n] { b'T' } else { b'N' }).collect();
        let (gold, own_text) = gold(page, &limits);
        let score = node_score(&gold, &found).unwrap_or_default();
        if *path == site.key {
            key = score;
        }
        if by_template {
            scores.push(score)
        } else {
            n_other += 1
        }
        words.push(bag_score(&tokens(&applied.text(&tree)), &tokens(&own_text)));
    }
    let words = Score::mean(&words);
    Check { key, nodes: Score::mean(&scores), n_other, words_kept: words.recall, words_clean: words.precision }
}

/// The labels known by construction, and the page's own text.
fn gold(page: &DemoPage, limits: &ParseOptions) -> (Vec<u8>, String) {
    debug_assert!(page.marked.contains(MARK));
    let tree = parse(&page.marked, limits);
    let mut own = vec![false; tree.len()];
    for n in tree.counted() {
        let parent = tree.shape.parent[n] as usize;
        own[n] = own[parent] || is_marked(&tree, NodeId::new(n));
    }
    let labels = tree.counted().map(|n| if own[n] { b'N' } else { b'T' }).collect();
    let text = dehusk_html::write_text(&tree, |n| own[n.index()]);
    (labels, text)
}

/// The texts of a page's marked elements, as HTML.
pub(super) fn own_texts(page: &DemoPage) -> Vec<String> {
    let tree = parse(&page.marked, &ParseOptions::default());
    let mut texts = Vec::new();
    let mut next = 0;
    for node in tree.nodes().filter(|node| is_marked(&tree, *node)) {
        if node.index() < next {
            continue;
        }
        let own = tree.shape.subtree(node);
        next = own.end;
        let text = dehusk_html::write_text(&tree, |node| own.contains(&node.index()));
        texts.push(text.trim().replace('&', "&amp;").replace('<', "&lt;"));
    }
    texts
}

fn is_marked(tree: &Tree, node: NodeId) -> bool {
    tree.attr(node, "data-own").is_some()
}
