//! What the head of a page says about its content: title and description, as sets of words.

use rustc_hash::FxHashSet;

use super::measures::Measures;
use super::words::for_each_word;
use dehusk_html::{NodeId, Tree};

/// Words of the head that the page has, too.
#[derive(Debug, Default)]
pub(super) struct Head {
    /// Of the longer one of `title` and `og:title`.
    pub(super) title: HeadWords,
    /// Of `og:title`, or of the title.
    pub(super) og_title: HeadWords,
    /// Of `description` and `og:description`.
    pub(super) description: HeadWords,
}

/// Distinct words of a line of the head.
#[derive(Debug, Default)]
pub(super) struct HeadWords {
    /// Their number, on the page or not.
    pub(super) n: f32,
    /// Of each word of the page: whether it is one of them.
    is_in: Vec<bool>,
}

impl HeadWords {
    fn new(text: &str, measures: &Measures) -> HeadWords {
        let mut words = FxHashSet::default();
        for_each_word(text, |word, _| {
            words.insert(word);
        });
        let mut is_in = vec![false; measures.n_distinct()];
        words.iter().filter_map(|word| measures.number(*word)).for_each(|number| is_in[number] = true);
        HeadWords { n: words.len() as f32, is_in }
    }

    /// How many of these words are in the line, each time they occur.
    pub(super) fn count(&self, words: &[u32]) -> f32 {
        words.iter().filter(|word| self.is_in[**word as usize]).count() as f32
    }

    /// How many distinct ones of these words are in the line.
    pub(super) fn count_distinct(&self, words: &[u32]) -> f32 {
        if self.n == 0.0 {
            return 0.0;
        }
        let mut found: Vec<u32> = words.iter().copied().filter(|word| self.is_in[*word as usize]).collect();
        if found.len() > 1 {
            found.sort_unstable();
            found.dedup();
        }
        found.len() as f32
    }
}

impl Head {
    pub(super) fn new(tree: &Tree, measures: &Measures) -> Head {
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
        let words = |text: &str| HeadWords::new(text, measures);
        Head { title: words(longer), og_title: words(&og_title), description: words(&description) }
    }
}
