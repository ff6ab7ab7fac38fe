//! The book of docs/: it builds, its links lead somewhere, its tables are what the program says, and its command lines
//! are ones that the program takes.

mod commands;
mod derived;
mod links;

use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The pages of the book, by their paths below docs/.
fn pages() -> Vec<(PathBuf, String)> {
    let mut pages = Vec::new();
    let mut folders = vec![root().join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "md") {
                let text = std::fs::read_to_string(&path).unwrap();
                pages.push((path.strip_prefix(root().join("docs")).unwrap().to_owned(), text));
            }
        }
    }
    pages.sort();
    assert!(pages.len() > 30);
    pages
}

#[test]
fn the_book_builds() {
    let dir = tempfile::tempdir().unwrap();
    let mut config = mdbook_driver::config::Config::from_disk(root().join("book.toml")).unwrap();
    config.build.build_dir = dir.path().to_owned();
    let book = mdbook_driver::MDBook::load_with_config(root(), config).unwrap();
    book.build().unwrap();
    for (page, _) in pages() {
        let html =
            if page.ends_with("README.md") { page.with_file_name("index.html") } else { page.with_extension("html") };
        assert!(page.ends_with("SUMMARY.md") || dir.path().join(&html).is_file(), "{}", html.display());
    }
}
