//! Pieces of a page for retrieval: its Markdown, divided along headings and blocks.
//!
//! Sections stay together as far as they fit; small ones share a piece with the next one. A table or a listing is never
//! divided, even if it is larger than the limit. A longer list is divided between its items, a longer paragraph between
//! its sentences (UAX 29), and a longer sentence between its words. The pieces of a page do not overlap, and together
//! they hold all of its blocks in order.

use std::ops::Range;

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag};
use unicode_segmentation::UnicodeSegmentation;

use crate::corpus::TokenCounter;

/// How large a piece may be.
#[derive(Clone, Copy, Debug)]
pub struct ChunkSize<'a> {
    /// Characters, or tokens, at most.
    pub most: usize,
    /// What counts tokens; `None`: characters count.
    pub tokens: Option<&'a dyn TokenCounter>,
}

impl ChunkSize<'_> {
    /// The size of a text.
    pub fn of(&self, text: &str) -> usize {
        self.tokens.and_then(|tokens| tokens.count(text)).unwrap_or_else(|| text.chars().count())
    }
}

/// A piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Its bytes in the Markdown.
    pub range: Range<usize>,
    /// The headings that it stands below, the highest first. Those at its beginning are among them.
    pub headings: Vec<String>,
    /// The first words of its text, at most eight, by which a link leads to it.
    pub first_words: String,
}

/// Part of a piece.
struct Block {
    range: Range<usize>,
    heading: Option<(HeadingLevel, String)>,
    /// Where it may be divided: ends of parts, as offsets in the Markdown. Empty: nowhere.
    parts: Vec<Range<usize>>,
    first_words: String,
}

/// Sections that are smaller than this share of a piece share it with the next one.
const SMALL: usize = 4;

/// Words that a link names.
const LINK_WORDS: usize = 8;

/// Divides the Markdown of a page.
pub fn chunks(markdown: &str, size: ChunkSize<'_>) -> Vec<Chunk> {
    let mut packer = Packer { markdown, size, path: Vec::new(), open: None, heads: None, done: Vec::new() };
    for block in blocks(markdown) {
        packer.add(block);
    }
    packer.finish()
}

/// What is packed into pieces.
struct Packer<'a> {
    markdown: &'a str,
    size: ChunkSize<'a>,
    /// The headings above.
    path: Vec<(HeadingLevel, String)>,
    open: Option<Chunk>,
    /// Headings without a block so far.
    heads: Option<Range<usize>>,
    done: Vec<Chunk>,
}

impl Packer<'_> {
    fn add(&mut self, block: Block) {
        if let Some((level, text)) = block.heading {
            let is_small = |chunk: &Chunk| self.measure(&chunk.range) * SMALL < self.size.most;
            if self.open.as_ref().is_some_and(|chunk| !is_small(chunk)) {
                self.close();
            }
            self.path.retain(|(above, _)| *above < level);
            self.path.push((level, text));
            let begin = self.heads.take().map_or(block.range.start, |heads| heads.start);
            self.heads = Some(begin..block.range.end);
            return;
        }
        let begin = self.heads.take().map_or(block.range.start, |heads| heads.start);
        if self.measure(&(begin..block.range.end)) <= self.size.most || block.parts.is_empty() {
            return self.put(begin..block.range.end, &block.first_words);
        }
        let mut begin = begin;
        for part in &block.parts {
            for piece in self.divided(begin..part.end) {
                let words = first_words(&self.markdown[piece.clone()]);
                self.put(piece, &words);
            }
            begin = part.end;
        }
    }

    /// A sentence or an item in pieces of words, where it is too long.
    fn divided(&self, range: Range<usize>) -> Vec<Range<usize>> {
        if self.measure(&range) <= self.size.most {
            return vec![range];
        }
        let text = &self.markdown[range.clone()];
        let middle = text.floor_char_boundary(text.len() / 2);
        let space = |text: &str| text.rfind(char::is_whitespace);
        let cut = space(&text[..middle]).map(|at| at + text[at..].chars().next().map_or(1, char::len_utf8));
        let cut = range.start + cut.filter(|cut| *cut > 0).unwrap_or(middle);
        if cut == range.start || cut == range.end {
            return vec![range];
        }
        let mut all = self.divided(range.start..cut);
        all.extend(self.divided(cut..range.end));
        all
    }

    /// Adds a range to the open piece, or begins one.
    fn put(&mut self, range: Range<usize>, words: &str) {
        if let Some(open) = &mut self.open {
            if self.size.of(self.markdown[open.range.start..range.end].trim()) <= self.size.most {
                open.range.end = range.end;
                return;
            }
            self.close();
        }
        let headings = self.path.iter().map(|(_, text)| text.clone()).collect();
        self.open = Some(Chunk { range, headings, first_words: words.to_owned() });
    }

    fn measure(&self, range: &Range<usize>) -> usize {
        self.size.of(self.markdown[range.clone()].trim())
    }

    fn close(&mut self) {
        if let Some(mut chunk) = self.open.take() {
            let text = &self.markdown[chunk.range.clone()];
            chunk.range.start += text.len() - text.trim_start().len();
            chunk.range.end = chunk.range.start + text.trim().len();
            if !chunk.range.is_empty() {
                self.done.push(chunk);
            }
        }
    }

    fn finish(mut self) -> Vec<Chunk> {
        if let Some(heads) = self.heads.take() {
            let words = first_words(&self.markdown[heads.clone()]);
            self.put(heads, &words);
        }
        self.close();
        self.done
    }
}

/// The blocks of a document that stand in no other one.
fn blocks(markdown: &str) -> Vec<Block> {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_MATH;
    let mut all: Vec<Block> = Vec::new();
    let mut depth = 0;
    let mut text = String::new();
    for (event, range) in Parser::new_ext(markdown, options).into_offset_iter() {
        match event {
            Event::Start(tag) => {
                if depth == 0 {
                    text.clear();
                    all.push(begun(&tag, range, markdown));
                } else if matches!(tag, Tag::Item)
                    && depth == 1
                    && let Some(list) = all.last_mut()
                {
                    list.parts.push(range);
                }
                depth += 1;
            }
            Event::End(_) => {
                depth -= 1;
                if let (0, Some(block)) = (depth, all.last_mut()) {
                    if let Some((_, heading)) = &mut block.heading {
                        *heading = text.split_whitespace().collect::<Vec<_>>().join(" ");
                    }
                    block.first_words = words_of(&text);
                }
                text.push(' ');
            }
            Event::Text(part) | Event::Code(part) => text.push_str(&part),
            Event::SoftBreak | Event::HardBreak => text.push(' '),
            _ if depth == 0 => {
                all.push(Block { range, heading: None, parts: Vec::new(), first_words: String::new() });
            }
            _ => {}
        }
    }
    all
}

fn begun(tag: &Tag<'_>, range: Range<usize>, markdown: &str) -> Block {
    let heading = if let Tag::Heading { level, .. } = tag { Some((*level, String::new())) } else { None };
    let parts = match tag {
        Tag::Paragraph | Tag::BlockQuote(_) | Tag::HtmlBlock => {
            let sentences = markdown[range.clone()].split_sentence_bound_indices();
            sentences.map(|(at, text)| range.start + at..range.start + at + text.len()).collect()
        }
        _ => Vec::new(),
    };
    Block { range, heading, parts, first_words: String::new() }
}

fn first_words(markdown: &str) -> String {
    let text = Parser::new(markdown).fold(String::new(), |mut text, event| {
        match event {
            Event::Text(part) | Event::Code(part) => text.push_str(&part),
            Event::End(_) | Event::SoftBreak | Event::HardBreak => text.push(' '),
            _ => {}
        }
        text
    });
    words_of(&text)
}

fn words_of(text: &str) -> String {
    text.split_whitespace().take(LINK_WORDS).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(markdown: &str, most: usize) -> Vec<(String, String)> {
        let all = chunks(markdown, ChunkSize { most, tokens: None });
        all.into_iter().map(|chunk| (chunk.headings.join(" > "), markdown[chunk.range].to_owned())).collect()
    }

    #[test]
    fn sections_stay_together_and_know_what_they_are_below() {
        let a = "Rye is a grain that grows in the north. It stands the cold.";
        let markdown = format!("# Grains\n\nAll.\n\n## Rye\n\n{a}\n\n### Use\n\n{a}\n\n## Oats\n\n{a}\n");
        let found = of(&markdown, 90);
        let paths: Vec<&str> = found.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(paths, ["Grains", "Grains > Rye > Use", "Grains > Oats"]);
        assert!(found[0].1.starts_with("# Grains\n\nAll.\n\n## Rye") && found[2].1.starts_with("## Oats\n\nRye"));
        assert_eq!(of(&markdown, 10_000).len(), 1);
    }

    #[test]
    fn tables_and_listings_are_whole_and_long_texts_divided() {
        let table = "| a | b |\n|---|---|\n| one | two |\n| three | four |";
        let code = "```\nlet a = 1;\n\nlet b = 2;\n```";
        let found = of(&format!("{table}\n\n{code}\n"), 10);
        assert_eq!(found.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>(), [table, code]);
        let found = of("One is here. Two is there. Three is gone.", 15);
        assert_eq!(
            found.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>(),
            ["One is here.", "Two is there.", "Three is gone."]
        );
        assert_eq!(of("- one item\n- two items\n- three items\n", 14).len(), 3);
        let long = "word ".repeat(100);
        assert!(of(&long, 50).iter().all(|(_, text)| text.len() <= 50));
        assert!(of(&"x".repeat(1000), 50).iter().all(|(_, text)| text.len() <= 50));
        assert_eq!((of("", 50).len(), of("# Only", 50)), (0, vec![("Only".to_owned(), "# Only".to_owned())]));
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_nothing_twice(markdown in "([#>|`* -]{0,2}[a-zé ]{0,30}[.!]?\n{0,2}){0,12}", most in 5_usize..80) {
            let found = chunks(&markdown, ChunkSize { most, tokens: None });
            let mut end = 0;
            for chunk in &found {
                prop_assert!(chunk.range.start >= end);
                end = chunk.range.end;
            }
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>().concat();
            let kept: String = found.iter().map(|chunk| words(&markdown[chunk.range.clone()])).collect();
            // Definitions of links and the like are no blocks; all that is shown is there.
            let shown = chunks(&markdown, ChunkSize { most: usize::MAX, tokens: None });
            let whole: String = shown.iter().map(|chunk| words(&markdown[chunk.range.clone()])).collect();
            prop_assert_eq!(kept, whole);
        }
    }
}
