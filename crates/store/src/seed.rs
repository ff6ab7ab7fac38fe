//! A URL that a list of seeds names.

use dehusk_html::PageUrl;

/// A URL to crawl.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seed {
    /// The URL.
    pub url: PageUrl,
    /// How it came.
    pub kind: SeedKind,
}

/// How a seed came. The numbers are those of the store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SeedKind {
    /// As a URL.
    #[default]
    Url = 0,
    /// As a host without a scheme: https is tried first, then http.
    Host = 1,
    /// By a sitemap, feed or OPML that is a seed itself. If it is such a list again, it names pages of its own site
    /// only: strangers do not decide which sites are crawled.
    Listed = 2,
}

impl SeedKind {
    /// The kind with this number; an unknown number is a URL.
    pub fn from_number(number: i64) -> SeedKind {
        match number {
            1 => SeedKind::Host,
            2 => SeedKind::Listed,
            _ => SeedKind::Url,
        }
    }
}

impl From<PageUrl> for Seed {
    fn from(url: PageUrl) -> Seed {
        Seed { url, kind: SeedKind::Url }
    }
}
