//! Buttons that are headings: of a text below them that they show and hide.

use dehusk_html::{NodeId, Tree, ancestors, children};

/// Words of a text that a button may be the heading of.
const FEWEST_WORDS: usize = 4;

/// Elements above a button that may hold it alone: `<h3><span><button>`.
const MOST_WRAPPERS: usize = 3;

/// Whether a button is the heading of a text: it says so, or such a text stands right behind it.
///
/// A button of a form, or before other buttons, does something.
pub(super) fn is_heading(tree: &Tree, button: NodeId) -> bool {
    if tree.attrs(button).any(|(name, _)| matches!(name, "aria-expanded" | "aria-controls")) {
        return true;
    }
    if ancestors(tree, button).any(|above| tree.name(above) == "form") {
        return false;
    }
    let words = n_words(tree, button);
    let mut at = button;
    for above in ancestors(tree, button).take(MOST_WRAPPERS) {
        if let Some(next) = next_sibling(tree, at) {
            return words > 0 && is_text_block(tree, next);
        }
        if n_words(tree, above) > words {
            return false;
        }
        at = above;
    }
    false
}

/// Whether an element holds a text and no button.
fn is_text_block(tree: &Tree, element: NodeId) -> bool {
    let holds_button = tree.shape.subtree(element).any(|at| tree.name(NodeId::new(at)) == "button");
    let is_block = matches!(tree.name(element), "div" | "p" | "ul" | "ol" | "section" | "dd" | "article");
    is_block && !holds_button && n_words(tree, element) >= FEWEST_WORDS
}

fn next_sibling(tree: &Tree, node: NodeId) -> Option<NodeId> {
    let parent = NodeId::new(tree.shape.parent[node.index()] as usize);
    children(tree, parent).find(|child| child.index() >= tree.shape.subtree(node).end)
}

fn n_words(tree: &Tree, node: NodeId) -> usize {
    let texts = tree.shape.subtree(node).map(|at| tree.text(NodeId::new(at)));
    texts.flat_map(str::split_whitespace).filter(|word| word.contains(char::is_alphanumeric)).take(100).count()
}

#[cfg(test)]
mod tests {
    use dehusk_html::{ParseOptions, parse};

    #[test]
    fn a_button_before_a_text_is_its_heading() {
        let is = |html: &str| {
            let tree = parse(html, &ParseOptions::default());
            super::is_heading(&tree, tree.all("button").next().unwrap())
        };
        assert!(is("<button>Rye?</button><div><p>It grows in cold places.</div>"));
        assert!(is("<div><h3><button>Rye</button></h3></div><div>It grows in cold places.</div>"));
        assert!(is("<button aria-expanded=false>Rye</button>"));
        assert!(!is("<button>Copy</button><pre>let rye = 1 + 2;</pre>"));
        assert!(!is("<form><button>Send</button><div>It grows in cold places.</div></form>"));
        assert!(!is("<button>Yes</button><div>It grows in cold places. <button>No</button></div>"));
        assert!(!is("<div>Rye <button>More</button></div><div>It grows in cold places.</div>"));
        assert!(!is("<button></button><div>It grows in cold places.</div>"));
    }
}
