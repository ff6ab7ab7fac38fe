//! An Atom feed (RFC 4287) with an entry for each report, the newest first.

use std::fs;
use std::io;
use std::path::Path;

use rustc_hash::FxHashSet;

use crate::safe_html::escaped;
use dehusk_core::calendar::iso_8601;

/// Entries that the feed keeps: reports, or pages.
const MOST_REPORTS: usize = 50;
const MOST_PAGES: usize = 1000;

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
    /// The report of a run.
    pub(super) fn of_run(run: i64, ended_at: i64, title: &str, html: &str) -> Entry {
        Entry::new(format!("urn:dehusk:run:{run}:{ended_at}"), "", ended_at, title, html)
    }

    /// A page that differs, in a run that ended then.
    pub(super) fn of_page((run, ended_at): (i64, i64), url: &str, title: &str, html: &str) -> Entry {
        let digest = xxhash_rust::xxh3::xxh3_64(url.as_bytes());
        let link = format!("<link href=\"{}\"/>\n", escaped(&without_controls(url)));
        Entry::new(format!("urn:dehusk:page:{run}:{ended_at}:{digest:016x}"), &link, ended_at, title, html)
    }

    fn new(id: String, link: &str, ended_at: i64, title: &str, html: &str) -> Entry {
        let updated = iso_8601(ended_at);
        let (title, content) = (escaped(&without_controls(title)), escaped(&without_controls(html)));
        let xml = format!(
            "{BEGIN}<id>{id}</id>\n<title>{title}</title>\n{link}<updated>{updated}</updated>\n\
             <content type=\"html\">{content}</content>\n{END}"
        );
        Entry { id, updated, xml }
    }

    fn is_page(&self) -> bool {
        self.id.starts_with("urn:dehusk:page:")
    }
}

/// XML has no way to write control characters.
fn without_controls(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && !matches!(c, '\n' | '\t') { ' ' } else { c }).collect()
}

/// Puts entries at the top of a feed, all or none. An entry of the same run or page of a run is replaced.
pub(super) fn add(path: &Path, entries: &[Entry]) -> io::Result<()> {
    let Some(newest) = entries.first() else { return Ok(()) };
    let known = match fs::read_to_string(path) {
        Ok(known) => known,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error),
    };
    if !known.is_empty() && !known.starts_with(HEAD) {
        return Err(io::Error::other("the file holds something else; name another one"));
    }
    let ids: FxHashSet<&str> = entries.iter().map(|entry| entry.id.as_str()).collect();
    let id_of =
        |former: &str| former.split("<id>").nth(1).and_then(|rest| rest.split("</id>").next()).map(str::to_owned);
    // Texts of entries are escaped: only an element of the feed has this form.
    let former = known.split(BEGIN).skip(1).filter_map(|rest| rest.split(END).next());
    let is_other = |former: &&str| id_of(former).is_none_or(|id| !ids.contains(id.as_str()));
    let most = if newest.is_page() { MOST_PAGES } else { MOST_REPORTS };
    let kept = former.filter(is_other).take(most.saturating_sub(entries.len()));
    let mut feed = format!(
        "{HEAD}<id>urn:dehusk:runs</id>\n<title>dehusk</title>\n<author><name>dehusk</name></author>\n\
         <updated>{}</updated>\n",
        newest.updated
    );
    entries.iter().for_each(|entry| feed += &entry.xml);
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
            let entry = Entry::of_run(run, run * 1000, &format!("run {run} <b>"), "<entry>\n<p>\u{1}x</entry>\n");
            add(&path, &[entry]).unwrap();
        }
        add(&path, &[Entry::of_run(60, 60_000, "run 60 again", "")]).unwrap();
        let feed = fs::read_to_string(&path).unwrap();
        assert_eq!(
            (feed.matches("<entry>").count(), feed.matches("<id>urn:dehusk:run:60:").count()),
            (MOST_REPORTS, 1)
        );
        assert!(feed.find("run 60 again") < feed.find("run 59 &lt;b") && !feed.contains('\u{1}'), "{feed}");
        assert!(feed.contains("run 11 &lt;b") && !feed.contains("run 10 &lt;b"));
        fs::write(&path, "something else").unwrap();
        assert!(add(&path, &[Entry::of_run(1, 1, "", "")]).is_err());
    }
}
