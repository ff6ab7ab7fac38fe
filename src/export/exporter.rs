//! One export: the parts that are written, and how far they reach.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::columns::{SCHEMA, columns};
use super::manifest::{self, Manifest, Part};
use super::record::{About, Optional, Record, Value, comments_of};
use super::sink::{self, Raw, Sink};
use super::site_facts::{Site, Sites};
use super::{Duplicates, ExportError, ExportOptions, Form, notes};
use crate::settings::{NoindexPages, Settings};
use crate::store::{CorpusQuery, CorpusRow, FilterValue, RowFilter, SeenTexts, Store};
use dehusk_core::internals::clean::label_page;
use dehusk_core::internals::dom::parse_bytes;
use dehusk_core::internals::page_url::PageUrl;

/// One page on its way.
struct Item {
    row: CorpusRow,
    site: Site,
    body: Vec<u8>,
    /// MinHash of the text, where near-duplicates are looked for.
    bands: Vec<u64>,
}

/// A page that is left out, and why.
type LeftOut = (i64, &'static str);

pub(super) struct Exporter<'a> {
    store: &'a Store,
    settings: &'a Settings,
    options: &'a ExportOptions,
    dir: &'a Path,
    query: CorpusQuery,
    pub(super) manifest: Manifest,
    filter: Option<RowFilter>,
    seen: SeenTexts,
    sites: Sites,
    sink: Option<Box<dyn Sink>>,
    /// Rows and left-out pages since the last finished part.
    pub(super) open_rows: u64,
    left_out: Vec<&'static str>,
    /// The last page that was looked at.
    reached: i64,
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
        let names: Vec<&str> = columns().iter().map(|column| column.name).collect();
        let filter = options.filter.as_ref().map(|expression| {
            let wrong = |reason| ExportError::Filter { expression: expression.clone(), reason };
            RowFilter::new(expression, &names).map_err(wrong)
        });
        let filter = filter.transpose()?;
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
        let part = manifest.parts.len() as i64;
        let seen = SeenTexts::open(&dir.join(".seen.sqlite"), part);
        let seen = seen.map_err(|what| ExportError::Folder { path: dir.to_owned(), what })?;
        manifest.complete = false;
        let query = CorpusQuery {
            upto: manifest.upto,
            since: options.since,
            hosts: options.hosts.clone(),
            all_versions: options.all_versions,
        };
        let reached = manifest.after;
        let exporter = Exporter {
            store,
            settings,
            options,
            dir,
            query,
            manifest,
            filter,
            seen,
            sites: Sites::default(),
            sink: None,
            open_rows: 0,
            left_out: Vec::new(),
            reached,
            _lock: lock,
        };
        exporter.write_manifest()?;
        Ok(exporter)
    }

    /// Exports the next pages. Returns whether there were any.
    pub(super) fn next_batch(&mut self, n: usize) -> Result<bool, ExportError> {
        let rows = self.store.corpus_rows(&self.query, self.reached, n)?;
        let Some(last) = rows.last().map(|row| row.id) else { return Ok(false) };
        self.batch(rows)?;
        self.reached = last;
        Ok(true)
    }

    /// Completes the last part.
    pub(super) fn finish(mut self) -> Result<Manifest, ExportError> {
        self.reached = self.manifest.upto;
        self.close_part()?;
        self.manifest.complete = true;
        self.write_manifest()?;
        Ok(self.manifest)
    }

    fn write_manifest(&self) -> Result<(), ExportError> {
        self.manifest.write(self.dir).map_err(|reason| self.io(manifest::NAME, reason))
    }

    fn io(&self, name: &str, reason: io::Error) -> ExportError {
        ExportError::Io { path: self.dir.join(name), reason }
    }

    /// Cleans a batch on all cores, and writes its rows in order.
    fn batch(&mut self, rows: Vec<CorpusRow>) -> Result<(), ExportError> {
        let items: Vec<Result<Item, LeftOut>> = rows.into_iter().map(|row| self.item(row)).collect::<Result<_, _>>()?;
        let (optional, settings) = (self.options.optional, self.settings);
        let finds_near = self.options.near_duplicates.is_some();
        let record = |item: Result<Item, LeftOut>| {
            let (mut item, record) = record_of(item?, optional, settings);
            if finds_near {
                item.bands = super::near::bands(record.text("text").unwrap_or_default());
            }
            Ok((item, record))
        };
        let made: Vec<Result<(Item, Record), LeftOut>> = items.into_par_iter().map(record).collect();
        for made in made {
            match made {
                Ok((item, record)) => self.push(item, record)?,
                Err((id, why)) => self.leave_out(id, why),
            }
        }
        Ok(())
    }

    fn item(&mut self, row: CorpusRow) -> Result<Result<Item, LeftOut>, ExportError> {
        if row.noindex && self.settings.store.noindex == NoindexPages::Hide {
            return Ok(Err((row.id, "noindex")));
        }
        match self.store.load_body(&row) {
            Ok(body) => {
                let site = self.sites.of(self.store, &row.host, self.query.upto, self.settings)?;
                Ok(Ok(Item { row, site, body, bands: Vec::new() }))
            }
            Err(e) => {
                tracing::warn!("{e}");
                Ok(Err((row.id, "unreadable")))
            }
        }
    }

    fn push(&mut self, item: Item, mut record: Record) -> Result<(), ExportError> {
        let part = self.manifest.parts.len() as i64;
        if let Some(filter) = &self.filter {
            let values: Vec<FilterValue<'_>> = record.values.iter().map(filter_value).collect();
            let wrong =
                |reason| ExportError::Filter { expression: self.options.filter.clone().unwrap_or_default(), reason };
            if !filter.keeps(&values).map_err(wrong)? {
                self.leave_out(item.row.id, "where");
                return Ok(());
            }
        }
        if self.is_repeated(&item, &mut record, part)? {
            return Ok(());
        }
        let raw = Raw { content_type: item.row.content_type, body: item.body };
        let name = self.part_name();
        let sink = match &mut self.sink {
            Some(sink) => sink,
            none => {
                let path = self.dir.join(format!("{name}.part"));
                let sink = create(self.options.form, &path, self.dir);
                none.insert(sink.map_err(|reason| ExportError::Io { path, reason })?)
            }
        };
        sink.push(&record, &raw).map_err(|reason| ExportError::Io { path: self.dir.join(&name), reason })?;
        self.open_rows += 1;
        self.reached = item.row.id;
        if sink.size() >= self.options.part_bytes {
            self.close_part()?;
        }
        Ok(())
    }

    /// Looks for an earlier page with the same text, or nearly. Returns whether the page is left out for it.
    fn is_repeated(&mut self, item: &Item, record: &mut Record, part: i64) -> Result<bool, ExportError> {
        let folder = |what| ExportError::Folder { path: self.dir.to_owned(), what };
        let url = &item.row.url;
        let digest = record.text("text_digest").and_then(|digest| u64::from_str_radix(digest, 16).ok());
        let first = digest.map_or(Ok(None), |digest| self.seen.first(digest, url, part)).map_err(folder)?;
        if let Some(first) = first.filter(|first| first != url) {
            record.set_text("duplicate_of", &first);
            if self.options.duplicates == Duplicates::Drop {
                self.leave_out(item.row.id, "duplicate");
                return Ok(true);
            }
        }
        let Some(near) = self.options.near_duplicates.filter(|_| !item.bands.is_empty()) else { return Ok(false) };
        let folder = |what| ExportError::Folder { path: self.dir.to_owned(), what };
        let first = self.seen.near(&item.bands, url, part).map_err(folder)?;
        if let Some(first) = first.filter(|first| first != url) {
            record.set_text("near_duplicate_of", &first);
            if near == Duplicates::Drop {
                self.leave_out(item.row.id, "near_duplicate");
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn leave_out(&mut self, id: i64, why: &'static str) {
        self.left_out.push(why);
        self.reached = id;
    }

    fn part_name(&self) -> String {
        format!("part-{:05}.{}", self.manifest.parts.len(), self.options.form.ending())
    }

    /// Completes the part on the disk, then says so in the manifest.
    fn close_part(&mut self) -> Result<(), ExportError> {
        let name = self.part_name();
        if let Some(sink) = self.sink.take() {
            sink.finish().map_err(|reason| self.io(&name, reason))?;
            self.seen.commit().map_err(|what| ExportError::Folder { path: self.dir.to_owned(), what })?;
            let mut part = Part { name: name.clone(), rows: self.open_rows, ..Part::default() };
            if self.options.form != Form::Markdown {
                let open = self.dir.join(format!("{name}.part"));
                let described =
                    || -> io::Result<(u64, String)> { Ok((fs::metadata(&open)?.len(), manifest::sha256_of(&open)?)) };
                (part.bytes, part.sha256) = described().map_err(|reason| self.io(&name, reason))?;
                fs::rename(&open, self.dir.join(&name)).map_err(|reason| self.io(&name, reason))?;
            }
            self.manifest.parts.push(part);
        }
        self.manifest.rows += std::mem::take(&mut self.open_rows);
        for why in self.left_out.drain(..) {
            *self.manifest.left_out.entry(why.to_owned()).or_default() += 1;
        }
        self.manifest.after = self.reached;
        self.write_manifest()
    }
}

/// The row of a page.
fn record_of(item: Item, optional: Optional, settings: &Settings) -> (Item, Record) {
    let Item { row, site, body, .. } = &item;
    let (tree, _) = parse_bytes(body, row.content_type.as_deref(), &settings.core.parse);
    let matcher = site.matcher.as_deref();
    let labeled = label_page(&tree, None, matcher, &settings.core.clean);
    let comments = optional.comments.then(|| comments_of(&tree, matcher, settings));
    let about = About {
        url: PageUrl::parse(&row.url).ok(),
        host: Some(row.host.clone()),
        fetched_at: Some(row.fetched_at),
        status: Some(row.status),
        run: Some(row.run),
        digest: Some(row.digest.clone()),
        warc: row.warc.clone(),
        model: labeled.by_template.then(|| (row.host.clone(), site.version)),
        site: Some(site.metadata.clone()),
    };
    let record = Record::of(&tree, &labeled, &about, comments, optional, settings);
    (item, record)
}

fn create(form: Form, path: &Path, dir: &Path) -> io::Result<Box<dyn Sink>> {
    Ok(match form {
        Form::Jsonl => Box::new(sink::Jsonl::create(path)?),
        #[cfg(feature = "parquet")]
        Form::Parquet => Box::new(super::parquet::Parquet::create(path)?),
        #[cfg(not(feature = "parquet"))]
        Form::Parquet => return Err(io::Error::other("this program was built without the feature parquet")),
        Form::Warc => Box::new(sink::Warc::create(path, false)?),
        Form::Wet => Box::new(sink::Warc::create(path, true)?),
        Form::Markdown => Box::new(notes::Notes::create(dir)?),
    })
}

fn filter_value(value: &Value) -> FilterValue<'_> {
    match value {
        Value::Text(Some(text)) => FilterValue::Text(text),
        Value::Whole(Some(number)) | Value::Time(Some(number)) => FilterValue::Whole(*number),
        Value::Real(Some(number)) => FilterValue::Real(*number),
        Value::Texts(texts) if !texts.is_empty() => FilterValue::Text(&texts[0]),
        _ => FilterValue::Null,
    }
}

/// The manifest to go on with: that of the folder, or a new one.
fn begin(dir: &Path, options: &ExportOptions, settings: &Settings, last: i64) -> Result<Manifest, ExportError> {
    let folder = |what: String| ExportError::Folder { path: dir.to_owned(), what };
    let asked =
        format!("{options:?} {:?} {:?} {:?}", settings.core.clean, settings.core.markdown, settings.store.noindex);
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
