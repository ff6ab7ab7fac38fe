//! The source of the pages of a corpus site: a folder `SITE/www`, or an archive `SITE.warc.gz` of its host.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::EvaluateError;
use super::teco::without_marks;
use dehusk_files::folder::Folder;
use dehusk_files::warc::{Document, Reader, WarcError, documents};
use dehusk_html::PageUrl;
use dehusk_html::ParseOptions;
use dehusk_html::{Tree, parse_bytes};

/// The pages of one site, by path as the labels name them.
pub(super) enum Source {
    Folder(Folder),
    /// The archive file, its host, and its pages by path.
    Archive(PathBuf, String, HashMap<String, Document>),
}

/// A page that was found.
pub(super) struct SourcePage {
    /// URL after redirects.
    pub(super) url: PageUrl,
    pub(super) path: String,
    pub(super) page: Raw,
}

/// Bytes with their declared content type.
pub(super) struct Raw {
    bytes: Vec<u8>,
    content_type: Option<String>,
}

impl Raw {
    pub(super) fn parse(&self, limits: &ParseOptions) -> Tree {
        parse_bytes(&self.bytes, self.content_type.as_deref(), limits).0
    }
}

impl Source {
    /// Location of a site's pages below the folder of its split; `None` if there are none.
    pub(super) fn place(split: &Path, site: &str) -> Option<PathBuf> {
        let folder = split.join(site).join("www");
        let archives = [format!("{site}.warc.gz"), format!("{site}.warc")].map(|name| split.join(name));
        folder.is_dir().then_some(folder).or_else(|| archives.into_iter().find(|file| file.is_file()))
    }

    /// Opens a folder or archive. At most `most` bytes of each archived page are used.
    pub(super) fn open(place: &Path, most: usize) -> Result<Source, EvaluateError> {
        if place.is_dir() {
            return Ok(Source::Folder(Folder::open(place)?));
        }
        let (mut host, mut found) = (String::new(), HashMap::new());
        for page in documents(Reader::open(place)?, most) {
            let page = match page {
                Err(error @ WarcError::Body { .. }) => {
                    tracing::warn!("left out: {error}");
                    continue;
                }
                page => page?,
            };
            if page.is_text {
                continue;
            }
            if host.is_empty() {
                host = page.url.authority();
            }
            if let Some(path) = path_of(&page.url).filter(|_| page.url.authority() == host) {
                found.entry(path).or_insert(page);
            }
        }
        Ok(Source::Archive(place.to_owned(), host, found))
    }

    /// The host of an archive, which links may name.
    pub(super) fn host(&self) -> Option<&String> {
        match self {
            Source::Folder(_) => None,
            Source::Archive(_, host, _) => Some(host),
        }
    }

    /// The page at this path.
    pub(super) fn read(&self, path: &str) -> Result<Raw, EvaluateError> {
        match self {
            Source::Folder(folder) => Ok(Raw { bytes: without_marks(folder.read(path)?), content_type: None }),
            Source::Archive(file, _, pages) => match pages.get(path) {
                Some(page) => Ok(Raw::new(page)),
                None => Err(EvaluateError::NotArchived { file: file.clone(), page: path.to_owned() }),
            },
        }
    }

    /// The page that a link leads to.
    pub(super) fn find(&self, url: &PageUrl) -> Option<SourcePage> {
        match self {
            Source::Folder(folder) => {
                let served = folder.find(url)?;
                let bytes = without_marks(std::fs::read(&served.file).ok()?);
                Some(SourcePage { url: served.url, path: served.path, page: Raw { bytes, content_type: None } })
            }
            Source::Archive(_, _, pages) => {
                let path = path_of(url)?;
                let page = Raw::new(pages.get(&path)?);
                Some(SourcePage { url: url.clone(), path, page })
            }
        }
    }
}

impl Raw {
    fn new(page: &Document) -> Raw {
        Raw { bytes: page.body.clone(), content_type: page.content_type.clone() }
    }
}

/// A path as the labels name it: percent-decoded, with `index.html` for a directory, followed by the query.
fn path_of(url: &PageUrl) -> Option<String> {
    let mut path = dehusk_files::folder::decode_path(url.path())?;
    if path.ends_with('/') {
        path += "index.html";
    }
    if let Some((_, query)) = url.as_str().split_once('?') {
        path = format!("{path}?{query}");
    }
    Some(path)
}
