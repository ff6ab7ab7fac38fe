//! Elements whose content is text: titles, text areas, styles, scripts.

use memchr::{memchr, memchr2, memmem};

use super::{State, TokenSink, Tokenizer, is_space};

/// What may be in the text of an element beside its end tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RawText {
    /// Character references.
    WithReferences,
    /// Nothing.
    Plain,
    /// Comments, in which scripts nest.
    Script,
}

/// Where a script is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Script {
    Outside,
    /// In a comment.
    Escaped,
    /// In a script in a comment.
    Nested,
}

/// Whether the end tag of this element begins at this place.
fn is_end_tag(bytes: &[u8], at: usize, name: &[u8]) -> bool {
    let end = at + 2 + name.len();
    let Some(found) = bytes.get(at + 2..end) else { return false };
    let is_closed = bytes.get(end).is_some_and(|byte| is_space(*byte) || matches!(byte, b'/' | b'>'));
    is_closed && bytes[at..].starts_with(b"</") && found.eq_ignore_ascii_case(name)
}

impl<S: TokenSink> Tokenizer<'_, S> {
    /// Text up to the end tag of its element, and the end tag.
    pub(super) fn raw_text(&mut self, kind: RawText) {
        match kind {
            RawText::WithReferences => self.text_with_references(),
            RawText::Plain => {
                let end = self.next_end_tag(self.at);
                self.raw_to(end);
                self.close();
            }
            RawText::Script => {
                let end = self.script_end();
                self.raw_to(end);
                self.close();
            }
        }
    }

    /// Emits the text up to a place, U+FFFD for each NUL.
    pub(super) fn raw_to(&mut self, end: usize) {
        if end > self.at {
            self.sink.text(&self.slice_without_nul(self.at..end));
            self.at = end;
        }
    }

    fn text_with_references(&mut self) {
        let end = self.next_end_tag(self.at);
        while let Some(n) = memchr(b'&', &self.bytes[self.at..end]) {
            self.raw_to(self.at + n);
            match self.reference(self.at, false) {
                Some(reference) => {
                    self.at += reference.len;
                    self.sink.text(reference.text(&mut [0; 8]));
                }
                None => self.raw_to(self.at + 1),
            }
        }
        self.raw_to(end);
        self.close();
    }

    /// The end tag that begins here, if the input goes on.
    fn close(&mut self) {
        if self.at < self.bytes.len() {
            self.state = State::Data;
            self.at += 2;
            self.end_tag();
        }
    }

    /// The next end tag of the open element, or the end of the input.
    fn next_end_tag(&mut self, from: usize) -> usize {
        let name = self.sink.names().text(self.last_start).as_bytes();
        let mut ends = memmem::find_iter(&self.bytes[from..], b"</").map(|n| from + n);
        ends.find(|at| is_end_tag(self.bytes, *at, name)).unwrap_or(self.bytes.len())
    }

    /// The end tag of a script. `<!--` begins a comment, in which a script may nest.
    fn script_end(&self) -> usize {
        let (mut place, mut at) = (Script::Outside, self.at);
        loop {
            let rest = &self.bytes[at..];
            let next = match place {
                Script::Outside => memchr(b'<', rest),
                Script::Escaped | Script::Nested => memchr2(b'<', b'-', rest),
            };
            let Some(n) = next else { return self.bytes.len() };
            at += n;
            if place != Script::Nested && is_end_tag(self.bytes, at, b"script") {
                return at;
            }
            (place, at) = self.script_step(place, at);
        }
    }

    /// What a `<` or `-` in a script changes, and where to go on.
    fn script_step(&self, place: Script, at: usize) -> (Script, usize) {
        let rest = &self.bytes[at..];
        match place {
            // The dashes may be those of the end: `<!-->`.
            Script::Outside if rest.starts_with(b"<!--") => (Script::Escaped, at + 2),
            Script::Outside => (place, at + 1),
            _ if rest.starts_with(b"-->") => (Script::Outside, at + 3),
            Script::Escaped if rest[0] == b'<' && rest.get(1).is_some_and(u8::is_ascii_alphabetic) => {
                let (is_script, end) = self.script_name(at + 1);
                (if is_script { Script::Nested } else { place }, end)
            }
            Script::Nested if rest.starts_with(b"</") => {
                let (is_script, end) = self.script_name(at + 2);
                (if is_script { Script::Escaped } else { place }, end)
            }
            _ => (place, at + 1),
        }
    }

    /// Whether the name at this place is `script`, and where to go on.
    fn script_name(&self, from: usize) -> (bool, usize) {
        let letters = self.bytes[from..].iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let end = from + letters;
        let is_closed = self.bytes.get(end).is_some_and(|byte| is_space(*byte) || matches!(byte, b'/' | b'>'));
        (is_closed && self.bytes[from..end].eq_ignore_ascii_case(b"script"), end)
    }
}
