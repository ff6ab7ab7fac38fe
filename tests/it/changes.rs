//! What counts as a change of a page from night to night. What a server puts into every answer anew does not.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use dehusk::demo::server::{Reply, Server};
use dehusk::demo::{answers, sites};
use dehusk_core::clean::{TemplateMatcher, label_page};
use dehusk_crawl::Summary;
use dehusk_html::PageUrl;
use dehusk_html::parse_bytes;
use dehusk_settings::Settings;
use dehusk_template::template::Template;

use crate::crawl::{DevSites, run, settings};

/// Puts a number into a comment, a script, an attribute and a hidden field of a page.
fn with_nonces(mut reply: Reply, number: usize) -> Reply {
    if reply.status != 200 {
        return reply;
    }
    let Ok(html) = std::str::from_utf8(&reply.body) else {
        reply.body.extend(format!("<!-- {number} -->").into_bytes());
        return reply;
    };
    let nonces = format!(
        "<!-- {number} --><script nonce=n{number}>var t={number}</script><input type=hidden name=token value={number}>"
    );
    let html = html.replacen("<body", &format!("<body data-request={number}"), 1);
    reply.body = if html.contains("</body>") {
        html.replacen("</body>", &format!("{nonces}</body>"), 1)
    } else {
        html + &nonces
    }
    .into_bytes();
    reply
}

/// Nights on which nothing changes but the numbers.
fn nights(answer: Arc<dehusk::demo::server::Answer>, names: &[&str], seeds: &[PageUrl], pages: usize) -> Vec<Summary> {
    let request = AtomicUsize::new(0);
    let server = Server::start(Arc::new(move |host: &str, path: &str| {
        let reply = answer(host, path);
        match path {
            "/robots.txt" => reply,
            _ => with_nonces(reply, request.fetch_add(1, Ordering::Relaxed)),
        }
    }))
    .unwrap();
    let dir = tempfile::tempdir().unwrap();
    let mut settings = settings(&dir.path().join("n.db"), &server, names);
    settings.politeness.delay = Duration::from_millis(10);
    settings.crawl.pages_per_site = pages;
    settings.crawl.sitemaps = false;
    settings.crawl.feeds = false;
    settings.revisit.all = true;
    let summaries = (0..3).map(|_| run(seeds.to_vec(), &settings).0).collect();
    let connection = rusqlite::Connection::open(&settings.store.path).unwrap();
    let mixed: i64 = connection
        .query_row(
            "SELECT count(*) FROM (SELECT 1 FROM urls u JOIN pages p ON p.id = u.page_id JOIN sites s ON s.id = u.site_id
                WHERE p.cleaned_id IS NOT NULL AND u.run_id = 3
                GROUP BY u.site_id HAVING count(DISTINCT p.model) > 1)",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(mixed, 0, "sites whose texts are of more than one model");
    assert_texts_are_of_the_models(&connection, &settings);
    summaries
}

/// The text of each page is what the stored model of its site leaves of its body.
fn assert_texts_are_of_the_models(connection: &rusqlite::Connection, settings: &Settings) {
    let unpacked = |packed: &[u8]| dehusk_store::unpack(packed).unwrap();
    let sql = "SELECT site_id, body FROM templates t WHERE version = (SELECT max(version) FROM templates WHERE
        site_id = t.site_id)";
    let mut statement = connection.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?))).unwrap();
    let matchers: Vec<(i64, TemplateMatcher)> = rows
        .map(Result::unwrap)
        .map(|(site, body)| (site, TemplateMatcher::from_template(&Template::from_bytes(&unpacked(&body)).unwrap())))
        .collect();
    let mut n_pages = 0;
    for (site, matcher) in &matchers {
        let sql = "SELECT u.url, b.raw, p.content_type, u.text_digest FROM urls u JOIN pages p ON p.id = u.page_id
            JOIN page_bodies b ON b.id = p.id WHERE u.site_id = ?1 AND u.run_id = 3 AND p.cleaned_id IS NOT NULL";
        let mut statement = connection.prepare(sql).unwrap();
        let row = |row: &rusqlite::Row<'_>| {
            let content_type: Option<String> = row.get(2)?;
            Ok((row.get::<_, String>(0)?, row.get::<_, Vec<u8>>(1)?, content_type, row.get::<_, i64>(3)?))
        };
        for (url, raw, content_type, text) in statement.query_map([site], row).unwrap().map(Result::unwrap) {
            let (tree, _) = parse_bytes(&unpacked(&raw), content_type.as_deref(), &settings.core.parse);
            let labels = label_page(&tree, None, Some(matcher), &settings.core.clean).labels;
            assert_eq!(labels.text_digest(&tree) as i64, text, "{url}");
            n_pages += 1;
        }
    }
    assert!(n_pages > 9 * matchers.len(), "{n_pages} pages of {} sites", matchers.len());
}

fn assert_nothing_changed(nights: &[Summary]) {
    for (at, night) in nights.iter().enumerate() {
        let stats = &night.stats;
        println!(
            "night {}: {} new, {} changed, {} same text, {} recleaned, {} unchanged, {} gone",
            at + 1,
            stats.new,
            stats.changed,
            stats.same_text,
            stats.recleaned,
            stats.unchanged,
            stats.gone
        );
        assert_eq!((stats.changed, stats.gone), (0, 0), "night {}", at + 1);
        assert!(stats.new + stats.same_text + stats.recleaned > 0);
    }
}

#[test]
fn numbers_in_answers_are_no_change_of_the_demo_sites() {
    // The others answer with another page or an error now and then.
    let sites: Vec<_> = sites().into_iter().filter(|site| site.fails_every == 0 && site.wait.is_zero()).collect();
    let hosts: Vec<String> = sites.iter().map(|site| site.host()).collect();
    let names: Vec<&str> = hosts.iter().map(String::as_str).collect();
    let seeds: Vec<PageUrl> =
        sites.iter().map(|site| PageUrl::parse(&format!("http://{}{}", site.host(), site.start)).unwrap()).collect();
    assert_nothing_changed(&nights(answers(Arc::new(sites)), &names, &seeds, 30));
}

#[test]
fn numbers_in_answers_are_no_change_of_the_real_sites() {
    let Some(sites) = DevSites::load() else { return };
    assert_nothing_changed(&nights(Arc::clone(&sites.answer), &sites.names(), &sites.seeds, 40));
}

/// A page of twelve that link to each other. From night two on, the footer has another year and `/p3.html` a sentence
/// more.
fn with_year(path: &str, is_later: bool) -> Reply {
    let number = path.trim_matches(|c: char| !c.is_ascii_digit());
    let menu: String = (0..12).map(|at| format!("<li><a href='/p{at}.html'>Page {at}</a></li>")).collect();
    let words: String = (0..40).map(|at| format!(" p{number}w{at}")).collect();
    let edit = if is_later && number == "3" { " One sentence more." } else { "" };
    let year = if is_later { 2027 } else { 2026 };
    let html = format!(
        "<html><head><title>{number}</title></head><body><nav><ul>{menu}</ul></nav><h1>Heading {number}</h1>\
         <p>Own words{words}.{edit}</p><footer>Copyright {year}</footer></body></html>"
    );
    Reply::html(html)
}

#[test]
fn another_year_in_the_footer_is_no_change_of_the_pages() {
    let is_later = Arc::new(AtomicUsize::new(0));
    let flag = Arc::clone(&is_later);
    let server = Server::start(Arc::new(move |_: &str, path: &str| match path {
        "/robots.txt" => Reply::text(""),
        path => with_year(path, flag.load(Ordering::Relaxed) > 0),
    }))
    .unwrap();
    let dir = tempfile::tempdir().unwrap();
    let mut settings = settings(&dir.path().join("n.db"), &server, &["year.test"]);
    settings.politeness.delay = Duration::from_millis(10);
    settings.crawl.pages_per_site = 40;
    settings.revisit.all = true;
    let seeds = vec![PageUrl::parse("http://year.test/p0.html").unwrap()];
    run(seeds.clone(), &settings);
    is_later.store(1, Ordering::Relaxed);
    let stats = run(seeds, &settings).0.stats;
    assert_eq!((stats.changed, stats.same_text + stats.recleaned), (1, 11));
}
