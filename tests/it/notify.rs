//! What is told when a run ends: a command, a webhook with its signature, a mail, an Atom feed.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use dehusk::demo::server::{Reply, Server};
use hmac::{Hmac, Mac};
use serde_json::Value;
use sha2::Sha256;

use crate::cli::{err, signal_after};

/// Time in which the webhook is called.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server that answers requests with these statuses, one after the other. Returns the requests.
fn webhook(statuses: &'static [u16]) -> (String, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = format!("http://{}/hook", listener.local_addr().unwrap());
    let heard = std::thread::spawn(move || statuses.iter().map_while(|status| request(&listener, *status)).collect());
    (address, heard)
}

/// The next request, answered with a status; `None` where none comes.
fn request(listener: &TcpListener, status: u16) -> Option<String> {
    let since = Instant::now();
    let mut stream = loop {
        match listener.accept() {
            Ok((stream, _)) => break stream,
            Err(_) if since.elapsed() < PATIENCE => std::thread::sleep(Duration::from_millis(20)),
            Err(_) => return None,
        }
    };
    stream.set_nonblocking(false).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let (mut heard, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        let n = stream.read(&mut buffer).unwrap();
        heard.extend_from_slice(&buffer[..n]);
        let text = String::from_utf8_lossy(&heard).into_owned();
        let length = text
            .to_lowercase()
            .split_once("content-length: ")
            .map(|(_, rest)| rest.split("\r\n").next().unwrap().parse::<usize>().unwrap());
        let body = text.split_once("\r\n\r\n").map_or(0, |(_, body)| body.len());
        if n == 0 || length.is_some_and(|length| body >= length) {
            write!(stream, "HTTP/1.1 {status} X\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").unwrap();
            return Some(text);
        }
    }
}

fn crawl(dir: &Path, server: &Server, settings: &[&str]) -> String {
    let out = crawling(dir, server, settings).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stderr).unwrap()
}

fn crawling(dir: &Path, server: &Server, settings: &[&str]) -> Command {
    let resolve = format!("fetch.resolve=[\"*.test=127.0.0.1:{}\"]", server.port());
    let mut command = Command::new(env!("CARGO_BIN_EXE_dehusk"));
    command.current_dir(dir).args([
        "crawl",
        "http://a.test/0",
        "http://b.test/",
        "--all",
        "--quiet",
        "--config",
        "/dev/null",
    ]);
    let fixed = ["fetch.allow_private=true", "politeness.delay=0.01", "fetch.retries=0", &resolve];
    for setting in fixed.iter().chain(settings) {
        command.args(["--set", setting]);
    }
    command
}

#[test]
#[cfg(unix)]
fn everybody_is_told_what_a_run_brought() {
    let answer = |host: &str, path: &str| match path.trim_start_matches('/').parse::<usize>() {
        Ok(n) if n < 6 && host == "a.test" => {
            let menu: String = (0..6).map(|i| format!("<li><a href=/{i}>page {i}</a>")).collect();
            Reply::html(format!("<title>t{n}</title><nav><ul>{menu}</ul></nav><main><p>Text of page {n}</main>"))
        }
        _ => Reply::status(404),
    };
    let server = Server::start(Arc::new(answer)).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let (address, heard) = webhook(&[500, 204]);
    let told = [
        "notify.command=cat > told.json; echo $DEHUSK_RUN > run",
        &format!("notify.webhook={address}"),
        "notify.secret=key",
        "notify.mail=[\"me@my.org\"]",
        "notify.sendmail=cat > mail.eml",
        "notify.atom=runs.atom",
    ];
    assert_eq!(crawl(dir.path(), &server, &told), "", "no warning");
    let file = |name: &str| std::fs::read_to_string(dir.path().join(name)).unwrap();
    let json: Value = serde_json::from_str(&file("told.json")).unwrap();
    assert_eq!((&json["run"]["new"], &json["newly_failing"][0]["host"]), (&6.into(), &"b.test".into()), "{json}");
    assert_eq!(file("run"), "1\n");
    assert!(file("mail.eml").contains("To: me@my.org\r\nSubject: dehusk, run 1: 0 pages differ, 1 sites fail now\r\n"));
    assert!(file("runs.atom").contains("<title>dehusk, run 1: "));
    let heard = heard.join().unwrap();
    assert!(heard.len() == 2 && heard[0] == heard[1], "what fails is tried again: {heard:?}");
    let (head, body) = heard[1].split_once("\r\n\r\n").unwrap();
    let mut mac = Hmac::<Sha256>::new_from_slice(b"key").unwrap();
    mac.update(body.as_bytes());
    let digits: String = mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    assert!(
        head.starts_with("POST /hook ") && head.contains(&format!("x-dehusk-signature: sha256={digits}")),
        "{head}"
    );
    assert_eq!(serde_json::from_str::<Value>(body).unwrap()["run"]["id"], 1);
    let store = dehusk_store::Store::open(&dir.path().join("dehusk.db")).unwrap();
    assert!(!store.run_settings(1).unwrap().unwrap().contains("secret"), "it is not stored");

    // Nothing is new on the second night, and a command that fails is a warning.
    std::fs::remove_file(dir.path().join("told.json")).unwrap();
    assert_eq!(crawl(dir.path(), &server, &told[..1]), "");
    assert!(!dir.path().join("told.json").exists(), "no news");
    // b.test fails, and is not what notices are about.
    let about = [told[0], "notify.sites=[\"*.a.test\", \"c.test\"]", "notify.when=failures"];
    assert_eq!(crawl(dir.path(), &server, &about), "");
    assert!(!dir.path().join("told.json").exists(), "another site");
    let about = [told[0], "notify.sites=a.test", "notify.changes=[\"gone\"]", "notify.when=always"];
    assert_eq!(crawl(dir.path(), &server, &about), "");
    let json: Value = serde_json::from_str(&file("told.json")).unwrap();
    assert_eq!((&json["still_failing"], &json["statuses"]), (&serde_json::json!([]), &serde_json::json!([])), "{json}");
    let warning = crawl(dir.path(), &server, &["notify.command=exit 3", "notify.when=always"]);
    assert!(warning.contains("notify.command: it failed: exit status: 3"), "{warning}");
}

/// One notice for each page that differs, with its words; none for a page that notices are not about.
#[test]
#[cfg(unix)]
fn each_page_that_differs_is_told_by_itself() {
    let tonight = Arc::new(AtomicUsize::new(1));
    let clock = Arc::clone(&tonight);
    let answer =
        move |host: &str, path: &str| match (clock.load(Relaxed), path.trim_start_matches('/').parse::<usize>()) {
            (2, Ok(5)) => Reply::status(410),
            (night, Ok(n)) if n < 6 && host == "a.test" => {
                let menu: String = (0..6).map(|i| format!("<li><a href=/{i}>page {i}</a>")).collect();
                let news = if night == 2 && n < 2 { "the gate is green now" } else { "" };
                Reply::html(format!(
                    "<title>t{n}</title><nav><ul>{menu}</ul></nav><main><p>Text of page {n} {news}</main>"
                ))
            }
            _ => Reply::status(404),
        };
    let server = Server::start(Arc::new(answer)).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let (address, heard) = webhook(&[204, 204, 204]);
    crawl(dir.path(), &server, &[]);
    tonight.store(2, Relaxed);
    let told = [
        "notify.each=page",
        "notify.command=cat >> told.jsonl; echo >> told.jsonl",
        &format!("notify.webhook={address}"),
        "notify.atom=pages.atom",
        "notify.changes=[\"changed\", \"gone\"]",
    ];
    assert_eq!(crawl(dir.path(), &server, &told), "");
    let text = std::fs::read_to_string(dir.path().join("told.jsonl")).unwrap();
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |key: &str| rows.iter().map(|row| row[key].as_str().unwrap_or_default().to_owned()).collect::<Vec<_>>();
    assert_eq!(of("url"), ["http://a.test/0", "http://a.test/1", "http://a.test/5"]);
    assert_eq!(of("change"), ["changed", "changed", "gone"]);
    assert!(of("words")[1].contains("the gate is green now") && rows[1]["run"] == 2, "{text}");
    let bodies: Vec<Value> = heard
        .join()
        .unwrap()
        .iter()
        .map(|request| serde_json::from_str(request.split_once("\r\n\r\n").unwrap().1).unwrap())
        .collect();
    assert_eq!(bodies, rows);
    let feed = std::fs::read_to_string(dir.path().join("pages.atom")).unwrap();
    assert_eq!(feed.matches("<entry>").count(), 3, "{feed}");
    assert!(feed.contains("<title>gone: http://a.test/5</title>\n<link href=\"http://a.test/5\"/>"), "{feed}");
}

/// A server that takes one mail by SMTP, and returns what it was told.
fn mail_server() -> (String, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("smtp://{}", listener.local_addr().unwrap());
    let heard = std::thread::spawn(move || {
        let mut stream = listener.accept().unwrap().0;
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
        let (mut heard, mut is_data) = (String::new(), false);
        stream.write_all(b"220 mail.test\r\n").unwrap();
        while let Some(Ok(line)) = lines.next() {
            heard += &format!("{line}\n");
            let answer = match line.split([' ', ':']).next().unwrap() {
                "." => "250 taken",
                _ if is_data => continue,
                "DATA" => "354 go on",
                "QUIT" => "221 bye",
                _ => "250 yes",
            };
            is_data = answer.starts_with("354");
            stream.write_all(format!("{answer}\r\n").as_bytes()).unwrap();
            if answer.starts_with("221") {
                break;
            }
        }
        heard
    });
    (address, heard)
}

#[test]
fn mail_goes_to_a_server_and_is_about_large_changes() {
    let night = Arc::new(AtomicUsize::new(0));
    let tonight = Arc::clone(&night);
    let answer = move |_: &str, path: &str| match path.trim_start_matches('/').parse::<usize>() {
        Ok(n) if n < 6 => {
            let menu: String = (0..6).map(|i| format!("<li><a href=/{i}>page {i}</a>")).collect();
            let words = ["", "One word.", "A whole new paragraph of nine words is here."];
            let more = if n < 3 { words[n * tonight.load(Relaxed)] } else { "" };
            Reply::html(format!(
                "<title>t{n}</title><nav><ul>{menu}</ul></nav><main><p>Text of page {n}. {more}</main>"
            ))
        }
        _ => Reply::status(404),
    };
    let server = Server::start(Arc::new(answer)).unwrap();
    let dir = tempfile::tempdir().unwrap();
    crawl(dir.path(), &server, &[]);
    night.store(1, Relaxed);
    let (address, heard) = mail_server();
    let told = [
        "notify.mail=[\"me@my.org\", \"you@my.org\"]",
        "notify.from=crawl@my.org",
        "notify.min_words=3",
        "notify.when=always",
        "notify.command=cat > told.json",
        &format!("notify.smtp={address}"),
    ];
    assert_eq!(crawl(dir.path(), &server, &told), "", "no warning");
    let heard = heard.join().unwrap();
    for line in ["MAIL FROM:<crawl@my.org>", "RCPT TO:<me@my.org>", "RCPT TO:<you@my.org>", "From: crawl@my.org"] {
        assert!(heard.contains(line), "{line}: {heard}");
    }
    assert!(heard.contains("Subject: dehusk, run 2: 1 pages differ"), "{heard}");
    let json: Value = serde_json::from_str(&std::fs::read_to_string(dir.path().join("told.json")).unwrap()).unwrap();
    let changes = json["changes"].as_array().unwrap();
    assert_eq!((changes.len(), &changes[0]["url"], &changes[0]["n_words"]), (1, &"http://a.test/2".into(), &9.into()));

    let nobody = [told[0], told[2], told[3], "notify.smtp=smtp://me:secret@127.0.0.1:1", "notify.timeout=1.0", told[1]];
    let warning = crawl(dir.path(), &server, &nobody);
    assert!(warning.contains("notify.mail: 127.0.0.1:1: ") && !warning.contains("secret"), "{warning}");
    assert_eq!(warning.matches("refused").count(), 1, "the cause is named once: {warning}");

    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = format!("notify.smtp=smtp://{}", listener.local_addr().unwrap());
    let warning = crawl(dir.path(), &server, &[told[0], told[1], told[3], &silent, "notify.timeout=1.0"]);
    assert!(warning.contains("no answer within 1 s"), "{warning}");
}

#[cfg(unix)]
#[test]
fn a_signal_ends_the_wait_for_a_dead_webhook() {
    let server = Server::start(Arc::new(|_: &str, _: &str| Reply::html("<p>A page of its own"))).unwrap();
    let dead = TcpListener::bind("127.0.0.1:0").unwrap();
    let dir = tempfile::tempdir().unwrap();
    let webhook = format!("notify.webhook=http://{}/", dead.local_addr().unwrap());
    let mut command = crawling(dir.path(), &server, &[&webhook, "notify.when=always", "notify.timeout=60.0"]);
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let _unanswered = dead.accept().unwrap();
    signal_after(&server, 1, &child, "-TERM");
    let began = Instant::now();
    let ended = child.wait_with_output().unwrap();
    assert!(began.elapsed() < PATIENCE && err(&ended).contains("the run is complete"), "{}", err(&ended));
    assert_eq!(ended.status.code(), Some(0), "{}", err(&ended));
}
