//! Names of sites and pages as people write them.

use std::convert::Infallible;

use super::Failure;
use anyhow::anyhow;
use dehusk_html::PageUrl;
use dehusk_store::{PageRow, Store};

/// A host, or the host of a URL.
#[allow(clippy::unnecessary_wraps, reason = "the form of a value parser of clap")]
pub(super) fn host_name(text: &str) -> Result<String, Infallible> {
    Ok(PageUrl::parse(text).map_or_else(|_| text.trim_end_matches('/').to_owned(), |url| url.authority()))
}

/// The newest snapshot of a page, whose URL may lack its scheme, or have a fragment, or differ in its last slash.
pub(super) fn find_page(store: &Store, text: &str) -> Result<PageRow, Failure> {
    let work = |e: dehusk_store::StoreError| Failure::Work(e.into());
    for url in spellings(text) {
        if let Some(row) = store.find_page(&url).map_err(work)? {
            return Ok(row);
        }
    }
    let near = store.near_hosts(&host_of(text)).map_err(work)?;
    let hint = match &near[..] {
        [] => "`dehusk pages list` shows those that exist".to_owned(),
        [host] => format!("`dehusk pages list {host}` shows those of {host}"),
        hosts => format!("stored hosts with a name like it: {}", hosts.join(", ")),
    };
    Err(Failure::Nothing(anyhow!("{text}: no snapshot; {hint}")))
}

fn host_of(text: &str) -> String {
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    rest.split(['/', '?', '#']).next().unwrap_or_default().to_owned()
}

/// The spellings that are tried, the given one first.
pub(super) fn spellings(text: &str) -> Vec<String> {
    let mut found = vec![text.to_owned()];
    let schemes: &[&str] = if text.contains("://") { &[""] } else { &["http://", "https://"] };
    for scheme in schemes {
        let Ok(url) = PageUrl::parse(&format!("{scheme}{text}")) else { continue };
        let url = url.to_string();
        let other = match url.strip_suffix('/') {
            Some(without) => without.to_owned(),
            None => format!("{url}/"),
        };
        let other_scheme = |url: &str| match url.strip_prefix("http://") {
            Some(rest) => format!("https://{rest}"),
            None => url.replacen("https://", "http://", 1),
        };
        found.extend([url.clone(), other.clone(), other_scheme(&url), other_scheme(&other)]);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_and_urls_are_understood_as_written() {
        let host = |text: &str| host_name(text).unwrap();
        assert_eq!(
            (host("http://a.org:81/x"), host("a.org/"), host("a.org")),
            ("a.org:81".into(), "a.org".into(), "a.org".into())
        );
        let all = spellings("http://a.org/x#top");
        assert!(all.contains(&"http://a.org/x".to_owned()) && all.contains(&"https://a.org/x/".to_owned()), "{all:?}");
        assert!(spellings("a.org/x/").contains(&"https://a.org/x".to_owned()));
        assert_eq!(host_of("http://a.org:81/x?y"), "a.org:81");
    }
}
