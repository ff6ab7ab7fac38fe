//! The heads of an exchange in an archive are those that went over the wire, and files say who made them.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

use dehusk::demo::server::{Asked, Reply, Server};
use dehusk_files::warc::{Member, Reader};

/// The page that is modified once.
const PAGE: &str = "<title>t</title><p>A page of one site, which has some words</p>";

/// Answers one request of a connection after the other; keeps the heads of requests as they came.
fn answer(stream: TcpStream, heads: &Mutex<Vec<String>>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut stream = stream;
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            match reader.read_line(&mut head) {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
        }
        let answer = if head.starts_with("GET /robots.txt ") {
            "HTTP/1.1 404 No Rules Here\r\nContent-Length: 0\r\nSet-Cookie: seen=1\r\n\r\n".to_owned()
        } else if head.starts_with("GET /a?x=1 ") {
            "HTTP/1.1 301 Moved Elsewhere\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n".to_owned()
        } else {
            format!(
                "HTTP/1.1 200 Fine\r\nContent-Type: text/html\r\nX-Two: 2\r\nX-One: 1\r\nTransfer-Encoding: chunked\r\n\r\n\
                 {:x}\r\n{PAGE}\r\n0\r\n\r\n",
                PAGE.len()
            )
        };
        heads.lock().unwrap().push(head);
        if stream.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

fn crawl(dir: &Path, port: u16) {
    let config = format!(
        r#"
        fetch.allow_private = true
        fetch.resolve = ["*.test=127.0.0.1:{port}"]
        fetch.headers = ["From: me@my.org"]
        politeness.delay = "5ms"
        warc.operator = "Me, me@my.org"
        warc.is_part_of = "spring"
        [[site]]
        host = "a.test"
        fetch.headers = ["X-Key: 7"]
        fetch.cookies = true
        "#
    );
    std::fs::write(dir.join("crawl.toml"), config).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_dehusk"));
    let output = command.current_dir(dir).args(["crawl", "http://a.test/a?x=1", "--quiet", "--warc", "w"]).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn members(dir: &Path) -> Vec<Member> {
    let mut files: Vec<_> = std::fs::read_dir(dir.join("w")).unwrap().map(|file| file.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "gz"));
    files.iter().flat_map(|file| Reader::open(file).unwrap().map(|member| member.unwrap())).collect()
}

fn text(member: &Member) -> String {
    String::from_utf8_lossy(&member.block).into_owned()
}

#[test]
fn the_heads_of_an_archive_are_those_of_the_wire() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let heads = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&heads);
    // It ends with the test program.
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let heard = Arc::clone(&heard);
            std::thread::spawn(move || answer(stream, &heard));
        }
    });
    let dir = tempfile::tempdir().unwrap();
    crawl(dir.path(), port);

    let members = members(dir.path());
    let of = |kind: &'static str| members.iter().filter(move |member| member.kind() == kind);
    let sent: Vec<String> = of("request").map(text).collect();
    assert_eq!(sent, *heads.lock().unwrap());
    assert!(sent[1].contains("x-key: 7\r\n") && sent[1].contains("cookie: seen=1\r\n"), "{}", sent[1]);

    let page = of("response").map(text).find(|block| block.ends_with(PAGE)).unwrap();
    let head = "HTTP/1.1 200 Fine\r\ncontent-type: text/html\r\nx-two: 2\r\nx-one: 1\r\n\
                x-orig-transfer-encoding: chunked\r\n\r\n";
    assert_eq!(page, format!("{head}{PAGE}"));
    assert!(of("response").map(text).any(|block| block.starts_with("HTTP/1.1 301 Moved Elsewhere\r\n")));

    let about = text(of("warcinfo").next().unwrap());
    for line in ["operator: Me, me@my.org\r\n", "isPartOf: spring\r\n", "robots: obey\r\n", "software: dehusk/"] {
        assert!(about.contains(line), "{about}");
    }
    assert!(!about.contains("description"), "{about}");
    let steps: Vec<String> = of("metadata").map(text).collect();
    let path = |n: usize| steps[n].lines().find_map(|line| line.strip_prefix("hopsFromSeed: ")).unwrap_or_default();
    assert_eq!((path(0), path(1), path(2)), ("P", "", "R"), "robots.txt, the seed, where it leads");
}

/// Two nights in one archive: how each URL was found, the head of a 304, and the machine.
#[test]
fn metadata_say_how_a_url_was_found_and_what_a_304_said() {
    let page = |path: &str| {
        let links: String = (0..6).map(|n| format!("<li><a href=/{n}>page {n}</a>")).collect();
        Reply::html(format!("<nav><ul>{links}</ul></nav><main><p>The text of {path} and of no other page</p></main>"))
    };
    let answer = move |asked: &Asked| match asked.path.as_str() {
        "/robots.txt" => Reply::text("Sitemap: http://a.test/map.xml"),
        "/map.xml" => Reply::typed("text/xml", "<urlset><url><loc>http://a.test/5</loc></url></urlset>"),
        path if path[1..].parse::<usize>().is_ok_and(|n| n < 6) => {
            let etag = format!("\"{path}\"");
            let is_same = asked.header("if-none-match") == etag;
            let reply = if is_same { Reply::status(304).with("x-night", "second") } else { page(path) };
            reply.with("etag", &etag)
        }
        _ => Reply::status(404),
    };
    let server = Server::start_asked(Arc::new(answer)).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let resolve = format!("fetch.resolve=[\"*.test=127.0.0.1:{}\"]", server.port());
    for _ in 0..2 {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dehusk"));
        command.current_dir(dir.path()).args(["crawl", "http://a.test/0", "--all", "--quiet", "--warc", "w"]);
        for set in ["fetch.allow_private=true", "politeness.delay=2ms", "crawl.pages_per_site=20", &resolve] {
            command.args(["--set", set]);
        }
        assert!(command.args(["--config", "/dev/null"]).output().unwrap().status.success());
    }
    let members = members(dir.path());
    let of = |kind: &'static str| members.iter().filter(move |member| member.kind() == kind);
    let about = text(of("warcinfo").next().unwrap());
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    assert!(name.is_empty() || about.contains(&format!("hostname: {}\r\n", name.trim())), "{about}");
    let steps: BTreeSet<String> = of("metadata")
        .map(text)
        .filter_map(|block| Some(block.split_once("hopsFromSeed: ")?.1.lines().next()?.to_owned()))
        .collect();
    for letter in ["P", "L", "M"] {
        assert!(steps.contains(letter), "{letter}: {steps:?}");
    }
    let same: Vec<String> = of("metadata").map(text).filter(|block| block.contains("status: 304\r\n")).collect();
    assert_eq!((same.len(), of("revisit").count()), (6, 6));
    for block in &same {
        assert!(block.contains("http-header-x-night: second\r\n") && block.contains("http-header-etag: "), "{block}");
    }
}
