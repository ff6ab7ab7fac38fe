//! The browser of a crawl: pages in, trees out. What scripts ask for goes to the scheduler.

use std::sync::Arc;

use dehusk_browser::{Answer, Browser, BrowserOptions, Document, Gate, Limits, Origins, RenderError, Wanted as Asked};
use dehusk_html::PageUrl;
use dehusk_settings::{Rendering, ScriptHosts, Settings};
use dehusk_store::SiteId;
use tokio::sync::{Semaphore, mpsc, oneshot};

use super::{Rendered, Wanted, is_foreign};
use crate::event::Event;
use crate::fetch::Response;
use crate::request::Subresource;

/// Renders pages, a few at a time.
#[derive(Clone)]
pub(crate) struct Renderer {
    browser: Arc<Browser>,
    places: Arc<Semaphore>,
}

impl Renderer {
    pub(crate) fn new(settings: &Settings) -> Renderer {
        let options = BrowserOptions {
            program: settings.render.browser.clone(),
            sandbox: settings.render.sandbox,
            memory: settings.render.memory as u64,
            user_agent: settings.fetch.user_agent.clone(),
        };
        let places = Arc::new(Semaphore::new(settings.render.pages));
        Renderer { browser: Arc::new(Browser::new(options)), places }
    }

    /// Whether the browser can be started.
    pub(crate) async fn check(&self) -> Result<(), RenderError> {
        self.browser.check().await
    }

    /// Renders a page of a site. `is_open`: hosts outside of the site are known to be needed.
    pub(crate) async fn render(
        &self,
        site: SiteId,
        response: &Response,
        is_open: bool,
        settings: &Settings,
        events: mpsc::Sender<Event>,
    ) -> Result<Rendered, String> {
        let Ok(_place) = self.places.acquire().await else { return Err("the crawl was stopped".to_owned()) };
        let document = Document {
            url: response.url.url().clone(),
            content_type: response.content_type.clone(),
            body: response.body.clone().into(),
        };
        let origins = match settings.render.origins {
            ScriptHosts::Site => Origins::Site,
            ScriptHosts::Needed if !is_open => Origins::Needed,
            ScriptHosts::Needed | ScriptHosts::All => Origins::All,
        };
        let gate = SchedulerGate { site, page: response.url.clone(), events };
        let limits = limits(&settings.render, settings.fetch.max_bytes);
        let rendered = self.browser.render(&document, origins, &limits, &gate).await.map_err(|e| e.to_string())?;
        Ok(Rendered {
            has_text: rendered.letters > 0,
            asked_foreign: rendered.asked_foreign,
            leads_to: rendered.leads_to.and_then(|url| PageUrl::parse(url.as_str()).ok()),
            html: rendered.html,
        })
    }
}

fn limits(render: &Rendering, html_bytes: usize) -> Limits {
    let Rendering { requests, bytes, settled, seconds, patience, nodes, .. } = *render;
    Limits { requests, bytes, settled, seconds, patience, nodes, html_bytes }
}

/// Hands what scripts ask for to the scheduler.
struct SchedulerGate {
    site: SiteId,
    page: PageUrl,
    events: mpsc::Sender<Event>,
}

impl Gate for SchedulerGate {
    fn is_foreign(&self, url: &url::Url) -> bool {
        PageUrl::parse(url.as_str()).is_ok_and(|url| is_foreign(&self.page, &url))
    }

    async fn ask(&self, asked: Asked) -> Option<Answer> {
        let Asked { url, mut headers, is_foreign } = asked;
        headers.sort_unstable();
        let subresource = Subresource { url: PageUrl::parse(url.as_str()).ok()?, headers };
        let (reply, answered) = oneshot::channel();
        let wanted = Wanted { site: self.site, subresource, is_foreign, reply };
        self.events.send(Event::Wanted(Box::new(wanted))).await.ok()?;
        let answer = answered.await.ok()??;
        Some(Answer { status: answer.status, headers: answer.headers.clone(), body: answer.body.clone() })
    }
}
