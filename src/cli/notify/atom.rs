//! An Atom feed (RFC 4287) with an entry for each report, the newest first.

use std::fs;
use std::io;
use std::path::Path;

use crate::safe_html::escaped;
use dehusk_core::calendar::iso_8601;

/// Entries that the feed keeps.
const MOST_ENTRIES: usize = 50;

const HEAD: &str = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">\n";
const BEGIN: &str = "<entry>\n";
const END: &str = "</entry>\n";

/// An entry as it stands in the feed.
pub(super) struct Entry {
    id: String,
    updated: String,
    xml: String,
}

impl Entry {
    pub(super) fn new(run: i64, ended_at: i64, title: &str, html: &str) -> Entry {
        let (id, updated) = (format!("urn:dehusk:run:{run}:{ended_at}"), iso_8601(ended_at));
        let (title, content) = (escaped(&without_controls(title)), escaped(&without_controls(html)));
        let xml = format!(
            "{BEGIN}<id>{id}</id>\n<title>{title}</title>\n<updated>{updated}</updated>\n\
             <content type=\"html\">{content}</content>\n{END}"
        );
        Entry { id, updated, xml }
    }
}

/// XML has no way to write control characters.
fn without_controls(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && !matches!(c, '\n' | '\t') { ' ' } else { c }).collect()
}

/// Puts an entry at the top of a feed, whole or not at all. An entry of the same run is replaced.
pub(super) fn add(path: &Path, entry: &Entry) -> io::Result<()> {
    let known = match fs::read_to_string(path) {
        Ok(known) => known,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error),
    };
    if !known.is_empty() && !known.starts_with(HEAD) {
        return Err(io::Error::other("the file holds something else; name another one"));
    }
    let mark = format!("<id>{}</id>", entry.id);
    // Texts of entries are escaped: only an element of the feed has this form.
    let former = known.split(BEGIN).skip(1).filter_map(|rest| rest.split(END).next());
    let kept = former.filter(|former| !former.contains(&mark)).take(MOST_ENTRIES - 1);
    let mut feed = format!(
        "{HEAD}<id>urn:dehusk:runs</id>\n<title>dehusk</title>\n<author><name>dehusk</name></author>\n\
         <updated>{}</updated>\n{}",
        entry.updated, entry.xml
    );
    kept.for_each(|former| feed += &format!("{BEGIN}{former}{END}"));
    feed += "</feed>\n";
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    fs::write(&part, feed)?;
    fs::rename(part, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_entry_is_the_first_and_the_oldest_goes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("runs.atom");
        for run in 1..=60 {
            add(&path, &Entry::new(run, run * 1000, &format!("run {run} <b>"), "<entry>\n<p>\u{1}x</entry>\n"))
                .unwrap();
        }
        add(&path, &Entry::new(60, 60_000, "run 60 again", "")).unwrap();
        let feed = fs::read_to_string(&path).unwrap();
        assert_eq!(
            (feed.matches("<entry>").count(), feed.matches("<id>urn:dehusk:run:60:").count()),
            (MOST_ENTRIES, 1)
        );
        assert!(feed.find("run 60 again") < feed.find("run 59 &lt;b") && !feed.contains('\u{1}'), "{feed}");
        assert!(feed.contains("run 11 &lt;b") && !feed.contains("run 10 &lt;b"));
        fs::write(&path, "something else").unwrap();
        assert!(add(&path, &Entry::new(1, 1, "", "")).is_err());
    }
}
