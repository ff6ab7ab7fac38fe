//! JSON lines: one document a line.

use std::io::{BufRead, Read};

use anyhow::{Context, anyhow};
use serde_json::{Map, Value};

/// Fields with the HTML of a page, then those with plain text.
const HTML: [&str; 1] = ["html"];
const TEXT: [&str; 3] = ["text", "content", "body"];

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

pub(super) fn has_document(line: &Map<String, Value>) -> bool {
    HTML.iter().chain(&TEXT).any(|name| line.get(*name).is_some_and(Value::is_string))
}

impl Line {
    /// Reads a line. The fields of `pass` are kept for the output.
    pub(super) fn parse(line: &str, pass: &[String]) -> anyhow::Result<Line> {
        let Value::Object(mut line) = serde_json::from_str(line)? else {
            return Err(anyhow!("expected an object such as {{\"id\": ..., \"html\": ...}}"));
        };
        let passed = pass.iter().filter_map(|name| Some((name.clone(), line.get(name)?.clone())));
        let input = (!pass.is_empty()).then(|| Value::Object(passed.collect()).to_string());
        let url = line.get("url").and_then(Value::as_str).map(str::to_owned);
        let mut take = |names: &[&str]| {
            let name = names.iter().find(|name| line.get(**name).is_some_and(Value::is_string))?;
            match line.remove(*name) {
                Some(Value::String(text)) => Some(text),
                _ => None,
            }
        };
        let name = take(&["id", "url", "name"]);
        let content = match take(&HTML) {
            Some(html) => Ok(html),
            None => Err(take(&TEXT).context("no field html or text")?),
        };
        Ok(Line { name, url, content, input, rest: line })
    }
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
