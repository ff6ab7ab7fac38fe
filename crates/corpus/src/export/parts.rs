//! The files of a corpus: parts that are complete or not there, the lists of what is left out, and the manifest.
//!
//! `data/` has the parts and nothing else, so that it can be given to any reader. A form with a file for each page has
//! its files in the folder itself.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::chunk_lines::{ChunkLines, Chunking};
use super::left_out::{LeftOutList, LeftOutPage};
use super::manifest::{self, Manifest, Part};
use super::place::Place;
use super::sink::{self, Raw, Sink};
use super::wacz::Wacz;
use super::{ExportError, Form, card, notes, site};
use dehusk_core::corpus::{Record, SCHEMA};
use dehusk_settings::Export;

/// Folder of the parts.
const DATA: &str = "data";

/// Name of a file that is not complete yet: this is added to its own.
const OPEN: &str = "part";

pub(super) struct Parts {
    place: Place,
    /// The folder as it was named.
    named: PathBuf,
    form: Form,
    part_bytes: u64,
    /// How pages are divided, where they are.
    chunking: Option<Chunking>,
    pub(super) manifest: Manifest,
    sink: Option<Box<dyn Sink>>,
    /// Whether there is no manifest yet.
    is_new: bool,
    /// Rows since the last finished part.
    pub(super) open_rows: u64,
    /// Rows of each language, and pages left out by reason, since then; the list of these pages.
    languages: BTreeMap<String, u64>,
    left_out: BTreeMap<&'static str, u64>,
    left_out_list: LeftOutList,
    /// The last page that was dealt with, whatever became of it.
    pub(super) reached: i64,
    /// Lock on the folder, held while this export lives.
    _lock: File,
}

impl Parts {
    /// Opens a folder: a new or empty one, or one with an earlier part of what is asked for. `last` is the last page
    /// that belongs to the export now.
    pub(super) fn open(
        dir: &Path,
        form: Form,
        (part_bytes, settings): (u64, &Export),
        asked: String,
        last: i64,
    ) -> Result<Parts, ExportError> {
        let chunking = if form == Form::Chunks { Some(Chunking::new(settings)?) } else { None };
        let named = dir.to_owned();
        let io = |reason| ExportError::Io { path: named.clone(), reason };
        let folder = |what: &str| ExportError::Folder { path: named.clone(), what: what.to_owned() };
        let place = Place::open(dir).map_err(io)?;
        if place.is_remote() && form.is_folder() {
            return Err(folder("forms with a file for each page are written to folders only, not to object stores"));
        }
        let dir = place.dir();
        let lock = File::create(dir.join(".lock")).map_err(io)?;
        lock.try_lock().map_err(|_| io(io::Error::new(io::ErrorKind::WouldBlock, "another export writes there")))?;
        let sizes = place.sizes().map_err(io)?;
        let mut manifest = begin(dir, &sizes, form, asked, last).map_err(|what| folder(&what))?;
        if !form.is_folder() {
            fs::create_dir_all(dir.join(DATA)).map_err(io)?;
        }
        for folder in [dir.to_owned(), dir.join(DATA)].iter().filter(|folder| folder.is_dir()) {
            for entry in fs::read_dir(folder).map_err(io)? {
                let path = entry.map_err(io)?.path();
                if path.extension().is_some_and(|extension| extension == OPEN) {
                    fs::remove_file(path).map_err(io)?;
                }
            }
        }
        manifest.complete = false;
        let reached = manifest.after;
        let is_new = !sizes.contains_key(manifest::NAME);
        Ok(Parts {
            is_new,
            place,
            named,
            form,
            part_bytes,
            chunking,
            manifest,
            sink: None,
            open_rows: 0,
            languages: BTreeMap::new(),
            left_out: BTreeMap::new(),
            left_out_list: LeftOutList::default(),
            reached,
            _lock: lock,
        })
    }

    /// Writes the manifest of a new folder, before anything else is there. One that is there is changed by the first
    /// part that is added.
    fn begin_writing(&mut self) -> Result<(), ExportError> {
        if std::mem::take(&mut self.is_new) { self.write_manifest() } else { Ok(()) }
    }

    /// Whether nothing was written yet, by this call or an earlier one.
    pub(super) fn is_new(&self) -> bool {
        self.is_new
    }

    /// Where files are written.
    pub(super) fn dir(&self) -> &Path {
        self.place.dir()
    }

    /// An error of a file of the folder.
    pub(super) fn io(&self, name: &str, reason: io::Error) -> ExportError {
        ExportError::Io { path: self.named.join(name), reason }
    }

    /// Adds a row.
    pub(super) fn push(&mut self, record: &Record, raw: &Raw) -> Result<(), ExportError> {
        self.begin_writing()?;
        let name = self.part_name();
        let path = open_path(&self.dir().join(&name));
        let error = |reason| ExportError::Io { path: path.clone(), reason };
        let sink = match &mut self.sink {
            Some(sink) => sink,
            none => none.insert(create(self.form, &path, self.place.dir(), self.chunking.as_ref()).map_err(error)?),
        };
        sink.push(record, raw).map_err(error)?;
        self.open_rows += 1;
        let language = record.text("language").unwrap_or_default();
        match self.languages.get_mut(language) {
            Some(n) => *n += 1,
            None => drop(self.languages.insert(language.to_owned(), 1)),
        }
        Ok(())
    }

    /// Lists a page that is left out.
    pub(super) fn leave_out(&mut self, page: LeftOutPage<'_>) -> Result<(), ExportError> {
        self.begin_writing()?;
        *self.left_out.entry(page.why).or_default() += 1;
        let path = open_path(&self.dir().join(self.left_out_name()));
        let pushed = self.left_out_list.push(&path, page);
        pushed.map_err(|reason| ExportError::Io { path, reason })
    }

    /// Whether the open part, or its list of what is left out, has as many bytes as a part may have.
    pub(super) fn is_full(&self) -> bool {
        self.sink.as_ref().map_or(0, |sink| sink.size()) + self.left_out_list.bytes >= self.part_bytes
    }

    /// Completes the part on the disk, then says so in the manifest.
    pub(super) fn close(&mut self) -> Result<(), ExportError> {
        let name = self.part_name();
        let rows = std::mem::take(&mut self.open_rows);
        if let Some(sink) = self.sink.take() {
            sink.finish().map_err(|reason| self.io(&name, reason))?;
            let part = if self.form.is_folder() {
                Part { name, rows, ..Part::default() }
            } else {
                let part = Part::complete(self.dir(), name.clone(), rows);
                let part = part.and_then(|part| self.place.send(&name, false).map(|()| part));
                part.map_err(|reason| self.io(&name, reason))?
            };
            self.manifest.parts.push(part);
        }
        let name = self.left_out_name();
        if self.left_out_list.finish().map_err(|reason| self.io(&name, reason))? {
            let n = std::mem::take(&mut self.left_out_list.n);
            let part = Part::complete(self.dir(), name.clone(), n);
            let part = part.and_then(|part| self.place.send(&name, false).map(|()| part));
            let part = part.map_err(|reason| self.io(&name, reason))?;
            self.manifest.left_out_parts.push(part);
        }
        self.manifest.rows += rows;
        for (language, n) in std::mem::take(&mut self.languages) {
            *self.manifest.languages.entry(language).or_default() += n;
        }
        for (why, n) in std::mem::take(&mut self.left_out) {
            *self.manifest.left_out.entry(why.to_owned()).or_default() += n;
        }
        self.manifest.after = self.reached;
        self.place.send_state().map_err(|reason| self.io(".seen", reason))?;
        self.write_manifest()
    }

    /// Completes the last part, and says that the export is complete.
    pub(super) fn finish(mut self) -> Result<Manifest, ExportError> {
        self.close()?;
        if self.form == Form::Site && self.manifest.rows > 0 {
            site::complete(self.dir()).map_err(|reason| self.io("index.html", reason))?;
        }
        self.manifest.complete = true;
        if !self.form.is_folder() {
            let written = card::write(self.dir(), self.form, &self.manifest);
            let sent = written.and_then(|()| self.place.send(card::NAME, true));
            sent.map_err(|reason| self.io(card::NAME, reason))?;
        }
        self.write_manifest()?;
        Ok(self.manifest)
    }

    fn write_manifest(&self) -> Result<(), ExportError> {
        let written = self.manifest.write(self.dir()).and_then(|()| self.place.send(manifest::NAME, true));
        written.map_err(|reason| self.io(manifest::NAME, reason))
    }

    fn part_name(&self) -> String {
        let name = format!("part-{:05}.{}", self.manifest.parts.len(), self.form.ending());
        if self.form.is_folder() { name } else { format!("{DATA}/{name}") }
    }

    fn left_out_name(&self) -> String {
        format!("left-out-{:05}.jsonl", self.manifest.left_out_parts.len())
    }
}

fn open_path(path: &Path) -> PathBuf {
    let mut open = path.as_os_str().to_owned();
    open.push(format!(".{OPEN}"));
    open.into()
}

fn create(form: Form, path: &Path, dir: &Path, chunking: Option<&Chunking>) -> io::Result<Box<dyn Sink>> {
    Ok(match form {
        Form::Jsonl => Box::new(sink::Jsonl::create(path)?),
        Form::Chunks => {
            let chunking = chunking.ok_or_else(|| io::Error::other("it is not said how pages are divided"))?;
            Box::new(ChunkLines::create(path, chunking)?)
        }
        #[cfg(feature = "parquet")]
        Form::Parquet => Box::new(super::parquet::Parquet::create(path)?),
        #[cfg(not(feature = "parquet"))]
        Form::Parquet => return Err(io::Error::other("this program was built without the feature parquet")),
        Form::Warc => Box::new(sink::Warc::create(path, false)?),
        Form::Wacz => Box::new(Wacz::create(path)?),
        Form::Wet => Box::new(sink::Warc::create(path, true)?),
        Form::Markdown => Box::new(notes::Notes::create(dir)?),
        Form::Site => Box::new(site::Site::create(dir)?),
    })
}

/// The manifest to go on with: that of the folder, or a new one. `sizes` are the files that are there. The error says
/// what is wrong with the folder.
fn begin(dir: &Path, sizes: &BTreeMap<String, u64>, form: Form, asked: String, last: i64) -> Result<Manifest, String> {
    let known = Manifest::read(dir).map_err(|e| format!("{} cannot be read: {e}", manifest::NAME))?;
    let Some(known) = known else {
        if sizes.keys().any(|name| !name.starts_with('.') && !name.is_empty() && !name.ends_with(".part")) {
            return Err("the folder holds other files; name an empty or a new one".to_owned());
        }
        let format = form.name().to_owned();
        return Ok(Manifest { schema: SCHEMA, format, asked, upto: last, ..Manifest::default() });
    };
    if known.asked != asked || known.schema != SCHEMA {
        let what = "the folder holds an export that was asked for with other options; name another one, or remove it";
        return Err(what.to_owned());
    }
    let is_whole = |part: &&Part| sizes.get(&part.name) == Some(&part.bytes);
    if let Some(part) = known.parts.iter().filter(|part| part.bytes > 0).find(|part| !is_whole(part)) {
        return Err(format!("{} is missing or has another size; name a new folder", part.name));
    }
    // A finished export made again adds what was stored since.
    Ok(if known.complete { Manifest { upto: last.max(known.upto), ..known } } else { known })
}
