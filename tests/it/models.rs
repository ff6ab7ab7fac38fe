//! `dehusk models`: templates in a registry, and pages that are cleaned with them.

use std::path::Path;

use serde_json::{Value, json};

use crate::cli::{dehusk, err, out};

fn page(look: usize, n: usize) -> String {
    let text: String =
        (0..12).map(|at| format!("Sentence {at} of page {n} tells of field {}. ", n * 31 + at)).collect();
    let nav =
        ["<nav><a href=/>Home</a><a href=/b>Basket</a></nav>", "<div class=top><b>New</b> <i>look</i> of all</div>"];
    format!("<body class=l{look}>{}<h1>Page {n}</h1><p>{text}</p><footer>Foot {look} of all</footer>", nav[look])
}

fn write(dir: &Path, name: &str, host: &str, look: usize) {
    let line = |n: usize| format!("{}\n", json!({"url": format!("https://{host}/{n}"), "html": page(look, n)}));
    std::fs::write(dir.join(name), (0..20).map(line).collect::<String>()).unwrap();
}

#[test]
fn templates_are_filed_by_host_and_day_and_clean_pages_elsewhere() {
    let dir = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| {
        let run = dehusk(dir.path(), args);
        assert!(run.status.success(), "{args:?}: {}", err(&run));
        out(&run)
    };
    write(dir.path(), "a.jsonl", "www.a.test", 0);
    write(dir.path(), "later.jsonl", "a.test", 1);
    run(&["learn", "a.jsonl", "--db", "one.db"]);
    assert!(run(&["models", "push", "reg", "--db", "one.db"]).contains("reg: templates filed: 1, already there: 0"));
    assert!(run(&["models", "push", "reg", "--db", "one.db"]).contains("reg: templates filed: 0, already there: 1"));
    // Where nothing else is known, the pages are cleaned as by the database; the spelling of the host does not matter.
    let texts = |args: &[&str]| -> Vec<(Value, Value)> {
        let rows = run(&[&["clean", "a.jsonl", "--rows", "--quiet"], args].concat());
        let row =
            |line: &str| serde_json::from_str::<Value>(line).map(|row| (row["text"].clone(), row["step"].clone()));
        rows.lines().map(|line| row(line).unwrap()).collect()
    };
    let by_registry = texts(&["--models", "reg"]);
    assert!(by_registry == texts(&["--db", "one.db"]) && by_registry[0].1 == "site_model");
    run(&["models", "pull", "reg", "a.test", "--db", "two.db"]);
    assert!(texts(&["--db", "two.db"]) == by_registry);
    // A template shows on pages of its look only.
    let shown = |pages: &str| -> f64 {
        let found = run(&["models", "stat", "reg", "a.test", "--pages", pages, "--json"]);
        serde_json::from_str::<Value>(&found).unwrap()["templates"][0]["shown"].as_f64().unwrap()
    };
    assert!(shown("a.jsonl") > 0.9 && shown("later.jsonl") < 0.5, "{} {}", shown("a.jsonl"), shown("later.jsonl"));
    assert!(run(&["models", "stat", "reg", "a.test", "--pages", "later.jsonl"]).contains("have another template"));
    let file = std::fs::read_dir(dir.path().join("reg/models")).unwrap().next().unwrap().unwrap().path().join("a.test");
    let file = std::fs::read_dir(file).unwrap().next().unwrap().unwrap().path();
    let day = file.file_stem().unwrap().to_str().unwrap().to_owned();
    for (args, what) in [
        (vec!["models", "pull", "reg", "b.test"], "no template of these hosts"),
        (vec!["models", "pull", "reg", "a.test", "--as-of", "2020-01-01"], "no template of these hosts"),
        (vec!["models", "pull", "reg", "a.test", "--as-of", "soon"], "expected a day"),
        (vec!["models", "stat", "reg", "b.test"], "no template of b.test"),
        (vec!["models", "push", "reg", "b.test", "--db", "one.db"], "no template to push"),
        (vec!["clean", "a.jsonl", "--models", "regg"], "regg: No such file"),
        (vec!["clean", "a.jsonl", "--db", "typo.db"], "typo.db"),
    ] {
        let run = dehusk(dir.path(), &args);
        assert!(!run.status.success() && err(&run).contains(what), "{args:?}: {}", err(&run));
    }
    // A damaged file is named.
    std::fs::write(&file, b"no template").unwrap();
    let damaged = dehusk(dir.path(), &["models", "pull", "reg", "a.test", "--db", "three.db"]);
    assert!(!damaged.status.success() && err(&damaged).contains(&format!("a.test/{day}.zst")), "{}", err(&damaged));
}
