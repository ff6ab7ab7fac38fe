//! Ten demo sites on loopback, for a first try without internet access and as a fixture of the tests.
//!
//! Pages are written with a mark on everything that is the page's own. The mark is cut out before a page is served. The
//! correct template is therefore known by construction, not by human judgment.

mod check;
mod generated;
mod redesign;
pub mod server;
mod sites;
mod words;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

pub use check::{Check, check_site};
pub use generated::generated;
pub use redesign::{Redesign, SUDDEN_NIGHT, on_night};
pub use sites::sites;

use server::{Answer, Reply};

use dehusk_html::PageUrl;

/// Parent domain of the demo's hosts. It exists nowhere else.
pub const TOP: &str = "demo.test";

/// Marks an element and everything below it as the page's own. It is never served.
pub(crate) const MARK: &str = " data-own=\"\"";

/// A site of the demo.
pub struct DemoSite {
    /// First label of its host.
    pub name: &'static str,
    /// What it demonstrates.
    pub shows: &'static str,
    /// Path of its seed, which leads to the key page.
    pub start: String,
    /// Path of its key page.
    pub key: String,
    /// Pages by path.
    pub pages: BTreeMap<String, DemoPage>,
    /// Its robots.txt.
    pub robots: &'static str,
    /// Redirects: the target of each path.
    pub redirects: BTreeMap<String, String>,
    /// Delay before each answer.
    pub wait: Duration,
    /// Every n-th request is answered with status 500; 0 = never.
    pub fails_every: usize,
}

/// A page of the demo.
pub struct DemoPage {
    /// HTML with marks.
    pub marked: String,
    /// Charset in which it is served.
    pub charset: &'static encoding_rs::Encoding,
    /// Whether the Content-Type header names the charset.
    pub charset_in_header: bool,
}

impl DemoSite {
    /// Host name.
    pub fn host(&self) -> String {
        format!("{}.{TOP}", self.name)
    }

    /// URL of the seed.
    pub fn seed(&self) -> Option<PageUrl> {
        PageUrl::parse(&format!("http://{}{}", self.host(), self.start)).ok()
    }

    fn answer(&self, path: &str, n_requests: usize) -> Reply {
        let path = path.split('?').next().unwrap_or_default();
        let mut reply = if path == "/robots.txt" {
            if self.robots.is_empty() { Reply::status(404) } else { Reply::text(self.robots) }
        } else if self.fails_every > 0 && n_requests.is_multiple_of(self.fails_every) {
            Reply::status(500)
        } else if let Some(target) = self.redirects.get(path) {
            Reply::redirect(301, target)
        } else {
            self.pages.get(path).map_or_else(|| Reply::status(404), DemoPage::reply)
        };
        reply.wait = self.wait;
        reply
    }
}

impl DemoPage {
    /// The page as served, decoded.
    pub fn html(&self) -> String {
        self.marked.replace(MARK, "")
    }

    fn reply(&self) -> Reply {
        let (bytes, _, _) = self.charset.encode(&self.marked);
        // The mark is ASCII, so it can be cut out after encoding. Cutting it out before encoding would need a second
        // copy.
        let body = replace_bytes(&bytes, MARK.as_bytes());
        if self.charset_in_header {
            Reply::typed(&format!("text/html; charset={}", self.charset.name()), body)
        } else {
            Reply::html(body)
        }
    }
}

fn replace_bytes(bytes: &[u8], cut: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = rest.windows(cut.len()).position(|w| w == cut) {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at + cut.len()..];
    }
    out.extend_from_slice(rest);
    out
}

/// The answers of a server for these sites.
pub fn answers(sites: Arc<Vec<DemoSite>>) -> Arc<Answer> {
    let counters: Vec<AtomicUsize> = sites.iter().map(|_| AtomicUsize::new(0)).collect();
    Arc::new(move |host, path| {
        let Some(at) = sites.iter().position(|site| site.host() == host) else { return Reply::status(404) };
        let n_requests = counters[at].fetch_add(1, Ordering::Relaxed) + 1;
        sites[at].answer(path, n_requests)
    })
}
