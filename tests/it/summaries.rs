//! What a crawl says at its end: what is new since the last night, by reason, what can be done about it; and that all
//! commands give the same figures.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dehusk::demo::server::{Asked, Reply, Server};
use serde_json::Value;

fn page(n: usize, words: &str) -> Reply {
    let menu: String = (0..10).map(|i| format!("<li><a href=/{i}>page {i}</a>")).collect();
    Reply::html(format!(
        "<title>t{n}</title><nav><ul>{menu}</ul></nav><main><p>The text of the page with the number {n} {words}</p>\
         </main><footer>the end</footer>"
    ))
}

fn answer(night: usize, asked: &Asked) -> Reply {
    let number: Option<usize> = asked.path.trim_start_matches('/').parse().ok().filter(|n| *n < 10);
    match (asked.host.as_str(), night, number) {
        (_, _, None) if asked.path != "/wall" => Reply::status(404),
        ("dead.test", ..) => Reply::status(500),
        ("late.test", 2, _) => Reply::status(503),
        ("lone.test", _, Some(0)) => Reply::html("<title>Alone</title><p>A page without any link to another one.</p>"),
        ("lone.test", ..) => Reply::status(404),
        ("cookies.test", ..) if asked.path == "/wall" => Reply::redirect(302, "/0").with("set-cookie", "yes=1"),
        ("cookies.test", ..) if asked.header("cookie").is_empty() => Reply::redirect(302, "/wall"),
        ("good.test", 2, Some(2)) => Reply::html("<title>Log in</title><form><input type=password></form>"),
        ("good.test", 2, Some(3)) => Reply::html("<title>Just a moment...</title><p>Checking<script>x()</script>"),
        ("good.test", 2, Some(4)) => Reply::html("<title>Page not found</title><p>Sorry</p>"),
        ("good.test", 2, Some(5)) => Reply::status(410),
        ("good.test", 2, Some(6)) => page(6, "with news"),
        (_, _, Some(n)) => page(n, ""),
        _ => Reply::status(404),
    }
}

struct Nights {
    server: Server,
    tonight: Arc<AtomicUsize>,
    dir: tempfile::TempDir,
}

impl Nights {
    fn new() -> Nights {
        let tonight = Arc::new(AtomicUsize::new(1));
        let clock = Arc::clone(&tonight);
        let answer = move |asked: &Asked| answer(clock.load(Ordering::Relaxed), asked);
        Nights { server: Server::start_asked(Arc::new(answer)).unwrap(), tonight, dir: tempfile::tempdir().unwrap() }
    }

    fn program(&self, args: &[&str]) -> String {
        let mut program = Command::new(env!("CARGO_BIN_EXE_dehusk"));
        let output = program.current_dir(self.dir.path()).args(args).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code().is_some_and(|code| code < 2), "{args:?}: {said}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn crawl(&self, night: usize, hosts: &[&str], more: &[&str]) -> String {
        self.tonight.store(night, Ordering::Relaxed);
        let seeds: Vec<String> = hosts.iter().map(|host| format!("http://{host}.test/0")).collect();
        let resolve = format!("fetch.resolve=[\"*.test=127.0.0.1:{}\"]", self.server.port());
        let sets = [
            "fetch.allow_private=true",
            "politeness.delay=2ms",
            "politeness.key=host",
            "fetch.retries=0",
            "politeness.max_back_off=10ms",
            &resolve,
        ];
        let sets = sets.iter().flat_map(|set| ["--set", set]);
        let usual = ["crawl", "--config", "/dev/null", "--all", "--quiet", "--fail-above", "100%"];
        let args: Vec<&str> =
            usual.into_iter().chain(seeds.iter().map(String::as_str)).chain(sets).chain(more.iter().copied()).collect();
        self.program(&args)
    }
}

const HOSTS: [&str; 5] = ["good", "dead", "late", "lone", "cookies"];

#[test]
fn a_summary_says_what_is_new_why_and_what_can_be_done() {
    let nights = Nights::new();
    let first = nights.crawl(1, &HOSTS, &[]);
    let section = |said: &str, title: &str| {
        let rest = said.split_once(&format!("\n{title}:\n"));
        rest.map(|(_, rest)| rest.split("\n\n").next().unwrap().to_owned()).unwrap_or_default()
    };
    let failed = section(&first, "Sites that failed");
    assert!(failed.contains("dead.test     answers 500"), "{first}");
    assert!(failed.contains("cookies.test  leads back as long as its cookie is not sent; fetch.cookies"), "{first}");
    let without = section(&first, "Sites without a template");
    assert!(without.contains("lone.test") && !failed.contains("lone.test"), "{first}");
    assert!(first.contains("no pages, and replace none: 1 cookie_wall\n"), "{first}");

    let second = nights.crawl(2, &HOSTS, &[]);
    let failed = section(&second, "Sites that failed");
    assert!(failed.contains("late.test") && !failed.contains("dead.test"), "only what is new: {second}");
    assert!(second.contains("failed before, and again: 2 sites; "), "{second}");
    let withheld = "no pages, and replace none: 1 challenge, 1 cookie_wall, 1 login_wall, 1 soft_404\n";
    for line in [withheld, "  login_wall, cookie_wall: fetch.cookies", "  challenge: ask the owner"] {
        assert!(second.contains(line), "{line}: {second}");
    }
    // None of these answers is exported, and the pages say what they said.
    nights.program(&["export", "--out", "rows", "--format", "jsonl"]);
    let part = std::fs::File::open(nights.dir.path().join("rows/data/part-00000.jsonl.zst")).unwrap();
    let rows = String::from_utf8(zstd::decode_all(part).unwrap()).unwrap();
    let texts: Vec<Value> = rows.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of =
        |url: &str| texts.iter().find(|row| row["url"] == url).map(|row| (row["text"].clone(), row["state"].clone()));
    for n in [2, 3, 4] {
        let (text, state) = of(&format!("http://good.test/{n}")).unwrap();
        assert!(
            text.as_str().unwrap().contains(&format!("with the number {n}")) && state == "failed",
            "{text} {state}"
        );
    }
    assert_eq!(of("http://good.test/5"), None, "gone");
    assert_eq!(of("http://good.test/1").unwrap().1, "alive");

    let with_cookies = nights.crawl(3, &["cookies"], &["--set", "fetch.cookies=true"]);
    assert!(with_cookies.contains("1 site: 1 learned, 0 failed"), "{with_cookies}");
}

/// The summary, the list of runs, the differences and the report count alike.
#[test]
fn all_commands_give_the_same_figures() {
    let nights = Nights::new();
    for night in 1..=3 {
        let summary: Value = serde_json::from_str(&nights.crawl(night, &HOSTS, &["--json"])).unwrap();
        let stats = &summary["summary"]["stats"];
        let run = night.to_string();
        let runs: Value = serde_json::from_str(&nights.program(&["runs", "list", "--json"])).unwrap();
        let listed = &runs["runs"][0];
        let report: Value =
            serde_json::from_str(&nights.program(&["report", "--run", &run, "--format", "json"])).unwrap();
        for (of_summary, of_list) in [
            ("requests", "requests"),
            ("new", "new"),
            ("changed", "changed"),
            ("gone", "gone"),
            ("pages_moved", "moved"),
            ("blocked", "blocked"),
            ("returned", "returned"),
            ("unchanged", "unchanged"),
            ("same_text", "same_text"),
        ] {
            assert_eq!(stats[of_summary], listed[of_list], "night {night}, {of_summary}: {summary} {listed}");
            assert_eq!(listed[of_list], report["run"][of_list], "night {night}, {of_list}");
        }
        if night > 1 {
            let before = (night - 1).to_string();
            let diff: Value =
                serde_json::from_str(&nights.program(&["runs", "diff", &before, &run, "--json"])).unwrap();
            let count = |word: &str| diff["changes"].as_array().unwrap().iter().filter(|c| c["change"] == word).count();
            for (word, key) in [
                ("new", "new"),
                ("changed", "changed"),
                ("gone", "gone"),
                ("failed", "pages_failed"),
                ("returned", "returned"),
            ] {
                assert_eq!(stats[key], count(word), "night {night}, {word}: {diff}");
            }
        }
    }
    let second = nights.program(&["report", "--run", "2"]);
    let third = nights.program(&["report", "--run", "3"]);
    let rows = |report: &str, title: &str| -> Vec<Vec<String>> {
        let part =
            report.split_once(&format!("\n{title}\n")).map_or("", |(_, rest)| rest.split("\n\n").next().unwrap());
        part.lines().skip(1).map(|line| line.split_whitespace().take(2).map(str::to_owned).collect()).collect()
    };
    assert_eq!(rows(&second, "Sites that fail since this run: 1"), [["late.test", "1"]], "{second}");
    assert_eq!(rows(&second, "Sites that fail on: 2"), [["cookies.test", "2"], ["dead.test", "2"]], "{second}");
    assert_eq!(rows(&third, "Sites that fail on: 2"), [["cookies.test", "3"], ["dead.test", "3"]], "{third}");
    assert_eq!(rows(&third, "Sites that work again: 1"), [["late.test", "kept"]], "{third}");
    let changed = second.split_once("Pages changed since run 1: 1\n").unwrap().1;
    assert!(changed.lines().nth(1).unwrap().contains("number 6{+ with news+}"), "{second}");
}
