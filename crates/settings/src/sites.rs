//! `[[site]]`: settings of some hosts, over those of all.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use toml::Value;

use crate::keys::all;
use crate::{Render, Settings};

/// A `[[site]]` table: keys that have another value for some hosts. They are valid.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SiteSettings {
    /// Names of hosts. `example.org` is the host with its subdomains, `*.example.org` its subdomains only, `*` any
    /// host.
    pub hosts: Vec<String>,
    /// Names of keys with their values.
    pub keys: Vec<(&'static str, Value)>,
}

impl Settings {
    /// The settings of a host: each `[[site]]` table that names it is applied, in the order of the file.
    pub fn of_host(&self, host: &str) -> Settings {
        let names = SiteNames::new(&self.sites);
        self.with_sites(&names.matching(host))
    }

    /// The settings with these tables applied.
    fn with_sites(&self, tables: &[usize]) -> Settings {
        let mut settings = self.clone();
        let keys = tables.iter().filter_map(|table| self.sites.get(*table)).flat_map(|site| &site.keys);
        for (name, value) in keys {
            // Further headers are sent beside those of all hosts.
            let headers = settings.fetch.headers.clone();
            if let Some(key) = all().find(|key| key.name == *name)
                && (key.set)(&mut settings, value).is_ok()
                && *name == "fetch.headers"
            {
                settings.fetch.headers.splice(0..0, headers);
            }
        }
        settings
    }

    /// Whether pages of any host are rendered.
    pub fn renders_any(&self) -> bool {
        let of_tables = (0..self.sites.len()).map(|table| self.with_sites(&[table]).fetch.render);
        of_tables.fold(self.fetch.render, |all, own| if all == Render::Never { own } else { all }) != Render::Never
    }

    /// The longest minimum delay of any host.
    pub fn longest_delay(&self) -> std::time::Duration {
        let delays = (0..self.sites.len()).map(|table| self.with_sites(&[table]).politeness.delay);
        delays.fold(self.politeness.delay, std::time::Duration::max)
    }
}

/// The tables by the names of their hosts. A look-up takes one step for each label of a host name.
#[derive(Debug, Default)]
pub(crate) struct SiteNames {
    /// Tables for a host with its subdomains.
    of_domain: HashMap<String, Vec<usize>>,
    /// Tables for the subdomains only. The empty name has all hosts.
    of_subdomains: HashMap<String, Vec<usize>>,
}

impl SiteNames {
    fn new(sites: &[SiteSettings]) -> SiteNames {
        SiteNames::of(sites.iter().map(|site| site.hosts.as_slice()))
    }

    /// The names of hosts of each table.
    pub(crate) fn of<'a>(tables: impl Iterator<Item = &'a [String]>) -> SiteNames {
        let mut names = SiteNames::default();
        for (table, hosts) in tables.enumerate() {
            for host in hosts {
                let (of, name) = match host.strip_prefix('*') {
                    Some(parent) => (&mut names.of_subdomains, parent.trim_start_matches('.')),
                    None => (&mut names.of_domain, host.as_str()),
                };
                of.entry(name.to_owned()).or_default().push(table);
            }
        }
        names
    }

    /// The tables that name a host, in the order of the file.
    pub(crate) fn matching(&self, host: &str) -> Vec<usize> {
        let mut found: Vec<usize> = Vec::new();
        let mut add = |tables: Option<&Vec<usize>>| found.extend(tables.into_iter().flatten());
        add(self.of_domain.get(host));
        let mut rest = host;
        while let Some((_, parent)) = rest.split_once('.') {
            add(self.of_domain.get(parent));
            add(self.of_subdomains.get(parent));
            rest = parent;
        }
        add(self.of_subdomains.get(""));
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// Something that is made of the settings of a host: once for all hosts that the same tables name.
pub struct ByHost<T> {
    usual: T,
    settings: Arc<Settings>,
    names: SiteNames,
    make: Box<dyn Fn(&Settings) -> T + Send + Sync>,
    made: Mutex<HashMap<Vec<usize>, T>>,
}

impl<T: Clone> ByHost<T> {
    /// What `make` makes of the settings of each host.
    pub fn new(settings: &Settings, make: impl Fn(&Settings) -> T + Send + Sync + 'static) -> ByHost<T> {
        ByHost {
            usual: make(settings),
            settings: Arc::new(settings.clone()),
            names: SiteNames::new(&settings.sites),
            make: Box::new(make),
            made: Mutex::default(),
        }
    }

    /// What is made of the settings that no table changes.
    pub fn usual(&self) -> &T {
        &self.usual
    }

    /// Whether it is the same for all hosts.
    pub fn is_uniform(&self) -> bool {
        self.settings.sites.is_empty()
    }

    /// That of a host.
    pub fn of(&self, host: &str) -> T {
        if self.is_uniform() {
            return self.usual.clone();
        }
        let tables = self.names.matching(host);
        if tables.is_empty() {
            return self.usual.clone();
        }
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = made.get(&tables) {
            return known.clone();
        }
        let new = (self.make)(&self.settings.with_sites(&tables));
        made.insert(tables, new.clone());
        new
    }
}

impl<T> std::fmt::Debug for ByHost<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ByHost").field("names", &self.names).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const FILE: &str = r#"
        fetch.headers = ["From: me@my.org"]
        [[site]]
        host = ["Example.org", "*.shop.test"]
        politeness.delay = 5
        crawl.site.max_requests = 7
        [[site]]
        host = "news.example.org"
        politeness.delay = 2
        [site.fetch]
        headers = ["Cookie: consent=1"]
        cookies = true
        [[site]]
        host = "*"
        revisit.first = "2d"
    "#;

    #[test]
    fn tables_apply_in_the_order_of_the_file() {
        let settings = Settings::load(Some(("crawl.toml", FILE)), &[]).unwrap();
        let delay = |host: &str| settings.of_host(host).politeness.delay.as_secs();
        assert_eq!((delay("example.org"), delay("www.example.org"), delay("news.example.org")), (5, 5, 2));
        assert_eq!((delay("shop.test"), delay("a.shop.test"), delay("notexample.org")), (1, 5, 1));
        let news = settings.of_host("news.example.org");
        assert_eq!(news.crawl.site.max_requests, 7);
        let names: Vec<&str> = news.fetch.headers.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!((names, news.fetch.cookies), (vec!["From", "Cookie"], true));
        assert_eq!(settings.of_host("other.net").revisit.first, Duration::from_secs(2 * 86_400));
        assert_eq!(settings.longest_delay().as_secs(), 5);
    }

    #[test]
    fn what_is_made_of_the_settings_is_made_once_for_the_same_tables() {
        let settings = Settings::load(Some(("crawl.toml", FILE)), &[]).unwrap();
        let by_host = ByHost::new(&settings, |settings| Arc::new(settings.politeness.delay));
        assert!(Arc::ptr_eq(&by_host.of("example.org"), &by_host.of("a.shop.test")));
        assert!(!Arc::ptr_eq(&by_host.of("example.org"), &by_host.of("other.net")));
        let uniform = ByHost::new(&Settings::default(), |settings| settings.politeness.delay);
        assert_eq!((uniform.is_uniform(), uniform.of("example.org").as_secs()), (true, 1));
    }

    #[test]
    fn a_table_with_a_fault_is_refused() {
        let refusal = |text: &str| Settings::load(Some(("f", text)), &[]).unwrap_err().to_string();
        assert_eq!(
            refusal("[[site]]\npoliteness.delay = 2"),
            "f: `site 1: host`: expected names of hosts, such as \"example.org\" or \"*.example.org\""
        );
        assert_eq!(
            refusal("[[site]]\nhost = \"http://a.org/\""),
            "f: `site 1: host = \"http://a.org/\"`: expected names of hosts, such as \"example.org\" or \"*.example.org\""
        );
        assert_eq!(
            refusal("[[site]]\nhost = \"a.org\"\n[[site]]\nhost = \"b.org\"\nstore.path = \"x\""),
            "f: `site 2: store.path`: this key has one value for all sites"
        );
        assert!(
            refusal("[[site]]\nhost = \"a.org\"\npoliteness.delai = 2").contains("did you mean `politeness.delay`?")
        );
        assert!(refusal("[[site]]\nhost = \"a.org\"\npoliteness.delay = -2").contains("site 1: politeness.delay = -2"));
        assert!(refusal("site = 1").contains("[[site]]"));
        assert!(refusal("[site]\nhost = \"a.org\"").contains("[[site]]"));
    }
}
