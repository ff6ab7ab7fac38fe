//! Speed of a crawl beside wget2 and Scrapy, on hosts of loopback, in one run: `scripts/bench_crawl.sh`. Words after
//! the command choose tools whose name has one of them.
//!
//! Each round runs every tool once, one after the other, over the same 200 hosts x 50 pages of 30 KB without a delay;
//! the server counts pages and connections. CPU and memory are those of the child process alone (`getrusage` through
//! python3). Ratios hold, pages a second move with the machine. `BEFORE=path` adds another build of dehusk as `before`.
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::panic, reason = "a benchmark")]

use std::convert::Infallible;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;

const HOSTS: usize = 200;
const PAGES: usize = 50;

#[derive(Default)]
struct Counts {
    pages: AtomicUsize,
    connections: AtomicUsize,
}

fn host(n: usize) -> String {
    format!("127.0.{}.{}", 1 + n / 100, 1 + n % 100)
}

/// A page of 30 KB: a menu of all pages, an article of its own, a footer.
fn page(n: usize) -> Bytes {
    let menu: String = (0..PAGES).map(|i| format!("<li><a href=\"/{i}\">page number {i}</a></li>")).collect();
    let words = ["river", "stone", "light", "market", "letter", "engine", "garden", "winter", "signal", "paper"];
    let mut text = String::new();
    let mut at = n;
    while text.len() < 26_000 {
        at = at.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let line: Vec<&str> = (0..12).map(|k| words[(at >> (k * 5)) % words.len()]).collect();
        text += &format!("<p class=\"line\">{} {n}.</p>\n", line.join(" "));
    }
    Bytes::from(format!(
        "<!doctype html><html><head><title>page {n}</title></head><body><header><nav><ul>{menu}</ul></nav></header>\
         <main><h1>Page {n}</h1>{text}</main><footer><p>the same footer on every page of the site</p></footer></body></html>"
    ))
}

/// Serves every address of loopback on one port; runs until the process ends.
fn serve() -> (u16, Arc<Counts>) {
    let counts = Arc::new(Counts::default());
    let pages: Arc<Vec<Bytes>> = Arc::new((0..PAGES).map(page).collect());
    let (sender, receiver) = std::sync::mpsc::channel();
    let shared = Arc::clone(&counts);
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(async move {
            let listener = tokio::net::TcpListener::bind("0.0.0.0:0").await.unwrap();
            sender.send(listener.local_addr().unwrap().port()).unwrap();
            while let Ok((stream, _)) = listener.accept().await {
                shared.connections.fetch_add(1, Ordering::Relaxed);
                let _ = stream.set_nodelay(true);
                let (pages, counts) = (Arc::clone(&pages), Arc::clone(&shared));
                let answer = move |request: Request<Incoming>| {
                    let wanted = request.uri().path()[1..].parse().ok().and_then(|n: usize| pages.get(n).cloned());
                    counts.pages.fetch_add(usize::from(wanted.is_some()), Ordering::Relaxed);
                    let mut response = Response::new(Full::new(wanted.clone().unwrap_or_default()));
                    match wanted {
                        Some(_) => drop(response.headers_mut().insert("content-type", "text/html".parse().unwrap())),
                        None => *response.status_mut() = StatusCode::NOT_FOUND,
                    }
                    async move { Ok::<_, Infallible>(response) }
                };
                tokio::spawn(async move {
                    let http = hyper::server::conn::http1::Builder::new();
                    let _ = http.serve_connection(TokioIo::new(stream), service_fn(answer)).await;
                });
            }
        });
    });
    (receiver.recv().unwrap(), counts)
}

struct Figures {
    pages: usize,
    connections: usize,
    seconds: f64,
    cpu: f64,
    rss_mb: f64,
}

/// Runs a command in a folder of its own and measures it.
fn measure(counts: &Counts, dir: &Path, command: &[String]) -> Option<Figures> {
    const SCRIPT: &str = "import resource,subprocess,sys,time
t=time.time()
subprocess.run(sys.argv[1:],stdout=subprocess.DEVNULL,stderr=subprocess.DEVNULL)
r=resource.getrusage(resource.RUSAGE_CHILDREN)
print(time.time()-t,r.ru_utime+r.ru_stime,r.ru_maxrss/1024)";
    let (pages, connections) = (counts.pages.load(Ordering::Relaxed), counts.connections.load(Ordering::Relaxed));
    let output = Command::new("python3").args(["-c", SCRIPT]).args(command).current_dir(dir).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|n| n.parse().ok()).collect();
    let [seconds, cpu, rss_mb] = numbers.as_slice() else { return None };
    Some(Figures {
        pages: counts.pages.load(Ordering::Relaxed) - pages,
        connections: counts.connections.load(Ordering::Relaxed) - connections,
        seconds: *seconds,
        cpu: *cpu,
        rss_mb: *rss_mb,
    })
}

const SPIDER: &str = "
import scrapy
class Spider(scrapy.Spider):
    name = 'bench'
    custom_settings = dict(CONCURRENT_REQUESTS=200, CONCURRENT_REQUESTS_PER_DOMAIN=1, DOWNLOAD_DELAY=0,
        ROBOTSTXT_OBEY=True, LOG_LEVEL='ERROR', TELNETCONSOLE_ENABLED=False, COOKIES_ENABLED=False,
        REACTOR_THREADPOOL_MAXSIZE=20)
    start_urls = [line.strip() for line in open('list.txt')]
    def parse(self, response):
        for href in response.xpath('//a/@href').getall():
            yield response.follow(href)
";

fn main() {
    let rounds: usize = std::env::var("ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(3);
    let (port, counts) = serve();
    let seeds: String = (0..HOSTS).map(|n| format!("http://{}:{port}/0\n", host(n))).collect();
    let crawl = |program: &str, mode: &str| -> Vec<String> {
        let mut command: Vec<String> =
            [program, "crawl", "--config", "/dev/null", "list.txt"].map(str::to_owned).into();
        for pair in [
            "fetch.allow_private=true",
            "politeness.delay=0",
            "politeness.key=host",
            &format!("crawl.pages_per_site={PAGES}"),
            &format!("crawl.mode={mode}"),
        ] {
            command.extend(["--set".to_owned(), pair.to_owned()]);
        }
        command
    };
    let python = std::env::var("SCRAPY_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let this = env!("CARGO_BIN_EXE_dehusk");
    let mut tools: Vec<(&str, Vec<String>)> = vec![
        ("dehusk links", crawl(this, "links")),
        ("dehusk full", crawl(this, "full")),
        ("wget2", words("wget2 -r -l inf --max-threads=64 --robots=on --no-host-directories -q -P out -i list.txt")),
        ("scrapy", [python.as_str(), "-m", "scrapy", "runspider", "spider.py"].map(str::to_owned).into()),
    ];
    if let Ok(before) = std::env::var("BEFORE") {
        tools.push(("before links", crawl(&before, "links")));
        tools.push(("before full", crawl(&before, "full")));
    }
    let wanted: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    println!("{HOSTS} hosts x {PAGES} pages of 30 KB, no delay; {rounds} rounds, every tool once a round\n");
    println!(
        "{:>5}  {:<14}{:>8}{:>10}{:>22}{:>9}{:>13}",
        "round", "tool", "pages", "pages/s", "CPU s / 1,000 pages", "RSS MB", "connections"
    );
    for round in 1..=rounds {
        for (name, command) in &tools {
            if !wanted.is_empty() && !wanted.iter().any(|part| name.contains(part.as_str())) {
                continue;
            }
            let dir = tempfile::tempdir().unwrap();
            std::fs::write(dir.path().join("list.txt"), &seeds).unwrap();
            std::fs::write(dir.path().join("spider.py"), SPIDER).unwrap();
            match measure(&counts, dir.path(), command).filter(|figures| figures.pages > 0) {
                Some(f) => println!(
                    "{round:>5}  {name:<14}{:>8}{:>10.0}{:>22.2}{:>9.0}{:>13}",
                    f.pages,
                    f.pages as f64 / f.seconds,
                    f.cpu * 1000.0 / f.pages as f64,
                    f.rss_mb,
                    f.connections
                ),
                None => println!("{round:>5}  {name:<14} not here, skipped"),
            }
        }
    }
}
