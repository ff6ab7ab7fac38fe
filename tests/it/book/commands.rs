//! Command lines of the book. All are parsed; those of some pages are run, in order, on a site on loopback.

use std::collections::HashMap;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

use dehusk::demo::server::{Reply, Server};
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use super::{pages, root};

/// Pages whose command lines are run.
const RUN: [&str; 8] = [
    "start.md",
    "snapshots.md",
    "watching.md",
    "from/trafilatura.md",
    "from/scrapy.md",
    "from/heritrix.md",
    "from/datatrove.md",
    "from/changedetection.md",
];

/// The blocks of a page that are for a shell.
fn shell_blocks(text: &str) -> Vec<String> {
    let (mut blocks, mut open) = (Vec::new(), None);
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(kind))) if *kind == *"sh" => open = Some(String::new()),
            Event::Text(text) => open.iter_mut().for_each(|block: &mut String| block.push_str(&text)),
            Event::End(TagEnd::CodeBlock) => blocks.extend(open.take()),
            _ => {}
        }
    }
    blocks
}

/// Runs a script with functions in place of all programs, in a folder.
fn bash(dir: &Path, script: &str) -> (bool, String) {
    // Without a path, nothing is found but what the script defines.
    let out = Command::new("/bin/bash").current_dir(dir).env("PATH", "").args(["-c", script]).output().unwrap();
    (out.status.success(), String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr))
}

#[test]
fn the_program_takes_every_command_line() {
    let documents = ["README.md", "python/README.md"]
        .map(|name| (name.into(), std::fs::read_to_string(root().join(name)).unwrap()));
    let mut n = 0;
    for (name, text) in pages().into_iter().chain(documents) {
        for block in shell_blocks(&text) {
            let dir = tempfile::tempdir().unwrap();
            // The arguments of each call, a unit separator behind each, and a record separator behind the call.
            let list = dir.path().join("calls");
            let functions = format!(
                "command_not_found_handle() {{ :; }}\ndehusk() {{ printf '%s\\037' \"$@\" >>'{0}'; printf '\\036' >>'{0}'; }}\n",
                list.display()
            );
            bash(dir.path(), &format!("{functions}{block}"));
            let calls = std::fs::read_to_string(&list).unwrap_or_default();
            let is_there = block.lines().any(|line| line.starts_with("dehusk "));
            assert!(!is_there || !calls.is_empty(), "{}: {block}", name.display());
            for call in calls.split_terminator('\u{1e}') {
                let words = std::iter::once("dehusk").chain(call.split_terminator('\u{1f}'));
                let parsed = dehusk::cli::command().try_get_matches_from(words);
                assert!(parsed.is_ok(), "{}: {call:?}: {}", name.display(), parsed.unwrap_err());
                n += 1;
            }
        }
    }
    assert!(n > 150, "{n}");
}

/// A page of docs.example.org as it is at a visit.
fn page(path: &str, visit: usize) -> Reply {
    let n: usize = path.bytes().map(usize::from).sum();
    let text: String = (0..9)
        .map(|at| {
            format!(
                "<p>Field {} of {path} was sown in week {at} of the year, and rye stood on it.</p>",
                n + at + 1000 * visit
            )
        })
        .collect();
    let links: String = (0..24).map(|n| format!("<li><a href=/guide/{n}.html>Part {n}</a></li>")).collect();
    Reply::html(format!(
        "<html lang=en><head><title>{path} - Guide</title></head><body><header><a href=/>Guide</a> <a href=/guide/>Parts</a>\
         </header><nav><ul>{links}</ul></nav><main><h1>{path}</h1>{text}</main><footer>Written by its readers.</footer></body></html>"
    ))
}

#[test]
fn the_pages_for_newcomers_do_what_they_say() {
    let visits = Mutex::new(HashMap::<String, usize>::new());
    let answer = move |_: &str, path: &str| match path {
        "/robots.txt" => Reply::text("User-agent: *\nDisallow: /private/"),
        path if path == "/" || path.starts_with("/guide/") => {
            let mut visits = visits.lock().unwrap();
            let visit = visits.entry(path.to_owned()).or_default();
            *visit += 1;
            page(path, *visit)
        }
        _ => Reply::status(404),
    };
    let server = Server::start(Arc::new(answer)).unwrap();
    for name in RUN {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("saved")).unwrap();
        for file in ["page.html", "saved/a.html", "saved/b.html"] {
            std::fs::write(dir.path().join(file), page(file, 0).body).unwrap();
        }
        let program = env!("CARGO_BIN_EXE_dehusk");
        // The site is on loopback and speaks HTTP; `init` and `demo` take no settings for that.
        let functions = format!(
            "dehusk() {{ case $1 in init|demo) '{program}' \"${{@//https:/http:}}\" --quiet </dev/null;; \
             *) '{program}' \"${{@//https:/http:}}\" --quiet --set fetch.allow_private=true --set politeness.delay=0 \
             --set 'fetch.resolve=[\"docs.example.org=127.0.0.1:{}\"]';; esac; }}\nset -eu\n",
            server.port()
        );
        let archive = "dehusk crawl http://docs.example.org/ --db setup.db --warc archive >/dev/null\n";
        let setup = if name == "from/datatrove.md" { archive } else { "" };
        let text = std::fs::read_to_string(root().join("docs").join(name)).unwrap();
        let script = format!("{functions}{setup}{}", shell_blocks(&text).concat());
        let (is_well, said) = bash(dir.path(), &script);
        let end: Vec<&str> = said.lines().rev().take(5).collect();
        assert!(is_well, "{name}, from its end: {end:#?}");
        assert!(text.matches("\ndehusk ").count() > 2, "{name}");
    }
}
