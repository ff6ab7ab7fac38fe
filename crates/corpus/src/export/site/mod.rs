//! A static copy of the cleaned pages: one HTML file for each, an index, and links between the pages that are there.
//!
//! Pages are written as they come. Their links are rewritten at the end, when it is known which pages there are.

mod index;
mod links;

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::places::{self, place, write_whole};
use super::sink::{Raw, Sink};
use dehusk_core::calendar::iso_8601;
use dehusk_core::corpus::{ColumnValue as Value, Record};
use links::{escaped, relative};

/// Folder of the lists of pages, one file for each host.
const LISTS: &str = ".pages";

/// The file by which Git leaves a folder out.
const IGNORED: &str = ".gitignore";

const STYLE: &str = "body{max-width:46rem;margin:2rem auto;padding:0 1rem;font:1rem/1.6 system-ui,sans-serif;\
color:#1a1a1a;background:#fff}img,video,table{max-width:100%}pre{overflow-x:auto;background:#f4f4f4;padding:.8rem}\
li>span{font-size:.85rem;color:#777;overflow-wrap:anywhere}.dehusk{border-bottom:1px solid #bbb;padding-bottom:.5rem;font-size:.85rem;color:#555;overflow-wrap:anywhere}\
td,th{border:1px solid #bbb;padding:.2rem .5rem}table{border-collapse:collapse}\
@media(prefers-color-scheme:dark){body{color:#ddd;background:#161616}pre{background:#222}a{color:#8ab4f8}\
.dehusk{color:#aaa}}";

/// A page of the copy.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Listed {
    url: String,
    title: String,
    path: String,
}

pub(super) struct Site {
    dir: PathBuf,
    size: u64,
}

impl Site {
    pub(super) fn create(dir: &Path) -> io::Result<Site> {
        fs::create_dir_all(dir.join(LISTS))?;
        // In a repository of the copy they are no part of the history.
        fs::write(dir.join(LISTS).join(IGNORED), "*\n")?;
        Ok(Site { dir: dir.to_owned(), size: 0 })
    }
}

/// The element that names the page of a file. No page is written with this attribute.
fn mark(url: &str) -> String {
    format!("<link rel=\"canonical\" data-origin=\"\" href=\"{}\">", escaped(url))
}

/// Removes the file of a page, if it is there. [`complete`] takes it out of the lists.
pub(super) fn remove(dir: &Path, url: &str) -> io::Result<()> {
    places::remove(dir, url, "html", &mark(url), "</head>")
}

impl Sink for Site {
    fn push(&mut self, record: &Record, _: &Raw) -> io::Result<()> {
        let url = record.text("url").unwrap_or_default();
        let mark = mark(url);
        let path = place(&self.dir, url, "html", &mark, "</head>");
        let page = page(record, url, &mark, &path);
        self.size += page.len() as u64;
        write_whole(&self.dir.join(&path), page.as_bytes())?;
        let title = record.text("title").filter(|title| !title.is_empty()).unwrap_or(url).to_owned();
        let listed = Listed { url: url.to_owned(), title, path: slashed(&path) };
        let host = path.components().next().map(|host| host.as_os_str().to_owned()).unwrap_or_default();
        let list = self.dir.join(LISTS).join(host);
        let mut list = OpenOptions::new().append(true).create(true).open(list)?;
        writeln!(list, "{}", serde_json::to_string(&listed)?)
    }

    fn size(&self) -> u64 {
        self.size
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        Ok(())
    }
}

/// The path as links have it.
fn slashed(path: &Path) -> String {
    path.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}

/// The page with its origin above it. What it may load is as before, and this style.
fn page(record: &Record, url: &str, mark: &str, path: &Path) -> String {
    let html = record.text("html").unwrap_or_default();
    let html = html.replacen("default-src 'none';", "default-src 'none'; style-src 'unsafe-inline';", 1);
    let html = html.replacen(
        "</head>",
        &format!("<meta name=\"viewport\" content=\"width=device-width\">{mark}<style>{STYLE}</style></head>"),
        1,
    );
    let fetched = match record.get("fetched_at") {
        Some(Value::Time(Some(at))) => format!(", fetched {}", iso_8601(*at)),
        _ => String::new(),
    };
    let index = relative(&slashed(path), "index.html");
    let origin = escaped(url);
    let head = format!(
        "<p class=\"dehusk\"><a href=\"{index}\">Index</a> · from <a href=\"{origin}\" data-origin=\"\">{origin}</a>{fetched}</p>"
    );
    match html.find("<body").and_then(|body| Some(body + html[body..].find('>')? + 1)) {
        Some(at) => format!("{}{head}{}", &html[..at], &html[at..]),
        None => html,
    }
}

/// Rewrites the links of all pages to those of the same site that are there, and writes the index.
pub(super) fn complete(dir: &Path) -> io::Result<()> {
    let mut lists = Vec::new();
    for entry in fs::read_dir(dir.join(LISTS))? {
        let entry = entry?;
        if entry.file_name() != IGNORED {
            lists.push(entry.path());
        }
    }
    lists.sort();
    // One site is in memory at a time. Links to other sites lead to where they were.
    let mut hosts = Vec::new();
    for list in &lists {
        let is_there = |page: &Listed| dir.join(&page.path).exists();
        let (pages, removed): (Vec<Listed>, Vec<Listed>) = read(list)?.into_iter().partition(is_there);
        let targets = links::Targets::new(&pages, &removed);
        for page in &pages {
            links::rewrite(&dir.join(&page.path), &page.path, &targets)?;
        }
        let host = list.file_name().unwrap_or_default().to_string_lossy().into_owned();
        index::write_host(dir, &host, &pages)?;
        hosts.push((host, pages.len()));
    }
    index::write_root(dir, &hosts)
}

/// The pages of a list, each once, by title.
fn read(list: &Path) -> io::Result<Vec<Listed>> {
    let mut pages: FxHashMap<String, Listed> = FxHashMap::default();
    for line in BufReader::new(File::open(list)?).lines() {
        // A line that a kill has cut off is of a page that comes again.
        let Ok(page) = serde_json::from_str::<Listed>(&line?) else { continue };
        pages.insert(page.url.clone(), page);
    }
    let mut pages: Vec<Listed> = pages.into_values().collect();
    pages.sort_by(|one, other| (&one.title, &one.url).cmp(&(&other.title, &other.url)));
    Ok(pages)
}
