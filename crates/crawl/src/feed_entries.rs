//! The entries of RSS and Atom feeds as plain texts. What they repeat word by word, such as "The post ... appeared
//! first on ...", is template; `dehusk strings` learns and removes it (Foschini 2007, section 3.1: an entry is a
//! document).
//!
//! The text of an entry is its content as a reader sees it: `content:encoded` or `content`, otherwise `description` or
//! `summary`, with markup and character references resolved. Elements of other vocabularies, such as `media:content`,
//! are not read. Of a malformed feed, what can be read is used.

use dehusk_content::Labels;
use dehusk_html::{ParseOptions, Tree, parse};
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use crate::xml::{character, decoded};

/// Maximum number of entries of a feed that are read.
pub const MAX_ENTRIES: usize = 5_000;

/// Maximum depth of elements that is looked at. The bound protects memory against hostile files.
const MAX_DEPTH: usize = 64;

/// Bytes of a file in which its root element is looked for.
const HEAD_BYTES: usize = 16 * 1024;

/// An entry of a feed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FeedEntry {
    /// Its `guid` or `id`, otherwise its link; empty if it has none.
    pub id: String,
    /// Its text.
    pub text: String,
}

/// Whether a file is an RSS or Atom feed, by its root element.
pub fn is_feed(bytes: &[u8]) -> bool {
    let text = decoded(&bytes[..bytes.len().min(HEAD_BYTES)]);
    let mut reader = reader_of(&text);
    loop {
        match reader.read_event() {
            Ok(Event::Start(root)) => return matches!(root.name().as_ref(), "rss" | "feed" | "atom:feed" | "rdf:RDF"),
            // A feed begins with markup.
            Ok(Event::Text(piece)) if !piece.trim().is_empty() => return false,
            Ok(Event::Empty(_) | Event::Eof) | Err(_) => return false,
            Ok(_) => {}
        }
    }
}

/// The entries of a feed that have a text, in order.
pub fn feed_entries(bytes: &[u8]) -> Vec<FeedEntry> {
    let text = decoded(bytes);
    let mut reader = reader_of(&text);
    let mut entries = Vec::new();
    let mut open: Option<OpenEntry> = None;
    // Names of the open elements.
    let mut path: Vec<String> = Vec::new();
    while entries.len() < MAX_ENTRIES {
        match reader.read_event() {
            Ok(Event::Start(tag)) => {
                let name = tag.name().as_ref().to_owned();
                if is_entry(&name) {
                    // The end of the entry before was lost.
                    entries.extend(open.replace(OpenEntry::at(path.len())).and_then(OpenEntry::finished));
                } else if let Some(entry) = &mut open {
                    entry.begin(&tag, path.len());
                }
                if path.len() < MAX_DEPTH {
                    path.push(name);
                }
            }
            Ok(Event::Empty(tag)) => {
                if let Some(field) = open.as_mut().and_then(|entry| entry.field.as_mut()) {
                    field.held.push_str(&format!("<{}/>", tag.name().as_ref()));
                }
            }
            Ok(Event::Text(piece)) => hold(&mut open, &piece, |field| field.is_html),
            Ok(Event::CData(piece)) => hold(&mut open, &piece, |_| true),
            Ok(Event::GeneralRef(name)) => {
                if let Some(field) = open.as_mut().and_then(|entry| entry.field.as_mut()) {
                    field.hold_reference(&name);
                }
            }
            Ok(Event::End(tag)) => {
                let name = tag.name().as_ref().to_owned();
                // An end without a start ends nothing; what was left open inside ends with its parent.
                if let Some(at) = path.iter().rposition(|open| *open == name) {
                    path.truncate(at);
                }
                if is_entry(&name) {
                    entries.extend(open.take().and_then(OpenEntry::finished));
                } else if let Some(entry) = &mut open {
                    entry.end(&name, path.len());
                }
            }
            Ok(Event::Eof) | Err(_) => break,
            Ok(_) => {}
        }
    }
    entries
}

fn reader_of(text: &str) -> Reader<&[u8]> {
    let mut reader = Reader::from_str(text);
    let config = reader.config_mut();
    (config.check_end_names, config.allow_unmatched_ends, config.allow_dangling_amp) = (false, true, true);
    reader
}

fn is_entry(name: &str) -> bool {
    matches!(name, "item" | "entry" | "atom:entry")
}

fn hold(open: &mut Option<OpenEntry>, piece: &str, is_markup: impl Fn(&OpenField) -> bool) {
    if let Some(field) = open.as_mut().and_then(|entry| entry.field.as_mut()) {
        if is_markup(field) || !piece.contains('<') {
            field.held.push_str(piece)
        } else {
            field.held.push_str(&piece.replace('<', "&lt;"))
        }
    }
}

/// The fields of an entry that are read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Field {
    Id,
    Link,
    Summary,
    Content,
}

/// A field that is being read.
struct OpenField {
    field: Field,
    depth: usize,
    /// Whether its text is HTML written as text, so that its references are resolved twice.
    is_html: bool,
    /// What was read, as HTML.
    held: String,
}

impl OpenField {
    fn hold_reference(&mut self, name: &str) {
        let character = if self.is_html { character(name) } else { String::new() };
        // Without a character it is a reference of HTML, such as `&nbsp;`, or one of a text that is read as HTML.
        if character.is_empty() { self.held.push_str(&format!("&{name};")) } else { self.held.push_str(&character) }
    }
}

/// An entry whose end was not read yet.
#[derive(Default)]
struct OpenEntry {
    depth: usize,
    field: Option<OpenField>,
    id: String,
    link: String,
    summary: String,
    content: String,
}

impl OpenEntry {
    fn at(depth: usize) -> OpenEntry {
        OpenEntry { depth, ..OpenEntry::default() }
    }

    fn begin(&mut self, tag: &BytesStart<'_>, depth: usize) {
        let name = tag.name();
        let name = name.as_ref();
        if let Some(field) = &mut self.field {
            // Markup of an Atom text of type xhtml.
            field.held.push_str(&format!("<{}>", name.to_ascii_lowercase()));
            return;
        }
        if depth != self.depth + 1 {
            return;
        }
        let is_atom = |kind: &str| {
            tag.attributes().flatten().any(|attribute| attribute.key.as_ref() == "type" && attribute.value == kind)
        };
        let (field, is_html) = match name.strip_prefix("atom:").unwrap_or(name) {
            "guid" | "id" => (Field::Id, true),
            "link" => (Field::Link, true),
            "description" => (Field::Summary, true),
            "content:encoded" => (Field::Content, true),
            "summary" => (Field::Summary, is_atom("html")),
            "content" => (Field::Content, is_atom("html")),
            _ => return,
        };
        self.field = Some(OpenField { field, depth, is_html, held: String::new() });
    }

    /// An element at this depth ends, and all that is open below it.
    fn end(&mut self, name: &str, depth: usize) {
        match self.field.take_if(|field| depth <= field.depth) {
            Some(OpenField { field, held, .. }) => {
                let value = match field {
                    Field::Id => &mut self.id,
                    Field::Link => &mut self.link,
                    Field::Summary => &mut self.summary,
                    Field::Content => &mut self.content,
                };
                if value.trim().is_empty() {
                    *value = held;
                }
            }
            None => {
                if let Some(field) = &mut self.field {
                    field.held.push_str(&format!("</{}>", name.to_ascii_lowercase()));
                }
            }
        }
    }

    fn finished(mut self) -> Option<FeedEntry> {
        self.end("", 0);
        let markup = if self.content.trim().is_empty() { self.summary } else { self.content };
        let id = if self.id.trim().is_empty() { self.link } else { self.id };
        let text = shown_text(&markup);
        (!text.is_empty()).then(|| FeedEntry { id: id.trim().to_owned(), text })
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

    fn entries(feed: &str) -> Vec<(String, String)> {
        feed_entries(feed.as_bytes()).into_iter().map(|entry| (entry.id, entry.text)).collect()
    }

    fn texts(feed: &str) -> Vec<String> {
        entries(feed).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn every_form_is_read() {
        let rss = "<rss xmlns:content='x'><channel><description>of the channel</description>
            <item><title>Rye</title><link>http://a.b/r</link><guid>http://a.b/1</guid>
            <description>&lt;p&gt;Rye &amp;amp; oats&lt;/p&gt; end</description></item>
            <item><link>http://a.b/2</link><description>short</description>
            <content:encoded><![CDATA[<p>The <b>long</b> text</p><p>two]]></content:encoded></item><item/></channel></rss>";
        let expected = [("http://a.b/1", "Rye & oats\n\nend"), ("http://a.b/2", "The long text\n\ntwo")];
        assert_eq!(entries(rss), expected.map(|(id, text)| (id.to_owned(), text.to_owned())));
        let atom = "<feed><entry><source><id>no</id></source><id>urn:1</id><summary>s</summary><content type='xhtml'>
            <div><p>Use &lt;b&gt;</p><br/>two</div></content></entry><entry><summary type='html'>&lt;i&gt;three&lt;/i&gt;
            </summary></entry><entry><summary>a &lt;b&gt; &amp; c</summary></entry></feed>";
        assert_eq!(texts(atom), ["Use <b>\n\ntwo", "three", "a <b> & c"]);
        assert_eq!(entries(atom)[0].0, "urn:1");
    }

    #[test]
    fn other_vocabularies_and_references_of_html_keep_their_place() {
        let media = "<rss><item><description>What happened.</description><media:content><media:credit>Photograph: Jo
            </media:credit></media:content><media:description>A field</media:description></item>
            <item><description>red&nbsp;apple caf&eacute; &#x41;</description></item></rss>";
        assert_eq!(texts(media), ["What happened.", "red apple café A"]);
    }

    #[test]
    fn the_declared_encoding_is_read() {
        let feed = "<?xml version=\"1.0\" encoding=\"windows-1251\"?><rss><item><description>Рожь</description></item>";
        let (bytes, _, _) = encoding_rs::WINDOWS_1251.encode(feed);
        assert_eq!(feed_entries(&bytes)[0].text, "Рожь");
        let wide: Vec<u8> = [0xff, 0xfe].into_iter().chain(feed.encode_utf16().flat_map(u16::to_le_bytes)).collect();
        assert!(is_feed(&wide) && feed_entries(&wide)[0].text == "Рожь");
    }

    #[test]
    fn feeds_are_told_by_their_root() {
        let long = format!("<?xml version='1.0'?><!--{}--><feed>", "x".repeat(3000));
        for feed in ["<rss version='2.0'>", "\u{feff}<?xml version='1.0'?>\n<feed>", "<rdf:RDF>", &long] {
            assert!(is_feed(feed.as_bytes()), "{feed:.40}");
        }
        for other in ["<urlset>", "<html>", "a <rss> of words", "<feedback-button>", "", "<", "<rss/>"] {
            assert!(!is_feed(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn broken_and_endless_feeds_give_what_can_be_read() {
        let broken = "<rss><item><guid>1</guid><description>one<br>half</description></item>
            <item><guid>2</guid><description>two</description><item><description>three</description></item></channel>
            <item><description>four";
        assert_eq!(texts(broken), ["one\nhalf", "two", "three"]);
        let many = "<item><description>x</description></item>".repeat(MAX_ENTRIES + 10);
        assert_eq!(texts(&format!("<rss>{many}")).len(), MAX_ENTRIES);
        assert!(texts(&"<item>".repeat(100_000)).is_empty() && texts("").is_empty() && texts("<<<>").is_empty());
        assert_eq!(texts("<rss><item><description>&#x41;&bogus;&lt</description></item>").len(), 1);
    }
}
