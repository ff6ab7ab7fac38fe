//! Where the files of a corpus are: in a folder, or in an object store by way of a folder for temporary files.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The folder of a corpus.
pub(super) struct Place {
    /// Where files are written.
    dir: PathBuf,
    #[cfg(feature = "objects")]
    remote: Option<Remote>,
}

/// The object store that the files go to.
#[cfg(feature = "objects")]
struct Remote {
    root: dehusk_files::objects::Object,
    /// Holds the files until they are sent.
    _staging: tempfile::TempDir,
    /// The files that the next call needs, as they were sent last.
    sent: std::cell::RefCell<BTreeMap<String, (u64, std::time::SystemTime)>>,
}

/// Folder with what the next call needs and no reader does.
const STATE: &str = ".seen";

impl Place {
    /// Opens a folder or the address of one. What an earlier call has left in an object store is fetched, without the
    /// parts.
    #[cfg(feature = "objects")]
    pub(super) fn open(dir: &Path) -> io::Result<Place> {
        use dehusk_files::objects::{Object, is_object};

        let Some(address) = dir.to_str().filter(|dir| is_object(dir)) else { return Place::local(dir) };
        let (root, staging) = (Object::parse(address)?, tempfile::tempdir()?);
        let place = Place {
            dir: staging.path().to_owned(),
            remote: Some(Remote { root, _staging: staging, sent: Default::default() }),
        };
        for (name, _) in place.sizes()? {
            if name == super::manifest::NAME || name.starts_with(STATE) {
                place.fetch(&name)?;
            }
        }
        Ok(place)
    }

    /// Opens a folder.
    #[cfg(not(feature = "objects"))]
    pub(super) fn open(dir: &Path) -> io::Result<Place> {
        if dir.to_str().is_some_and(|dir| dir.contains("://")) {
            return Err(io::Error::other("this program was built without the feature objects"));
        }
        Place::local(dir)
    }

    fn local(dir: &Path) -> io::Result<Place> {
        fs::create_dir_all(dir)?;
        Ok(Place {
            dir: dir.to_owned(),
            #[cfg(feature = "objects")]
            remote: None,
        })
    }

    /// Where files are written.
    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    pub(super) fn is_remote(&self) -> bool {
        #[cfg(feature = "objects")]
        return self.remote.is_some();
        #[cfg(not(feature = "objects"))]
        false
    }

    /// The files of the corpus, with their sizes. In a folder, those that only the next call needs are left out.
    pub(super) fn sizes(&self) -> io::Result<BTreeMap<String, u64>> {
        #[cfg(feature = "objects")]
        if let Some(Remote { root, .. }) = &self.remote {
            return Ok(root.list()?.into_iter().map(|(object, size)| (object.name_below(root), size)).collect());
        }
        let mut found = BTreeMap::new();
        let mut open = vec![self.dir.clone()];
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(folder)? {
                let (path, about) = entry.and_then(|entry| Ok((entry.path(), entry.metadata()?)))?;
                let name = path.strip_prefix(&self.dir).unwrap_or(&path).to_string_lossy().replace('\\', "/");
                if !about.is_dir() {
                    found.insert(name, about.len());
                } else if name != STATE {
                    open.push(path);
                }
            }
        }
        Ok(found)
    }

    #[cfg(feature = "objects")]
    fn fetch(&self, name: &str) -> io::Result<()> {
        let Some(Remote { root, .. }) = &self.remote else { return Ok(()) };
        let path = self.dir.join(name);
        fs::create_dir_all(path.parent().unwrap_or(&self.dir))?;
        io::copy(&mut root.child(name).open()?, &mut fs::File::create(path)?).map(drop)
    }

    /// Sends a finished file to where it belongs. A part is not kept here.
    pub(super) fn send(&self, name: &str, keep: bool) -> io::Result<()> {
        #[cfg(feature = "objects")]
        if let Some(Remote { root, .. }) = &self.remote {
            let path = self.dir.join(name);
            root.child(name).upload(&path)?;
            if !keep {
                fs::remove_file(path)?;
            }
        }
        let _ = (name, keep);
        Ok(())
    }

    /// Sends what the next call needs, as far as it has changed, and removes there what is no more here.
    pub(super) fn send_state(&self) -> io::Result<()> {
        #[cfg(feature = "objects")]
        if let Some(Remote { root, sent, .. }) = &self.remote {
            let here = files_below(&self.dir, &self.dir.join(STATE))?;
            let mut sent = sent.borrow_mut();
            for (name, state) in &here {
                if sent.get(name) != Some(state) {
                    self.send(name, true)?;
                }
            }
            for (object, _) in root.child(STATE).list()? {
                if !here.contains_key(&object.name_below(root)) {
                    object.remove()?;
                }
            }
            *sent = here;
        }
        Ok(())
    }
}

/// The files below a folder by their names below another one, with their sizes and the times of their last changes.
#[cfg(feature = "objects")]
fn files_below(above: &Path, folder: &Path) -> io::Result<BTreeMap<String, (u64, std::time::SystemTime)>> {
    let (mut found, mut open) = (BTreeMap::new(), vec![folder.to_owned()]);
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder)? {
            let (path, about) = entry.and_then(|entry| Ok((entry.path(), entry.metadata()?)))?;
            if about.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(above).unwrap_or(&path).to_string_lossy().replace('\\', "/");
                found.insert(name, (about.len(), about.modified()?));
            }
        }
    }
    Ok(found)
}
