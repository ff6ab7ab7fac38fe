//! A sample of the pages of each site in a set of sources, kept in a temporary file. Memory holds their places.

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Context;
use indicatif::ProgressBar;
use rustc_hash::FxHashMap;

use super::documents::{Crawls, FieldName, FoundDocument, Reading, SourceError};
use dehusk_corpus::pipeline;
use dehusk_files::on_disk::read_exact_at;
use dehusk_html::{PageUrl, Tree, parse_bytes};
use dehusk_settings::Settings;
use dehusk_store::{Packer, unpack};
use dehusk_template::site_model::{PageSample, TrainingSet};
use dehusk_template::template::{Provenance, Template};

/// What an error of a temporary file says.
pub(super) const SPILL: &str = "temporary file (TMPDIR names the folder)";

/// Bytes that are packed and appended to a temporary file, and read back.
pub(super) struct Spill {
    file: File,
    end: u64,
    packer: Packer,
}

/// Where bytes are in a spill.
#[derive(Clone, Copy)]
pub(super) struct Extent {
    at: u64,
    length: usize,
}

impl Spill {
    pub(super) fn new() -> io::Result<Spill> {
        Ok(Spill { file: tempfile::tempfile()?, end: 0, packer: Packer::default() })
    }

    pub(super) fn push(&mut self, bytes: &[u8]) -> io::Result<Extent> {
        let packed = self.packer.pack(bytes, 1);
        self.file.write_all(&packed)?;
        let place = Extent { at: self.end, length: packed.len() };
        self.end += packed.len() as u64;
        Ok(place)
    }

    pub(super) fn read(&self, place: Extent) -> io::Result<Vec<u8>> {
        let mut packed = vec![0; place.length];
        read_exact_at(&self.file, &mut packed, place.at)?;
        unpack(&packed)
    }
}

/// A page of a sample.
pub(super) struct SampledPage {
    url: PageUrl,
    place: Extent,
    content_type: Option<String>,
}

/// A site and the sample of its pages, which does not depend on their order: it has those whose addresses have the
/// least hashes.
pub(super) struct SampledSite {
    /// Its host, with a port that is not the default.
    pub(super) host: String,
    sample: PageSample<SampledPage>,
    /// Its page at [`Sampling::key`].
    key: Option<SampledPage>,
}

/// The samples of all sites, in the order in which their first pages were read.
pub(super) struct SiteSamples {
    spill: Spill,
    pub(super) sites: Vec<SampledSite>,
    /// Pages without an address: nothing says which site they are of.
    pub(super) nameless: usize,
}

/// How sources are sampled.
pub(super) struct Sampling<'a> {
    pub(super) settings: &'a Settings,
    /// Pages of a site that are kept, at most.
    pub(super) most: usize,
    /// Path of a page that is kept beside them.
    pub(super) key: Option<&'a str>,
    /// Fields that documents are read from, in place of the usual ones.
    pub(super) named: &'a [FieldName],
    /// Whether what cannot be read is logged; otherwise it is passed over.
    pub(super) tells_failures: bool,
    /// Crawls of Common Crawl that were opened before.
    pub(super) crawls: Crawls<'a>,
    pub(super) bar: &'a ProgressBar,
}

impl Sampling<'_> {
    /// Reads the sources once.
    ///
    /// # Errors
    ///
    /// When the temporary file cannot be written. Where failures are told, also when a source cannot be opened.
    pub(super) fn read(&self, sources: &[PathBuf]) -> anyhow::Result<SiteSamples> {
        let mut spill = Spill::new().context(SPILL)?;
        let (mut sites, mut nameless) = (Vec::<SampledSite>::new(), 0);
        let mut places = FxHashMap::<String, usize>::default();
        let mut unreadable = None;
        let read = |put: &mut dyn FnMut(FoundDocument) -> bool| {
            let reading = Reading {
                bar: self.bar.clone(),
                // As they are read when they are cleaned.
                all_pages: true,
                sampled: true,
                named: self.named,
                crawls: self.crawls.clone(),
                ..Reading::new(self.settings)
            };
            for found in reading.all(sources) {
                if self.tells_failures && found.as_ref().is_err_and(|error| error.is::<SourceError>()) {
                    unreadable = found.err();
                    return;
                }
                let found = if self.tells_failures { reading.readable(vec![found]).pop() } else { found.ok() };
                if found.filter(|page| page.is_page).is_some_and(|page| !put(page)) {
                    return;
                }
            }
        };
        let place = |page: FoundDocument| (page.url.as_ref().map(PageUrl::authority), page);
        pipeline::run(read, FoundDocument::n_bytes, place, |(host, mut page)| {
            let (Some(host), Some(url)) = (host, page.url.take()) else {
                nameless += 1;
                return Ok(());
            };
            let at = *places.entry(host.clone()).or_insert(sites.len());
            if at == sites.len() {
                sites.push(SampledSite { host, sample: PageSample::new(self.most), key: None });
            }
            let (bytes, content_type) = page.bytes();
            let id = url.fingerprint();
            if self.key.is_some_and(|key| url.join(&rooted(key)).as_ref() == Some(&url)) {
                let place = spill.push(bytes).context(SPILL)?;
                sites[at].key = Some(SampledPage { url, place, content_type });
                return Ok(());
            }
            let keep = || io::Result::Ok(SampledPage { url, place: spill.push(bytes)?, content_type });
            sites[at].sample.insert(id, bytes, keep).map(drop).context(SPILL)
        })?;
        if let Some(error) = unreadable {
            return Err(error);
        }
        Ok(SiteSamples { spill, sites, nameless })
    }
}

impl SiteSamples {
    /// The pages of a sample. Those that cannot be read back are left out.
    pub(super) fn pages(&self, site: &SampledSite, settings: &Settings) -> Vec<(PageUrl, Tree)> {
        let tree = |(_, page): (u64, &SampledPage)| {
            let bytes = self.spill.read(page.place).ok()?;
            Some((page.url.clone(), parse_bytes(&bytes, page.content_type.as_deref(), &settings.core.parse).0))
        };
        site.key.iter().map(|page| (0, page)).chain(site.sample.iter()).filter_map(tree).collect()
    }
}

/// The model of a site that its pages give, and its template, if they have anything in common.
pub(super) fn learn_pages(pages: &[(PageUrl, Tree)], settings: &Settings) -> Option<(TrainingSet, Template)> {
    let learn = &settings.core.learn;
    let numbered: Vec<(u64, &Tree)> = pages.iter().map(|(url, tree)| (url.fingerprint(), tree)).collect();
    let (set, labels) = TrainingSet::learn(&numbered, &learn.site_model)?;
    // Every page has a body: pages that share nothing else have no template.
    if !labels.iter().any(|labels| labels.is_template.iter().filter(|is| **is).count() > 1) {
        return None;
    }
    let key = key_page(pages.iter().map(|(url, _)| url))?;
    let voters: Vec<PageUrl> = pages.iter().map(|(url, _)| url.clone()).filter(|url| *url != pages[key].0).collect();
    let from = Provenance { key_url: Some(&pages[key].0), voters: &voters, loads: voters.len() };
    let template = Template::from_training_set(&pages[key].1, from, &labels[key], &set, learn);
    Some((set, template))
}

/// A path with the slash that it begins with.
pub(super) fn rooted(path: &str) -> String {
    format!("/{}", path.trim_start_matches('/'))
}

/// The page that stands for a site: that with the shortest path.
pub(super) fn key_page<'a>(urls: impl Iterator<Item = &'a PageUrl>) -> Option<usize> {
    let length = |url: &PageUrl| (url.url().query().is_some(), url.path().len());
    urls.enumerate().min_by_key(|(_, url)| (length(url), url.to_string())).map(|(at, _)| at)
}
