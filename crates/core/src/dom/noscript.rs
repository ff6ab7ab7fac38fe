//! Pages whose text is inside `noscript` only.

use super::text::is_fallback_element;
use super::{NodeId, Tree};

/// Whether the body shows no text of its own, and a `noscript` in it may hold some.
pub(super) fn is_only_text(tree: &Tree) -> bool {
    tree.noscripts().any(|(_, _, markup)| has_text(markup)) && !shows_text(tree)
}

fn shows_text(tree: &Tree) -> bool {
    tree.counted().map(NodeId::new).any(|node| {
        let parent = NodeId::new(tree.shape.parent[node.index()] as usize);
        tree.is_text(node)
            && !is_fallback_element(tree.name(parent))
            && tree.text(node).chars().any(char::is_alphanumeric)
    })
}

/// Whether there are letters or digits outside of tags.
fn has_text(markup: &str) -> bool {
    let mut in_tag = false;
    markup.chars().any(|c| {
        match c {
            '<' => in_tag = true,
            '>' => in_tag = false,
            _ => {}
        }
        !in_tag && c.is_alphanumeric()
    })
}

#[cfg(test)]
mod tests {
    use crate::dom::{Note, ParseOptions, parse, write_text};

    fn text(html: &str) -> String {
        write_text(&parse(html, &ParseOptions::default()), |_| true)
    }

    #[test]
    fn an_unclosed_element_in_noscript_swallows_nothing() {
        let after = "<article><h1>Heading</h1><p>First paragraph.</p></article>";
        for open in
            ["<div class=warn>You need JS", "<iframe src=x />", "<p><b>", "<!-- ", "<textarea>", "<style>", "<a "]
        {
            let html = format!("<body><noscript>{open}</noscript>{after}");
            assert_eq!(text(&html), "Heading\n\nFirst paragraph.\n", "{open}");
        }
    }

    #[test]
    fn a_pixel_in_noscript_does_not_end_the_head() {
        let tree = parse("<head><noscript><img src=p></noscript><title>T</title></head><p>x", &ParseOptions::default());
        let title = tree.all("title").next().unwrap();
        assert!(!tree.counted().contains(&title.index()));
    }

    #[test]
    fn the_only_text_of_a_page_is_kept() {
        let html = "<div id=app></div><noscript><h1>Rye</h1><p>A grain.</noscript><script>x</script>";
        let tree = parse(html, &ParseOptions::default());
        assert_eq!(tree.notes(), [Note::NoscriptKept]);
        assert_eq!(write_text(&tree, |_| true), "Rye\n\nA grain.\n");
        assert_eq!(text("<p>Rye</p><noscript>Switch it on</noscript>"), "Rye\n");
        assert_eq!(text("<img src=x><noscript><img src=y></noscript>"), "");
    }
}
