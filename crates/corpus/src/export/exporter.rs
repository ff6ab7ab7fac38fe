//! One export: the parts that are written, and how far they reach.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use super::duplicates::Deduplication;
use super::left_out::LeftOutList;
use super::manifest::{self, Manifest, Part};
use super::rows::{LeftOut, Made, Rows};
use super::sink::{self, Raw, Sink};
use super::wacz::Wacz;
use super::{BATCH, ExportError, ExportOptions, Form, notes, site};
use dehusk_core::cleaning_number;
use dehusk_core::corpus::SCHEMA;
use dehusk_settings::Settings;
use dehusk_store::Store;

pub(super) struct Exporter<'a> {
    options: &'a ExportOptions,
    dir: &'a Path,
    rows: Rows<'a>,
    deduplication: Deduplication<'a>,
    pub(super) manifest: Manifest,
    sink: Option<Box<dyn Sink>>,
    /// Rows since the last finished part.
    pub(super) open_rows: u64,
    /// Pages left out since then, by reason, and their list.
    left_out: BTreeMap<&'static str, u64>,
    left_out_list: LeftOutList,
    /// The last page that was looked at.
    reached: i64,
    /// The last page that an earlier export into the folder has looked at.
    followed: i64,
    store: &'a Store,
    /// Lock on the folder, held while this export lives.
    _lock: File,
}

impl<'a> Exporter<'a> {
    pub(super) fn open(
        store: &'a Store,
        dir: &'a Path,
        options: &'a ExportOptions,
        settings: &'a Settings,
    ) -> Result<Exporter<'a>, ExportError> {
        let io = |reason| ExportError::Io { path: dir.to_owned(), reason };
        let mut rows = Rows::new(store, settings, options)?;
        fs::create_dir_all(dir).map_err(io)?;
        let lock = File::create(dir.join(".lock")).map_err(io)?;
        let busy = |_| ExportError::Folder { path: dir.to_owned(), what: "another export writes there".to_owned() };
        lock.try_lock().map_err(busy)?;
        let mut manifest = begin(dir, options, settings, store.last_settled_page()?)?;
        for entry in fs::read_dir(dir).map_err(io)? {
            let path = entry.map_err(io)?.path();
            if path.extension().is_some_and(|extension| extension == "part") {
                fs::remove_file(path).map_err(io)?;
            }
        }
        manifest.complete = false;
        rows.end_at(manifest.upto);
        let deduplication = Deduplication::open(&dir.join(".seen"), store, options, settings)?;
        let reached = manifest.after;
        let exporter = Exporter {
            options,
            dir,
            rows,
            deduplication,
            manifest,
            sink: None,
            open_rows: 0,
            left_out: BTreeMap::new(),
            left_out_list: LeftOutList::default(),
            reached,
            followed: reached,
            store,
            _lock: lock,
        };
        exporter.write_manifest()?;
        Ok(exporter)
    }

    /// Finds the groups of duplicates, if the rule of what is kept needs that.
    pub(super) fn survey(
        &mut self,
        progress: impl FnMut(u64) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, ExportError> {
        self.deduplication.survey(&mut self.rows, progress)
    }

    /// Moves the last page that belongs to the export further.
    pub(super) fn end_at(&mut self, upto: i64) {
        self.manifest.upto = upto.max(self.manifest.upto);
        self.rows.end_at(self.manifest.upto);
    }

    /// Exports the next pages. Returns whether there were any.
    pub(super) fn next_batch(&mut self) -> Result<bool, ExportError> {
        let batch = self.rows.next(self.reached, BATCH)?;
        let is_any = !batch.is_empty();
        for made in batch {
            let id = made.as_ref().map_or_else(|left_out| left_out.page.id, |made| made.page.id);
            match made {
                Ok(made) => self.push(made)?,
                Err(LeftOut { page, why }) => self.leave_out(&page.url, why, None)?,
            }
            self.reached = id;
            if self.sink.as_ref().is_some_and(|sink| sink.size() >= self.options.part_bytes) {
                self.close_part()?;
            }
        }
        Ok(is_any)
    }

    /// Completes the open part. The same export made again goes on behind it.
    pub(super) fn pause(mut self) -> Result<Manifest, ExportError> {
        self.close_part()?;
        Ok(self.manifest)
    }

    /// Completes the last part.
    pub(super) fn finish(mut self) -> Result<Manifest, ExportError> {
        self.follow_states()?;
        self.reached = self.manifest.upto;
        self.close_part()?;
        if self.options.form == Form::Site && self.manifest.rows > 0 {
            site::complete(self.dir).map_err(|reason| self.io("index.html", reason))?;
        }
        self.manifest.complete = true;
        self.write_manifest()?;
        Ok(self.manifest)
    }

    /// Of the pages that an earlier part of the export has looked at: removes the files of those that are not there any
    /// more, and adds those that are there again.
    fn follow_states(&mut self) -> Result<(), ExportError> {
        let since = std::mem::take(&mut self.manifest.turned);
        let (turned, last) = self.store.turned_since(since)?;
        self.manifest.turned = last;
        let may_be_in = |state: &str| {
            self.options.states.is_empty() || self.options.states.iter().any(|given| given.name() == state)
        };
        if since == 0 || self.options.as_of.is_some() {
            return Ok(());
        }
        let (here, away): (Vec<_>, Vec<_>) = turned.into_iter().partition(|page| may_be_in(&page.state));
        let back: Vec<String> = here.into_iter().filter(|page| !may_be_in(&page.before)).map(|page| page.url).collect();
        for page in away {
            let removed = match self.options.form {
                Form::Markdown => notes::remove(self.dir, &page.url),
                Form::Site => site::remove(self.dir, &page.url),
                Form::Jsonl | Form::Parquet | Form::Warc | Form::Wacz | Form::Wet => Ok(()),
            };
            removed.map_err(|reason| self.io(&page.url, reason))?;
        }
        for url in back {
            let row =
                self.store.find_page(&url)?.filter(|row| row.id <= self.followed && self.rows.has_host(&row.host));
            for made in self.rows.make(row.into_iter().collect())? {
                match made {
                    Ok(made) => self.push(made)?,
                    Err(LeftOut { page, why }) => self.leave_out(&page.url, why, None)?,
                }
            }
        }
        Ok(())
    }

    fn write_manifest(&self) -> Result<(), ExportError> {
        self.manifest.write(self.dir).map_err(|reason| self.io(manifest::NAME, reason))
    }

    fn io(&self, name: &str, reason: io::Error) -> ExportError {
        ExportError::Io { path: self.dir.join(name), reason }
    }

    fn push(&mut self, mut made: Made) -> Result<(), ExportError> {
        if let Some(dropped) = self.deduplication.apply(&mut made)? {
            return self.leave_out(&made.page.url, dropped.why, Some(&dropped.of));
        }
        let raw = Raw { content_type: made.page.content_type, body: made.body };
        let name = self.part_name();
        let sink = match &mut self.sink {
            Some(sink) => sink,
            none => {
                let path = self.dir.join(format!("{name}.part"));
                let sink = create(self.options.form, &path, self.dir);
                none.insert(sink.map_err(|reason| ExportError::Io { path, reason })?)
            }
        };
        let pushed = sink.push(&made.record, &raw);
        pushed.map_err(|reason| ExportError::Io { path: self.dir.join(&name), reason })?;
        self.open_rows += 1;
        Ok(())
    }

    fn leave_out(&mut self, url: &str, why: &'static str, of: Option<&str>) -> Result<(), ExportError> {
        *self.left_out.entry(why).or_default() += 1;
        let path = self.dir.join(format!("{}.part", self.left_out_name()));
        let pushed = self.left_out_list.push(&path, url, why, of);
        pushed.map_err(|reason| ExportError::Io { path, reason })
    }

    fn part_name(&self) -> String {
        format!("part-{:05}.{}", self.manifest.parts.len(), self.options.form.ending())
    }

    fn left_out_name(&self) -> String {
        format!("left-out-{:05}.jsonl", self.manifest.left_out_parts.len())
    }

    /// Completes the part on the disk, then says so in the manifest.
    fn close_part(&mut self) -> Result<(), ExportError> {
        let name = self.part_name();
        let n_rows = std::mem::take(&mut self.open_rows);
        if let Some(sink) = self.sink.take() {
            sink.finish().map_err(|reason| self.io(&name, reason))?;
            let part = if self.options.form.is_folder() {
                Part { name, rows: n_rows, ..Part::default() }
            } else {
                Part::complete(self.dir, name.clone(), n_rows).map_err(|reason| self.io(&name, reason))?
            };
            self.manifest.parts.push(part);
        }
        let name = self.left_out_name();
        if self.left_out_list.finish().map_err(|reason| self.io(&name, reason))? {
            let n = std::mem::take(&mut self.left_out_list.n);
            let part = Part::complete(self.dir, name.clone(), n).map_err(|reason| self.io(&name, reason))?;
            self.manifest.left_out_parts.push(part);
        }
        self.deduplication.flush()?;
        self.manifest.rows += n_rows;
        for (why, n) in std::mem::take(&mut self.left_out) {
            *self.manifest.left_out.entry(why.to_owned()).or_default() += n;
        }
        self.manifest.after = self.reached;
        self.write_manifest()
    }
}

fn create(form: Form, path: &Path, dir: &Path) -> io::Result<Box<dyn Sink>> {
    Ok(match form {
        Form::Jsonl => Box::new(sink::Jsonl::create(path)?),
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

/// The manifest to go on with: that of the folder, or a new one.
fn begin(dir: &Path, options: &ExportOptions, settings: &Settings, last: i64) -> Result<Manifest, ExportError> {
    let folder = |what: String| ExportError::Folder { path: dir.to_owned(), what };
    let (core, noindex) = (&settings.core, &settings.store.noindex);
    let asked = (options, &core.clean, &core.markdown, noindex, &settings.export, cleaning_number(core));
    let asked = serde_json::to_string(&asked).map_err(|e| folder(e.to_string()))?;
    let known = Manifest::read(dir).map_err(|e| folder(format!("{} cannot be read: {e}", manifest::NAME)))?;
    let Some(known) = known else {
        let is_used = fs::read_dir(dir).is_ok_and(|mut entries| {
            entries.any(|entry| entry.is_ok_and(|entry| !entry.file_name().to_string_lossy().starts_with('.')))
        });
        if is_used {
            return Err(folder("the folder holds other files; name an empty or a new one".to_owned()));
        }
        let format = options.form.name().to_owned();
        return Ok(Manifest { schema: SCHEMA, format, asked, upto: last, ..Manifest::default() });
    };
    if known.asked != asked || known.schema != SCHEMA {
        let what = "the folder holds an export that was asked for with other options; name another one, or remove it";
        return Err(folder(what.to_owned()));
    }
    let is_whole = |part: &&Part| fs::metadata(dir.join(&part.name)).is_ok_and(|file| file.len() == part.bytes);
    if let Some(part) = known.parts.iter().filter(|part| part.bytes > 0).find(|part| !is_whole(part)) {
        return Err(folder(format!("{} is missing or has another size; name a new folder", part.name)));
    }
    // A finished export made again adds what was stored since.
    Ok(if known.complete { Manifest { upto: last.max(known.upto), ..known } } else { known })
}
