//! The entries of RSS and Atom feeds as plain texts: the documents of a source in Foschini's sense (2007, section 3.1).
//!
//! The text of an entry is its content as a reader sees it: `content:encoded` or `content`, otherwise `description` or
//! `summary`, with markup and character references resolved. Of a malformed feed, the entries before the error are
//! used.

use dehusk_core::internals::dom::{ParseOptions, Tree, parse};
use dehusk_core::internals::labels::Labels;
use quick_xml::Reader;
use quick_xml::events::Event;

use crate::xml_reference::character;

/// Maximum number of entries of a feed that are read.
pub const MAX_ENTRIES: usize = 5_000;

/// Maximum depth of elements that is looked at. The bound protects memory against hostile files.
const MAX_DEPTH: usize = 64;

/// An entry of a feed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FeedEntry {
    /// Its id, guid or link; empty if it has none.
    pub id: String,
    /// Its text.
    pub text: String,
}

/// Whether a file begins like an RSS or Atom feed.
pub fn is_feed(bytes: &[u8]) -> bool {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(1024)]);
    head.trim_start_matches('\u{feff}').trim_start().starts_with('<')
        && ["<rss", "<feed", "<rdf:RDF"].iter().any(|root| head.contains(root))
}

/// The entries of a feed that have a text, in order.
pub fn feed_entries(bytes: &[u8]) -> Vec<FeedEntry> {
    let text = String::from_utf8_lossy(bytes);
    let mut reader = Reader::from_str(&text);
    let config = reader.config_mut();
    (config.check_end_names, config.allow_unmatched_ends, config.allow_dangling_amp) = (false, true, true);
    let mut entries = Vec::new();
    let mut open: Option<OpenEntry> = None;
    let mut path: Vec<String> = Vec::new();
    while entries.len() < MAX_ENTRIES {
        match reader.read_event() {
            Ok(Event::Start(tag)) => {
                let name = tag.local_name().as_ref().to_ascii_lowercase();
                match &mut open {
                    // Markup of an Atom text of type xhtml.
                    Some(entry) if entry.field.is_some() => entry.held.push_str(&format!("<{name}>")),
                    Some(entry) => entry.begin(&name),
                    None if matches!(name.as_str(), "item" | "entry") => open = Some(OpenEntry::at(path.len())),
                    None => {}
                }
                if path.len() < MAX_DEPTH {
                    path.push(name);
                }
            }
            Ok(Event::Empty(tag)) => {
                if let Some(entry) = open.as_mut().filter(|entry| entry.field.is_some()) {
                    entry.held.push_str(&format!("<{}/>", tag.local_name().as_ref()));
                }
            }
            Ok(Event::Text(piece)) => hold(&mut open, &piece),
            Ok(Event::CData(piece)) => hold(&mut open, &piece),
            Ok(Event::GeneralRef(name)) => hold(&mut open, &character(&name)),
            Ok(Event::End(_)) => {
                let name = path.pop().unwrap_or_default();
                match open.take_if(|entry| entry.depth >= path.len()) {
                    Some(entry) => entries.extend(entry.finished()),
                    None => open.iter_mut().for_each(|entry| entry.end(&name)),
                }
            }
            Ok(Event::Eof) | Err(_) => break,
            Ok(_) => {}
        }
    }
    entries
}

fn hold(open: &mut Option<OpenEntry>, piece: &str) {
    if let Some(entry) = open.as_mut().filter(|entry| entry.field.is_some()) {
        entry.held.push_str(piece);
    }
}

/// The fields of an entry that are read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Field {
    Id,
    Summary,
    Content,
}

/// An entry whose end was not read yet.
struct OpenEntry {
    depth: usize,
    /// The field that is being read, by the name of its element.
    field: Option<(Field, String)>,
    held: String,
    id: String,
    summary: String,
    content: String,
}

impl OpenEntry {
    fn at(depth: usize) -> OpenEntry {
        let empty = String::new;
        OpenEntry { depth, field: None, held: empty(), id: empty(), summary: empty(), content: empty() }
    }

    fn begin(&mut self, name: &str) {
        let field = match name {
            "guid" | "id" | "link" => Field::Id,
            "description" | "summary" => Field::Summary,
            "encoded" | "content" => Field::Content,
            _ => return,
        };
        self.held.clear();
        self.field = Some((field, name.to_owned()));
    }

    fn end(&mut self, name: &str) {
        let Some((field, begun)) = &self.field else { return };
        if begun != name {
            self.held.push_str(&format!("</{name}>"));
            return;
        }
        let held = std::mem::take(&mut self.held);
        match field {
            Field::Id if self.id.is_empty() => self.id = held.trim().to_owned(),
            Field::Id => {}
            Field::Summary => self.summary = held,
            Field::Content => self.content = held,
        }
        self.field = None;
    }

    fn finished(self) -> Option<FeedEntry> {
        let markup = if self.content.trim().is_empty() { self.summary } else { self.content };
        let text = shown_text(&markup);
        (!text.is_empty()).then_some(FeedEntry { id: self.id, text })
    }
}

/// The text of a piece of HTML as a reader sees it.
fn shown_text(markup: &str) -> String {
    let tree: Tree = parse(markup, &ParseOptions::default());
    Labels::none(&tree).text(&tree).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(feed: &str) -> Vec<String> {
        feed_entries(feed.as_bytes()).into_iter().map(|entry| entry.text).collect()
    }

    #[test]
    fn every_form_is_read() {
        let rss = "<rss xmlns:content='x'><channel><description>of the channel</description>
            <item><title>Rye</title><guid>http://a.b/1</guid><description>&lt;p&gt;Rye &amp;amp; oats&lt;/p&gt; end</description></item>
            <item><link>http://a.b/2</link><description>short</description>
            <content:encoded><![CDATA[<p>The <b>long</b> text</p><p>two]]></content:encoded></item><item/></channel></rss>";
        assert_eq!(texts(rss), ["Rye & oats\n\nend", "The long text\n\ntwo"]);
        let ids: Vec<String> = feed_entries(rss.as_bytes()).into_iter().map(|entry| entry.id).collect();
        assert_eq!(ids, ["http://a.b/1", "http://a.b/2"]);
        let atom = "<feed><entry><id>urn:1</id><summary>s</summary><content type='xhtml'><div><p>one</p><br/>two</div>
            </content></entry><entry><summary type='html'>&lt;i&gt;three&lt;/i&gt;</summary></entry></feed>";
        assert_eq!(texts(atom), ["one\n\ntwo", "three"]);
        assert!(is_feed(rss.as_bytes()) && is_feed(b"\xef\xbb\xbf<?xml version='1.0'?>\n<feed>"));
        assert!(!is_feed(b"<urlset>") && !is_feed(b"<html>") && !is_feed(b"a <rss> of words"));
    }

    #[test]
    fn broken_and_endless_feeds_give_what_stood_before() {
        let broken = "<rss><item><description>one</description></item><item><description>two";
        assert_eq!(texts(broken), ["one"]);
        let many = "<item><description>x</description></item>".repeat(MAX_ENTRIES + 10);
        assert_eq!(texts(&format!("<rss>{many}")).len(), MAX_ENTRIES);
        assert!(texts(&"<item>".repeat(100_000)).is_empty() && texts("").is_empty() && texts("<<<>").is_empty());
        assert_eq!(texts("<rss><item><description>&#x41;&bogus;&lt</description></item>").len(), 1);
    }
}
