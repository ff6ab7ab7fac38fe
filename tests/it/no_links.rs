//! Key pages without a usable link: the folders above them and the sitemap give the training pages.

use std::sync::Arc;
use std::time::Duration;

use dehusk::demo::server::{Reply, Server};
use dehusk_html::PageUrl;

use crate::crawl::{run, settings};

const MENU: &str = "<ul class=menu><li>Everything about grain<li>and where it grows<li>since 1990</ul>";

fn page(words: &str, links: &[&str]) -> Reply {
    let links: String = links.iter().map(|link| format!("<a href={link}>{link}</a> ")).collect();
    Reply::html(format!("{MENU}<main><h1>{words}</h1><p>What {words} says, and it ends here.</main><p>{links}</p>"))
}

fn answer(host: &str, path: &str) -> Reply {
    let loc = |path: &str| format!("<url><loc>http://{host}{path}</loc></url>");
    match (host, path) {
        // A page whose script makes the menu; its home page has links.
        ("above.test", "/a/b/key.html") => page("the key page", &[]),
        ("above.test", "/") => page("home", &["/x", "/y", "/z"]),
        ("above.test", "/x" | "/y" | "/z") => page(path, &["/"]),
        // Nothing links to anything; robots.txt names an index of sitemaps.
        ("named.test", "/robots.txt") => Reply::text("Sitemap: http://named.test/index.xml"),
        ("named.test", "/index.xml") => Reply::typed(
            "text/xml",
            "<sitemapindex><sitemap><loc>http://named.test/pages.xml</loc></sitemap></sitemapindex>",
        ),
        ("named.test", "/pages.xml") => {
            Reply::typed("text/xml", format!("<urlset>{}{}{}</urlset>", loc("/1"), loc("/2"), loc("/3")))
        }
        ("named.test", "/key" | "/1" | "/2" | "/3") => page(path, &[]),
        // The same with a sitemap at the usual place.
        ("usual.test", "/sitemap.xml") => {
            Reply::typed("text/xml", format!("<urlset>{}{}</urlset>", loc("/1"), loc("/2")))
        }
        ("usual.test", "/key" | "/1" | "/2") => page(path, &[]),
        // Indexes that name indexes for ever.
        ("endless.test", "/key") => page(path, &[]),
        ("endless.test", "/robots.txt") => Reply::status(404),
        ("endless.test", path) if path.contains("sitemap") => Reply::typed(
            "text/xml",
            format!("<sitemapindex><sitemap><loc>http://endless.test{path}/sitemap</loc></sitemap></sitemapindex>"),
        ),
        ("alone.test", "/key") => page(path, &[]),
        _ => Reply::status(404),
    }
}

#[test]
fn a_folder_is_learned_from_its_sitemap() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: String| std::fs::write(dir.path().join(name), text).unwrap();
    for name in ["index", "rye", "oats", "corn"] {
        write(&format!("{name}.html"), format!("{MENU}<main><h1>{name}</h1><p>What {name} says, and it ends.</main>"));
    }
    let learn = || {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_dehusk"));
        let out = command.args(["learn", ".", "--host", "grain.test"]).current_dir(dir.path()).output().unwrap();
        (out.status.code(), String::from_utf8_lossy(&[out.stdout, out.stderr].concat()).into_owned())
    };
    let (code, text) = learn();
    assert!(code == Some(1) && text.contains("/sitemap.xml names no page of the folder"), "{text}");
    let loc = |name: &str| format!("<url><loc>https://www.grain.example/{name}</loc></url>");
    let absent: String = (0..150).map(|n| loc(&format!("absent-{n}"))).collect();
    write("pages.xml", format!("<urlset>{absent}{}{}{}</urlset>", loc("rye"), loc("oats.html"), loc("corn")));
    write("sitemap.xml", "<sitemapindex><sitemap><loc>/pages.xml</loc></sitemap></sitemapindex>".to_owned());
    let (code, text) = learn();
    assert!(code == Some(0) && text.contains("grain.test"), "{text}");
}

#[test]
fn pages_above_and_sitemaps_are_tried_before_giving_up() {
    let server = Server::start(Arc::new(answer)).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let mut settings = settings(&dir.path().join("n.db"), &server, &["*.test"]);
    settings.politeness.delay = Duration::from_millis(5);
    let seeds = ["above.test/a/b/key.html", "named.test/key", "usual.test/key", "endless.test/key", "alone.test/key"];
    let urls = seeds.iter().map(|seed| PageUrl::parse(&format!("http://{seed}")).unwrap()).collect();
    let (_, ended) = run(urls, &settings);
    for (host, loads) in [("above.test", 4), ("named.test", 3), ("usual.test", 2)] {
        let site = &ended[host];
        assert_eq!((site.outcome, site.loads), ("learned", loads), "{host}: {:?}", site.reason);
        assert!(site.template_nodes > 6, "{host}: the menu is template");
    }
    for host in ["endless.test", "alone.test"] {
        let reason = ended[host].reason.as_deref().unwrap_or_default();
        assert!(reason.contains("neither the folders above it nor a sitemap"), "{host}: {reason}");
        let requests = server.arrivals().iter().filter(|arrival| arrival.host == host).count();
        assert!(requests < 12, "{host}: {requests} requests");
    }
}
