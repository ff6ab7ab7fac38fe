//! Text that a browser does not show.

use super::{CleanOptions, HiddenText};
use dehusk_content::Labels;
use dehusk_content::hides;
use dehusk_html::{NodeId, PlaceMemo, Tree};

/// Labels what is hidden as template, if the options say so: elements with the attribute `hidden`, or with a `style`
/// that does not show them, and all below them. Style sheets and scripts are not known.
pub fn without_hidden(page: &Tree, mut labels: Labels, options: &CleanOptions) -> Labels {
    if options.hidden == HiddenText::Keep {
        return labels;
    }
    let (mut end, mut known) = (0, PlaceMemo::default());
    for index in page.counted() {
        let node = NodeId::new(index);
        if index >= end && !page.is_text(node) && is_hidden(page, node, &mut known) {
            end = page.shape.subtree(node).end;
        }
        if index < end {
            labels.is_template[index] = true;
        }
    }
    labels
}

fn is_hidden(page: &Tree, node: NodeId, known: &mut PlaceMemo<bool>) -> bool {
    page.attrs(node).any(|(name, value)| match name {
        "hidden" => true,
        "style" => known.get_or_read(value, hides),
        _ => false,
    })
}
