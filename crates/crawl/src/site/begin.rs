//! How a site begins: with its key page, or, where its template is settled, with the walk.

use std::sync::Arc;

use dehusk_content::TaughtPages;
use dehusk_html::PageUrl;
use dehusk_template::template::Template;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Command, Context, Phase, SiteCrawl, Spent, Walk, WalkTemplate};
use crate::rendering::when;
use crate::request::{Request, RequestKind};
use crate::stats::SiteSummary;
use dehusk_settings::{Mode, Render};
use dehusk_store::reason::{Reason, ReasonCode};
use dehusk_store::seed::SeedKind;
use dehusk_store::validators::Validators;
use dehusk_store::{KnownUrl, SiteOutcome, SiteWork, VisitOutcome};

/// With what a site begins.
enum Start {
    /// Its template is settled for this run, or it is not due: the walk, and how it ends.
    Walk(SiteOutcome),
    /// The crawl follows links only.
    Links,
    /// Its key page.
    KeyPage,
}

impl SiteCrawl {
    /// A site that the store has given, and its first commands. `recalled` are origins whose rules are known already.
    pub(crate) fn begin(mut work: SiteWork, recalled: Vec<String>, cx: &Context<'_>) -> (SiteCrawl, Vec<Command>) {
        let taught = work.template.as_ref().map_or_else(TaughtPages::default, Template::taught);
        let has_no_template = work.template.is_none();
        let template = lasting_template(&mut work, cx);
        let known = with_archive(work.key.take().unwrap_or_else(|| KnownUrl::new(work.key_url.clone())), cx);
        let start = plan(&work, template.as_deref(), &known, cx);
        let walks_without = has_no_template && known.snapshot_at.is_some();
        let mut site = SiteCrawl { taught, walks_without, ..SiteCrawl::new(work, recalled, cx) };
        let mut out = Vec::new();
        match start {
            Start::Walk(outcome) => {
                // Links are named as the key page is that the template was learned from.
                let key = template.as_ref().and_then(|template| PageUrl::parse(&template.key_url).ok());
                site.site = Some(cx.tools.scope.site(key.as_ref().unwrap_or(&site.seed)));
                let feeds = template.as_ref().map_or_else(Vec::new, |template| SiteCrawl::feeds_of(template, cx));
                if let Some(template) = &template {
                    site.summary.set_template(template);
                }
                let mut walk = Walk::new(outcome, template.map_or(WalkTemplate::None, WalkTemplate::Stored));
                walk.announce(feeds);
                walk.announce(site.sitemaps(cx));
                site.walk(Box::new(walk), cx, &mut out);
            }
            Start::Links => {
                let mut walk = Walk::new(SiteOutcome::Walked, WalkTemplate::None);
                if !is_over(&known, cx) {
                    walk.window.push_back(KnownUrl {
                        next_due: known.next_due,
                        is_seed: true,
                        ..KnownUrl::new(site.seed.clone())
                    });
                }
                site.site = Some(cx.tools.scope.site(&site.seed));
                // What was requested before a restart is known to the frontier.
                site.past.clear();
                site.walk(Box::new(walk), cx, &mut out);
            }
            Start::KeyPage => {
                let kind = RequestKind::Page { site: site.id };
                let request = match template {
                    // Unchanged is an answer only where there is a template to keep.
                    Some(_) => Request::conditional(kind, KnownUrl { depth: 0, is_seed: true, ..known }),
                    None => Request::seed(site.seed.clone(), site.id),
                };
                site.request_page(Phase::KeyPage(template), request, cx, &mut out);
            }
        }
        (site, out)
    }

    fn new(work: SiteWork, origins: Vec<String>, cx: &Context<'_>) -> SiteCrawl {
        let fetched = work.past.iter().filter(|visit| visit.outcome == VisitOutcome::Fetched);
        let fetched: FxHashSet<u64> = fetched.map(|visit| cx.tools.scope.strip(&visit.url).fingerprint()).collect();
        let n_unchanged = work.past.iter().filter(|visit| visit.outcome == VisitOutcome::NotModified).count();
        let past: FxHashMap<_, _> = work.past.into_iter().map(|visit| (visit.url.to_string(), visit)).collect();
        SiteCrawl {
            id: work.id,
            seed: work.key_url,
            phase: Phase::Computing,
            site: None,
            seeds: work.seeds.into(),
            n_key_failures: 0,
            walks_without: false,
            taught: TaughtPages::default(),
            seed_kind: work.seed_kind,
            may_be_http: work.seed_kind == SeedKind::Host,
            n_lists: 0,
            begins_with_list: false,
            held: None,
            spent: Spent { since: cx.now, ..Spent::default() },
            fetched,
            is_rendered: work.is_rendered,
            needs_foreign: false,
            n_unchanged,
            n_revisited: 0,
            not_modified: FxHashSet::default(),
            n_requests: 0,
            origins,
            past,
            replayed: None,
            memory: 0,
            memory_to_release: 0,
            training_bytes: 0,
            summary: SiteSummary::new(&work.host),
        }
    }
}

/// The stored template, unless the site is to be learned again.
fn lasting_template(work: &mut SiteWork, cx: &Context<'_>) -> Option<Arc<Template>> {
    let settings = &cx.tools.settings;
    let mut template = work.template.take()?;
    let set = template.training_set.as_ref();
    let blocks_at_once = settings.core.learn.site_model.blocks_at_once;
    // Main content is chosen by blocks, which a crawl with `clean.keep = "own"` does not compute.
    let lacks_blocks = blocks_at_once && set.is_some_and(|set| !set.without_blocks().is_empty());
    let is_doubtful = settings.template.relearn || template.is_provisional() || lacks_blocks;
    if is_doubtful && !work.template_is_settled {
        return None;
    }
    template.learn.site_model.blocks_at_once = blocks_at_once;
    Some(Arc::new(template))
}

fn plan(work: &SiteWork, template: Option<&Template>, known: &KnownUrl, cx: &Context<'_>) -> Start {
    // What this run did with the key page is not over until its template is settled.
    let was_requested = work.past.iter().any(|visit| visit.url == work.key_url);
    let is_due = cx.tools.settings.revisit.all || was_requested || !is_over(known, cx);
    match (work.template_is_settled, template) {
        (true, None) => {
            let unknown = || Reason::new(ReasonCode::Other, "no template was found before the restart");
            Start::Walk(SiteOutcome::NoTemplate(work.failure.clone().unwrap_or_else(unknown)))
        }
        (true, Some(_)) if work.template_is_new => Start::Walk(SiteOutcome::Learned),
        (true, Some(_)) => Start::Walk(SiteOutcome::Kept),
        (false, Some(_)) if !is_due => Start::Walk(SiteOutcome::NotDue),
        (false, _) if cx.tools.settings.crawl.mode == Mode::Links => Start::Links,
        (false, _) => Start::KeyPage,
    }
}

/// Whether the key page was seen and is not due yet.
fn is_over(known: &KnownUrl, cx: &Context<'_>) -> bool {
    let was_seen = known.snapshot_at.is_some() || cx.tools.settings.crawl.mode == Mode::Links;
    was_seen && known.next_due.is_some_and(|due| due > cx.now)
}

/// Drops the validators unless the archive that is written holds the last copy: a 304 becomes a `revisit` record and
/// needs its target there. Where every page is rendered, they say nothing: scripts may read something else.
pub(super) fn with_archive(known: KnownUrl, cx: &Context<'_>) -> KnownUrl {
    if when(&cx.tools.settings) == Render::Always {
        return KnownUrl { validators: Validators::default(), ..known };
    }
    match &cx.tools.warc {
        Some(dir) if known.warc.as_ref() != Some(dir) => KnownUrl { validators: Validators::default(), ..known },
        _ => known,
    }
}
