//! Archives in, corpora out of a bucket: `OBJECTS=1 cargo test --test it objects`. The S3 server is moto, from PyPI, on
//! loopback; scripts/check.sh sets the variable.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::export::lines;

/// The server asks who calls, and does not check the signature.
const SIGNED: &str = "Authorization: AWS4-HMAC-SHA256 Credential=any/20260101/us-east-1/s3/aws4_request, \
                      SignedHeaders=host, Signature=0\r\n";

/// A server of buckets, which ends with the test.
struct Buckets {
    server: Child,
    port: u16,
}

impl Drop for Buckets {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

impl Buckets {
    fn start(venv: &Path) -> Buckets {
        let mut server = Command::new(venv.join("bin/moto_server"));
        server.args(["-H", "127.0.0.1", "-p", "0"]).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut server = server.spawn().unwrap();
        let mut said = BufReader::new(server.stderr.take().unwrap());
        let (began, mut line) = (Instant::now(), String::new());
        let port = loop {
            line.clear();
            assert!(said.read_line(&mut line).unwrap() > 0 && began.elapsed() < Duration::from_secs(60), "no port");
            if let Some((_, port)) = line.trim().rsplit_once("http://127.0.0.1:") {
                break port.trim_end_matches('/').parse().unwrap();
            }
        };
        // Its log must not fill the pipe.
        std::thread::spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
        let buckets = Buckets { server, port };
        buckets.put("", b"");
        buckets
    }

    /// Makes the bucket, or an object in it.
    fn put(&self, key: &str, body: &[u8]) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let head =
            format!("PUT /night/{key} HTTP/1.1\r\nHost: 127.0.0.1\r\n{SIGNED}Content-Length: {}\r\n", body.len());
        stream.write_all(format!("{head}Connection: close\r\n\r\n").as_bytes()).unwrap();
        stream.write_all(body).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{key}: {answer}");
    }

    fn get(&self, key: &str) -> Option<Vec<u8>> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let head = format!("GET /night/{key} HTTP/1.1\r\nHost: 127.0.0.1\r\n{SIGNED}Connection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let body = answer.windows(4).position(|window| window == b"\r\n\r\n").unwrap() + 4;
        answer.starts_with(b"HTTP/1.1 200").then(|| answer.split_off(body))
    }

    fn manifest(&self, folder: &str) -> Value {
        self.get(&format!("{folder}/manifest.json")).map_or(Value::Null, |json| serde_json::from_slice(&json).unwrap())
    }

    fn dehusk(&self, dir: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dehusk"));
        command.current_dir(dir).args(args).env("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{}", self.port));
        command.env("AWS_ACCESS_KEY_ID", "any").env("AWS_SECRET_ACCESS_KEY", "any").env("AWS_REGION", "us-east-1");
        command
    }

    /// Writes all objects that the manifest of a folder lists to the disk.
    fn fetch(&self, folder: &str, to: &Path) -> Value {
        let manifest = self.manifest(folder);
        std::fs::create_dir_all(to.join("data")).unwrap();
        for part in manifest["parts"].as_array().unwrap() {
            let name = part["name"].as_str().unwrap();
            let body = self.get(&format!("{folder}/{name}")).unwrap();
            assert_eq!(part["bytes"], body.len(), "{name}");
            std::fs::write(to.join(name), body).unwrap();
        }
        manifest
    }
}

fn page(n: usize) -> String {
    let text: String =
        (0..40).map(|at| format!("Sentence {at} of page {n} tells of field {}. ", n * 97 + at)).collect();
    format!("<nav><a href=/>Home</a> <a href=/b>Basket</a></nav><h1>Page {n}</h1><p>{text}</p><footer>Foot</footer>")
}

#[test]
fn archives_of_a_bucket_become_a_corpus_in_a_bucket() {
    if !crate::skipped::is_asked_for("OBJECTS") {
        return;
    }
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    let venv = project.join("target/readers");
    let made = Command::new(project.join("scripts/venv.sh")).arg(&venv).arg(project.join("tests/readers.txt")).status();
    assert!(made.unwrap().success());
    let buckets = Buckets::start(&venv);
    let dir = tempfile::tempdir().unwrap();
    let line = |n: usize| format!("{}\n", json!({"url": format!("http://a.test/{n}"), "html": page(n)}));
    std::fs::create_dir(dir.path().join("in")).unwrap();
    for (name, numbers) in [("a.jsonl", 0..500), ("b.jsonl", 500..900)] {
        let text: String = numbers.map(line).collect();
        std::fs::write(dir.path().join("in").join(name), &text).unwrap();
        buckets.put(&format!("in/{name}"), text.as_bytes());
    }
    // Parts of 1 MB: there are several.
    let clean = |sources: &[&str], out: &str| {
        let mut args =
            vec!["clean", "--learn", "--quiet", "--part-size", "1", "--near-duplicates", "mark", "--out", out];
        args.extend(sources);
        buckets.dehusk(dir.path(), &args)
    };
    assert!(clean(&["in/a.jsonl", "in/b.jsonl"], "local").status().unwrap().success());
    let run = clean(&["s3://night/in/"], "s3://night/corpus").output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let manifest = buckets.fetch("corpus", &dir.path().join("fetched"));
    assert!(manifest["complete"] == true && manifest["parts"].as_array().unwrap().len() > 2, "{manifest}");
    let without_source = |mut rows: Vec<Value>| {
        rows.iter_mut().for_each(|row| row["source"] = Value::Null);
        rows
    };
    let fetched = lines(&dir.path().join("fetched"));
    assert_eq!(fetched[0]["source"], "s3://night/in/a.jsonl");
    assert!(without_source(fetched) == without_source(lines(&dir.path().join("local"))));
    assert!(String::from_utf8(buckets.get("corpus/README.md").unwrap()).unwrap().contains("900 pages"));
    // Killed in the middle: what the manifest lists is whole, and the same call ends with the same bytes.
    let mut child = clean(&["s3://night/in/"], "s3://night/killed").spawn().unwrap();
    while buckets.manifest("killed")["parts"].as_array().is_none_or(Vec::is_empty)
        && child.try_wait().unwrap().is_none()
    {
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    buckets.fetch("killed", &dir.path().join("half"));
    assert!(clean(&["s3://night/in/"], "s3://night/killed").status().unwrap().success());
    assert_eq!(buckets.fetch("killed", &dir.path().join("again")), manifest);
    // Whatever is wrong names the object.
    for (args, expected) in [
        (["clean", "s3://night/none.warc.gz", "--alone", "--json"], "s3://night/none.warc.gz: there is no such object"),
        (["clean", "s3://night/none/", "--alone", "--json"], "s3://night/none/: there are no objects"),
    ] {
        let run = buckets.dehusk(dir.path(), &args).output().unwrap();
        let said = String::from_utf8_lossy(&run.stderr).into_owned();
        assert!(run.status.code() == Some(1) && said.contains(expected), "{said}");
    }
    let other = clean(&["in/a.jsonl"], "s3://night/corpus").output().unwrap();
    let said = String::from_utf8_lossy(&other.stderr).into_owned();
    assert!(other.status.code() == Some(2) && said.contains("s3://night/corpus: the folder holds an export"), "{said}");
    // An export of a store.
    assert!(buckets.dehusk(dir.path(), &["demo", "--quiet"]).status().unwrap().success());
    let export = ["export", "--db", "dehusk-demo/dehusk.db", "--format", "parquet", "--out", "s3://night/demo"];
    assert!(buckets.dehusk(dir.path(), &export).status().unwrap().success());
    assert!(buckets.fetch("demo", &dir.path().join("demo"))["rows"].as_u64() > Some(50));
    // A copy of the store, which replaces none, and its models.
    let backup = ["backup", "s3://night/copy.db", "--db", "dehusk-demo/dehusk.db"];
    assert!(buckets.dehusk(dir.path(), &backup).status().unwrap().success());
    assert!(buckets.get("copy.db").unwrap().starts_with(b"SQLite format 3"));
    let again = buckets.dehusk(dir.path(), &backup).output().unwrap();
    let said = String::from_utf8_lossy(&again.stderr).into_owned();
    assert!(!again.status.success() && said.contains("s3://night/copy.db: there is such an object already"), "{said}");
    let push = ["models", "push", "s3://night/models", "--db", "dehusk-demo/dehusk.db"];
    assert!(buckets.dehusk(dir.path(), &push).status().unwrap().success());
    let pull = ["models", "pull", "s3://night/models", "menus.demo.test", "--db", "pulled.db"];
    let pulled = buckets.dehusk(dir.path(), &pull).output().unwrap();
    assert!(String::from_utf8_lossy(&pulled.stdout).contains("templates stored: 1, hosts without one: 0"));
    // A seed list in the bucket: it is read, and the crawl of a host that is not there fails as such.
    buckets.put("seeds.txt", b"http://127.0.0.9:9/\n");
    let crawl = ["crawl", "s3://night/seeds.txt", "--db", "seeds.db", "--set", "fetch.retries=0"];
    let crawled = buckets.dehusk(dir.path(), &crawl).output().unwrap();
    let said = String::from_utf8_lossy(&[crawled.stdout, crawled.stderr].concat()).into_owned();
    assert!(said.contains("127.0.0.9"), "{said}");
}
