//! Links within the book, and from the other documents.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::{pages, root};

/// Addresses of the links and pictures of a page.
fn links(text: &str) -> Vec<String> {
    let events = Parser::new_ext(text, Options::ENABLE_TABLES);
    let address = |event| match event {
        Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => Some(dest_url.to_string()),
        _ => None,
    };
    events.filter_map(address).collect()
}

/// The anchors of the headings of a page.
fn anchors(text: &str) -> BTreeSet<String> {
    let (mut found, mut heading) = (BTreeSet::new(), None);
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::Text(text) | Event::Code(text) => heading.iter_mut().for_each(|heading| heading.push_str(&text)),
            Event::End(TagEnd::Heading(_)) => {
                let heading = heading.take().unwrap_or_default().to_lowercase();
                let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
                found.insert(kept.map(|c| if c == ' ' { '-' } else { c }).collect());
            }
            _ => {}
        }
    }
    found
}

/// Where a link leads that nothing is at.
fn broken(file: &Path, text: &str) -> Vec<String> {
    let is_outside = |link: &str| link.contains("://") || link.starts_with("mailto:");
    let leads_nowhere = |link: &String| {
        let (path, anchor) = link.split_once('#').map_or((link.as_str(), None), |(path, anchor)| (path, Some(anchor)));
        let target = if path.is_empty() { file.to_owned() } else { file.parent().unwrap().join(path) };
        let lacks = |anchor| !anchors(&std::fs::read_to_string(&target).unwrap()).contains(anchor);
        !target.exists() || anchor.is_some_and(lacks)
    };
    links(text).into_iter().filter(|link| !is_outside(link) && leads_nowhere(link)).collect()
}

#[test]
fn every_link_leads_somewhere() {
    let outside = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "python/README.md"];
    let outside = outside.map(|name| (PathBuf::from(name), std::fs::read_to_string(root().join(name)).unwrap()));
    let in_book = pages().into_iter().map(|(name, text)| (Path::new("docs").join(name), text));
    let mut n = 0;
    for (name, text) in in_book.chain(outside) {
        let found = broken(&root().join(&name), &text);
        assert!(found.is_empty(), "{}: {found:?}", name.display());
        n += links(&text).len();
    }
    assert!(n > 150, "{n}");
}

#[test]
fn a_link_of_the_book_stays_in_the_book() {
    for (name, text) in pages() {
        let depth = name.components().count() - 1;
        let leaves = |link: &&String| link.split('/').filter(|part| *part == "..").count() > depth;
        let links = links(&text);
        assert_eq!(links.iter().find(leaves), None, "{}", name.display());
    }
}

#[test]
fn the_summary_has_every_page() {
    let summary = std::fs::read_to_string(root().join("docs/SUMMARY.md")).unwrap();
    let listed: BTreeSet<PathBuf> = links(&summary).into_iter().map(PathBuf::from).collect();
    let there: BTreeSet<PathBuf> =
        pages().into_iter().map(|(name, _)| name).filter(|name| !name.ends_with("SUMMARY.md")).collect();
    assert_eq!(listed, there);
}

#[test]
fn what_is_wrong_is_found() {
    let file = root().join("docs/start.md");
    let text = "[a](nightly.md) [b](nightly.md#seeds) [c](nightly.md#nothing) [d](none.md) ![e](pictures/none.png)";
    assert_eq!(broken(&file, text), ["nightly.md#nothing", "none.md", "pictures/none.png"]);
}
