//! Sources and corpora in Azure's object store: `AZURE=1 cargo test --test it azure`. The server is Azurite, from npm, on
//! loopback; scripts/check.sh sets the variable where npm is installed.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hmac::{Hmac, Mac};
use serde_json::{Value, json};
use sha2::Sha256;

use crate::export::lines;

/// The account that every Azurite has, and its published key.
const ACCOUNT: &str = "devstoreaccount1";
const KEY: &str = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

struct Azurite {
    server: Child,
    port: u16,
}

impl Drop for Azurite {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

impl Azurite {
    fn start(target: &Path) -> Azurite {
        let folder = target.join("azurite");
        if !folder.join("node_modules/azurite").is_dir() {
            std::fs::create_dir_all(&folder).unwrap();
            let mut npm = Command::new("npm");
            npm.args(["install", "--silent", "--no-audit", "--no-fund", "--prefix", ".", "azurite@3.37.0"]);
            assert!(npm.current_dir(&folder).status().unwrap().success(), "npm install azurite");
        }
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut node = Command::new("node");
        node.arg("node_modules/azurite/dist/src/blob/main.js").args(["--silent", "--inMemoryPersistence"]);
        node.args(["--skipApiVersionCheck", "--blobPort", &port.to_string()]).current_dir(&folder);
        let server = node.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let azurite = Azurite { server, port };
        let began = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(began.elapsed() < Duration::from_secs(60), "Azurite does not answer");
            std::thread::sleep(Duration::from_millis(50));
        }
        azurite.make_container();
        azurite
    }

    fn make_container(&self) {
        let date = httpdate::fmt_http_date(std::time::SystemTime::now());
        let path = format!("/{ACCOUNT}/night");
        let lines = format!("x-ms-date:{date}\nx-ms-version:2021-08-06\n");
        let signed = format!("PUT\n\n\n\n\n\n\n\n\n\n\n\n{lines}/{ACCOUNT}{path}\nrestype:container");
        let mut mac = Hmac::<Sha256>::new_from_slice(&BASE64_STANDARD.decode(KEY).unwrap()).unwrap();
        mac.update(signed.as_bytes());
        let signature = BASE64_STANDARD.encode(mac.finalize().into_bytes());
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let head = format!("PUT {path}?restype=container HTTP/1.1\r\nHost: x\r\n{}", lines.replace('\n', "\r\n"));
        let rest = format!("Authorization: SharedKey {ACCOUNT}:{signature}\r\nContent-Length: 0\r\n");
        stream.write_all(format!("{head}{rest}Connection: close\r\n\r\n").as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    }

    fn dehusk(&self, dir: &Path, args: &[&str]) -> (bool, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dehusk"));
        command
            .current_dir(dir)
            .args(args)
            .env("AZURE_STORAGE_ACCOUNT_NAME", ACCOUNT)
            .env("AZURE_STORAGE_ACCOUNT_KEY", KEY);
        let run = command
            .env("AZURE_STORAGE_ENDPOINT", format!("http://127.0.0.1:{}/{ACCOUNT}", self.port))
            .output()
            .unwrap();
        (run.status.success(), String::from_utf8_lossy(&[run.stdout, run.stderr].concat()).into_owned())
    }
}

fn page(n: usize) -> Value {
    let text: String =
        (0..40).map(|at| format!("Sentence {at} of page {n} tells of field {}. ", n * 97 + at)).collect();
    let html = format!("<nav><a href=/>Home</a> of all</nav><h1>Page {n}</h1><p>{text}</p><footer>Foot</footer>");
    json!({"url": format!("http://a.test/{n}"), "html": html})
}

#[test]
fn a_corpus_in_azure_is_that_of_the_disk() {
    if !crate::skipped::is_asked_for("AZURE") {
        return;
    }
    let azurite = Azurite::start(&Path::new(env!("CARGO_MANIFEST_DIR")).join("target"));
    let dir = tempfile::tempdir().unwrap();
    let pages: String = (0..300).map(|n| format!("{}\n", page(n))).collect();
    std::fs::write(dir.path().join("pages.jsonl"), pages).unwrap();
    let run = |args: &[&str]| {
        let (is_ok, said) = azurite.dehusk(dir.path(), args);
        assert!(is_ok, "{args:?}: {said}");
        said
    };
    // To the store, and from there to the disk: the columns of the first corpus are the fields of the second.
    run(&["clean", "pages.jsonl", "--learn", "--quiet", "--html", "--part-size", "1", "--out", "az://night/corpus"]);
    let from = ["clean", "az://night/corpus/data/", "--alone", "--quiet", "--pass", "text,n_words", "--out", "back"];
    run(&from);
    run(&["clean", "pages.jsonl", "--learn", "--quiet", "--html", "--part-size", "1", "--out", "local"]);
    let texts = |row: &Value| (row["url"].clone(), row["text"].clone());
    let local: Vec<(Value, Value)> = lines(&dir.path().join("local")).iter().map(texts).collect();
    let back = |row: &Value| {
        let input: Value = serde_json::from_str(row["input"].as_str().unwrap()).unwrap();
        (row["url"].clone(), input["text"].clone())
    };
    let back: Vec<(Value, Value)> = lines(&dir.path().join("back")).iter().map(back).collect();
    assert!(local.len() == 300 && back == local);
    // The same call again has nothing to do, and a missing object is named.
    run(&["clean", "pages.jsonl", "--learn", "--quiet", "--html", "--part-size", "1", "--out", "az://night/corpus"]);
    let (is_ok, said) = azurite.dehusk(dir.path(), &["clean", "az://night/none.warc.gz", "--alone"]);
    assert!(!is_ok && said.contains("az://night/none.warc.gz: there is no such object"), "{said}");
}
