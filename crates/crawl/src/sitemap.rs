//! URLs that a site announces, or a user lists: sitemaps (XML, index, text, gzip), RSS and Atom feeds, OPML.
//!
//! Limits are those of sitemaps.org: 50 MB uncompressed and 50,000 URLs per file. Of a malformed file, the part before
//! the error is used.

use std::borrow::Cow;
use std::io::Read;

use quick_xml::Reader;
use quick_xml::events::Event;
use rustc_hash::FxHashMap;

use dehusk_core::calendar::w3c_time;

use crate::xml::{character, decoded};

/// Maximum bytes of a sitemap after decompression (sitemaps.org).
pub const MAX_SITEMAP_BYTES: usize = 50 * 1024 * 1024;

/// Maximum number of URLs of one sitemap (sitemaps.org).
pub const MAX_SITEMAP_URLS: usize = 50_000;

/// Pages from which on a list is long.
const LONG: usize = 5;

/// URLs that a file announces, as written there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Announced {
    /// Pages.
    pub pages: Vec<String>,
    /// Other sitemaps, if the file is a sitemap index; feeds, if it is OPML.
    pub sitemaps: Vec<String>,
    /// When pages were modified last, Unix milliseconds: the number of the page and the time.
    pub modified: Vec<(usize, i64)>,
    /// How often pages are modified, by `changefreq`: the number of the page and an interval in milliseconds.
    pub intervals: Vec<(usize, i64)>,
}

impl Announced {
    /// The times that say something of a page.
    pub fn telling_times(&self) -> impl Iterator<Item = (&str, i64)> {
        self.telling(&self.modified)
    }

    /// The intervals that say something of a page.
    pub fn telling_intervals(&self) -> impl Iterator<Item = (&str, i64)> {
        self.telling(&self.intervals)
    }

    /// A value that most pages of a long list have is that of the list, and says nothing of a page.
    fn telling<'a>(&'a self, values: &'a [(usize, i64)]) -> impl Iterator<Item = (&'a str, i64)> {
        let mut counts = FxHashMap::<i64, usize>::default();
        values.iter().for_each(|(_, value)| *counts.entry(*value).or_default() += 1);
        let n = values.len();
        let is_telling = move |(_, value): &&(usize, i64)| n < LONG || counts[value] * 2 <= n;
        let page = |(page, value): &(usize, i64)| Some((self.pages.get(*page)?.as_str(), *value));
        values.iter().filter(is_telling).filter_map(page)
    }

    fn is_full(&self) -> bool {
        self.pages.len() + self.sitemaps.len() >= MAX_SITEMAP_URLS
    }
}

/// Parses a sitemap, a feed or OPML. gzip is decompressed first.
pub fn parse_announced(bytes: &[u8]) -> Announced {
    let bytes = unpacked(bytes, MAX_SITEMAP_BYTES);
    let text = decoded(&bytes);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if text.starts_with('<') { parse_xml(text) } else { parse_text(text) }
}

/// Whether a file is XML that lists URLs, by its root element.
pub fn is_announcement(bytes: &[u8]) -> bool {
    let bytes = unpacked(bytes, HEAD_BYTES);
    let text = decoded(&bytes);
    let mut reader = Reader::from_str(text.trim_start_matches('\u{feff}').trim_start());
    loop {
        match reader.read_event() {
            Ok(Event::Start(root)) => {
                let name = root.local_name().as_ref().to_ascii_lowercase();
                return matches!(name.as_str(), "urlset" | "sitemapindex" | "rss" | "feed" | "rdf" | "opml");
            }
            // Such a file begins with markup.
            Ok(Event::Text(piece)) if !piece.trim().is_empty() => return false,
            Ok(Event::Empty(_) | Event::Eof) | Err(_) => return false,
            Ok(_) => {}
        }
    }
}

/// Bytes of a file in which its root element is looked for.
const HEAD_BYTES: usize = 16 * 1024;

/// The first `most` bytes of a file, decompressed. Of a truncated one, the readable part.
fn unpacked(bytes: &[u8], most: usize) -> Cow<'_, [u8]> {
    if !bytes.starts_with(b"\x1f\x8b") {
        return Cow::Borrowed(&bytes[..bytes.len().min(most)]);
    }
    let mut out = Vec::new();
    let _ = flate2::read::MultiGzDecoder::new(bytes).take(most as u64).read_to_end(&mut out);
    Cow::Owned(out)
}

/// One URL per line.
fn parse_text(text: &str) -> Announced {
    let lines = text.lines().map(str::trim).filter(|line| line.starts_with("http://") || line.starts_with("https://"));
    Announced { pages: lines.take(MAX_SITEMAP_URLS).map(str::to_owned).collect(), ..Announced::default() }
}

/// `urlset/url/loc`, `sitemapindex/sitemap/loc`, `item/link`, `entry/link[@href]`, `outline[@htmlUrl][@xmlUrl]`.
/// Namespaces are ignored.
fn parse_xml(text: &str) -> Announced {
    let mut reader = Reader::from_str(text);
    let config = reader.config_mut();
    (config.check_end_names, config.allow_unmatched_ends, config.allow_dangling_amp) = (false, true, true);
    let mut found = Announced::default();
    let mut path: Vec<String> = Vec::new();
    let mut held = String::new();
    let (mut lastmod, mut interval) = (None, None);
    while !found.is_full() {
        match reader.read_event() {
            Ok(Event::Start(tag)) => {
                atom_link(&tag, &path, &mut found);
                outline(&tag, &mut found);
                // No deeper element is of interest, and the bound protects memory against hostile files.
                if path.len() < 64 {
                    path.push(tag.local_name().as_ref().to_ascii_lowercase());
                }
                held.clear();
            }
            Ok(Event::Empty(tag)) => {
                atom_link(&tag, &path, &mut found);
                outline(&tag, &mut found);
            }
            Ok(Event::Text(piece)) => held.push_str(&piece),
            Ok(Event::CData(piece)) => held.push_str(&piece),
            Ok(Event::GeneralRef(name)) => held.push_str(&character(&name)),
            Ok(Event::End(_)) => {
                let url = held.trim();
                if !url.is_empty() {
                    let names: Vec<&str> = path.iter().rev().take(2).map(String::as_str).collect();
                    match names.as_slice() {
                        ["loc", "url"] | ["link", "item"] => found.pages.push(url.to_owned()),
                        ["lastmod", "url"] => lastmod = w3c_time(url),
                        ["changefreq", "url"] => interval = interval_of(url),
                        ["loc", "sitemap"] => found.sitemaps.push(url.to_owned()),
                        _ => {}
                    }
                }
                if path.last().is_some_and(|name| name == "url")
                    && let Some(page) = found.pages.len().checked_sub(1)
                {
                    found.modified.extend(lastmod.take().map(|at| (page, at)));
                    found.intervals.extend(interval.take().map(|every| (page, every)));
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

/// The interval of a `changefreq`, in milliseconds. Days are four hours short, so that a run that begins at the same
/// hour finds the page due.
fn interval_of(word: &str) -> Option<i64> {
    const HOUR: i64 = 3_600_000;
    let days = |n: i64| (24 * n - 4) * HOUR;
    match word.to_ascii_lowercase().as_str() {
        "always" | "hourly" => Some(HOUR),
        "daily" => Some(days(1)),
        "weekly" => Some(days(7)),
        "monthly" => Some(days(30)),
        "yearly" | "never" => Some(days(365)),
        _ => None,
    }
}

/// `<link href=...>` of an Atom entry, with `rel="alternate"` or no `rel`.
fn atom_link(tag: &quick_xml::events::BytesStart<'_>, path: &[String], found: &mut Announced) {
    if tag.local_name().as_ref() != "link" || path.last().is_none_or(|name| name != "entry") {
        return;
    }
    if attribute(tag, "rel").is_none_or(|rel| rel == "alternate")
        && let Some(href) = attribute(tag, "href")
    {
        found.pages.push(href);
    }
}

/// An `outline` of OPML: a site with its feed.
fn outline(tag: &quick_xml::events::BytesStart<'_>, found: &mut Announced) {
    if tag.local_name().as_ref() == "outline" {
        found.pages.extend(attribute(tag, "htmlUrl"));
        found.sitemaps.extend(attribute(tag, "xmlUrl"));
    }
}

fn attribute(tag: &quick_xml::events::BytesStart<'_>, name: &str) -> Option<String> {
    let found = tag.attributes().flatten().find(|attribute| attribute.key.as_ref().eq_ignore_ascii_case(name))?;
    Some(found.value.trim().replace("&amp;", "&")).filter(|value| !value.is_empty())
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
        let opml = "<opml><body><outline text='b'><outline text='A' xmlUrl='http://a.b/f.xml' htmlUrl='http://a.b/'/></outline></body></opml>";
        let outlines = parse_announced(opml.as_bytes());
        assert_eq!(
            (outlines.pages, outlines.sitemaps),
            (vec!["http://a.b/".to_owned()], vec!["http://a.b/f.xml".to_owned()])
        );
        assert!([set, index, rss, atom, opml].iter().all(|text| is_announcement(text.as_bytes())));
        assert!(!is_announcement(b"<html><p>x") && !is_announcement(b"http://a.b/") && !is_announcement(b""));
        let utf16: Vec<u8> = format!("\u{feff}{index}").encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(parse_announced(&utf16).sitemaps, ["http://a.b/s.xml"]);
        let latin =
            b"<?xml version='1.0' encoding='ISO-8859-1'?><urlset><url><loc>http://a.b/caf\xe9</loc></url></urlset>";
        assert_eq!(parse_announced(latin).pages, ["http://a.b/caf\u{e9}"]);
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

    #[test]
    fn times_that_most_pages_have_say_nothing() {
        let list = |days: &[u32]| {
            let url = |(at, day): (usize, &u32)| {
                format!("<url><loc>http://a/{at}</loc><lastmod>2026-11-{day:02}</lastmod></url>")
            };
            format!("<urlset>{}</urlset>", days.iter().enumerate().map(url).collect::<String>())
        };
        let told = |days: &[u32]| -> Vec<String> {
            parse_announced(list(days).as_bytes()).telling_times().map(|(page, _)| page.to_owned()).collect()
        };
        assert_eq!(told(&[1, 1]), ["http://a/0", "http://a/1"], "a short list");
        assert_eq!(told(&[1, 1, 1, 1, 2, 3]), ["http://a/4", "http://a/5"]);
        let without = parse_announced(b"<urlset><url><loc>http://a/</loc><lastmod>soon</lastmod></url></urlset>");
        assert_eq!((without.pages.len(), without.modified.len()), (1, 0));
        let url =
            |(at, word): (usize, &&str)| format!("<url><loc>http://a/{at}</loc><changefreq>{word}</changefreq></url>");
        let words = ["weekly", "weekly", "weekly", "Weekly", "Hourly", "never", "soon"];
        let list: String = words.iter().enumerate().map(url).collect();
        let announced = parse_announced(format!("<urlset>{list}</urlset>").as_bytes());
        let told: Vec<(&str, i64)> = announced.telling_intervals().collect();
        assert_eq!(told, [("http://a/4", 3_600_000), ("http://a/5", 365 * 86_400_000 - 4 * 3_600_000)]);
    }
}
