//! One browser for many pages. It is started when the first page comes, and again after it has ended.

use std::sync::Arc;

use tokio::sync::Mutex;

use crate::gate::Gate;
use crate::memory;
use crate::page::{Document, Limits, Rendered, render};
use crate::process::Process;
use crate::{Origins, RenderError};

/// How the browser is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrowserOptions {
    /// The program; empty = Chromium or Chrome, as found.
    pub program: String,
    /// Whether pages run in its sandbox.
    pub sandbox: bool,
    /// Bytes of memory that the process of a page may have.
    pub memory: u64,
    /// Name that scripts see.
    pub user_agent: String,
}

impl Default for BrowserOptions {
    fn default() -> BrowserOptions {
        let (program, user_agent) = (String::new(), "dehusk".to_owned());
        BrowserOptions { program, sandbox: true, memory: 1 << 30, user_agent }
    }
}

/// A browser.
pub struct Browser {
    options: BrowserOptions,
    process: Mutex<Option<Arc<Process>>>,
}

impl Browser {
    /// A browser that is started when it is needed.
    pub fn new(options: BrowserOptions) -> Browser {
        Browser { options, process: Mutex::new(None) }
    }

    /// Starts the browser, to see whether it can be.
    ///
    /// # Errors
    ///
    /// [`RenderError::Start`].
    pub async fn check(&self) -> Result<(), RenderError> {
        self.process().await.map(drop)
    }

    /// Renders a page. `gate` answers what its scripts ask for.
    ///
    /// Where the browser ends while it renders, it is started again, once for a page.
    ///
    /// # Errors
    ///
    /// Why there is no tree; see [`RenderError`].
    pub async fn render(
        &self,
        document: &Document,
        origins: Origins,
        limits: &Limits,
        gate: &impl Gate,
    ) -> Result<Rendered, RenderError> {
        let first = self.render_once(document, origins, limits, gate).await;
        match first {
            Err(e) if e.ends_browser() => self.render_once(document, origins, limits, gate).await,
            outcome => outcome,
        }
    }

    async fn render_once(
        &self,
        document: &Document,
        origins: Origins,
        limits: &Limits,
        gate: &impl Gate,
    ) -> Result<Rendered, RenderError> {
        let process = self.process().await?;
        render(&process, &self.options.user_agent, document, origins, limits, gate).await
    }

    async fn process(&self) -> Result<Arc<Process>, RenderError> {
        let mut process = self.process.lock().await;
        if let Some(running) = process.as_ref().filter(|process| !process.connection.is_closed()) {
            return Ok(Arc::clone(running));
        }
        let started = Arc::new(Process::start(&self.options).await?);
        memory::watch(&started, self.options.memory);
        *process = Some(Arc::clone(&started));
        Ok(started)
    }
}
