//! The HTML tokenizer: from the text of a page to tokens for the tree builder.
//!
//! Source: WHATWG HTML, section 13.2.5. The whole page is in memory, so that the states of the standard are functions
//! that search for the next delimiter, and texts and values are slices of the page. Parse errors are not reported.
//!
//! html5ever's tokenizer, which reads a page character by character and copies names and values, is the oracle of the
//! tests.
//!
//! The functions that each tag passes, here and in the builder, are inlined by attribute. By itself, the compiler
//! leaves them apart, and parsing takes a sixth more time.

mod char_ref;
mod declaration;
mod raw_text;
mod tag;
#[cfg(test)]
mod tests;
mod token;

use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr, memchr3};

use super::names::Name;
pub use char_ref::decode_references;
use raw_text::RawText;
pub(super) use token::{Content, Doctype, StartTag, TagAttr, TokenSink};

/// What the next bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Data,
    RawText(RawText),
    Plaintext,
}

/// A tokenizer of one page.
struct Tokenizer<'t, S> {
    input: &'t str,
    bytes: &'t [u8],
    at: usize,
    state: State,
    /// The last start tag: only its end tag ends raw text.
    last_start: Name,
    /// The attributes of the tag that is read.
    attrs: Vec<TagAttr<'t>>,
    max_attributes: usize,
    /// Tags whose further attributes were left out.
    n_cut: usize,
    sink: S,
}

/// Tokenizes a page without carriage returns ([`normalized_newlines`]). Returns the sink, and the number of tags that
/// had more than `max_attributes`.
pub(super) fn tokenize<S: TokenSink>(input: &str, sink: S, max_attributes: usize) -> (S, usize) {
    let input = input.strip_prefix('\u{feff}').unwrap_or(input);
    let mut tokenizer = Tokenizer {
        input,
        bytes: input.as_bytes(),
        at: 0,
        state: State::Data,
        last_start: Name::NONE,
        attrs: Vec::new(),
        max_attributes,
        n_cut: 0,
        sink,
    };
    while tokenizer.at < input.len() && !tokenizer.sink.is_full() {
        match tokenizer.state {
            State::Data => tokenizer.data(),
            State::RawText(kind) => tokenizer.raw_text(kind),
            State::Plaintext => tokenizer.raw_to(input.len()),
        }
    }
    tokenizer.sink.end();
    (tokenizer.sink, tokenizer.n_cut)
}

/// The text with each `\r\n` and `\r` as `\n`.
pub(super) fn normalized_newlines(text: &str) -> Cow<'_, str> {
    if memchr(b'\r', text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr(b'\r', rest.as_bytes()) {
        out.push_str(&rest[..at]);
        out.push('\n');
        rest = &rest[at + 1..];
        rest = rest.strip_prefix('\n').unwrap_or(rest);
    }
    out.push_str(rest);
    Cow::Owned(out)
}

#[inline(always)]
fn is_space(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | 0x0c | b' ')
}

impl<'t, S: TokenSink> Tokenizer<'t, S> {
    /// Text up to the next markup, and the markup.
    #[inline(always)]
    fn data(&mut self) {
        let rest = &self.bytes[self.at..];
        let n = memchr3(b'<', b'&', 0, rest).unwrap_or(rest.len());
        self.emit_text(self.at..self.at + n);
        self.at += n;
        match self.peek() {
            Some(b'<') => self.markup(),
            Some(b'&') => self.text_reference(),
            Some(_) => {
                self.at += 1;
                self.sink.nul();
            }
            None => {}
        }
    }

    /// What begins with `<`.
    #[inline(always)]
    fn markup(&mut self) {
        let second = self.bytes.get(self.at + 1);
        let third = self.bytes.get(self.at + 2);
        match (second, third) {
            (Some(b'!'), _) => {
                self.at += 2;
                self.declaration();
            }
            (Some(b'?'), _) => {
                self.at += 1;
                self.bogus_comment();
            }
            (Some(b'/'), Some(b'>')) => self.at += 3,
            (Some(b'/'), Some(letter)) if letter.is_ascii_alphabetic() => {
                self.at += 2;
                self.end_tag();
            }
            (Some(b'/'), Some(_)) => {
                self.at += 2;
                self.bogus_comment();
            }
            (Some(letter), _) if letter.is_ascii_alphabetic() => {
                self.at += 1;
                self.start_tag();
            }
            // No tag: the characters are text.
            (Some(b'/'), None) => self.text_of(2),
            _ => self.text_of(1),
        }
    }

    fn text_of(&mut self, n: usize) {
        self.emit_text(self.at..self.at + n);
        self.at += n;
    }

    fn text_reference(&mut self) {
        match self.reference(self.at, false) {
            Some(reference) => {
                self.at += reference.len;
                self.sink.text(reference.text(&mut [0; 8]));
            }
            None => self.text_of(1),
        }
    }

    #[inline(always)]
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// A part of the input with U+FFFD for each NUL. Its ends are ends of characters.
    fn slice_without_nul(&self, range: Range<usize>) -> Cow<'t, str> {
        let part = &self.input[range];
        match memchr(0, part.as_bytes()) {
            None => Cow::Borrowed(part),
            Some(_) => Cow::Owned(part.replace('\0', "\u{fffd}")),
        }
    }

    /// Goes to the end of a name of at least `least` bytes.
    fn skip_name(&mut self, least: usize, ends: impl Fn(u8) -> bool) {
        let rest = &self.bytes[self.at..];
        let end = rest.iter().enumerate().position(|(n, byte)| n >= least && ends(*byte));
        self.at += end.unwrap_or(rest.len());
    }

    /// A name from here up to a byte that ends it, of at least `least` bytes: in lower case, U+FFFD for each NUL.
    #[inline(always)]
    fn name(&mut self, least: usize, ends: impl Fn(u8) -> bool) -> Name {
        let rest = &self.bytes[self.at..];
        let (mut len, mut key) = (0, 0_u64);
        while let Some(byte) = rest.get(len)
            && (len < least || !ends(*byte))
        {
            key = key << 8 | u64::from(*byte);
            len += 1;
        }
        let name = &self.input[self.at..self.at + len];
        self.at += len;
        self.sink.names().number_of(name, key)
    }

    #[inline(always)]
    fn skip_space(&mut self) {
        while self.peek().is_some_and(is_space) {
            self.at += 1;
        }
    }

    #[inline(always)]
    fn emit_text(&mut self, range: Range<usize>) {
        if !range.is_empty() {
            self.sink.text(&self.input[range]);
        }
    }
}
