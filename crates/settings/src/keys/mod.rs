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
    ("Store, exports, notices", output::OUTPUT),
];

/// All keys, in the order of the file. `preset` is the first: it sets all learning parameters, and later keys refine
/// it.
pub(super) fn all() -> impl Iterator<Item = &'static Key> {
    SECTIONS.iter().flat_map(|(_, keys)| *keys)
}
