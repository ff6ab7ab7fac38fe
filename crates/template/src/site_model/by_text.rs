//! The template paths of the cluster of a page among the training pages (Kim and Shim 2011), for a crawl.
//!
//! The paper clusters the pages of many sites at once. A crawl knows one site at a time, so the clusters are its kinds
//! of pages. Paths begin at the body. Which paths are essential, and which cluster a page is in, is decided anew for
//! each page, as its own paths count.

use rustc_hash::FxHashSet;

use super::TrainingSet;
use super::encoded_page::EncodedPage;
use super::interner::UNKNOWN;
use crate::text_mdl::{Essential, Paths, TextOptions, cluster};
use dehusk_content::Labels;
use dehusk_html::{Tree, mix};

impl TrainingSet {
    /// Labels by the template of the cluster that the page is in: a node is template if its path is. Nothing is
    /// template where no training page is in that cluster. The confidence is the share of the template that the page
    /// has. A training page with the content of this page does not count.
    pub fn label_by_text(&self, tree: &Tree, how: &TextOptions) -> Labels {
        let mut page = EncodedPage::new(tree, &self.vocabulary);
        page.number(&self.interner);
        let own = self.paths_of_page(&page);
        let others = self.evidence_pages().filter(|other| other.digest != page.digest());
        let pages: Vec<Paths> = std::iter::once(own.clone())
            .chain(others.map(|other| self.paths_of(other)))
            .map(Paths::of_hashes)
            .collect();
        let (essential, hashes) = Essential::find_all(&pages, how);
        let clusters = cluster(&essential, how).clusters;
        let of_page = clusters.iter().find(|cluster| cluster.members.first() == Some(&0));
        let Some(cluster) = of_page.filter(|cluster| cluster.members.len() > 1) else { return Labels::none(tree) };
        let template: FxHashSet<u64> = cluster.template().iter().map(|path| hashes[*path as usize]).collect();
        let found = own.iter().filter(|path| template.contains(path)).collect::<FxHashSet<_>>().len();
        let confidence = if template.is_empty() { 0.0 } else { found as f64 / template.len() as f64 };
        let is_template = own.iter().map(|path| template.contains(path)).collect();
        let support = vec![cluster.members.len() as u16 - 1; page.len()];
        Labels { is_template, support, confidence, nearest: None }.shifted(tree)
    }

    /// The hash of the path of each node of a numbered page.
    fn paths_of_page(&self, page: &EncodedPage) -> Vec<u64> {
        let tag = |node: usize| page.signature(node).tag;
        let text = |node: usize| match page.columns.subtree[node] {
            // No training page has it.
            UNKNOWN => mix(u64::from(UNKNOWN), node as u64),
            known => u64::from(known),
        };
        paths(page.parent.iter().map(|parent| *parent as usize), tag, text)
    }

    /// The same of a training page.
    fn paths_of(&self, page: &super::training_page::TrainingPage) -> Vec<u64> {
        let columns = page.columns.to_columns();
        let signatures = self.interner.signatures();
        let tag = |node: usize| signatures[columns.signature[node] as usize].tag;
        let parents = parents(&columns.n_children);
        paths(parents.into_iter(), tag, |node| u64::from(columns.subtree[node]))
    }
}

/// The parent of each node of a tree in preorder; 0 for the root.
fn parents(n_children: &[u32]) -> Vec<usize> {
    let mut open: Vec<(usize, u32)> = Vec::new();
    let mut parents = Vec::with_capacity(n_children.len());
    for (node, children) in n_children.iter().enumerate() {
        while open.last().is_some_and(|(_, left)| *left == 0) {
            open.pop();
        }
        parents.push(open.last_mut().map_or(0, |(parent, left)| {
            *left -= 1;
            *parent
        }));
        open.push((node, *children));
    }
    parents
}

/// A path is that of the parent with the tag, or with the text of a text node, whose tag is 0.
fn paths(parents: impl Iterator<Item = usize>, tag: impl Fn(usize) -> u32, text: impl Fn(usize) -> u64) -> Vec<u64> {
    /// Tells texts from tags of the same number.
    const TEXT: u64 = 1 << 40;
    let mut paths: Vec<u64> = Vec::new();
    for (node, parent) in parents.enumerate() {
        let above = if node == 0 { 0 } else { paths[parent] };
        let own = match tag(node) {
            0 => TEXT | text(node),
            tag => u64::from(tag),
        };
        paths.push(mix(above, own));
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site_model::SiteModelOptions;
    use dehusk_html::{NodeId, ParseOptions, parse};

    fn page(words: &str) -> Tree {
        let html = format!(
            "<header><b>Grain</b></header><nav><a href=/>Home</a><a href=/a>About</a></nav><main><h1>{words}</h1>\
             <p>All of {words}.<p>More of {words}.</main><footer><p>Some rights reserved</p></footer>"
        );
        parse(&html, &ParseOptions::default())
    }

    fn own(tree: &Tree, labels: &Labels) -> String {
        let texts = tree.counted().map(NodeId::new).filter(|node| tree.is_text(*node) && !labels.is_template(*node));
        texts.map(|node| tree.text(node)).collect::<Vec<_>>().join("|")
    }

    #[test]
    fn pages_of_a_kind_have_their_template_and_others_have_none() {
        let trees: Vec<Tree> = ["rye", "oats", "corn", "rice", "malt"].map(page).into();
        let numbered: Vec<(u64, &Tree)> = (0..).zip(&trees).collect();
        let (set, _) = TrainingSet::learn(&numbered, &SiteModelOptions::default()).unwrap();
        let how = TextOptions::default();
        for tree in [&trees[0], &page("teff")] {
            let labels = set.label_by_text(tree, &how);
            let found = own(tree, &labels);
            assert!(found.contains("All of ") && !found.contains("Home") && !found.contains("rights"), "{found}");
            assert!(labels.confidence > 0.9, "{}", labels.confidence);
        }
        let other = parse("<table><tr><td>Another<td>page</table>", &ParseOptions::default());
        let labels = set.label_by_text(&other, &how);
        assert_eq!((own(&other, &labels).as_str(), labels.confidence), ("Another|page", 0.0));
    }

    #[test]
    fn parents_of_a_preorder() {
        assert_eq!(parents(&[2, 1, 0, 2, 0, 0]), [0, 0, 1, 0, 3, 3]);
        assert!(parents(&[]).is_empty());
    }
}
