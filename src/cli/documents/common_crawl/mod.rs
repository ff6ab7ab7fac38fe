//! Pages of Common Crawl: `cc:CRAWL/HOST` stands for those of a host, which the index finds, `cc:CRAWL` for all.

mod hosts;
#[cfg_attr(feature = "objects", path = "read.rs")]
#[cfg_attr(not(feature = "objects"), path = "no_objects.rs")]
mod read;

use std::path::Path;

pub(in crate::cli) use hosts::{hosts_of, named_hosts};
pub(in crate::cli) use read::Crawls;

/// What the names of such sources begin with.
const SCHEME: &str = "cc:";

/// The name of a source of Common Crawl.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Address {
    pub(super) crawl: String,
    pub(super) host: Option<String>,
}

impl Address {
    pub(super) fn parse(source: &Path) -> Option<Address> {
        let (crawl, host) = {
            let rest = source.to_str()?.strip_prefix(SCHEME)?;
            rest.split_once('/').unwrap_or((rest, ""))
        };
        let host = host.trim_end_matches('/');
        Some(Address { crawl: crawl.to_owned(), host: (!host.is_empty()).then(|| host.to_owned()) })
    }
}

/// Whether two sources are hosts of the same crawl.
pub(super) fn of_one_crawl(one: &Path, other: &Path) -> bool {
    match (Address::parse(one), Address::parse(other)) {
        (Some(one), Some(other)) => one.crawl == other.crawl && one.host.is_some() && other.host.is_some(),
        _ => false,
    }
}

/// Whether a source is of Common Crawl.
pub(in crate::cli) fn is_common_crawl(source: &str) -> bool {
    source.starts_with(SCHEME)
}
