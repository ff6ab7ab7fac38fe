//! One site on its way, and the work on it that CPU threads do.

use std::sync::Arc;
use std::time::Instant;

use crate::clean::{Applied, Applier};
use crate::dom::parse_bytes;
use crate::fetch::Response;
use crate::learner::{Learned, Learner, Page};
use crate::page::{PageUrl, Site};
use crate::settings::Settings;
use crate::store::Cleaned;
use crate::subdigraph::Step;
use crate::template::Template;

/// A site that is worked on.
pub(super) struct SiteState {
    pub(super) seed: PageUrl,
    pub(super) begun: Instant,
    /// `None` before the key page, and while a CPU thread has it.
    pub(super) learner: Option<Box<Learner>>,
    /// Known with the key page.
    pub(super) site: Option<Site>,
    pub(super) n_pages: usize,
    pub(super) n_requests: usize,
    /// Origins whose rules can be forgotten with the site.
    pub(super) origins: Vec<String>,
}

impl SiteState {
    pub(super) fn new(seed: PageUrl, begun: Instant) -> SiteState {
        SiteState { seed, begun, learner: None, site: None, n_pages: 0, n_requests: 0, origins: Vec::new() }
    }
}

/// What a CPU thread gives back.
pub(super) enum Advance {
    /// The learner asks for this page.
    Ask(Box<Learner>, PageUrl),
    /// The site is done.
    Done(Box<Harvest>),
    /// The work could not be done: a defect of ours, which must not end the crawl.
    Broken(String),
}

/// What came of a site.
pub(super) struct Harvest {
    pub(super) host: String,
    pub(super) key_url: String,
    pub(super) template: Option<Template>,
    pub(super) cleaned: Vec<Cleaned>,
    pub(super) n_links: usize,
    pub(super) loads: usize,
}

/// What a CPU thread is given.
pub(super) enum Work {
    /// The key page; the learner is made.
    Key(Response),
    /// An answer for the learner.
    Tell(Box<Learner>, Option<Response>),
}

/// Parses what came, asks the learner for its next step, and learns when there is none. Panics of our own code are
/// caught: the site fails, the crawl goes on.
pub(super) fn advance(work: Work, settings: &Arc<Settings>) -> Advance {
    let settings = Arc::clone(settings);
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || step(work, &settings)));
    outcome.unwrap_or_else(|panic| {
        let text = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("no message");
        Advance::Broken(format!("internal error, please report it: {text}"))
    })
}

fn step(work: Work, settings: &Settings) -> Advance {
    let mut learner = match work {
        Work::Key(response) => {
            let key = page(response, settings);
            let site = Site::of(&key.url, settings.learn.same_site);
            Box::new(Learner::new(key, site, &settings.learn))
        }
        Work::Tell(mut learner, response) => {
            learner.tell(response.map(|response| page(response, settings)));
            learner
        }
    };
    match learner.next_step() {
        Step::Fetch(url) => Advance::Ask(learner, url),
        Step::Done(found) => Advance::Done(Box::new(harvest(learner.finish(found)))),
    }
}

fn page(response: Response, settings: &Settings) -> Page {
    let (tree, _) = parse_bytes(&response.body, response.content_type.as_deref(), &settings.page);
    Page::new(response.url, tree)
}

/// Cleans every page of the site with what was learned.
fn harvest(learned: Learned) -> Harvest {
    let applier = learned.template.as_ref().map(Applier::new);
    let mut cleaned = vec![clean(&learned.key, Some(learned.key_applied()), applier.as_ref())];
    cleaned.extend(learned.pages.iter().map(|page| clean(page, None, applier.as_ref())));
    Harvest {
        host: learned.key.url.authority(),
        key_url: learned.key.fetched.to_string(),
        template: learned.template,
        cleaned,
        n_links: learned.n_links,
        loads: learned.found.loads,
    }
}

/// A page that shows too little of the template is kept whole: another kind of page, or another layout.
fn clean(page: &Page, known: Option<Applied>, applier: Option<&Applier>) -> Cleaned {
    let applied = match (known, applier) {
        (Some(applied), Some(_)) => Some(applied),
        (_, applier) => applier.map(|applier| applier.apply(&page.tree)),
    };
    let confidence = applied.as_ref().map_or(0.0, |a| a.confidence);
    let fits = applied.filter(|a| applier.is_some_and(|applier| a.confidence >= applier.apply_min()));
    let by_template = fits.is_some();
    let applied = fits.unwrap_or_else(|| Applied::nothing(&page.tree));
    Cleaned {
        url: page.fetched.to_string(),
        html: applied.html(&page.tree),
        method: if by_template { "etdm" } else { "plain" },
        by_template,
        confidence,
    }
}
