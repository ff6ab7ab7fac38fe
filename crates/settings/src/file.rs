//! Loads `crawl.toml` and `--set KEY=VALUE` into [`Settings`]. Only this module rejects a setting.

use toml::{Table, Value};

use crate::keys::{Key, OF_SITES, all};
use crate::values::{host_names, literal};
use crate::{Settings, SiteSettings};
use dehusk_template::learn_options::Preset;

/// Why settings were rejected.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The file is not TOML.
    #[error("{file}: {reason}")]
    Syntax {
        /// The file, as named by the user.
        file: String,
        /// The parser's message, with the line.
        reason: String,
    },
    /// The key does not exist.
    #[error("{origin}: unknown key `{key}`{}", nearest(key))]
    Unknown {
        /// File or `--set`.
        origin: String,
        /// The dotted key.
        key: String,
    },
    /// The key exists, but the value is not valid.
    #[error("{origin}: `{key} = {value}`: {expected}")]
    Value {
        /// File or `--set`.
        origin: String,
        /// The dotted key.
        key: String,
        /// The value as given.
        value: String,
        /// The expected value.
        expected: String,
    },
    /// A `[[site]]` table has a fault.
    #[error("{origin}: `{place}`: {expected}")]
    Site {
        /// File.
        origin: String,
        /// The number of the table, from 1, and the key.
        place: String,
        /// The expected value.
        expected: String,
    },
    /// A key needs another one.
    #[error("`{key}` needs `{other}`: {why}")]
    Needs {
        /// The key that was given.
        key: &'static str,
        /// The key that is missing.
        other: &'static str,
        /// What it is needed for.
        why: &'static str,
    },
    /// `--set` without an equals sign.
    #[error("--set {given}: expected KEY=VALUE, such as --set politeness.delay=2")]
    NotAPair {
        /// The argument.
        given: String,
    },
}

/// A setting as given: its origin, key and value.
struct Given {
    origin: String,
    key: &'static Key,
    value: Value,
}

impl Given {
    fn new(origin: &str, name: &str, value: Value) -> Result<Given, SettingsError> {
        Ok(Given { origin: origin.to_owned(), key: find(origin, name)?, value })
    }
}

impl Settings {
    /// Settings from the text of a `crawl.toml` (`None`: all defaults), then each `KEY=VALUE` in order.
    ///
    /// # Errors
    ///
    /// [`SettingsError`] for text that is not TOML, an unknown key or a value out of range.
    pub fn load(file: Option<(&str, &str)>, sets: &[String]) -> Result<Settings, SettingsError> {
        let (mut given, mut sites) = (Vec::new(), Vec::new());
        if let Some((name, text)) = file {
            let mut table: Table = text
                .parse()
                .map_err(|e: toml::de::Error| SettingsError::Syntax { file: name.to_owned(), reason: e.to_string() })?;
            sites = sites_of(name, table.remove(SITE))?;
            collect(name, "", &table, &mut given)?;
        }
        for pair in sets {
            let (key, value) = pair.split_once('=').ok_or_else(|| SettingsError::NotAPair { given: pair.clone() })?;
            given.push(Given::new("--set", key.trim(), literal(value.trim()))?);
        }
        // The last preset is applied first, so that other keys refine it regardless of order.
        given.sort_by_key(|given| given.key.name != "preset");
        let mut settings = Settings { sites, ..Settings::default() };
        for Given { origin, key, value } in given {
            (key.set)(&mut settings, &value).map_err(|expected| SettingsError::Value {
                origin,
                key: key.name.to_owned(),
                value: value.to_string(),
                expected,
            })?;
        }
        settings.checked()
    }

    /// Refuses keys that need others which are not there.
    fn checked(self) -> Result<Settings, SettingsError> {
        let needs = |key, other, why| Err(SettingsError::Needs { key, other, why });
        let notify = &self.notify;
        if !notify.smtp.is_empty() && notify.from.is_empty() {
            return needs("notify.smtp", "notify.from", "a server takes no mail without a sender");
        }
        if !notify.secret.is_empty() && notify.webhook.is_empty() {
            return needs("notify.secret", "notify.webhook", "the secret signs what is posted there");
        }
        Ok(self)
    }

    /// The same settings with the learning parameters of `preset`.
    pub fn with_preset(mut self, preset: Preset) -> Settings {
        self.core.learn = preset.learn();
        self
    }
}

/// The names of all keys, for tests and completion.
pub fn key_names() -> impl Iterator<Item = &'static str> {
    all().map(|key| key.name)
}

/// Name of the tables of some hosts.
const SITE: &str = "site";

/// The `[[site]]` tables, with values that are valid.
fn sites_of(file: &str, given: Option<Value>) -> Result<Vec<SiteSettings>, SettingsError> {
    let wrong = |place: String, expected: &str| SettingsError::Site {
        origin: file.to_owned(),
        place,
        expected: expected.to_owned(),
    };
    let tables = match given {
        None => return Ok(Vec::new()),
        Some(Value::Array(tables)) => tables,
        Some(_) => return Err(wrong(SITE.to_owned(), "expected tables that begin with [[site]]")),
    };
    let site = |(at, table): (usize, Value)| {
        let number = format!("{SITE} {}: ", at + 1);
        let Value::Table(mut table) = table else {
            return Err(wrong(SITE.to_owned(), "expected tables that begin with [[site]]"));
        };
        let host = table.remove("host");
        let shown = host.as_ref().map_or_else(String::new, |host| format!(" = {host}"));
        let hosts = host_names(host.as_ref()).map_err(|expected| wrong(format!("{number}host{shown}"), &expected))?;
        let mut keys = Vec::new();
        collect(file, "", &table, &mut keys)?;
        let mut scratch = Settings::default();
        for Given { key, value, .. } in &keys {
            if !OF_SITES.contains(&key.name) {
                return Err(wrong(format!("{number}{}", key.name), "this key has one value for all sites"));
            }
            let place = || format!("{number}{} = {value}", key.name);
            (key.set)(&mut scratch, value).map_err(|expected| wrong(place(), &expected))?;
        }
        Ok(SiteSettings { hosts, keys: keys.into_iter().map(|given| (given.key.name, given.value)).collect() })
    };
    tables.into_iter().enumerate().map(site).collect()
}

pub(crate) fn refines_preset(table: &str) -> bool {
    matches!(table, "links" | "subdigraph" | "label" | "site_model" | "etdm")
}

fn collect(origin: &str, prefix: &str, table: &Table, out: &mut Vec<Given>) -> Result<(), SettingsError> {
    for (name, value) in table {
        let dotted = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        match value {
            // Of a section with a wrong name, the keys say which one is meant.
            Value::Table(inner) if is_section(&dotted) || !(is_key(&dotted) || inner.is_empty()) => {
                collect(origin, &dotted, inner, out)?;
            }
            _ => out.push(Given::new(origin, &dotted, value.clone())?),
        }
    }
    Ok(())
}

fn is_key(name: &str) -> bool {
    all().any(|key| key.name == name)
}

fn is_section(name: &str) -> bool {
    all().any(|key| key.name.strip_prefix(name).is_some_and(|rest| rest.starts_with('.')))
}

fn find(origin: &str, name: &str) -> Result<&'static Key, SettingsError> {
    all()
        .find(|key| key.name == name)
        .ok_or_else(|| SettingsError::Unknown { origin: origin.to_owned(), key: name.to_owned() })
}

/// `; did you mean ...` if a key or a section has a similar name.
fn nearest(name: &str) -> String {
    /// A part is similar to another one if a third of its letters are wrong, at most.
    const SIMILAR: usize = 3;
    let distance =
        |a: &str, b: &str| Some(strsim::damerau_levenshtein(a, b)).filter(|wrong| wrong * SIMILAR <= b.len());
    let (section, last) = name.rsplit_once('.').unwrap_or(("", name));
    let keys = all().filter_map(|key| {
        // `tps.gap` is all but the first part of `papers.tps.gap`, and `delay` of `politeness.delay`.
        if key.name.strip_suffix(name).is_some_and(|rest| rest.ends_with('.')) {
            return Some((0, key.name.to_owned()));
        }
        let (key_section, key_last) = key.name.rsplit_once('.').unwrap_or(("", key.name));
        let is_elsewhere = section.is_empty() || key_last == last;
        let of_section = distance(key_section, section).or(is_elsewhere.then_some(section.len()))?;
        Some((of_section + distance(key_last, last)?, key.name.to_owned()))
    });
    let sections = all().filter_map(|key| key.name.split_once('.')).filter(|_| section.is_empty());
    let sections = sections.filter_map(|(of_key, _)| Some((distance(of_key, name)?, format!("[{of_key}]"))));
    keys.chain(sections)
        .min()
        .map_or_else(|| "; crawl.toml lists all keys".to_owned(), |(_, near)| format!("; did you mean `{near}`?"))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::render;
    use dehusk_template::etdm::NodeText;
    use dehusk_template::subdigraph::SubdigraphMode;

    fn refusal(text: &str) -> String {
        Settings::load(Some(("crawl.toml", text)), &[]).unwrap_err().to_string()
    }

    #[test]
    fn the_rendered_file_gives_the_defaults() {
        let text = render();
        assert_eq!(Settings::load(Some(("crawl.toml", &text)), &[]).unwrap(), Settings::default());
        let all: String = text
            .lines()
            .map(|l| l.strip_prefix('#').filter(|l| !l.starts_with(' ')).unwrap_or(l))
            .fold(String::new(), |all, line| all + line + "\n");
        assert_eq!(Settings::load(Some(("crawl.toml", &all)), &[]).unwrap(), Settings::default());
        assert_eq!(Settings::default().core.learn, Preset::Dehusk.learn());
    }

    #[test]
    fn the_defaults_of_the_table_are_those_of_the_types() {
        for key in all() {
            let mut settings = Settings::default();
            assert_eq!((key.set)(&mut settings, &literal(key.default)), Ok(()), "{}", key.name);
            assert_eq!(settings, Settings::default(), "{}", key.name);
        }
    }

    #[test]
    fn unknown_keys_are_refused_with_the_nearest_one() {
        assert_eq!(
            refusal("[politeness]\ndelai = 1"),
            "crawl.toml: unknown key `politeness.delai`; did you mean `politeness.delay`?"
        );
        assert_eq!(refusal("delay = 1"), "crawl.toml: unknown key `delay`; did you mean `politeness.delay`?");
        assert_eq!(
            refusal("[craw]\nmemory = 1"),
            "crawl.toml: unknown key `craw.memory`; did you mean `crawl.memory`?"
        );
        assert_eq!(
            refusal("[gottron]\ndistance = 0.1"),
            "crawl.toml: unknown key `gottron.distance`; did you mean `papers.gottron.distance`?"
        );
        assert_eq!(refusal("[craw]"), "crawl.toml: unknown key `craw`; did you mean `[crawl]`?");
        // A key of another section under this name; but `first` of `revisit` is not near `forest` of `site_model`.
        assert_eq!(
            refusal("crawl.delay = 1"),
            "crawl.toml: unknown key `crawl.delay`; did you mean `politeness.delay`?"
        );
        assert_eq!(
            refusal("site_model.forest = 1"),
            "crawl.toml: unknown key `site_model.forest`; crawl.toml lists all keys"
        );
        assert!(refusal("[zzzzzz]\nqqqqqq = 1").ends_with("crawl.toml lists all keys"));
    }

    #[test]
    fn wrong_values_say_what_was_expected() {
        assert!(refusal("[politeness]\ndelay = \"soon\"").contains("expected seconds"));
        assert!(refusal("[politeness]\ndelay = -1").contains("expected seconds"));
        assert!(refusal("[etdm]\nmap = \"fast\"").contains("expected one of greedy, dp"));
        assert!(refusal("[subdigraph]\nn = 25").contains("from 1 to 24"));
        assert!(refusal("[fetch").contains("crawl.toml"));
        let without = refusal("[notify]\nsmtp = \"smtp://127.0.0.1\"");
        assert!(without.starts_with("`notify.smtp` needs `notify.from`"), "{without}");
        let pair = Settings::load(None, &["nonsense".to_owned()]).unwrap_err().to_string();
        assert!(pair.contains("KEY=VALUE"));
    }

    #[test]
    fn set_overrides_the_file_and_a_preset_never_overrides_a_key() {
        let sets = ["politeness.delay=200ms".to_owned(), "preset=thesis2014".to_owned()];
        let file = "[politeness]\ndelay = 3\n[etdm]\ntext = \"equal\"";
        let got = Settings::load(Some(("f", file)), &sets).unwrap();
        assert_eq!(got.politeness.delay, Duration::from_millis(200));
        assert_eq!(got.core.learn.etdm.text, NodeText::Equal);
        assert_eq!(got.core.learn.search.mode, SubdigraphMode::Complete);
        assert!(!got.core.learn.etdm.ignore_generated);
        assert_eq!(got.core.learn.search.n, 3);
    }
}
