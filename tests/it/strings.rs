//! Template strings on the command line: plain text, pages, wrong input.

use crate::cli::{dehusk, err, out};

const OWN: [&str; 4] = ["The harbor opens again.", "A bridge was built.", "Rain fell on the valley.", "Nobody came."];

fn mail(n: usize) -> String {
    format!(
        "From the list of the harbor\nSent on {n} May 2026 at 10:{n}{n}\n\n{}\n\n-- \nTo leave the list write to leave{n}@list.example.org\n",
        OWN[n]
    )
}

#[test]
fn a_mail_archive_is_learned_and_cleaned_as_text() {
    let dir = tempfile::tempdir().unwrap();
    let mails = dir.path().join("mail");
    std::fs::create_dir_all(mails.join("may")).unwrap();
    (0..4).for_each(|n| std::fs::write(mails.join(format!("may/{n}.txt")), mail(n)).unwrap());
    std::fs::write(mails.join("picture.bin"), b"\0\x01\x02").unwrap();
    let learned = dehusk(dir.path(), &["strings", "learn", "mail", "--name", "harbor"]);
    assert!(learned.status.success(), "{}", err(&learned));
    assert!(out(&learned).contains("harbor: 2 strings in 2 or more of 4 documents"), "{}", out(&learned));
    let clean = dehusk(dir.path(), &["strings", "clean", "mail/may/2.txt", "--name", "harbor"]);
    assert_eq!(out(&clean).trim(), OWN[2], "{}", err(&clean));
    let json = dehusk(dir.path(), &["strings", "clean", "mail", "--name", "harbor", "--json"]);
    assert_eq!(out(&json).lines().count(), 4);
    let line: serde_json::Value = serde_json::from_str(out(&json).lines().next().unwrap()).unwrap();
    assert_eq!(line["id"], "mail/may/0.txt");
    assert!(line["removed"].as_f64().unwrap() > 0.7);
    let list = dehusk(dir.path(), &["strings", "list", "--json"]);
    let list: serde_json::Value = serde_json::from_slice(&list.stdout).unwrap();
    assert_eq!((&list["sources"][0]["source"], &list["sources"][0]["strings"]), (&"harbor".into(), &2.into()));
    let regex = out(&dehusk(dir.path(), &["strings", "show", "harbor", "--emit", "regex"]));
    assert_eq!(regex.lines().count(), 2);
    let expression = regex::Regex::new(regex.lines().next().unwrap()).unwrap();
    assert!((0..4).all(|n| expression.is_match(&mail(n))), "{regex}");
}

#[test]
fn json_lines_of_pages_are_learned_too() {
    let dir = tempfile::tempdir().unwrap();
    let page = |own: &str| format!("<nav class=top><b>Home page</b></nav><p>{own}</p>");
    let lines: Vec<String> =
        OWN.iter().map(|own| serde_json::json!({"id": own, "html": page(own)}).to_string()).collect();
    std::fs::write(dir.path().join("pages.jsonl"), lines.join("\n")).unwrap();
    let learned = dehusk(dir.path(), &["strings", "learn", "pages.jsonl", "--name", "site", "--emit", "text"]);
    assert!(out(&learned).contains("<nav class=\"top\"> <b> Home page </b>"), "{}{}", out(&learned), err(&learned));
    std::fs::write(dir.path().join("new.html"), page("A page never seen.")).unwrap();
    let clean = dehusk(dir.path(), &["strings", "clean", "new.html", "--name", "site"]);
    assert_eq!(out(&clean).trim(), "A page never seen.");
    let regex = dehusk(dir.path(), &["strings", "show", "site", "--emit", "regex"]);
    assert_eq!(regex.status.code(), Some(2));
    assert!(err(&regex).contains("strings.tokens"), "{}", err(&regex));
}

#[test]
fn wrong_input_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let failure = |args: &[&str], code: i32, parts: &[&str]| {
        let output = dehusk(dir.path(), args);
        assert_eq!(output.status.code(), Some(code), "{}", err(&output));
        assert!(parts.iter().all(|part| err(&output).contains(part)), "{}", err(&output));
    };
    failure(&["strings", "learn", "nowhere", "--name", "x"], 1, &["nowhere", "0 documents"]);
    std::fs::write(dir.path().join("bad.jsonl"), "{\"id\": 3}\nno json\n").unwrap();
    failure(&["strings", "learn", "bad.jsonl", "--name", "x"], 1, &["bad.jsonl, line 1", "line 2", "no field html"]);
    std::fs::write(dir.path().join("p.toml"), "[[pattern]]\nname='n'\nregex='['\ntest='a'").unwrap();
    let args = ["strings", "learn", "bad.jsonl", "--name", "x", "--set", "strings.patterns=p.toml"];
    failure(&args, 2, &["p.toml", "pattern n"]);
    std::fs::create_dir(dir.path().join("folder.jsonl")).unwrap();
    failure(&["strings", "learn", "folder.jsonl", "--name", "x"], 1, &["0 documents"]);
    std::fs::write(dir.path().join("cut.jsonl.gz"), b"\x1f\x8b\x08 no gzip").unwrap();
    failure(&["cluster", "cut.jsonl.gz"], 1, &["cut.jsonl.gz: invalid gzip"]);
    failure(&["strings", "learn", "bad.jsonl", "--name", " "], 2, &["--name is empty"]);
    std::fs::write(dir.path().join("a.txt"), "a b c").unwrap();
    std::fs::write(dir.path().join("b.txt"), "a b d").unwrap();
    let learned = dehusk(dir.path(), &["strings", "learn", "a.txt", "b.txt", "--name", "x"]);
    assert!(learned.status.success(), "{}", err(&learned));
    failure(&["strings", "clean", "a.txt", "--name", "other"], 1, &["no strings of other", "strings learn"]);
}
