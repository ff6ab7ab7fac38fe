//! Tags and their attributes.

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{Tag, TagKind, Token};
use html5ever::{Attribute, QualName, ns};
use memchr::memchr3;

use super::{PageSink, State, Tokenizer, is_space};

/// What a tag holds behind its name.
#[derive(Default)]
struct Contents {
    attrs: Vec<Attribute>,
    /// Attributes seen, those left out among them.
    n_seen: usize,
    is_self_closing: bool,
    has_duplicates: bool,
}

impl<S: PageSink> Tokenizer<'_, S> {
    /// A start tag, from its name on. A tag that the input ends in is nothing.
    pub(super) fn start_tag(&mut self) {
        self.tag(TagKind::StartTag);
    }

    /// An end tag, from its name on.
    pub(super) fn end_tag(&mut self) {
        self.tag(TagKind::EndTag);
    }

    fn tag(&mut self, kind: TagKind) {
        let name = self.name(0, |byte| is_space(byte) || matches!(byte, b'/' | b'>'));
        self.state = State::Data;
        let Some(contents) = self.contents() else {
            self.at = self.bytes.len();
            return;
        };
        if kind == TagKind::StartTag {
            self.last_start = name.clone();
        }
        self.n_cut += usize::from(contents.n_seen > self.max_attributes);
        self.emit(Token::TagToken(Tag {
            kind,
            name,
            self_closing: contents.is_self_closing,
            attrs: contents.attrs,
            had_duplicate_attributes: contents.has_duplicates,
        }));
    }

    /// The rest of a tag; `None` if the input ends before it.
    fn contents(&mut self) -> Option<Contents> {
        let mut contents = Contents::default();
        loop {
            match self.peek() {
                Some(b'>') => {
                    self.at += 1;
                    return Some(contents);
                }
                Some(b'/') => {
                    self.at += 1;
                    contents.is_self_closing = self.peek() == Some(b'>');
                }
                Some(byte) if is_space(byte) => self.at += 1,
                Some(_) => self.attribute(&mut contents)?,
                None => return None,
            }
        }
    }

    /// An attribute, kept unless there are too many or it is there already. `None` if the input ends in its value.
    fn attribute(&mut self, contents: &mut Contents) -> Option<()> {
        // The first character of a name may be `=`.
        let name = self.name(1, |byte| is_space(byte) || matches!(byte, b'/' | b'>' | b'='));
        self.skip_space();
        let value = match self.peek() {
            Some(b'=') => {
                self.at += 1;
                self.skip_space();
                self.value()?
            }
            _ => StrTendril::new(),
        };
        contents.n_seen += 1;
        if contents.n_seen > self.max_attributes {
            return Some(());
        }
        let name = QualName::new(None, ns!(), name);
        if contents.attrs.iter().any(|attr| attr.name.local == name.local) {
            contents.has_duplicates = true;
        } else {
            contents.attrs.push(Attribute { name, value });
        }
        Some(())
    }

    /// The value of an attribute; `None` if the input ends in it.
    fn value(&mut self) -> Option<StrTendril> {
        match self.peek()? {
            quote @ (b'"' | b'\'') => {
                self.at += 1;
                self.quoted(quote)
            }
            b'>' => Some(StrTendril::new()),
            _ => self.unquoted(),
        }
    }

    fn quoted(&mut self, quote: u8) -> Option<StrTendril> {
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

    fn unquoted(&mut self) -> Option<StrTendril> {
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
    fn joined(&self, copied: Option<StrTendril>, start: usize) -> StrTendril {
        match copied {
            None => self.slice(start..self.at),
            Some(mut value) => {
                value.push_slice(&self.input[start..self.at]);
                value
            }
        }
    }

    /// A character reference or a NUL in a value. Returns where the input goes on.
    fn special(&mut self, copied: &mut Option<StrTendril>, start: usize) -> usize {
        if self.bytes[self.at] == 0 {
            let value = copied.get_or_insert_default();
            value.push_slice(&self.input[start..self.at]);
            value.push_char('\u{fffd}');
            self.at += 1;
            return self.at;
        }
        let Some(reference) = self.reference(self.at, true) else {
            // A sign like any other.
            self.at += 1;
            return start;
        };
        let value = copied.get_or_insert_default();
        value.push_slice(&self.input[start..self.at]);
        value.push_slice(reference.text(&mut [0; 8]));
        self.at += reference.len;
        self.at
    }
}
