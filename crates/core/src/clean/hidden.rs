//! Text that a browser does not show.

use super::{CleanOptions, HiddenText};
use dehusk_content::Labels;
use dehusk_content::hides;
use dehusk_html::{NodeId, PlaceMemo, Tree, children};

/// Characters of a hidden part of a line above which it is text that a button opens.
const MOST_CHARS: usize = 120;

/// Labels what is hidden as template, if the options say so: elements with the attribute `hidden`, or with a `style`
/// that does not show them, and all below them. Style sheets and scripts are not known.
///
/// Short hidden parts of a line that is shown always go: keys to sort by, messages of programs. No button opens them.
pub fn without_hidden(page: &Tree, mut labels: Labels, options: &CleanOptions) -> Labels {
    let (mut end, mut known) = (0, PlaceMemo::default());
    for index in page.counted() {
        let node = NodeId::new(index);
        if index >= end && !page.is_text(node) && is_hidden(page, node, &mut known) {
            let is_dropped = options.hidden == HiddenText::Drop || is_part_of_line(page, node);
            end = if is_dropped { page.shape.subtree(node).end } else { end };
        }
        if index < end {
            labels.is_template[index] = true;
        }
    }
    labels
}

/// Whether an element is a short part of a line that has text outside of it. Formulas are often hidden beside their
/// picture.
fn is_part_of_line(page: &Tree, node: NodeId) -> bool {
    let is_inline =
        |name: &str| matches!(name, "#text" | "span" | "b" | "i" | "em" | "strong" | "small" | "font" | "a" | "sup");
    let inside = page.shape.subtree(node);
    let n_chars: usize = inside.clone().map(|at| page.text(NodeId::new(at)).chars().count()).sum();
    let parent = NodeId::new(page.shape.parent[node.index()] as usize);
    (1..=MOST_CHARS).contains(&n_chars)
        && inside.clone().all(|at| is_inline(page.name(NodeId::new(at))))
        && children(page, parent)
            .any(|child| !inside.contains(&child.index()) && page.text(child).contains(char::is_alphanumeric))
}

fn is_hidden(page: &Tree, node: NodeId, known: &mut PlaceMemo<bool>) -> bool {
    page.attrs(node).any(|(name, value)| match name {
        "hidden" => true,
        "style" => known.get_or_read(value, hides),
        _ => false,
    })
}
