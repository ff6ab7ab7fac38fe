//! Text that is safe to print: terminals interpret control characters, and bidirectional controls reorder what a reader
//! sees.

use std::borrow::Cow;
use std::fmt::Write;
use std::io::{self, IsTerminal};

/// The text with control characters and bidirectional controls written out, such as `\u{1b}`. Line breaks and tabs
/// stay.
pub(super) fn plain(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_active) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_active(c) {
            // Writing to a string cannot fail.
            let _ = write!(shown, "\\u{{{:x}}}", u32::from(c));
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// Bytes for standard output: as they are in a pipe or a file, made plain on a terminal.
pub(super) fn for_output(bytes: &[u8]) -> Cow<'_, [u8]> {
    if !io::stdout().is_terminal() {
        return Cow::Borrowed(bytes);
    }
    Cow::Owned(plain(&String::from_utf8_lossy(bytes)).into_owned().into_bytes())
}

/// Standard output, on which [`for_output`] is applied to every write.
pub(super) struct Terminal(io::StdoutLock<'static>);

/// Standard output for text that may come from a page.
pub(super) fn stdout() -> Terminal {
    Terminal(io::stdout().lock())
}

impl io::Write for Terminal {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write_all(&for_output(bytes))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

fn is_active(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t'))
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_act_on_is_written_out() {
        assert_eq!(plain("a\n\tb é 日本"), "a\n\tb é 日本");
        assert_eq!(plain("\u{1b}[31mred\u{7}\u{9b}x\r"), "\\u{1b}[31mred\\u{7}\\u{9b}x\\u{d}");
        assert_eq!(plain("exe\u{202e}gpj"), "exe\\u{202e}gpj");
    }
}
