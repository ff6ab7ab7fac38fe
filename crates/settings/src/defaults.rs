//! Defaults of the crawl settings. The defaults of the core are defined in its modules.

use std::time::Duration;

use crate::{
    Budget, Crawl, DelayFrom, Fetch, Keep, Mode, NoindexPages, Order, Politeness, PolitenessScope, Render, Revisit,
    ScopeOf, Store, TemplateKeeping,
};

/// Session and tracking parameters.
const DROPPED_PARAMETERS: [&str; 17] = [
    "utm_*",
    "gclid",
    "dclid",
    "fbclid",
    "msclkid",
    "yclid",
    "mc_cid",
    "mc_eid",
    "_ga",
    "igshid",
    "phpsessid",
    "jsessionid",
    "aspsessionid*",
    "cfid",
    "cftoken",
    "zenid",
    "osCsid",
];

impl Default for Crawl {
    fn default() -> Crawl {
        Crawl {
            seeds: vec!["seeds/example.txt".to_owned()],
            sites_at_once: 256,
            cpu_threads: 0,
            network_threads: 0,
            mode: Mode::Full,
            purpose: None,
            withhold: true,
            probe: true,
            ignore_changes: Vec::new(),
            learn_changing: true,
            pages_per_site: 0,
            depth: 0,
            order: Order::Paper,
            scope: ScopeOf::Host,
            include: Vec::new(),
            exclude: Vec::new(),
            never: Vec::new(),
            budget: Budget::default(),
            site: Budget { max_failures: 100, ..Budget::default() },
            site_max_pages: 0,
            sitemaps: true,
            feeds: true,
            strings: true,
            drop_parameters: DROPPED_PARAMETERS.map(str::to_owned).to_vec(),
            max_url_bytes: 2000,
            max_path_segments: 20,
            max_repeats: 3,
            max_queries: 5000,
            max_calendar_years: 30,
            resume_within: Duration::from_hours(20),
            stop_within: Duration::from_secs(30),
            memory: 1_000_000_000,
        }
    }
}

impl Default for TemplateKeeping {
    fn default() -> TemplateKeeping {
        TemplateKeeping { min_freshness: 0.8, relearn: false }
    }
}

impl Default for Revisit {
    fn default() -> Revisit {
        Revisit {
            first: Duration::from_hours(20),
            least: Duration::from_hours(1),
            most: Duration::from_hours(24 * 30),
            shrink: 0.8,
            grow: 1.4,
            all: false,
        }
    }
}

impl Default for Politeness {
    fn default() -> Politeness {
        Politeness {
            delay: Duration::from_secs(1),
            delay_from: DelayFrom::End,
            key: PolitenessScope::Domain,
            max_crawl_delay: Duration::from_mins(1),
            adaptive: 0.0,
            max_back_off: Duration::from_mins(10),
            park_after: 5,
            robots_agents: Vec::new(),
            robots_ttl: Duration::from_hours(24),
        }
    }
}

impl Default for Fetch {
    fn default() -> Fetch {
        Fetch {
            user_agent: "dehusk/0.1 (+https://example.org/set-fetch.user_agent)".to_owned(),
            allow_private: false,
            resolve: Vec::new(),
            allow_networks: Vec::new(),
            deny_networks: Vec::new(),
            dns_ttl: Duration::from_mins(5),
            ca_file: String::new(),
            proxy: String::new(),
            headers: Vec::new(),
            cookies: false,
            min_rate: 200,
            connect_timeout: Duration::from_secs(10),
            timeout: Duration::from_secs(30),
            max_raw_bytes: 10_000_000,
            max_bytes: 40_000_000,
            max_redirects: 5,
            retries: 1,
            in_flight: 256,
            requests_per_second: 0,
            bytes_per_second: 0,
            requests_per_second_per_address: 0,
            render: Render::Never,
        }
    }
}

impl Default for Store {
    fn default() -> Store {
        Store {
            path: "dehusk.db".to_owned(),
            zstd_level: 3,
            noindex: NoindexPages::Hide,
            keep: Keep::default(),
            lease: Duration::from_secs(30),
        }
    }
}
