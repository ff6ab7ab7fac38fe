//! Where Common Crawl is.

/// `[common_crawl]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommonCrawl {
    /// Address of HTTP or of an object store, or a folder.
    pub base: String,
    /// Requests that run at the same time.
    pub connections: usize,
}

impl Default for CommonCrawl {
    fn default() -> CommonCrawl {
        CommonCrawl { base: "https://data.commoncrawl.org/".to_owned(), connections: 8 }
    }
}
