//! The rows of an export: pages of the store, cleaned on all cores, in the order in which they were stored.

use std::sync::Arc;

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::duplicates::Candidate;
use super::filter::Filter;
use super::repeats::Fingerprint;
use super::site_facts::{Site, Sites};
use super::{ExportError, ExportOptions, Form};
use crate::{language_model, tokenizer};
use dehusk_core::LanguageModel;
use dehusk_core::clean::{comment_labels, label_page};
use dehusk_core::corpus::{About, OptionalColumns, Record, RecordSource, TextOptions, TokenCounter};
use dehusk_html::PageUrl;
use dehusk_html::parse_bytes;
use dehusk_settings::{NoindexPages, Settings};
use dehusk_store::{CorpusQuery, PageRow, Store};

/// A page that was cleaned.
pub(super) struct Made {
    pub(super) page: PageRow,
    /// As fetched.
    pub(super) body: Vec<u8>,
    pub(super) record: Record,
    pub(super) fingerprint: Fingerprint,
}

impl Made {
    /// What the search for repeats takes of it.
    pub(super) fn candidate(&mut self) -> Candidate<'_> {
        let Made { page, record, fingerprint, .. } = self;
        Candidate { id: page.id, host: &page.host, url: &page.url, record, fingerprint }
    }
}

/// A page that is left out, and why.
pub(super) struct LeftOut {
    pub(super) page: Box<PageRow>,
    pub(super) why: &'static str,
}

/// Reads and cleans pages.
pub(super) struct Rows<'a> {
    store: &'a Store,
    settings: &'a Settings,
    options: &'a ExportOptions,
    query: CorpusQuery,
    filter: Filter,
    sites: Sites,
    language: Option<Arc<dyn LanguageModel>>,
    tokens: Option<Arc<dyn TokenCounter>>,
}

impl<'a> Rows<'a> {
    pub(super) fn new(
        store: &'a Store,
        settings: &'a Settings,
        options: &'a ExportOptions,
    ) -> Result<Rows<'a>, ExportError> {
        let query = CorpusQuery {
            upto: 0,
            since: options.since,
            hosts: options.hosts.clone(),
            all_versions: options.all_versions,
            as_of: options.as_of,
            states: options.states.iter().map(|state| state.name().to_owned()).collect(),
        };
        let (filter, sites) = (Filter::new(options.filter.as_deref(), options.rights)?, Sites::default());
        let language = language_model::open(&settings.export.language_model)?;
        let tokens = tokenizer::open(&settings.export.tokenizer)?;
        Ok(Rows { store, settings, options, query, filter, sites, language, tokens })
    }

    /// What counts tokens.
    pub(super) fn tokens(&self) -> Option<Arc<dyn TokenCounter>> {
        self.tokens.clone()
    }

    /// Whether pages of this host are asked for.
    pub(super) fn has_host(&self, host: &str) -> bool {
        let bare = host.strip_prefix("www.").unwrap_or(host);
        self.query.hosts.is_empty() || self.query.hosts.iter().any(|asked| asked == host || asked == bare)
    }

    /// Sets the last page.
    pub(super) fn end_at(&mut self, upto: i64) {
        self.query.upto = upto;
    }

    /// The next pages after this one, at most `n`. Empty at the end.
    pub(super) fn next(&mut self, after: i64, n: usize) -> Result<Vec<Result<Made, LeftOut>>, ExportError> {
        let pages = self.store.corpus_rows(&self.query, after, n)?;
        self.make(pages)
    }

    /// These pages, in order.
    pub(super) fn make(&mut self, pages: Vec<PageRow>) -> Result<Vec<Result<Made, LeftOut>>, ExportError> {
        let read: Vec<_> = pages.into_iter().map(|page| self.read(page)).collect::<Result<_, _>>()?;
        let (options, settings, language) = (self.options, self.settings, self.language.as_deref());
        let texts = TextOptions { tokens: self.tokens.as_deref(), pii: options.pii };
        let make = |read: Result<Read, LeftOut>| Ok(made(read?, options, settings, language, texts));
        let made: Vec<Result<Made, LeftOut>> = read.into_par_iter().map(make).collect();
        made.into_iter().map(|made| self.filtered(made)).collect()
    }

    fn read(&mut self, page: PageRow) -> Result<Result<Read, LeftOut>, ExportError> {
        if page.noindex && self.settings.store.noindex == NoindexPages::Hide {
            return Ok(Err(LeftOut { page: Box::new(page), why: "noindex" }));
        }
        match self.store.load_raw(&page) {
            Ok(body) => {
                let site = self.sites.load(self.store, &page.host, self.query.upto, self.settings)?;
                Ok(Ok(Read { page, site, body }))
            }
            Err(e) => {
                tracing::warn!("{e}");
                Ok(Err(LeftOut { page: Box::new(page), why: "unreadable" }))
            }
        }
    }

    fn filtered(&self, made: Result<Made, LeftOut>) -> Result<Result<Made, LeftOut>, ExportError> {
        let Ok(made) = made else { return Ok(made) };
        Ok(match self.filter.refusal(&made.record)? {
            None => Ok(made),
            Some(why) => Err(LeftOut { page: Box::new(made.page), why }),
        })
    }
}

/// A page that was read.
struct Read {
    page: PageRow,
    site: Site,
    body: Vec<u8>,
}

fn made(
    read: Read,
    options: &ExportOptions,
    settings: &Settings,
    language: Option<&dyn LanguageModel>,
    texts: TextOptions<'_>,
) -> Made {
    let Read { page, site, body } = read;
    let (tree, _) = parse_bytes(&body, page.content_type.as_deref(), &settings.core.parse);
    let matcher = site.matcher.as_deref();
    let labeled = label_page(&tree, None, matcher, &settings.core.clean);
    let comments = options.optional.comments.then(|| comment_labels(&tree, matcher, &settings.core.clean));
    let about = About {
        url: PageUrl::parse(&page.url).ok(),
        host: Some(page.host.clone()),
        fetched_at: Some(page.fetched_at),
        read_at: None,
        status: Some(page.status),
        run: Some(page.run),
        state: Some(page.state.clone()),
        digest: Some(page.digest.clone()),
        warc: page.warc.clone(),
        warc_record: page.warc_record.clone(),
        rights: Some(page.rights.clone()),
        rendered: Some(page.rendered),
        truncated: None,
        source: None,
        source_id: None,
        input: None,
        model: labeled.by_template.then(|| (page.host.clone(), site.version)),
        template_kind: matcher.and_then(|matcher| matcher.kind_of(&labeled)),
        site: Some(site.metadata.clone()),
    };
    let optional = OptionalColumns { html: options.optional.html || options.form == Form::Site, ..options.optional };
    let record = Record::new(&RecordSource {
        tree: &tree,
        labeled: &labeled,
        about: &about,
        comments: comments.as_ref(),
        optional,
        markdown: &settings.core.markdown,
        language,
        texts,
    });
    let near = options.near_duplicates.map(|_| settings.export.near);
    Made { page, body, fingerprint: Fingerprint::new(&record, near), record }
}
