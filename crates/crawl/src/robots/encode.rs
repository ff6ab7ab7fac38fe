//! The canonical form of paths and patterns.

/// What is encoded. `*` is special in a rule only.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Side {
    Rule,
    Url,
}

/// The canonical form of RFC 9309, 2.2.2. Unreserved characters are plain. Non-ASCII bytes, and literal `*` and `$`,
/// are `%XX` in capitals. Other escapes are kept: `%2F` is not `/`.
pub(super) fn encode(bytes: &[u8], side: Side) -> Vec<u8> {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    let mut out = Vec::with_capacity(bytes.len() + 8);
    let mut at = 0;
    while at < bytes.len() {
        let escaped = (bytes[at] == b'%').then(|| hex(bytes.get(at + 1), bytes.get(at + 2))).flatten();
        let (byte, stays_escaped) = match escaped {
            Some(byte) => (byte, !(byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~'))),
            None => {
                let byte = bytes[at];
                let is_literal = byte == b'$' || (byte == b'*' && side == Side::Url);
                (byte, !byte.is_ascii_graphic() || is_literal || b"\"'<>^`{|}".contains(&byte))
            }
        };
        if stays_escaped {
            out.extend([b'%', HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
        } else {
            out.push(byte);
        }
        at += if escaped.is_some() { 3 } else { 1 };
    }
    out
}

fn hex(high: Option<&u8>, low: Option<&u8>) -> Option<u8> {
    let digit = |byte: Option<&u8>| char::from(*byte?).to_digit(16);
    Some((digit(high)? * 16 + digit(low)?) as u8)
}
