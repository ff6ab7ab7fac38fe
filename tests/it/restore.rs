//! A copy of the database that was put back, as docs/nightly.md says: the next night begins where the copy ends.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use dehusk::demo::server::{Reply, Server};
use dehusk_html::PageUrl;
use dehusk_store::Store;

use crate::crawl::{run, settings};

fn answer(night: usize, path: &str) -> Reply {
    let menu: String = (0..8).map(|i| format!("<li><a href=/{i}>page {i}</a>")).collect();
    match path.trim_start_matches('/').parse::<usize>() {
        Ok(n) if n < 8 && (night == 1 || n != 5) => {
            let news = if night > 1 && n == 3 { ", with news" } else { "" };
            Reply::html(format!(
                "<title>t{n}</title><nav><ul>{menu}</ul></nav><main><p>The text of the page number {n}{news}</p></main>"
            ))
        }
        _ => Reply::status(404),
    }
}

#[test]
fn a_copy_that_is_put_back_goes_on_from_its_night() {
    let tonight = Arc::new(AtomicUsize::new(1));
    let clock = Arc::clone(&tonight);
    let server =
        Server::start(Arc::new(move |_: &str, path: &str| answer(clock.load(Ordering::Relaxed), path))).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let database = dir.path().join("n.db");
    let mut settings = settings(&database, &server, &["*.test"]);
    settings.politeness.delay = Duration::from_millis(2);
    settings.crawl.probe = false;
    settings.revisit.all = true;
    let night = |number: usize| {
        tonight.store(number, Ordering::Relaxed);
        let summary = run(vec![PageUrl::parse("http://a.test/0").unwrap()], &settings).0;
        (summary.run, summary.stats)
    };
    let program = |args: &[&str]| {
        let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_dehusk"));
        let output = program.current_dir(dir.path()).args(args).args(["--db", "n.db"]).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    night(1);
    program(&["backup", "copy.db"]);
    let (second, stats) = night(2);
    assert_eq!((second, stats.changed, stats.gone, stats.unchanged), (2, 1, 1, 6), "{stats:?}");
    std::fs::copy(dir.path().join("copy.db"), &database).unwrap();
    for beside in ["n.db-wal", "n.db-shm"] {
        let _ = std::fs::remove_file(dir.path().join(beside));
    }
    let store = Store::open(Path::new(&settings.store.path)).unwrap();
    assert_eq!(store.newest_runs(9).unwrap().len(), 1);
    drop(store);
    // The same night once more gives the same: nothing of it is left, and nothing is missing.
    let (again, stats) = night(2);
    assert_eq!((again, stats.changed, stats.gone, stats.unchanged), (2, 1, 1, 6), "{stats:?}");
    assert!(program(&["runs", "diff", "1", "2"]).contains("http://a.test/3"));
    let (third, stats) = night(2);
    assert_eq!((third, stats.changed, stats.gone, stats.unchanged), (3, 0, 0, 7), "{stats:?}");
}
