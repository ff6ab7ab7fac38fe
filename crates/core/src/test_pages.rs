//! Pages of nested, unclosed and misnested elements for property tests, and near copies of them.

use std::ops::Range;

use proptest::collection::vec;
use proptest::strategy::Strategy;

const PARTS: [&str; 16] = [
    "<div class=a>",
    "<div class='a b' id=x>",
    "</div>",
    "<p>",
    "one",
    "two words",
    "<ul>",
    "<li>1",
    "<li class=c>2",
    "</ul>",
    "<span id=s>",
    "</span>",
    "<a href=1>link</a>",
    "<a href=2>link</a>",
    "<img src=1>",
    "<nav class=menu><a href=/>Home</a><a href=/b>Blog</a></nav>",
];

/// A page and `n` near copies of it, as HTML; the page itself comes last.
pub(crate) fn pages(n: usize, edits: Range<usize>) -> impl Strategy<Value = Vec<String>> {
    let edit = (0..n, 0..40_usize, 0..PARTS.len());
    (vec(0..PARTS.len(), 0..40), vec(edit, edits)).prop_map(move |(parts, edits)| {
        let mut pages = vec![parts; n + 1];
        for (page, at, part) in edits {
            let list = &mut pages[page];
            if at < list.len() { list[at] = part } else { list.push(part) }
        }
        pages.iter().map(|parts| parts.iter().map(|part| PARTS[*part]).collect()).collect()
    })
}
