//! Text that a browser does not show.

use super::{CleanOptions, HiddenText};
use dehusk_content::Labels;
use dehusk_content::hides;
use dehusk_html::{NodeId, PlaceMemo, Tree, children};

/// Characters of a hidden part of a line above which it is text that a button opens.
const MOST_CHARS: usize = 120;

/// Nodes above which an element is no part of a line.
const MOST_NODES: usize = 20;

/// Whether the line that was asked for last has words that are shown: it may have thousands of hidden parts.
#[derive(Default)]
struct Line {
    last: Option<(NodeId, bool)>,
}

impl Line {
    fn has(&mut self, page: &Tree, parent: NodeId) -> bool {
        match self.last {
            Some((known, has_words)) if known == parent => has_words,
            _ => {
                let has_words = has_words(page, parent);
                self.last = Some((parent, has_words));
                has_words
            }
        }
    }
}

/// Labels what is hidden as template, if the options say so: elements with the attribute `hidden`, or with a `style`
/// that does not show them, and all below them. Style sheets and scripts are not known.
///
/// Short hidden parts of a line that is shown always go: keys to sort by, messages of programs. No button opens them.
pub fn without_hidden(page: &Tree, mut labels: Labels, options: &CleanOptions) -> Labels {
    let (mut end, mut known, mut line) = (0, PlaceMemo::default(), Line::default());
    for index in page.counted() {
        let node = NodeId::new(index);
        if index >= end && !page.is_text(node) && is_hidden(page, node, &mut known) {
            let parent = NodeId::new(page.shape.parent[index] as usize);
            let is_dropped =
                options.hidden == HiddenText::Drop || (is_short_part(page, node) && line.has(page, parent));
            end = if is_dropped { page.shape.subtree(node).end } else { end };
        }
        if index < end {
            labels.is_template[index] = true;
        }
    }
    labels
}

/// Whether an element is a short part of a line. Formulas are often hidden beside their picture.
fn is_short_part(page: &Tree, node: NodeId) -> bool {
    let is_inline =
        |name: &str| matches!(name, "#text" | "span" | "b" | "i" | "em" | "strong" | "small" | "font" | "a" | "sup");
    let inside = page.shape.subtree(node);
    if inside.len() > MOST_NODES || !inside.clone().all(|at| is_inline(page.name(NodeId::new(at)))) {
        return false;
    }
    let n_chars: usize = inside.map(|at| page.text(NodeId::new(at)).chars().count()).sum();
    (1..=MOST_CHARS).contains(&n_chars)
}

/// Whether an element has words of its own, outside of the elements in it.
fn has_words(page: &Tree, node: NodeId) -> bool {
    children(page, node).any(|child| page.text(child).contains(char::is_alphanumeric))
}

fn is_hidden(page: &Tree, node: NodeId, known: &mut PlaceMemo<bool>) -> bool {
    page.attrs(node).any(|(name, value)| match name {
        "hidden" => true,
        "style" => known.get_or_read(value, hides),
        _ => false,
    })
}
