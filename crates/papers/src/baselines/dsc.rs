//! DSC, the document slope curve (Pinto et al. 2002), in the adapted form that Gottron compares with.
//!
//! The tags and words of a page form one token sequence, and the curve is the number of tags up to each position. Long
//! flat parts of the curve are text. This version is written from the descriptions in later papers. A window of 50
//! tokens around each word is flat if its slope is less than three quarters of the page's mean slope. A text is content
//! if most of its words are in flat windows. A page without tags around its text has no content by this rule and is
//! kept whole.

use dehusk_content::Labels;
use dehusk_html::{NodeId, Tree};

/// Number of tokens in a window.
const WINDOW: usize = 50;
/// Share of the mean slope below which a window is flat.
const FLAT: f64 = 0.75;

/// Labels the texts on steep parts of the curve as template. Elements that contain kept text are kept. Linear in the
/// page.
pub fn by_slope(tree: &Tree) -> Labels {
    // Tags up to each token, and the text node of each word.
    let (mut tags, mut places) = (vec![0_u32], Vec::new());
    let mut open: Vec<usize> = Vec::new();
    let push = |is_tag: bool, tags: &mut Vec<u32>| tags.push(tags[tags.len() - 1] + u32::from(is_tag));
    for at in tree.counted() {
        while open.pop_if(|end| *end <= at).is_some() {
            push(true, &mut tags);
        }
        let node = NodeId::new(at);
        if tree.is_text(node) {
            let start = tags.len() - 1;
            tree.text(node).split_whitespace().for_each(|_| push(false, &mut tags));
            places.push((at, start..tags.len() - 1));
        } else {
            push(true, &mut tags);
            open.push(tree.shape.subtree(node).end);
        }
    }
    let n = tags.len() - 1;
    let mean = f64::from(tags[n]) / n.max(1) as f64;
    let is_flat = |token: usize| {
        let start = token.saturating_sub(WINDOW / 2);
        let end = (start + WINDOW).min(n);
        let slope = f64::from(tags[end] - tags[start]) / (end - start) as f64;
        slope < FLAT * mean
    };
    let mut is_out = vec![false; tree.len()];
    let mut any = false;
    for (node, words) in places {
        let n_flat = words.clone().filter(|token| is_flat(*token)).count();
        is_out[node] = 2 * n_flat <= words.len();
        any |= !is_out[node];
    }
    if !any {
        return Labels::none(tree);
    }
    Labels::new(with_elements(tree, is_out))
}

/// Also marks the elements that contain no kept text.
pub(super) fn with_elements(tree: &Tree, mut is_out: Vec<bool>) -> Vec<bool> {
    let counted = tree.counted();
    for node in counted.clone().filter(|node| !tree.is_text(NodeId::new(*node))) {
        is_out[node] = true;
    }
    for node in counted.skip(1).rev() {
        if !is_out[node] {
            is_out[tree.shape.parent[node] as usize] = false;
        }
    }
    is_out
}

#[cfg(test)]
mod tests {
    use super::*;
    use dehusk_html::ParseOptions;
    use dehusk_html::parse;

    #[test]
    fn long_text_is_flat_and_a_menu_steep() {
        let menu = "<li><a href=/>Home</a></li>".repeat(40);
        let article = "words that are written one behind the other ".repeat(20);
        let tree = parse(&format!("<ul>{menu}</ul><p>{article}</p><ul>{menu}</ul>"), &ParseOptions::default());
        let is_out = by_slope(&tree);
        let kept = tree.counted().map(NodeId::new).filter(|n| tree.is_text(*n) && !is_out.is_template(*n));
        assert_eq!(kept.map(|n| tree.text(n)).collect::<Vec<_>>(), [article.as_str()]);
        assert!(!by_slope(&parse("one two three", &ParseOptions::default())).is_template.contains(&true));
        assert!(!by_slope(&parse("", &ParseOptions::default())).is_template.contains(&true));
    }
}
