//! Addresses in a written page: absolute where the page's own is known, and never of a scheme that runs anything.

use std::borrow::Cow;

use url::Url;

use super::repeats::Repeats;
use dehusk_html::Tree;
use dehusk_html::base_url;
use dehusk_html::{PageUrl, join};

/// Resolves the addresses of one page.
pub(super) struct Addresses {
    /// What relative addresses are resolved against, where that is known.
    base: Option<PageUrl>,
    /// Stands for an unknown base, so that an address can be read.
    unknown: Option<Url>,
    /// The charset that queries are written in.
    charset: &'static str,
    repeats: Repeats,
}

impl Addresses {
    pub(super) fn new(tree: &Tree, url: Option<&PageUrl>) -> Addresses {
        let named =
            || tree.all("base").find_map(|base| tree.attr(base, "href")).and_then(|href| PageUrl::parse(href).ok());
        let base = url.map(|url| base_url(tree, url)).or_else(named);
        Addresses {
            base,
            unknown: Url::parse("http://unknown.invalid/").ok(),
            charset: tree.charset(),
            repeats: Repeats::new(tree),
        }
    }

    /// Whether the value of an attribute may be written: see [`Repeats`].
    pub(super) fn may_write(&self, value: &str) -> bool {
        self.repeats.allow(value)
    }

    /// Whether so many bytes may be added to what the page holds: see [`Repeats`].
    pub(super) fn may_add(&self, n: usize) -> bool {
        self.repeats.charge(n)
    }

    /// The address of a page, a mailbox or a telephone. `None` for everything that a browser would run, and for one
    /// that was written too often.
    pub(super) fn link(&self, href: &str) -> Option<String> {
        if !self.may_write(href) {
            return None;
        }
        self.resolve(href, |scheme| matches!(scheme, "http" | "https" | "mailto" | "tel" | "ftp" | "sms" | "geo"))
    }

    /// The address of a picture, a sound or a film.
    pub(super) fn media(&self, src: &str) -> Option<String> {
        let is_inline = src.trim_start().get(..11).is_some_and(|start| start.eq_ignore_ascii_case("data:image/"));
        if is_inline {
            return Some(without_controls(src.trim()).into_owned());
        }
        self.resolve(src, |scheme| matches!(scheme, "http" | "https"))
    }

    /// The addresses of a `srcset`, each with its size.
    pub(super) fn media_set(&self, srcset: &str) -> Option<String> {
        let sources = sources(srcset).filter_map(|(src, size)| Some((self.media(src)?, size)));
        let written: Vec<String> = sources.map(|(src, size)| format!("{src} {size}").trim_end().to_owned()).collect();
        (!written.is_empty()).then(|| written.join(", "))
    }

    fn resolve(&self, address: &str, is_allowed: impl Fn(&str) -> bool) -> Option<String> {
        // What is tested is what is written: parsers drop these characters.
        let address = without_controls(address);
        let address = address.trim();
        let base = self.base.as_ref().map(PageUrl::url).or(self.unknown.as_ref())?;
        // A place on the same page stays on the same page.
        if address.starts_with('#') {
            return Some(address.to_owned());
        }
        let url = join(base, address, self.charset).filter(|url| is_allowed(url.scheme()))?;
        // Nothing is known to make it absolute with.
        if self.base.is_none() && url.host_str() == Some("unknown.invalid") {
            return Some(address.to_owned());
        }
        let mut resolved = String::from(url);
        // Resolving begins with a copy of the base, whose room would be kept with each link of a document.
        resolved.shrink_to_fit();
        // A long base would be written with each link.
        self.may_add(resolved.len().saturating_sub(address.len())).then_some(resolved)
    }
}

/// Parsers drop line breaks and tabs from addresses.
fn without_controls(address: &str) -> Cow<'_, str> {
    if address.contains(char::is_control) {
        Cow::Owned(address.chars().filter(|c| !c.is_control()).collect())
    } else {
        Cow::Borrowed(address)
    }
}

/// Address and size of each candidate of a `srcset` (HTML standard, 4.8.4.3.10).
pub(super) fn sources(srcset: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = srcset;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches([' ', '\t', '\n', '\r', '\u{c}', ',']);
        if rest.is_empty() {
            return None;
        }
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let (src, after) = rest.split_at(end);
        if src.ends_with(',') {
            rest = after;
            return Some((src.trim_end_matches(','), ""));
        }
        let end = after.find(',').unwrap_or(after.len());
        rest = &after[end..];
        Some((src, after[..end].trim()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use dehusk_html::{ParseOptions, parse};

    fn addresses(html: &str, url: Option<&str>) -> Addresses {
        let url = url.map(|url| PageUrl::parse(url).unwrap());
        Addresses::new(&parse(html, &ParseOptions::default()), url.as_ref())
    }

    #[test]
    fn addresses_are_absolute_where_the_page_is_known() {
        let page = addresses("<p>", Some("https://s.com/a/b"));
        let link = |href: &str| page.link(href).unwrap_or_default();
        assert_eq!(link("c?d#e"), "https://s.com/a/c?d#e");
        assert_eq!((link("//o.com"), link("#top")), ("https://o.com/".to_owned(), "#top".to_owned()));
        assert_eq!(addresses("<base href=/x/>", Some("https://s.com/a")).link("y").unwrap(), "https://s.com/x/y");
        let unknown = addresses("<p>", None);
        assert_eq!(unknown.link("a/../b").unwrap(), "a/../b");
        assert_eq!(addresses("<base href=http://b.com/x/>", None).link("y").unwrap(), "http://b.com/x/y");
    }

    #[test]
    fn an_address_has_no_room_for_a_long_base() {
        let page = addresses(&format!("<base href='http://b.com/{}'>", "x".repeat(4000)), None);
        let link = page.link("y").unwrap();
        assert_eq!(link, "http://b.com/y");
        assert!(link.capacity() < 100, "{}", link.capacity());
    }

    #[test]
    fn nothing_that_runs_is_an_address() {
        for url in [None, Some("http://s.com/")] {
            let page = addresses("<p>", url);
            for href in [
                "javascript:a()",
                " JaVaScRiPt:a()",
                "java\nscript:a()",
                "\u{1}javascript:a()",
                "java\tscript:a()",
                "vbscript:a",
                "data:text/html,<script>a()</script>",
                "blob:x",
                "file:///etc/passwd",
                "about:blank",
                "view-source:x",
                "filesystem:x",
                "jar:x",
                "feed:javascript:a()",
            ] {
                assert_eq!(page.link(href), None, "{href:?} {url:?}");
                assert_eq!(page.media(href), None, "{href:?} {url:?}");
            }
            assert_eq!(page.media("data:image/gif;base64,R0").unwrap(), "data:image/gif;base64,R0");
        }
    }

    #[test]
    fn every_candidate_of_a_set_is_resolved() {
        let page = addresses("<p>", Some("http://s.com/"));
        let set = page.media_set("a.png, b.png 2x,c,d.png 100w, javascript:x 3x").unwrap();
        assert_eq!(set, "http://s.com/a.png, http://s.com/b.png 2x, http://s.com/c,d.png 100w");
        assert_eq!(page.media_set(" , "), None);
    }
}
