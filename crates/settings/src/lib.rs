//! Validated settings, as used by the store, the crawl, the corpora and the program.
//!
//! ```
//! use dehusk_settings::Settings;
//!
//! let file = "[politeness]\ndelay = 2.5\n";
//! let settings = Settings::load(Some(("crawl.toml", file)), &["crawl.depth=3".to_owned()])?;
//! assert_eq!((settings.politeness.delay.as_millis(), settings.crawl.depth), (2500, 3));
//! # Ok::<(), dehusk_settings::SettingsError>(())
//! ```
//!
//! `file.rs` loads `crawl.toml` and `--set`, and is the only module that rejects settings. Every value of these types
//! is in range. `keys/` is the table of keys, defaults and descriptions.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod common_crawl;
mod defaults;
mod export;
mod notify;
mod file;
mod render;
mod rendering;
mod keys;
mod network;
mod sites;
mod values;

use dehusk_core::rights::Use;
use std::time::Duration;

use serde::Serialize;

use dehusk_core::Options;
use dehusk_core::page_rules::product_token;
use dehusk_html::SameSite;
use dehusk_papers::PapersOptions;

pub use common_crawl::CommonCrawl;
pub use export::{Export, MinHash};
pub use file::{SettingsError, key_names};
pub use network::Network;
pub use notify::{Notify, NotifyEach, NotifyWhen};
pub use render::{markdown, render, render_some};
pub use rendering::{Render, Rendering, ScriptHosts};
pub use sites::{ByHost, SiteSettings};
pub use values::never_host;

/// All settings of `crawl.toml`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Settings {
    /// `[crawl]`
    pub crawl: Crawl,
    /// `[revisit]`
    pub revisit: Revisit,
    /// `[politeness]`
    pub politeness: Politeness,
    /// `[fetch]`
    pub fetch: Fetch,
    /// `[render]`
    pub render: Rendering,
    /// `[page]`, `[links]` to `[etdm]`, `[clean]`, `[markdown]`, `[papers.gottron]`, `[papers.strings]`.
    pub core: Options,
    /// `[papers.*]`: settings of the published methods that are compared.
    pub papers: PapersOptions,
    /// `papers.strings.patterns`: file of mutable patterns; empty = the built-in ones.
    pub string_patterns: String,
    /// `[template]`
    pub template: TemplateKeeping,
    /// `[store]`
    pub store: Store,
    /// `[export]`
    pub export: Export,
    /// `[common_crawl]`. A crawl does not use it.
    #[serde(skip)]
    pub common_crawl: CommonCrawl,
    /// `[warc]`
    pub warc: Warc,
    /// `[notify]`. It is no part of what a run was asked for, and its secret is not stored.
    #[serde(skip)]
    pub notify: Notify,
    /// `[[site]]`, in the order of the file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sites: Vec<SiteSettings>,
}

/// Which sites and links are crawled, and within which limits.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Crawl {
    /// Seed files read when the command line names none.
    pub seeds: Vec<String>,
    /// Sites processed at the same time.
    pub sites_at_once: usize,
    /// Threads that parse and learn; 0 = one per core.
    pub cpu_threads: usize,
    /// Threads that send requests and read responses; 0 = one per core, but a single one for two cores.
    pub network_threads: usize,
    /// What is done with pages.
    pub mode: Mode,
    /// What the pages are for: what their owners deny for it is not fetched or not stored.
    pub purpose: Option<Use>,
    /// Whether answers that look like a page and are none are not stored.
    pub withhold: bool,
    /// Whether a site is asked for an address that it does not have.
    pub probe: bool,
    /// Patterns of texts that say nothing about whether a page has changed.
    pub ignore_changes: Vec<String>,
    /// Whether parts that change on nearly every visit say nothing either.
    pub learn_changing: bool,
    /// Number of pages of a site to fetch in one run, if learning needs fewer; 0 = only those.
    pub pages_per_site: usize,
    /// Maximum number of links from the key page; 0 = no limit.
    pub depth: u32,
    /// Order of pages beyond the training pages.
    pub order: Order,
    /// Scope of pages beyond the training pages.
    pub scope: ScopeOf,
    /// Patterns of which a URL must match one, if there are any.
    pub include: Vec<String>,
    /// Patterns that a URL must not match.
    pub exclude: Vec<String>,
    /// Hosts and patterns of URLs that are never contacted.
    pub never: Vec<String>,
    /// What the whole run may spend.
    #[serde(flatten)]
    pub budget: Budget,
    /// What one site may spend in a run.
    pub site: Budget,
    /// Maximum number of pages of a site that are known; 0 = no limit.
    pub site_max_pages: usize,
    /// Whether sitemaps are read.
    pub sitemaps: bool,
    /// Whether feeds are read.
    pub feeds: bool,
    /// Whether the strings of feeds are learned.
    pub strings: bool,
    /// Query parameters removed from links.
    pub drop_parameters: Vec<String>,
    /// Maximum length of a URL in bytes.
    pub max_url_bytes: usize,
    /// Maximum number of path segments.
    pub max_path_segments: usize,
    /// Maximum repetitions of a path segment or a sequence of segments.
    pub max_repeats: usize,
    /// Maximum number of different queries for one path.
    pub max_queries: usize,
    /// Maximum distance in years between now and a date in a URL.
    pub max_calendar_years: i64,
    /// Maximum age of an unfinished run that is resumed.
    pub resume_within: Duration,
    /// Time that requests in flight have to complete when a crawl is stopped.
    pub stop_within: Duration,
    /// Bytes of pages and trees in memory above which fewer requests are sent.
    pub memory: usize,
}

/// What a run, or a site in a run, may spend. 0 = no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Budget {
    /// Requests.
    pub max_requests: usize,
    /// Requests in a row that gave no page.
    pub max_failures: usize,
    /// Body bytes, as sent.
    pub max_bytes: usize,
    /// Time.
    pub max_seconds: Duration,
}

/// What a crawl does with its pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Learn templates, clean and store pages.
    Full,
    /// Follow links and record visits.
    Links,
}

/// Order of pages beyond the training pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// By hyperlink relevance to the key page, then as found (Alarte 2014, definition 2.2.12).
    Paper,
    /// Fewest links from the key page first.
    Breadth,
}

/// Scope of pages beyond the training pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ScopeOf {
    /// The key page's host, `www.` ignored.
    Host,
    /// The registrable domain of the key page.
    Registrable,
    /// The folder of the key page.
    Path,
}

/// When a stored template is learned again.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TemplateKeeping {
    /// Share of its original template coverage that a key page must still reach for the template to be kept.
    pub min_freshness: f64,
    /// Whether every site is learned again.
    pub relearn: bool,
}

/// What shares one politeness delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PolitenessScope {
    /// Registrable domain by the public suffix list, private section included.
    Domain,
    /// Full host name.
    Host,
    /// Resolved address.
    Ip,
}

impl PolitenessScope {
    /// The word in the settings.
    pub fn name(self) -> &'static str {
        match self {
            PolitenessScope::Domain => "domain",
            PolitenessScope::Host => "host",
            PolitenessScope::Ip => "ip",
        }
    }
}

/// When a known page is fetched again.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Revisit {
    /// First interval.
    pub first: Duration,
    /// Shortest interval.
    pub least: Duration,
    /// Longest interval.
    pub most: Duration,
    /// Factor on the interval after a change.
    pub shrink: f64,
    /// Factor on the interval without a change.
    pub grow: f64,
    /// Whether every page is fetched, even if not due.
    pub all: bool,
}

/// The load that the crawl may put on one politeness key.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Politeness {
    /// Minimum time between two fetches of one key.
    pub delay: Duration,
    /// Whether the delay runs from the end or the start of a fetch.
    pub delay_from: DelayFrom,
    /// What requests are grouped by.
    pub key: PolitenessScope,
    /// Longest `Crawl-delay` that is obeyed. A site that asks for more is not fetched.
    pub max_crawl_delay: Duration,
    /// The delay is at least this factor times the duration of the last fetch.
    pub adaptive: f64,
    /// Longest back-off from a key that is overloaded or does not respond.
    pub max_back_off: Duration,
    /// Failed connections in a row after which a key is parked.
    pub park_after: u32,
    /// Agent names for robots.txt; none = the name in the user agent.
    pub robots_agents: Vec<String>,
    /// How long a robots.txt is cached.
    pub robots_ttl: Duration,
}

/// Start of the politeness delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DelayFrom {
    /// From the last byte of a response.
    End,
    /// From the moment the request was sent.
    Start,
}

/// Limits and headers of requests.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fetch {
    /// User agent, with a URL where a site operator learns who sends the requests.
    pub user_agent: String,
    /// Whether addresses of this machine and of private networks may be fetched.
    pub allow_private: bool,
    /// `NAME=ADDRESS[:PORT]` pairs that override DNS. `*.NAME` covers every subdomain. The port replaces only a default
    /// port of the URL.
    pub resolve: Vec<String>,
    /// Networks that may be fetched even if they are private.
    pub allow_networks: Vec<Network>,
    /// Networks that are never fetched.
    pub deny_networks: Vec<Network>,
    /// How long a resolved address is cached.
    pub dns_ttl: Duration,
    /// File of certificates of further authorities, PEM; empty = none.
    pub ca_file: String,
    /// URL of a proxy; empty = none.
    pub proxy: String,
    /// Additional request headers.
    pub headers: Vec<(String, String)>,
    /// Whether cookies are kept.
    pub cookies: bool,
    /// Minimum bytes per second of a response body.
    pub min_rate: usize,
    /// Time limit for connecting.
    pub connect_timeout: Duration,
    /// Time limit for a complete response.
    pub timeout: Duration,
    /// Maximum bytes of a body as sent.
    pub max_raw_bytes: usize,
    /// Maximum bytes of a body after decompression.
    pub max_bytes: usize,
    /// Maximum number of redirects for one page.
    pub max_redirects: usize,
    /// How often a page is requested again after a transient failure.
    pub retries: u8,
    /// Maximum number of requests in flight over all hosts.
    pub in_flight: usize,
    /// Maximum requests per second over all hosts; 0 = no limit.
    pub requests_per_second: u32,
    /// Maximum body bytes per second over all hosts; 0 = no limit.
    pub bytes_per_second: u32,
    /// Maximum requests per second to one IP address; 0 = no limit.
    pub requests_per_second_per_address: u32,
    /// Which pages are rendered in a browser.
    pub render: Render,
}

/// Where results are stored.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Store {
    /// The SQLite file, or the address of a PostgreSQL server.
    pub path: String,
    /// zstd compression level of stored pages.
    pub zstd_level: i32,
    /// Whether pages that ask for noindex are handed out.
    pub noindex: NoindexPages,
    /// What is kept of earlier runs.
    pub keep: Keep,
    /// How long hosts stay leased to a crawl that is not heard of.
    pub lease: Duration,
}

/// What archive files say of themselves. Empty = nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Warc {
    /// Who runs the crawl.
    pub operator: String,
    /// The collection that the archive is part of.
    pub is_part_of: String,
    /// What the archive holds.
    pub description: String,
}

/// What is kept of earlier runs. The newest version of each page always is. 0 = everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Keep {
    /// Versions of a page.
    pub versions: usize,
    /// Runs.
    pub nights: usize,
    /// Bytes of all versions together, packed.
    pub bytes: usize,
}

/// What happens to pages whose owners want them in no collection (`noindex`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NoindexPages {
    /// They are left out of lists and of what is made of many pages.
    Hide,
    /// They are treated as any other page.
    Show,
}

impl Crawl {
    /// Most links from the key page to a page that is fetched.
    pub fn max_depth(&self) -> u32 {
        if self.depth == 0 { u32::MAX } else { self.depth }
    }
}

impl Settings {
    /// The user agent, if robots.txt files and their owners cannot tell from it who crawls.
    pub fn agent_without_a_name(&self) -> Option<&str> {
        let agent = &self.fetch.user_agent;
        (self.politeness.robots_agents.is_empty() && product_token(agent).is_none()).then_some(agent.as_str())
    }

    /// Agent names for robots.txt, the preferred one first.
    pub fn agents(&self) -> Vec<String> {
        if self.politeness.robots_agents.is_empty() {
            vec![self.fetch.user_agent.clone()]
        } else {
            self.politeness.robots_agents.clone()
        }
    }
}

/// The names of same-site rules in settings.
pub(crate) const SAME_SITE: [(&str, SameSite); 2] = [("host", SameSite::Host), ("registrable", SameSite::Registrable)];
