//! Writes the table of keys: as `crawl.toml`, as a part of it, and as Markdown.

use std::fmt::Write as _;

use crate::file::refines_preset;
use crate::keys::{Key, OF_SITES, SECTIONS, all};

/// The complete `crawl.toml` with every key at its default, as it is at the root of the repository.
///
/// Keys are dotted, as `--set` has them, so that those that people set can come first: TOML allows a table only once.
/// Learning keys are commented out (`#key`), because they would override the preset.
pub fn render() -> String {
    let mut out = String::from(
        "# Settings of dehusk. Every key is here with its default; delete what you do not change.\n\
         # A key is written as for one run, --set KEY=VALUE; a table, such as [politeness], does as well.\n\
         # An unknown key is refused.\n",
    );
    for (heading, keys) in SECTIONS {
        let _ = write!(out, "\n\n# ---- {heading} ----\n");
        let mut table = None;
        for key in keys {
            let of_key = key.name.rsplit_once('.').map_or("", |(table, _)| table);
            if table != Some(of_key) {
                out.push('\n');
                table = Some(of_key);
            }
            let comment = if refines_preset(of_key) { "#" } else { "" };
            let _ = write!(out, "# {}\n{comment}{} = {}\n", key.doc, key.name, key.default);
        }
    }
    out + &of_sites()
}

/// A file of some keys with their descriptions: those with a value are set to it, the others stand at their defaults
/// as comments. A name that is no key is left out.
pub fn render_some(keys: &[(&str, Option<String>)]) -> String {
    let mut out = String::new();
    for (name, value) in keys {
        let Some(key) = all().find(|key| key.name == *name) else { continue };
        let doc = wrapped(key.doc);
        let _ = match value {
            Some(value) => write!(out, "\n{doc}{name} = {value}\n"),
            None => write!(out, "\n{doc}#{name} = {}\n", key.default),
        };
    }
    out
}

/// A text as lines of comment.
fn wrapped(text: &str) -> String {
    let mut lines = vec![String::from("#")];
    for word in text.split(' ') {
        if lines.last().is_some_and(|line| line.len() + word.len() >= LINE) {
            lines.push(String::from("#"));
        }
        if let Some(line) = lines.last_mut() {
            line.push(' ');
            line.push_str(word);
        }
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// All keys as tables of Markdown, a section for each group.
pub fn markdown() -> String {
    let mut out = String::new();
    for (heading, keys) in SECTIONS {
        let _ = write!(out, "## {heading}\n\n| Key | Default | Meaning |\n|---|---|---|\n");
        for Key { name, default, doc, .. } in keys {
            let _ = writeln!(out, "| `{name}` | `{default}` | {} |", doc.replace('|', "\\|"));
        }
        out.push('\n');
    }
    out
}

/// What the file says of `[[site]]` tables.
fn of_sites() -> String {
    let mut out = String::from(
        "\n\n# ---- Some sites ----\n\n\
         # A [[site]] table has other values for some hosts. It comes after all other keys. The value that counts for a\n\
         # host is that of the last table that names it. example.org is the host with its subdomains, *.example.org its\n\
         # subdomains only, * any host. fetch.headers are sent beside those of all hosts. For example:\n\
         #\n\
         # [[site]]\n\
         # host = [\"shop.example.org\", \"*.example.net\"]\n\
         # politeness.delay = 10\n\
         # crawl.exclude = [\"/cart/\"]\n\
         #\n\
         # Keys that it may have:\n",
    );
    let mut line = String::from("#");
    for (at, name) in OF_SITES.iter().enumerate() {
        let word = format!(" {name}{}", if at + 1 < OF_SITES.len() { "," } else { "." });
        if line.len() + word.len() > LINE {
            let _ = writeln!(out, "{line}");
            line = String::from("#");
        }
        line += &word;
    }
    let _ = writeln!(out, "{line}");
    out
}

/// Longest line of the list of keys.
const LINE: usize = 118;
