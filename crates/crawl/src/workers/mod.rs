//! What CPU threads do with a page: parse, learn, clean, follow links, pack for the store.

mod clean;
mod learn;
mod links;
mod page;
mod reclean;
mod strings;
mod waiter;
mod withheld;

use std::sync::{Arc, Mutex};

use dehusk_content::TaughtPages;
use dehusk_core::clean::{KeepText, TemplateMatcher};
use dehusk_html::{PageUrl, Site};
use dehusk_template::site_model::StoredTrainingSet;
use dehusk_template::strings::StringTemplate;
use dehusk_template::template::Template;

pub(super) use learn::{KeptTemplate, LearnOutcome, SiteLearner, TrainingMemory};
pub(super) use links::Listed;
pub(super) use page::{FetchedPage, Rendering};
pub(super) use strings::FeedTexts;
pub(super) use waiter::PageWaiter;
pub(super) use withheld::Withheld;

use super::site::Walk;
use crate::scope::{Refusal, Scope};
use dehusk_core::cleaning_number;
use dehusk_settings::{Mode, Settings};
use dehusk_store::{
    ConfirmedPage, NewUrl, Packer, PageWrite, RecleanedPage, SeenWrite, SiteId, SiteOutcome, StalePage,
};
use regex::RegexSet;

/// What the work for a site needs.
pub(super) struct Tools {
    /// The settings of the site's host.
    pub(super) settings: Settings,
    pub(super) scope: Arc<Scope>,
    /// Texts that say nothing about whether a page has changed.
    pub(super) ignored: RegexSet,
    /// Names looked for in robots rules.
    pub(super) agents: Vec<String>,
    /// A number for the options that the text of a page depends on.
    pub(super) cleaning: u64,
    /// Folder of the archive that is written.
    pub(super) warc: Option<String>,
    pub(super) shared: Arc<SharedTools>,
}

/// What the work for all sites shares.
#[derive(Default)]
pub(super) struct SharedTools {
    pub(super) packer: Packer,
    /// Held while a site whose pages were packed has them all as trees again: one site at a time.
    pub(super) unpacking: Mutex<()>,
    /// Held while a large page is worked on.
    pub(super) large: Mutex<()>,
}

impl Tools {
    /// The tools for hosts with these settings. `make_scope` makes the rules for their links.
    pub(super) fn new(
        settings: &Settings,
        make_scope: impl FnOnce(&Settings) -> Scope,
        warc: Option<String>,
        shared: Arc<SharedTools>,
    ) -> Tools {
        Tools {
            cleaning: cleaning_number(&settings.core),
            scope: Arc::new(make_scope(settings)),
            // Settings with invalid patterns are rejected earlier.
            ignored: RegexSet::new(&settings.crawl.ignore_changes).unwrap_or_else(|_| RegexSet::empty()),
            agents: settings.agents(),
            settings: work_settings(settings),
            warc,
            shared,
        }
    }
}

/// The settings of the work. The blocks of training pages are made at once only where main content is chosen.
fn work_settings(settings: &Settings) -> Settings {
    let mut settings = settings.clone();
    settings.core.learn.site_model.blocks_at_once = settings.core.clean.keep != KeepText::Own;
    settings
}

/// Work for a CPU thread.
pub(super) enum Work {
    /// The key page. It fits the stored template, or a learner is made.
    Key {
        page: Box<FetchedPage>,
        template: Option<Arc<Template>>,
        /// What was taught of the site before.
        taught: TaughtPages,
        /// Whether the page is kept packed.
        is_packed: bool,
        /// Further seeds of the site, which may be training pages.
        seeds: Vec<PageUrl>,
    },
    /// An answer for the learner.
    Learn(Box<SiteLearner>, Option<Box<FetchedPage>>, TrainingMemory),
    /// A sitemap for the learner.
    LearnSitemap(Box<SiteLearner>, Box<FetchedPage>),
    /// A page of the walk.
    Walk(Box<Walk>, Site, Box<FetchedPage>),
    /// A seed that is a list of URLs.
    List(Box<FetchedPage>),
    /// A sitemap or feed.
    Sitemap(Box<Walk>, Site, Box<FetchedPage>),
    /// A walk that is over: the number of its model.
    NumberModel(Box<Walk>),
    /// Pages to be cleaned again by the model of this number.
    Reclean(Box<Walk>, u64, Vec<StalePage>),
    /// The training pages of a walk that is over, and how its site ends.
    StoreModel(Box<TemplateMatcher>, SiteOutcome),
}

/// What a CPU thread gives back.
pub(super) enum WorkResult {
    /// The learner needs this page. With the last page for the store.
    NeedPage(Box<SiteLearner>, PageUrl, Option<Box<PageWrite>>),
    /// No link gave a page: the learner needs a sitemap. With the last page for the store.
    NeedSitemap(Box<SiteLearner>, Option<Box<PageWrite>>),
    /// The search for a template is over.
    Learned(Box<LearnOutcome>, Option<Box<PageWrite>>),
    /// The key page still fits the stored template.
    Kept(Box<KeptTemplate>, Option<Box<PageWrite>>),
    /// A page of the walk.
    Walked { walk: Box<Walk>, page: Option<Box<PageWrite>>, links: Vec<NewUrl>, refused: Vec<Refusal> },
    /// A page has little text, and it is not known what the site gives for an address that it does not have.
    NeedProbe(Box<Walk>),
    /// A page is to be rendered first.
    NeedsRendering(PageWaiter, Box<FetchedPage>),
    /// A page that looks like none. It is not stored.
    Withheld(PageWaiter, Box<Withheld>),
    /// What a sitemap or feed announced, with the strings of the feeds so far, when pages were modified last, and
    /// how often they are: their fingerprints and milliseconds.
    Announced {
        walk: Box<Walk>,
        links: Vec<NewUrl>,
        refused: Vec<Refusal>,
        strings: Option<Box<StringTemplate>>,
        modified: Vec<(u64, i64)>,
        intervals: Vec<(u64, i64)>,
    },
    /// A page of a crawl for links.
    Seen { walk: Box<Walk>, seen: Box<SeenWrite>, refused: Vec<Refusal> },
    /// A walk that is over, with the number of its model, and the training pages whose text stands by that model.
    ModelNumbered { walk: Box<Walk>, model: u64, confirmed: Vec<ConfirmedPage> },
    /// Pages that were cleaned again by the model of this number, and the place of the last one.
    Recleaned { walk: Box<Walk>, model: u64, after: i64, pages: Vec<RecleanedPage> },
    /// What a list names.
    Listed(Listed),
    /// The training pages for the store.
    ModelStored(Option<Box<StoredTrainingSet>>, SiteOutcome),
    /// The work could not be done: a defect of ours, which must not end the crawl.
    Broken(String),
}

/// Pages above this part of `crawl.memory` are worked on one at a time: while a tree is built, it needs ten times the
/// bytes of its page.
const LARGE_SHARE: usize = 256;

impl Work {
    /// Bytes of its page.
    fn n_bytes(&self) -> usize {
        match self {
            Work::Key { page, .. }
            | Work::Learn(_, Some(page), _)
            | Work::LearnSitemap(_, page)
            | Work::Walk(_, _, page)
            | Work::List(page)
            | Work::Sitemap(_, _, page) => page.response.body.len(),
            _ => 0,
        }
    }
}

/// Does the work. A panic of our own code is caught: the site fails, the crawl goes on.
pub(super) fn run(site: SiteId, work: Work, tools: &Arc<Tools>) -> WorkResult {
    let tools = Arc::clone(tools);
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || step(site, work, &tools)));
    outcome.unwrap_or_else(|panic| {
        let text = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("no message");
        WorkResult::Broken(format!("internal error, please report it: {text}"))
    })
}

fn step(site: SiteId, work: Work, tools: &Tools) -> WorkResult {
    let is_large = work.n_bytes() > tools.settings.crawl.memory / LARGE_SHARE;
    let _alone = is_large.then(|| tools.shared.large.lock());
    match work {
        Work::Key { page, template, taught, is_packed, seeds } => {
            learn::key_page(site, *page, (template, taught), (is_packed, seeds), tools)
        }
        Work::Learn(learner, page, memory) => learn::training_page(site, learner, page, memory, tools),
        Work::LearnSitemap(learner, page) => learn::sitemap(learner, &page, tools),
        Work::Walk(walk, own, page) if tools.settings.crawl.mode == Mode::Links => {
            links::seen(site, walk, &tools.scope.site(own.key()), *page, tools)
        }
        Work::Walk(walk, own, page) => clean::walk_page(site, walk, &own, *page, tools),
        Work::List(page) => WorkResult::Listed(links::listed(&page)),
        Work::Sitemap(walk, own, page) => links::sitemap(walk, &own, &page, tools),
        Work::NumberModel(walk) => reclean::number_model(walk, tools),
        Work::Reclean(walk, model, pages) => reclean::reclean(walk, model, pages, tools),
        Work::StoreModel(matcher, outcome) => {
            WorkResult::ModelStored(matcher.stored_training_set().map(Box::new), outcome)
        }
    }
}
