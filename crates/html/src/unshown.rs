//! Text that no reader sees, or sees twice: what stands for a film or a frame that cannot be shown, a formula in a
//! second form, the names of icons.

use std::ops::Range;

use memchr::memmem;

use super::{NodeId, Tree, ancestors};

/// Elements whose text is shown only where the browser does not know them.
const FALLBACKS: [&str; 7] = ["iframe", "noembed", "noframes", "video", "audio", "canvas", "object"];

/// Elements of a formula that hold it in another form.
const ANNOTATIONS: [&str; 2] = ["annotation", "annotation-xml"];

/// How a page is written, which decides what of it is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrittenAs {
    /// A browser draws icons by their fonts, and hides annotations of formulas.
    Html,
    /// A formula is taken from its annotations, or from what draws it.
    Markdown,
    /// A formula is its letters and signs, once.
    Text,
}

/// The parts of a page whose text is not shown.
#[derive(Clone, Debug)]
pub struct Unshown {
    /// Apart from each other, in the order of the page.
    ranges: Vec<Range<usize>>,
}

impl Unshown {
    /// Looks through a page.
    pub fn new(tree: &Tree, written_as: WrittenAs) -> Unshown {
        let mut nodes: Vec<NodeId> = FALLBACKS.iter().flat_map(|name| tree.all(name)).collect();
        nodes.extend(amp_fallbacks(tree));
        nodes.extend(edit_links(tree));
        nodes.extend(fields(tree));
        if written_as != WrittenAs::Html {
            nodes.extend(icons(tree));
        }
        if written_as == WrittenAs::Text {
            nodes.extend(ANNOTATIONS.iter().flat_map(|name| tree.all(name)));
            nodes.extend(drawings(tree));
        }
        nodes.sort_unstable();
        let mut ranges: Vec<Range<usize>> = Vec::new();
        for node in nodes {
            let range = tree.shape.subtree(node);
            if ranges.last().is_none_or(|last| last.end <= range.start) {
                ranges.push(range);
            }
        }
        Unshown { ranges }
    }

    /// Whether a node is in such a part.
    pub fn holds(&self, node: NodeId) -> bool {
        let next = self.ranges.partition_point(|range| range.start <= node.index());
        next.checked_sub(1).is_some_and(|at| self.ranges[at].contains(&node.index()))
    }
}

/// Fields for text: what they hold at first is no text of the page, unless it can only be read.
fn fields(tree: &Tree) -> impl Iterator<Item = NodeId> {
    tree.all("textarea").filter(|field| tree.attr(*field, "readonly").is_none())
}

/// What an element of AMP shows until it is loaded, or where it cannot be.
fn amp_fallbacks(tree: &Tree) -> Vec<NodeId> {
    if !tree.names().any(|name| name.starts_with("amp-")) {
        return Vec::new();
    }
    let is_amp = |node: NodeId| ancestors(tree, node).next().is_some_and(|above| tree.name(above).starts_with("amp-"));
    tree.nodes().filter(|node| tree.attr(*node, "fallback").is_some() && is_amp(*node)).collect()
}

/// Links in headings to where their section can be edited (MediaWiki).
fn edit_links(tree: &Tree) -> Vec<NodeId> {
    if memmem::find(tree.buffer.as_bytes(), b"editsection").is_none() {
        return Vec::new();
    }
    let is_edit = |class: &str| matches!(class, "mw-editsection" | "editsection");
    let is_link =
        |node: &NodeId| tree.attr(*node, "class").is_some_and(|class| class.split_ascii_whitespace().any(is_edit));
    tree.nodes().filter(is_link).collect()
}

/// Elements that draw a formula for the eye where another holds it for readers of the text: of KaTeX, and of MathJax 3.
fn drawings(tree: &Tree) -> Vec<NodeId> {
    let is_read_elsewhere = |drawing: &NodeId, by: &dyn Fn(NodeId) -> bool| {
        let parent = NodeId::new(tree.shape.parent[drawing.index()] as usize);
        tree.shape.subtree(parent).map(NodeId::new).any(by)
    };
    let has_class = |node: NodeId, class: &str| {
        tree.attr(node, "class").is_some_and(|classes| classes.split_ascii_whitespace().any(|one| one == class))
    };
    let of_mathjax = tree.all("mjx-math").filter(|node| is_read_elsewhere(node, &|at| tree.name(at) == "math"));
    let mut found: Vec<NodeId> = of_mathjax.collect();
    if memmem::find(tree.buffer.as_bytes(), b"katex-html").is_some() {
        let of_katex = tree.nodes().filter(|node| has_class(*node, "katex-html"));
        found.extend(of_katex.filter(|node| is_read_elsewhere(node, &|at| has_class(at, "katex-mathml"))));
    }
    found
}

/// Elements whose text is the name of a picture that a font of icons draws (Material Icons, Material Symbols).
fn icons(tree: &Tree) -> Vec<NodeId> {
    let finder = memmem::Finder::new("material-");
    if finder.find(tree.buffer.as_bytes()).is_none() {
        return Vec::new();
    }
    let is_font = |class: &str| class.starts_with("material-icons") || class.starts_with("material-symbols");
    let is_icon = |node: &NodeId| {
        tree.attr(*node, "class").is_some_and(|class| class.split_ascii_whitespace().any(is_font))
            && tree.shape.subtree(*node).len() <= 2
    };
    tree.nodes().filter(is_icon).collect()
}

#[cfg(test)]
mod tests {
    use crate::{ParseOptions, parse, write_text};

    #[test]
    fn what_stands_for_something_else_is_not_text() {
        let text = |html: &str| write_text(&parse(html, &ParseOptions::default()), |_| true);
        assert_eq!(text("<p>a</p><video><p>Your <b>browser</b> is old</p></video><p>b"), "a\n\nb\n");
        assert_eq!(text("<p>a <canvas>none</canvas><object data=x>none</object> b"), "a b\n");
        assert_eq!(text("<p>a</p><amp-ad><div fallback>No ad</div></amp-ad><p fallback>b"), "a\n\nb\n");
        assert_eq!(text("<p>Open <i class=material-icons>expand_more</i> it"), "Open it\n");
        let katex = "<span class=katex><span class=katex-mathml><math><mi>x</mi></math></span><span class=katex-html \
            aria-hidden=true><span>x</span></span></span>";
        assert_eq!(text(&format!("<p>a {katex} b")), "a x b\n");
        let mathjax = "<mjx-container><mjx-math>x</mjx-math><mjx-assistive-mml><math><mi>x</mi></math>";
        assert_eq!(text(&format!("<p>a {mathjax}")), "a x\n");
        assert_eq!(text("<p>a <mjx-container><mjx-math>x</mjx-math>"), "a x\n");
        assert_eq!(text("<h2>Rye<span class=mw-editsection>[<a href=e>edit</a>]</span></h2>"), "Rye\n");
        let formula = "<math><semantics><mi>x</mi><annotation encoding=a>italic_x</annotation></semantics></math>";
        assert_eq!(text(&format!("<p>a {formula} b")), "a x b\n");
        assert_eq!(text("<p>a <textarea>typed</textarea> <textarea readonly>code</textarea>"), "a code\n");
    }
}
