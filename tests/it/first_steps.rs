//! `dehusk init` and `dehusk doctor`: from an empty folder to a crawl.

use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;

use dehusk::demo::server::{Asked, Reply, Server};
use serde_json::Value;

use crate::cli::{err, out};

fn run(dir: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dehusk")).current_dir(dir).args(args).output().unwrap()
}

/// The checks of `doctor --json`: topic, state, text.
fn checks(output: &Output) -> Vec<(String, String, String)> {
    let report: Value = serde_json::from_str(&out(output)).unwrap();
    let text = |check: &Value, key: &str| check[key].as_str().unwrap().to_owned();
    let checks = report["checks"].as_array().unwrap().iter();
    checks.map(|check| (text(check, "topic"), text(check, "state"), text(check, "text"))).collect()
}

fn states<'a>(checks: &'a [(String, String, String)], topic: &str) -> Vec<&'a str> {
    checks.iter().filter(|check| check.0 == topic).map(|check| check.1.as_str()).collect()
}

#[test]
fn a_folder_is_made_ready_and_nothing_is_written_over() {
    let dir = tempfile::tempdir().unwrap();
    let agent = "mybot/1.0 (+https://my.org/\"bot\")";
    let given = ["init", "a b", "--agent", agent, "--seed", "docs.test", "--pages", "7", "--at", "2:05"];
    let made = run(dir.path(), &given);
    assert!(made.status.success(), "{}", err(&made));
    let folder = dir.path().join("a b").canonicalize().unwrap();
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    assert!(read("crawl.toml").contains("crawl.pages_per_site = 7"));
    assert!(read("seeds.txt").ends_with("\ndocs.test\n"));
    assert!(read("dehusk.timer").contains("OnCalendar=*-*-* 02:05:00\n"));
    let unit = read("dehusk.service");
    assert!(unit.contains(&format!("WorkingDirectory={}\n", folder.display())), "{unit}");
    assert!(unit.contains(&format!("ExecStart={} crawl --fail-above 20%% ", env!("CARGO_BIN_EXE_dehusk"))), "{unit}");

    assert!(unit.contains("OnFailure=dehusk-failed@%n.service\n"), "{unit}");
    let failed = read("dehusk-failed@.service");
    assert!(failed.contains(&format!("{} report; }} | mail -s", env!("CARGO_BIN_EXE_dehusk"))), "{failed}");
    assert!(failed.contains(&format!("WorkingDirectory={}\n", folder.display())), "{failed}");

    let again = run(dir.path(), &given);
    assert_eq!(again.status.code(), Some(1));
    assert!(err(&again).contains("crawl.toml is there already"), "{}", err(&again));
    for (wrong, said) in
        [(["--at", "25:00"], "25:00"), (["--agent", "a\u{1}b"], "fetch.user_agent"), (["--seed", "a b/c"], "a b/c")]
    {
        let refused = run(dir.path(), &["init", "other", wrong[0], wrong[1]]);
        assert_eq!(refused.status.code(), Some(2), "{wrong:?}: {}", out(&refused));
        assert!(err(&refused).contains(said), "{}", err(&refused));
        assert!(!dir.path().join("other").exists(), "{wrong:?}");
    }

    // Every key at its default, but for the answers.
    let all = run(dir.path(), &["init", "all", "--all-keys", "--agent", "mybot/1.0 (+https://my.org/bot)"]);
    assert!(all.status.success(), "{}", err(&all));
    let text = std::fs::read_to_string(dir.path().join("all/crawl.toml")).unwrap();
    let table: toml::Table = text.parse().unwrap();
    assert_eq!(table["crawl"]["seeds"][0].as_str(), Some("seeds.txt"));
    assert!(text.lines().count() > 300);

    let told = run(&folder, &["doctor", "--json"]);
    let found = checks(&told);
    assert_eq!((told.status.code(), states(&found, "user agent")), (Some(0), vec!["ok"]), "{found:?}");
    assert!(
        found.iter().any(|check| check.2.contains("up to 10 for pages")),
        "key page, training pages, robots.txt: {found:?}"
    );
    assert!(!folder.join("dehusk.db").exists(), "nothing is made");
    let many: String = (0..40).map(|n| format!("http://docs.test/{n}\n")).collect();
    std::fs::write(folder.join("seeds.txt"), many).unwrap();
    let found = checks(&run(&folder, &["doctor", "--json"]));
    assert!(found.iter().any(|check| check.2.contains("up to 41 for pages")), "every seed is fetched: {found:?}");
}

#[test]
fn the_doctor_names_what_is_wrong() {
    let dir = tempfile::tempdir().unwrap();
    let told = run(dir.path(), &["doctor", "--json"]);
    let found = checks(&told);
    assert_eq!((told.status.code(), states(&found, "user agent")), (Some(1), vec!["problem"]), "{found:?}");
    assert_eq!(states(&found, "settings"), ["note"]);

    std::fs::write(dir.path().join("dehusk.db"), "no database").unwrap();
    std::fs::write(dir.path().join("ca.pem"), "no certificate").unwrap();
    let own = ["--set", "fetch.user_agent=mybot/1.0 (+https://my.org/bot)", "--set", "fetch.ca_file=ca.pem"];
    let told = run(dir.path(), &[&["doctor", "--json"], own.as_slice()].concat());
    let found = checks(&told);
    assert_eq!([states(&found, "database"), states(&found, "certificates")], [["problem"], ["problem"]], "{found:?}");

    let told = run(dir.path(), &["doctor", "nothing/there.txt"]);
    assert_eq!(told.status.code(), Some(1));
    assert!(out(&told).contains("nothing/there.txt"), "{}", out(&told));
}

#[test]
fn the_doctor_asks_for_robots_txt_and_for_nothing_else() {
    let answer = |asked: &Asked| match (asked.host.as_str(), asked.path.as_str()) {
        ("open.test", "/robots.txt") => {
            Reply::text("User-agent: *\nCrawl-delay: 7").with("date", "Thu, 01 Jan 2015 00:00:00 GMT")
        }
        ("closed.test", "/robots.txt") => Reply::text("User-agent: *\nDisallow: /private"),
        ("slow.test", "/robots.txt") => Reply::text("User-agent: *\nCrawl-delay: 700"),
        ("broken.test", "/robots.txt") => Reply::status(500),
        _ => Reply::html("a page"),
    };
    let server = Server::start_asked(Arc::new(answer)).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let resolve = format!("fetch.resolve=[\"*.test=127.0.0.1:{}\"]", server.port());
    let urls = ["http://open.test/a", "http://closed.test/private/b", "http://slow.test/", "http://broken.test/"];
    let sets = ["--set", &resolve, "--set", "fetch.allow_private=true", "--set", "politeness.delay=0"];
    let told = run(dir.path(), &[&["doctor", "--json"], urls.as_slice(), sets.as_slice()].concat());
    let found = checks(&told);
    assert_eq!(states(&found, "robots.txt"), ["ok", "problem", "problem", "problem"], "{found:?}");
    assert_eq!(states(&found, "clock"), ["note"], "{found:?}");
    let says = |text: &str| found.iter().any(|check| check.2.contains(text));
    assert!(says("open.test/a: may be requested, 7 s apart") && says("700 s") && says("server error"), "{found:?}");
    assert!(server.arrivals().iter().all(|arrival| arrival.path == "/robots.txt"), "{:?}", server.arrivals());
}
