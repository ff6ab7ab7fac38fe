//! What the scheduler has others do: requests, look-ups, CPU work, questions to the store. Each gives one event.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dehusk_core::rights::{Rights, Use, page_statements};
use dehusk_html::{PageUrl, ParseOptions, parse_bytes};
use dehusk_settings::PolitenessScope;
use dehusk_store::{Reply, SiteId, StoredRobots, WriterError};
use tokio::sync::mpsc;

use super::Clock;
use super::archive::Archive;
use super::event::{Answer, Event};
#[cfg(feature = "render")]
use super::rendering::Renderer;
use super::request::{QueueEnd, Request, RequestKind};
use super::workers::{self, FetchedPage, Tools};
use crate::fetch::{FetchRequest, Fetched, Fetcher, Resolver, Response};
use crate::politeness::{PolitenessKey, Times};
use crate::robots::{Robots, RobotsAnswer};

/// Events that may wait for the scheduler.
const EVENTS: usize = 1024;

/// Bytes of a robots.txt file above which it is read on a thread of its own: it would hold up other requests. A thread
/// for each small file would be hundreds of threads where a crawl begins.
const LARGE_ROBOTS: usize = 16 << 10;

/// The jobs that are out.
pub(super) struct Jobs {
    /// What pages are for.
    purpose: Option<Use>,
    agents: Arc<[String]>,
    fetcher: Fetcher,
    archive: Option<Arc<Archive>>,
    pool: rayon::ThreadPool,
    clock: Clock,
    events: mpsc::Sender<Event>,
    inbox: mpsc::Receiver<Event>,
    /// Jobs whose event has not come yet.
    n_out: usize,
    #[cfg(feature = "render")]
    renderer: Option<Renderer>,
}

impl Jobs {
    pub(super) fn new(
        agents: Arc<[String]>,
        fetcher: Fetcher,
        archive: Option<Arc<Archive>>,
        pool: rayon::ThreadPool,
        clock: Clock,
        purpose: Option<Use>,
        #[cfg(feature = "render")] renderer: Option<Renderer>,
    ) -> Jobs {
        let (events, inbox) = mpsc::channel(EVENTS);
        Jobs {
            agents,
            purpose,
            fetcher,
            archive,
            pool,
            clock,
            events,
            inbox,
            n_out: 0,
            #[cfg(feature = "render")]
            renderer,
        }
    }

    /// Whether requests to this host carry something that is for its own pages only.
    pub(super) fn is_known_to(&self, url: &PageUrl) -> bool {
        self.fetcher.is_known_to(url)
    }

    /// Renders a page of a site. `is_open`: hosts outside of the site are known to be needed.
    #[cfg(feature = "render")]
    pub(super) fn render(&mut self, site: SiteId, page: Box<FetchedPage>, is_open: bool, tools: Arc<Tools>) {
        self.n_out += 1;
        let (events, asking) = (self.events.clone(), self.events.clone());
        let (renderer, fetcher) = (self.renderer.clone(), self.fetcher.clone());
        tokio::spawn(async move {
            let response = page.response.clone();
            // In a task of its own: a panic in it must not swallow the event that the site waits for.
            let inner = tokio::spawn(async move {
                let Some(renderer) = renderer else { return Err("no browser was started".to_owned()) };
                let rendered = renderer.render(site, &response, is_open, &tools.settings, asking);
                let rendered = fetcher.unless_stopped(rendered).await;
                rendered.unwrap_or_else(|| Err("the crawl was stopped".to_owned()))
            });
            let rendered = inner.await.unwrap_or_else(|_| Err("internal error, please report it".to_owned()));
            let _ = events.send(Event::Rendered { site, page, rendered: rendered.map(Box::new) }).await;
        });
    }

    /// The same where there is no browser: no page is given to it.
    #[cfg(not(feature = "render"))]
    pub(super) fn render(&mut self, site: SiteId, page: Box<FetchedPage>, _is_open: bool, _tools: Arc<Tools>) {
        self.n_out += 1;
        let rendered = Err("this program was built without rendering".to_owned());
        let (events, event) = (self.events.clone(), Event::Rendered { site, page, rendered });
        tokio::spawn(async move { events.send(event).await.is_ok() });
    }

    /// Jobs whose event has not come yet.
    pub(super) fn n_out(&self) -> usize {
        self.n_out
    }

    /// The next event.
    pub(super) async fn next(&mut self) -> Option<Event> {
        let event = self.inbox.recv().await;
        self.n_out -= usize::from(event.as_ref().is_some_and(Event::ends_job));
        event
    }

    /// The next event, if it is there.
    pub(super) fn try_next(&mut self) -> Option<Event> {
        let event = self.inbox.try_recv().ok();
        self.n_out -= usize::from(event.as_ref().is_some_and(Event::ends_job));
        event
    }

    /// No request is sent from now on.
    pub(super) fn stop_sending(&self) {
        self.fetcher.stop();
    }

    /// Sends a request. `expired` is the stored robots.txt that it is conditional on.
    pub(super) fn send(&mut self, key: PolitenessKey, request: Request, expired: Option<Arc<StoredRobots>>) {
        self.n_out += 1;
        let (fetcher, events, archive) = (self.fetcher.clone(), self.events.clone(), self.archive.clone());
        let resource = request.resource();
        let is_robots = matches!(request.kind, RequestKind::Robots { .. });
        let purpose = self.purpose.filter(|_| matches!(request.kind, RequestKind::Page { .. }));
        let (agents, clock) = (Arc::clone(&self.agents), self.clock);
        tokio::spawn(async move {
            let sent = Instant::now();
            let wanted = FetchRequest {
                url: request.url.clone(),
                resource,
                known: request.known.clone(),
                headers: request.kind.headers().to_vec(),
            };
            let asked = request.clone();
            // In a task of its own: a panic in it must not swallow the event that everyone waits for.
            let inner = tokio::spawn(async move {
                let mut fetched = fetcher.fetch(&wanted).await;
                let mut may_be_kept = true;
                if let Some(purpose) = purpose.filter(|_| archive.is_some()) {
                    (may_be_kept, fetched) = may_keep(fetched, purpose, Arc::clone(&agents)).await;
                }
                if let Some(archive) = archive.filter(|_| may_be_kept) {
                    // Written before anyone knows about it, so that no page is in the database and not in the archive.
                    fetched = archive.keep(&asked, fetched, clock).await;
                }
                if !is_robots {
                    return (fetched, None);
                }
                let is_large = fetched.outcome.as_ref().is_ok_and(|response| response.body.len() > LARGE_ROBOTS);
                let read = move || (read_robots(&fetched, expired.as_deref(), &agents), fetched);
                let (robots, fetched) = if is_large {
                    match tokio::task::spawn_blocking(read).await {
                        Ok(read) => read,
                        Err(panic) => std::panic::resume_unwind(panic.into_panic()),
                    }
                } else {
                    read()
                };
                (fetched, Some(robots))
            });
            // The request may have been sent: its host waits for the next one.
            let broken = || Fetched::broken(&request.url, Times { sent, answered: None, ended: Instant::now() });
            let (fetched, robots) = inner.await.unwrap_or_else(|_| (broken(), None));
            let _ = events.send(Event::Fetched(Box::new(Answer { key, request, fetched, robots }))).await;
        });
    }

    /// Looks up the address that is the politeness key of a request.
    pub(super) fn look_up_key(&mut self, request: Request, end: QueueEnd, scope: PolitenessScope) {
        self.n_out += 1;
        let (resolver, events) = (self.fetcher.resolver().clone(), self.events.clone());
        tokio::spawn(async move {
            let url = request.url.clone();
            let inner = tokio::spawn(async move { resolve_key(&resolver, &url, scope).await });
            let key = inner.await.unwrap_or_else(|_| PolitenessKey::new(&request.url, scope, None));
            let _ = events.send(Event::Keyed { key, request: Box::new(request), end }).await;
        });
    }

    /// Works for a site on a CPU thread.
    pub(super) fn compute(&mut self, site: SiteId, work: workers::Work, tools: Arc<Tools>) {
        self.n_out += 1;
        let events = self.events.clone();
        self.pool.spawn(move || {
            let result = workers::run(site, work, &tools);
            let _ = events.blocking_send(Event::Computed { site, result });
        });
    }

    /// Waits for an answer of the store, to a site or to the scheduler.
    pub(super) fn await_reply(
        &mut self,
        site: Option<SiteId>,
        answer: impl Future<Output = Result<Reply, WriterError>> + Send + 'static,
    ) {
        self.n_out += 1;
        let events = self.events.clone();
        tokio::spawn(async move {
            let event = answer.await.map_or(Event::WriterGone, |reply| Event::Replied { site, reply });
            let _ = events.send(event).await;
        });
    }

    /// Gives an event after a pause.
    pub(super) fn wake(&mut self, pause: Duration, event: Event) {
        self.n_out += 1;
        let events = self.events.clone();
        tokio::spawn(async move {
            tokio::time::sleep(pause).await;
            let _ = events.send(event).await;
        });
    }
}

/// The politeness key of a URL; with the scope `Ip` its host is looked up.
pub(super) async fn resolve_key(resolver: &Resolver, url: &PageUrl, scope: PolitenessScope) -> PolitenessKey {
    if scope != PolitenessScope::Ip || url.ip_literal().is_some() {
        return PolitenessKey::new(url, scope, None);
    }
    // A name without an address fails when it is fetched, with a reason.
    let found = resolver.resolve(url.host()).await.ok();
    PolitenessKey::new(url, scope, found.and_then(|addresses| addresses.first().map(SocketAddr::ip)))
}

/// The rules that follow from an answer. `expired` is the file that the request was conditional on.
fn read_robots(fetched: &Fetched, expired: Option<&StoredRobots>, agents: &[String]) -> Robots {
    match (&fetched.outcome, expired) {
        (Ok(Response { status: 304, .. }), Some(expired)) => Robots::parse(&expired.body, agents),
        (Ok(response), _) => Robots::new(RobotsAnswer::Status(response.status, &response.body), agents),
        (Err(error), _) => Robots::new(RobotsAnswer::Unreachable(error.code(), &error.reason()), agents),
    }
}

/// Whether a page may be archived: not where it says itself, or its headers say, that its owner denies what it is for.
async fn may_keep(fetched: Fetched, purpose: Use, agents: Arc<[String]>) -> (bool, Fetched) {
    let look = move || (!is_denied(&fetched, purpose, &agents), fetched);
    let looked = tokio::task::spawn_blocking(look).await;
    looked.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))
}

fn is_denied(fetched: &Fetched, purpose: Use, agents: &[String]) -> bool {
    let Ok(response) = &fetched.outcome else { return false };
    let (tree, _) = parse_bytes(&response.body, response.content_type.as_deref(), &ParseOptions::default());
    Rights::new(page_statements(&response.rights, &tree, agents)).denial(purpose).is_some()
}
