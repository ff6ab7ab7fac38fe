//! Exports of files that are made again each night: they hold what a new export would hold, so that a repository of such
//! a folder is the history of the site.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dehusk::demo::server::{Reply, Server};
use dehusk_html::PageUrl;

use crate::crawl::{nightly_settings, run};
use crate::visits::page;

fn answer(night: usize, path: &str) -> Reply {
    let number: Option<usize> = path.trim_start_matches('/').parse().ok();
    match (night, number) {
        (2, _) if path == "/robots.txt" => Reply::text("User-agent: *\nDisallow: /6\n"),
        (2, Some(3)) | (3.., Some(7)) => Reply::status(404),
        (2.., Some(4)) => Reply::redirect(301, "/40"),
        (2.., Some(40)) => page(4, ""),
        (2, Some(5)) => page(5, ", with a sentence of the second night"),
        (3.., Some(5)) => page(5, ", with another one of the third"),
        (2, Some(8)) => Reply::status(500),
        (_, Some(n)) if n < 10 => page(n, ""),
        _ => Reply::status(404),
    }
}

/// All files of a folder but the manifest, which has the times of the parts.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.ends_with(".seen") || path.ends_with(".pages") {
                assert!(path.join(".gitignore").is_file(), "what the next export needs is no part of it");
            } else if path.is_dir() {
                folders.push(path);
            } else if !path.ends_with("manifest.json") {
                let name = path.strip_prefix(folder).unwrap().to_string_lossy().into_owned();
                found.insert(name, String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned());
            }
        }
    }
    found
}

#[test]
fn an_export_that_is_made_again_is_what_a_new_one_would_be() {
    let tonight = Arc::new(AtomicUsize::new(1));
    let clock = Arc::clone(&tonight);
    let server =
        Server::start(Arc::new(move |_: &str, path: &str| answer(clock.load(Ordering::Relaxed), path))).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let settings = nightly_settings(&dir.path().join("n.db"), &server);
    let export = |form: &str, out: &str| {
        let mut program = Command::new(env!("CARGO_BIN_EXE_dehusk"));
        program.args(["--db", &settings.store.path, "export", "--format", form, "--out", out]);
        let output = program.current_dir(dir.path()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        files(&dir.path().join(out))
    };
    let (mut last, mut names) = (BTreeMap::new(), Vec::new());
    for night in 1..=4 {
        tonight.store(night, Ordering::Relaxed);
        run(vec![PageUrl::parse("http://a.test/0").unwrap()], &settings);
        for form in ["md", "site"] {
            let (again, new) = (export(form, &format!("again-{form}")), export(form, &format!("{form}{night}")));
            let differing: BTreeSet<&String> =
                again.keys().chain(new.keys()).filter(|name| again.get(*name) != new.get(*name)).collect();
            assert!(differing.is_empty(), "night {night}, {form}: {differing:?}");
            if night == 4 {
                assert_eq!(last[form], again, "a night without news changes no byte");
            }
            if form == "md" {
                names.push(again.keys().filter(|name| name.ends_with(".md")).cloned().collect::<BTreeSet<_>>());
                assert!(again.values().any(|text| text.contains("second night")) == (night == 2));
            }
            last.insert(form, again);
        }
    }
    let went = |before: usize, after: usize| names[before].difference(&names[after]).cloned().collect::<Vec<_>>();
    assert_eq!(went(0, 1), ["a.test/3.md", "a.test/4.md", "a.test/6.md"], "gone, moved, blocked; what failed stays");
    assert_eq!(went(1, 0), ["a.test/40.md"]);
    assert_eq!(
        (went(1, 2), went(2, 1)),
        (vec!["a.test/7.md".to_owned()], vec!["a.test/3.md".into(), "a.test/6.md".into()])
    );
}
