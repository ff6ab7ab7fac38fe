//! Resolves host names: the table of `fetch.resolve` first, then the system resolver, with a cache.
//!
//! The fetcher and the HTTP client use the same resolver, so the address that was checked is the one connected to.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use rustc_hash::FxHashMap;

use super::ClientError;
use super::address::may_connect;
use dehusk_settings::Fetch;

/// How long it is cached that a name has no address.
const NEGATIVE_TTL: Duration = Duration::from_secs(30);

/// Maximum number of cached names.
const MOST_ANSWERS: usize = 100_000;

/// Resolves names. Cheap to clone.
#[derive(Clone)]
pub struct Resolver {
    inner: Arc<Inner>,
}

struct Inner {
    fetch: Fetch,
    /// Host of the proxy. Its address is not checked, because the user has chosen it.
    proxy: Option<String>,
    /// `(name, whether it covers subdomains instead, address)`. With port 0 the port of the URL is used.
    table: Vec<(String, bool, SocketAddr)>,
    answers: Mutex<FxHashMap<String, (Instant, Vec<SocketAddr>)>>,
}

/// Why a name has no address to connect to.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ResolveError {
    /// The system resolver found no address.
    #[error("{0}")]
    Unknown(String),
    /// No address of the name may be connected to.
    #[error("{0} is not public")]
    Private(IpAddr),
}

impl Resolver {
    /// A resolver with the table of `fetch.resolve`.
    pub fn new(fetch: &Fetch) -> Result<Resolver, ClientError> {
        let table = fetch.resolve.iter().map(|entry| {
            let parsed = entry.split_once('=').and_then(|(name, address)| {
                let name = name.trim().to_ascii_lowercase();
                let address = address.trim();
                let address: SocketAddr = match address.parse::<IpAddr>() {
                    Ok(ip) => SocketAddr::new(ip, 0),
                    Err(_) => address.parse().ok()?,
                };
                Some(match name.strip_prefix("*.") {
                    Some(below) => (below.to_owned(), true, address),
                    None => (name, false, address),
                })
            });
            parsed.ok_or_else(|| ClientError::Resolve(entry.clone()))
        });
        let table = table.collect::<Result<_, _>>()?;
        let proxy = url::Url::parse(&fetch.proxy).ok().and_then(|url| url.host_str().map(str::to_owned));
        let inner = Inner { fetch: fetch.clone(), proxy, table, answers: Mutex::default() };
        Ok(Resolver { inner: Arc::new(inner) })
    }

    /// The addresses of a host that may be connected to, in the resolver's order.
    pub async fn resolve(&self, host: &str) -> Result<Vec<SocketAddr>, ResolveError> {
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        let addresses = match self.known(&host) {
            Some(addresses) => addresses,
            None => {
                let found = tokio::net::lookup_host((host.as_str(), 0)).await.map(Iterator::collect::<Vec<SocketAddr>>);
                let addresses = match found {
                    Ok(addresses) => addresses,
                    Err(e) => {
                        self.remember(host, &[]);
                        return Err(ResolveError::Unknown(e.to_string()));
                    }
                };
                self.remember(host.clone(), &addresses);
                addresses
            }
        };
        // The user's own proxy may have any address.
        if self.inner.proxy.as_deref() == Some(host.as_str()) && !addresses.is_empty() {
            return Ok(addresses);
        }
        self.allowed(addresses)
    }

    /// Filters the addresses that may be connected to.
    pub(super) fn allowed(&self, addresses: Vec<SocketAddr>) -> Result<Vec<SocketAddr>, ResolveError> {
        let first = addresses.first().map(SocketAddr::ip);
        let allowed: Vec<SocketAddr> =
            addresses.into_iter().filter(|a| may_connect(a.ip(), &self.inner.fetch)).collect();
        match (allowed.is_empty(), first) {
            (false, _) => Ok(allowed),
            (true, Some(private)) => Err(ResolveError::Private(private)),
            (true, None) => Err(ResolveError::Unknown("no address".to_owned())),
        }
    }

    fn known(&self, host: &str) -> Option<Vec<SocketAddr>> {
        let listed = self.inner.table.iter().find(|(name, covers_below, _)| {
            let below = host.strip_suffix(name.as_str()).is_some_and(|rest| rest.ends_with('.'));
            if *covers_below { below } else { host == name }
        });
        if let Some((_, _, address)) = listed {
            return Some(vec![*address]);
        }
        // RFC 6761: names below localhost are always this machine.
        if host == "localhost" || host.ends_with(".localhost") {
            return Some(vec![SocketAddr::from((Ipv4Addr::LOCALHOST, 0))]);
        }
        let answers = self.inner.answers.lock().ok()?;
        answers.get(host).filter(|answer| self.holds(answer)).map(|(_, addresses)| addresses.clone())
    }

    fn holds(&self, (at, addresses): &(Instant, Vec<SocketAddr>)) -> bool {
        let ttl = self.inner.fetch.dns_ttl;
        at.elapsed() < if addresses.is_empty() { ttl.min(NEGATIVE_TTL) } else { ttl }
    }

    fn remember(&self, host: String, addresses: &[SocketAddr]) {
        if let Ok(mut answers) = self.inner.answers.lock() {
            if answers.len() >= MOST_ANSWERS {
                answers.retain(|_, answer| self.holds(answer));
            }
            if answers.len() < MOST_ANSWERS {
                answers.insert(host, (Instant::now(), addresses.to_vec()));
            }
        }
    }
}

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let resolver = self.clone();
        Box::pin(async move {
            let addresses = Resolver::resolve(&resolver, name.as_str()).await?;
            let addresses: Addrs = Box::new(addresses.into_iter());
            Ok(addresses)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dehusk_settings::Settings;

    #[tokio::test]
    async fn the_table_answers_first_and_private_addresses_are_refused() {
        let mut fetch = Settings::default().fetch;
        fetch.resolve = vec!["*.shop.test=1.1.1.1".to_owned(), "a.shop.test=10.0.0.1".to_owned()];
        fetch.resolve.push("p.test=1.1.1.1:8080".to_owned());
        let resolver = Resolver::new(&fetch).unwrap();
        assert_eq!(resolver.resolve("p.test").await.unwrap()[0].port(), 8080);
        assert_eq!(resolver.resolve("B.shop.test.").await.unwrap(), [SocketAddr::from(([1, 1, 1, 1], 0))]);
        assert!(matches!(resolver.resolve("x.localhost").await, Err(ResolveError::Private(_))));
        fetch.resolve = vec!["a.shop.test=10.0.0.1".to_owned()];
        let resolver = Resolver::new(&fetch).unwrap();
        assert!(matches!(resolver.resolve("a.shop.test").await, Err(ResolveError::Private(_))));
        fetch.resolve = vec!["nonsense".to_owned()];
        assert!(Resolver::new(&fetch).err().unwrap().to_string().contains("nonsense"));
    }
}
