//! When pages are rendered in a browser, and what a page may use there.

use std::time::Duration;

use serde::Serialize;

/// Which pages are rendered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Render {
    /// None.
    #[default]
    Never,
    /// Pages without text of sites whose training pages have none.
    Needed,
    /// All.
    Always,
}

impl Render {
    /// The word in the settings.
    pub fn name(self) -> &'static str {
        match self {
            Render::Never => "never",
            Render::Needed => "needed",
            Render::Always => "always",
        }
    }
}

/// Hosts that the scripts of a page may ask.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ScriptHosts {
    /// Those of the registrable domain of the page.
    Site,
    /// Those; where they leave the page without text, all.
    #[default]
    Needed,
    /// All.
    All,
}

/// The browser, and what a page may use there.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rendering {
    /// The program; empty = Chromium or Chrome, as found.
    pub browser: String,
    /// Whether pages run in the sandbox of the browser.
    pub sandbox: bool,
    /// Bytes of memory of the process of a page.
    pub memory: usize,
    /// Pages at the same time.
    pub pages: usize,
    /// Hosts that scripts may ask.
    pub origins: ScriptHosts,
    /// Requests of a page, those that are answered from the cache of the run included.
    pub requests: usize,
    /// Bytes of the answers together.
    pub bytes: usize,
    /// How long nothing must change, by the clock of the page.
    pub settled: Duration,
    /// How long a page may take, by its clock.
    pub seconds: Duration,
    /// How long its scripts may work, by the clock of the machine.
    pub patience: Duration,
    /// Elements of its tree.
    pub nodes: usize,
}

impl Default for Rendering {
    fn default() -> Rendering {
        Rendering {
            browser: String::new(),
            sandbox: true,
            memory: 1_000_000_000,
            pages: 2,
            origins: ScriptHosts::Needed,
            requests: 100,
            bytes: 20_000_000,
            settled: Duration::from_secs(2),
            seconds: Duration::from_secs(15),
            patience: Duration::from_secs(20),
            nodes: 100_000,
        }
    }
}
