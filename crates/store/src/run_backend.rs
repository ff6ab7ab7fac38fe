//! The back end of a crawl over a store: what each write and question means in statements.

use std::borrow::Cow;
use std::cell::RefCell;

use dehusk_html::PageUrl;
use rustc_hash::FxHashMap;

use super::sql::params;
use super::{
    Backend, ConfirmedPage, Counted, LearnedWrite, NewVisit, PageWrite, Query, RecleanedPage, Reply, Run, SeenWrite,
    SiteId, StalePages, Store, StoreError, VisitOutcome, Write,
};
use crate::revisit::{Change, UrlOutcome};
use dehusk_settings::{ByHost, Revisit, Settings};

/// A store with the run that a crawl works on.
pub struct RunBackend {
    store: Store,
    run: Run,
    revisit: ByHost<Revisit>,
    /// Intervals of the sites that are worked on.
    revisits: RefCell<FxHashMap<SiteId, Revisit>>,
    /// Row of the newest template of each site that is worked on.
    templates: FxHashMap<SiteId, Option<i64>>,
}

impl RunBackend {
    /// A store in which a run was begun.
    pub fn new(store: Store, run: Run, settings: &Settings) -> RunBackend {
        let revisit = ByHost::new(settings, |settings| settings.revisit);
        RunBackend { store, run, revisit, revisits: RefCell::default(), templates: FxHashMap::default() }
    }

    #[cfg(feature = "postgres")]
    pub(super) fn store(&self) -> &Store {
        &self.store
    }

    /// Forgets what was read in a transaction that was undone.
    #[cfg(feature = "postgres")]
    pub(super) fn forget(&mut self) {
        self.templates.clear();
    }

    /// When the pages of a site are visited again.
    fn revisit(&self, site: SiteId) -> Result<Revisit, StoreError> {
        if self.revisit.is_uniform() {
            return Ok(*self.revisit.usual());
        }
        if let Some(known) = self.revisits.borrow().get(&site) {
            return Ok(*known);
        }
        let sql = "SELECT key_url FROM sites WHERE id = ?1";
        let key: Option<String> = self.store.find(sql, params![site], |row| row.get(0))?;
        let key = key.and_then(|key| PageUrl::parse(&key).ok());
        let revisit = self.revisit.of(key.as_ref().map_or("", PageUrl::host));
        self.revisits.borrow_mut().insert(site, revisit);
        Ok(revisit)
    }

    fn visit(&self, visit: &NewVisit, url: Option<(PageUrl, UrlOutcome)>) -> Result<Vec<Counted>, StoreError> {
        let change = match (visit.site_id, &url) {
            (Some(site), Some((url, outcome))) => {
                let at = visit.sent_at.unwrap_or_else(crate::unix_ms);
                let leads_to = visit.redirect_to.as_deref();
                self.store.end_url(self.run.id, site, (url, *outcome), leads_to, at, &self.revisit(site)?)?
            }
            _ => None,
        };
        let revisited = match (visit.site_id, &url) {
            (Some(site), Some((url, UrlOutcome::Unchanged))) => self.store.revisit_rights(site, url, &visit.rights)?,
            _ => None,
        };
        let visit = &revisited.map_or(Cow::Borrowed(visit), |rights| Cow::Owned(NewVisit { rights, ..visit.clone() }));
        self.store.save_visit(self.run.id, visit, None, change.map(Change::as_str))?;
        Ok(change.into_iter().map(Counted::from).collect())
    }

    fn page(&mut self, write: PageWrite) -> Result<Vec<Counted>, StoreError> {
        let run = self.run.id;
        let PageWrite { site, visit, asked, page, cleaned, links, settles } = write;
        let template = match cleaned {
            Some(_) => self.template_of(site)?,
            None => None,
        };
        let store = &self.store;
        let form = cleaned.as_ref().map(|cleaned| (cleaned, template));
        let has_moved = matches!(asked, Some((_, UrlOutcome::Moved)));
        if let Some((asked, UrlOutcome::Moved | UrlOutcome::MovedForNow)) = &asked {
            store.inherit_text((site, asked), (site, &page.url))?;
        }
        let saved = store.save_page(run, site, &page, form, &self.revisit(site)?)?;
        let moved = match asked {
            Some((asked, outcome)) => {
                let leads_to = Some(page.url.as_str());
                store.end_url(run, site, (&asked, outcome), leads_to, page.fetched_at, &self.revisit(site)?)?
            }
            None => None,
        };
        let without_text = saved.change.filter(|change| matches!(change, Change::Unchanged | Change::Returned));
        let visit = NewVisit { site_id: Some(site), ..visit };
        store.save_visit(run, &visit, Some(saved.page), without_text.map(Change::as_str))?;
        let change = match cleaned {
            Some(cleaned) if !saved.is_cleaned => {
                store.save_cleaned(run, site, template, &cleaned, &self.revisit(site)?)?.flatten()
            }
            Some(_) => saved.change,
            None => None,
        };
        store.save_urls(site, &links)?;
        if settles {
            store.settle_template(run, site)?;
            if has_moved {
                store.save_key_page(site, &page.url)?;
            }
        }
        debug_assert!(visit.outcome == VisitOutcome::Fetched);
        // A page that is back as it was counts as returned, and one that is back with another text as both.
        let change = match change {
            Some(Change::Unchanged) if saved.is_back => Some(Change::Returned),
            change => change,
        };
        let returned = (saved.is_back && change != Some(Change::Returned)).then_some(Change::Returned);
        Ok(change.into_iter().chain(moved).chain(returned).map(Counted::from).collect())
    }

    fn confirmed(&mut self, site: SiteId, model: u64, pages: &[ConfirmedPage]) -> Result<(), StoreError> {
        let template = self.template_of(site)?;
        pages.iter().try_for_each(|page| self.store.save_confirmed(self.run.id, site, template, model, page))
    }

    fn recleaned(&mut self, site: SiteId, pages: &[RecleanedPage]) -> Result<Vec<Counted>, StoreError> {
        let template = self.template_of(site)?;
        let mut counted = Vec::new();
        for page in pages {
            counted.extend(self.store.save_recleaned(self.run.id, site, template, page, &self.revisit(site)?)?);
        }
        Ok(counted)
    }

    /// Row of the newest template of a site.
    fn template_of(&mut self, site: SiteId) -> Result<Option<i64>, StoreError> {
        if let Some(template) = self.templates.get(&site) {
            return Ok(*template);
        }
        let template = self.store.newest_template(site)?;
        self.templates.insert(site, template);
        Ok(template)
    }

    fn seen(&self, write: SeenWrite) -> Result<(), StoreError> {
        let SeenWrite { site, visit, url, links } = write;
        let at = visit.sent_at.unwrap_or_else(crate::unix_ms);
        self.store.end_url(self.run.id, site, (&url, UrlOutcome::Unchanged), None, at, &self.revisit(site)?)?;
        self.store.save_visit(self.run.id, &visit, None, None)?;
        self.store.save_urls(site, &links)
    }

    fn learned(&mut self, write: LearnedWrite) -> Result<Vec<Counted>, StoreError> {
        let (store, run) = (&self.store, self.run.id);
        let LearnedWrite { mut site, found, template, failure, cleaned, links, at } = write;
        let mut changes = Vec::new();
        if let Some((host, key_url)) = found {
            let (renamed, n_moved) = store.rename_site(run, site, &host, &key_url, at)?;
            site = renamed;
            changes.resize(n_moved, Counted::from(Change::Moved));
        }
        let template = match template {
            Some(template) => Some(store.save_template(site, Some(run), at, &template)?),
            None => None,
        };
        self.templates.insert(site, template);
        for page in &cleaned {
            match store.save_cleaned(run, site, template, page, &self.revisit(site)?)? {
                Some(change) => changes.extend(change.map(Counted::from)),
                None => tracing::warn!("{}: cleaned, but not stored as fetched", page.url),
            }
        }
        store.save_urls(site, &links)?;
        store.settle_template(run, site)?;
        if let Some(reason) = failure {
            store.save_failure(site, &reason)?;
        }
        Ok(changes)
    }
}

impl Backend for RunBackend {
    fn run(&self) -> Run {
        self.run
    }

    fn begin(&mut self) -> Result<(), StoreError> {
        self.store.begin_writing()
    }

    fn apply(&mut self, write: Write) -> Result<Vec<Counted>, StoreError> {
        let (store, run) = (&self.store, self.run.id);
        match write {
            Write::Visit(visit, url) => return self.visit(&visit, url),
            Write::Page(page) => return self.page(*page),
            Write::Learned(learned) => return self.learned(*learned),
            Write::Confirmed { site, model, pages } => self.confirmed(site, model, &pages)?,
            Write::Recleaned(site, pages) => return self.recleaned(site, &pages),
            Write::ChangingParts(site, parts) => store.save_changing_parts(run, site, &parts)?,
            Write::Seen(seen) => self.seen(*seen)?,
            Write::Robots { robots, forbids_all } => {
                store.save_robots(&robots)?;
                if let Some(forbids_all) = forbids_all {
                    store.mark_closed(&robots.origin, forbids_all)?;
                }
            }
            Write::ModelUpdated(site, set) => store.save_training_set(site, *set)?,
            Write::Strings { source, at, template } => store.write_strings(&source, at, &template)?,
            Write::TemplateKept(site) => store.settle_template(run, site)?,
            Write::Modified { site, pages, at } => store.mark_modified(site, &pages, at)?,
            Write::Intervals(site, pages) => store.suggest_intervals(site, &pages, &self.revisit(site)?)?,
            Write::Links(site, links) => store.save_urls(site, &links)?,
            Write::Seeds { seeds, place, at } => store.queue_streamed(run, &seeds, place, at)?,
            Write::OpenAgain { site, at } => store.open_again(run, site, at)?,
            Write::Deferred { key, until, reason } => store.save_deferral(&key, until, &reason)?,
            Write::SiteMoved { site, to, key_url, at } => {
                let n_moved = store.end_moved(run, site, to, (&key_url, at))?;
                return Ok(std::iter::repeat_n(Counted::from(Change::Moved), n_moved).collect());
            }
            Write::SiteEnded { site, outcome, limit, at } => {
                self.templates.remove(&site);
                self.revisits.borrow_mut().remove(&site);
                store.end_site(site, &outcome, limit.as_ref(), at)?;
            }
            // Leases are for stores that are shared.
            Write::HostReleased(_) | Write::BackedOff(_) => {}
            Write::RunEnded { outcome, at } => store.end_run(run, at, outcome)?,
        }
        Ok(Vec::new())
    }

    fn query(&mut self, query: Query) -> Result<Reply, StoreError> {
        let store = &self.store;
        Ok(match query {
            Query::NextSites { after, n } => {
                Reply::NextSites(store.next_sites(self.run.id, after, n, self.run.resumed)?)
            }
            Query::SitesOf(urls) => Reply::SitesOf(store.sites_of(self.run.id, &urls)?),
            Query::SeededSite(host) => Reply::SeededSite(store.seeded_site(self.run.id, &host)?),
            Query::NextUrls(site, wanted) => Reply::NextUrls(store.next_urls(self.run.id, site, &wanted)?),
            Query::Snapshot(page) => Reply::Snapshot(store.load_snapshot(page)?),
            Query::KnownUrl(site, url) => Reply::NextUrls(store.find_url(site, &url)?.into_iter().collect()),
            Query::NewestSnapshot(site, url) => {
                let page = store.record(self.run.id, site, &url)?.and_then(|(page, _)| page);
                Reply::Snapshot(page.map(|page| store.load_snapshot(page)).transpose()?.flatten())
            }
            Query::LeaseSites(_) => Reply::LeasedSites { leased: Vec::new(), is_over: true },
            Query::LeaseHost(key) => Reply::LeasedHost(key, None),
            Query::StalePages { site, model, after, n } => {
                let pages = store.stale_pages(self.run.id, site, model, after, n)?;
                let changing = if pages.is_empty() { Vec::new() } else { store.changing_parts(site)? };
                let n_bodies = if pages.is_empty() { store.n_bodies(self.run.id, site)? } else { 0 };
                Reply::StalePages(StalePages { pages, changing, n_bodies })
            }
            Query::CurrentSite(site) => {
                let (now, has_ended) = store.current_site(self.run.id, site)?;
                Reply::CurrentSite(now, has_ended)
            }
        })
    }

    fn commit(&mut self) -> Result<(), StoreError> {
        self.store.batch("COMMIT")
    }

    fn roll_back(&mut self) {
        // Fails only when there is no transaction.
        let _ = self.store.batch("ROLLBACK");
    }

    fn close(&mut self) {
        // Leaves one file, without its log beside it.
        let _ = self.store.batch("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA optimize;");
    }
}
