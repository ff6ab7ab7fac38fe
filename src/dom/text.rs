//! Text of a page: white space, and plain text with line breaks where a reader sees them.

use super::{NodeId, Tree};

/// White space as the corpus labels count it: Unicode's, with the information separators.
pub(crate) fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

pub(super) fn is_blank(text: &str) -> bool {
    text.chars().all(is_space)
}

/// Would normalising change nothing? A quick no is allowed: only plain ASCII is looked at closely.
pub(super) fn is_normalized(text: &str) -> bool {
    let mut after_blank = true;
    for byte in text.bytes() {
        let blank = byte == b' ';
        if !(b' '..0x80).contains(&byte) || (blank && after_blank) {
            return false;
        }
        after_blank = blank;
    }
    !after_blank
}

/// Appends `text` with every run of white space as one blank, none at the ends.
pub(super) fn normalize_into(text: &str, out: &mut String) {
    for (i, word) in text.split(is_space).filter(|w| !w.is_empty()).enumerate() {
        if i > 0 {
            out.push(' ');
        }
        out.push_str(word);
    }
}

/// `text` with every run of white space as one blank, none at the ends.
pub fn normalized(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    normalize_into(text, &mut out);
    out
}

/// Plain text of the nodes that `keeps` allows: words as written, one line a block element.
pub fn write_text(tree: &Tree, keeps: impl Fn(NodeId) -> bool) -> String {
    let mut out = String::new();
    let mut gap = Gap::None;
    let counted = tree.counted();
    let mut closing: Vec<(usize, Gap)> = Vec::new();
    for index in counted {
        while closing.last().is_some_and(|(end, _)| *end <= index) {
            gap = closing.pop().map_or(gap, |(_, at_end)| gap.max(at_end));
        }
        let node = NodeId::new(index);
        if tree.spaced(node) {
            gap = gap.max(Gap::Blank);
        }
        if !tree.is_text(node) {
            let around = block_gap(tree.name(node));
            gap = gap.max(around);
            closing.push((tree.shape.subtree(node).end, around));
        } else if keeps(node) && !is_fallback(tree, node) {
            let text = tree.text(node);
            if text.starts_with(is_space) {
                gap = gap.max(Gap::Blank);
            }
            if !out.is_empty() {
                out.push_str(gap.as_str());
            }
            normalize_into(text, &mut out);
            gap = if text.ends_with(is_space) { Gap::Blank } else { Gap::None };
        }
    }
    if !out.is_empty() {
        out.push('\n');
    }
    out
}

/// The markup inside an `iframe` is one text node for the parser and nothing for a reader.
fn is_fallback(tree: &Tree, node: NodeId) -> bool {
    tree.name(NodeId::new(tree.shape.parent[node.index()] as usize)) == "iframe"
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    None,
    Blank,
    Line,
    Paragraph,
}

impl Gap {
    fn as_str(self) -> &'static str {
        match self {
            Gap::None => "",
            Gap::Blank => " ",
            Gap::Line => "\n",
            Gap::Paragraph => "\n\n",
        }
    }
}

/// What stands between this element and its surroundings.
fn block_gap(name: &str) -> Gap {
    match name {
        "p" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "blockquote" | "pre" | "table" | "ul" | "ol" | "dl"
        | "figure" | "article" | "section" => Gap::Paragraph,
        "address" | "aside" | "body" | "br" | "caption" | "center" | "dd" | "details" | "dialog" | "div" | "dt"
        | "fieldset" | "figcaption" | "footer" | "form" | "header" | "hr" | "li" | "main" | "nav" | "option"
        | "select" | "summary" | "tbody" | "tfoot" | "thead" | "tr" => Gap::Line,
        "td" | "th" | "button" | "img" | "input" => Gap::Blank,
        _ => Gap::None,
    }
}

#[cfg(test)]
mod tests {
    use crate::dom::{parse, write_text};
    use crate::settings::PageLimits;

    fn text(html: &str) -> String {
        write_text(&parse(html, &PageLimits::default()), |_| true)
    }

    #[test]
    fn blocks_break_lines_and_inline_elements_do_not() {
        assert_eq!(text("<p>a<b>b</b> <i>c</i></p><div>d<br>e</div>"), "ab c\n\nd\ne\n");
        assert_eq!(text("<table><tr><td>1<td>2<tr><td>3</table>x"), "1 2\n3\n\nx\n");
        assert_eq!(text(""), "");
    }
}
