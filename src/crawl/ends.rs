//! A site from its first request to its template, and its end: what follows from the work of CPU threads.

use std::sync::Arc;

use super::event::{Event, Kind, Request};
use super::scheduler::{End, Scheduler};
use super::site::{Phase, TemplateSize, Walk};
use super::stats::Progress;
use super::work::{Advance, Harvest, Kept, Work, advance};
use crate::scope::Refusal;
use crate::settings::Mode;
use crate::store::{Job, KnownUrl, SiteId, SiteOutcome, SiteWork, WriterError};
use crate::validators::Validators;
use dehusk_core::internals::clean::TemplateMatcher;
use dehusk_core::internals::page_url::PageUrl;
use dehusk_core::internals::template::Template;

impl Scheduler<'_> {
    /// Begins with a site that the store has given: its key page, or, where its template is settled, the walk.
    pub(super) async fn begin_site(&mut self, mut work: SiteWork) -> Result<(), WriterError> {
        let id = work.id;
        let Ok(seed) = PageUrl::parse(&work.key_url) else {
            // Only a hand in the database can have written that.
            let end = SiteOutcome::Failed(format!("{}: no URL", work.key_url));
            self.stats.count_end(&end);
            return self.writer.send(Job::SiteEnded(id, end, self.clock.unix_ms())).await;
        };
        if self.sites.contains_key(&id) || self.found.contains(&id) {
            // A redirect has led here before its turn came.
            return Ok(());
        }
        let recalled = self.recall_robots(&work);
        let relearns = self.tools.settings.template.relearn && !work.template_is_settled;
        let settled = work.template_is_settled;
        let lasts = |template: &Template| settled || (!relearns && !template.is_provisional());
        let template = work.template.take().filter(lasts).map(Arc::new);
        let known = self.with_archive(work.key.take().unwrap_or_default());
        let mut state = self.begin(&work, seed.clone(), Phase::Key(template.clone()));
        state.origins = recalled;
        let fetched = work.past.iter().filter(|visit| visit.outcome == "fetched");
        state.fetched = fetched.filter_map(|visit| Some(PageUrl::parse(&visit.url).ok()?.fingerprint())).collect();
        state.n_unchanged = work.past.iter().filter(|visit| visit.outcome == "not_modified").count();
        // What this run did with the key page is not over until its template is settled.
        let was_asked = work.past.iter().any(|visit| visit.url == seed.as_str());
        state.past = work.past.into_iter().map(|visit| (visit.url.clone(), visit)).collect();
        let was_seen = known.snapshot_at.is_some() || self.tools.settings.crawl.mode == Mode::Links;
        let is_over = was_seen && known.next_due.is_some_and(|due| due > self.clock.unix_ms());
        let is_due = self.tools.settings.revisit.all || was_asked || !is_over;
        if work.template_is_settled || (template.is_some() && !is_due) {
            let end = match (work.template_is_settled, &template) {
                (true, None) => SiteOutcome::Failed("no template was found before the restart".to_owned()),
                (true, Some(_)) if work.template_is_new => SiteOutcome::Learned,
                (true, Some(_)) => SiteOutcome::Kept,
                (false, _) => SiteOutcome::NotDue,
            };
            // Links are named as the key page is that the template was learned from.
            let key = template.as_ref().and_then(|template| PageUrl::parse(&template.key_url).ok());
            state.site = Some(self.tools.scope.site(key.as_ref().unwrap_or(&seed)));
            let mut walk =
                Walk::new(end, template.as_deref().map(|template| Box::new(TemplateMatcher::from_template(template))));
            self.add_sitemaps(&mut walk, &state.origins);
            self.sites.insert(id, state);
            return self.walk(id, Box::new(walk)).await;
        }
        if self.tools.settings.crawl.mode == Mode::Links {
            let mut walk = Walk::new(SiteOutcome::Walked, None);
            walk.window.push_back(KnownUrl { url: seed.to_string(), next_due: known.next_due, ..KnownUrl::default() });
            state.site = Some(self.tools.scope.site(&seed));
            // What was asked for before a restart is in the frontier as known.
            state.past.clear();
            if is_over {
                walk.window.clear();
            }
            self.sites.insert(id, state);
            return self.walk(id, Box::new(walk)).await;
        }
        self.sites.insert(id, state);
        let request = match template {
            // Unchanged is an answer only where there is a template to keep.
            Some(_) => Request::of_known(seed, Kind::Page { site: id }, &known),
            None => Request::new(seed, Kind::Page { site: id }),
        };
        self.request_page(id, request).await
    }

    /// What is known of a page, for a conditional request: nothing where the archive that is written has no copy that
    /// a 304 could refer to.
    pub(super) fn with_archive(&self, known: KnownUrl) -> KnownUrl {
        match &self.tools.warc {
            Some(dir) if known.warc.as_ref() != Some(dir) => KnownUrl { validators: Validators::default(), ..known },
            _ => known,
        }
    }

    /// Hands work on a site to a CPU thread.
    pub(super) fn compute(&mut self, site: SiteId, work: Work) {
        self.n_out += 1;
        let (events, tools) = (self.events.clone(), Arc::clone(&self.tools));
        self.pool.spawn(move || {
            let advance = advance(site, work, &tools);
            let _ = events.blocking_send(Event::Advanced { site, advance });
        });
    }

    pub(super) async fn advanced(&mut self, site: SiteId, advance: Advance) -> Result<(), WriterError> {
        match advance {
            Advance::Ask(learner, url, page) => {
                if let Some(page) = page {
                    self.writer.send(Job::Page(page)).await?;
                }
                if self.stopping {
                    return self.end_site(site, SiteOutcome::Interrupted).await;
                }
                if let Some(state) = self.sites.get_mut(&site) {
                    let left = std::mem::take(&mut state.leaving);
                    state.held = state.held.saturating_sub(left);
                    self.held = self.held.saturating_sub(left);
                    state.site.get_or_insert_with(|| learner.learner.site().clone());
                    state.phase = Phase::Learning(learner);
                }
                let request = Request { depth: 1, ..Request::new(url, Kind::Page { site }) };
                self.request_page(site, request).await
            }
            Advance::Done(harvest, page) => {
                if let Some(page) = page {
                    self.writer.send(Job::Page(page)).await?;
                }
                self.learned(site, *harvest).await
            }
            Advance::Kept(kept, page) => {
                if let Some(page) = page {
                    self.writer.send(Job::Page(page)).await?;
                }
                self.kept(site, *kept).await
            }
            Advance::Walked(mut walk, page, links, refused) => {
                self.count_refused(&refused);
                let mut found = page.as_ref().is_some_and(|page| !page.links.is_empty());
                let by_template = page.as_ref().and_then(|page| page.cleaned.as_ref()).is_some_and(|c| c.by_template);
                if let Some(page) = page {
                    self.writer.send(Job::Page(page)).await?;
                }
                if !links.is_empty() {
                    self.writer.send(Job::Links(site, links)).await?;
                    found = true;
                }
                if found {
                    // What is nearer than the window goes first: the order must not depend on where a run was broken.
                    walk.window.clear();
                }
                self.forget_bytes(site);
                if let Some(state) = self.sites.get_mut(&site) {
                    state.summary.cleaned += usize::from(by_template);
                }
                self.walk(site, walk).await
            }
            Advance::Seen(mut walk, job, refused) => {
                self.count_refused(&refused);
                if !job.links.is_empty() {
                    walk.window.clear();
                }
                self.writer.send(Job::Seen(job)).await?;
                self.forget_bytes(site);
                self.walk(site, walk).await
            }
            Advance::Broken(reason) => self.end_site(site, SiteOutcome::Failed(reason)).await,
        }
    }

    /// The search for a template is over; what it gave is written, then the walk begins.
    async fn learned(&mut self, site: SiteId, harvest: Harvest) -> Result<(), WriterError> {
        self.count_refused(&harvest.refused);
        self.forget_bytes(site);
        let end = match (&harvest.template, harvest.n_links) {
            (Some(_), _) => SiteOutcome::Learned,
            (None, 0) if harvest.nofollow => {
                SiteOutcome::Failed("the key page wants none of its links followed (nofollow)".to_owned())
            }
            (None, 0) => SiteOutcome::Failed("the key page has no links to pages of its site".to_owned()),
            (None, n) => {
                SiteOutcome::Failed(format!("none of {n} links gave a page that shares anything with the key page"))
            }
        };
        let at = self.clock.unix_ms();
        let Some(state) = self.sites.get_mut(&site) else { return Ok(()) };
        let summary = &mut state.summary;
        (summary.links, summary.loads) = (harvest.n_links, harvest.loads);
        summary.cleaned = harvest.cleaned.iter().filter(|page| page.by_template).count();
        if let Some(template) = &harvest.template {
            TemplateSize::of(template).tell(summary);
            summary.old_template_coverage = harvest.old_template_coverage;
        }
        let found = (harvest.key_url != state.seed.as_str()).then(|| (harvest.host.clone(), harvest.key_url.clone()));
        state.site = Some(harvest.site);
        state.summary.host = harvest.host;
        let applier = harvest.template.as_ref().map(|template| Box::new(TemplateMatcher::from_template(template)));
        let mut walk = Walk::new(end, applier);
        walk.announced = harvest.feeds.into();
        state.phase = Phase::Walking(Box::new(walk));
        let (template, cleaned, links) = (harvest.template.map(Box::new), harvest.cleaned, harvest.links);
        self.ask(
            |reply| Job::Learned { site, found, template, cleaned, links, at, reply },
            move |now| Event::Settled { before: site, site: now },
        )
        .await
    }

    /// The template is written. A redirect may have led to a site that is known under another number.
    pub(super) async fn settled(&mut self, before: SiteId, site: SiteId) -> Result<(), WriterError> {
        let Some(mut state) = self.sites.remove(&before) else { return Ok(()) };
        if before != site {
            self.found.insert(site);
            self.waiting.retain(|waiting| waiting.id != site);
        }
        if before != site && self.sites.contains_key(&site) {
            // That site is being worked on under its own name; one walk through it is enough.
            state.summary.outcome = "moved";
            let Phase::Walking(walk) = state.take_phase() else { return Ok(()) };
            self.sites.insert(before, state);
            return self.end_site_as(before, walk.end, false).await;
        }
        state.id = site;
        let phase = state.take_phase();
        let Phase::Walking(mut walk) = phase else { return Ok(()) };
        self.add_sitemaps(&mut walk, &state.origins);
        self.sites.insert(site, state);
        self.walk(site, walk).await
    }

    async fn kept(&mut self, site: SiteId, kept: Kept) -> Result<(), WriterError> {
        self.count_refused(&kept.refused);
        self.forget_bytes(site);
        let Some(state) = self.sites.get_mut(&site) else { return Ok(()) };
        state.site = Some(kept.site);
        state.summary.cleaned += 1;
        kept.template.tell(&mut state.summary);
        let origins = state.origins.clone();
        let mut walk = Box::new(Walk::new(SiteOutcome::Kept, Some(kept.applier)));
        walk.is_updated = kept.is_updated;
        walk.announced = kept.feeds.into();
        self.add_sitemaps(&mut walk, &origins);
        self.walk(site, walk).await
    }

    /// Notes that a stored template holds for this run.
    pub(super) fn keep(&mut self, site: SiteId, template: &Template) -> Box<Walk> {
        if let Some(state) = self.sites.get_mut(&site) {
            TemplateSize::of(template).tell(&mut state.summary);
        }
        Box::new(Walk::new(SiteOutcome::Kept, Some(Box::new(TemplateMatcher::from_template(template)))))
    }

    pub(super) fn add_sitemaps(&self, walk: &mut Walk, origins: &[String]) {
        let crawl = &self.tools.settings.crawl;
        if crawl.pages_per_site == 0 {
            walk.announced.clear();
            return;
        }
        if crawl.sitemaps {
            let lines = origins.iter().flat_map(|origin| {
                let base = PageUrl::parse(&format!("{origin}/")).ok();
                self.origins.sitemaps(origin).iter().filter_map(move |line| base.as_ref()?.join(line))
            });
            let lines: Vec<PageUrl> = lines.take(100).collect();
            walk.announced.extend(lines);
        }
        let seen = &mut walk.seen;
        walk.announced.retain(|url| seen.insert(url.fingerprint()));
    }

    pub(super) fn count_refused(&mut self, refused: &[Refusal]) {
        for refusal in refused {
            *self.stats.refused.entry(refusal.name()).or_default() += 1;
        }
    }

    pub(super) fn forget_bytes(&mut self, site: SiteId) {
        if let Some(state) = self.sites.get_mut(&site) {
            self.held = self.held.saturating_sub(std::mem::take(&mut state.held));
        }
    }

    pub(super) async fn end_site(&mut self, site: SiteId, end: SiteOutcome) -> Result<(), WriterError> {
        self.end_site_as(site, end, true).await
    }

    async fn end_site_as(&mut self, site: SiteId, end: SiteOutcome, is_written: bool) -> Result<(), WriterError> {
        self.forget_bytes(site);
        let Some(state) = self.sites.remove(&site) else { return Ok(()) };
        if let Phase::Walking(walk) = &state.phase
            && walk.is_updated
            && let Some(set) = walk.template.as_ref().and_then(|matcher| matcher.stored_training_set())
        {
            self.writer.send(Job::ModelUpdated(site, Box::new(set))).await?;
        }
        for origin in &state.origins {
            // Sites of one host name can share an origin through redirects.
            if !self.sites.values().any(|other| other.origins.contains(origin)) {
                self.origins.forget(origin);
            }
        }
        let mut summary = state.summary;
        summary.end(&end, state.begun.elapsed());
        (summary.pages, summary.requests) = (state.fetched.len(), state.n_requests);
        self.stats.count_end(&end);
        self.stats.redesigned +=
            usize::from(matches!(end, SiteOutcome::Learned) && summary.old_template_coverage.is_some());
        if is_written {
            self.writer.send(Job::SiteEnded(site, end, self.clock.unix_ms())).await?;
        }
        (self.watch)(Progress::Site(&summary, &self.stats));
        Ok(())
    }

    pub(super) async fn abandon(&mut self, requests: Vec<Request>) -> Result<(), WriterError> {
        for site in requests.iter().filter_map(|request| request.kind.site()) {
            self.end_site(site, SiteOutcome::Interrupted).await?;
        }
        Ok(())
    }

    /// Asks for a page of a site, unless a restart has found that it was fetched in this run already.
    pub(super) async fn request_page(&mut self, site: SiteId, request: Request) -> Result<(), WriterError> {
        match self.recalled(Some(site), &request.url) {
            Some(past) => self.replay(request, past).await,
            None => {
                self.push(request, End::Back);
                Ok(())
            }
        }
    }
}
