//! A registry of models: a folder, or one in an object store, with the templates of many sites by host and day.
//!
//! `models/3f/docs.example.org/2026-11-28.zst`: the first two digits of a hash keep folders small, a template is
//! MessagePack packed with zstd. A host is filed without `www.`, and a template is never changed once it is there.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

use dehusk_template::template::Template;

/// Unpacked bytes of a template, at most.
const MOST_BYTES: u64 = 256 << 20;

/// What names of files end with.
const END: &str = ".zst";

/// A registry.
#[derive(Clone, Debug)]
pub struct Registry {
    root: Root,
    name: String,
}

#[derive(Clone, Debug)]
enum Root {
    Folder(PathBuf),
    #[cfg(feature = "objects")]
    Objects(dehusk_files::objects::Object),
}

/// A template in a registry.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct RegistryEntry {
    /// Day on which it was learned: `2026-11-28`.
    pub day: String,
    /// Packed bytes.
    pub bytes: u64,
}

impl Registry {
    /// Names a registry. Nothing is read or written yet.
    ///
    /// # Errors
    ///
    /// When the address of an object store is wrong.
    pub fn open(place: &str) -> io::Result<Registry> {
        Ok(Registry { root: root_of(place)?, name: place.trim_end_matches('/').to_owned() })
    }

    /// Its name as it was given.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it is there and can be read.
    ///
    /// # Errors
    ///
    /// When it cannot; the error names it.
    pub fn check(&self) -> io::Result<()> {
        let about = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", self.name));
        match &self.root {
            Root::Folder(root) => fs::read_dir(root.join("models")).map(drop).map_err(about),
            #[cfg(feature = "objects")]
            // A folder that is empty and one that is not there are the same.
            Root::Objects(root) => root.child("models/00").list().map(drop).map_err(about),
        }
    }

    /// The templates of a host, the newest one last.
    ///
    /// # Errors
    ///
    /// When the registry cannot be read.
    pub fn entries(&self, host: &str) -> io::Result<Vec<RegistryEntry>> {
        let files = self.list(&folder_of(host))?;
        let entry = |(name, bytes): (String, u64)| {
            let day = name.strip_suffix(END)?.to_owned();
            is_day(&day).then_some(RegistryEntry { day, bytes })
        };
        let mut entries: Vec<RegistryEntry> = files.into_iter().filter_map(entry).collect();
        entries.sort_unstable();
        Ok(entries)
    }

    /// The newest template of a host up to a day, with its day; `None` if there is none.
    ///
    /// # Errors
    ///
    /// When the registry cannot be read, or the template is damaged.
    pub fn newest(&self, host: &str, as_of: Option<&str>) -> io::Result<Option<(String, Template)>> {
        let mut entries = self.entries(host)?;
        entries.retain(|entry| as_of.is_none_or(|day| entry.day.as_str() <= day));
        let Some(RegistryEntry { day, .. }) = entries.pop() else { return Ok(None) };
        Ok(Some((day.clone(), self.load(host, &day)?)))
    }

    /// The template of a host and a day.
    ///
    /// # Errors
    ///
    /// When there is none, or it is damaged.
    pub fn load(&self, host: &str, day: &str) -> io::Result<Template> {
        let file = format!("{}/{day}{END}", folder_of(host));
        let about =
            |error: String| io::Error::new(io::ErrorKind::InvalidData, format!("{}/{file}: {error}", self.name));
        let packed =
            self.read(&file).map_err(|error| io::Error::new(error.kind(), format!("{}/{file}: {error}", self.name)))?;
        let mut bytes = Vec::new();
        let unpacked = zstd::stream::read::Decoder::new(&*packed)
            .and_then(|stream| stream.take(MOST_BYTES).read_to_end(&mut bytes));
        unpacked.map_err(|error| about(error.to_string()))?;
        Template::from_bytes(&bytes).map_err(|error| about(error.to_string()))
    }

    /// Files a template under the host that it names. Returns whether there was none of that day.
    ///
    /// # Errors
    ///
    /// When the registry cannot be written.
    pub fn store(&self, day: &str, template: &Template) -> io::Result<bool> {
        let folder = folder_of(&template.host);
        let name = format!("{day}{END}");
        if self.list(&folder)?.iter().any(|(known, _)| *known == name) {
            return Ok(false);
        }
        let packed = zstd::bulk::compress(&template.to_bytes(), 9)?;
        self.write(&folder, &name, packed)?;
        Ok(true)
    }

    fn list(&self, folder: &str) -> io::Result<Vec<(String, u64)>> {
        match &self.root {
            Root::Folder(root) => match fs::read_dir(root.join(folder)) {
                Ok(entries) => entries
                    .map(|entry| {
                        entry.and_then(|entry| {
                            Ok((entry.file_name().to_string_lossy().into_owned(), entry.metadata()?.len()))
                        })
                    })
                    .collect(),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
                Err(error) => Err(error),
            },
            #[cfg(feature = "objects")]
            Root::Objects(root) => {
                let folder = root.child(folder);
                Ok(folder.list()?.into_iter().map(|(object, bytes)| (object.name_below(&folder), bytes)).collect())
            }
        }
    }

    fn read(&self, file: &str) -> io::Result<Vec<u8>> {
        match &self.root {
            Root::Folder(root) => fs::read(root.join(file)),
            #[cfg(feature = "objects")]
            Root::Objects(root) => root.child(file).read()?.ok_or_else(|| io::ErrorKind::NotFound.into()),
        }
    }

    fn write(&self, folder: &str, name: &str, bytes: Vec<u8>) -> io::Result<()> {
        match &self.root {
            Root::Folder(root) => {
                let folder = root.join(folder);
                fs::create_dir_all(&folder)?;
                // It is there when all of it is.
                let mut file = tempfile::NamedTempFile::new_in(&folder)?;
                io::Write::write_all(&mut file, &bytes)?;
                file.as_file().sync_all()?;
                file.persist(folder.join(name)).map(drop).map_err(|error| error.error)
            }
            #[cfg(feature = "objects")]
            Root::Objects(root) => root.child(&format!("{folder}/{name}")).write(bytes),
        }
    }
}

#[cfg(feature = "objects")]
fn root_of(place: &str) -> io::Result<Root> {
    use dehusk_files::objects::{Object, is_object};

    Ok(if is_object(place) { Root::Objects(Object::parse(place)?) } else { Root::Folder(Path::new(place).to_owned()) })
}

#[cfg(not(feature = "objects"))]
fn root_of(place: &str) -> io::Result<Root> {
    if place.contains("://") {
        return Err(io::Error::other("this program was built without the feature objects"));
    }
    Ok(Root::Folder(Path::new(place).to_owned()))
}

/// The folder of a host. What a file system may not take is escaped.
fn folder_of(host: &str) -> String {
    let bare = host.strip_prefix("www.").unwrap_or(host).to_ascii_lowercase();
    let escaped: String = bare
        .bytes()
        .map(|byte| match byte {
            b'.' if bare.bytes().all(|byte| byte == b'.') => "%2e".to_owned(),
            b'a'..=b'z' | b'0'..=b'9' | b'.' | b'-' | b'_' => char::from(byte).to_string(),
            byte => format!("%{byte:02x}"),
        })
        .collect();
    format!("models/{:02x}/{escaped}", xxh3_64(bare.as_bytes()) >> 56)
}

/// Whether a text has the form of a day.
pub fn is_day(text: &str) -> bool {
    let is_digit = |at: usize, byte: u8| if matches!(at, 4 | 7) { byte == b'-' } else { byte.is_ascii_digit() };
    text.len() == 10 && text.bytes().enumerate().all(|(at, byte)| is_digit(at, byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_have_folders_of_their_own() {
        assert_eq!(folder_of("www.Example.org"), folder_of("example.org"));
        assert!(folder_of("a.org:8080").ends_with("/a.org%3a8080") && folder_of("..").ends_with("/%2e%2e"));
        assert!(is_day("2026-11-28") && !is_day("2026-1-28") && !is_day("../../../x"));
    }
}
