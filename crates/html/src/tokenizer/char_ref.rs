//! Character references: `&amp;`, `&#38;`, `&#x26;`.

use std::borrow::Cow;

use html5ever::data::{C1_REPLACEMENTS, NAMED_ENTITIES};

use super::{TokenSink, Tokenizer};

/// A character reference of the input.
pub(super) struct Reference {
    /// Bytes of the input.
    pub(super) len: usize,
    first: char,
    second: Option<char>,
}

impl Reference {
    /// The characters that it stands for.
    pub(super) fn text<'b>(&self, buffer: &'b mut [u8; 8]) -> &'b str {
        let n = self.first.encode_utf8(buffer).len();
        let more = self.second.map_or(0, |second| second.encode_utf8(&mut buffer[n..]).len());
        std::str::from_utf8(&buffer[..n + more]).unwrap_or_default()
    }
}

/// A text with its character references decoded. A sign that begins none stays, and a name without its `;` is none.
pub fn decode_references(text: &str) -> Cow<'_, str> {
    let is_ended = |reference: &Reference, at: usize| text.as_bytes()[at + reference.len - 1] == b';';
    let mut decoded = String::new();
    let mut copied = 0;
    for (at, _) in text.match_indices('&') {
        let next = text.as_bytes().get(at + 1);
        let reference = match next {
            Some(b'#') => number(&text.as_bytes()[at..]),
            Some(byte) if byte.is_ascii_alphanumeric() => named(&text[at..], true),
            _ => None,
        };
        if let Some(reference) = reference.filter(|reference| is_ended(reference, at)) {
            decoded.push_str(&text[copied..at]);
            decoded.push_str(reference.text(&mut [0; 8]));
            copied = at + reference.len;
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    decoded.push_str(&text[copied..]);
    Cow::Owned(decoded)
}

impl<S: TokenSink> Tokenizer<'_, S> {
    /// The reference that begins with the `&` at this place; `None` if it is a sign like any other.
    pub(super) fn reference(&self, at: usize, in_attribute: bool) -> Option<Reference> {
        match self.bytes.get(at + 1)? {
            b'#' => number(&self.bytes[at..]),
            byte if byte.is_ascii_alphanumeric() => named(&self.input[at..], in_attribute),
            _ => None,
        }
    }
}

/// A numeric reference at the beginning of `text`.
fn number(text: &[u8]) -> Option<Reference> {
    let (digits, radix) = match text.get(2) {
        Some(b'x' | b'X') => (3, 16),
        _ => (2, 10),
    };
    let mut number = 0_u32;
    let mut len = digits;
    while let Some(digit) = text.get(len).and_then(|byte| char::from(*byte).to_digit(radix)) {
        // A number that is too large stays too large.
        number = number.saturating_mul(radix).saturating_add(digit);
        len += 1;
    }
    if len == digits {
        return None;
    }
    len += usize::from(text.get(len) == Some(&b';'));
    let first = match number {
        0x80..=0x9f => C1_REPLACEMENTS[number as usize - 0x80].or(char::from_u32(number)),
        0 => None,
        _ => char::from_u32(number),
    };
    Some(Reference { len, first: first.unwrap_or(char::REPLACEMENT_CHARACTER), second: None })
}

/// Bytes of the longest name, with its `;`.
const LONGEST_NAME: usize = 32;

/// The longest named reference at the beginning of `text`.
fn named(text: &str, in_attribute: bool) -> Option<Reference> {
    let bytes = text.as_bytes();
    let (len, characters) = ended_name(text).or_else(|| longest_name(text))?;
    let next = bytes.get(len);
    let goes_on = next.is_some_and(|next| *next == b'=' || next.is_ascii_alphanumeric());
    // In an address, `&copy=1` is a parameter.
    if in_attribute && bytes[len - 1] != b';' && goes_on {
        return None;
    }
    let second = char::from_u32(characters.1).filter(|second| *second != '\0');
    Some(Reference { len, first: char::from_u32(characters.0)?, second })
}

/// The length and the characters of a reference whose name is all up to the next `;`: no other can be longer.
fn ended_name(text: &str) -> Option<(usize, (u32, u32))> {
    let ends = |byte: &u8| !byte.is_ascii_alphanumeric();
    let end = text.as_bytes().iter().skip(1).take(LONGEST_NAME).position(ends)? + 2;
    let name = text.get(1..end).filter(|name| name.ends_with(';'))?;
    NAMED_ENTITIES.get(name).filter(|characters| characters.0 != 0).map(|characters| (end, *characters))
}

/// The length and the characters of the reference with the longest name.
fn longest_name(text: &str) -> Option<(usize, (u32, u32))> {
    let bytes = text.as_bytes();
    let (mut found, mut end) = (None, 1);
    // The table holds the beginnings of all names, too.
    while bytes.get(end).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b';') {
        end += 1;
        match NAMED_ENTITIES.get(&text[1..end]) {
            Some((0, _)) => {}
            Some(characters) => found = Some((end, *characters)),
            None => break,
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::decode_references;

    #[test]
    fn references_are_decoded_once() {
        assert_eq!(decode_references("It&#8217;s &quot;rye&quot; &amp;amp; oats"), "It\u{2019}s \"rye\" &amp; oats");
        for same in ["", "&", "rye & oats", "a?x=1&copy=2", "&nosuch;", "&#;", "&amp"] {
            assert_eq!(decode_references(same), same);
        }
    }
}
