//! Every visit to a page is known: in its history, in the inspector, and as versions by time (RFC 7089).

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dehusk::demo::server::{Reply, Server};
use dehusk_crawl::{SeedList, Stop, crawl};
use dehusk_html::PageUrl;
use dehusk_store::Store;
use serde_json::Value;

use crate::cli::{dehusk, err, out};
use crate::crawl::nightly_settings;
use crate::serve::{Inspector, encoded};

/// 1 October 2026.
const BEGIN: i64 = 1_790_812_800_000;

const DAY: i64 = 86_400_000;

/// A page of a site of ten, with more words.
pub(crate) fn page(n: usize, words: &str) -> Reply {
    let menu: String = (0..10).map(|i| format!("<li><a href=/{i}>page {i}</a>")).collect();
    Reply::html(format!(
        "<title>t{n}</title><nav><ul>{menu}</ul></nav><main><p>The text of the page with the number {n}{words}</p></main>\
         <footer>the end</footer>"
    ))
}

/// On the second night each page answers with something else.
fn answer(night: usize, path: &str) -> Reply {
    let number: Option<usize> = path.trim_start_matches('/').parse().ok();
    match (night, number) {
        (2, Some(1)) => Reply::redirect(301, "/10"),
        (2, Some(2)) => Reply::redirect(308, "/20"),
        (2, Some(3)) => Reply::status(403),
        (2, Some(4)) => Reply::status(404),
        (2, Some(5)) => Reply::status(410),
        (2, Some(6)) => Reply::status(500),
        (2, Some(7)) => Reply::html(""),
        (2, Some(8)) => Reply::typed("application/pdf", "%PDF-1.4"),
        (2, Some(9)) => page(9, ", with news of the second night"),
        (2, Some(n @ (10 | 20))) => page(n / 10, ""),
        (3, Some(9)) => page(9, ", with news of the third night"),
        (_, Some(n)) if n < 10 => page(n, ""),
        _ => Reply::status(404),
    }
}

/// Three nights of one site in `n.db`.
fn three_nights(dir: &Path) {
    let tonight = Arc::new(AtomicUsize::new(1));
    let clock = Arc::clone(&tonight);
    let server =
        Server::start(Arc::new(move |_: &str, path: &str| answer(clock.load(Ordering::Relaxed), path))).unwrap();
    let settings = nightly_settings(&dir.join("n.db"), &server);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for night in 1..=3 {
        tonight.store(night, Ordering::Relaxed);
        let seed = PageUrl::parse("http://a.test/0").unwrap();
        let seeds = SeedList::from(vec![seed]).in_new_run().beginning_at(BEGIN + night as i64 * DAY);
        let (_stop, stopped) = Stop::new();
        runtime.block_on(crawl(seeds, &settings, None, stopped, &mut |_| {})).unwrap();
    }
}

#[test]
fn every_visit_is_in_the_history_and_in_the_inspector() {
    let dir = tempfile::tempdir().unwrap();
    three_nights(dir.path());
    let store = Store::open(&dir.path().join("n.db")).unwrap();
    let inspector = Inspector::start(dir.path(), &["--db", "n.db"]);
    for (n, status, said) in [
        (1, 301, "http://a.test/10"),
        (2, 308, "http://a.test/20"),
        (3, 403, "answers 403"),
        (4, 404, "answers 404"),
        (5, 410, "answers 410"),
        (6, 500, "answers 500"),
        (7, 200, "empty answer"),
        (8, 200, "application/pdf is not HTML"),
    ] {
        let url = format!("http://a.test/{n}");
        let history = store.page_history(&url).unwrap();
        let statuses: Vec<Option<u16>> = history.iter().map(|night| night.status).collect();
        // A body that is not read has no status in the log.
        let second = if n == 8 { statuses[1].or(Some(200)) } else { statuses[1] };
        assert_eq!((statuses.len(), second), (3, Some(status)), "{url}: {history:?}");
        let printed = out(&dehusk(dir.path(), &["pages", "history", &url, "--db", "n.db"]));
        assert!(printed.contains(said), "{url}: {printed}");
        let shown = inspector.get(&format!("/page?url={}", encoded(&url)));
        assert!(shown.status == 200 && shown.body.contains(said), "{url}: {} {}", shown.status, shown.body);
    }
}

/// The texts of a run are those of its night, wherever they are asked for.
#[test]
fn versions_are_told_by_run_and_by_time() {
    let dir = tempfile::tempdir().unwrap();
    three_nights(dir.path());
    const URL: &str = "http://a.test/9";
    let news = ["with the number 9\n", "news of the second night", "news of the third night"];
    let is_of = |text: &str, night: usize| {
        let found: Vec<bool> = news.iter().map(|words| text.contains(words)).collect();
        let expected: Vec<bool> = (0..3).map(|at| at + 1 == night).collect();
        assert_eq!(found, expected, "night {night}: {text}");
    };
    for night in 1..=3 {
        let run = night.to_string();
        let shown = dehusk(dir.path(), &["pages", "show", URL, "--run", &run, "--format", "text", "--db", "n.db"]);
        is_of(&out(&shown), night);
        let name = format!("rows{night}");
        let export = dehusk(dir.path(), &["export", "--as-of", &run, "--out", &name, "--db", "n.db"]);
        assert!(export.status.success(), "{}", err(&export));
        let part = std::fs::File::open(dir.path().join(&name).join("data/part-00000.jsonl.zst")).unwrap();
        let rows = String::from_utf8(zstd::decode_all(part).unwrap()).unwrap();
        let rows: BTreeMap<String, Value> = rows
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .map(|row| (row["url"].as_str().unwrap().replace("http://a.test", ""), row))
            .collect();
        is_of(&format!("{}\n", rows["/9"]["text"].as_str().unwrap()), night);
        assert_eq!(rows.contains_key("/4"), night != 2, "gone on the second night only");
        assert_eq!(rows.contains_key("/1"), night != 2, "moved on the second night only");
        assert_eq!(rows["/6"]["state"], if night == 2 { "failed" } else { "alive" });
    }
    let inspector = Inspector::start(dir.path(), &["--db", "n.db"]);
    let list = inspector.get(&format!("/timemap/link/{URL}"));
    let versions: Vec<&str> = list.body.trim().split(",\n").filter(|link| link.contains("memento\"")).collect();
    assert_eq!(versions.len(), 3, "{}", list.body);
    assert!(versions[0].contains("first memento") && versions[2].contains("last memento"), "{}", list.body);
    for (asked, night) in [
        ("Sat, 03 Oct 2026 12:00:00 GMT", 2),
        ("Fri, 02 Oct 2026 12:00:00 GMT", 1),
        ("Sun, 01 Nov 2026 12:00:00 GMT", 3),
        ("Thu, 01 Jan 2015 00:00:00 GMT", 1),
    ] {
        let gate = inspector.ask("GET", &format!("/timegate/{URL}"), &[("accept-datetime", asked)], "");
        let location = gate.head.split("location: ").nth(1).unwrap().split("\r\n").next().unwrap();
        let version = inspector.get(&location[location.find("/memento/").unwrap()..]);
        is_of(&version.body.replace("</p>", "\n</p>"), night);
    }
}
