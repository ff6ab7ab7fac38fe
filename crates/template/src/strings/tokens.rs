//! Documents as token sequences.
//!
//! The key of a token is its text. The key of a mutable pattern is `PATTERN` followed by the name of the pattern. In
//! plain text, the key of a token that touches the previous token begins with `GLUED`, so that a string and its regular
//! expression are equivalent. Tokens are compared by the 64-bit hashes of their keys.

use regex_automata::meta::Cache;

use super::patterns::Patterns;
use crate::strings::StringTokens;
use dehusk_html::{NodeId, Tree, hash_str};

/// First character of the key of a mutable pattern.
pub(super) const PATTERN: char = '\u{1}';
/// First character of the key of a token that touches the previous token.
pub(super) const GLUED: char = '\u{2}';

/// A document to tokenize.
#[derive(Clone, Copy)]
pub enum Document<'a> {
    /// Plain text.
    Text(&'a str),
    /// A parsed page: the tags and texts of its body.
    Page(&'a Tree),
}

/// Position of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenPlace {
    /// Bytes of a plain text.
    Bytes(u32, u32),
    /// The start tag of a node.
    Open(NodeId),
    /// A piece of a text node.
    Within(NodeId),
    /// The end tag of a node.
    Close(NodeId),
}

/// Splits documents into tokens. Each thread needs its own tokenizer.
pub(super) struct Tokenizer<'p> {
    patterns: &'p Patterns,
    kind: StringTokens,
    cache: Cache,
    key: String,
}

impl<'p> Tokenizer<'p> {
    /// `Auto` is treated as `Html`. [`Corpus`](super::Corpus) replaces it by `Ws` for plain text.
    pub(super) fn new(patterns: &'p Patterns, kind: StringTokens) -> Tokenizer<'p> {
        Tokenizer { patterns, kind, cache: patterns.cache(), key: String::new() }
    }

    /// Passes the hash, key and position of each token to `take`.
    pub(super) fn run(&mut self, document: Document<'_>, mut take: impl FnMut(u64, &str, TokenPlace)) {
        match document {
            Document::Text(text) => self.text(text, |hash, key, start, end| {
                take(hash, key, TokenPlace::Bytes(start as u32, end as u32));
            }),
            Document::Page(tree) => self.page(tree, &mut take),
        }
    }

    fn page(&mut self, tree: &Tree, take: &mut impl FnMut(u64, &str, TokenPlace)) {
        let mut open: Vec<(usize, NodeId)> = Vec::new();
        let close = |node: NodeId, take: &mut dyn FnMut(u64, &str, TokenPlace)| {
            let key = format!("</{}>", tree.name(node));
            take(hash_str(&key), &key, TokenPlace::Close(node));
        };
        for at in tree.counted() {
            while let Some((_, node)) = open.pop_if(|(end, _)| *end <= at) {
                close(node, take);
            }
            let node = NodeId::new(at);
            if tree.is_text(node) {
                self.text(tree.text(node), |hash, key, _, _| take(hash, key, TokenPlace::Within(node)));
            } else if !tree.name(node).starts_with('#') {
                tag_key(tree, node, &mut self.key);
                take(hash_str(&self.key), &self.key, TokenPlace::Open(node));
                let end = tree.shape.subtree(node).end;
                // An element without content is one token.
                if end > at + 1 {
                    open.push((end, node));
                }
            }
        }
        while let Some((_, node)) = open.pop() {
            close(node, take);
        }
    }

    /// Tokenizes a text: patterns first, the rest by kind. Passes hash, key, start and end of each token to `take`.
    fn text(&mut self, text: &str, mut take: impl FnMut(u64, &str, usize, usize)) {
        let (mut at, mut glue) = (0, false);
        while at < text.len() {
            let found = self.patterns.find_at(text, at, &mut self.cache);
            let rest = found.map_or(text.len(), |found| found.start());
            self.plain(text, at..rest, &mut glue, &mut take);
            let Some(found) = found else { break };
            self.key.clear();
            self.key.extend(glue.then_some(GLUED));
            self.key.push(PATTERN);
            self.key.push_str(&self.patterns.list()[found.pattern().as_usize()].name);
            take(hash_str(&self.key), &self.key, found.start(), found.end());
            (at, glue) = (found.end(), self.kind_of_text() != StringTokens::Html);
        }
    }

    fn kind_of_text(&self) -> StringTokens {
        match self.kind {
            StringTokens::Auto => StringTokens::Html,
            kind => kind,
        }
    }

    fn plain(
        &mut self,
        text: &str,
        range: std::ops::Range<usize>,
        glue: &mut bool,
        take: &mut impl FnMut(u64, &str, usize, usize),
    ) {
        let kind = self.kind_of_text();
        let class = |c: char| match kind {
            _ if c.is_whitespace() => Class::Blank,
            // Otherwise they would be mistaken for the marker characters of keys.
            _ if c == PATTERN || c == GLUED => Class::Blank,
            StringTokens::F2007 if c == '-' => Class::Blank,
            StringTokens::F2007 | StringTokens::Ws => Class::Word,
            _ if !c.is_alphanumeric() => Class::Mark,
            _ if is_cjk(c) => Class::Alone,
            _ => Class::Word,
        };
        let mut start = range.start;
        while start < range.end {
            let mut rest = text[start..range.end].char_indices();
            let Some((_, first)) = rest.next() else { break };
            let of = class(first);
            let same = |(at, c): (usize, char)| (of == Class::Alone || class(c) != of).then_some(at);
            let end = rest.find_map(same).map_or(range.end, |n| start + n);
            if of == Class::Blank {
                *glue = false;
            } else {
                let word = &text[start..end];
                if *glue {
                    self.key.clear();
                    self.key.push(GLUED);
                    self.key.push_str(word);
                    take(hash_str(&self.key), &self.key, start, end);
                } else {
                    take(hash_str(word), word, start, end);
                }
                *glue = kind != StringTokens::Html;
            }
            start = end;
        }
    }
}

#[derive(PartialEq)]
enum Class {
    Blank,
    Word,
    Mark,
    /// Each character is a token of its own.
    Alone,
}

/// Whether the character is kana, Han or Hangul.
fn is_cjk(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}

/// Writes the key of a start tag, with its attributes sorted by name.
fn tag_key(tree: &Tree, node: NodeId, key: &mut String) {
    key.clear();
    key.push('<');
    key.push_str(tree.name(node));
    let mut attrs: Vec<(&str, &str)> = tree.attrs(node).collect();
    attrs.sort_unstable();
    for (name, value) in attrs {
        key.push(' ');
        key.push_str(name);
        key.push_str("=\"");
        key.push_str(value);
        key.push('"');
    }
    key.push('>');
}

/// A key in readable form: a pattern is shown as its name in brackets.
pub(super) fn shown(key: &str) -> String {
    let key = key.strip_prefix(GLUED).unwrap_or(key);
    key.strip_prefix(PATTERN).map_or_else(|| key.to_owned(), |name| format!("[{name}]"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dehusk_html::ParseOptions;
    use dehusk_html::parse;

    fn keys(kind: StringTokens, document: Document<'_>) -> Vec<String> {
        let patterns = Patterns::shipped();
        let mut keys = Vec::new();
        Tokenizer::new(&patterns, kind).run(document, |_, key, _| {
            keys.push(key.replace(PATTERN, "@").replace(GLUED, "+"));
        });
        keys
    }

    #[test]
    fn patterns_come_first_and_the_rest_is_cut_as_asked() {
        let text = Document::Text("I'm 24 miles-away (since 2002)");
        assert_eq!(keys(StringTokens::Ws, text), ["I'm", "@number", "miles-away", "(since", "@number", "+)"]);
        assert_eq!(keys(StringTokens::F2007, text), ["I'm", "@number", "miles", "away", "(since", "@number", "+)"]);
        assert_eq!(
            keys(StringTokens::Html, text),
            ["I", "'", "m", "@number", "miles", "-", "away", "(", "since", "@number", ")"]
        );
        assert_eq!(keys(StringTokens::Html, Document::Text("日本 x")), ["日", "本", "x"]);
        assert_eq!(keys(StringTokens::Ws, Document::Text("\u{1}a\u{2}b \u{1}\u{1}")), ["a", "b"], "marks of the input");
    }

    #[test]
    fn a_page_is_its_tags_and_words() {
        let tree = parse("<p title=t class=c>One, <b>two</b><br>", &ParseOptions::default());
        let found = keys(StringTokens::Auto, Document::Page(&tree));
        let wanted =
            ["<body>", "<p class=\"c\" title=\"t\">", "One", ",", "<b>", "two", "</b>", "<br>", "</p>", "</body>"];
        assert_eq!(found, wanted);
    }
}
