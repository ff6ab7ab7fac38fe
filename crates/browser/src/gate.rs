//! What a page may ask for, and who answers.

use std::future::Future;

use bytes::Bytes;
use url::Url;

/// Answers the requests of pages.
pub trait Gate: Send + Sync {
    /// Whether a URL is outside of the site of the page.
    fn is_foreign(&self, url: &Url) -> bool;

    /// The answer to a request; `None` where it is not to be had. The clock of the page stands still until then.
    fn ask(&self, wanted: Wanted) -> impl Future<Output = Option<Answer>> + Send;
}

/// A GET request of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Without its fragment.
    pub url: Url,
    /// Header lines that its scripts have set, and `Accept`.
    pub headers: Vec<(String, String)>,
    /// Whether the host is outside of the site of the page.
    pub is_foreign: bool,
}

/// A response as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// Header lines.
    pub headers: Vec<(String, String)>,
    /// Decoded body.
    pub body: Bytes,
}

/// Hosts that a page may ask.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Origins {
    /// Those of its site.
    #[default]
    Site,
    /// Those of its site; where that leaves the page without text, all.
    Needed,
    /// All.
    All,
}
