//! Page URLs and sites.
//!
//! A URL is normalized when it is created, so URLs are compared with `==`. Nothing here uses the network, and host
//! names are never resolved.

mod base;
mod canonical;

use std::borrow::Cow;
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use encoding_rs::{Encoding, UTF_8};
use serde::{Deserialize, Serialize};
use url::Url;

pub use base::base_url;

/// An http(s) URL, normalized by the WHATWG rules, without fragment, credentials and a dot after the host. Cheap to
/// clone.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PageUrl(Arc<Url>);

/// Why a string is not a [`PageUrl`].
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum UrlError {
    /// The WHATWG parser refused it.
    #[error("{url}: not a URL ({reason})")]
    Syntax {
        /// The text as given.
        url: String,
        /// The parser's reason.
        reason: String,
    },
    /// Its scheme is neither http nor https.
    #[error("{url}: only http and https URLs name pages")]
    Scheme {
        /// The text as given.
        url: String,
    },
}

impl PageUrl {
    /// Parses an absolute URL. User name and password are dropped, because they do not identify the page.
    pub fn parse(text: &str) -> Result<PageUrl, UrlError> {
        let url =
            Url::parse(text.trim()).map_err(|e| UrlError::Syntax { url: text.to_owned(), reason: e.to_string() })?;
        if url.host_str().is_some_and(has_empty_label) {
            return Err(UrlError::Syntax { url: text.to_owned(), reason: "empty label in the host".to_owned() });
        }
        PageUrl::canonical(url).ok_or_else(|| UrlError::Scheme { url: text.to_owned() })
    }

    /// Resolves `href` as a link on this page.
    pub fn join(&self, href: &str) -> Option<PageUrl> {
        self.join_in(href, UTF_8.name())
    }

    /// Resolves `href` as a link on this page, which was decoded with `charset`. Its query is written in that charset,
    /// as servers of such pages expect it.
    pub fn join_in(&self, href: &str, charset: &str) -> Option<PageUrl> {
        join(&self.0, href, charset).and_then(PageUrl::canonical)
    }

    fn canonical(mut url: Url) -> Option<PageUrl> {
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(has_empty_label) {
            return None;
        }
        url.set_fragment(None);
        // `example.org.` is the same host, and servers know their names without the dot.
        if let Some(host) = url.host_str().and_then(|host| host.strip_suffix('.')).map(str::to_owned) {
            url.set_host(Some(&host)).ok()?;
        }
        if !url.username().is_empty() || url.password().is_some() {
            url.set_username("").ok()?;
            url.set_password(None).ok()?;
        }
        Some(PageUrl(Arc::new(url)))
    }

    /// The URL as text.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The parsed form.
    pub fn url(&self) -> &Url {
        &self.0
    }

    /// Host name or address literal, lower case (IPv6 in brackets).
    pub fn host(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }

    /// The host, with the port if it is not the default of the scheme: the name of a site in the store.
    pub fn authority(&self) -> String {
        match self.0.port() {
            Some(port) => format!("{}:{port}", self.host()),
            None => self.host().to_owned(),
        }
    }

    /// The port that a request goes to.
    pub fn port(&self) -> u16 {
        self.0.port_or_known_default().unwrap_or(80)
    }

    /// Percent-encoded path, beginning with `/`.
    pub fn path(&self) -> &str {
        self.0.path()
    }

    /// `scheme://host:port`, the scope of a robots.txt (RFC 9309, 2.3).
    pub fn origin(&self) -> String {
        self.0.origin().ascii_serialization()
    }

    /// The same path and query on the origin of `other`, for sites that are served under several host names.
    pub fn on_origin_of(&self, other: &PageUrl) -> Option<PageUrl> {
        let mut url = Url::clone(&other.0);
        url.set_path(self.0.path());
        url.set_query(self.0.query());
        PageUrl::canonical(url)
    }

    /// The URL with the scheme of `other`. A URL with a port other than the default is returned unchanged.
    fn with_scheme_of(self, other: &PageUrl) -> PageUrl {
        if self.0.port().is_some() || self.0.scheme() == other.0.scheme() {
            return self;
        }
        let mut url = Url::clone(&self.0);
        // `set_scheme` fails only between special and other schemes; http and https are both special.
        let _ = url.set_scheme(other.0.scheme());
        PageUrl(Arc::new(url))
    }

    /// The canonical spelling, which identifies the page (`canonical.rs`). Requests use the URL as it was linked,
    /// because servers may distinguish spellings.
    pub fn canonical_text(&self) -> String {
        canonical::text(&self.0)
    }

    /// 64-bit fingerprint of the canonical text, as stored in the sets of seen URLs.
    pub fn fingerprint(&self) -> u64 {
        xxhash_rust::xxh3::xxh3_64(self.canonical_text().as_bytes())
    }

    /// The URL without the query parameters and path parameters (`;name=`) that `drops` selects by lower-case name.
    pub fn without_parameters(&self, drops: impl Fn(&str) -> bool) -> PageUrl {
        canonical::without_parameters(&self.0, drops).map_or_else(|| self.clone(), |url| PageUrl(Arc::new(url)))
    }

    /// The IP address, if the host is an address literal.
    pub fn ip_literal(&self) -> Option<IpAddr> {
        match self.0.host()? {
            url::Host::Ipv4(ip) => Some(IpAddr::V4(ip)),
            url::Host::Ipv6(ip) => Some(IpAddr::V6(ip)),
            url::Host::Domain(_) => None,
        }
    }
}

/// Resolves `href` against an address. Its query is written in `charset`.
pub fn join(base: &Url, href: &str, charset: &str) -> Option<Url> {
    let href = href.trim();
    // A host follows any number of slashes, as in browsers.
    let rest = href.trim_start_matches(['/', '\\']);
    let with_host = (href.len() - rest.len() > 2).then(|| format!("//{rest}"));
    let href = with_host.as_deref().unwrap_or(href);
    let encoding = Encoding::for_label(charset.as_bytes()).filter(|_| !href.is_ascii()).unwrap_or(UTF_8);
    let encode = encoder(|query| Cow::Owned(encoding.encode(query).0.into_owned()));
    let options = Url::options().base_url(Some(base));
    if encoding == UTF_8 { options.parse(href).ok() } else { options.encoding_override(Some(&encode)).parse(href).ok() }
}

/// Gives a closure the lifetimes that the parser wants.
fn encoder(encode: impl Fn(&str) -> Cow<'_, [u8]>) -> impl Fn(&str) -> Cow<'_, [u8]> {
    encode
}

impl fmt::Display for PageUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_str())
    }
}

impl fmt::Debug for PageUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_str())
    }
}

/// What two URLs must share to belong to the same site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SameSite {
    /// The host, `www.` ignored.
    Host,
    /// The registrable domain by the public suffix list.
    Registrable,
}

/// The site of a key page. It decides which links are internal.
///
/// `http` and `https` on their default ports are one site. URLs get the scheme of the key page, so a page that is
/// linked with both schemes is one page. Any other port is another site, with one exception: if the key page has such a
/// port, links to its host without a port are internal, because mirrors and previews link to themselves that way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    key: PageUrl,
    aliases: Vec<String>,
    same: SameSite,
}

impl Site {
    /// The site that `key` belongs to.
    pub fn new(key: &PageUrl, same: SameSite) -> Site {
        Site { key: key.clone(), aliases: Vec::new(), same }
    }

    /// Adds host names under which the same pages are served. Links to them get the origin of the key page.
    pub fn with_aliases(mut self, aliases: &[String]) -> Site {
        self.aliases = aliases.iter().map(|a| bare(a).to_owned()).collect();
        self
    }

    /// The key page.
    pub fn key(&self) -> &PageUrl {
        &self.key
    }

    /// The host name of the key page.
    pub fn host(&self) -> &str {
        self.key.host()
    }

    /// The URL as a page of this site, or `None` if it is external.
    pub fn claim(&self, url: PageUrl) -> Option<PageUrl> {
        // Pages of a mirror with its own port link to the host without a port.
        let drops_port = comparable_port(&url) == 0 && comparable_port(&self.key) != 0;
        let is_mirror = drops_port && bare(url.host()) == bare(self.key.host());
        if is_mirror || self.aliases.iter().any(|a| a == bare(url.host())) {
            return url.on_origin_of(&self.key);
        }
        let same_host = match self.same {
            SameSite::Host => bare(url.host()) == bare(self.key.host()),
            SameSite::Registrable => registrable(url.host()) == registrable(self.key.host()),
        };
        let same_port = comparable_port(&url) == comparable_port(&self.key);
        (same_host && same_port).then(|| url.with_scheme_of(&self.key))
    }
}

/// The port, or 0 for the default port of the scheme, so that http and https compare equal.
fn comparable_port(url: &PageUrl) -> u16 {
    url.url().port().unwrap_or(0)
}

fn bare(host: &str) -> &str {
    host.strip_prefix("www.").unwrap_or(host)
}

fn registrable(host: &str) -> &str {
    psl::domain_str(host).unwrap_or(host)
}

/// Whether a host is no name: `..` in it would make another host of it once the dot at its end is dropped.
fn has_empty_label(host: &str) -> bool {
    host.strip_suffix('.').unwrap_or(host).split('.').any(str::is_empty)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> PageUrl {
        PageUrl::parse(text).unwrap()
    }

    #[test]
    fn urls_are_canonical_once_made() {
        assert_eq!(url("HTTP://Ex.Com:80/a#b").as_str(), "http://ex.com/a");
        assert_eq!(url("http://u:p@ex.com/").as_str(), "http://ex.com/");
        assert_eq!(url("http://ex.com.:81/a").as_str(), "http://ex.com:81/a");
        assert_eq!(url("http://ex.com/a/b").join("../c?d=1#e"), Some(url("http://ex.com/c?d=1")));
        assert_eq!(url("http://ex.com/").join("mailto:x@ex.com"), None);
        for slashes in ["//", "///", "/\\/", "////"] {
            assert_eq!(
                url("http://ex.com/").join(&format!("{slashes}t.com/p")),
                Some(url("http://t.com/p")),
                "{slashes}"
            );
        }
        let query =
            |charset| url("http://ex.com/").join_in("/s\u{fc}?q=M\u{fc}ller\u{20ac}", charset).unwrap().to_string();
        assert_eq!(query("windows-1252"), "http://ex.com/s%C3%BC?q=M%FCller%80");
        assert_eq!(query("UTF-8"), "http://ex.com/s%C3%BC?q=M%C3%BCller%E2%82%AC");
        assert!(matches!(PageUrl::parse("ftp://ex.com/"), Err(UrlError::Scheme { .. })));
        assert!(matches!(PageUrl::parse("ex.com"), Err(UrlError::Syntax { .. })));
    }

    #[test]
    fn a_site_ignores_www_and_scheme_but_not_the_port() {
        let site = Site::new(&url("http://www.ex.com/"), SameSite::Host);
        assert_eq!(site.claim(url("https://ex.com/a")), Some(url("http://ex.com/a")));
        assert!(site.claim(url("http://blog.ex.com/a")).is_none());
        assert!(site.claim(url("http://ex.com:8080/a")).is_none());
        let mirror = Site::new(&url("http://ex.com:8080/"), SameSite::Host);
        assert_eq!(mirror.claim(url("https://www.ex.com/a")), Some(url("http://ex.com:8080/a")));
        assert!(mirror.claim(url("http://ex.com:9090/a")).is_none());
        let wide = Site::new(&url("http://www.ex.co.uk/"), SameSite::Registrable);
        assert!(wide.claim(url("http://blog.ex.co.uk/a")).is_some());
        assert!(wide.claim(url("http://other.co.uk/a")).is_none());
    }

    #[test]
    fn an_alias_is_rewritten_to_the_key_host() {
        let site = Site::new(&url("http://127.0.0.1:81/"), SameSite::Host).with_aliases(&["www.ex.com".to_owned()]);
        assert_eq!(site.claim(url("https://ex.com/a?b")).unwrap().as_str(), "http://127.0.0.1:81/a?b");
    }
}
