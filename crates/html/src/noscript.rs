//! Pages whose text is inside `noscript`.

use super::unshown::{Unshown, WrittenAs};
use super::{NodeId, Tree};

/// Letters and digits in `noscript` from which it holds more than a note to switch scripts on.
const LEAST_TEXT: usize = 250;

/// Whether a `noscript` holds the text of the page: the body shows none, or less than half as much.
///
/// Of 420 pages of many kinds (`wcxb`), 10 are read so, two of them because of the second case: forums that show a
/// line of text beside the thread in `noscript`. Words F1 of these two .00 -> .95.
pub(super) fn is_page_text(tree: &Tree) -> bool {
    let n_inside: usize = tree.noscripts().map(|(_, _, markup)| text_len(markup)).sum();
    if n_inside == 0 {
        return false;
    }
    // A body that shows this many letters is the text of the page.
    let enough = if n_inside < LEAST_TEXT { 1 } else { n_inside.div_ceil(2) };
    shows_less(tree, enough)
}

/// Whether the body shows fewer letters and digits than this.
pub(super) fn shows_less(tree: &Tree, than: usize) -> bool {
    let unshown = Unshown::new(tree, WrittenAs::Text);
    let is_shown = |node: &NodeId| tree.is_text(*node) && !unshown.holds(*node);
    let texts = tree.counted().map(NodeId::new).filter(is_shown);
    let letters = texts.flat_map(|node| tree.text(node).chars()).filter(|c| c.is_alphanumeric());
    letters.take(than).count() < than
}

/// Letters and digits outside of tags.
pub(super) fn text_len(markup: &str) -> usize {
    let mut in_tag = false;
    let is_text = |c: &char| {
        match c {
            '<' => in_tag = true,
            '>' => in_tag = false,
            _ => {}
        }
        !in_tag && c.is_alphanumeric()
    };
    markup.chars().filter(is_text).count()
}

#[cfg(test)]
mod tests {
    use crate::{Note, ParseOptions, parse, write_text};

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
        let thread = "Rye is a grain that grows in cold places. ".repeat(9);
        let shell = format!("<p>Back to the forum</p><noscript><article>{thread}</article></noscript>");
        assert!(text(&shell).ends_with(&format!("{}\n", thread.trim())), "a line beside the text of the page");
        let page = format!("<p>{thread}</p><noscript><p>{thread}</p></noscript>");
        assert_eq!(text(&page), format!("{}\n", thread.trim()), "a page that shows as much");
        assert_eq!(text("<img src=x><noscript><img src=y></noscript>"), "");
    }
}
