//! Scans a page for links without building its tree: one pass over the bytes, for crawls that need only links.
//!
//! In malformed markup the scan may miss links or find additional ones. Templates are never learned from it.

/// A link as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scanned {
    /// The `href`, with `&amp;` and numeric character references decoded.
    pub href: String,
    /// Whether it is marked `rel="nofollow"`.
    pub nofollow: bool,
}

/// The `href` of the first `base` element, and the first `most` links, areas, frames and refreshes with an address, in
/// order.
pub fn scan_links(html: &[u8], most: usize) -> (Option<String>, Vec<Scanned>) {
    let (mut base, mut links) = (None, Vec::new());
    let mut at = 0;
    while links.len() < most {
        let Some(next) = memchr::memchr(b'<', &html[at..]) else { break };
        at += next + 1;
        let rest = &html[at..];
        if rest.starts_with(b"!--") {
            at += memchr::memmem::find(rest, b"-->").map_or(rest.len(), |end| end + 3);
            continue;
        }
        let n = rest.iter().take(10).take_while(|byte| byte.is_ascii_alphanumeric()).count();
        let name = &rest[..n];
        let is = |wanted: &[u8]| name.eq_ignore_ascii_case(wanted);
        if is(b"a") || is(b"area") {
            let ([href, rel], used) = attributes(&rest[n..], [b"href", b"rel"]);
            at += n + used;
            links.extend(href.map(|href| Scanned { href: text(href), nofollow: rel.is_some_and(is_nofollow) }));
        } else if is(b"base") {
            let ([href, _], used) = attributes(&rest[n..], [b"href", b""]);
            at += n + used;
            base = base.or_else(|| href.map(text));
        } else if is(b"frame") {
            let ([src, _], used) = attributes(&rest[n..], [b"src", b""]);
            at += n + used;
            links.extend(src.map(|src| Scanned { href: text(src), nofollow: false }));
        } else if is(b"meta") {
            let ([name, content], used) = attributes(&rest[n..], [b"http-equiv", b"content"]);
            at += n + used;
            let content = content.filter(|_| name.is_some_and(|name| name.eq_ignore_ascii_case(b"refresh"))).map(text);
            let target = content.as_deref().and_then(refresh_target);
            links.extend(target.map(|target| Scanned { href: target.to_owned(), nofollow: false }));
        } else if let Some(end) =
            [&b"script"[..], b"style", b"textarea", b"title"].iter().find(|raw| name.eq_ignore_ascii_case(raw))
        {
            at += n + end_of_raw(&rest[n..], end);
        }
    }
    (base, links)
}

/// The address in the `content` of a refresh: `5; url=next.html` (HTML, 4.2.5.3, shared declarative refresh steps).
pub fn refresh_target(content: &str) -> Option<&str> {
    let rest = content.trim_start();
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    if rest.len() == content.trim_start().len() {
        return None;
    }
    let rest = rest.trim_start().trim_start_matches([';', ',']).trim_start();
    let url = match rest.get(..3).filter(|name| name.eq_ignore_ascii_case("url")) {
        Some(_) => rest[3..].trim_start().strip_prefix('=').map_or(rest, str::trim_start),
        None => rest,
    };
    let url = match url.chars().next().filter(|c| matches!(c, '"' | '\'')) {
        Some(quote) => url[1..].split(quote).next().unwrap_or_default(),
        None => url,
    };
    Some(url.trim()).filter(|url| !url.is_empty())
}

/// Bytes in which `meta` elements are looked for; they are in the head of a page.
const HEAD_BYTES: usize = 64 * 1024;

/// Name and content of the `meta` elements before the body.
pub fn scan_metas(html: &[u8]) -> Vec<(String, String)> {
    let head = &html[..html.len().min(HEAD_BYTES)];
    let mut metas = Vec::new();
    for at in memchr::memchr_iter(b'<', head) {
        let rest = &head[at + 1..];
        let is = |name: &[u8]| rest.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
        if is(b"body") {
            break;
        }
        if is(b"meta")
            && rest.get(4).is_some_and(|byte| byte.is_ascii_whitespace() || *byte == b'/')
            && let ([Some(name), Some(content)], _) = attributes(&rest[4..], [b"name", b"content"])
        {
            metas.push((text(name), text(content)));
        }
    }
    metas
}

/// The `href` of the canonical link before the body, as written.
pub fn scan_canonical(html: &[u8]) -> Option<String> {
    let head = &html[..html.len().min(HEAD_BYTES)];
    memchr::memchr_iter(b'<', head).find_map(|at| {
        let rest = head.get(at + 1..at + 6)?;
        if !rest[..4].eq_ignore_ascii_case(b"link") || !(rest[4].is_ascii_whitespace() || rest[4] == b'/') {
            return None;
        }
        let ([rel, href], _) = attributes(&head[at + 5..], [b"rel", b"href"]);
        let is_canonical = |word: &[u8]| word.eq_ignore_ascii_case(b"canonical");
        rel?.split(u8::is_ascii_whitespace).any(is_canonical).then(|| href.map(text))?
    })
}

/// Values of two attributes of a tag, and the number of bytes up to its end.
fn attributes<'t>(tag: &'t [u8], wanted: [&[u8]; 2]) -> ([Option<&'t [u8]>; 2], usize) {
    let mut values = [None; 2];
    let mut at = 0;
    loop {
        while tag.get(at).is_some_and(|byte| byte.is_ascii_whitespace() || *byte == b'/') {
            at += 1;
        }
        let begin = at;
        while tag.get(at).is_some_and(|byte| !byte.is_ascii_whitespace() && !matches!(byte, b'=' | b'>' | b'/')) {
            at += 1;
        }
        let name = &tag[begin..at];
        while tag.get(at).is_some_and(u8::is_ascii_whitespace) {
            at += 1;
        }
        let mut value: &[u8] = b"";
        if tag.get(at) == Some(&b'=') {
            at += 1;
            while tag.get(at).is_some_and(u8::is_ascii_whitespace) {
                at += 1;
            }
            let (begin, end) = match tag.get(at) {
                Some(quote @ (b'"' | b'\'')) => {
                    let end = memchr::memchr(*quote, &tag[at + 1..]).map_or(tag.len(), |end| at + 1 + end);
                    (at + 1, end)
                }
                _ => {
                    let is_end = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'>';
                    (at, tag[at..].iter().position(is_end).map_or(tag.len(), |end| at + end))
                }
            };
            value = &tag[begin..end];
            at = if begin > at { (end + 1).min(tag.len()) } else { end };
        }
        for (wanted, found) in wanted.iter().zip(&mut values) {
            if found.is_none() && name.eq_ignore_ascii_case(wanted) {
                *found = Some(value);
            }
        }
        match tag.get(at) {
            Some(b'>') => return (values, at + 1),
            // An unterminated tag is not a tag.
            None => return ([None; 2], at),
            Some(_) if at == begin => at += 1,
            Some(_) => {}
        }
    }
}

/// The end of a raw text element.
fn end_of_raw(rest: &[u8], name: &[u8]) -> usize {
    let mut at = 0;
    while let Some(found) = memchr::memmem::find(&rest[at..], b"</") {
        at += found + 2;
        if rest.get(at..at + name.len()).is_some_and(|end| end.eq_ignore_ascii_case(name)) {
            return at + name.len();
        }
    }
    rest.len()
}

fn is_nofollow(rel: &[u8]) -> bool {
    rel.split(u8::is_ascii_whitespace).any(|word| word.eq_ignore_ascii_case(b"nofollow"))
}

fn text(value: &[u8]) -> String {
    let text = String::from_utf8_lossy(value.trim_ascii());
    if !text.contains('&') {
        return text.into_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = &*text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        let (c, used) = reference(&rest[at..]).unwrap_or(('&', 1));
        out.push(c);
        rest = &rest[at + used..];
    }
    out.push_str(rest);
    out
}

/// The character of a reference at the beginning of a text, and the bytes of the reference: `&amp;` or a number.
fn reference(text: &str) -> Option<(char, usize)> {
    if text.starts_with("&amp;") {
        return Some(('&', "&amp;".len()));
    }
    let end = text.bytes().take(12).position(|byte| byte == b';')?;
    let number = text[..end].strip_prefix("&#")?;
    let code = match number.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16),
        None => number.parse(),
    };
    Some((char::from_u32(code.ok()?)?, end + 1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn hrefs(html: &str) -> Vec<String> {
        scan_links(html.as_bytes(), 100).1.into_iter().map(|link| link.href).collect()
    }

    #[test]
    fn links_are_found_in_every_spelling_and_nowhere_else() {
        let html = "<base href=/b/><A class=x HREF = \"a?x=1&amp;y=2\" rel='me NoFollow'>t</a><!-- <a href=no> -->\
            <script>'<a href=no>'</SCRIPT><a name=x><a href='q>r'><a href=u/v><abbr href=no><a\nhref=w/>";
        let (base, links) = scan_links(html.as_bytes(), 100);
        assert_eq!(base.as_deref(), Some("/b/"));
        assert!(links[0].nofollow && !links[1].nofollow);
        assert_eq!(hrefs(html), ["a?x=1&y=2", "q>r", "u/v", "w/"]);
        assert!(hrefs("<a href=\"unended").is_empty() && hrefs("<").is_empty() && hrefs("<a").is_empty());
        assert_eq!(scan_links("<a href=1>".repeat(9).as_bytes(), 5).1.len(), 5);
    }

    #[test]
    fn refreshes_name_an_address() {
        for (content, target) in [
            ("0;url=/a", Some("/a")),
            (" 5 ; URL = 'a b' x", Some("a b")),
            ("0,/a", Some("/a")),
            ("1.5; http://a.b/?url=c", Some("http://a.b/?url=c")),
            ("300", None),
            ("0; url=", None),
            ("url=/a", None),
            ("", None),
        ] {
            assert_eq!(refresh_target(content), target, "{content}");
        }
    }

    #[test]
    fn metas_of_the_head_are_found() {
        let html = b"<head><META NAME=robots content='noindex, nofollow'><meta charset=utf-8><metal name=x content=y>\
            <meta content=\"a &amp; b\" name=author /></head><body><meta name=late content=x>";
        let metas = scan_metas(html);
        let expected = [("robots", "noindex, nofollow"), ("author", "a & b")];
        assert_eq!(metas, expected.map(|(name, content)| (name.to_owned(), content.to_owned())));
    }

    #[test]
    fn the_canonical_link_is_found() {
        let html =
            b"<link rel=stylesheet href=a><LINK href='/x?a=1&amp;b=2' rel='x CANONICAL'><link rel=canonical href=no>";
        assert_eq!(scan_canonical(html).as_deref(), Some("/x?a=1&b=2"));
        for html in [&b"<link"[..], b"<link rel=canonical", b"<linked rel=canonical href=x>", b"<link rel=canonical>"] {
            assert_eq!(scan_canonical(html), None);
        }
    }

    proptest! {
        #[test]
        fn no_input_breaks_it(html in proptest::collection::vec(any::<u8>(), 0..300), soup in "(<a |href=|['\"=<>/]|<!--|<script>|x| ){0,40}") {
            let _ = scan_links(&html, 10);
            let _ = scan_links(soup.as_bytes(), 10);
            let _ = scan_canonical(soup.as_bytes());
        }
    }
}
