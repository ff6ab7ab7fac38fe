//! Objects of object stores as files: `s3://`, `gs://`, `az://`, `file://`.
//!
//! Credentials and endpoints are those that the vendors' own tools read: the environment (`AWS_ACCESS_KEY_ID`,
//! `AWS_ENDPOINT_URL`, `GOOGLE_APPLICATION_CREDENTIALS`, `AZURE_STORAGE_ACCOUNT_NAME` ...), the files in `~/.aws`, and
//! what the machine itself is allowed. Calls block; the requests run on threads of their own.

mod credentials;
mod read;

use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use futures_util::TryStreamExt;
use object_store::path::Path as Key;
use object_store::{ObjectStore, ObjectStoreExt, WriteMultipart, parse_url_opts};
use tokio::runtime::Runtime;
use url::Url;

use crate::unpacked::Stream;
pub use read::read_failure;

/// Schemes of addresses of objects.
const SCHEMES: [&str; 9] = ["s3", "s3a", "gs", "az", "azure", "adl", "abfs", "abfss", "file"];

/// Bytes of a part of a multipart upload. Files that are not longer are sent in one request.
const PART: usize = 8 << 20;

/// Parts that are sent at the same time.
const AT_ONCE: usize = 4;

/// What the names of archives on web servers end with, packed or not. Any other address there is that of a page.
const ARCHIVES: [&str; 6] = [".warc", ".wet", ".wacz", ".jsonl", ".ndjson", ".parquet"];

/// User agent where nobody has named one.
const USER_AGENT: &str = concat!("dehusk/", env!("CARGO_PKG_VERSION"));

/// Whether a name is the address of an object. On a web server it is that of an archive or of JSON lines, by its name.
pub fn is_object(name: &str) -> bool {
    let Some((scheme, rest)) = name.split_once("://") else { return false };
    if matches!(scheme.to_ascii_lowercase().as_str(), "http" | "https") {
        let path = rest.split(['?', '#']).next().unwrap_or_default();
        let bare = path.trim_end_matches(".gz").trim_end_matches(".zst");
        return ARCHIVES.iter().any(|end| bare.ends_with(end));
    }
    SCHEMES.iter().any(|known| scheme.eq_ignore_ascii_case(known))
}

/// An object, or all objects whose keys begin with its own.
#[derive(Clone, Debug)]
pub struct Object {
    pub(crate) store: Arc<dyn ObjectStore>,
    pub(crate) key: Key,
    /// The address without the key.
    root: String,
}

impl Object {
    /// Reads an address.
    ///
    /// # Errors
    ///
    /// What is wrong with it, or with the settings of its store.
    pub fn parse(address: &str) -> io::Result<Object> {
        Object::parse_as(address, None)
    }

    /// The same, where HTTP servers are told this user agent.
    ///
    /// # Errors
    ///
    /// What is wrong with it, or with the settings of its store.
    pub fn parse_as(address: &str, user_agent: Option<&str>) -> io::Result<Object> {
        let wrong = |what: String| io::Error::new(io::ErrorKind::InvalidInput, what);
        // Clients need what it installs.
        runtime()?;
        let url = Url::parse(address).map_err(|e| wrong(e.to_string()))?;
        let (store, key) = if matches!(url.scheme(), "http" | "https") {
            let options = [("user_agent", user_agent.unwrap_or(USER_AGENT)), ("allow_http", "true")];
            parse_url_opts(&url, options).map_err(|e| wrong(e.to_string()))?
        } else {
            parse_url_opts(&url, credentials::options()).map_err(|e| wrong(e.to_string()))?
        };
        let root = url[..url::Position::BeforePath].to_owned();
        Ok(Object { store: store.into(), root, key })
    }

    /// Its address. What would end or change the path of an address is escaped.
    pub fn address(&self) -> String {
        let mut address = format!("{}/", self.root);
        for c in self.key.as_ref().chars() {
            match c {
                '%' | '#' | '?' | ' ' | '\\' => address.push_str(&format!("%{:02X}", u32::from(c))),
                c if c.is_ascii_control() => address.push_str(&format!("%{:02X}", u32::from(c))),
                c => address.push(c),
            }
        }
        address
    }

    /// An object below this one. `name` may have slashes.
    pub fn child(&self, name: &str) -> Object {
        let key = name.split('/').fold(self.key.clone(), |key, part| key.join(part));
        Object { key, ..self.clone() }
    }

    /// The objects below this one with their sizes, in the order of their keys. Empty objects that stand for a folder,
    /// as consoles make them, are left out.
    ///
    /// # Errors
    ///
    /// When the store does not answer, or refuses.
    pub fn list(&self) -> io::Result<Vec<(Object, u64)>> {
        let found = wait(async { self.store.list(Some(&self.key)).try_collect::<Vec<_>>().await })?;
        let mut found: Vec<(Object, u64)> =
            found.into_iter().map(|about| (Object { key: about.location, ..self.clone() }, about.size)).collect();
        found.sort_by(|(a, _), (b, _)| a.key.cmp(&b.key));
        let folders: std::collections::BTreeSet<String> = found
            .iter()
            .flat_map(|(object, _)| {
                object.key.as_ref().match_indices('/').map(|(at, _)| object.key.as_ref()[..at].to_owned())
            })
            .collect();
        found.retain(|(object, size)| *size > 0 || (object.key != self.key && !folders.contains(object.key.as_ref())));
        Ok(found)
    }

    /// Its name below another one.
    pub fn name_below(&self, above: &Object) -> String {
        let key: &str = self.key.as_ref();
        key.strip_prefix(above.key.as_ref()).unwrap_or(key).trim_start_matches('/').to_owned()
    }

    /// Its length in bytes.
    ///
    /// # Errors
    ///
    /// When there is no such object.
    pub fn size(&self) -> io::Result<u64> {
        wait(async { Ok(self.store.head(&self.key).await?.size) })
    }

    /// Whether there is such an object.
    ///
    /// # Errors
    ///
    /// When the store does not answer, or refuses.
    pub fn exists(&self) -> io::Result<bool> {
        match self.size() {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Some of its bytes; less, where it ends earlier.
    ///
    /// # Errors
    ///
    /// When there is no such object, or the store cannot give parts of it.
    pub fn read_range(&self, range: Range<u64>) -> io::Result<Vec<u8>> {
        wait(async { self.store.get_range(&self.key, range).await }).map(Vec::from)
    }

    /// Its bytes one after the other. Where the connection is cut, the rest is asked for.
    ///
    /// # Errors
    ///
    /// When there is no such object.
    pub fn open(&self) -> io::Result<Stream> {
        Ok(Box::new(read::ObjectReader::new(self.clone(), self.size()?)?))
    }

    /// All of its bytes; `None` if there is no such object.
    ///
    /// # Errors
    ///
    /// When the store does not answer, or refuses.
    pub fn read(&self) -> io::Result<Option<Vec<u8>>> {
        match wait(async { self.store.get(&self.key).await?.bytes().await }) {
            Ok(bytes) => Ok(Some(bytes.to_vec())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Writes it whole.
    ///
    /// # Errors
    ///
    /// When the store does not answer, or refuses.
    pub fn write(&self, bytes: Vec<u8>) -> io::Result<()> {
        wait(async { self.store.put(&self.key, bytes.into()).await }).map(drop)
    }

    /// Writes it from a file. It is there when all of it is.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, or the store does not answer or refuses.
    pub fn upload(&self, file: &Path) -> io::Result<()> {
        let mut source = std::fs::File::open(file)?;
        if source.metadata()?.len() <= PART as u64 {
            return self.write(std::fs::read(file)?);
        }
        let upload = wait(async { self.store.put_multipart(&self.key).await })?;
        let mut upload = WriteMultipart::new_with_chunk_size(upload, PART);
        let mut buffer = vec![0; PART];
        loop {
            let n = match io::Read::read(&mut source, &mut buffer) {
                Ok(n) => n,
                Err(error) => {
                    wait(async { upload.abort().await })?;
                    return Err(error);
                }
            };
            if n == 0 {
                return wait(async { upload.finish().await }).map(drop);
            }
            wait(async {
                upload.wait_for_capacity(AT_ONCE).await?;
                upload.write(&buffer[..n]);
                Ok(())
            })?;
        }
    }

    /// Removes it. One that is not there is no error.
    ///
    /// # Errors
    ///
    /// When the store does not answer, or refuses.
    pub fn remove(&self) -> io::Result<()> {
        match wait(async { self.store.delete(&self.key).await }) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

/// Waits for requests. The caller says which object it was about.
pub(crate) fn wait<T>(work: impl Future<Output = object_store::Result<T>>) -> io::Result<T> {
    runtime()?.block_on(work).map_err(|error| failed(&error))
}

/// What an error of a store means.
pub(crate) fn failed(error: &object_store::Error) -> io::Error {
    let kind = match error {
        object_store::Error::NotFound { .. } => io::ErrorKind::NotFound,
        object_store::Error::PermissionDenied { .. } | object_store::Error::Unauthenticated { .. } => {
            io::ErrorKind::PermissionDenied
        }
        _ => io::ErrorKind::Other,
    };
    let what = match kind {
        io::ErrorKind::NotFound => "there is no such object".to_owned(),
        _ => error.to_string(),
    };
    io::Error::new(kind, what)
}

/// The threads of all requests.
fn runtime() -> io::Result<&'static Runtime> {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    if let Some(runtime) = RUNTIME.get() {
        return Ok(runtime);
    }
    // The provider may be installed already, by the crawler.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let made = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    Ok(RUNTIME.get_or_init(|| made))
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn addresses_are_told_from_names_of_files() {
        assert!(is_object("s3://b/k") && is_object("GS://b") && is_object("file:///tmp/x"));
        assert!(!is_object("s3/b") && !is_object("https://a.test/") && !is_object("C:\\x"));
        assert!(is_object("https://a.test/x.warc.gz?y=1") && !is_object("https://a.test/warc?x=.warc"));
        assert!(Object::parse("s3://").is_err());
    }

    #[test]
    fn objects_are_written_listed_and_read() {
        let dir = tempfile::tempdir().unwrap();
        let root = Object::parse(&format!("file://{}/a b", dir.path().display())).unwrap();
        root.child("x/one").write(b"rye".to_vec()).unwrap();
        let odd = root.child("odd/c?x=1%20#b.html");
        odd.write(b"oats".to_vec()).unwrap();
        let again = Object::parse(&root.child("odd").list().unwrap()[0].0.address()).unwrap();
        assert_eq!(again.read().unwrap().unwrap(), b"oats");
        again.remove().unwrap();
        let long: Vec<u8> = (0..3 * PART + 5).map(|n| (n / 251) as u8).collect();
        std::fs::write(dir.path().join("long"), &long).unwrap();
        root.child("two").upload(&dir.path().join("long")).unwrap();
        let found = root.list().unwrap();
        let names: Vec<(String, u64)> = found.iter().map(|(object, n)| (object.name_below(&root), *n)).collect();
        assert_eq!(names, [("two".to_owned(), long.len() as u64), ("x/one".to_owned(), 3)]);
        let mut read = Vec::new();
        Object::parse(&found[0].0.address()).unwrap().open().unwrap().read_to_end(&mut read).unwrap();
        assert!(read == long);
        assert_eq!(root.child("x/one").read().unwrap().unwrap(), b"rye");
        root.child("x/one").remove().unwrap();
        assert!(root.child("x/one").read().unwrap().is_none() && root.child("none").remove().is_ok());
        let missing = root.child("none").open().err().unwrap();
        assert_eq!(
            (missing.kind(), missing.to_string().as_str()),
            (io::ErrorKind::NotFound, "there is no such object")
        );
    }
}
