//! Tags and their attributes.

use std::borrow::Cow;

use memchr::memchr3;

use super::{Content, RawText, StartTag, State, TagAttr, TokenSink, Tokenizer, is_space};

/// What ends a name in a tag.
#[inline(always)]
fn ends_name(byte: u8) -> bool {
    is_space(byte) || matches!(byte, b'/' | b'>')
}

impl<'t, S: TokenSink> Tokenizer<'t, S> {
    /// A start tag, from its name on. A tag that is open at the end of the input is dropped.
    #[inline(always)]
    pub(super) fn start_tag(&mut self) {
        let name = self.name(0, ends_name);
        self.state = State::Data;
        let Some(is_self_closing) = self.contents(self.max_attributes) else { return };
        self.last_start = name;
        let content = self.sink.start_tag(&StartTag { name, attrs: &self.attrs, is_self_closing });
        match content {
            Content::Markup => {}
            Content::WithReferences => self.state = State::RawText(RawText::WithReferences),
            Content::Plain => self.state = State::RawText(RawText::Plain),
            Content::Script => self.state = State::RawText(RawText::Script),
            Content::Plaintext => self.state = State::Plaintext,
        }
    }

    /// An end tag, from its name on.
    #[inline(always)]
    pub(super) fn end_tag(&mut self) {
        let name = self.name(0, ends_name);
        self.state = State::Data;
        if self.contents(0).is_some() {
            self.sink.end_tag(name);
        }
    }

    /// Reads the rest of a tag, of which so many attributes are kept. Returns whether it closes itself; `None` if the
    /// input ends in it.
    #[inline(always)]
    fn contents(&mut self, n_kept: usize) -> Option<bool> {
        self.attrs.clear();
        let (mut n_seen, mut is_self_closing) = (0, false);
        loop {
            match self.peek() {
                Some(b'>') => {
                    self.at += 1;
                    self.n_cut += usize::from(n_seen > self.max_attributes);
                    return Some(is_self_closing);
                }
                Some(b'/') => {
                    self.at += 1;
                    is_self_closing = self.peek() == Some(b'>');
                }
                Some(byte) if is_space(byte) => self.at += 1,
                Some(_) => {
                    n_seen += 1;
                    if self.attribute(n_seen <= n_kept).is_none() {
                        break;
                    }
                }
                None => break,
            }
        }
        self.at = self.bytes.len();
        None
    }

    /// An attribute, kept unless it is there already or not to be kept. `None` if the input ends in its value.
    #[inline(always)]
    fn attribute(&mut self, keep: bool) -> Option<()> {
        // The first character of a name may be `=`.
        let ends = |byte| ends_name(byte) || byte == b'=';
        let name = if keep { Some(self.name(1, ends)) } else { None };
        if name.is_none() {
            self.skip_name(1, ends);
        }
        self.skip_space();
        let value = match self.peek() {
            Some(b'=') => {
                self.at += 1;
                self.skip_space();
                self.value()?
            }
            _ => Cow::Borrowed(""),
        };
        if let Some(name) = name.filter(|name| !self.attrs.iter().any(|attr| attr.name == *name)) {
            self.attrs.push(TagAttr { name, value });
        }
        Some(())
    }

    /// The value of an attribute; `None` if the input ends in it.
    #[inline(always)]
    fn value(&mut self) -> Option<Cow<'t, str>> {
        match self.peek()? {
            quote @ (b'"' | b'\'') => {
                self.at += 1;
                self.quoted(quote)
            }
            b'>' => Some(Cow::Borrowed("")),
            _ => self.unquoted(),
        }
    }

    #[inline(always)]
    fn quoted(&mut self, quote: u8) -> Option<Cow<'t, str>> {
        let (mut start, mut copied) = (self.at, None);
        loop {
            let rest = &self.bytes[self.at..];
            self.at += memchr3(quote, b'&', 0, rest)?;
            if self.bytes[self.at] == quote {
                let value = self.joined(copied, start);
                self.at += 1;
                return Some(value);
            }
            start = self.special(&mut copied, start);
        }
    }

    fn unquoted(&mut self) -> Option<Cow<'t, str>> {
        let (mut start, mut copied) = (self.at, None);
        loop {
            match self.peek()? {
                b'>' => return Some(self.joined(copied, start)),
                byte if is_space(byte) => return Some(self.joined(copied, start)),
                b'&' | 0 => start = self.special(&mut copied, start),
                _ => self.at += 1,
            }
        }
    }

    /// What was copied, and the input from `start` to here.
    #[inline(always)]
    fn joined(&self, copied: Option<String>, start: usize) -> Cow<'t, str> {
        let part = &self.input[start..self.at];
        match copied {
            None => Cow::Borrowed(part),
            Some(copied) => Cow::Owned(copied + part),
        }
    }

    /// A character reference or a NUL in a value. Returns where the input goes on.
    #[cold]
    #[inline(never)]
    fn special(&mut self, copied: &mut Option<String>, start: usize) -> usize {
        if self.bytes[self.at] == 0 {
            let value = copied.get_or_insert_default();
            value.push_str(&self.input[start..self.at]);
            value.push('\u{fffd}');
            self.at += 1;
            return self.at;
        }
        let Some(reference) = self.reference(self.at, true) else {
            // No character reference: `&` is text.
            self.at += 1;
            return start;
        };
        let value = copied.get_or_insert_default();
        value.push_str(&self.input[start..self.at]);
        value.push_str(reference.text(&mut [0; 8]));
        self.at += reference.len;
        self.at
    }
}
