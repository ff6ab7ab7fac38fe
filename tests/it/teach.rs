//! `dehusk teach`: labels for the blocks of two pages of a site, and what becomes of the others.

use std::path::Path;
use std::sync::Arc;

use dehusk::demo::server::{Reply, Server};
use serde_json::Value;

use crate::cli::{dehusk, err, out};

const PAGES: usize = 9;

/// A page with an article and a box about its author, whose words are on no other page.
fn page(path: &str) -> Reply {
    let grains = ["Rye", "Oats", "Barley", "Millet", "Maize", "Wheat", "Rice", "Sorghum", "Teff"];
    let Some(at) = (0..PAGES).find(|at| path == format!("/{at}")) else {
        return Reply { status: 404, ..Reply::html("") };
    };
    let name = grains[at];
    let menu: String = (0..PAGES).map(|other| format!("<li><a href=/{other}>Field {other}</a>")).collect();
    Reply::html(format!(
        "<html><head><title>{name}</title></head><body><nav><ul>{menu}</ul></nav><div class=article><h1>{name}</h1>
        <p>{name} is a grass, which is grown as a grain in the north, and {name} is used for bread, and for beer.
        <p>Farmers sow {name} in autumn, and they harvest {name} in the summer, when the days are long.</div>
        <div class=author><p>{name} was described by Ann of {name} hill, who has lived among the farmers of that
        country for {at} years, and who knows its people and their ways of growing {name}.</div>
        <footer>All rights reserved by the society of farmers</footer></body></html>"
    ))
}

/// The stored text of a page.
fn text(with: &impl Fn(&[&str]) -> std::process::Output, page: &str) -> String {
    let shown = with(&["pages", "show", page]);
    assert!(shown.status.success(), "{}", err(&shown));
    out(&shown)
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The pages as a person corrects them: what is said of the author is not main content, the article is.
fn corrected(printed: &str) -> String {
    let mut pages = lines(printed);
    for block in pages.iter_mut().flat_map(|page| page["blocks"].as_array_mut().unwrap()) {
        let path = block["path"].as_str().unwrap().to_owned();
        block["label"] = if path.contains("div.article") { "main".into() } else { "other".into() };
    }
    pages.iter().map(|page| format!("{page}\n")).collect()
}

#[test]
fn two_labeled_pages_hold_for_the_others_and_outlive_a_new_template() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(Arc::new(|_: &str, path: &str| page(path))).unwrap();
    let resolve = format!("fetch.resolve=[\"*.demo.test=127.0.0.1:{}\"]", server.port());
    let sets = [
        "fetch.allow_private=true",
        &resolve,
        "politeness.delay=1ms",
        "clean.keep=main",
        "crawl.pages_per_site=50",
        "revisit.first=0s",
        "revisit.least=0s",
    ];
    let sets: Vec<&str> = sets.iter().flat_map(|pair| ["--set", pair]).collect();
    let with = |args: &[&str]| dehusk(dir.path(), &[args, &sets].concat());
    let site = "grain.demo.test";
    let crawl = |args: &[&str]| {
        let crawl = with(&[&["crawl", "http://grain.demo.test/0"], args].concat());
        assert!(crawl.status.success(), "{}{}", out(&crawl), err(&crawl));
    };
    crawl(&[]);
    assert!(text(&with, "http://grain.demo.test/5").contains("described by Ann"));

    // Two pages are printed, corrected and read again.
    let printed = with(&["teach", site, "--print"]);
    assert_eq!(lines(&out(&printed)).len(), 2, "{}{}", out(&printed), err(&printed));
    std::fs::write(dir.path().join("blocks.jsonl"), corrected(&out(&printed))).unwrap();
    let taught = with(&["teach", site, "--labels", "blocks.jsonl"]);
    assert!(out(&taught).contains("slots are taught by 2 pages"), "{}{}", out(&taught), err(&taught));

    // What is stored is cleaned again, and so it is by a template that was learned anew.
    for args in [&[][..], &["--set", "template.relearn=true"]] {
        crawl(args);
        let text = text(&with, "http://grain.demo.test/5");
        assert!(text.contains("Wheat is a grass") && !text.contains("Ann"), "{args:?}: {text}");
    }
    assert!(with(&["templates", "export", site, "--output", "grain.json"]).status.success());
    assert!(with(&["templates", "import", "grain.json", "--db", "other.db"]).status.success());
    std::fs::write(dir.path().join("new.html"), page("/8").body).unwrap();
    let cleaned = with(&["clean", "new.html", "--site", site, "--db", "other.db"]);
    assert!(out(&cleaned).contains("Teff is a grass") && !out(&cleaned).contains("Ann"), "{}", out(&cleaned));

    let forgotten = with(&["teach", site, "--forget"]);
    assert!(out(&forgotten).contains("all labels are forgotten"), "{}{}", out(&forgotten), err(&forgotten));
    crawl(&[]);
    assert!(text(&with, "http://grain.demo.test/5").contains("described by Ann"));

    refusals(dir.path(), &with);
}

/// Teachers and files that give no labels.
fn refusals(dir: &Path, with: &impl Fn(&[&str]) -> std::process::Output) {
    let teach = |args: &[&str]| {
        let given = with(&[&["teach", "grain.demo.test"], args].concat());
        (given.status.code().unwrap(), format!("{}{}", out(&given), err(&given)))
    };
    // A teacher that agrees with everything.
    let (code, text) = teach(&["--teacher", "cat", "--json"]);
    let report: Value = serde_json::from_str(&text).unwrap();
    assert!(code == 0 && report["taught_pages"] == 2 && report["pages"][0]["changed"] == 0, "{text}");
    for (command, reason) in [
        ("exit 3", "it failed: exit status: 3"),
        ("echo no", "its answer is no page with blocks"),
        ("echo '{\"blocks\": [{\"block\": 0, \"label\": \"good\"}]}'", "unknown variant `good`"),
        ("exec sleep 60", "no answer within 1 s"),
    ] {
        let (code, text) = teach(&["--teacher", command, "--timeout", "1"]);
        assert!(code == 3 && text.contains(reason) && text.contains("http://grain.demo.test/"), "{code} {text}");
    }
    let (code, text) = teach(&["--teacher", "echo '{\"blocks\": []}'"]);
    assert!(code == 1 && text.contains("no block of a stored page was labeled"), "{code} {text}");
    // As the inspector saves a page; one of another site, and one that is not stored.
    let html = String::from_utf8(page("/3").body).unwrap();
    let n_blocks = PAGES + 5;
    let clicked = |url: &str| serde_json::json!({"url": url, "kinds": "m".repeat(n_blocks), "html": html}).to_string();
    let urls = ["http://grain.demo.test/3", "http://x.demo.test/3", "http://grain.demo.test/none"];
    std::fs::write(dir.join("gold.jsonl"), urls.map(clicked).join("\n")).unwrap();
    let (code, text) = teach(&["--labels", "gold.jsonl"]);
    assert!(code == 0 && text.contains("http://grain.demo.test/none: it is not stored"), "{code} {text}");
    assert!(text.contains(&format!("{n_blocks}       {n_blocks}    {n_blocks}")), "{text}");
    std::fs::write(dir.join("bad.jsonl"), "\n{\"url\": 1}\n").unwrap();
    let (code, text) = teach(&["--labels", "bad.jsonl"]);
    assert!(code == 2 && text.contains("bad.jsonl: line 2"), "{code} {text}");
    let (code, text) = teach(&[]);
    assert!(code == 2 && text.contains("--print"), "{code} {text}");
    let unknown = with(&["teach", "other.demo.test", "--print"]);
    assert!(unknown.status.code() == Some(1) && err(&unknown).contains("no template is stored"), "{}", err(&unknown));
}
