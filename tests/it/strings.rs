//! Template strings on the command line: plain text, pages, wrong input.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dehusk::demo::server::{Reply, Server};

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
    assert!(err(&regex).contains("papers.strings.tokens"), "{}", err(&regex));
}

/// The second-level filter (Foschini 2007, section 3.3): what many sources have is an idiom of the language.
#[test]
fn what_many_sources_say_stays() {
    const SHORT: &str = "as a matter of fact";
    const LONG: &str = "the opinions that are given here are those of their own authors";
    let dir = tempfile::tempdir().unwrap();
    let text = |source: &str, n: usize| {
        format!(
            "{} {SHORT} {} signed by the board of {source} {} {LONG} {}",
            OWN[n],
            OWN[(n + 1) % 4],
            OWN[(n + 2) % 4],
            OWN[n]
        )
    };
    for source in ["one", "two", "three", "four"] {
        let folder = dir.path().join(source);
        std::fs::create_dir(&folder).unwrap();
        (0..4).for_each(|n| std::fs::write(folder.join(format!("{n}.txt")), text(source, n)).unwrap());
        let learned = dehusk(dir.path(), &["strings", "learn", source, "--name", source]);
        assert!(learned.status.success(), "{}", err(&learned));
    }
    let clean = |args: &[&str]| out(&dehusk(dir.path(), args));
    let cleaned = clean(&["strings", "clean", "one/0.txt", "--name", "one"]);
    assert!(cleaned.contains(SHORT) && !cleaned.contains("signed by") && !cleaned.contains(LONG), "{cleaned}");
    let all = ["--set", "papers.strings.longest_idiom=0"];
    let cleaned = clean(&[&["strings", "clean", "one/0.txt", "--name", "one"][..], &all].concat());
    assert!(cleaned.contains(SHORT) && !cleaned.contains("signed by") && cleaned.contains(LONG), "{cleaned}");
}

/// The same for pages, and for the method `strings`.
#[test]
fn what_many_sites_say_stays() {
    const SHORT: &str = "as a matter of fact";
    let dir = tempfile::tempdir().unwrap();
    let page = |site: &str, n: usize| {
        let [first, second] = [OWN[n], OWN[(n + 1) % 4]];
        format!("<p>{first}</p><p>signed by the board of {site}</p><p>{second}<i>{SHORT}</i>{first}</p>")
    };
    let sites = ["one", "two", "three", "four"];
    for site in sites {
        let folder = dir.path().join(site);
        std::fs::create_dir(&folder).unwrap();
        (0..4).for_each(|n| std::fs::write(folder.join(format!("{n}.html")), page(site, n)).unwrap());
    }
    let method = || out(&dehusk(dir.path(), &["clean", "one/0.html", "--method", "strings", "--like", "one"]));
    assert!(!method().contains(SHORT), "without other sources it is template");
    for site in sites {
        let learned = dehusk(dir.path(), &["strings", "learn", site, "--name", site]);
        assert!(learned.status.success(), "{}", err(&learned));
    }
    let stored = out(&dehusk(dir.path(), &["strings", "clean", "one/0.html", "--name", "one"]));
    for cleaned in [stored, method()] {
        assert!(cleaned.contains(SHORT) && !cleaned.contains("signed by"), "{cleaned}");
    }
}

/// Section 3.4.1: cuts that are near each other are merged, with the text between them.
#[test]
fn cuts_are_merged_over_words_if_asked() {
    let dir = tempfile::tempdir().unwrap();
    (0..4).for_each(|n| {
        let own = ["ab", "cd", "ef", "gh"][n];
        let text =
            format!("{} To leave the list of the harbor {own} write to the owner of the list {}\n", OWN[n], OWN[3 - n]);
        std::fs::write(dir.path().join(format!("{n}.txt")), text).unwrap();
    });
    let run = |args: &[&str]| out(&dehusk(dir.path(), args));
    run(&["strings", "learn", "0.txt", "1.txt", "2.txt", "3.txt", "--name", "x"]);
    let clean = ["strings", "clean", "0.txt", "--name", "x"];
    assert_eq!(run(&clean).split_whitespace().nth(4), Some("ab"), "{}", run(&clean));
    let merged = run(&[&clean[..], &["--set", "papers.strings.merge_text=true"]].concat());
    assert_eq!(merged.split_whitespace().collect::<Vec<_>>().join(" "), format!("{} {}", OWN[0], OWN[3]));
}

/// The first use of the paper: the template of one page, from its own versions.
#[test]
fn versions_of_one_page_are_learned_from_the_store() {
    let nights = AtomicUsize::new(0);
    let answer = move |_: &str, path: &str| match path {
        "/robots.txt" => Reply::status(404),
        "/" => {
            let own = OWN[nights.fetch_add(1, Ordering::Relaxed) % 4];
            Reply::html(format!("<p class=head>From the list of the harbor</p><p>{own}</p><a href=/a>a</a>"))
        }
        _ => Reply::html("<p class=head>From the list of the harbor</p><p>Another page.</p><a href=/>home</a>"),
    };
    let server = Server::start(Arc::new(answer)).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let resolve = format!("fetch.resolve=[\"*.test=127.0.0.1:{}\"]", server.port());
    for _ in 0..3 {
        let set = ["--set", "fetch.allow_private=true", "--set", "politeness.delay=5ms", "--set", &resolve];
        let crawl = dehusk(dir.path(), &[&["crawl", "http://a.test/", "--all"][..], &set].concat());
        assert!(crawl.status.success(), "{}", err(&crawl));
    }
    let learned = dehusk(dir.path(), &["strings", "learn", "--url", "http://a.test/"]);
    assert!(out(&learned).contains("in 2 or more of 3 documents"), "{}{}", out(&learned), err(&learned));
    let page = format!("<p class=head>From the list of the harbor</p><p>{}</p><a href=/a>a</a>", "A new night.");
    std::fs::write(dir.path().join("new.html"), page).unwrap();
    let cleaned = dehusk(dir.path(), &["strings", "clean", "new.html", "--name", "http://a.test/"]);
    assert_eq!(out(&cleaned).trim(), "A new night.", "{}", err(&cleaned));
}

#[test]
fn patterns_of_the_settings_hold_for_the_method_too() {
    let dir = tempfile::tempdir().unwrap();
    let page = |n: usize| format!("<p>{}</p><p>lot {} of the house</p>", OWN[n], ["kla", "mpf", "zrt", "wqu"][n]);
    (0..4).for_each(|n| std::fs::write(dir.path().join(format!("{n}.html")), page(n)).unwrap());
    std::fs::write(dir.path().join("p.toml"), "[[pattern]]\nname='lot'\nregex='\\b[a-z]{3} of'\ntest='kla of'")
        .unwrap();
    let args = ["clean", "0.html", "--method", "strings", "--like", "0.html", "1.html", "2.html", "3.html"];
    let clean = |more: &[&str]| {
        let args: Vec<&str> =
            args[..4].iter().chain(more).copied().chain(args[5..].iter().flat_map(|f| ["--like", *f])).collect();
        out(&dehusk(dir.path(), &args))
    };
    assert!(clean(&[]).contains("lot kla of the house"));
    assert_eq!(clean(&["--set", "papers.strings.patterns=p.toml"]).trim(), OWN[0]);
}

#[test]
fn a_source_keeps_the_patterns_that_it_was_learned_with() {
    let dir = tempfile::tempdir().unwrap();
    let lot =
        |n: usize| format!("{}\nSold as lot {}, in June of the year", OWN[n], ["kla-1", "mpf-2", "zrt-3", "wqu-4"][n]);
    (0..4).for_each(|n| std::fs::write(dir.path().join(format!("{n}.txt")), lot(n)).unwrap());
    std::fs::write(dir.path().join("p.toml"), "[[pattern]]\nname='lot'\nregex='[a-z]{3}-[0-9]'\ntest='kla-1'").unwrap();
    let files = ["0.txt", "1.txt", "2.txt", "3.txt"];
    let named = ["--name", "lots"];
    let learn = [&["strings", "learn"], &files[..], &named, &["--set", "papers.strings.patterns=p.toml"]].concat();
    assert!(dehusk(dir.path(), &learn).status.success());
    std::fs::remove_file(dir.path().join("p.toml")).unwrap();
    let clean = dehusk(dir.path(), &["strings", "clean", "2.txt", "--name", "lots"]);
    assert_eq!(out(&clean).trim(), OWN[2], "{}", err(&clean));
    // A comma touches the pattern.
    let regex = out(&dehusk(dir.path(), &["strings", "show", "lots", "--emit", "regex"]));
    let expressions: Vec<regex::Regex> = regex.lines().map(|line| regex::Regex::new(line).unwrap()).collect();
    assert!(!expressions.is_empty());
    assert!(expressions.iter().all(|expression| (0..4).all(|n| expression.is_match(&lot(n)))), "{regex}");
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
    let args = ["strings", "learn", "bad.jsonl", "--name", "x", "--set", "papers.strings.patterns=p.toml"];
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
