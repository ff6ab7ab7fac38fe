//! What owners say about use, in every form, on loopback: the ledger, the columns, and what a purpose keeps out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use dehusk::demo::server::{Asked, Reply, Server};
use dehusk_core::rights::Use;
use dehusk_crawl::{Progress, Stop, crawl};
use dehusk_html::PageUrl;
use dehusk_settings::Settings;
use serde_json::Value;

use crate::cli::{dehusk, err, out};
use crate::crawl::settings;

/// Hosts of the farm, each with the form that it uses.
const HOSTS: [&str; 11] = [
    "signal.test",
    "usage.test",
    "header.test",
    "tdm.test",
    "tdmhead.test",
    "meta.test",
    "aitxt.test",
    "rsl.test",
    "commons.test",
    "both.test",
    "silent.test",
];

const RSL: &str = "<rsl xmlns=\"https://rslstandard.org/rsl\"><content url=\"/\"><license><permits type=\"usage\">search\
                   </permits><prohibits type=\"usage\">ai-train</prohibits></license></content></rsl>";

fn page(head: &str, foot: &str, n: usize) -> Reply {
    let text: String =
        (0..12).map(|at| format!("Sentence {at} of page {n} tells of field {}. ", n * 31 + at)).collect();
    let links: String = (0..4).map(|n| format!("<a href=/p{n}>Page {n}</a> ")).collect();
    Reply::html(format!(
        "<html><head><title>Page {n}</title>{head}</head><body><nav>{links}<a href=/closed/x>Closed</a></nav>\
         <h1>Page {n}</h1><p>{text}</p><footer>{foot}</footer></body></html>"
    ))
    .with("etag", "\"1\"")
}

/// The answer of a host in a night. On the second one signal.test is silent, and silent.test signals.
fn answer(asked: &Asked, night: usize) -> Reply {
    let (host, path) = (asked.host.as_str(), asked.path.as_str());
    let signals = "User-agent: *\nContent-Signal: search=yes, ai-train=no\nAllow: /";
    match (host, path) {
        ("signal.test", "/robots.txt") if night == 0 => Reply::text(signals),
        ("silent.test", "/robots.txt") if night > 0 => Reply::text(signals),
        ("usage.test", "/robots.txt") => {
            Reply::text("User-agent: *\nContent-Usage: / train-ai=y\nContent-Usage: /closed/ train-ai=n")
        }
        ("both.test", "/robots.txt") => Reply::text("User-agent: *\nContent-Usage: train-ai=y"),
        ("rsl.test", "/robots.txt") => {
            let address = "License: http://rsl.test/l.xml\nUser-agent: *\nAllow: /";
            Reply::text(address)
        }
        ("rsl.test", "/l.xml") => Reply::typed("application/rsl+xml", RSL),
        ("tdm.test", "/.well-known/tdmrep.json") => {
            Reply::typed("application/json", r#"[{"location": "/closed/", "tdm-reservation": 1}]"#)
        }
        ("aitxt.test", "/ai.txt") => Reply::text("User-Agent: *\nDisallow: /closed/"),
        (_, "/robots.txt" | "/l.xml" | "/.well-known/tdmrep.json" | "/ai.txt") => Reply::status(404),
        _ if !asked.header("if-none-match").is_empty() => Reply::status(304).with("etag", "\"1\""),
        (_, path) => {
            let is_closed = path.starts_with("/closed/");
            let n = path.bytes().last().map_or(0, |byte| usize::from(byte % 16));
            let (head, foot) = match host {
                "meta.test" if is_closed => ("<meta name=robots content=noai>", ""),
                "commons.test" => ("", "<a rel=license href=https://creativecommons.org/licenses/by/4.0/>CC</a>"),
                _ => ("", ""),
            };
            let reply = page(head, foot, n);
            match host {
                "header.test" if is_closed => reply.with("content-usage", "train-ai=n"),
                "both.test" if is_closed => reply.with("x-robots-tag", "noai"),
                "tdmhead.test" if is_closed => {
                    reply.with("tdm-reservation", "1").with("tdm-policy", "http://tdmhead.test/policy")
                }
                _ => reply,
            }
        }
    }
}

struct Farm {
    server: Server,
    night: Arc<AtomicUsize>,
    dir: tempfile::TempDir,
}

impl Farm {
    fn new() -> Farm {
        let night = Arc::new(AtomicUsize::new(0));
        let now = Arc::clone(&night);
        let server = Server::start_asked(Arc::new(move |asked: &Asked| answer(asked, now.load(Ordering::Relaxed))));
        Farm { server: server.unwrap(), night, dir: tempfile::tempdir().unwrap() }
    }

    fn settings(&self, purpose: Option<Use>) -> Settings {
        let mut settings = settings(&self.dir.path().join("r.db"), &self.server, &["*.test"]);
        settings.politeness.delay = Duration::from_millis(5);
        settings.politeness.robots_ttl = Duration::ZERO;
        settings.revisit.first = Duration::ZERO;
        settings.revisit.least = Duration::ZERO;
        settings.crawl.sitemaps = false;
        settings.crawl.pages_per_site = 20;
        settings.crawl.purpose = purpose;
        settings
    }

    /// Runs a crawl. Returns why sites failed.
    fn crawl(&self, settings: &Settings, archive: Option<&Path>) -> BTreeMap<String, String> {
        let seeds = HOSTS.map(|host| PageUrl::parse(&format!("http://{host}/p0")).unwrap()).to_vec();
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        let (_stop, stopped) = Stop::new();
        let mut reasons = BTreeMap::new();
        let mut watch = |progress: Progress<'_>| {
            if let Progress::Site(site, _) = progress {
                reasons.extend(site.reason.clone().map(|reason| (site.host.clone(), reason)));
            }
        };
        runtime.block_on(crawl(seeds, settings, archive, stopped, &mut watch)).unwrap();
        reasons
    }

    fn asked(&self) -> BTreeSet<String> {
        self.server.arrivals().into_iter().map(|one| format!("{}{}", one.host, one.path)).collect()
    }

    fn json(&self, args: &[&str]) -> Value {
        let output = dehusk(self.dir.path(), &[args, &["--db", "r.db", "--json"]].concat());
        assert!(output.status.success(), "{}", err(&output));
        serde_json::from_str(&out(&output)).unwrap()
    }

    /// The ledger: host, form, place, verdict on training.
    fn ledger(&self) -> Vec<String> {
        lines(&self.json(&["rights", "list"])["statements"], |line| {
            format!("{} {} {} {}", word(line, "host"), word(line, "form"), word(line, "place"), word(line, "train"))
        })
    }

    /// The rows of an export, by address.
    fn rows(&self, out: &str, args: &[&str]) -> (BTreeMap<String, Value>, Value) {
        let export = dehusk(self.dir.path(), &[&["export", "--db", "r.db", "--out", out], args].concat());
        assert!(export.status.success(), "{}", err(&export));
        let mut rows = BTreeMap::new();
        for part in std::fs::read_dir(self.dir.path().join(out).join("data")).unwrap() {
            let text = zstd::decode_all(std::fs::File::open(part.unwrap().path()).unwrap()).unwrap();
            for line in String::from_utf8(text).unwrap().lines() {
                let row: Value = serde_json::from_str(line).unwrap();
                rows.insert(word(&row, "url").to_owned(), row);
            }
        }
        let manifest = std::fs::read(self.dir.path().join(out).join("manifest.json")).unwrap();
        (rows, serde_json::from_slice(&manifest).unwrap())
    }
}

fn word<'v>(line: &'v Value, name: &str) -> &'v str {
    line[name].as_str().unwrap_or("-")
}

fn lines(all: &Value, of: impl Fn(&Value) -> String) -> Vec<String> {
    let mut all: Vec<String> = all.as_array().unwrap().iter().map(of).collect();
    all.sort();
    all
}

/// Everything is kept and nothing obeyed, until rows are chosen.
#[test]
fn without_a_purpose_statements_are_kept_and_chosen_by() {
    let farm = Farm::new();
    farm.crawl(&farm.settings(None), None);
    let expected = [
        "both.test content-usage robots.txt allow",
        "both.test robots-tag header deny",
        "commons.test creative-commons page allow",
        "header.test content-usage header deny",
        "meta.test robots-tag page deny",
        "rsl.test rsl robots.txt -",
        "signal.test content-signal robots.txt deny",
        "tdmhead.test tdmrep header deny",
        "usage.test content-usage robots.txt allow",
        "usage.test content-usage robots.txt deny",
    ];
    assert_eq!(farm.ledger(), expected);
    let extra = |path: &&String| ["ai.txt", "tdmrep.json", "l.xml"].iter().any(|name| path.ends_with(name));
    assert_eq!(farm.asked().iter().filter(extra).count(), 0, "no file is asked for without a purpose");
    let (rows, _) = farm.rows("all", &[]);
    let row = |url: &str| &rows[&format!("http://{url}")];
    assert_eq!(row("signal.test/p1")["rights_train"], "deny");
    assert_eq!(row("signal.test/p1")["rights_search"], "allow");
    assert_eq!(row("signal.test/p1")["rights_input"], Value::Null);
    assert_eq!(row("usage.test/p1")["rights_train"], "allow");
    assert_eq!(row("usage.test/closed/x")["rights_train"], "deny");
    assert_eq!(row("header.test/p1")["rights_train"], Value::Null);
    let both = row("both.test/closed/x");
    assert_eq!((&both["rights_train"], &both["rights_conflicts"][0]), (&"deny".into(), &"train".into()));
    assert_eq!(both["robots_tag"][0], "noai");
    assert_eq!(row("tdmhead.test/closed/x")["rights"][0], "tdmrep (header): 1, policy http://tdmhead.test/policy");
    let (free, manifest) = farm.rows("free", &["--rights", "train"]);
    assert!(free.values().all(|row| row["rights_train"] != "deny"));
    let n_denied = rows.values().filter(|row| row["rights_train"] == "deny").count();
    assert_eq!((manifest["left_out"]["rights"].as_u64(), free.len()), (Some(n_denied as u64), rows.len() - n_denied));
    assert!(n_denied > 8, "{n_denied}");
}

/// What is denied for the purpose is not requested where the site says so, and not stored where the page does.
#[test]
fn a_purpose_is_obeyed_in_every_form() {
    let farm = Farm::new();
    let reasons = farm.crawl(&farm.settings(Some(Use::Train)), Some(&farm.dir.path().join("archive")));
    let asked = farm.asked();
    for host in ["usage.test", "tdm.test", "aitxt.test"] {
        assert!(asked.contains(&format!("{host}/p1")), "{host}");
        assert!(!asked.contains(&format!("{host}/closed/x")), "{host}");
    }
    for host in ["signal.test", "rsl.test"] {
        assert!(!asked.contains(&format!("{host}/p0")), "{host}: all of it is denied");
    }
    assert!(asked.contains("rsl.test/l.xml") && asked.contains("silent.test/.well-known/tdmrep.json"));
    let (rows, _) = farm.rows("all", &["--state", "alive,gone,blocked,failed"]);
    for host in ["header.test", "meta.test", "both.test", "tdmhead.test"] {
        assert!(asked.contains(&format!("{host}/closed/x")), "{host}");
        assert!(rows.contains_key(&format!("http://{host}/p1")), "{host}");
        assert!(!rows.contains_key(&format!("http://{host}/closed/x")), "{host}");
    }
    assert!(rows.values().all(|row| row["rights_train"] != "deny"));
    let archived = archived(&farm.dir.path().join("archive"));
    assert!(archived.contains("http://commons.test/closed/x"));
    for host in ["header.test", "meta.test", "both.test", "tdmhead.test"] {
        assert!(archived.contains(&format!("http://{host}/p1")), "{host}");
        assert!(!archived.contains(&format!("http://{host}/closed/x")), "{host}");
    }
    let ledger = farm.ledger();
    for line in [
        "aitxt.test ai-txt file deny",
        "header.test content-usage header deny",
        "rsl.test rsl robots.txt deny",
        "signal.test content-signal robots.txt deny",
        "tdm.test tdmrep file deny",
    ] {
        assert!(ledger.iter().any(|one| one == line), "{line}: {ledger:?}");
    }
    let told = |url: &str| farm.json(&["pages", "history", url]).to_string();
    let words = "its owner denies train: content-signal (robots.txt): search=yes, ai-train=no";
    assert!(told("http://signal.test/p0").contains(words), "a page that was never stored has a history");
    let by_page = told("http://meta.test/closed/x");
    assert!(by_page.contains("its owner denies train: robots-tag (page): robots: noai"), "{by_page}");
    assert_eq!(reasons["signal.test"], words);
    assert!(reasons["rsl.test"].contains("rsl (robots.txt): http://rsl.test/l.xml: permits search, prohibits train"));
}

/// Targets of the responses in the archive.
fn archived(dir: &Path) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for file in walk(dir) {
        let bytes = std::fs::read(&file).unwrap();
        let text = flate2_members(&bytes);
        let mut is_response = false;
        for line in text.lines() {
            let is_one = matches!(line, "WARC-Type: response" | "WARC-Type: revisit");
            is_response = !line.starts_with("WARC/") && (is_response || is_one);
            if let Some(url) = line.strip_prefix("WARC-Target-URI: ").filter(|_| is_response) {
                all.insert(url.trim_matches(['<', '>']).to_owned());
            }
        }
    }
    all
}

fn walk(dir: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}

fn flate2_members(bytes: &[u8]) -> String {
    let mut text = Vec::new();
    let _ = std::io::Read::read_to_end(&mut flate2::read::MultiGzDecoder::new(bytes), &mut text);
    String::from_utf8_lossy(&text).replace('\r', "")
}

/// Pages that answer 304 take what their site says by then.
#[test]
fn statements_change_while_pages_do_not() {
    let farm = Farm::new();
    let settings = farm.settings(None);
    farm.crawl(&settings, None);
    farm.night.store(1, Ordering::Relaxed);
    farm.crawl(&settings, None);
    let changes = lines(&farm.json(&["rights", "diff", "1", "2"])["changes"], |line| {
        format!("{} {} {}", word(line, "change"), word(line, "host"), word(line, "form"))
    });
    assert_eq!(changes, ["gone signal.test content-signal", "new silent.test content-signal"]);
    let (rows, _) = farm.rows("all", &[]);
    assert_eq!(rows["http://signal.test/p1"]["rights_train"], Value::Null);
    assert_eq!(rows["http://silent.test/p1"]["rights_train"], "deny");
    assert_eq!(rows["http://header.test/closed/x"]["rights_train"], "deny", "what the page said stays");
    let all = farm.json(&["rights", "list", "signal.test", "--all"]);
    let entry = &all["statements"][0];
    assert_eq!((&entry["since"]["run"], &entry["until"]["run"]), (&1.into(), &2.into()));
}
