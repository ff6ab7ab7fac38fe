//! Links of the pages of a static copy.

use std::fs;
use std::io;
use std::path::Path;

use rustc_hash::FxHashMap;

use super::Listed;
use crate::export::places::write_whole;

/// Text as an attribute has it.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;")
}

fn unescaped(text: &str) -> String {
    text.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

/// The way from one file to another; both are paths below the same folder.
pub(super) fn relative(from: &str, to: &str) -> String {
    let up = from.matches('/').count();
    let to: Vec<String> = to.split('/').map(encoded).collect();
    format!("{}{}", "../".repeat(up), to.join("/"))
}

/// A name as a URL has it: what a browser would read as something else is written as a percent sign and digits.
fn encoded(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'%' | b'#' | b'?' | b'"' | b'<' | b'>' | b'&' | b' ' => out.push_str(&format!("%{byte:02X}")),
            byte if byte.is_ascii() => out.push(byte as char),
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// Where links of a copy lead.
#[derive(Default)]
pub(super) struct Targets<'p> {
    /// The files of the pages that are there, by address.
    files: FxHashMap<&'p str, &'p str>,
    /// The addresses of pages that were there before, by their files as links have them.
    removed: FxHashMap<String, &'p str>,
}

impl<'p> Targets<'p> {
    pub(super) fn new(pages: &'p [Listed], removed: &'p [Listed]) -> Targets<'p> {
        Targets {
            files: pages.iter().map(|page| (page.url.as_str(), page.path.as_str())).collect(),
            removed: removed.iter().map(|page| (relative("", &page.path), page.url.as_str())).collect(),
        }
    }

    /// What a link of a file becomes, if anything.
    fn target(&self, path: &str, address: &str) -> Option<String> {
        if let Some(to) = self.files.get(address) {
            return Some(relative(path, to));
        }
        let up = "../".repeat(path.matches('/').count());
        let url = self.removed.get(address.strip_prefix(&up)?)?;
        Some(escaped(url))
    }
}

/// Rewrites the links of a file to pages that are there, and back to where those were that are not any more.
pub(super) fn rewrite(file: &Path, path: &str, targets: &Targets<'_>) -> io::Result<()> {
    let html = fs::read_to_string(file)?;
    let rewritten = rewritten(&html, path, targets);
    if rewritten == html { Ok(()) } else { write_whole(file, rewritten.as_bytes()) }
}

/// The page with its links rewritten. The forms of a page have `<` only where a tag begins, and quotation marks around
/// every value, so that its `a` elements can be found without reading the page again.
fn rewritten(html: &str, path: &str, targets: &Targets<'_>) -> String {
    let mut out = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(at) = rest.find("<a ") {
        let Some(length) = tag_length(&rest[at..]) else { break };
        out.push_str(&rest[..at]);
        let tag = &rest[at..at + length];
        out.push_str(&rewritten_tag(tag, path, targets).unwrap_or_else(|| tag.to_owned()));
        rest = &rest[at + length..];
    }
    out + rest
}

/// Length of the tag that a text begins with. `>` within quotation marks does not end it.
fn tag_length(text: &str) -> Option<usize> {
    let mut is_value = false;
    text.bytes()
        .position(|byte| {
            is_value ^= byte == b'"';
            byte == b'>' && !is_value
        })
        .map(|at| at + 1)
}

fn rewritten_tag(tag: &str, path: &str, targets: &Targets<'_>) -> Option<String> {
    // That of the head of the page leads to where the page was.
    if tag.contains(" data-origin=") {
        return None;
    }
    let begin = tag.find(" href=\"")? + 7;
    let end = begin + tag[begin..].find('"')?;
    let href = unescaped(&tag[begin..end]);
    let (address, fragment) = href.split_once('#').map_or((href.as_str(), None), |(at, fragment)| (at, Some(fragment)));
    let to = targets.target(path, address)?;
    let fragment = fragment.map_or_else(String::new, |fragment| format!("#{}", escaped(fragment)));
    Some(format!("{}{to}{fragment}{}", &tag[..begin], &tag[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_the_pages_that_are_there() {
        let listed =
            |url: &str, path: &str| Listed { url: url.to_owned(), title: String::new(), path: path.to_owned() };
        let pages =
            [listed("http://a.org/x?n=1&m=2", "a.org/x-1f.html"), listed("http://a.org/b/ä", "a.org/b/ä%.html")];
        let removed = [listed("http://a.org/gone?a&b", "a.org/gone-2%.html")];
        let targets = Targets::new(&pages, &removed);
        let page = |html: &str| rewritten(html, "a.org/b/c.html", &targets);
        assert_eq!(page("<a href=\"../../a.org/gone-2%25.html#x\">"), "<a href=\"http://a.org/gone?a&amp;b#x\">");
        assert_eq!(
            page("<p><a title=\"a > b\" href=\"http://a.org/x?n=1&amp;m=2#top\">x</a> 1 &lt; 2"),
            "<p><a title=\"a > b\" href=\"../../a.org/x-1f.html#top\">x</a> 1 &lt; 2"
        );
        assert_eq!(page("<a href=\"http://a.org/b/ä\">"), "<a href=\"../../a.org/b/%C3%A4%25.html\">");
        for same in
            ["<a href=\"http://a.org/none\">x</a>", "<a name=\"x\">", "&lt;a href=\"http://a.org/b/ä\"&gt;", "<a "]
        {
            assert_eq!(page(same), same);
        }
    }
}
