//! What the head of a page says about its content: title and description, as sets of words.

use rustc_hash::FxHashSet;

use super::words::for_each_word;
use crate::dom::{NodeId, Tree};

/// Words of the title and of the description.
#[derive(Debug, Default)]
pub(super) struct Head {
    /// Of the longer one of `title` and `og:title`.
    pub(super) title: FxHashSet<u64>,
    /// Of `og:title`, or of the title.
    pub(super) og_title: FxHashSet<u64>,
    /// Of `description` and `og:description`.
    pub(super) description: FxHashSet<u64>,
}

impl Head {
    pub(super) fn of(tree: &Tree) -> Head {
        let mut title = String::new();
        if let Some(node) = tree.all("title").next() {
            let texts = tree.shape.subtree(node).map(NodeId::new).filter(|node| tree.is_text(*node));
            texts.for_each(|node| title.push_str(tree.text(node)));
        }
        let (mut og_title, mut description) = (String::new(), String::new());
        for meta in tree.all("meta") {
            let name = tree.attr(meta, "property").or_else(|| tree.attr(meta, "name")).unwrap_or_default();
            let content = tree.attr(meta, "content").unwrap_or_default();
            match name.to_ascii_lowercase().as_str() {
                "og:title" if og_title.is_empty() => og_title.push_str(content),
                "description" | "og:description" => {
                    description.push(' ');
                    description.push_str(content);
                }
                _ => {}
            }
        }
        let og_title = if og_title.is_empty() { title.clone() } else { og_title };
        let longer = if og_title.len() > title.len() { &og_title } else { &title };
        Head { title: words(longer), og_title: words(&og_title), description: words(&description) }
    }
}

fn words(text: &str) -> FxHashSet<u64> {
    let mut words = FxHashSet::default();
    for_each_word(text, |word| {
        words.insert(word);
    });
    words
}
