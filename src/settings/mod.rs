//! Checked settings: what the rest of the program works with.
//!
//! `file.rs` reads `crawl.toml` and `--set`; it is the only place that rejects.
//! A value that exists here is in range. `keys.rs` is the one table of keys, defaults and explanations.

mod defaults;
mod file;
mod former;
mod keys;
mod network;
mod values;

use std::time::Duration;

use serde::Serialize;

use dehusk_core::Options;
use dehusk_core::internals::page_url::SameSite;

pub use file::{SettingsError, key_names, render};
pub use network::Network;

/// Everything that `crawl.toml` decides.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// `[crawl]`
    pub crawl: Crawl,
    /// `[revisit]`
    pub revisit: Revisit,
    /// `[politeness]`
    pub politeness: Politeness,
    /// `[fetch]`
    pub fetch: Fetch,
    /// `[page]`, `[links]` to `[etdm]`, `[clean]` to `[text]`: what the core works with.
    pub core: Options,
    /// `strings.patterns`: file of mutable patterns; empty = those that come with the program.
    pub string_patterns: String,
    /// `[template]`
    pub template: TemplateKeeping,
    /// `[store]`
    pub store: Store,
}

/// Which sites are crawled, and how many at once.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Crawl {
    /// Seed files read when the command line names none.
    pub seeds: Vec<String>,
    /// Sites worked on at the same time.
    pub sites_at_once: usize,
    /// Threads that parse and learn; 0 = one a core.
    pub cpu_threads: usize,
    /// What is done with pages.
    pub mode: Mode,
    /// Pages fetched of a site in one run, beyond what learning needs; 0 = none.
    pub pages_per_site: usize,
    /// Links followed from the key page; 0 = no limit.
    pub depth: u32,
    /// Order of further pages.
    pub order: Order,
    /// Where further pages may be.
    pub scope: ScopeOf,
    /// Patterns of which a URL must match one.
    pub include: Vec<String>,
    /// Patterns of which it must match none.
    pub exclude: Vec<String>,
    /// Are sitemaps read?
    pub sitemaps: bool,
    /// Are feeds read?
    pub feeds: bool,
    /// Query parameters taken out of links.
    pub drop_parameters: Vec<String>,
    /// Longest URL.
    pub max_url_bytes: usize,
    /// Most segments of a path.
    pub max_path_segments: usize,
    /// How often a run of segments may come.
    pub max_repeats: usize,
    /// Different queries to one path.
    pub max_queries: usize,
    /// Years from now that a date in a URL may lie away.
    pub max_calendar_years: i64,
    /// Age up to which an unfinished run is taken up again.
    pub resume_within: Duration,
    /// Time for what is out when a crawl is stopped.
    pub stop_within: Duration,
    /// Bytes of pages and trees in memory beyond which intake slows down.
    pub memory: usize,
}

/// What a crawl does with its pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Learns templates, cleans and stores pages.
    Full,
    /// Follows links and records visits.
    Links,
}

/// In which order further pages of a site are fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Hyperlink relevance to the key page, then as found (Alarte, definition 2.2.12).
    Paper,
    /// Nearest to the key page in links first.
    Breadth,
}

/// Where further pages of a site may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ScopeOf {
    /// The key page's host, `www.` ignored.
    Host,
    /// Its registrable domain.
    Registrable,
    /// Its folder.
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

/// What shares one crawl delay.
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

/// When a known page is asked for again.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Revisit {
    /// First interval.
    pub first: Duration,
    /// Shortest interval.
    pub least: Duration,
    /// Longest interval.
    pub most: Duration,
    /// Factor after a change.
    pub shrink: f64,
    /// Factor without one.
    pub grow: f64,
    /// Every page, due or not.
    pub all: bool,
}

/// How a domain is spared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Politeness {
    /// Least time between two fetches of one domain.
    pub delay: Duration,
    /// From when the delay runs.
    pub delay_from: DelayFrom,
    /// What counts as one domain.
    pub key: PolitenessScope,
    /// Longest `Crawl-delay` that is followed; a site that asks for more is left out.
    pub max_crawl_delay: Duration,
    /// The delay is at least this times the last answer's time.
    pub adaptive: f64,
    /// Longest wait of a domain that is overloaded or does not answer.
    pub max_back_off: Duration,
    /// Connection failures in a row after which a domain is parked.
    pub park_after: u32,
    /// Agents looked for in robots.txt; none = the name in the user agent.
    pub robots_agents: Vec<String>,
    /// How long a robots.txt is believed.
    pub robots_ttl: Duration,
}

/// From when the delay of a domain runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DelayFrom {
    /// From the last byte of an answer.
    End,
    /// From the moment the request was sent.
    Start,
}

/// Limits and manners of a single request.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fetch {
    /// Sent with every request, with a URL where an operator learns who asks.
    pub user_agent: String,
    /// May addresses of this machine and of private networks be asked?
    pub allow_private: bool,
    /// `NAME=ADDRESS[:PORT]` pairs that answer before DNS does; `*.NAME` covers every name below. The port takes the
    /// place of a usual one only.
    pub resolve: Vec<String>,
    /// Networks that may be asked although they are private.
    pub allow_networks: Vec<Network>,
    /// Networks that are never asked.
    pub deny_networks: Vec<Network>,
    /// How long an address is remembered.
    pub dns_ttl: Duration,
    /// URL of a proxy; empty = none.
    pub proxy: String,
    /// Further request headers.
    pub headers: Vec<(String, String)>,
    /// Are cookies kept?
    pub cookies: bool,
    /// Bytes a second below which a body is given up.
    pub min_rate: usize,
    /// Time for connecting.
    pub connect_timeout: Duration,
    /// Time for a whole answer.
    pub timeout: Duration,
    /// Bytes of a body as sent.
    pub max_raw_bytes: usize,
    /// Bytes of a body after decompression.
    pub max_bytes: usize,
    /// Redirects followed for one page.
    pub max_redirects: usize,
    /// Times a page is asked for again after a failure that may pass.
    pub retries: u8,
    /// Requests in flight over all domains.
    pub in_flight: usize,
    /// Requests a second over all domains; 0 = no cap.
    pub requests_per_second: u32,
    /// Body bytes a second over all domains; 0 = no cap.
    pub bytes_per_second: u32,
    /// Requests a second to one address; 0 = no cap.
    pub requests_per_second_per_address: u32,
}

/// Where results are kept.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Store {
    /// The SQLite file.
    pub path: String,
    /// zstd level of stored pages.
    pub zstd_level: i32,
}

impl Settings {
    /// Names that are looked for in robots.txt, the most wanted first.
    pub fn agents(&self) -> Vec<String> {
        match self.politeness.robots_agents.is_empty() {
            true => vec![self.fetch.user_agent.clone()],
            false => self.politeness.robots_agents.clone(),
        }
    }
}

/// The setting's name for a same-site rule.
pub(crate) const SAME_SITE: [(&str, SameSite); 2] = [("host", SameSite::Host), ("registrable", SameSite::Registrable)];
