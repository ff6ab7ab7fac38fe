//! What is measured of the text of each block.

use rustc_hash::FxHashMap;

use super::blocks::{Block, Blocks};
use super::numbers::ln;
use super::tags::{Is, Tags};
use super::text_scan::{non_ascii, places, steps, sum_of_classes};
use super::words::{closes, ends_sentence, for_each_word, has_date, is_mark, is_separator, weight};
use dehusk_html::{NodeId, Tree, hash_str};

/// Measures of one block.
#[derive(Clone, Debug, Default)]
pub(super) struct Measure {
    /// Characters without white space, an ideograph as three.
    pub(super) len: f32,
    pub(super) link_len: f32,
    pub(super) emphasis_len: f32,
    /// Words, in [`Measures::words`].
    pub(super) words: std::ops::Range<usize>,
    /// Marks of punctuation.
    pub(super) marks: f32,
    pub(super) commas: f32,
    pub(super) separators: f32,
    pub(super) digits: f32,
    /// Characters without white space.
    pub(super) chars: f32,
    /// Shares of its words between blanks.
    pub(super) capitalized: f32,
    pub(super) all_capitals: f32,
    pub(super) texts: f32,
    pub(super) links: f32,
    /// Links to a place on the page, or to a script.
    pub(super) local_links: f32,
    pub(super) absolute_links: f32,
    pub(super) ends_sentence: bool,
    pub(super) ends_with_colon: bool,
    pub(super) begins_lower: bool,
    pub(super) asks_or_exclaims: bool,
    pub(super) has_copyright: bool,
    pub(super) has_date: bool,
    pub(super) has_time_element: bool,
    /// Long, with sentences, with few links.
    pub(super) is_prose: bool,
    /// Hash of its text.
    pub(super) text: u64,
    /// Hash of its text with digits as 0.
    pub(super) pattern: u64,
}

impl Measure {
    pub(super) fn n_words(&self) -> f32 {
        self.words.len() as f32
    }

    pub(super) fn link_share(&self) -> f32 {
        self.link_len / self.len.max(1.0)
    }

    /// Marks in proportion to the text, about 1 for prose.
    pub(super) fn mark_rate(&self) -> f32 {
        (self.marks / self.len.max(1.0) * 30.0).min(2.0)
    }
}

/// Measures of all blocks.
#[derive(Debug, Default)]
pub(super) struct Measures {
    pub(super) list: Vec<Measure>,
    /// Numbers of all words of the page, block by block.
    pub(super) words: Vec<u32>,
    /// The distinct words, by their hash.
    numbers: FxHashMap<u64, u32>,
    /// Of each word: [`Word::rank`](super::words::Word::rank).
    ranks: Vec<u64>,
    /// Of each word: the logarithm of how often it is on the page.
    pub(super) ln_counts: Vec<f32>,
    /// Of each word: whether it is among the most frequent ones of the prose, function words of any language.
    pub(super) is_frequent: Vec<bool>,
    /// How often each text is on the page.
    pub(super) text_counts: FxHashMap<u64, u32>,
}

/// Letters of a word, at least, in most languages. A page in which each word is another one grows the tables.
const LETTERS: usize = 5;

/// Number of words that count as frequent.
const N_FREQUENT: usize = 30;

impl Measures {
    pub(super) fn new(tree: &Tree, tags: &Tags<'_>, blocks: &Blocks) -> Measures {
        let mut measures = Measures::default();
        measures.words.reserve(blocks.text.len() / LETTERS);
        measures.numbers.reserve(blocks.text.len() / (3 * LETTERS));
        let links = Links::new(tree, tags);
        for block in &blocks.list {
            let measure = measures.measure(tree, tags, blocks, block, &links);
            *measures.text_counts.entry(measure.text).or_default() += 1;
            measures.list.push(measure);
        }
        let n = measures.ranks.len();
        let (mut counts, mut in_prose) = (vec![0_u32; n], vec![0_u32; n]);
        for measure in &measures.list {
            for word in &measures.words[measure.words.clone()] {
                counts[*word as usize] += 1;
                in_prose[*word as usize] += u32::from(measure.is_prose);
            }
        }
        measures.ln_counts = counts.iter().map(|count| ln(*count as f32)).collect();
        let mut ranked: Vec<(u32, u64, usize)> = (0..n)
            .filter(|word| in_prose[*word] > 0)
            .map(|word| (in_prose[word], measures.ranks[word], word))
            .collect();
        if ranked.len() > N_FREQUENT {
            ranked.select_nth_unstable_by(N_FREQUENT, |a, b| b.cmp(a));
            ranked.truncate(N_FREQUENT);
        }
        measures.is_frequent = vec![false; n];
        ranked.into_iter().for_each(|(_, _, word)| measures.is_frequent[word] = true);
        measures
    }

    /// The number of a word, by its hash; `None` if it is not on the page.
    pub(super) fn number(&self, hash: u64) -> Option<usize> {
        self.numbers.get(&hash).map(|number| *number as usize)
    }

    /// Number of distinct words.
    pub(super) fn n_distinct(&self) -> usize {
        self.ranks.len()
    }

    fn add_words(&mut self, text: &str) -> std::ops::Range<usize> {
        let from = self.words.len();
        for_each_word(text, |hash, word| {
            let next = self.ranks.len() as u32;
            let number = *self.numbers.entry(hash).or_insert(next);
            if number == next {
                self.ranks.push(word.rank());
            }
            self.words.push(number);
        });
        from..self.words.len()
    }

    fn measure(&mut self, tree: &Tree, tags: &Tags<'_>, blocks: &Blocks, block: &Block, links: &Links) -> Measure {
        let text = blocks.text_of(block);
        let mut measure = Measure { words: self.add_words(text), text: hash_str(text), ..Measure::default() };
        let mut last_link = 0;
        for node in blocks.nodes_of(block) {
            let len = weight(tree.text(node)) as f32;
            measure.len += len;
            measure.texts += 1.0;
            let link = links.around[node.index()];
            if link != 0 {
                measure.link_len += len;
                if link != last_link {
                    measure.count_link(tree.attr(NodeId::new(link as usize), "href").unwrap_or_default());
                    last_link = link;
                }
            }
            if links.is_emphasized[node.index()] {
                measure.emphasis_len += len;
            }
            let parent = NodeId::new(tree.shape.parent[node.index()] as usize);
            measure.has_time_element |= tags.tag(parent).is == Is::Time;
        }
        measure.read_text(text);
        measure.is_prose = measure.len >= 50.0 && measure.marks >= 2.0 && measure.link_len < 0.5 * measure.len;
        measure
    }
}

impl Measure {
    fn read_text(&mut self, text: &str) {
        let counts = Counts::new(text);
        self.chars = counts.chars as f32;
        self.digits = counts.digits as f32;
        self.marks = counts.marks as f32;
        self.commas = counts.commas as f32;
        self.separators = counts.separators as f32;
        self.has_copyright = counts.copyright_signs > 0;
        self.asks_or_exclaims = counts.asking > 0;
        self.capitalized = counts.capitalized as f32 / counts.words.max(1) as f32;
        self.all_capitals = counts.all_capitals as f32 / counts.words.max(1) as f32;
        self.pattern =
            if counts.digits > 0 { hash_str(&text.replace(|c: char| c.is_ascii_digit(), "0")) } else { self.text };
        let end = text.trim_end_matches(|c: char| closes(c) || c == ' ');
        let last = if end.is_empty() { text } else { end }.chars().next_back();
        self.ends_sentence = last.is_some_and(ends_sentence);
        self.ends_with_colon = matches!(last, Some(':' | '：'));
        self.begins_lower = text.starts_with(char::is_lowercase);
        self.has_date = counts.digits > 0 && has_date(text);
    }

    fn count_link(&mut self, href: &str) {
        self.links += 1.0;
        let begins = |with: &str| href.get(..with.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(with));
        if begins("#") || begins("javascript") {
            self.local_links += 1.0;
        } else if begins("http") {
            self.absolute_links += 1.0;
        }
    }
}

/// Characters and words of a text, counted.
#[derive(Default, Debug, PartialEq, Eq)]
struct Counts {
    chars: u32,
    digits: u32,
    marks: u32,
    commas: u32,
    separators: u32,
    copyright_signs: u32,
    /// `?` and `!`.
    asking: u32,
    /// Words between blanks.
    words: u32,
    capitalized: u32,
    all_capitals: u32,
}

/// What a byte of ASCII counts as, in a number with one byte for each sum of [`Counts::new`].
static SUMS_BY_BYTE: [u64; 256] = {
    let (mut sums, mut byte) = ([0; 256], 0);
    while byte < 128 {
        let c = byte as u8 as char;
        sums[byte] = c.is_ascii_digit() as u64
            | (is_mark(c) as u64) << 8
            | ((c == ',') as u64) << 16
            | (is_separator(c) as u64) << 24
            | (matches!(c, '?' | '!') as u64) << 32;
        byte += 1;
    }
    sums
};

impl Counts {
    fn new(text: &str) -> Counts {
        let [digits, marks, commas, separators, asking, ..] = sum_of_classes(text.as_bytes(), &SUMS_BY_BYTE);
        let mut counts = Counts { digits, marks, commas, separators, asking, ..Counts::default() };
        counts.count_words(text);
        if !text.is_ascii() {
            non_ascii(text).for_each(|c| counts.add_other(c));
        }
        counts
    }

    /// Counts the words between blanks, and the other bytes as characters.
    fn count_words(&mut self, text: &str) {
        let (mut n_blanks, mut last) = (0, 1);
        for (from, step) in steps(text.as_bytes()) {
            let blanks = step.bits(|byte| byte == b' ');
            let begins = (blanks << 1 | last) & !blanks;
            n_blanks += blanks.count_ones();
            last = blanks >> 63;
            // A word that begins with a lower case letter is neither.
            for at in places(begins & step.bits(|byte| !byte.is_ascii_lowercase())) {
                let word = text.get(from + at..).unwrap_or_default();
                let word = &word[..memchr::memchr(b' ', word.as_bytes()).unwrap_or(word.len())];
                self.capitalized += u32::from(word.starts_with(char::is_uppercase));
                self.all_capitals += u32::from(is_all_capitals(word));
            }
        }
        self.words = n_blanks + 1;
        self.chars = text.len() as u32 - n_blanks;
    }

    /// A character that is not ASCII, whose bytes were counted as characters.
    fn add_other(&mut self, c: char) {
        self.chars -= c.len_utf8() as u32 - 1;
        self.marks += u32::from(is_mark(c));
        self.commas += u32::from(matches!(c, '，' | '、'));
        self.separators += u32::from(is_separator(c));
        self.copyright_signs += u32::from(c == '©');
    }
}

fn is_all_capitals(word: &str) -> bool {
    let mut letters = word.chars().filter(|c| c.is_alphabetic()).peekable();
    word.len() > 1 && letters.peek().is_some() && letters.all(char::is_uppercase)
}

/// What inline elements say of the text nodes below them.
struct Links {
    /// The `a` around each node; 0 for none.
    around: Vec<u32>,
    is_emphasized: Vec<bool>,
}

impl Links {
    fn new(tree: &Tree, tags: &Tags<'_>) -> Links {
        let mut links = Links { around: vec![0; tree.len()], is_emphasized: vec![false; tree.len()] };
        for node in tree.counted() {
            let parent = tree.shape.parent[node] as usize;
            links.around[node] = links.around[parent];
            links.is_emphasized[node] = links.is_emphasized[parent];
            if tree.is_text(NodeId::new(node)) {
                continue;
            }
            match tags.tag(NodeId::new(node)).is {
                Is::A => links.around[node] = node as u32,
                Is::Emphasis => links.is_emphasized[node] = true,
                _ => {}
            }
        }
        links
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The literal form of [`Counts::new`].
    fn counted(text: &str) -> Counts {
        let n = |is: fn(char) -> bool| text.chars().filter(|c| is(*c)).count() as u32;
        let words = |is: fn(&str) -> bool| text.split(' ').filter(|word| is(word)).count() as u32;
        Counts {
            chars: n(|c| c != ' '),
            digits: n(|c| c.is_ascii_digit()),
            marks: n(is_mark),
            commas: n(|c| matches!(c, ',' | '，' | '、')),
            separators: n(is_separator),
            copyright_signs: n(|c| c == '©'),
            asking: n(|c| matches!(c, '?' | '!')),
            words: words(|_| true),
            capitalized: words(|word| word.starts_with(char::is_uppercase)),
            all_capitals: words(is_all_capitals),
        }
    }

    #[test]
    fn counts_are_those_of_the_characters() {
        let ascii = ["", " ", "Rye, OATS & corn: 1/2 of A1 B!", "a  b ", "X", "XY 12 -- ?", "NASA's U.S. [edit] >>"];
        let other = ["Été, ÉTÉ © 2 É", "北京，上海、天津 A", "\u{201c}Rye\u{201d} » oats…", "Ёлка ЁЛКА ё!", "ß SS ẞẞ"];
        for text in ascii.into_iter().chain(other) {
            assert_eq!(Counts::new(text), counted(text), "{text}");
            let long = text.repeat(300);
            assert_eq!(Counts::new(&long), counted(&long), "{text}, repeated");
        }
        assert_eq!(Counts::new(&"7".repeat(600)).digits, 600);
        let counts = Counts::new("Rye, OATS © B1");
        assert_eq!((counts.words, counts.capitalized, counts.all_capitals, counts.copyright_signs), (4, 3, 2, 1));
    }
}
