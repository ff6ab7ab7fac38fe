//! Elements that stand on lines of their own because their `style` says so.

use memchr::memmem;

use super::{NodeId, Tree};

/// Whether a page has such elements; most have none.
#[derive(Clone, Copy, Debug)]
pub struct StyledBlocks {
    is_any: bool,
}

impl StyledBlocks {
    /// Looks through the attributes of a page.
    pub fn new(tree: &Tree) -> StyledBlocks {
        let mut places = memmem::find_iter(tree.buffer.as_bytes(), b"display:");
        // A value ends where the next one begins, so a longer word may be meant.
        StyledBlocks { is_any: places.any(|at| block_value(&tree.buffer.as_bytes()[at..]).is_some()) }
    }

    /// Whether the element stands on lines of its own by its style.
    pub fn has(self, tree: &Tree, element: NodeId) -> bool {
        let style = || tree.attr(element, "style").and_then(|style| style.find("display:").map(|at| &style[at..]));
        self.is_any && style().is_some_and(|rule| is_block(rule.as_bytes()))
    }
}

/// Whether a rule that begins with `display:` makes a block.
fn is_block(rule: &[u8]) -> bool {
    let ends = |rest: &[u8]| rest.first().is_none_or(|next| !next.is_ascii_alphanumeric() && *next != b'-');
    block_value(rule).is_some_and(ends)
}

/// What follows the value of such a rule, if that begins as one for blocks.
fn block_value(rule: &[u8]) -> Option<&[u8]> {
    let value = rule["display:".len()..].trim_ascii_start();
    [&b"block"[..], b"flex", b"grid", b"list-item", b"table"].iter().find_map(|name| value.strip_prefix(*name))
}

#[cfg(test)]
mod tests {
    use crate::{ParseOptions, parse, write_text};

    #[test]
    fn a_block_by_its_style_has_lines_of_its_own() {
        let text = |html: &str| write_text(&parse(html, &ParseOptions::default()), |_| true);
        assert_eq!(text("<p><b style='display: block'>Head</b>Body"), "Head\nBody\n");
        assert_eq!(text("<p><b style='color:red;display:flex;'>Head</b>Body"), "Head\nBody\n");
        assert_eq!(text("<p><b style='display:inline-block'>Head</b>Body"), "HeadBody\n");
        assert_eq!(text("<p title=display:block><b>Head</b>Body"), "HeadBody\n");
    }
}
