//! An untrusted page as HTML that is safe to show, with kinds of nodes marked.
//!
//! Nothing of the page's markup is copied: the output is written from the tree, with the elements that cleaned HTML may
//! have too, escaped text, and no attributes but addresses of links, and of pictures where they are asked for.

use dehusk_html::PageUrl;
use dehusk_html::{NodeId, Tree};
use dehusk_render::{is_void, text_element};

/// What is written beside the text of a page.
pub struct Marking<'a> {
    /// The kind of each node, by node number: an index in `names`.
    pub kinds: &'a [u8],
    /// The value of `data-dehusk` for each kind, at most eight.
    pub names: &'a [&'a str],
    /// What is said about a text, as its `title`; nothing where it is empty.
    pub title: &'a dyn Fn(NodeId) -> String,
    /// Address that relative ones are relative to.
    pub base: Option<&'a PageUrl>,
    /// Links have their addresses.
    pub links: bool,
    /// Pictures have their addresses.
    pub pictures: bool,
    /// Nodes after which the rest is left out.
    pub max_nodes: usize,
}

/// The body of a page, with each subtree of one kind marked. Text nodes are in spans.
pub fn safe_html(page: &Tree, marking: &Marking<'_>) -> String {
    let counted = page.counted();
    let holds = kinds_below(page, marking.kinds);
    let mut out = String::new();
    let mut open: Vec<(usize, &str)> = Vec::new();
    for node in counted.skip(1).take(marking.max_nodes) {
        close_until(node, &mut open, &mut out);
        let at = NodeId::new(node);
        if page.name(at) == "#comment" {
            continue;
        }
        if !page.space(at).is_empty() {
            out.push(' ');
        }
        let mark = mark(holds[node], marking.names);
        if page.is_text(at) {
            out.extend(["<span", &mark]);
            let title = (marking.title)(at);
            if !title.is_empty() {
                out.extend([" title=\"", &escaped(&title), "\""]);
            }
            out.extend([">", &escaped(page.text(at)), "</span>"]);
            continue;
        }
        if page.name(at) == "img" {
            out.push_str(&picture(page, at, &mark, marking));
        }
        // An element that shows no text is left out; what it contains stays.
        let name = text_element(page.name(at)).unwrap_or_default();
        open.push((page.shape.subtree(at).end, name));
        if name.is_empty() {
            continue;
        }
        out.extend(["<", name, &mark]);
        if let Some(url) = address(page, at, "href", marking.base).filter(|_| name == "a" && marking.links) {
            out.extend([" href=\"", &escaped(&url), "\" rel=\"noopener noreferrer\""]);
        }
        out.push('>');
    }
    close_until(usize::MAX, &mut open, &mut out);
    out
}

/// For each subtree a set of the kinds of its nodes, one bit each.
fn kinds_below(page: &Tree, kinds: &[u8]) -> Vec<u8> {
    let counted = page.counted();
    let mut holds = vec![0_u8; page.len()];
    for node in counted.clone().rev() {
        holds[node] |= 1 << kinds[node];
        if node > counted.start {
            let here = holds[node];
            holds[page.shape.parent[node] as usize] |= here;
        }
    }
    holds
}

/// The attribute of a subtree of one kind; nothing where there are several.
fn mark(holds: u8, names: &[&str]) -> String {
    match names.get(holds.trailing_zeros() as usize) {
        Some(name) if holds.is_power_of_two() => format!(" data-dehusk=\"{name}\""),
        _ => String::new(),
    }
}

/// A picture, or what stands for it.
fn picture(page: &Tree, at: NodeId, mark: &str, marking: &Marking<'_>) -> String {
    let alt = escaped(page.attr(at, "alt").unwrap_or_default());
    match address(page, at, "src", marking.base).filter(|_| marking.pictures) {
        Some(url) => format!("<img{mark} src=\"{}\" alt=\"{alt}\" referrerpolicy=\"no-referrer\">", escaped(&url)),
        None if alt.is_empty() => String::new(),
        None => format!("<span class=\"picture\"{mark}>{alt}</span>"),
    }
}

/// The address in an attribute, if it is one of the web.
fn address(page: &Tree, at: NodeId, attribute: &str, base: Option<&PageUrl>) -> Option<String> {
    base?.join(page.attr(at, attribute)?).map(|url| url.as_str().to_owned())
}

fn close_until(node: usize, open: &mut Vec<(usize, &str)>, out: &mut String) {
    while let Some((_, name)) = open.pop_if(|(end, _)| *end <= node) {
        if !name.is_empty() && !is_void(name) {
            out.extend(["</", name, ">"]);
        }
    }
}

/// Text as it is written in HTML, between tags or in a quoted attribute.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}
