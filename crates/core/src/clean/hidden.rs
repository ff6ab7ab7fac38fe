//! Text that a browser does not show.

use super::{CleanOptions, HiddenText};
use crate::content::hides;
use crate::dom::{NodeId, Tree};
use crate::labels::Labels;

/// Labels what is hidden as template, if the options say so: elements with the attribute `hidden`, or with a `style`
/// that does not show them, and all below them. Style sheets and scripts are not known.
pub(crate) fn without_hidden(page: &Tree, mut labels: Labels, options: &CleanOptions) -> Labels {
    if options.hidden == HiddenText::Keep {
        return labels;
    }
    let mut end = 0;
    for index in page.counted() {
        let node = NodeId::new(index);
        if index >= end && !page.is_text(node) && is_hidden(page, node) {
            end = page.shape.subtree(node).end;
        }
        if index < end {
            labels.is_template[index] = true;
        }
    }
    labels
}

fn is_hidden(page: &Tree, node: NodeId) -> bool {
    page.attrs(node).any(|(name, value)| name == "hidden" || (name == "style" && hides(value)))
}
