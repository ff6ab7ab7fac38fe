//! The table of settings: key, default as TOML, one line of description, and the field that the value sets.
//!
//! `crawl.toml`, `--set`, the defaults and the rejection of unknown keys all derive from it.

mod crawl;
mod learning;
mod output;
mod papers;
mod usual;

use toml::Value;

use crate::Settings;

/// One setting.
pub(super) struct Key {
    /// Dotted name.
    pub name: &'static str,
    /// Default as TOML text. A test compares it with the typed default.
    pub default: &'static str,
    /// Description in `crawl.toml`, one line.
    pub doc: &'static str,
    /// Checks a value and sets it. The error says what was expected.
    pub set: fn(&mut Settings, &Value) -> Result<(), String>,
}

macro_rules! keys {
    ($($name:literal = $default:literal, $doc:literal, |$s:ident, $v:ident| $target:expr => $value:expr;)*) => {
        &[$(Key {
            name: $name,
            default: $default,
            doc: $doc,
            set: |$s, $v| { $target = $value; Ok(()) },
        }),*]
    };
}
use keys;

/// Sections of `crawl.toml`: a heading and its keys.
pub(super) const SECTIONS: [(&str, &[Key]); 5] = [
    ("What people set", usual::USUAL),
    ("Crawl: budgets, traps, revisits, politeness, the network", crawl::CRAWL),
    ("Pages, learning, cleaning", learning::LEARNING),
    ("Published methods, clusters, template strings", papers::PAPERS),
    ("Store, exports, Common Crawl, notices", output::OUTPUT),
];

/// All keys, in the order of the file. `preset` is the first: it sets all learning parameters, and later keys refine
/// it.
pub(super) fn all() -> impl Iterator<Item = &'static Key> {
    SECTIONS.iter().flat_map(|(_, keys)| *keys)
}

/// Keys that a `[[site]]` table may have.
pub(super) const OF_SITES: [&str; 49] = [
    "crawl.pages_per_site",
    "crawl.depth",
    "crawl.scope",
    "crawl.order",
    "crawl.include",
    "crawl.exclude",
    "crawl.sitemaps",
    "crawl.feeds",
    "crawl.strings",
    "crawl.withhold",
    "crawl.probe",
    "crawl.ignore_changes",
    "crawl.learn_changing",
    "crawl.drop_parameters",
    "crawl.max_url_bytes",
    "crawl.max_path_segments",
    "crawl.max_repeats",
    "crawl.max_queries",
    "crawl.max_calendar_years",
    "crawl.site.max_requests",
    "crawl.site.max_failures",
    "crawl.site.max_bytes",
    "crawl.site.max_seconds",
    "crawl.site.max_pages",
    "politeness.delay",
    "politeness.delay_from",
    "politeness.max_crawl_delay",
    "politeness.adaptive",
    "politeness.max_back_off",
    "fetch.headers",
    "fetch.cookies",
    "fetch.retries",
    "fetch.max_redirects",
    "fetch.render",
    "render.origins",
    "render.requests",
    "render.bytes",
    "render.settled",
    "render.seconds",
    "render.patience",
    "render.nodes",
    "revisit.first",
    "revisit.least",
    "revisit.most",
    "revisit.shrink",
    "revisit.grow",
    "template.min_freshness",
    "template.relearn",
    "store.keep_versions",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keys_of_sites_exist() {
        for name in OF_SITES {
            assert!(all().any(|key| key.name == name), "{name}");
        }
    }
}
