//! Pages that are asked for by programs, many at the same time: one after the other for each host, as a crawl would.

use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;

use super::jobs::resolve_key;
use super::single::{Hop, Single, SingleError};
use crate::fetch::{ClientError, Fetcher, Response};
use crate::politeness::PolitenessKey;
use dehusk_core::rights::Statement;
use dehusk_html::PageUrl;
use dehusk_settings::Settings;

/// Hosts whose rules and times are remembered.
const MOST_HOSTS: usize = 10_000;

/// Fetches pages for many askers.
pub struct PolitePages {
    settings: Settings,
    fetcher: Fetcher,
    hosts: Mutex<FxHashMap<PolitenessKey, Arc<tokio::sync::Mutex<Single>>>>,
}

impl PolitePages {
    /// With connections of its own.
    ///
    /// # Errors
    ///
    /// [`ClientError`] when the HTTP client cannot be made.
    pub fn new(settings: &Settings) -> Result<PolitePages, ClientError> {
        Ok(PolitePages { settings: settings.clone(), fetcher: Fetcher::new(settings)?, hosts: Mutex::default() })
    }

    /// Fetches one page when its host is due, and follows redirects. Also gives what its site says about its use.
    ///
    /// # Errors
    ///
    /// [`SingleError`] when it cannot be had.
    pub async fn fetch(&self, url: &PageUrl) -> Result<(Response, Vec<Statement>), SingleError> {
        let mut at = url.clone();
        for _ in 0..=self.settings.fetch.max_redirects {
            let key = resolve_key(self.fetcher.resolver(), &at, self.settings.politeness.key).await;
            let host = self.host(key);
            match host.lock().await.hop(&at).await? {
                Hop::Page(response, said) => return Ok((*response, said)),
                Hop::To(target) => at = target,
            }
        }
        let limit = self.settings.fetch.max_redirects;
        Err(SingleError::Redirects { url: url.clone(), limit })
    }

    fn host(&self, key: PolitenessKey) -> Arc<tokio::sync::Mutex<Single>> {
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        if hosts.len() >= MOST_HOSTS {
            // Whoever is at work keeps its place, so that its host is not asked twice at once.
            hosts.retain(|_, host| Arc::strong_count(host) > 1);
        }
        let new = || Arc::new(tokio::sync::Mutex::new(Single::with_fetcher(self.fetcher.clone(), &self.settings)));
        Arc::clone(hosts.entry(key).or_insert_with(new))
    }
}
