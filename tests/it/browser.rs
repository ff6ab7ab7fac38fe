//! The inspector in Chromium: `BROWSER=1 cargo test --test it browser`, and what other tests open in it.
//!
//! `BROWSER=1 RUN_SLOW_TESTS=1 cargo test --release --test it browser -- --nocapture` opens the 72 real sites, too.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

use dehusk::demo::server::{Reply, Server};
use dehusk_files::folder::{Folder, url_of};
use dehusk_html::PageUrl;

use crate::cli::{dehusk, err};
use crate::corpus;
use crate::hostile_pages::HostileSite;
use crate::serve::Inspector;
use crate::skipped::is_asked_for;

/// Opens an inspector in Chromium: `tests/browser/inspector.mjs` says what is done. `false` when it was skipped.
pub(crate) fn browse(what: &str, inspector: &Inspector) -> bool {
    /// Only one of several tests installs.
    static INSTALLED: Mutex<bool> = Mutex::new(false);
    if !is_asked_for("BROWSER") {
        return false;
    }
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tools = project.join("target/browser");
    {
        let mut is_installed = INSTALLED.lock().unwrap();
        std::fs::create_dir_all(&tools).unwrap();
        for name in ["package.json", "package-lock.json", "inspector.mjs"].iter().filter(|_| !*is_installed) {
            std::fs::copy(project.join("tests/browser").join(name), tools.join(name)).unwrap();
        }
        if !tools.join("node_modules/axe-core").is_dir() {
            let npm =
                Command::new("npm").args(["ci", "--silent", "--no-audit", "--no-fund"]).current_dir(&tools).status();
            assert!(npm.unwrap().success(), "npm ci");
        }
        *is_installed = true;
    }
    let run = Command::new("node").args(["inspector.mjs", what, &inspector.address]).current_dir(&tools).output();
    let run = run.unwrap();
    print!("{}", String::from_utf8_lossy(&run.stdout));
    assert!(run.status.success(), "{what}: {}", String::from_utf8_lossy(&run.stderr));
    true
}

#[test]
fn hostile_pages_are_harmless_in_a_browser() {
    if !is_asked_for("BROWSER") {
        return;
    }
    let site = HostileSite::start();
    let dir = tempfile::tempdir().unwrap();
    site.crawl(dir.path());
    let before = site.leaks();
    let inspector = Inspector::start(dir.path(), &["--db", "h.db"]);
    assert!(browse("hostile", &inspector));
    assert_eq!(site.leaks(), before, "a page asked the server that its vectors name");
}

/// Folder and key page of each of the real sites, by host.
fn real_sites() -> Option<BTreeMap<String, (PathBuf, String)>> {
    let mut found = BTreeMap::new();
    for (root, split) in [(corpus::sites()?, "dev"), (&corpus::more_sites()?, "dev2")] {
        let gold: toml::Table = std::fs::read_to_string(root.join("gold.toml")).unwrap().parse().unwrap();
        for (name, site) in gold["site"].as_table().unwrap() {
            let own = site["hosts"].as_array().unwrap().first().map(|host| host.as_str().unwrap().to_owned());
            let key = site["key_page"].as_str().unwrap().to_owned();
            let folder = root.join(split).join(name).join("www");
            if folder.is_dir() {
                found.insert(own.unwrap_or_else(|| format!("{name}.test")), (folder, key));
            }
        }
    }
    Some(found)
}

#[test]
fn the_real_sites_are_shown() {
    if !is_asked_for("BROWSER") || !is_asked_for("RUN_SLOW_TESTS") {
        return;
    }
    let Some(sites) = real_sites() else { return };
    let folders: BTreeMap<String, Folder> =
        sites.iter().map(|(host, (folder, _))| (host.clone(), Folder::open(folder).unwrap())).collect();
    let server = Server::start(Arc::new(move |host: &str, path: &str| {
        let url = PageUrl::parse(&format!("http://{host}{path}")).unwrap();
        match folders.get(host).and_then(|folder| folder.find(&url)) {
            Some(served) if served.url != url => Reply::redirect(301, served.url.path()),
            Some(served) if path != "/robots.txt" => Reply::html(std::fs::read(served.file).unwrap()),
            _ => Reply::status(404),
        }
    }))
    .unwrap();
    let dir = tempfile::tempdir().unwrap();
    let seeds: String = sites.iter().map(|(host, (_, key))| format!("{}\n", url_of(host, key).unwrap())).collect();
    std::fs::write(dir.path().join("seeds.txt"), seeds).unwrap();
    let resolve: Vec<String> = sites.keys().map(|host| format!("\"{host}=127.0.0.1:{}\"", server.port())).collect();
    let resolve = format!("fetch.resolve=[{}]", resolve.join(","));
    let sets = [&resolve, "fetch.allow_private=true", "politeness.delay=0.02", "politeness.key=host"];
    let mut args = vec!["crawl", "seeds.txt", "--quiet", "--db", "s.db", "--config", "/dev/null"];
    sets.iter().for_each(|set| args.extend(["--set", set]));
    let crawled = dehusk(dir.path(), &args);
    assert!(dir.path().join("s.db").exists(), "{}", err(&crawled));
    let inspector = Inspector::start(dir.path(), &["--db", "s.db"]);
    // The first line has the names of the columns.
    let shown = inspector.get("/sites.csv").body.lines().count() - 1;
    assert!(shown >= sites.len() * 9 / 10, "{shown} of {} sites", sites.len());
    browse("sites", &inspector);
}
