//! `dehusk clean URL` of a site that is not stored: it is learned from the pages that the page links to.

use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;

use dehusk::demo::server::{Reply, Server};

fn site() -> Server {
    let answer = |_: &str, path: &str| match path.trim_start_matches('/').parse::<usize>() {
        Ok(n) if n < 8 => {
            let menu: String = (0..8).map(|i| format!("<li><a href=/{i}>chapter {i}</a></li>")).collect();
            let text = format!("The {n}th chapter is about the weather of the year {}. ", 1900 + n).repeat(4);
            Reply::html(format!(
                "<title>t{n}</title><div id=side><ul>{menu}</ul></div><div id=a><p>{text}</p></div>\
                 <div id=foot><p>Printed in Uppsala by the brothers Almqvist, all rights reserved.</p></div>"
            ))
        }
        _ => Reply::status(404),
    };
    Server::start(Arc::new(answer)).unwrap()
}

fn clean(dir: &Path, server: &Server, args: &[&str]) -> Output {
    let resolve = format!("fetch.resolve=[\"*.test=127.0.0.1:{}\"]", server.port());
    let mut command = Command::new(env!("CARGO_BIN_EXE_dehusk"));
    command.current_dir(dir).arg("clean").args(args);
    for setting in ["fetch.allow_private=true", "politeness.delay=0.01", &resolve] {
        command.args(["--set", setting]);
    }
    command.output().unwrap()
}

#[test]
fn a_site_that_is_not_stored_is_learned_from_the_links_of_the_page() {
    let (server, dir) = (site(), tempfile::tempdir().unwrap());
    for method in [&[][..], &["--method", "gottron"], &["--method", "site_model"]] {
        let before = server.arrivals().len();
        let out = clean(dir.path(), &server, &[&["http://a.test/3", "http://a.test/4"], method].concat());
        let (text, said) = (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
        assert!(out.status.success(), "{said}");
        assert!(text.contains("The 3th chapter") && text.contains("The 4th chapter"), "{method:?}: {text}");
        assert!(!text.contains("Uppsala") && !text.contains("chapter 5"), "{method:?}: {text}");
        assert!(said.contains("a.test: learned from ") && !said.contains("no such database"), "{said}");
        let requests = server.arrivals().split_off(before);
        let n = |path: &str| requests.iter().filter(|request| request.path == path).count();
        assert!(n("/3") == 1 && n("/robots.txt") == 1 && (4..=11).contains(&requests.len()), "{requests:?}");
    }
    let before = server.arrivals().len();
    let out = clean(dir.path(), &server, &["http://a.test/3", "--alone"]);
    assert!(out.status.success());
    assert_eq!(server.arrivals().len() - before, 2, "robots.txt and the page");
}
