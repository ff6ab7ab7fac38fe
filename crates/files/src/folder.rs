//! Finds pages of a site in a folder, as a static web server does.
//!
//! `/x` is the file `x`, else `x.html`, else a redirect to `/x/` if that folder exists. `/x/` is `x/index.html`. A
//! mirrored site is therefore learned as it would be over the network.

use std::path::{Path, PathBuf};

use dehusk_html::PageUrl;

/// A folder that is the root of a site.
#[derive(Clone, Debug)]
pub struct Folder {
    root: PathBuf,
}

/// Where a page was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Served {
    /// The URL after redirects.
    pub url: PageUrl,
    /// Path of the file below the root, with a leading `/`.
    pub path: String,
    /// The file.
    pub file: PathBuf,
}

/// Why a folder could not be read.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// The path does not exist or is not a folder.
    #[error("{path}: not a folder")]
    NotAFolder {
        /// As given.
        path: PathBuf,
    },
    /// A file or folder could not be read.
    #[error("{path}: {reason}")]
    Unreadable {
        /// The path.
        path: PathBuf,
        /// The operating system's error.
        reason: std::io::Error,
    },
}

impl Folder {
    /// Opens a folder.
    pub fn open(root: &Path) -> Result<Folder, FolderError> {
        if !root.is_dir() {
            return Err(FolderError::NotAFolder { path: root.to_owned() });
        }
        Ok(Folder { root: root.to_owned() })
    }

    /// Finds the page of a URL. The query is ignored, as by a static host.
    pub fn find(&self, url: &PageUrl) -> Option<Served> {
        let path = decode_path(url.path())?;
        if let Some(directory) = path.strip_suffix('/') {
            return self.served(url.clone(), format!("{directory}/index.html"));
        }
        self.served(url.clone(), path.clone()).or_else(|| self.served(url.clone(), format!("{path}.html"))).or_else(
            || {
                let below = url.join(&format!("{}/", url.path()))?;
                self.served(below, format!("{path}/index.html"))
            },
        )
    }

    fn served(&self, url: PageUrl, path: String) -> Option<Served> {
        let file = self.root.join(path.trim_start_matches('/'));
        file.is_file().then_some(Served { url, path, file })
    }

    /// The paths of all HTML files below the root, with a leading `/`, sorted.
    pub fn pages(&self) -> Result<Vec<String>, FolderError> {
        let mut found = Vec::new();
        let mut open = vec![self.root.clone()];
        while let Some(directory) = open.pop() {
            let unreadable = |reason| FolderError::Unreadable { path: directory.clone(), reason };
            for entry in std::fs::read_dir(&directory).map_err(unreadable)? {
                let path = entry.map_err(unreadable)?.path();
                if path.is_dir() {
                    open.push(path);
                } else if is_html(&path)
                    && let Some(name) = path.strip_prefix(&self.root).ok().and_then(Path::to_str)
                {
                    found.push(format!("/{name}"));
                }
            }
        }
        found.sort();
        Ok(found)
    }

    /// Reads the file with this path below the root.
    pub fn read(&self, path: &str) -> Result<Vec<u8>, FolderError> {
        let file = self.root.join(path.trim_start_matches('/'));
        std::fs::read(&file).map_err(|reason| FolderError::Unreadable { path: file, reason })
    }
}

fn is_html(path: &Path) -> bool {
    path.extension().is_some_and(|e| ["html", "htm", "xhtml"].iter().any(|known| e.eq_ignore_ascii_case(known)))
}

/// Percent-decodes a path. `None` when it would leave the root.
pub fn decode_path(path: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        rest = tail;
        let hex = |b: u8| (b as char).to_digit(16);
        match (first, tail) {
            (b'%', [high, low, after @ ..]) if hex(*high).is_some() && hex(*low).is_some() => {
                bytes.push((hex(*high)? * 16 + hex(*low)?) as u8);
                rest = after;
            }
            _ => bytes.push(*first),
        }
    }
    let path = String::from_utf8(bytes).ok()?;
    let leaves = path.contains('\0') || path.split(['/', '\\']).any(|part| part == "..");
    (!leaves).then_some(path)
}

/// The URL on `host` of the file with this path below the root.
pub fn url_of(host: &str, path: &str) -> Option<PageUrl> {
    // A file name may contain `?` and `#`, which must be escaped in a URL.
    let escaped: String = path
        .chars()
        .map(|c| match c {
            '?' => "%3F".to_owned(),
            '#' => "%23".to_owned(),
            '%' => "%25".to_owned(),
            c => c.to_string(),
        })
        .collect();
    PageUrl::parse(&format!("http://{host}{escaped}")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_found_as_a_static_host_finds_them() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("a b/c")).unwrap();
        for name in ["index.html", "x.html", "a b/c/index.html", "q?p=1.html"] {
            std::fs::write(dir.path().join(name), name).unwrap();
        }
        let folder = Folder::open(dir.path()).unwrap();
        let find = |url: &str| {
            folder.find(&PageUrl::parse(&format!("http://s{url}")).unwrap()).map(|s| (s.path, s.url.path().to_owned()))
        };
        let is = |path: &str, url: &str| Some((path.to_owned(), url.to_owned()));
        assert_eq!(find("/"), is("/index.html", "/"));
        assert_eq!(find("/x?y"), is("/x.html", "/x"));
        assert_eq!(find("/a%20b/c"), is("/a b/c/index.html", "/a%20b/c/"));
        assert_eq!(find("/q%3Fp=1.html"), is("/q?p=1.html", "/q%3Fp=1.html"));
        assert_eq!(find("/%2e%2e/etc/passwd"), None);
        assert_eq!(find("/..%2fetc"), None);
        assert_eq!(find("/none"), None);
        assert_eq!(folder.pages().unwrap(), ["/a b/c/index.html", "/index.html", "/q?p=1.html", "/x.html"]);
        assert_eq!(url_of("s", "/q?p=1.html").unwrap().path(), "/q%3Fp=1.html");
        assert!(Folder::open(&dir.path().join("x.html")).unwrap_err().to_string().contains("not a folder"));
    }
}
