//! Where the pages of a corpus site come from: a folder `SITE/www`, or an archive `SITE.warc.gz` of its host in its place.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::EvaluateError;
use crate::dom::{Tree, parse_bytes};
use crate::folder::Folder;
use crate::page::PageUrl;
use crate::settings::PageLimits;
use crate::warc::{WarcPage, pages};

/// The pages of one site, by their paths as the labels name them.
pub(super) enum Source {
    Folder(Folder),
    /// The file, its host, and its pages.
    Archive(PathBuf, String, HashMap<String, WarcPage>),
}

/// A page as it was found.
pub(super) struct Found {
    /// After redirects.
    pub(super) url: PageUrl,
    pub(super) path: String,
    pub(super) page: Raw,
}

/// Bytes with their declared type.
pub(super) struct Raw {
    bytes: Vec<u8>,
    content_type: Option<String>,
}

impl Raw {
    pub(super) fn parse(&self, limits: &PageLimits) -> Tree {
        parse_bytes(&self.bytes, self.content_type.as_deref(), limits).0
    }
}

impl Source {
    /// The pages of a site below the folder of its split; `None` when they are not there.
    pub(super) fn open(split: &Path, site: &str) -> Result<Option<Source>, EvaluateError> {
        let folder = split.join(site).join("www");
        if folder.is_dir() {
            return Ok(Some(Source::Folder(Folder::open(&folder)?)));
        }
        let names = [format!("{site}.warc.gz"), format!("{site}.warc")];
        let Some(file) = names.iter().map(|name| split.join(name)).find(|file| file.is_file()) else {
            return Ok(None);
        };
        let (mut host, mut found) = (String::new(), HashMap::new());
        for page in pages(&file, usize::MAX)? {
            let page = page?;
            if host.is_empty() {
                host = page.url.authority();
            }
            if let Some(path) = path_of(&page.url).filter(|_| page.url.authority() == host) {
                found.entry(path).or_insert(page);
            }
        }
        Ok(Some(Source::Archive(file, host, found)))
    }

    /// The host that its links may name.
    pub(super) fn host(&self) -> Option<&String> {
        match self {
            Source::Folder(_) => None,
            Source::Archive(_, host, _) => Some(host),
        }
    }

    /// The page of this path.
    pub(super) fn read(&self, path: &str) -> Result<Raw, EvaluateError> {
        match self {
            Source::Folder(folder) => Ok(Raw { bytes: folder.read(path)?, content_type: None }),
            Source::Archive(file, _, pages) => match pages.get(path) {
                Some(page) => Ok(Raw::of(page)),
                None => Err(EvaluateError::NotArchived { file: file.clone(), page: path.to_owned() }),
            },
        }
    }

    /// The page that a link leads to.
    pub(super) fn find(&self, url: &PageUrl) -> Option<Found> {
        match self {
            Source::Folder(folder) => {
                let served = folder.find(url)?;
                let bytes = std::fs::read(&served.file).ok()?;
                Some(Found { url: served.url, path: served.path, page: Raw { bytes, content_type: None } })
            }
            Source::Archive(_, _, pages) => {
                let path = path_of(url)?;
                let page = Raw::of(pages.get(&path)?);
                Some(Found { url: url.clone(), path, page })
            }
        }
    }
}

impl Raw {
    fn of(page: &WarcPage) -> Raw {
        Raw { bytes: page.body.clone(), content_type: page.content_type.clone() }
    }
}

/// A path as the labels name it: decoded, and `index.html` for a directory.
fn path_of(url: &PageUrl) -> Option<String> {
    let path = crate::folder::decode_path(url.path())?;
    Some(if path.ends_with('/') { path + "index.html" } else { path })
}
