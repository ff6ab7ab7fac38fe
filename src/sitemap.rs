//! URLs that a site announces: sitemaps (XML, index, text, gzip) and RSS or Atom feeds.
//!
//! Limits are those of sitemaps.org: 50 MB uncompressed and 50,000 URLs per file. Of a malformed file, the part before
//! the error is used.

use std::io::Read;

use quick_xml::Reader;
use quick_xml::events::Event;

use crate::xml_reference::character;

/// Maximum bytes of a sitemap after decompression (sitemaps.org).
pub const MAX_SITEMAP_BYTES: usize = 50 * 1024 * 1024;

/// Maximum number of URLs of one sitemap (sitemaps.org).
pub const MAX_SITEMAP_URLS: usize = 50_000;

/// URLs that a file announces, as written there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Announced {
    /// Pages.
    pub pages: Vec<String>,
    /// Other sitemaps, if the file is a sitemap index.
    pub sitemaps: Vec<String>,
}

impl Announced {
    fn is_full(&self) -> bool {
        self.pages.len() + self.sitemaps.len() >= MAX_SITEMAP_URLS
    }
}

/// Parses a sitemap or a feed. gzip is decompressed first.
pub fn parse_announced(bytes: &[u8]) -> Announced {
    let unpacked;
    let bytes = match bytes.starts_with(b"\x1f\x8b") {
        true => {
            let mut out = Vec::new();
            // Of a truncated file, the readable part is used.
            let _ = flate2::read::MultiGzDecoder::new(bytes).take(MAX_SITEMAP_BYTES as u64).read_to_end(&mut out);
            unpacked = out;
            unpacked.as_slice()
        }
        false => &bytes[..bytes.len().min(MAX_SITEMAP_BYTES)],
    };
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match bytes.trim_ascii_start().first() {
        Some(b'<') => parse_xml(bytes),
        _ => parse_text(bytes),
    }
}

/// One URL per line.
fn parse_text(bytes: &[u8]) -> Announced {
    let text = String::from_utf8_lossy(bytes);
    let lines = text.lines().map(str::trim).filter(|line| line.starts_with("http://") || line.starts_with("https://"));
    Announced { pages: lines.take(MAX_SITEMAP_URLS).map(str::to_owned).collect(), sitemaps: Vec::new() }
}

/// `urlset/url/loc`, `sitemapindex/sitemap/loc`, `item/link`, `entry/link[@href]`. Namespaces are ignored.
fn parse_xml(bytes: &[u8]) -> Announced {
    let text = String::from_utf8_lossy(bytes);
    let mut reader = Reader::from_str(&text);
    let config = reader.config_mut();
    (config.check_end_names, config.allow_unmatched_ends, config.allow_dangling_amp) = (false, true, true);
    let mut found = Announced::default();
    let mut path: Vec<String> = Vec::new();
    let mut held = String::new();
    while !found.is_full() {
        match reader.read_event() {
            Ok(Event::Start(tag)) => {
                atom_link(&tag, &path, &mut found);
                // No deeper element is of interest, and the bound protects memory against hostile files.
                if path.len() < 64 {
                    path.push(tag.local_name().as_ref().to_ascii_lowercase());
                }
                held.clear();
            }
            Ok(Event::Empty(tag)) => atom_link(&tag, &path, &mut found),
            Ok(Event::Text(piece)) => held.push_str(&piece),
            Ok(Event::CData(piece)) => held.push_str(&piece),
            Ok(Event::GeneralRef(name)) => held.push_str(&character(&name)),
            Ok(Event::End(_)) => {
                let url = held.trim();
                if !url.is_empty() {
                    let names: Vec<&str> = path.iter().rev().take(2).map(String::as_str).collect();
                    match names.as_slice() {
                        ["loc", "url"] | ["link", "item"] => found.pages.push(url.to_owned()),
                        ["loc", "sitemap"] => found.sitemaps.push(url.to_owned()),
                        _ => {}
                    }
                }
                held.clear();
                path.pop();
            }
            Ok(Event::Eof) | Err(_) => break,
            Ok(_) => {}
        }
    }
    found
}

/// `<link href=...>` of an Atom entry, with `rel="alternate"` or no `rel`.
fn atom_link(tag: &quick_xml::events::BytesStart<'_>, path: &[String], found: &mut Announced) {
    if tag.local_name().as_ref() != "link" || path.last().is_none_or(|name| name != "entry") {
        return;
    }
    let attribute = |name: &str| {
        let found = tag.attributes().flatten().find(|attribute| attribute.key.as_ref() == name)?;
        Some(found.value.replace("&amp;", "&"))
    };
    if attribute("rel").is_none_or(|rel| rel == "alternate")
        && let Some(href) = attribute("href")
    {
        found.pages.push(href);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn pages(text: &str) -> Vec<String> {
        parse_announced(text.as_bytes()).pages
    }

    #[test]
    fn every_form_is_read() {
        let set = "<?xml version='1.0'?><urlset xmlns='x'><url><loc>http://a.b/?p=1&q=2</loc></url><url><loc> http://a.b/?x=1&amp;y=2 </loc><image:image><image:loc>http://a.b/i</image:loc></image:image></url><url><loc><![CDATA[http://a.b/c]]></loc></url></urlset>";
        assert_eq!(pages(set), ["http://a.b/?p=1&q=2", "http://a.b/?x=1&y=2", "http://a.b/c"]);
        let index = "<sitemapindex><sitemap><loc>http://a.b/s.xml</loc></sitemap></sitemapindex>";
        assert_eq!(parse_announced(index.as_bytes()).sitemaps, ["http://a.b/s.xml"]);
        assert_eq!(pages("\u{feff}http://a.b/1\r\nno url\nhttps://a.b/2\n"), ["http://a.b/1", "https://a.b/2"]);
        let rss = "<rss><channel><link>http://a.b/</link><item><title>t</title><link>http://a.b/1</link></item></channel></rss>";
        assert_eq!(pages(rss), ["http://a.b/1"]);
        let atom = "<feed><link href='http://a.b/'/><entry><link rel='edit' href='http://a.b/e'/><link href='http://a.b/2'></link></entry></feed>";
        assert_eq!(pages(atom), ["http://a.b/2"]);
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(set.as_bytes()).unwrap();
        assert_eq!(parse_announced(&gzip.finish().unwrap()).pages.len(), 3);
    }

    #[test]
    fn broken_and_endless_files_give_what_stood_before() {
        assert_eq!(pages("<urlset><url><loc>http://a.b/1</loc></url><url><loc>http://a.b"), ["http://a.b/1"]);
        let many: String = (0..60_000).map(|i| format!("<url><loc>http://a.b/{i}</loc></url>")).collect();
        assert_eq!(pages(&format!("<urlset>{many}</urlset>")).len(), MAX_SITEMAP_URLS);
        assert!(pages(&"<a>".repeat(100_000)).is_empty() && pages("").is_empty() && pages("<<<>").is_empty());
    }
}
