//! JSON lines: one document a line.

use std::borrow::Cow;
use std::io::{BufRead, Read};

use anyhow::{Context, anyhow};
use serde_json::{Map, Value};

/// Fields with the HTML of a page, then those with plain text.
const HTML: [&str; 1] = ["html"];
const TEXT: [&str; 3] = ["text", "content", "body"];

/// What a document is read from, where other fields than the usual ones have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cli) struct FieldName {
    /// The usual name: `html`, `text`, `url` or `id`.
    role: &'static str,
    name: String,
}

impl FieldName {
    /// Reads `html=NAME`.
    pub(in crate::cli) fn parse(text: &str) -> Result<FieldName, String> {
        let known = ["html", "text", "url", "id"];
        let (role, name) = text.split_once('=').unwrap_or((text, ""));
        match known.into_iter().find(|known| *known == role) {
            Some(role) if !name.is_empty() => Ok(FieldName { role, name: name.to_owned() }),
            _ => Err("expected html=NAME, text=NAME, url=NAME or id=NAME".to_owned()),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Whether it has the page or the text of a document.
    pub(super) fn has_document(&self) -> bool {
        matches!(self.role, "html" | "text")
    }
}

impl std::fmt::Display for FieldName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}={}", self.role, self.name)
    }
}

/// Which fields are read.
#[derive(Clone, Copy, Default)]
pub(super) struct Fields<'a> {
    /// In place of the usual ones.
    pub(super) named: &'a [FieldName],
    /// Those that are passed through.
    pub(super) pass: &'a [String],
}

/// A line that was read.
pub(super) struct Line {
    pub(super) name: Option<String>,
    pub(super) url: Option<String>,
    /// Its HTML, or its text.
    pub(super) content: Result<String, String>,
    /// The fields that are passed through, as an object.
    pub(super) input: Option<String>,
    pub(super) rest: Map<String, Value>,
}

impl Fields<'_> {
    /// The fields with the page or the text of a document.
    pub(super) fn of_document(&self) -> impl Iterator<Item = &str> {
        let named = self.named.iter().filter(|field| field.has_document()).map(FieldName::name);
        HTML.into_iter().chain(TEXT).chain(named)
    }

    /// All fields that are read.
    #[cfg_attr(not(feature = "parquet"), expect(dead_code))]
    pub(super) fn all(&self) -> impl Iterator<Item = &str> {
        let named = self.named.iter().map(FieldName::name);
        let pass = self.pass.iter().map(String::as_str);
        ["id", "url", "name"].into_iter().chain(HTML).chain(TEXT).chain(named).chain(pass)
    }

    pub(super) fn has_document(&self, line: &Map<String, Value>) -> bool {
        self.of_document().any(|name| line.get(name).is_some_and(Value::is_string))
    }
}

impl Line {
    /// Reads a line. `NaN` and infinities, which Python writes, are null, and halves of surrogates are replaced.
    pub(super) fn parse(line: &str, fields: Fields<'_>) -> anyhow::Result<Line> {
        let line = line.trim_start_matches('\u{feff}');
        let parsed = serde_json::from_str(line).or_else(|error| match mended(line) {
            Cow::Borrowed(_) => Err(error),
            Cow::Owned(line) => serde_json::from_str(&line),
        });
        match parsed? {
            Value::Object(line) => Line::of_fields(line, fields),
            _ => Err(anyhow!("expected an object such as {{\"id\": ..., \"html\": ...}}")),
        }
    }

    /// The same of the fields of a line, or of the columns of a row.
    pub(super) fn of_fields(mut line: Map<String, Value>, fields: Fields<'_>) -> anyhow::Result<Line> {
        let passed = fields.pass.iter().filter_map(|name| Some((name.clone(), line.get(name)?.clone())));
        let input = (!fields.pass.is_empty()).then(|| Value::Object(passed.collect()).to_string());
        // Values are taken before they are put in place: one may have the usual name of another.
        let named: Vec<_> = fields.named.iter().map(|field| (field, line.remove(field.name()))).collect();
        let mut missing = None;
        for (field, value) in named {
            match value {
                Some(value) => drop(line.insert(field.role.to_owned(), value)),
                None => {
                    // No other field takes its place.
                    line.remove(field.role);
                    missing = missing.or_else(|| field.has_document().then_some(field.name()));
                }
            }
        }
        if let Some(name) = missing {
            return Err(anyhow!("no field {name}, which --fields names"));
        }
        let url = line.get("url").and_then(Value::as_str).map(str::to_owned);
        let is_name = |value: &Value| value.is_string() || value.is_number();
        let name = ["id", "url", "name"].into_iter().find(|name| line.get(*name).is_some_and(is_name));
        let name = name.and_then(|name| line.remove(name)).map(|name| match name {
            Value::String(name) => name,
            number => number.to_string(),
        });
        let mut take = |names: &[&str]| {
            let name = names.iter().find(|name| line.get(**name).is_some_and(Value::is_string))?;
            match line.remove(*name) {
                Some(Value::String(text)) => Some(text),
                _ => None,
            }
        };
        let content = match take(&HTML) {
            Some(html) => Ok(html),
            None => Err(take(&TEXT).context("no field html or text holds text")?),
        };
        Ok(Line { name, url, content, input, rest: line })
    }
}

/// A line with null in the place of numbers that JSON does not have, and replacement characters in the place of escapes
/// of half a surrogate pair. Anything else in strings stays as it is.
fn mended(line: &str) -> Cow<'_, str> {
    const NAMES: [&str; 3] = ["NaN", "-Infinity", "Infinity"];
    if !NAMES.iter().any(|name| line.contains(name)) && !line.contains("\\u") {
        return Cow::Borrowed(line);
    }
    let (mut out, mut is_quoted, mut at) = (String::with_capacity(line.len()), false, 0);
    while let Some(c) = line[at..].chars().next() {
        let rest = &line[at..];
        let found = NAMES.iter().find(|name| !is_quoted && rest.starts_with(**name));
        if let Some(name) = found {
            out += "null";
            at += name.len();
            continue;
        }
        // An escape is two characters, or six with the digits of a code unit.
        let n = match (c, half(rest), half(rest.get(6..).unwrap_or_default())) {
            ('\\', Some(0xd800..0xdc00), Some(0xdc00..)) => 12,
            ('\\', Some(_), _) => {
                out += "\\ufffd";
                at += 6;
                continue;
            }
            ('\\', None, _) => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            _ => c.len_utf8(),
        };
        is_quoted ^= c == '"';
        out += &rest[..n];
        at += n;
    }
    Cow::Owned(out)
}

/// The half of a surrogate pair whose escape a text begins with.
fn half(text: &str) -> Option<u16> {
    let unit = u16::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok()?;
    matches!(unit, 0xd800..0xe000).then_some(unit)
}

/// Non-blank lines with their numbers, from 1. A line that is not UTF-8 is an error of its own. A line that is too long
/// and a read error end the iteration.
pub(super) struct Lines<R> {
    reader: R,
    most: usize,
    n: usize,
    /// Bytes of the last line: the next one is about as long.
    expected: usize,
    is_over: bool,
}

impl<R> Lines<R> {
    pub(super) fn new(reader: R, most: usize) -> Lines<R> {
        Lines { reader, most, n: 0, expected: 0, is_over: false }
    }
}

impl<R: BufRead> Iterator for Lines<R> {
    type Item = (usize, anyhow::Result<String>);

    fn next(&mut self) -> Option<Self::Item> {
        while !self.is_over {
            self.n += 1;
            let mut line = Vec::with_capacity(self.expected.min(1 << 20));
            // JSON escapes can make HTML six times as long.
            let most = 6 * self.most as u64 + 65_536;
            let outcome = (&mut self.reader).take(most).read_until(b'\n', &mut line).map_err(anyhow::Error::from);
            let outcome = outcome.and_then(|n| {
                if n as u64 == most && !line.ends_with(b"\n") {
                    Err(anyhow!("is longer than page.max_bytes allows; the rest of the file is skipped"))
                } else {
                    Ok(n)
                }
            });
            match outcome {
                Ok(0) => self.is_over = true,
                Ok(_) if line.iter().all(u8::is_ascii_whitespace) => {}
                Ok(n) => {
                    self.expected = n;
                    return Some((self.n, String::from_utf8(line).context("is not UTF-8")));
                }
                Err(e) => {
                    self.is_over = true;
                    return Some((self.n, Err(e)));
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_may_have_other_names_and_numbers_that_json_lacks() {
        let named = ["html=page", "url=at", "id=key"].map(|text| FieldName::parse(text).unwrap());
        let pass = ["score".to_owned(), "page".to_owned()];
        let fields = Fields { named: &named, pass: &pass };
        let line = r#"{"page": "<p>NaN \"x", "at": "http://a.org/", "key": "k", "score": -Infinity, "s": [NaN]}"#;
        let read = Line::parse(line, fields).unwrap();
        assert_eq!((read.content.as_deref(), read.name.as_deref()), (Ok("<p>NaN \"x"), Some("k")));
        assert_eq!(read.input.unwrap(), r#"{"page":"<p>NaN \"x","score":null}"#);
        assert_eq!(read.url.unwrap(), "http://a.org/");
        let missing = Line::parse(r#"{"x": 1}"#, fields).err().unwrap().to_string();
        assert_eq!(missing, "no field page, which --fields names");
        assert!(Line::parse(r#"{"x": 1, "html": "<p>"}"#, fields).is_err());
        let odd = "\u{feff}{\"html\": \"a\\ud83d\\ude00b\\ud800c\\udc00\\\\ud800\", \"id\": 7}";
        let odd = Line::parse(odd, Fields::default()).unwrap();
        assert_eq!((odd.content.unwrap().as_str(), odd.name.as_deref()), ("a😀b\u{fffd}c\u{fffd}\\ud800", Some("7")));
        assert!(Line::parse("[NaN]", fields).is_err() && Line::parse("{NaN}", fields).is_err());
        assert!(FieldName::parse("body=x").is_err() && FieldName::parse("html").is_err());
    }
}
