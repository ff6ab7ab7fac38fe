//! Posts as text and as Markdown.

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;

use super::{FoundPost, find};
use crate::metadata::MetadataInput;
use dehusk_html::{NodeId, TextWriter, Tree, normalized};
use dehusk_render::{MarkdownOptions, MarkdownWriter};

/// Characters of a text that can be a button or a fact of the author: "Reply", "Posts: 12".
const MOST_OF_BUTTON: usize = 40;

/// A post of a thread, an answer, or a comment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Post {
    /// Name of its author, as the page shows it.
    pub author: Option<String>,
    /// Its day, as in 2026-11-22.
    pub published: Option<String>,
    /// Its text, without author and day, and without the posts inside it.
    pub text: String,
    /// The same as Markdown.
    pub markdown: String,
}

/// The posts of a page that `keeps` leaves text of, in the order of the page.
pub fn posts(page: &MetadataInput<'_>, markdown: &MarkdownOptions, keeps: impl Fn(NodeId) -> bool) -> Vec<Post> {
    let tree = page.tree;
    let found = find(page);
    if found.is_empty() {
        return Vec::new();
    }
    let heads = heads(tree, &found);
    let buttons = buttons(tree, &found);
    let is_text = |node: NodeId| keeps(node) && !heads.contains(&node) && !buttons.contains(&node);
    let mut writer = MarkdownWriter::new(tree, page.url, markdown, is_text);
    let texts = TextWriter::new(tree);
    let mut posts = Vec::new();
    for (at, post) in found.iter().enumerate() {
        let inside = inside(tree, &found, at);
        let subtree = tree.shape.subtree(post.element);
        let is_own = |node: NodeId| is_text(node) && !is_in(&inside, node.index());
        let text = texts.write(subtree, is_own);
        if text.contains(char::is_alphanumeric) {
            posts.push(Post {
                author: post.author.as_ref().map(|(_, name)| name.clone()),
                published: post.day.as_ref().and_then(|(_, day)| day.clone()),
                text,
                markdown: writer.write_part(post.element, &inside),
            });
        }
    }
    // A page of one post is that post.
    if posts.len() > 1 { posts } else { Vec::new() }
}

/// What stands above the posts of a page in Markdown, and the nodes that say so on the page. Nothing for a page of
/// fewer than two posts.
pub(crate) fn lines_above_posts(
    page: &MetadataInput<'_>,
    keeps: &dyn Fn(NodeId) -> bool,
) -> (Vec<(NodeId, Vec<String>)>, FxHashSet<NodeId>) {
    let tree = page.tree;
    let mut found = find(page);
    found.retain(|post| keeps_words(tree, post.element, keeps));
    if found.len() < 2 {
        found.clear();
    }
    let heads = heads(tree, &found);
    let line = |post: FoundPost| {
        let facts = [post.author.map(|(_, name)| name), post.day.and_then(|(_, day)| day)];
        (post.element, facts.into_iter().flatten().collect())
    };
    (found.into_iter().map(line).collect(), heads)
}

/// Whether words of an element are kept.
pub(crate) fn keeps_words(tree: &Tree, element: NodeId, keeps: &dyn Fn(NodeId) -> bool) -> bool {
    let mut nodes = tree.shape.subtree(element).map(NodeId::new);
    nodes.any(|node| tree.is_text(node) && keeps(node) && tree.text(node).contains(char::is_alphanumeric))
}

/// The texts that name author and day.
fn heads(tree: &Tree, found: &[FoundPost]) -> FxHashSet<NodeId> {
    let authors = found.iter().filter_map(|post| post.author.as_ref()).map(|(node, _)| *node);
    let days = found.iter().filter_map(|post| post.day.as_ref()).map(|(node, _)| *node);
    authors.chain(days).flat_map(|node| tree.shape.subtree(node).map(NodeId::new)).collect()
}

/// The places of the posts inside a post, but for those inside another of them.
fn inside(tree: &Tree, found: &[FoundPost], at: usize) -> Vec<Range<usize>> {
    let end = tree.shape.subtree(found[at].element).end;
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for post in found[at + 1..].iter().take_while(|post| post.element.index() < end) {
        if ranges.last().is_none_or(|last| last.end <= post.element.index()) {
            ranges.push(tree.shape.subtree(post.element));
        }
    }
    ranges
}

/// Whether a node is in one of these ranges, which are in order and apart.
fn is_in(ranges: &[Range<usize>], node: usize) -> bool {
    let next = ranges.partition_point(|range| range.start <= node);
    next.checked_sub(1).is_some_and(|at| ranges[at].contains(&node))
}

/// The short texts that most posts of a group have, but for numbers: they are no text of a post.
fn buttons(tree: &Tree, found: &[FoundPost]) -> FxHashSet<NodeId> {
    let mut n_posts: FxHashMap<usize, usize> = FxHashMap::default();
    found.iter().for_each(|post| *n_posts.entry(post.group).or_default() += 1);
    let mut places: FxHashMap<(usize, String), Vec<(usize, NodeId)>> = FxHashMap::default();
    for (at, post) in found.iter().enumerate() {
        let inner = inside(tree, found, at);
        let own = tree.shape.subtree(post.element).filter(|node| !is_in(&inner, *node));
        for node in own.map(NodeId::new).filter(|node| tree.is_text(*node)) {
            let text = normalized(tree.text(node));
            if !text.is_empty() && text.chars().count() <= MOST_OF_BUTTON {
                places.entry((post.group, without_digits(&text))).or_default().push((at, node));
            }
        }
    }
    let is_button = |group: usize, places: &[(usize, NodeId)]| {
        let mut posts: Vec<usize> = places.iter().map(|(at, _)| *at).collect();
        posts.dedup();
        n_posts[&group] > 2 && posts.len() * 2 > n_posts[&group]
    };
    let repeated = places.iter().filter(|((group, _), places)| is_button(*group, places));
    repeated.flat_map(|(_, places)| places.iter().map(|(_, node)| *node)).collect()
}

fn without_digits(text: &str) -> String {
    let mut out: Vec<char> = text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    out.dedup_by(|a, b| *a == '0' && *b == '0');
    out.into_iter().collect()
}
