//! Comments, document types and CDATA sections.

use memchr::{memchr, memchr_iter, memchr2, memmem};

use super::{Doctype, TokenSink, Tokenizer, is_space};

/// How a document type ends.
enum DoctypeEnd {
    /// As it should.
    Whole,
    /// Before it is whole: the page is one of quirks.
    Early,
    /// With what should not be there: the page is one of quirks.
    Wrong,
    /// With more than it should have.
    Ignored,
}

impl<S: TokenSink> Tokenizer<'_, S> {
    /// What follows `<!`.
    pub(super) fn declaration(&mut self) {
        let rest = &self.bytes[self.at..];
        let begins_doctype = rest.get(..7).is_some_and(|word| word.eq_ignore_ascii_case(b"doctype"));
        if rest.starts_with(b"--") {
            self.at += 2;
            self.comment();
        } else if begins_doctype {
            self.at += 7;
            self.doctype();
        } else if rest.starts_with(b"[CDATA[") && self.sink.is_foreign() {
            self.at += 7;
            self.cdata();
        } else {
            self.bogus_comment();
        }
    }

    /// A comment that ends at the next `>`.
    pub(super) fn bogus_comment(&mut self) {
        let n = memchr(b'>', &self.bytes[self.at..]).unwrap_or(self.bytes.len() - self.at);
        self.emit_comment(n, 1);
    }

    fn comment(&mut self) {
        let rest = &self.bytes[self.at..];
        if rest.starts_with(b">") {
            return self.emit_comment(0, 1);
        }
        if rest.starts_with(b"->") {
            return self.emit_comment(0, 2);
        }
        for n in memchr_iter(b'-', rest) {
            match &rest[n..] {
                [_, b'-', b'>', ..] => return self.emit_comment(n, 3),
                [_, b'-', b'!', b'>', ..] => return self.emit_comment(n, 4),
                _ => {}
            }
        }
        // Of an end that is not complete, nothing belongs to the comment.
        let end = [&b"--!"[..], b"--", b"-"].into_iter().find(|end| rest.ends_with(end)).map_or(0, <[u8]>::len);
        self.emit_comment(rest.len() - end, end);
    }

    /// Emits the next `n` bytes as a comment, and skips its end.
    fn emit_comment(&mut self, n: usize, end: usize) {
        let comment = self.slice_without_nul(self.at..self.at + n);
        self.at = (self.at + n + end).min(self.bytes.len());
        self.sink.comment(&comment);
    }

    fn cdata(&mut self) {
        let rest = &self.bytes[self.at..];
        let n = memmem::find(rest, b"]]>").unwrap_or(rest.len());
        let end = self.at + n;
        while let Some(nul) = memchr(0, &self.bytes[self.at..end]) {
            self.emit_text(self.at..self.at + nul);
            self.sink.nul();
            self.at += nul + 1;
        }
        self.emit_text(self.at..end);
        self.at = (end + 3).min(self.bytes.len());
    }

    fn doctype(&mut self) {
        let mut doctype = Doctype::default();
        let end = self.doctype_parts(&mut doctype).err();
        doctype.force_quirks = matches!(end, Some(DoctypeEnd::Early | DoctypeEnd::Wrong));
        let n = memchr(b'>', &self.bytes[self.at..]).map_or(self.bytes.len() - self.at, |n| n + 1);
        self.at += n;
        self.sink.doctype(&doctype);
    }

    /// Reads a document type up to where it ends, or goes wrong.
    fn doctype_parts(&mut self, doctype: &mut Doctype) -> Result<(), DoctypeEnd> {
        self.skip_space();
        if self.at_end() {
            return Err(DoctypeEnd::Early);
        }
        let rest = &self.bytes[self.at..];
        let n = rest.iter().position(|byte| is_space(*byte) || *byte == b'>').unwrap_or(rest.len());
        doctype.name = Some(self.slice_without_nul(self.at..self.at + n).to_ascii_lowercase());
        self.at += n;
        self.part()?;
        let word = self.bytes.get(self.at..self.at + 6).map(<[u8]>::to_ascii_lowercase);
        let is_public = match word.as_deref() {
            Some(b"public") => true,
            Some(b"system") => false,
            _ => return Err(DoctypeEnd::Wrong),
        };
        self.at += 6;
        self.skip_space();
        if is_public {
            self.identifier(&mut doctype.public_id)?;
            self.part()?;
        }
        self.identifier(&mut doctype.system_id)?;
        self.part()?;
        Err(DoctypeEnd::Ignored)
    }

    /// Goes to the next part, if there is one.
    fn part(&mut self) -> Result<(), DoctypeEnd> {
        self.skip_space();
        match self.peek() {
            Some(b'>') => Err(DoctypeEnd::Whole),
            Some(_) => Ok(()),
            None => Err(DoctypeEnd::Early),
        }
    }

    fn at_end(&self) -> bool {
        self.peek().is_none_or(|byte| byte == b'>')
    }

    /// A quoted identifier. What comes before a `>` is kept.
    fn identifier(&mut self, out: &mut Option<String>) -> Result<(), DoctypeEnd> {
        let quote = match self.peek() {
            Some(quote @ (b'"' | b'\'')) => quote,
            Some(b'>') | None => return Err(DoctypeEnd::Early),
            Some(_) => return Err(DoctypeEnd::Wrong),
        };
        self.at += 1;
        let n = memchr2(quote, b'>', &self.bytes[self.at..]).unwrap_or(self.bytes.len() - self.at);
        *out = Some(self.slice_without_nul(self.at..self.at + n).into_owned());
        self.at += n;
        if self.at_end() {
            return Err(DoctypeEnd::Early);
        }
        self.at += 1;
        Ok(())
    }
}
