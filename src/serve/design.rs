//! The template of a crawled page in the design of its site: its elements with their classes, ids and styles, every
//! slot of the page's own empty.
//!
//! The markup is written anew, as in `safe_html`: elements of a fixed list, escaped text, no address and no handler.
//! The page's `style` elements are copied: nothing in them can end the element. What they and the `style` attributes
//! may load, and whether stylesheets are named at all, is up to the user, by the policy of the answer ([`policy`]).

use dehusk_content::Labels;
use dehusk_html::{NodeId, PageUrl, Tree};
use dehusk_render::{is_void, style_elements, text_element};

use crate::safe_html::escaped;

/// Elements of forms that are shown as they are. They do nothing in a frame without rights.
const CONTROLS: [&str; 3] = ["button", "input", "label"];

/// Attributes that say how an element looks.
const LOOKS: [&str; 7] = ["class", "id", "style", "type", "value", "placeholder", "dir"];

/// The document. Without `is_remote` it names no address.
pub(super) fn design(
    page: &Tree,
    template: &Labels,
    source: &str,
    base: Option<&PageUrl>,
    is_remote: bool,
    max_nodes: usize,
) -> String {
    let mut out = String::from("<!DOCTYPE html><html");
    page.nodes().filter(|node| page.name(*node) == "html").take(1).for_each(|node| write_looks(page, node, &mut out));
    out.push_str("><head><meta charset=\"utf-8\"><title>Template</title>");
    if is_remote {
        write_stylesheets(page, base, &mut out);
    }
    for (tag, text) in style_elements(source) {
        out.extend(["<style", &media_of(tag), ">", text, "</style>"]);
    }
    out.push_str("</head><body");
    write_looks(page, NodeId::new(page.counted().start), &mut out);
    out.push('>');
    write_body(page, template, (base, is_remote), max_nodes, &mut out);
    out.push_str("</body></html>");
    out
}

/// The policy of the answer: nothing is loaded, or stylesheets, pictures and fonts from anywhere.
pub(super) fn policy(is_remote: bool) -> String {
    let loads = if is_remote {
        "style-src 'unsafe-inline' http: https:; img-src http: https: data:; font-src http: https: data:"
    } else {
        "style-src 'unsafe-inline'; img-src data:"
    };
    format!("default-src 'none'; {loads}; form-action 'none'; base-uri 'none'; frame-ancestors 'self'; sandbox")
}

fn write_body(
    page: &Tree,
    template: &Labels,
    (base, is_remote): (Option<&PageUrl>, bool),
    max_nodes: usize,
    out: &mut String,
) {
    let holds = holds_template(page, template);
    let mut open: Vec<(usize, &str)> = Vec::new();
    for at in page.counted().skip(1).take(max_nodes).filter(|node| holds[*node]) {
        close_until(at, &mut open, out);
        let node = NodeId::new(at);
        out.push_str(if page.space(node).is_empty() { "" } else { " " });
        if page.is_text(node) {
            out.push_str(&escaped(page.text(node)));
            continue;
        }
        let own = page.name(node);
        let control = CONTROLS.into_iter().find(|name| *name == own);
        let picture = (own == "img").then_some("img");
        let Some(name) = control.or(picture).or_else(|| text_element(own)) else { continue };
        out.extend(["<", name]);
        write_looks(page, node, out);
        if name == "img" {
            write_picture(page, node, base.filter(|_| is_remote), out);
        }
        out.push('>');
        if !is_void(name) && name != "input" {
            open.push((page.shape.subtree(node).end, name));
        }
    }
    close_until(usize::MAX, &mut open, out);
}

/// The template, and the elements that hold some of it.
fn holds_template(page: &Tree, template: &Labels) -> Vec<bool> {
    let mut holds: Vec<bool> =
        page.nodes().map(|node| template.is_template(node) && page.name(node) != "#comment").collect();
    for node in page.counted().rev() {
        if holds[node] {
            holds[page.shape.parent[node] as usize] = true;
        }
    }
    holds
}

fn write_stylesheets(page: &Tree, base: Option<&PageUrl>, out: &mut String) {
    let is_stylesheet = |node: &NodeId| {
        let rel = page.attr(*node, "rel").unwrap_or_default().to_ascii_lowercase();
        let mut rel = rel.split_ascii_whitespace();
        page.name(*node) == "link"
            && rel.clone().any(|word| word == "stylesheet")
            && rel.all(|word| word != "alternate")
    };
    for node in page.nodes().filter(is_stylesheet) {
        let address = base.and_then(|base| base.join(page.attr(node, "href")?));
        let Some(address) = address else { continue };
        let media = page.attr(node, "media").map(|media| format!(" media=\"{}\"", escaped(media))).unwrap_or_default();
        let href = escaped(address.as_str());
        out.extend(["<link rel=\"stylesheet\" href=\"", &href, "\"", &media, " referrerpolicy=\"no-referrer\">"]);
    }
}

/// The `media` attribute of a start tag, written anew.
fn media_of(tag: &str) -> String {
    let Some(at) = tag.to_ascii_lowercase().find(" media=") else { return String::new() };
    let value = &tag[at + " media=".len()..tag.len() - 1];
    let value = match value.chars().next() {
        Some(quote @ ('"' | '\'')) => value[1..].split(quote).next(),
        _ => value.split_ascii_whitespace().next(),
    };
    format!(" media=\"{}\"", escaped(value.unwrap_or_default()))
}

fn write_picture(page: &Tree, node: NodeId, base: Option<&PageUrl>, out: &mut String) {
    out.extend([" alt=\"", &escaped(page.attr(node, "alt").unwrap_or_default()), "\" referrerpolicy=\"no-referrer\""]);
    if let Some(address) = base.and_then(|base| base.join(page.attr(node, "src")?)) {
        out.extend([" src=\"", &escaped(address.as_str()), "\""]);
    }
    for name in ["width", "height"] {
        write_attribute(page, node, name, out);
    }
}

fn write_looks(page: &Tree, node: NodeId, out: &mut String) {
    LOOKS.into_iter().for_each(|name| write_attribute(page, node, name, out));
}

fn write_attribute(page: &Tree, node: NodeId, name: &str, out: &mut String) {
    if let Some(value) = page.attr(node, name) {
        out.extend([" ", name, "=\"", &escaped(value), "\""]);
    }
}

fn close_until(node: usize, open: &mut Vec<(usize, &str)>, out: &mut String) {
    while let Some((_, name)) = open.pop_if(|(end, _)| *end <= node) {
        out.extend(["</", name, ">"]);
    }
}
