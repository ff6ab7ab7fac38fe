//! The HTML tokenizer: from the text of a page to tokens for html5ever's tree builder.
//!
//! Source: WHATWG HTML, section 13.2.5. The whole page is in memory, so that the states of the standard are functions
//! that search for the next delimiter, and texts and values are slices of one shared buffer. Names of up to seven bytes
//! are interned in place, longer ones once a page. Parse errors are not reported.
//!
//! html5ever's own tokenizer reads a page character by character and copies names and values. It is the oracle of the
//! tests and can be chosen with `page.tokenizer`; docs/measurements.md has both times.

mod char_ref;
mod declaration;
mod raw_text;
mod tag;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::ops::Range;

use html5ever::LocalName;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{Token, TokenSink, TokenSinkResult};
use memchr::{memchr, memchr3};
use rustc_hash::FxHashMap;

use raw_text::RawText;

/// A sink that may have seen enough of a page.
pub(super) trait PageSink: TokenSink {
    /// Whether no further token changes anything.
    fn is_full(&self) -> bool;
}

/// What the next bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Data,
    RawText(RawText),
    Plaintext,
}

/// A tokenizer of one page.
pub(super) struct Tokenizer<'t, S> {
    input: &'t str,
    bytes: &'t [u8],
    /// The input again: tokens share it.
    shared: StrTendril,
    at: usize,
    state: State,
    /// The last start tag: only its end tag ends raw text.
    last_start: LocalName,
    /// Names of more than seven bytes, which are slow to intern.
    names: FxHashMap<&'t str, LocalName>,
    max_attributes: usize,
    /// Tags whose further attributes were left out.
    n_cut: usize,
    sink: S,
}

/// Names of at most this length are kept in the place of a pointer.
const INLINE: usize = 7;

/// Bytes that a text is copied from, because it needs no more room than a reference to it.
const TINY: usize = 8;

/// Tokenizes a page without carriage returns ([`normalized_newlines`]). Returns the sink, and the number of tags that
/// had more than `max_attributes`.
pub(super) fn tokenize<S: PageSink>(input: &str, sink: S, max_attributes: usize) -> (S, usize) {
    let input = input.strip_prefix('\u{feff}').unwrap_or(input);
    let mut tokenizer = Tokenizer {
        input,
        bytes: input.as_bytes(),
        shared: StrTendril::from_slice(input),
        at: 0,
        state: State::Data,
        last_start: LocalName::default(),
        names: FxHashMap::default(),
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
    tokenizer.emit(Token::EOFToken);
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

fn is_space(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | 0x0c | b' ')
}

impl<'t, S: PageSink> Tokenizer<'t, S> {
    /// Text up to the next markup, and the markup.
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
                self.emit(Token::NullCharacterToken);
            }
            None => {}
        }
    }

    /// What begins with `<`.
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
            // A sign like any other.
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
                self.emit(Token::CharacterTokens(StrTendril::from_slice(reference.text(&mut [0; 8]))));
            }
            None => self.text_of(1),
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// A part of the input. Its ends are ends of characters.
    fn slice(&self, range: Range<usize>) -> StrTendril {
        match range.len() {
            ..=TINY => StrTendril::from_slice(&self.input[range]),
            len => self.shared.subtendril(range.start as u32, len as u32),
        }
    }

    /// A part of the input with U+FFFD for each NUL.
    fn slice_without_nul(&self, range: Range<usize>) -> StrTendril {
        match memchr(0, &self.bytes[range.clone()]) {
            None => self.slice(range),
            Some(_) => StrTendril::from_slice(&self.input[range].replace('\0', "\u{fffd}")),
        }
    }

    /// A name from here up to a byte that ends it, of at least `least` bytes: in lower case, U+FFFD for each NUL.
    fn name(&mut self, least: usize, ends: impl Fn(u8) -> bool) -> LocalName {
        let rest = &self.bytes[self.at..];
        let end = rest.iter().enumerate().position(|(n, byte)| n >= least && ends(*byte));
        let name = &self.input[self.at..self.at + end.unwrap_or(rest.len())];
        self.at += name.len();
        if name.bytes().any(|byte| byte == 0 || byte.is_ascii_uppercase()) {
            return LocalName::from(name.replace('\0', "\u{fffd}").to_ascii_lowercase());
        }
        if name.len() <= INLINE {
            return LocalName::from(name);
        }
        self.names.entry(name).or_insert_with(|| LocalName::from(name)).clone()
    }

    fn skip_space(&mut self) {
        while self.peek().is_some_and(is_space) {
            self.at += 1;
        }
    }

    fn emit_text(&mut self, range: Range<usize>) {
        if !range.is_empty() {
            self.emit(Token::CharacterTokens(self.slice(range)));
        }
    }

    /// Gives a token to the sink, which may switch the state.
    fn emit(&mut self, token: Token) {
        match self.sink.process_token(token, 1) {
            TokenSinkResult::Continue | TokenSinkResult::Script(_) | TokenSinkResult::EncodingIndicator(_) => {}
            TokenSinkResult::Plaintext => self.state = State::Plaintext,
            TokenSinkResult::RawData(RawKind::Rcdata) => self.state = State::RawText(RawText::WithReferences),
            TokenSinkResult::RawData(RawKind::Rawtext) => self.state = State::RawText(RawText::Plain),
            TokenSinkResult::RawData(_) => self.state = State::RawText(RawText::Script),
        }
    }
}
