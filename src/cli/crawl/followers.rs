//! What grows beside a crawl: an export and a feed, written by a thread of their own that reads what is committed.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::cli::table::count;
use dehusk_corpus::export::{ExportError, ExportOptions, Feed, GrowingExport, Manifest};
use dehusk_settings::Settings;
use dehusk_store::Store;

/// Shortest time between two looks at the store.
const PAUSE: Duration = Duration::from_secs(2);

/// A look at the store is followed by a pause of this many times its duration.
const REST: u32 = 4;

/// What is wanted beside a crawl.
#[derive(Clone, Debug, Default)]
pub(super) struct Wanted {
    /// Folder and options of an export.
    pub(super) export: Option<(PathBuf, ExportOptions)>,
    /// File of a feed.
    pub(super) feed: Option<PathBuf>,
}

/// What was written.
#[derive(Clone, Debug, Default)]
pub(super) struct Written {
    pub(super) export: Option<Manifest>,
    pub(super) feed: Option<u64>,
}

impl Written {
    pub(super) fn print(&self, wanted: &Wanted, out: &mut impl Write) -> std::io::Result<()> {
        if let (Some(manifest), Some((dir, _))) = (&self.export, &wanted.export) {
            let (rows, parts) = (count(manifest.rows as usize), manifest.parts.len());
            writeln!(out, "export: {} has {rows} rows in {parts} parts", dir.display())?;
        }
        if let (Some(n), Some(file)) = (self.feed, &wanted.feed) {
            writeln!(out, "feed: {} pages that differ, in {}", count(n as usize), file.display())?;
        }
        Ok(())
    }
}

/// The thread.
pub(super) struct Followers {
    end: Sender<()>,
    thread: JoinHandle<Result<Written, ExportError>>,
}

impl Followers {
    /// Starts the thread. What is wanted is opened first, so that a folder that cannot be used ends the crawl before it
    /// begins.
    pub(super) fn start(wanted: Wanted, settings: &Settings) -> Result<Option<Followers>, ExportError> {
        if wanted.export.is_none() && wanted.feed.is_none() {
            return Ok(None);
        }
        let path = PathBuf::from(&settings.store.path);
        // Makes the file, or brings an older one to its schema.
        drop(Store::create(&path, settings.store.zstd_level)?);
        let store = Store::open(&path)?;
        let feed = wanted.feed.as_ref().map(|file| Feed::open(file, &store)).transpose()?;
        if let Some((dir, options)) = &wanted.export {
            drop(GrowingExport::open(&store, dir, options, settings)?);
        }
        drop(store);
        let settings = settings.clone();
        let (end, ended) = mpsc::channel();
        let follow = move || {
            let is_over = |pause| !matches!(ended.recv_timeout(pause), Err(RecvTimeoutError::Timeout));
            follow(&path, &wanted, feed, &settings, is_over)
        };
        let thread = std::thread::Builder::new().name("follow".to_owned()).spawn(follow);
        let thread = thread.map_err(|reason| ExportError::Io { path: "thread".into(), reason })?;
        Ok(Some(Followers { end, thread }))
    }

    /// Waits until all that was committed is written.
    pub(super) fn finish(self) -> Result<Written, ExportError> {
        drop(self.end);
        let panicked = |_| ExportError::Io { path: "thread".into(), reason: std::io::Error::other("it panicked") };
        self.thread.join().map_err(panicked)?
    }
}

fn follow(
    path: &Path,
    wanted: &Wanted,
    mut feed: Option<Feed>,
    settings: &Settings,
    is_over: impl Fn(Duration) -> bool,
) -> Result<Written, ExportError> {
    let mut written = Written { feed: feed.as_ref().map(|_| 0), ..Written::default() };
    let store = Store::open(path)?;
    let export = wanted.export.as_ref().map(|(dir, options)| GrowingExport::open(&store, dir, options, settings));
    let mut export = export.transpose()?;
    let mut over = is_over(PAUSE);
    loop {
        let began = Instant::now();
        if let (Some(feed), Some(n)) = (&mut feed, &mut written.feed) {
            *n += feed.append(&store, settings)?;
        }
        if over {
            written.export = export.map(GrowingExport::finish).transpose()?;
            return Ok(written);
        }
        if let Some(export) = &mut export {
            export.advance()?;
        }
        over = is_over(PAUSE.max(began.elapsed() * REST));
    }
}
