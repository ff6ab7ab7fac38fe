//! The walk through a site after its template is settled.

use std::collections::VecDeque;
use std::sync::Arc;

use dehusk_core::internals::clean::TemplateMatcher;
use dehusk_core::internals::page_url::PageUrl;
use dehusk_core::internals::template::Template;
use rustc_hash::FxHashSet;

use crate::scope::Queries;
use crate::store::{KnownUrl, SiteOutcome};

/// The walk through a site after its template is settled: pages that are due, sitemaps, pages that wait.
pub(in crate::crawl) struct Walk {
    /// How the site ends when the walk does.
    pub(in crate::crawl) outcome: SiteOutcome,
    pub(in crate::crawl) template: WalkTemplate,
    /// Whether a page of the walk became a training page.
    pub(in crate::crawl) is_updated: bool,
    pub(in crate::crawl) queries: Queries,
    /// Hashes of links that were judged already: most links of a page are on every page.
    pub(in crate::crawl) judged: FxHashSet<u64>,
    /// The next URLs. The frontier in the store has the rest.
    pub(in crate::crawl) window: VecDeque<KnownUrl>,
    /// Sitemaps and feeds that were not read yet.
    pub(in crate::crawl) announced: VecDeque<PageUrl>,
    /// Fingerprints of the sitemaps and feeds that were announced.
    pub(in crate::crawl) seen: FxHashSet<u64>,
}

/// The template of a walk.
pub(in crate::crawl) enum WalkTemplate {
    /// The site has none.
    None,
    /// As stored. A CPU thread prepares it when a page comes.
    Stored(Arc<Template>),
    /// Ready to label pages.
    Ready(Box<TemplateMatcher>),
}

impl Walk {
    pub(in crate::crawl) fn new(outcome: SiteOutcome, template: WalkTemplate) -> Walk {
        Walk {
            outcome,
            template,
            is_updated: false,
            queries: Queries::default(),
            judged: FxHashSet::default(),
            window: VecDeque::new(),
            announced: VecDeque::new(),
            seen: FxHashSet::default(),
        }
    }

    /// Adds sitemaps and feeds, each once.
    pub(in crate::crawl) fn announce(&mut self, urls: impl IntoIterator<Item = PageUrl>) {
        let seen = &mut self.seen;
        self.announced.extend(urls.into_iter().filter(|url| seen.insert(url.fingerprint())));
    }

    /// Whether pages are requested conditionally: an unchanged page keeps its stored form, but a new template wants the
    /// page itself.
    pub(super) fn keeps_template(&self) -> bool {
        self.outcome != SiteOutcome::Learned
    }
}

impl WalkTemplate {
    /// The template, ready to label pages.
    pub(in crate::crawl) fn prepare(&mut self) -> Option<&mut TemplateMatcher> {
        if let WalkTemplate::Stored(template) = self {
            *self = WalkTemplate::Ready(Box::new(TemplateMatcher::from_template(template)));
        }
        match self {
            WalkTemplate::Ready(matcher) => Some(matcher),
            _ => None,
        }
    }
}
