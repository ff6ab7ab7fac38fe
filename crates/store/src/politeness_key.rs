//! The politeness key: requests with the same key share one crawl delay.

use std::fmt;
use std::net::IpAddr;

use dehusk_html::PageUrl;

use dehusk_settings::PolitenessScope;

/// A registrable domain, a host or an IP address, by [`PolitenessScope`]. An address literal or a single-label host is
/// its own key.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PolitenessKey(String);

impl PolitenessKey {
    /// The key of `url`. `address` is the resolved address of the host; without one, the scope `Ip` falls back to the
    /// host.
    pub fn new(url: &PageUrl, scope: PolitenessScope, address: Option<IpAddr>) -> PolitenessKey {
        let host = url.host().trim_end_matches('.');
        if let Some(ip) = url.ip_literal() {
            return PolitenessKey(ip.to_string());
        }
        PolitenessKey(match (scope, address) {
            (PolitenessScope::Domain, _) => psl::domain_str(host).unwrap_or(host).to_owned(),
            (PolitenessScope::Ip, Some(ip)) => ip.to_string(),
            (PolitenessScope::Host | PolitenessScope::Ip, _) => host.to_owned(),
        })
    }

    /// Restores a key from the text of [`PolitenessKey::as_str`].
    pub fn named(name: &str) -> PolitenessKey {
        PolitenessKey(name.to_owned())
    }

    /// The key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PolitenessKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for PolitenessKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn politeness_keys() {
        let key = |u: &str, k| PolitenessKey::new(&PageUrl::parse(u).unwrap(), k, Some("192.0.2.1".parse().unwrap())).0;
        assert_eq!(key("http://a.b.ex.co.uk/", PolitenessScope::Domain), "ex.co.uk");
        assert_eq!(key("http://me.github.io/", PolitenessScope::Domain), "me.github.io");
        assert_eq!(key("http://localhost/", PolitenessScope::Domain), "localhost");
        assert_eq!(key("http://127.0.0.1:8000/", PolitenessScope::Domain), "127.0.0.1");
        assert_eq!(key("http://a.b.ex.com/", PolitenessScope::Host), "a.b.ex.com");
        assert_eq!(key("http://a.b.ex.com/", PolitenessScope::Ip), "192.0.2.1");
    }
}
