//! Cuts surplus attributes off tags before tokenization.
//!
//! html5ever compares each attribute of a tag with all earlier ones, so one tag with 100,000 attributes would take
//! minutes. This module scans the text once, as the tokenizer would: comments and raw text elements are skipped, and
//! quoted values are recognized.

use std::ops::Range;

/// The byte ranges to remove: in each tag, everything between its first `most` attributes and its end.
pub(super) fn surplus_attributes(html: &str, most: usize) -> Vec<Range<usize>> {
    let bytes = html.as_bytes();
    let mut surplus = Vec::new();
    let mut at = 0;
    while let Some(found) = html.get(at..).and_then(|rest| rest.find('<')) {
        at += found + 1;
        let is_end = bytes.get(at) == Some(&b'/');
        let name = at + usize::from(is_end);
        if !bytes.get(name).is_some_and(u8::is_ascii_alphabetic) {
            if html[at..].starts_with("!--") {
                at = html[at + 1..].find("-->").map_or(html.len(), |end| at + 1 + end + 3);
            }
            continue;
        }
        let name_end = end_of(bytes, name, |b| is_space(b) || matches!(b, b'/' | b'>'));
        let (end, cut) = walk_attributes(bytes, name_end, most);
        surplus.extend(cut.map(|from| from..end));
        at = end;
        if !is_end {
            at = skip_raw_text(html, &bytes[name..name_end], end);
        }
    }
    surplus
}

/// The end of the tag (its `>`), and the start of the first surplus attribute.
fn walk_attributes(bytes: &[u8], mut at: usize, most: usize) -> (usize, Option<usize>) {
    let (mut n, mut cut) = (0, None);
    loop {
        at = end_of(bytes, at, |b| !is_space(b) && b != b'/');
        match bytes.get(at) {
            None | Some(b'>') => return (at, cut),
            Some(_) => {}
        }
        n += 1;
        if n > most && cut.is_none() {
            cut = Some(at);
        }
        // A name may begin with `=`.
        at = end_of(bytes, at + 1, |b| is_space(b) || matches!(b, b'/' | b'>' | b'='));
        let after = end_of(bytes, at, |b| !is_space(b));
        if bytes.get(after) != Some(&b'=') {
            continue;
        }
        at = end_of(bytes, after + 1, |b| !is_space(b));
        at = match bytes.get(at) {
            Some(quote @ (b'"' | b'\'')) => end_of(bytes, at + 1, |b| b == *quote) + 1,
            _ => end_of(bytes, at, |b| is_space(b) || b == b'>'),
        };
    }
}

fn skip_raw_text(html: &str, name: &[u8], at: usize) -> usize {
    const RAW: [&str; 8] = ["script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes"];
    let Some(raw) = RAW.iter().find(|raw| raw.as_bytes().eq_ignore_ascii_case(name)) else { return at };
    let mut from = at;
    while let Some(found) = html.get(from..).and_then(|rest| rest.find("</")) {
        from += found;
        let rest = &html.as_bytes()[from + 2..];
        if rest.len() >= raw.len() && rest[..raw.len()].eq_ignore_ascii_case(raw.as_bytes()) {
            return from;
        }
        from += 2;
    }
    html.len()
}

/// The first position from `at` on with a wanted byte; the length if there is none.
fn end_of(bytes: &[u8], at: usize, wanted: impl Fn(u8) -> bool) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    rest.iter().position(|b| wanted(*b)).map_or(bytes.len(), |n| at + n)
}

fn is_space(b: u8) -> bool {
    matches!(b, b' ' | b'\t' | b'\n' | b'\r' | 0x0c)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(html: &str) -> String {
        let mut out = html.to_owned();
        for range in surplus_attributes(html, 2).into_iter().rev() {
            out.replace_range(range, "");
        }
        out
    }

    #[test]
    fn only_what_is_too_much_goes() {
        assert_eq!(cut("<p a b>x"), "<p a b>x");
        assert_eq!(cut("<p a b c d=1>x<q>"), "<p a b >x<q>");
        assert_eq!(cut("<p a='>' b=\"x y z\" c='>'>t"), "<p a='>' b=\"x y z\" >t");
        assert_eq!(cut("<p/a/b/c/d/>t"), "<p/a/b/>t");
        assert_eq!(cut("</p a b c>t"), "</p a b >t");
        assert_eq!(
            cut("<!-- <p a b c> --><script>i<n a b c</script>é<i a b c"),
            "<!-- <p a b c> --><script>i<n a b c</script>é<i a b "
        );
        assert_eq!(cut("a < b c d e"), "a < b c d e");
        assert_eq!(cut("<p a b c=\"no end"), "<p a b ");
    }
}
