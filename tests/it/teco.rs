//! A corpus of our own in the form of the thesis' benchmark (TECO): generated sites, gold by construction. It needs
//! nothing beside the repository, so these floors hold on every machine.

use std::path::Path;

use dehusk::demo::{DemoSite, generated, sites};

use crate::cli::{dehusk, err, out};

const MARK: &str = " data-own=\"\"";

/// Writes a site as a mirror. The key page has the gold in its classes.
fn write(site: &DemoSite, folder: &Path) {
    for (path, page) in &site.pages {
        let file = folder.join(path.trim_start_matches('/'));
        let file = if path.ends_with('/') { file.join("index.html") } else { file };
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        let html = if *path == site.key {
            page.marked.replace(MARK, " class=\"TECO_notTemplate TECO_mainContent\"")
        } else {
            page.html()
        };
        let charset = "<meta charset=utf-8>";
        std::fs::write(file.with_extension("html"), format!("{charset}{html}")).unwrap();
    }
}

/// Twenty-six sites: sixteen at random parameters, and those of the demo that are plain files.
fn corpus(folder: &Path) -> usize {
    for seed in 100..116 {
        write(&generated(seed), &folder.join("generated").join(format!("site{seed}")));
    }
    let demo: Vec<DemoSite> =
        sites().into_iter().filter(|site| site.name != "charsets" && site.robots.is_empty()).collect();
    demo.iter().for_each(|site| write(site, &folder.join("demo").join(site.name)));
    16 + demo.len()
}

#[test]
fn every_method_keeps_its_floor_on_sites_of_our_own() {
    let dir = tempfile::tempdir().unwrap();
    let n_sites = corpus(dir.path());
    // Node F1 of the key page, and F1 of its own words.
    let floors = [
        (&["--method", "site_model"][..], 0.964, 0.954),
        (&["--method", "main"], 0.968, 0.958),
        (&["--method", "etdm"], 0.946, 0.958),
        (&["--preset", "thesis2014"], 0.911, 0.385),
        (&["--preset", "hybex"], 0.958, 0.783),
        (&["--method", "df"], 0.916, 0.953),
        (&["--method", "gottron"], 0.958, 0.962),
        (&["--method", "strings"], 0.926, 0.952),
        (&["--method", "text"], 0.902, 0.951),
        (&["--method", "rtdm"], 0.836, 0.908),
        (&["--method", "alone"], 0.957, 0.959),
    ];
    for (how, nodes, words) in floors {
        let output = dehusk(dir.path(), &[&["evaluate", ".", "--json"][..], how].concat());
        assert!(output.status.success(), "{how:?}: {}", err(&output));
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let f1 = |key: &str| report[key]["f1"].as_f64().unwrap();
        println!("{how:?}: nodes {:.3}, words {:.3}", f1("key"), f1("bag"));
        assert_eq!(report["n_sites"], n_sites);
        assert!(f1("key") >= nodes && f1("bag") >= words, "{how:?}: nodes {:.3}, words {:.3}", f1("key"), f1("bag"));
    }
}

#[test]
fn the_table_of_the_thesis_is_printed() {
    let dir = tempfile::tempdir().unwrap();
    write(&generated(3), &dir.path().join("site3"));
    let table = dehusk(dir.path(), &["evaluate", ".", "--preset", "thesis2014", "--by-site"]);
    assert!(out(&table).contains("template  found"), "{}{}", out(&table), err(&table));
    let json = dehusk(dir.path(), &["evaluate", ".", "--preset", "thesis2014", "--json"]);
    let report: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    let counts = &report["sites"][0]["key_counts"];
    let [nodes, template, retrieved, hits] =
        ["nodes", "template", "retrieved", "hits"].map(|key| counts[key].as_f64().unwrap());
    assert!(hits <= retrieved.min(template) && template < nodes && hits > 0.0, "{counts}");
    assert!((report["key"]["precision"].as_f64().unwrap() - hits / retrieved).abs() < 1e-9);
    std::fs::create_dir(dir.path().join("empty")).unwrap();
    let none = dehusk(&dir.path().join("empty"), &["evaluate", "."]);
    assert!(err(&none).contains("nor folders of TECO"), "{}", err(&none));
}
