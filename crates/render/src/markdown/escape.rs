//! Characters that Markdown would read (CommonMark 0.31, GFM 0.29), escaped where it would.

use std::borrow::Cow;

/// What stands beside a text in its paragraph.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TextContext {
    /// Whether the text is inside the brackets of a link.
    pub(super) in_link: bool,
    /// Whether a `|` ends a cell.
    pub(super) in_cell: bool,
    /// Whether the paragraph has more than one backtick.
    pub(super) has_backticks: bool,
    /// Whether the paragraph has more than one tilde.
    pub(super) has_tildes: bool,
    /// Whether a formula that the text begins could end in code.
    pub(super) has_dollars: bool,
    /// Whether brackets of the paragraph can be read as a link.
    pub(super) has_brackets: bool,
    /// Whether a link or a picture follows the text.
    pub(super) before_link: bool,
    /// Whether braces can be read as attributes of a heading (Pandoc, kramdown).
    pub(super) in_heading: bool,
}

/// Appends `text` between the characters `before` and `after` of its line.
pub(super) fn escape(text: &str, before: Option<char>, after: Option<char>, place: TextContext, out: &mut String) {
    let mut last = before;
    let mut rest = text.chars().peekable();
    let mut from_here = text;
    while let Some(c) = rest.next() {
        from_here = &from_here[c.len_utf8()..];
        let next = rest.peek().copied().or(after);
        let is_read = match c {
            // A run of these is literal when white space is on both sides, and `_` also between letters.
            '*' => !(is_open(last) && is_open(next)),
            '_' => !((is_open(last) && is_open(next)) || (is_word(last) && is_word(next))),
            '`' => place.has_backticks,
            '~' => place.has_tildes,
            '$' => place.has_dollars,
            '\\' => next.is_none_or(|next| next.is_ascii_punctuation()),
            '[' => place.in_link || place.has_brackets || next == Some('^'),
            ']' => place.in_link || place.has_brackets,
            '!' => next == Some('[') && (rest.peek().is_some() || place.before_link),
            '<' => next.is_some_and(|next| next.is_ascii_alphabetic() || matches!(next, '/' | '!' | '?')),
            '&' => is_entity(from_here),
            '|' => place.in_cell,
            // Attributes of the code or the link before them (Pandoc, kramdown).
            '{' => place.in_heading || matches!(last, Some('`' | '[')),
            _ => false,
        };
        if is_read {
            out.push('\\');
        }
        out.push(c);
        last = Some(c);
    }
}

fn is_open(c: Option<char>) -> bool {
    c.is_none_or(char::is_whitespace)
}

fn is_word(c: Option<char>) -> bool {
    c.is_some_and(char::is_alphanumeric)
}

/// Whether an ampersand before `rest` begins an entity.
fn is_entity(rest: &str) -> bool {
    // `#` and seven digits, or a name: no longer ones are read.
    let Some(end) = rest.bytes().take(33).position(|byte| byte == b';') else { return false };
    let name = &rest[..end];
    match name.strip_prefix('#') {
        Some(number) => {
            let number = number.strip_prefix(['x', 'X']).unwrap_or(number);
            (1..=7).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_hexdigit())
        }
        None => (1..=32).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric()),
    }
}

/// A line of a paragraph, with its first character escaped where it would begin a block.
pub(super) fn escape_start(line: &str) -> Cow<'_, str> {
    let mut chars = line.chars();
    let Some(first) = chars.next() else { return Cow::Borrowed(line) };
    let ends_marker = |rest: &str| rest.is_empty() || rest.starts_with([' ', '\t']);
    let is_read = match first {
        '#' => {
            let rest = line.trim_start_matches('#');
            line.len() - rest.len() <= 6 && ends_marker(rest)
        }
        '+' => ends_marker(chars.as_str()),
        '-' => ends_marker(chars.as_str()) || is_ruler(line),
        '*' => ends_marker(chars.as_str()),
        '>' => true,
        // A task; not a link to X.
        '[' => ["[ ]", "[x]", "[X]"].iter().any(|task| line.strip_prefix(task).is_some_and(ends_marker)),
        '=' => line.trim_end().bytes().all(|byte| byte == b'='),
        '_' => line.len() > 2 && line.bytes().all(|byte| matches!(byte, b'_' | b' ')),
        '~' => line.starts_with("~~~"),
        '|' | ':' => is_ruler(line) || (first == ':' && ends_marker(chars.as_str())),
        '0'..='9' => return escape_number(line),
        _ => false,
    };
    if is_read { Cow::Owned(format!("\\{line}")) } else { Cow::Borrowed(line) }
}

/// Whether the line could underline a heading or the head of a table.
fn is_ruler(line: &str) -> bool {
    line.contains('-') && line.bytes().all(|byte| matches!(byte, b'-' | b':' | b'|' | b' '))
}

/// `1.` at the start of a line would begin a list.
fn escape_number(line: &str) -> Cow<'_, str> {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let n_digits = line.len() - rest.len();
    let is_marker = rest.starts_with(['.', ')']) && (rest.len() == 1 || rest[1..].starts_with([' ', '\t']));
    if is_marker && n_digits <= 9 { Cow::Owned(format!("{}\\{rest}", &line[..n_digits])) } else { Cow::Borrowed(line) }
}

/// The address of a link or a picture, as it stands in parentheses. What Markdown would read in it is escaped as an
/// address escapes it.
pub(super) fn destination(address: &str, in_cell: bool) -> String {
    let mut plain = String::with_capacity(address.len());
    for (at, c) in address.char_indices().filter(|(_, c)| !c.is_control()) {
        match c {
            '<' => plain.push_str("%3C"),
            '>' => plain.push_str("%3E"),
            '\\' => plain.push_str("%5C"),
            '`' => plain.push_str("%60"),
            '|' if in_cell => plain.push_str("%7C"),
            '&' if is_entity(&address[at + 1..]) => plain.push_str("&amp;"),
            _ => plain.push(c),
        }
    }
    let is_plain = !plain.contains([' ', '(', ')']) && !plain.is_empty();
    if is_plain { plain } else { format!("<{plain}>") }
}

/// `text` as inline code.
pub(super) fn code_span(text: &str, in_cell: bool) -> String {
    let fence = "`".repeat(longest_run(text, '`').map_or(1, |longest| if longest == 1 { 2 } else { longest + 1 }));
    let fence = if text.contains('`') { fence } else { "`".to_owned() };
    let needs_pad = text.starts_with('`') || text.ends_with('`');
    let pad = if needs_pad { " " } else { "" };
    let text = if in_cell { Cow::Owned(text.replace('|', "\\|")) } else { Cow::Borrowed(text) };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// Length of the longest run of `c`.
pub(super) fn longest_run(text: &str, c: char) -> Option<usize> {
    text.split(|other| other != c).map(str::len).max().filter(|longest| *longest > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn escaped(text: &str, place: TextContext) -> String {
        let mut out = String::new();
        escape(text, None, None, place, &mut out);
        escape_start(&out).into_owned()
    }

    #[test]
    fn only_what_markdown_reads_is_escaped() {
        let plain = [
            "snake_case and 2 * 3 * 4",
            "a [1] b",
            "x < y & z > 1",
            "AT&T & c",
            "C:\\dir",
            "100% (sure)!",
            "#tag",
            "-1",
            "1.5 m",
            "~5",
            "a ` b",
        ];
        for text in plain {
            assert_eq!(escaped(text, TextContext::default()), text);
        }
        let read = [
            ("*a*", "\\*a\\*"),
            ("_a_", "\\_a\\_"),
            ("<b>", "\\<b>"),
            ("&amp; &#65;", "\\&amp; \\&#65;"),
            ("\\*", "\\\\\\*"),
            ("# a", "\\# a"),
            ("- a", "\\- a"),
            ("---", "\\---"),
            ("+ a", "\\+ a"),
            ("1. a", "1\\. a"),
            ("2024) a", "2024\\) a"),
            ("> a", "\\> a"),
            ("===", "\\==="),
            ("|-|", "\\|-|"),
            ("~~~", "\\~~~"),
            ("a[^1]", "a\\[^1]"),
        ];
        for (text, expected) in read {
            assert_eq!(escaped(text, TextContext::default()), expected);
        }
        assert_eq!(escaped("a|b", TextContext { in_cell: true, ..TextContext::default() }), "a\\|b");
        assert_eq!(escaped("[a](b)", TextContext { has_brackets: true, ..TextContext::default() }), "\\[a\\](b)");
    }

    #[test]
    fn a_task_is_escaped_and_a_link_is_not() {
        assert_eq!(escape_start("[x] done"), "\\[x] done");
        assert_eq!(escape_start("[X](https://x.com/a)"), "[X](https://x.com/a)");
    }

    #[test]
    fn code_and_addresses_are_fenced() {
        assert_eq!(code_span("a", false), "`a`");
        assert_eq!(code_span("a`b", false), "``a`b``");
        assert_eq!(code_span("``", false), "``` `` ```");
        assert_eq!(code_span("`", false), "`` ` ``");
        assert_eq!(code_span("a|b", true), "`a\\|b`");
        for (address, written) in [
            ("http://a.org/b_(c)", "<http://a.org/b_(c)>"),
            ("http://a.org/b", "http://a.org/b"),
            ("", "<>"),
            ("http://a/?q=\\", "http://a/?q=%5C"),
            ("http://a/?a=1&copy;=2&b=3", "http://a/?a=1&amp;copy;=2&b=3"),
            ("javascript\\:alert", "javascript%5C:alert"),
            ("a`b|c", "a%60b|c"),
        ] {
            assert_eq!(destination(address, false), written);
        }
        assert_eq!(destination("a|b", true), "a%7Cb");
    }
}
