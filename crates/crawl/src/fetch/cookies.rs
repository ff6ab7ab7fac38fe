//! Cookies, separate for each registrable domain: a cookie with `Domain=com` reaches no other site.

use std::sync::{Arc, Mutex};

use reqwest::cookie::{CookieStore, Jar};
use reqwest::header::HeaderValue;
use rustc_hash::FxHashMap;
use url::Url;

use dehusk_settings::{ByHost, Settings, SiteSettings};

/// Cookies that a domain may set in one run.
const MOST_COOKIES: usize = 100;

/// Longest cookie that is kept, in bytes.
const MOST_BYTES: usize = 4096;

/// Domains whose cookies are kept at the same time.
const MOST_DOMAINS: usize = 20_000;

/// One cookie jar per registrable domain, for hosts whose settings keep cookies.
pub(super) struct Jars {
    jars: Mutex<FxHashMap<String, (Arc<Jar>, usize)>>,
    is_kept: ByHost<bool>,
}

impl Jars {
    /// Jars, if the cookies of any host are kept.
    pub(super) fn new(settings: &Settings) -> Option<Jars> {
        let is_named = |site: &SiteSettings| site.keys.iter().any(|(name, _)| *name == "fetch.cookies");
        let is_needed = settings.fetch.cookies || settings.sites.iter().any(is_named);
        let is_kept = ByHost::new(settings, |settings| settings.fetch.cookies);
        is_needed.then(|| Jars { jars: Mutex::default(), is_kept })
    }

    fn is_kept(&self, url: &Url) -> bool {
        self.is_kept.of(url.host_str().unwrap_or_default())
    }
}

fn domain(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    psl::domain_str(host).unwrap_or(host).to_owned()
}

impl CookieStore for Jars {
    fn set_cookies(&self, headers: &mut dyn Iterator<Item = &HeaderValue>, url: &Url) {
        if !self.is_kept(url) {
            return;
        }
        let Ok(mut jars) = self.jars.lock() else { return };
        if jars.len() >= MOST_DOMAINS {
            jars.clear();
        }
        let (jar, n) = jars.entry(domain(url)).or_default();
        let short = headers.filter(|value| value.len() <= MOST_BYTES).take(MOST_COOKIES.saturating_sub(*n));
        let short: Vec<&HeaderValue> = short.collect();
        *n += short.len();
        jar.set_cookies(&mut short.into_iter(), url);
    }

    fn cookies(&self, url: &Url) -> Option<HeaderValue> {
        if !self.is_kept(url) {
            return None;
        }
        let jars = self.jars.lock().ok()?;
        jars.get(&domain(url)).and_then(|(jar, _)| jar.cookies(url))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_stays_with_its_domain() {
        let mut settings = Settings::default();
        assert!(Jars::new(&settings).is_none());
        settings.fetch.cookies = true;
        let jars = Jars::new(&settings).unwrap();
        let url = |text: &str| Url::parse(text).unwrap();
        let wide = [HeaderValue::from_static("a=1; Domain=com"), HeaderValue::from_static("b=2; Domain=ex.com")];
        jars.set_cookies(&mut wide.iter(), &url("http://www.ex.com/"));
        assert!(jars.cookies(&url("http://other.com/")).is_none());
        let sent = jars.cookies(&url("http://blog.ex.com/")).unwrap();
        assert!(sent.to_str().unwrap().contains("b=2"));
    }
}
