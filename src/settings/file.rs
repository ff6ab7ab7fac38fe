//! Reads `crawl.toml` and `--set KEY=VALUE` into [`Settings`]; the one place that rejects a setting.

use std::fmt::Write as _;

use toml::{Table, Value};

use super::keys::{KEYS, Key, literal};
use super::{Preset, Settings};

/// Why settings were refused.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The file is not TOML.
    #[error("{file}: {reason}")]
    Syntax {
        /// The file as named by the user.
        file: String,
        /// The parser's message with its line.
        reason: String,
    },
    /// No such key.
    #[error("{origin}: unknown key `{key}`{}", nearest(key))]
    Unknown {
        /// File or `--set`.
        origin: String,
        /// The dotted key.
        key: String,
    },
    /// The key exists, the value does not fit.
    #[error("{origin}: `{key} = {value}`: {expected}")]
    Value {
        /// File or `--set`.
        origin: String,
        /// The dotted key.
        key: String,
        /// The value as given.
        value: String,
        /// What would have been right.
        expected: String,
    },
    /// `--set` without an equals sign.
    #[error("--set {given}: expected KEY=VALUE, such as --set politeness.delay=2")]
    NotAPair {
        /// The argument.
        given: String,
    },
}

impl Settings {
    /// Settings from the text of a `crawl.toml` (`None`: all defaults), then each `KEY=VALUE` in order.
    pub fn load(file: Option<(&str, &str)>, sets: &[String]) -> Result<Settings, SettingsError> {
        let mut given: Vec<(String, &'static Key, Value)> = Vec::new();
        if let Some((name, text)) = file {
            let table: Table = text
                .parse()
                .map_err(|e: toml::de::Error| SettingsError::Syntax { file: name.to_owned(), reason: e.to_string() })?;
            collect(name, "", &table, &mut given)?;
        }
        for pair in sets {
            let (key, value) = pair.split_once('=').ok_or_else(|| SettingsError::NotAPair { given: pair.clone() })?;
            given.push(("--set".to_owned(), find("--set", key.trim())?, literal(value.trim())));
        }
        // The last preset named is laid down first, so that every single key refines it wherever it stands.
        given.sort_by_key(|(_, key, _)| key.name != "preset");
        let mut settings = Settings::default();
        for (origin, key, value) in &given {
            (key.set)(&mut settings, value).map_err(|expected| SettingsError::Value {
                origin: origin.clone(),
                key: key.name.to_owned(),
                value: value.to_string(),
                expected,
            })?;
        }
        Ok(settings)
    }

    /// The same settings with the learning parameters of `preset`.
    pub fn with_preset(mut self, preset: Preset) -> Settings {
        self.learn = preset.learn();
        self
    }
}

/// The whole `crawl.toml` with every key at its default, as it stands at the top of the project.
///
/// Keys of learning are commented out (`#key`): written down, they would override the preset.
pub fn render() -> String {
    let mut out = String::from(
        "# Settings of dehusk. Every key is here with its default; delete what you do not change.\n\
         # Any key can be set for one run with --set KEY=VALUE. An unknown key is refused.\n\n",
    );
    let mut section = "";
    for key in KEYS {
        let (table, name) = key.name.rsplit_once('.').unwrap_or(("", key.name));
        if table != section {
            let _ = write!(out, "\n[{table}]\n");
            section = table;
        }
        let comment = if refines_preset(table) { "#" } else { "" };
        let _ = write!(out, "# {}\n{comment}{name} = {}\n", key.doc, key.default);
    }
    out
}

/// All keys that exist, for tests and completion.
pub fn key_names() -> impl Iterator<Item = &'static str> {
    KEYS.iter().map(|key| key.name)
}

fn refines_preset(table: &str) -> bool {
    matches!(table, "links" | "subdigraph" | "label" | "witness" | "etdm" | "apply")
}

fn collect(
    origin: &str,
    prefix: &str,
    table: &Table,
    out: &mut Vec<(String, &'static Key, Value)>,
) -> Result<(), SettingsError> {
    for (name, value) in table {
        let dotted = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        match value {
            Value::Table(inner) if is_section(&dotted) => collect(origin, &dotted, inner, out)?,
            _ => out.push((origin.to_owned(), find(origin, &dotted)?, value.clone())),
        }
    }
    Ok(())
}

fn is_section(name: &str) -> bool {
    KEYS.iter().any(|key| key.name.strip_prefix(name).is_some_and(|rest| rest.starts_with('.')))
}

fn find(origin: &str, name: &str) -> Result<&'static Key, SettingsError> {
    KEYS.iter()
        .find(|key| key.name == name)
        .ok_or_else(|| SettingsError::Unknown { origin: origin.to_owned(), key: name.to_owned() })
}

/// `; did you mean ...` when a known key is near.
fn nearest(name: &str) -> String {
    KEYS.iter()
        .map(|key| {
            let whole = strsim::damerau_levenshtein(key.name, name);
            let last = key.name.rsplit('.').next().map_or(usize::MAX, |last| {
                // `delay` alone should find `politeness.delay`.
                strsim::damerau_levenshtein(last, name.rsplit('.').next().unwrap_or(name)) + 1
            });
            (whole.min(last), key.name)
        })
        .min()
        .filter(|(distance, _)| *distance <= 2 + name.len() / 3)
        .map_or_else(|| "; crawl.toml lists all keys".to_owned(), |(_, key)| format!("; did you mean `{key}`?"))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::settings::{NodeText, Subdigraph};

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
        assert_eq!(Settings::default().learn, Preset::Dehusk.learn());
    }

    #[test]
    fn every_default_of_the_table_is_accepted() {
        for key in KEYS {
            let outcome = (key.set)(&mut Settings::default(), &literal(key.default));
            assert_eq!(outcome, Ok(()), "{}", key.name);
        }
    }

    #[test]
    fn unknown_keys_are_refused_with_the_nearest_one() {
        assert_eq!(
            refusal("[politeness]\ndelai = 1"),
            "crawl.toml: unknown key `politeness.delai`; did you mean `politeness.delay`?"
        );
        assert_eq!(refusal("delay = 1"), "crawl.toml: unknown key `delay`; did you mean `politeness.delay`?");
        assert!(refusal("[zzzzzz]\nqqqqqq = 1").ends_with("crawl.toml lists all keys"));
    }

    #[test]
    fn wrong_values_say_what_was_expected() {
        assert!(refusal("[politeness]\ndelay = \"soon\"").contains("expected seconds"));
        assert!(refusal("[politeness]\ndelay = -1").contains("expected seconds"));
        assert!(refusal("[etdm]\nmap = \"fast\"").contains("expected one of greedy, dp"));
        assert!(refusal("[subdigraph]\nn = 25").contains("from 1 to 24"));
        assert!(refusal("[fetch").contains("crawl.toml"));
        let pair = Settings::load(None, &["nonsense".to_owned()]).unwrap_err().to_string();
        assert!(pair.contains("KEY=VALUE"));
    }

    #[test]
    fn set_overrides_the_file_and_a_preset_never_overrides_a_key() {
        let sets = ["politeness.delay=200ms".to_owned(), "preset=thesis2014".to_owned()];
        let file = "[politeness]\ndelay = 3\n[etdm]\ntext = \"equal\"";
        let got = Settings::load(Some(("f", file)), &sets).unwrap();
        assert_eq!(got.politeness.delay, Duration::from_millis(200));
        assert_eq!(got.learn.text, NodeText::Equal);
        assert_eq!(got.learn.subdigraph, Subdigraph::Complete);
        assert!(!got.learn.ignore_generated);
        assert_eq!(got.learn.n, 3);
    }
}
