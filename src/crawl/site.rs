//! One site on its way.
//!
//! At any moment exactly one thing is out for a site: a request, a page on a CPU thread, or a question to the store.
//! When that comes back, the next thing follows from the phase; nothing of a site is ever done twice at once.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::scope::Queries;
use crate::store::{KnownUrl, PastVisit, SiteId, SiteOutcome};
use dehusk_core::internals::clean::TemplateMatcher;
use dehusk_core::internals::page_url::{PageUrl, Site};
use dehusk_core::internals::template::Template;

use super::stats::SiteSummary;
use super::work::SiteLearner;

/// A site that is worked on.
pub(super) struct SiteState {
    pub(super) id: SiteId,
    pub(super) seed: PageUrl,
    pub(super) begun: Instant,
    pub(super) phase: Phase,
    /// Known with the key page.
    pub(super) site: Option<Site>,
    /// Fingerprints of what this run has fetched.
    pub(super) fetched: FxHashSet<u64>,
    /// Pages that were as they had been.
    pub(super) n_unchanged: usize,
    pub(super) n_requests: usize,
    /// Origins whose rules can be forgotten with the site.
    pub(super) origins: Vec<String>,
    /// What this run did for the site before a restart, by URL.
    pub(super) past: FxHashMap<String, PastVisit>,
    /// Bytes of its pages and trees in memory, roughly.
    pub(super) held: usize,
    /// Those that are free again when the CPU thread gives the site back.
    pub(super) leaving: usize,
    pub(super) summary: SiteSummary,
}

/// How far a site is.
pub(super) enum Phase {
    /// The key page is asked for; with the stored template, which it may still fit.
    Key(Option<Arc<Template>>),
    /// The learner is with the page that was asked for.
    Learning(Box<SiteLearner>),
    /// Something of the site is on a CPU thread or at the store; what comes back brings the next phase.
    Away,
    /// The template is settled; further pages are fetched.
    Walking(Box<Walk>),
}

/// The walk through a site after its template is settled.
pub(super) struct Walk {
    /// How the site ends when the walk does.
    pub(super) end: SiteOutcome,
    pub(super) template: Option<Box<TemplateMatcher>>,
    /// Did a page of the walk become evidence for others?
    pub(super) is_updated: bool,
    pub(super) queries: Queries,
    /// Hashes of links that were judged already: most links of a page stand on every page.
    pub(super) judged: FxHashSet<u64>,
    /// The next URLs; the frontier on disk has the rest.
    pub(super) window: VecDeque<KnownUrl>,
    /// Sitemaps and feeds that were not read yet.
    pub(super) announced: VecDeque<PageUrl>,
    /// Fingerprints of those that were.
    pub(super) seen: FxHashSet<u64>,
}

/// What is told of a template.
#[derive(Clone, Copy)]
pub(super) struct TemplateSize {
    voters: usize,
    template_nodes: usize,
    key_nodes: usize,
}

impl TemplateSize {
    pub(super) fn of(template: &Template) -> TemplateSize {
        TemplateSize { voters: template.n_voters, template_nodes: template.n_nodes(), key_nodes: template.key_nodes }
    }

    pub(super) fn tell(self, summary: &mut SiteSummary) {
        (summary.voters, summary.template_nodes, summary.key_nodes) =
            (self.voters, self.template_nodes, self.key_nodes);
    }
}

impl Walk {
    pub(super) fn new(end: SiteOutcome, template: Option<Box<TemplateMatcher>>) -> Walk {
        Walk {
            end,
            template,
            is_updated: false,
            queries: Queries::default(),
            judged: FxHashSet::default(),
            window: VecDeque::new(),
            announced: VecDeque::new(),
            seen: FxHashSet::default(),
        }
    }
}

impl SiteState {
    pub(super) fn new(id: SiteId, seed: PageUrl, begun: Instant, phase: Phase) -> SiteState {
        SiteState {
            id,
            summary: SiteSummary::new(&seed.authority()),
            seed,
            begun,
            phase,
            site: None,
            fetched: FxHashSet::default(),
            n_unchanged: 0,
            n_requests: 0,
            origins: Vec::new(),
            past: FxHashMap::default(),
            held: 0,
            leaving: 0,
        }
    }

    /// Takes the phase away, to be put back by what follows.
    pub(super) fn take_phase(&mut self) -> Phase {
        std::mem::replace(&mut self.phase, Phase::Away)
    }
}
