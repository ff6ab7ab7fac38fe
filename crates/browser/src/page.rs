//! One page, from its answer to its tree.

use std::collections::VecDeque;
use std::pin::pin;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::MissedTickBehavior;
use url::Url;

use crate::answers::{Paused, Verdict, failed, fulfilled};
use crate::connection::{Connection, Event};
use crate::process::Process;
use crate::{Answer, Gate, Origins, RenderError};

/// A page as it was fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// Where it is.
    pub url: Url,
    /// `Content-Type` as sent.
    pub content_type: Option<String>,
    /// Decoded body.
    pub body: Bytes,
}

/// What a page may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Requests that are asked of the gate. Further ones fail.
    pub requests: usize,
    /// Bytes of their answers together. Further requests fail.
    pub bytes: usize,
    /// How long nothing must change, by the clock of the page, until it counts as complete.
    pub settled: Duration,
    /// How long it may take altogether, by its clock.
    pub seconds: Duration,
    /// How long its scripts may work, by the clock of the machine. Waiting for answers does not count. A page that
    /// takes longer is taken as it is, if its scripts let go of it.
    pub patience: Duration,
    /// Elements of its tree.
    pub nodes: usize,
    /// Bytes of its tree as HTML.
    pub html_bytes: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            requests: 100,
            bytes: 20 << 20,
            settled: Duration::from_secs(2),
            seconds: Duration::from_secs(15),
            patience: Duration::from_secs(20),
            nodes: 100_000,
            html_bytes: 10 << 20,
        }
    }
}

/// A page as its scripts have built it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    /// The tree as HTML. Open shadow roots are `template` elements with `shadowrootmode`; `noscript` is left out.
    pub html: String,
    /// Letters of its text, and its signs.
    pub letters: usize,
    /// Requests that were asked of the gate.
    pub n_requests: usize,
    /// Whether hosts outside of its site were asked.
    pub asked_foreign: bool,
    /// Where its scripts wanted to lead it to.
    pub leads_to: Option<Url>,
}

/// Pixels of the window. What is loaded when it is scrolled into view is in view on most pages.
const WINDOW: (u32, u32) = (1280, 8000);

/// Letters below which a page without hosts outside of its site is rendered again with them.
const LITTLE: usize = 400;

/// How often the time that its scripts have worked is looked at.
const TICK: Duration = Duration::from_millis(100);

/// How long a page may take to answer whose scripts have worked for too long.
const LAST_CALL: Duration = Duration::from_secs(1);

/// How long the browser may take for a command that needs no page.
const COMMAND: Duration = Duration::from_secs(20);

/// How long two frames may take.
const MOST_OF_FRAMES: Duration = Duration::from_millis(500);

/// Two frames, and a moment without work.
const FRAMES: &str =
    "new Promise(end => requestAnimationFrame(() => requestAnimationFrame(() => requestIdleCallback(() => end(0)))))";

const CAPTURE: &str = include_str!("capture.js");
const PREPARE: &str = include_str!("prepare.js");

/// Renders a page; where only hosts of its site may be asked first, and that leaves too little, once more with all.
pub(crate) async fn render(
    process: &Process,
    user_agent: &str,
    document: &Document,
    origins: Origins,
    limits: &Limits,
    gate: &impl Gate,
) -> Result<Rendered, RenderError> {
    let first = Page::open(process, user_agent, document, limits).await?;
    let (rendered, refused_foreign) = first.run(gate, origins == Origins::All).await?;
    if origins != Origins::Needed || !refused_foreign || rendered.letters >= LITTLE {
        return Ok(rendered);
    }
    let second = Page::open(process, user_agent, document, limits).await?;
    let (wider, _) = second.run(gate, true).await?;
    let has_more = wider.letters > rendered.letters;
    Ok(Rendered { n_requests: rendered.n_requests + wider.n_requests, ..if has_more { wider } else { rendered } })
}

/// A page in a context of its own: nothing is kept from one page to the next.
struct Page<'a> {
    connection: &'a Connection,
    document: &'a Document,
    limits: &'a Limits,
    context: String,
    session: String,
    /// The frame of the page.
    frame: String,
    events: mpsc::Receiver<Event>,
    /// Events that came while a script of ours ran.
    later: VecDeque<Event>,
    /// The world in which our own scripts run, once the page is there.
    world: Option<Value>,
    /// Time that it was given, by its clock.
    given: Duration,
    /// What it consisted of when its time was last up.
    before: Option<(u64, u64, usize)>,
    /// How long it may take to answer.
    answers_within: Duration,
    n_requests: usize,
    n_bytes: usize,
    asked_foreign: bool,
    refused_foreign: bool,
    leads_to: Option<Url>,
}

impl Drop for Page<'_> {
    fn drop(&mut self) {
        self.connection.forget(&self.session);
        self.connection.tell(None, "Target.disposeBrowserContext", json!({ "browserContextId": self.context }));
    }
}

/// An answer of the gate to a request of a session.
type Asked<'a> = BoxFuture<'a, (String, String, Option<Answer>)>;

impl<'a> Page<'a> {
    async fn open(
        process: &'a Process,
        user_agent: &str,
        document: &'a Document,
        limits: &'a Limits,
    ) -> Result<Page<'a>, RenderError> {
        let connection = &*process.connection;
        let created = command(process, None, "Target.createBrowserContext", json!({ "disposeOnDetach": true })).await?;
        let mut page = Page {
            connection,
            document,
            limits,
            context: text(&created["browserContextId"]),
            session: String::new(),
            frame: String::new(),
            events: mpsc::channel(1).1,
            later: VecDeque::new(),
            world: None,
            given: Duration::ZERO,
            before: None,
            answers_within: limits.patience,
            n_requests: 0,
            n_bytes: 0,
            asked_foreign: false,
            refused_foreign: false,
            leads_to: None,
        };
        let target = json!({ "url": "about:blank", "browserContextId": page.context });
        page.frame = text(&command(process, None, "Target.createTarget", target).await?["targetId"]);
        let attach = json!({ "targetId": page.frame, "flatten": true });
        page.session = text(&command(process, None, "Target.attachToTarget", attach).await?["sessionId"]);
        page.events = connection.listen(&page.session);
        let (width, height) = WINDOW;
        let window = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        let begun = json!({ "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true });
        let downloads = json!({ "behavior": "deny", "browserContextId": page.context });
        connection.tell(None, "Browser.setDownloadBehavior", downloads);
        for (method, params) in [
            ("Page.enable", json!({})),
            ("Emulation.setUserAgentOverride", json!({ "userAgent": user_agent })),
            ("Emulation.setDeviceMetricsOverride", window),
            ("Network.enable", json!({ "maxTotalBufferSize": 1, "maxResourceBufferSize": 1 })),
            ("Network.setBypassServiceWorker", json!({ "bypass": true })),
            ("Page.addScriptToEvaluateOnNewDocument", json!({ "source": PREPARE })),
            ("Emulation.setVirtualTimePolicy", json!({ "policy": "pause" })),
        ] {
            connection.tell(Some(&page.session), method, params);
        }
        // Without these two nothing may be loaded.
        command(process, Some(&page.session), "Target.setAutoAttach", begun).await?;
        let all = json!({ "patterns": [{ "urlPattern": "*" }] });
        command(process, Some(&page.session), "Fetch.enable", all).await?;
        Ok(page)
    }

    /// Loads the page and lets it run until it is complete. Also says whether hosts outside of its site were refused.
    async fn run(mut self, gate: &impl Gate, asks_foreign: bool) -> Result<(Rendered, bool), RenderError> {
        let (connection, session) = (self.connection, self.session.clone());
        let address = json!({ "url": self.document.url.as_str() });
        let mut loading = pin!(connection.call(Some(&session), "Page.navigate", address));
        let (mut is_loading, mut asked) = (true, FuturesUnordered::<Asked<'_>>::new());
        let mut worked = Duration::ZERO;
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                outcome = &mut loading, if is_loading => {
                    is_loading = false;
                    if let Some(reason) = outcome?["errorText"].as_str() {
                        let reason = reason.to_owned();
                        return Err(RenderError::Protocol { method: "Page.navigate", reason });
                    }
                }
                event = next_event(&mut self.later, &mut self.events) => {
                    let Some(event) = event else { return Err(self.gone()) };
                    if self.on_event(&event, gate, asks_foreign, &mut asked)? && self.is_complete().await? {
                        return self.capture().await;
                    }
                }
                Some((session, id, answer)) = asked.next(), if !asked.is_empty() => self.answer(&session, &id, answer),
                _ = tick.tick(), if asked.is_empty() => {
                    worked += TICK;
                    if worked > self.limits.patience {
                        // As it is, where its scripts let go.
                        self.answers_within = LAST_CALL;
                        return self.capture().await;
                    }
                }
            }
        }
    }

    /// Handles an event. Returns whether the time that the page was given is up.
    fn on_event<'g>(
        &mut self,
        event: &Event,
        gate: &'g impl Gate,
        asks_foreign: bool,
        asked: &mut FuturesUnordered<Asked<'g>>,
    ) -> Result<bool, RenderError> {
        let params = &event.params;
        match event.method.as_str() {
            "Fetch.requestPaused" => self.on_request(event, gate, asks_foreign, asked),
            "Page.frameNavigated" if params["frame"]["id"] == self.frame.as_str() && self.given.is_zero() => {
                self.give()
            }
            "Emulation.virtualTimeBudgetExpired" => return Ok(true),
            "Page.javascriptDialogOpening" => {
                self.connection.tell(Some(&event.session), "Page.handleJavaScriptDialog", json!({ "accept": false }));
            }
            // Workers run with their page. Windows, frames of other sites and service workers are never begun.
            "Target.attachedToTarget" if params["targetInfo"]["type"] == "worker" => {
                let worker = text(&params["sessionId"]);
                let all = json!({ "patterns": [{ "urlPattern": "*" }] });
                self.connection.tell(Some(&worker), "Fetch.enable", all);
                self.connection.tell(Some(&worker), "Runtime.runIfWaitingForDebugger", json!({}));
            }
            "Inspector.targetCrashed" if event.session == self.session => return Err(RenderError::Crashed),
            _ => {}
        }
        Ok(false)
    }

    fn on_request<'g>(
        &mut self,
        event: &Event,
        gate: &'g impl Gate,
        asks_foreign: bool,
        asked: &mut FuturesUnordered<Asked<'g>>,
    ) {
        if !self.given.is_zero() && self.stay(event) {
            return;
        }
        let Some(paused) = Paused::new(&event.params) else { return };
        let session = event.session.clone();
        match paused.verdict(&self.frame) {
            Verdict::Navigation(_) => {
                let kind = self.document.content_type.clone().unwrap_or_else(|| "text/html".to_owned());
                let headers = vec![("Content-Type".to_owned(), kind)];
                let page = Answer { status: 200, headers, body: self.document.body.clone() };
                self.answer(&session, &paused.id, Some(page));
            }
            Verdict::Known(status, kind, body) => {
                let mut headers = paused.permission();
                headers.push(("Content-Type".to_owned(), kind.to_owned()));
                let body = Bytes::from_static(body);
                self.answer(&session, &paused.id, Some(Answer { status, headers, body }));
            }
            Verdict::Ask(url) => {
                let is_foreign = gate.is_foreign(&url);
                self.refused_foreign |= is_foreign && !asks_foreign;
                let is_spent = self.n_requests >= self.limits.requests || self.n_bytes >= self.limits.bytes;
                if is_spent || (is_foreign && !asks_foreign) {
                    return self.answer(&session, &paused.id, None);
                }
                self.n_requests += 1;
                self.asked_foreign |= is_foreign;
                let wanted = paused.wanted(url, is_foreign);
                asked.push(Box::pin(async move { (session, paused.id, gate.ask(wanted).await) }));
            }
            Verdict::Refuse => self.answer(&session, &paused.id, None),
        }
    }

    fn answer(&mut self, session: &str, id: &str, answer: Option<Answer>) {
        let (method, params) = match &answer {
            Some(answer) => ("Fetch.fulfillRequest", fulfilled(id, answer)),
            None => ("Fetch.failRequest", failed(id)),
        };
        self.n_bytes += answer.map_or(0, |answer| answer.body.len());
        self.connection.tell(Some(session), method, params);
    }

    /// Lets the clock of the page run on. It stands still while a request waits for its answer.
    fn give(&mut self) {
        self.given += self.limits.settled;
        let budget = self.limits.settled.as_millis() as u64;
        let policy = json!({ "policy": "pauseIfNetworkFetchesPending", "budget": budget });
        self.connection.tell(Some(&self.session), "Emulation.setVirtualTimePolicy", policy);
    }

    /// Whether the page is as it was when its time was last up, or has had all of its time. If not, it is given more.
    ///
    /// Its clock does not drive what is shown. What waits for a frame (`requestAnimationFrame`, observers of what is in
    /// view) may be behind, so two frames are waited for.
    async fn is_complete(&mut self) -> Result<bool, RenderError> {
        let frames = self.evaluate(FRAMES.to_owned());
        // A page that shows no frames has to do without.
        if let Ok(waited) = tokio::time::timeout(MOST_OF_FRAMES, frames).await {
            waited?;
        }
        let found = self.look(0).await?;
        let now = (found["nodes"].as_u64().unwrap_or(0), found["letters"].as_u64().unwrap_or(0), self.n_requests);
        let is_settled = self.before.replace(now) == Some(now);
        if is_settled || self.given >= self.limits.seconds {
            return Ok(true);
        }
        self.give();
        Ok(false)
    }

    async fn capture(mut self) -> Result<(Rendered, bool), RenderError> {
        let found = self.look(self.limits.html_bytes).await?;
        let nodes = found["nodes"].as_u64().unwrap_or(0) as usize;
        let html = match found["html"].as_str() {
            None => return Err(RenderError::TooManyNodes { nodes }),
            Some(html) if html.is_empty() || html.len() > self.limits.html_bytes => {
                return Err(RenderError::TooLong { limit: self.limits.html_bytes });
            }
            Some(html) => html.to_owned(),
        };
        let rendered = Rendered {
            html,
            letters: found["letters"].as_u64().unwrap_or(0) as usize,
            n_requests: self.n_requests,
            asked_foreign: self.asked_foreign,
            leads_to: self.leads_to.take(),
        };
        Ok((rendered, self.refused_foreign))
    }

    /// Counts what the page consists of, and writes it as HTML of at most so many letters; 0 = only counts.
    async fn look(&mut self, most_letters: usize) -> Result<Value, RenderError> {
        self.evaluate(format!("({CAPTURE})({}, {most_letters})", self.limits.nodes)).await
    }

    /// Runs a script of ours in the page, in a world of its own: scripts of the page have not changed what it calls.
    async fn evaluate(&mut self, expression: String) -> Result<Value, RenderError> {
        if self.world.is_none() {
            let world = json!({ "frameId": self.frame, "worldName": "dehusk" });
            self.world = Some(self.within("Page.createIsolatedWorld", world).await?["executionContextId"].take());
        }
        let world = &self.world;
        let params =
            json!({ "expression": expression, "contextId": world, "returnByValue": true, "awaitPromise": true });
        let mut found = self.within("Runtime.evaluate", params).await?;
        match found["exceptionDetails"]["exception"]["description"].as_str() {
            Some(reason) => {
                let reason = reason.chars().take(300).collect();
                Err(RenderError::Protocol { method: "Runtime.evaluate", reason })
            }
            None => Ok(found["result"]["value"].take()),
        }
    }

    /// Sends a command to the page, which must not take longer than its scripts may.
    ///
    /// A page that is about to leave for another one answers nothing before it knows that it stays.
    async fn within(&mut self, method: &'static str, params: Value) -> Result<Value, RenderError> {
        let (connection, session) = (self.connection, self.session.clone());
        let mut called = pin!(connection.call(Some(&session), method, params));
        let mut late = pin!(tokio::time::sleep(self.answers_within));
        loop {
            tokio::select! {
                reply = &mut called => return reply,
                () = &mut late => return Err(self.hung()),
                event = self.events.recv() => {
                    let Some(event) = event else { return Err(self.gone()) };
                    if !self.stay(&event) {
                        self.later.push_back(event);
                    }
                }
            }
        }
    }

    /// Keeps the page where it is, if this event is that a script leads it elsewhere.
    fn stay(&mut self, event: &Event) -> bool {
        let Some(paused) = Paused::new(&event.params).filter(|_| event.method == "Fetch.requestPaused") else {
            return false;
        };
        let Verdict::Navigation(target) = paused.verdict(&self.frame) else { return false };
        if target != self.document.url {
            self.leads_to.get_or_insert(target);
        }
        // No content leaves the page as it is. A failure would be shown in its place.
        let nothing = Answer { status: 204, headers: Vec::new(), body: Bytes::new() };
        self.answer(&event.session, &paused.id, Some(nothing));
        true
    }

    /// Why no event comes any more.
    fn gone(&self) -> RenderError {
        if self.connection.is_closed() { RenderError::Gone } else { RenderError::Crashed }
    }

    fn hung(&self) -> RenderError {
        RenderError::Hung { seconds: self.limits.patience.as_secs() }
    }
}

/// Sends a command that the browser itself answers. One that does not answer any more is ended.
async fn command(
    process: &Process,
    session: Option<&str>,
    method: &'static str,
    params: Value,
) -> Result<Value, RenderError> {
    let called = process.connection.call(session, method, params);
    tokio::time::timeout(COMMAND, called).await.unwrap_or_else(|_| {
        process.kill();
        Err(RenderError::Gone)
    })
}

/// The next event: of those that had to wait, or of those to come.
async fn next_event(later: &mut VecDeque<Event>, events: &mut mpsc::Receiver<Event>) -> Option<Event> {
    match later.pop_front() {
        Some(event) => Some(event),
        None => events.recv().await,
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
