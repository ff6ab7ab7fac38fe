//! Serializes part of a tree as HTML.

use super::text::{is_fallback_element, keeps_space};
use super::{NodeId, Tree};

/// A page as HTML with only the nodes that `keeps` selects. Kept nodes below a dropped element move up to their nearest
/// kept ancestor. A dropped node between two kept ones leaves a blank. The head keeps its title and plain metadata;
/// scripts and styles are not written. Obsolete elements whose content cannot be escaped are written as `pre`.
pub fn write_html(tree: &Tree, keeps: impl Fn(NodeId) -> bool) -> String {
    let mut out = String::from("<!DOCTYPE html>\n");
    let counted = tree.counted();
    let mut open: Vec<(usize, NodeId)> = Vec::new();
    let (mut pre_until, mut was_dropped) = (0, false);
    for node in tree.nodes() {
        let index = node.index();
        close_until(tree, index, &mut open, &mut out);
        let in_body = counted.contains(&index);
        let is_kept = match in_body {
            true => index == counted.start || (keeps(node) && !is_unwritable(tree, node)),
            false => is_kept_in_head(tree, node),
        };
        if index < pre_until {
            out.push_str(tree.space(node));
        } else if !tree.space(node).is_empty() || (was_dropped && is_kept) {
            push_blank(&mut out);
        }
        if !is_kept {
            was_dropped |= in_body;
            continue;
        }
        was_dropped = false;
        if tree.is_text(node) {
            escape(tree.text(node), false, &mut out);
            continue;
        }
        write_start_tag(tree, node, &mut out);
        if index == 0 {
            out.push('\n');
        }
        if tree.name(node) == "head" {
            out.push_str("<meta charset=\"utf-8\">");
        }
        if keeps_space(tree.name(node)) {
            pre_until = pre_until.max(tree.shape.subtree(node).end);
            // Parsers drop one line break after the start tag.
            let next = (index + 1 < pre_until).then(|| NodeId::new(index + 1));
            if next.is_some_and(|n| tree.text(n).starts_with('\n') || tree.space(n).starts_with('\n')) {
                out.push('\n');
            }
        }
        if !is_void(tree.name(node)) {
            open.push((tree.shape.subtree(node).end, node));
        }
    }
    close_until(tree, usize::MAX, &mut open, &mut out);
    out.push('\n');
    out
}

fn push_blank(out: &mut String) {
    if !out.ends_with([' ', '\n']) {
        out.push(' ');
    }
}

/// Whether the node is a comment, or the raw markup of a fallback element, which readers never see.
fn is_unwritable(tree: &Tree, node: NodeId) -> bool {
    let parent = NodeId::new(tree.shape.parent[node.index()] as usize);
    tree.name(node) == "#comment" || (tree.is_text(node) && is_fallback_element(tree.name(parent)))
}

/// The tag name that an element is written with.
fn written_name(name: &str) -> &str {
    match name {
        "xmp" | "plaintext" => "pre",
        name => name,
    }
}

fn close_until(tree: &Tree, index: usize, open: &mut Vec<(usize, NodeId)>, out: &mut String) {
    while let Some((end, node)) = open.last().copied() {
        if end > index {
            return;
        }
        out.push_str("</");
        out.push_str(written_name(tree.name(node)));
        out.push('>');
        if matches!(tree.name(node), "head" | "body") {
            out.push('\n');
        }
        open.pop();
    }
}

fn is_kept_in_head(tree: &Tree, node: NodeId) -> bool {
    let element = if tree.is_text(node) { NodeId::new(tree.shape.parent[node.index()] as usize) } else { node };
    match tree.name(element) {
        "html" | "head" | "title" | "base" => true,
        "meta" => {
            let names_charset = tree.attr(element, "charset").is_some() || tree.attr(element, "http-equiv").is_some();
            !names_charset
        }
        "link" => tree.attr(element, "rel").is_some_and(|rel| {
            rel.split_ascii_whitespace().any(|r| ["canonical", "alternate", "author", "license"].contains(&r))
        }),
        _ => false,
    }
}

fn write_start_tag(tree: &Tree, node: NodeId, out: &mut String) {
    out.push('<');
    out.push_str(written_name(tree.name(node)));
    for (name, value) in tree.attrs(node) {
        out.push(' ');
        out.push_str(name);
        out.push_str("=\"");
        escape(value, true, out);
        out.push('"');
    }
    out.push('>');
}

fn escape(text: &str, in_attribute: bool, out: &mut String) {
    let mut from = 0;
    for (at, byte) in text.bytes().enumerate() {
        let (written, n) = match byte {
            b'&' => ("&amp;", 1),
            b'"' if in_attribute => ("&quot;", 1),
            b'<' if !in_attribute => ("&lt;", 1),
            b'>' if !in_attribute => ("&gt;", 1),
            0xc2 if text[at..].starts_with('\u{a0}') => ("&nbsp;", 2),
            _ => continue,
        };
        out.push_str(&text[from..at]);
        out.push_str(written);
        from = at + n;
    }
    out.push_str(&text[from..]);
}

fn is_void(name: &str) -> bool {
    matches!(
        name,
        "area"
            | "base"
            | "br"
            | "col"
            | "embed"
            | "hr"
            | "img"
            | "input"
            | "link"
            | "meta"
            | "source"
            | "track"
            | "wbr"
    )
}

#[cfg(test)]
mod tests {
    use crate::dom::ParseOptions;
    use crate::dom::{parse, write_html};

    #[test]
    fn what_is_written_parses_to_the_same_tree() {
        let html = "<title>a&amp;b</title><p class='x y' title='\"'>1 &lt; 2 <b>x</b> <i>y</i><br>z<ul><li>1<li>2</ul>";
        let limits = ParseOptions::default();
        let tree = parse(html, &limits);
        let again = parse(&write_html(&tree, |_| true), &limits);
        let body = |t: &crate::dom::Tree| t.shape.h_full[t.counted().start];
        assert_eq!(body(&tree), body(&again));
        assert_eq!(tree.counted().len(), again.counted().len());
    }

    #[test]
    fn what_means_markup_is_escaped() {
        let tree = parse(
            "<p title='a\"b&amp;<&nbsp;>'>\u{c2}\u{a9}1 &lt; 2 &amp;&nbsp;3 &gt; \"é\"</p>",
            &ParseOptions::default(),
        );
        let html = write_html(&tree, |_| true);
        let want = "<p title=\"a&quot;b&amp;<&nbsp;>\">\u{c2}\u{a9}1 &lt; 2 &amp;&nbsp;3 &gt; \"é\"</p>";
        assert!(html.contains(want), "{html}");
    }

    #[test]
    fn kept_nodes_move_up_when_their_parent_is_dropped() {
        let tree = parse("<div><p>keep</p></div>", &ParseOptions::default());
        let html = write_html(&tree, |n| tree.name(n) != "div");
        assert!(html.contains("<body> <p>keep</p></body>"), "{html}");
    }

    #[test]
    fn words_stay_apart_and_code_keeps_its_lines() {
        let limits = ParseOptions::default();
        let tree = parse("<p>one<br>two</p><pre>\n\n<b>a</b>\n  <i>b</i></pre><plaintext>1 < 2", &limits);
        let html = write_html(&tree, |n| tree.name(n) != "br");
        assert!(html.contains("<p>one two</p>"), "{html}");
        let again = parse(&html, &limits);
        assert_eq!(
            crate::dom::write_text(&again, |_| true),
            crate::dom::write_text(&tree, |_| true).replace("one\n", "one ")
        );
        assert!(html.contains("<b>a</b>\n  <i>b</i>"), "{html}");
    }
}
