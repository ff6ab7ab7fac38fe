//! Text of a page: white space normalization, and plain text with the line breaks that a reader sees.

use std::ops::Range;

use super::hash::{hash_str, mix};
use super::space::{is_blank, is_one_run, is_space, runs};
use super::styled_blocks::StyledBlocks;
use super::unshown::{Unshown, WrittenAs};
use super::{NodeId, Tree};

/// Appends `text` with every run of white space replaced by one blank, and none at the ends.
pub(super) fn normalize_into(text: &str, out: &mut String) {
    for (at, run) in runs(text).enumerate() {
        if at > 0 {
            out.push(' ');
        }
        out.push_str(run);
    }
}

/// `text` with every run of white space replaced by one blank, and none at the ends.
pub fn normalized(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    normalize_into(text, &mut out);
    out
}

/// Number of characters of the normalized text.
pub fn normalized_chars(text: &str) -> usize {
    runs(text).map(|run| run.chars().count() + 1).sum::<usize>().max(1) - 1
}

/// Plain text of the nodes that `keeps` selects, with one line per block element. White space in `pre` is preserved.
///
/// A dropped node leaves a gap, which separates the words around it. Control characters are dropped.
pub fn write_text(tree: &Tree, keeps: impl Fn(NodeId) -> bool) -> String {
    TextWriter::new(tree).write(tree.counted(), keeps)
}

/// Writes parts of a page as text. What is the same for all parts is looked up once.
pub struct TextWriter<'t> {
    tree: &'t Tree,
    /// By the number of a name: the gap around its elements, and whether they keep their white space.
    around_names: Vec<(Gap, bool)>,
    /// Number of the name `rt`.
    reading: usize,
    unshown: Unshown,
    blocks: StyledBlocks,
}

impl<'t> TextWriter<'t> {
    /// For a page.
    pub fn new(tree: &'t Tree) -> TextWriter<'t> {
        TextWriter {
            tree,
            around_names: tree.names().map(|name| (block_gap(name), keeps_space(name))).collect(),
            reading: tree.names().position(|name| name == "rt").unwrap_or(usize::MAX),
            unshown: Unshown::new(tree, WrittenAs::Text),
            blocks: StyledBlocks::new(tree),
        }
    }

    /// The nodes of a range that `keeps` selects, as in [`write_text`].
    pub fn write(&self, nodes: Range<usize>, keeps: impl Fn(NodeId) -> bool) -> String {
        let tree = self.tree;
        let mut out = String::new();
        let mut gap = Gap::None;
        let mut closing: Vec<(usize, Gap)> = Vec::new();
        let mut pre_until = 0;
        // Where the reading of a character ends, whose parenthesis is open.
        let mut reading_end = usize::MAX;
        for index in nodes {
            while closing.last().is_some_and(|(end, _)| *end <= index) {
                gap = closing.pop().map_or(gap, |(_, at_end)| gap.max(at_end));
            }
            if index >= reading_end {
                out.push(')');
                reading_end = usize::MAX;
            }
            let node = NodeId::new(index);
            let in_pre = index < pre_until;
            if !in_pre && tree.has_space(node) {
                gap = gap.max(Gap::Blank);
            }
            if !tree.is_text(node) {
                let (around, keeps_space) = self.around_names[tree.name_number(node)];
                let around = if around == Gap::None && self.blocks.has(tree, node) { Gap::Line } else { around };
                if around != Gap::None {
                    gap = gap.max(around);
                    closing.push((tree.shape.subtree(node).end, around));
                }
                if keeps_space {
                    pre_until = pre_until.max(tree.shape.subtree(node).end);
                }
                if in_pre && !out.is_empty() && gap == Gap::None {
                    out.push_str(tree.space(node));
                }
                let opens_reading = tree.name_number(node) == self.reading && reading_end == usize::MAX;
                if opens_reading && shows_reading(tree, node, &keeps) {
                    out.push('(');
                    reading_end = tree.shape.subtree(node).end;
                }
                if around == Gap::Blank
                    && let Some(sign) = sign_of_image(tree, node).filter(|_| keeps(node) && !out.is_empty())
                {
                    out.push_str(gap.as_str());
                    out.push_str(sign);
                    gap = Gap::Blank;
                }
                continue;
            }
            let text = tree.text(node);
            if !keeps(node) || self.unshown.holds(node) {
                gap = gap.max(Gap::Blank);
                continue;
            }
            // Most texts are written as they are.
            if !in_pre && is_one_run(text, hides) {
                out.push_str(if out.is_empty() { "" } else { gap.as_str() });
                out.push_str(text);
                gap = Gap::None;
                continue;
            }
            if is_blank(text) {
                gap = gap.max(Gap::Blank);
                continue;
            }
            if text.starts_with(is_space) && !in_pre {
                gap = gap.max(Gap::Blank);
            }
            if !out.is_empty() {
                out.push_str(gap.as_str());
            }
            if in_pre {
                out.push_str(if gap == Gap::None { tree.space(node) } else { "" });
                out.extend(text.chars().filter(|c| is_shown(*c)));
                gap = Gap::None;
            } else {
                let from = out.len();
                normalize_into(text, &mut out);
                if may_hide(&out[from..]) && !out[from..].chars().all(is_shown) {
                    let shown: String = out[from..].chars().filter(|c| is_shown(*c)).collect();
                    out.replace_range(from.., &shown);
                }
                gap = if text.ends_with(is_space) { Gap::Blank } else { Gap::None };
            }
        }
        if reading_end != usize::MAX {
            out.push(')');
        }
        if !out.is_empty() && !out.ends_with('\n') {
            out.push('\n');
        }
        out
    }
}

/// Whether a `rt`, the reading of a character, is written in parentheses: it is kept, behind a text, and has none.
fn shows_reading(tree: &Tree, reading: NodeId, keeps: impl Fn(NodeId) -> bool) -> bool {
    let mut texts = tree.shape.subtree(reading).map(NodeId::new).filter(|node| tree.is_text(*node));
    texts.any(|text| keeps(text) && !is_blank(tree.text(text))) && !has_parentheses(tree, reading)
}

/// Whether the `ruby` around a reading has parentheses of its own.
pub fn has_parentheses(tree: &Tree, reading: NodeId) -> bool {
    let ruby = NodeId::new(tree.shape.parent[reading.index()] as usize);
    tree.shape.subtree(ruby).any(|at| tree.name(NodeId::new(at)) == "rp")
}

/// The sign that a picture in a line stands for, such as a smiley.
pub fn sign_of_image(tree: &Tree, node: NodeId) -> Option<&str> {
    if tree.name(node) != "img" {
        return None;
    }
    let alt = tree.attr(node, "alt").map(str::trim)?;
    let is_sign = (1..=12).contains(&alt.chars().count()) && !alt.contains(|c: char| c.is_alphanumeric() || c == '<');
    let is_small = |name: &str| {
        let size = tree.attr(node, name).and_then(|size| size.trim_end_matches("px").parse::<u32>().ok());
        size.is_some_and(|size| size <= 24)
    };
    let is_named = || {
        let classes = tree.attr(node, "class").unwrap_or_default();
        classes.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| matches!(word, "emoji" | "smiley" | "emoticon"))
    };
    (is_sign && (is_named() || (is_small("width") && is_small("height")))).then_some(alt)
}

/// Whether a character is written. Control characters are not: terminals interpret them, and no reader sees them.
/// Neither are characters without width that only say where a line may break (soft hyphen, zero-width space, word
/// joiner, byte order mark): they would split words. Joiners of letters and emoji stay.
pub fn is_shown(c: char) -> bool {
    match c {
        '\n' | '\t' => true,
        '\u{ad}' | '\u{200b}' | '\u{2060}' | '\u{feff}' => false,
        c => !c.is_control(),
    }
}

/// Digest of the text nodes that `keeps` selects, ignoring white space. It is cheap: the hashes of the texts are kept.
///
/// Equal digests mean equal words. Equal words that markup splits differently have different digests.
pub fn text_digest(tree: &Tree, keeps: impl Fn(NodeId) -> bool) -> u64 {
    let (hashes, blank, unshown) = (&tree.texts().hash, hash_str(""), Unshown::new(tree, WrittenAs::Text));
    let texts = tree.counted().map(NodeId::new).filter(|node| {
        let text = hashes[node.index()];
        text != 0 && text != blank && keeps(*node) && !unshown.holds(*node)
    });
    texts.fold(0, |digest, node| mix(digest, hashes[node.index()]))
}

/// Whether a byte may begin a character that is not shown. Without branches, so that it is compiled to vector
/// instructions.
fn hides(byte: u8) -> bool {
    (byte < b' ') | (byte == 0x7f) | (byte == 0xc2) | (byte == 0xe2) | (byte == 0xef)
}

/// Whether the text may contain a character that is not shown. False positives are allowed.
fn may_hide(text: &str) -> bool {
    text.as_bytes().chunks(64).any(|step| step.iter().fold(false, |is, byte| is | hides(*byte)))
}

/// Whether an element preserves its white space.
pub fn keeps_space(name: &str) -> bool {
    matches!(name, "pre" | "textarea" | "listing" | "xmp" | "plaintext")
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

/// The gap between an element and its surroundings.
fn block_gap(name: &str) -> Gap {
    match name {
        "p" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "blockquote" | "pre" | "listing" | "xmp" | "plaintext"
        | "table" | "ul" | "ol" | "dl" | "menu" | "dir" | "figure" | "article" | "section" => Gap::Paragraph,
        "address" | "aside" | "body" | "br" | "caption" | "center" | "dd" | "details" | "dialog" | "div" | "dt"
        | "fieldset" | "figcaption" | "footer" | "form" | "header" | "hgroup" | "hr" | "legend" | "li" | "main"
        | "nav" | "optgroup" | "option" | "search" | "select" | "summary" | "tbody" | "tfoot" | "thead" | "tr" => {
            Gap::Line
        }
        "td" | "th" | "button" | "img" | "amp-img" | "amp-anim" | "input" | "textarea" | "svg" | "title" | "desc"
        | "text" | "video" | "audio" | "object" | "canvas" | "iframe" | "#comment" => Gap::Blank,
        _ => Gap::None,
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn code_keeps_its_lines() {
        let html = "<p>a</p><pre><span>if x:</span>\n    <span>y()</span>\n<b>z</b></pre><p>b</p>";
        assert_eq!(text(html), "a\n\nif x:\n    y()\nz\n\nb\n");
    }

    #[test]
    fn what_is_left_out_leaves_a_gap() {
        let tree = parse("<p><a>one</a> | <a>two</a></p>", &ParseOptions::default());
        assert_eq!(write_text(&tree, |n| tree.text(n) != " | "), "one two\n");
    }

    use crate::ParseOptions;
    use crate::{parse, write_text};

    fn text(html: &str) -> String {
        write_text(&parse(html, &ParseOptions::default()), |_| true)
    }

    #[test]
    fn blocks_break_lines_and_inline_elements_do_not() {
        assert_eq!(text("<p>a<b>b</b> <i>c</i></p><div>d<br>e</div>"), "ab c\n\nd\ne\n");
        assert_eq!(text("<table><tr><td>1<td>2<tr><td>3</table>x"), "1 2\n3\n\nx\n");
        assert_eq!(text(""), "");
        assert_eq!(text("<a><svg><title>Icon</title></svg>Link</a><legend>x</legend>y"), "Icon Link\nx\ny\n");
        assert_eq!(text("<p>soft\u{ad}ly\u{200b} \u{feff}می\u{200c}خواهم</p>"), "softly می\u{200c}خواهم\n");
        assert_eq!(text("<p>well <img class=emoji alt=\u{1f600}> done <img alt=Rye></p>"), "well \u{1f600} done\n");
        assert_eq!(text("<ruby>\u{6f22}<rt>kan</rt>\u{5b57}<rt>ji</rt></ruby>!"), "\u{6f22}(kan)\u{5b57}(ji)!\n");
        assert_eq!(text("<ruby>a<rp>(</rp><rt>b</rt><rp>)</rp></ruby>"), "a(b)\n");
        assert_eq!(text("<p>is <math><mi>x</mi></math>, too"), "is x, too\n");
        assert_eq!(text("x<noframes><p>old</noframes>y\u{1b}]0;z"), "x y]0;z\n");
        assert_eq!(
            text("<p>by\u{7f}te</p><p>mark\u{feff}s</p><p>n\u{fc}r \u{ab}so\u{bb}"),
            "byte\n\nmarks\n\nn\u{fc}r \u{ab}so\u{bb}\n"
        );
    }
}
