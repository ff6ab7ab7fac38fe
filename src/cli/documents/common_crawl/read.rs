//! Reads the pages of Common Crawl.

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, anyhow};
use rustc_hash::FxHashMap;
use serde_json::{Map, Value};

use super::super::{Documents, FoundDocument, Reading, unreadable};
use super::Address;
use dehusk_files::common_crawl::{Capture, Captured, CommonCrawl, stream_of};
use dehusk_files::warc::{Reader, records};
use dehusk_settings::Settings;
use dehusk_template::site_model::PageSample;

/// Hosts that are looked up before the pages of the first of them are given.
const HOSTS_AT_ONCE: usize = 64;

/// Crawls that were opened, by name. Clones share them.
#[derive(Clone)]
pub(in crate::cli) struct Crawls<'a> {
    settings: &'a Settings,
    opened: Arc<Mutex<FxHashMap<String, Arc<CommonCrawl>>>>,
}

impl<'a> Crawls<'a> {
    pub(in crate::cli) fn new(settings: &'a Settings) -> Crawls<'a> {
        Crawls { settings, opened: Arc::default() }
    }

    fn open(&self, name: &str) -> anyhow::Result<Arc<CommonCrawl>> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = opened.get(name) {
            return Ok(Arc::clone(known));
        }
        let (where_, agent) = (&self.settings.common_crawl, &self.settings.fetch.user_agent);
        let crawl = CommonCrawl::open(&where_.base, name, agent, where_.connections);
        let crawl = Arc::new(crawl.with_context(|| format!("cc:{name}"))?);
        opened.insert(name.to_owned(), Arc::clone(&crawl));
        Ok(crawl)
    }
}

impl Reading<'_> {
    /// All pages of a host, or of a crawl.
    pub(in crate::cli::documents) fn of_crawl(&self, address: &Address) -> anyhow::Result<Documents<'_>> {
        let crawl = self.crawls.open(&address.crawl)?;
        let Some(host) = address.host.clone() else {
            let archives = crawl.archives().with_context(|| format!("cc:{}", address.crawl))?;
            return Ok(Box::new(
                archives.into_iter().flat_map(|archive| self.of_source(Path::new(&archive)).unwrap_or_else(unreadable)),
            ));
        };
        let name = format!("cc:{}/{host}", address.crawl);
        let mut captures = crawl.all(&host).with_context(|| name.clone())?.peekable();
        if captures.peek().is_none() {
            tracing::warn!("{name}: the crawl has no page of this host");
        }
        Ok(Box::new(captures.flat_map(move |captured| match captured {
            Ok(captured) => self.of_captured(captured),
            Err(error) => vec![Err(anyhow::Error::from(error).context(name.clone()))],
        })))
    }

    /// The pages of these hosts of one crawl that their templates are learned from.
    pub(in crate::cli::documents) fn of_sampled_hosts<'a>(&'a self, sources: &'a [PathBuf]) -> Documents<'a> {
        let Some(first) = sources.first().and_then(|source| Address::parse(source)) else {
            return Box::new(std::iter::empty());
        };
        let crawl = match self.crawls.open(&first.crawl) {
            Ok(crawl) => crawl,
            Err(error) => return unreadable(error),
        };
        let n_threads = self.crawls.settings.common_crawl.connections;
        Box::new(sources.chunks(HOSTS_AT_ONCE).flat_map(move |sources| {
            let samples = samples(&crawl, sources, n_threads);
            let of_host = |(source, sample): (&PathBuf, std::io::Result<Vec<Captured>>)| match sample {
                Ok(captures) if captures.is_empty() => {
                    tracing::warn!("{}: the crawl has no page of this host", source.display());
                    Vec::new()
                }
                Ok(captures) => captures.into_iter().flat_map(|captured| self.of_captured(captured)).collect(),
                Err(error) => vec![Err(anyhow::Error::from(error).context(source.display().to_string()))],
            };
            sources.iter().zip(samples).flat_map(of_host).collect::<Vec<_>>()
        }))
    }

    /// The document of a capture. Of one that is no page, its reason, where that is asked for.
    fn of_captured(&self, (capture, record): Captured) -> Vec<anyhow::Result<FoundDocument>> {
        let left_out = |why: &'static str| {
            let found =
                || FoundDocument { name: capture.url.to_string(), left_out: Some(why), ..FoundDocument::default() };
            self.tells_left_out.then(|| Ok(found())).into_iter().collect()
        };
        if let Some(why) = capture.left_out() {
            return left_out(why);
        }
        let found = record.map_err(anyhow::Error::from).and_then(|record| {
            self.bar.inc(record.len() as u64);
            let reader = Reader::tolerant(Path::new(&capture.file), stream_of(record))?;
            let found = records(reader, self.max_bytes).next();
            Ok(found
                .ok_or_else(|| anyhow!("at byte {} of {} there is no response", capture.range.start, capture.file))??)
        });
        match found {
            Ok(Err(no_document)) => left_out(no_document.why),
            Ok(Ok(document)) => {
                let found = self.of_archived(Ok(document));
                let (source, input) = (Some(capture.file.as_str().into()), passed(&capture, self.pass));
                vec![Ok(FoundDocument { source, input, ..found })]
            }
            Err(error) => vec![Err(error.context(capture.url.to_string()))],
        }
    }
}

/// The pages of a host that its template is learned from: the same as of an archive with all of them.
fn sample(crawl: &CommonCrawl, host: &str) -> std::io::Result<Vec<Captured>> {
    let mut sample = PageSample::new(PageSample::<()>::SIZE);
    for capture in crawl.candidates(host)? {
        let digest = if capture.digest.is_empty() { capture.fields.clone() } else { capture.digest.clone() };
        let Ok(_) = sample.insert(capture.url.fingerprint(), digest.as_bytes(), || Ok::<_, Infallible>(capture));
    }
    let chosen: Vec<Capture> = sample.iter().map(|(_, capture)| capture.clone()).collect();
    let records = crawl.records(&chosen);
    Ok(chosen.into_iter().zip(records).collect())
}

/// Looks hosts up, many at the same time. Each has its place.
fn samples(crawl: &CommonCrawl, sources: &[PathBuf], n_threads: usize) -> Vec<std::io::Result<Vec<Captured>>> {
    let next = AtomicUsize::new(0);
    let look_up = || {
        let mut found = Vec::new();
        while let Some(source) = sources.get(next.fetch_add(1, Ordering::Relaxed)) {
            let host = Address::parse(source).and_then(|address| address.host).unwrap_or_default();
            found.push((source, sample(crawl, &host)));
        }
        found
    };
    let mut found: FxHashMap<&PathBuf, _> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..n_threads.min(sources.len())).map(|_| scope.spawn(look_up)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap_or_default()).collect()
    });
    let lost = || Err(std::io::Error::other("the thread that looked it up has ended"));
    sources.iter().map(|source| found.remove(source).unwrap_or_else(lost)).collect()
}

/// The fields of the index that are passed through, as an object.
fn passed(capture: &Capture, names: &[String]) -> Option<String> {
    let Ok(Value::Object(mut fields)) = serde_json::from_str(&capture.fields) else { return None };
    let passed: Map<String, Value> =
        names.iter().filter_map(|name| Some((name.clone(), fields.remove(name)?))).collect();
    (!names.is_empty()).then(|| Value::Object(passed).to_string())
}
