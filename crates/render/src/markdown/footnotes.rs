//! Footnotes: links to a note on the same page that links back.

use rustc_hash::FxHashMap;

use dehusk_html::{NodeId, Tree, ancestors};

/// Nodes above which an element is no note: each of its references looks through it.
const MOST_NODES: usize = 1000;

/// The footnotes of a page.
#[derive(Default)]
pub(super) struct Footnotes {
    /// Number of the note that a link refers to.
    references: FxHashMap<NodeId, u32>,
    /// Number of the note that an element holds.
    notes: FxHashMap<NodeId, u32>,
    /// Links from a note to its reference.
    back_links: Vec<NodeId>,
}

impl Footnotes {
    pub(super) fn new(tree: &Tree, is_kept: impl Fn(NodeId) -> bool) -> Footnotes {
        let mut found = Footnotes::default();
        let is_reference = |link: &NodeId| is_kept(*link) && fragment(tree, *link).is_some() && is_mark(tree, *link);
        let references: Vec<NodeId> = tree.all("a").filter(is_reference).collect();
        if references.is_empty() {
            return found;
        }
        let places = places(tree);
        let mut links: FxHashMap<NodeId, FxHashMap<&str, Vec<NodeId>>> = FxHashMap::default();
        for link in references {
            let Some(note) = fragment(tree, link).and_then(|id| places.get(id)).map(|at| block_around(tree, *at))
            else {
                continue;
            };
            let inside = tree.shape.subtree(note);
            // A note comes after its reference; what comes before is the way back.
            if !is_kept(note) || inside.start <= link.index() || inside.len() > MOST_NODES {
                continue;
            }
            // A note may have many references, and is read once.
            let links = links.entry(note).or_insert_with(|| links_of(tree, note));
            let Some(back) = back_links(tree, links, link) else { continue };
            let next = found.notes.len() as u32 + 1;
            let number = *found.notes.entry(note).or_insert(next);
            found.references.insert(link, number);
            found.back_links.extend(back);
        }
        found.back_links.sort_unstable();
        found.back_links.dedup();
        found
    }

    pub(super) fn reference(&self, link: NodeId) -> Option<u32> {
        self.references.get(&link).copied()
    }

    pub(super) fn note(&self, element: NodeId) -> Option<u32> {
        self.notes.get(&element).copied()
    }

    pub(super) fn is_back_link(&self, link: NodeId) -> bool {
        self.back_links.binary_search(&link).is_ok()
    }
}

fn fragment(tree: &Tree, link: NodeId) -> Option<&str> {
    tree.attr(link, "href")?.strip_prefix('#').filter(|id| !id.is_empty())
}

/// Whether the text of a link is the mark of a note: a number, a letter or a sign, which may be in brackets.
fn is_mark(tree: &Tree, link: NodeId) -> bool {
    let text: String = tree.shape.subtree(link).map(|at| tree.text(NodeId::new(at)).trim()).collect();
    let mark = text.trim_matches(['[', ']', '(', ')']).trim();
    let n_chars = mark.chars().count();
    (1..=3).contains(&n_chars) && (mark.chars().all(|c| c.is_ascii_digit()) || n_chars == 1)
}

/// Elements by id, or by name for `a`.
fn places(tree: &Tree) -> FxHashMap<&str, NodeId> {
    let mut places = FxHashMap::default();
    for node in tree.counted().map(NodeId::new) {
        let name = if tree.name(node) == "a" { tree.attr(node, "name") } else { None };
        for id in [tree.attr(node, "id"), name].into_iter().flatten() {
            places.entry(id).or_insert(node);
        }
    }
    places
}

/// The element itself, or the block that it stands in.
fn block_around(tree: &Tree, node: NodeId) -> NodeId {
    let is_block = |node: &NodeId| matches!(tree.name(*node), "li" | "p" | "div" | "dd" | "aside" | "section" | "td");
    std::iter::once(node).chain(ancestors(tree, node)).find(is_block).unwrap_or(node)
}

/// Links of the note to its reference: to the link or to an element around it. `None` where it has none.
fn back_links(tree: &Tree, links: &mut FxHashMap<&str, Vec<NodeId>>, reference: NodeId) -> Option<Vec<NodeId>> {
    let ids = std::iter::once(reference)
        .chain(ancestors(tree, reference).take(3))
        .flat_map(|node| [tree.attr(node, "id"), tree.attr(node, "name")])
        .flatten();
    // Each is given once: they are collected for the whole page.
    let found: Vec<Vec<NodeId>> = ids.filter_map(|id| links.get_mut(id).map(std::mem::take)).collect();
    (!found.is_empty()).then(|| found.concat())
}

/// The links of a note to places on its page, by their address.
fn links_of(tree: &Tree, note: NodeId) -> FxHashMap<&str, Vec<NodeId>> {
    let mut found: FxHashMap<&str, Vec<NodeId>> = FxHashMap::default();
    for link in tree.shape.subtree(note).map(NodeId::new).filter(|node| tree.name(*node) == "a") {
        if let Some(id) = fragment(tree, link) {
            found.entry(id).or_default().push(link);
        }
    }
    found
}
