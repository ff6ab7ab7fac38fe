//! The tree-construction and tokenizer cases of html5lib-tests, where they lie beside the project.
//!
//! Our tree leaves out scripts, styles, templates, comments and what is outside of `html`; the expected trees are
//! reduced in the same way. Cases for fragments, for parsers without scripting and for those that run scripts are not
//! for us.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use dehusk_html::{KeepNodes, NodeId, ParseOptions, Tree, parse};

use crate::corpus::shared;
use crate::skipped::skipped;

struct Case {
    file: String,
    data: String,
    document: Vec<String>,
}

fn folder() -> Option<PathBuf> {
    let archive = shared("html5lib.tar.xz");
    if !archive.exists() {
        skipped(&format!("{} is not there", archive.display()));
        return None;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/corpus/html5lib");
    if !folder.join("complete").exists() {
        std::fs::create_dir_all(&folder).ok()?;
        let status = Command::new("tar").arg("xJf").arg(&archive).arg("-C").arg(&folder).status().ok()?;
        assert!(status.success(), "tar could not unpack {}", archive.display());
        std::fs::write(folder.join("complete"), "").ok()?;
    }
    Some(folder)
}

/// The cases of a file: `#data`, `#errors`, `#document` and so on, each with its lines.
fn cases(path: &Path) -> Vec<Case> {
    let text = String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
    let file = path.file_name().unwrap().to_string_lossy().into_owned();
    let mut found = Vec::new();
    for block in format!("\n{text}").split("\n#data\n").skip(1) {
        let (data, rest) = block.split_once("\n#errors").unwrap_or((block, ""));
        let has = |name: &str| rest.lines().any(|line| line == name);
        if has("#document-fragment") || has("#script-off") {
            continue;
        }
        let Some((_, document)) = rest.split_once("#document\n") else { continue };
        let mut lines: Vec<String> = Vec::new();
        for line in document.trim_end_matches('\n').split('\n') {
            match (line.strip_prefix("| "), lines.last_mut()) {
                (Some(line), _) => lines.push(line.to_owned()),
                // A text goes on behind a line break.
                (None, Some(last)) => {
                    last.push('\n');
                    last.push_str(line);
                }
                (None, None) => {}
            }
        }
        found.push(Case { file: file.clone(), data: data.to_owned(), document: lines });
    }
    found
}

/// The expected tree without what our tree leaves out: depth and node.
fn reduced(document: &[String]) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    let mut dropped_above: Option<usize> = None;
    for line in document {
        let depth = (line.len() - line.trim_start_matches(' ').len()) / 2;
        let node = line.trim_start_matches(' ');
        if dropped_above.is_some_and(|above| depth > above) {
            continue;
        }
        dropped_above = None;
        let name = node.strip_prefix('<').and_then(|name| name.strip_suffix('>'));
        let local = name.map(|name| name.rsplit(' ').next().unwrap_or(name));
        if matches!(local, Some("script" | "style" | "noscript" | "template")) && !node.starts_with("<!") {
            dropped_above = Some(depth);
            continue;
        }
        if node.starts_with("<!") || (depth == 0 && !node.starts_with("<html")) {
            continue;
        }
        match (name, node.split_once("=\"")) {
            (Some(_), _) => kept.push(format!("{depth} <{}>", local.unwrap_or_default())),
            (None, Some((attribute, value))) if !node.starts_with('"') => {
                // Of a foreign attribute, the local name and the prefix are written with a blank between them.
                let line = format!("{depth} {}={}", attribute.replace(' ', ":"), value.trim_end_matches('"'));
                let first = kept.iter().rposition(|line| line.contains(" <")).map_or(0, |at| at + 1);
                let at = kept[first..].partition_point(|other| *other < line);
                kept.insert(first + at, line);
            }
            _ => kept.push(format!("{depth} {node}")),
        }
    }
    join_texts(kept)
}

/// Texts that a dropped comment has parted are one for us only in the expected tree; they are compared joined.
fn join_texts(lines: Vec<String>) -> Vec<String> {
    let mut joined: Vec<String> = Vec::new();
    for line in lines {
        let (depth, node) = line.split_once(' ').unwrap();
        match joined.last_mut() {
            Some(last) if node.starts_with('"') && last.starts_with(&format!("{depth} \"")) => {
                last.pop();
                last.push_str(&node[1..]);
            }
            _ => joined.push(line),
        }
    }
    joined
}

fn ours(tree: &Tree) -> Vec<String> {
    let mut lines = Vec::new();
    for node in tree.nodes() {
        let depth = tree.shape.depth[node.index()];
        if tree.is_text(node) {
            lines.push(format!("{depth} \"{}\"", tree.text(node)));
            continue;
        }
        if tree.name(node) == "#comment" {
            continue;
        }
        lines.push(format!("{depth} <{}>", tree.name(node)));
        let mut attrs: Vec<(&str, &str)> = tree.attrs(NodeId::new(node.index())).collect();
        attrs.sort_unstable();
        lines.extend(attrs.iter().map(|(name, value)| format!("{} {name}={value}", depth + 1)));
    }
    join_texts(lines)
}

/// Cases that differ, each with its reason.
const KNOWN: &[(&str, &str)] = &[
    ("<select><button><selectedcontent></button><option>X", COPIES),
    ("<select><button><selectedcontent></button><option>x<i>i<b>ib</i>b", COPIES),
];

/// The text is on the page already.
const COPIES: &str = "html5ever does not copy the chosen option into `selectedcontent`";

#[test]
fn trees_are_those_of_the_standard() {
    let Some(folder) = folder() else { return };
    assert!(KNOWN.iter().all(|(_, reason)| !reason.is_empty()));
    let mut open = vec![folder.join("html5lib/tree-construction")];
    let (mut n_cases, mut missed) = (0, Vec::new());
    let options = ParseOptions { keep: KeepNodes::Browser, ..ParseOptions::default() };
    while let Some(path) = open.pop() {
        if path.is_dir() && path.ends_with("scripted") {
            continue;
        }
        if path.is_dir() {
            open.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        if path.extension().is_none_or(|extension| extension != "dat") {
            continue;
        }
        for case in cases(&path) {
            n_cases += 1;
            let (got, want) = (ours(&parse(&case.data, &options)), reduced(&case.document));
            if got != want && !KNOWN.iter().any(|(data, _)| *data == case.data) {
                missed.push((case, got, want));
            }
        }
    }
    println!("{} of {n_cases} cases of tree construction", n_cases - missed.len());
    for (case, got, want) in missed.iter().take(40) {
        println!("{}: {:?}\n  got  {got:?}\n  want {want:?}", case.file, case.data);
    }
    assert!(n_cases > 1000, "{n_cases}");
    assert!(missed.is_empty(), "{} cases missed", missed.len());
}

/// Elements that the tree builder moves, drops or fills with raw text.
const SHAPING: &[&str] = &[
    "html",
    "head",
    "body",
    "frameset",
    "frame",
    "caption",
    "col",
    "colgroup",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "tr",
    "script",
    "style",
    "title",
    "textarea",
    "xmp",
    "iframe",
    "noembed",
    "noframes",
    "noscript",
    "plaintext",
    "template",
    "select",
    "option",
    "image",
    "svg",
    "math",
    "isindex",
];

/// What a tokenizer case expects of a tree: the text, and the start tags with their attributes. `None` for cases in
/// which the tree builder has a say.
fn expected_tokens(output: &[Value]) -> Option<(String, Vec<String>)> {
    let (mut text, mut tags) = (String::new(), Vec::new());
    for token in output {
        match (token[0].as_str()?, token[1].as_str().unwrap_or_default()) {
            ("Character", data) => text.push_str(data),
            ("StartTag", name) if !SHAPING.contains(&name) => {
                let mut attrs: Vec<String> = token[2]
                    .as_object()?
                    .iter()
                    .map(|(name, value)| format!("{name}={}", value.as_str().unwrap_or_default()))
                    .collect();
                attrs.sort_unstable();
                tags.push(format!("{name} {}", attrs.join(" ")));
            }
            ("EndTag", name) if !SHAPING.contains(&name) && !matches!(name, "p" | "br") => {}
            ("Comment" | "DOCTYPE", _) => {}
            _ => return None,
        }
    }
    Some((words(&text), tags))
}

/// The text without white space, and without the zero character, which a body drops.
fn words(text: &str) -> String {
    text.chars().filter(|c| !c.is_ascii_whitespace() && *c != '\0').collect()
}

#[test]
fn tokens_are_those_of_the_standard() {
    let Some(folder) = folder() else { return };
    let options = ParseOptions { keep: KeepNodes::Browser, ..ParseOptions::default() };
    let (mut n_cases, mut skipped, mut missed) = (0, 0, Vec::new());
    for entry in std::fs::read_dir(folder.join("html5lib/tokenizer")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "test") {
            continue;
        }
        let file: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        for case in file["tests"].as_array().into_iter().flatten() {
            let states = case["initialStates"].as_array();
            let is_data = states.is_none_or(|states| states.iter().any(|state| state == "Data state"));
            let expected = case["output"].as_array().and_then(|output| expected_tokens(output));
            // Half characters cannot be written in UTF-8.
            let is_escaped = case["doubleEscaped"].as_bool().unwrap_or_default();
            let (true, false, Some(expected)) = (is_data, is_escaped, expected) else {
                skipped += 1;
                continue;
            };
            n_cases += 1;
            let tree = parse(&format!("<!DOCTYPE html><body>{}", case["input"].as_str().unwrap()), &options);
            let body = tree.body().unwrap();
            let below: Vec<NodeId> = tree.shape.subtree(body).skip(1).map(NodeId::new).collect();
            let text: String = below.iter().filter(|node| tree.is_text(**node)).map(|node| tree.text(*node)).collect();
            let tags = below.iter().filter(|node| !tree.is_text(**node) && tree.name(**node) != "#comment");
            let tags = tags.map(|node| {
                let mut attrs: Vec<String> = tree.attrs(*node).map(|(name, value)| format!("{name}={value}")).collect();
                attrs.sort_unstable();
                format!("{} {}", tree.name(*node), attrs.join(" "))
            });
            let got = (words(&text), tags.collect::<Vec<_>>());
            if got != expected {
                missed.push(format!("{} {:?}: got {got:?}, want {expected:?}", case["description"], case["input"]));
            }
        }
    }
    println!("{} of {n_cases} cases of the tokenizer, {skipped} skipped", n_cases - missed.len());
    missed.iter().take(40).for_each(|case| println!("  {case}"));
    assert!(n_cases > 5000, "{n_cases}");
    assert!(missed.is_empty(), "{} cases missed", missed.len());
}
