//! What the fuzzer runs, one function a reader of foreign bytes. None may panic, and each checks what must hold of any
//! input. `tests/it/fuzz.rs` runs them over the kept corpus in every `cargo test`.

use std::path::Path;

use dehusk_core::page_rules::PageRules;
use dehusk_core::{MarkdownLinks, MarkdownOptions, Page, PageOptions, Quality, SiteModel, detect_language};
use dehusk_crawl::robots::Robots;
use dehusk_crawl::seeds::Seeds;
use dehusk_crawl::sitemap::{MAX_SITEMAP_URLS, parse_announced};
use dehusk_files::codings::{Coding, decode};
use dehusk_files::warc::{Reader, documents};
use dehusk_html::PageUrl;
use dehusk_html::{Tree, scan_links, scan_metas};
use dehusk_settings::Settings;
use dehusk_store::{pack, unpack};
use dehusk_template::strings::Patterns;
use dehusk_template::template::Template;

/// A reader of foreign bytes.
pub type Target = fn(&[u8]);

/// Every target with the name of its corpus folder.
pub const TARGETS: &[(&str, Target)] = &[
    ("parse", parse),
    ("forms", forms),
    ("learn", learn),
    ("model", model),
    ("template", template),
    ("robots", robots),
    ("sitemap", sitemap),
    ("warc", warc),
    ("stored", stored),
    ("settings", settings),
    ("seeds", seeds),
    ("url", url),
];

fn text(data: &[u8]) -> String {
    String::from_utf8_lossy(data).into_owned()
}

fn page(html: &[u8]) -> Page {
    Page::parse(html, &PageOptions::default())
}

/// The tree of any bytes, its main content, and the scanners that read links without a tree.
pub fn parse(data: &[u8]) {
    let page = page(data);
    let cleaned = page.clean();
    assert_eq!(cleaned.labels().len(), page.n_nodes());
    assert!((0.0..=1.0).contains(&cleaned.confidence()), "confidence {}", cleaned.confidence());
    cleaned.text();
    assert!(scan_links(data, 100).1.len() <= 100);
    scan_metas(data);
}

/// Cleaned HTML is inert, and what it is parsed to is written as itself; Markdown, metadata and signals of any page.
pub fn forms(data: &[u8]) {
    let page = page(data).with_url("http://example.org/a/b?c").expect("a URL");
    let html = page.clean().html();
    let again = dehusk_html::parse(&html, &PageOptions::default().limits);
    check_inert(&again, &html);
    let url = PageUrl::parse("http://example.org/a/b?c").ok();
    let twice = dehusk_render::write_html(&again, url.as_ref(), |_| true);
    check_inert(&dehusk_html::parse(&twice, &PageOptions::default().limits), &twice);
    let cleaned = page.clean();
    for links in [MarkdownLinks::Inline, MarkdownLinks::Reference, MarkdownLinks::Drop] {
        let markdown = cleaned.markdown(&MarkdownOptions { links, ..MarkdownOptions::default() });
        let mut rendered = String::new();
        pulldown_cmark::html::push_html(&mut rendered, pulldown_cmark::Parser::new(&markdown));
        check_inert(&dehusk_html::parse(&rendered, &PageOptions::default().limits), &rendered);
    }
    let metadata = page.metadata();
    let day = metadata.published.map(|day| day.value);
    assert!(day.as_ref().is_none_or(|day| day.len() == 10), "{day:?}");
    assert!(Quality::new(&cleaned.text()).values.iter().all(|value| value.is_finite() && *value >= 0.0));
    assert!(detect_language(&cleaned.text()).is_none_or(|(code, _)| code.len() <= 3));
}

fn check_inert(tree: &Tree, html: &str) {
    // The tree leaves scripts and styles out, and text is escaped.
    assert!(!html.contains("<script") && !html.contains("<style"), "{html:?}");
    for node in tree.nodes() {
        let name = tree.name(node);
        let is_active = ["script", "object", "embed", "iframe", "frame", "form", "base", "applet", "portal"];
        assert!(!is_active.contains(&name), "{name} in {html:?}");
        for (key, value) in tree.attrs(node) {
            assert!(!key.starts_with("on") && key != "srcdoc" && key != "formaction", "{key} in {html:?}");
            let scheme: String = value.chars().filter(|c| *c > ' ').take(11).collect::<String>().to_ascii_lowercase();
            let is_address = ["href", "src", "poster", "cite", "srcset"].contains(&key);
            assert!(!(is_address && scheme == "javascript:"), "{key}={value:?} in {html:?}");
        }
    }
}

/// Pages of one site, separated by a zero byte: each page is labeled, and the model survives its bytes.
pub fn learn(data: &[u8]) {
    let pages: Vec<Page> = data.split(|byte| *byte == 0).take(6).map(page).collect();
    let Ok(mut model) = SiteModel::learn(&pages) else { return };
    let read = SiteModel::from_bytes(&model.to_bytes()).expect("what was written is read");
    for page in &pages {
        assert_eq!(model.clean(page).labels(), read.clean(page).labels());
        model.clean(page).text();
    }
    if let Some(last) = pages.last() {
        model.add(last);
        model.clean(last).text();
    }
}

/// The content of a site model, under a right checksum.
pub fn model(data: &[u8]) {
    let sum = xxhash_rust::xxh3::xxh3_64(data).to_le_bytes();
    let framed = [b"dehusk site model 1\n".as_slice(), &sum, data].concat();
    if let Ok(model) = SiteModel::from_bytes(&framed) {
        let page = page(b"<nav><a href=/>Home</a></nav><h1>Rye</h1><p>All about rye.</p><table><td>1<td>2</table>");
        model.clean(&page).text();
        let mut grown = model.clone();
        grown.add(&page);
        grown.clean(&page).text();
        model.merge(&model).expect("equal options").clean(&page).text();
        SiteModel::from_bytes(&model.to_bytes()).expect("what was written is read");
    }
    assert!(SiteModel::from_bytes(data).is_err() || data.starts_with(b"dehusk site model"));
}

/// A stored template.
pub fn template(data: &[u8]) {
    if let Ok(template) = Template::from_bytes(data) {
        template.tree();
        template.training_set();
        Template::from_bytes(&template.to_bytes()).expect("what was written is read");
    }
}

/// robots.txt, asked about paths that it holds itself, and the page rules.
pub fn robots(data: &[u8]) {
    let agents = ["dehusk/0.1".to_owned(), "other".to_owned()];
    let robots = Robots::parse(data, &agents);
    let file = text(data);
    let base = PageUrl::parse("http://example.org/").expect("a URL");
    for line in file.lines().take(50) {
        let path = line.split_once(':').map_or(line, |(_, path)| path.trim());
        base.join(path).iter().for_each(|url| {
            robots.allows(url);
        });
    }
    assert!(robots.delay().is_none_or(|delay| delay.as_secs_f64() >= 0.0));
    let lines: Vec<String> = file.lines().take(5).map(str::to_owned).collect();
    PageRules::new(&lines, [("robots", file.as_str())].into_iter(), &agents, 1_800_000_000);
}

/// Sitemaps and feeds.
pub fn sitemap(data: &[u8]) {
    let found = parse_announced(data);
    assert!(found.pages.len() + found.sitemaps.len() <= MAX_SITEMAP_URLS);
}

/// Web archives: the records, their HTTP responses and their codings.
pub fn warc(data: &[u8]) {
    let stream = || Box::new(std::io::Cursor::new(data.to_vec()));
    let path = Path::new("fuzz.warc");
    let tolerant = Reader::tolerant(path, stream()).expect("memory is read");
    for reader in [Reader::new(path, stream()), tolerant] {
        for document in documents(reader, 1 << 20).take(1000).flatten() {
            assert!(document.body.len() <= 1 << 20 && document.url.as_str().starts_with("http"));
        }
    }
}

/// Values of a database of a stranger, and bodies in any content coding.
pub fn stored(data: &[u8]) {
    if let Ok(value) = unpack(data) {
        assert_eq!(unpack(&pack(&value, 1)).expect("what was packed is unpacked"), value);
        assert!(Template::from_bytes(&value).map_or(true, |template| template.n_nodes() <= value.len()));
    }
    let codings = [Coding::Gzip, Coding::Deflate, Coding::Brotli, Coding::Zstd];
    for (at, outer) in codings.iter().enumerate() {
        assert!(decode(data, &[*outer], 10_000).0.len() <= 10_000);
        assert!(decode(data, &[codings[(at + 1) % 4], *outer], 10_000).0.len() <= 10_000);
    }
}

/// Settings files and lists of patterns.
pub fn settings(data: &[u8]) {
    let file = text(data);
    if let Err(reason) = Settings::load(Some(("crawl.toml", &file)), &[]) {
        assert!(!reason.to_string().is_empty());
    }
    if let Err(reason) = Settings::load(None, std::slice::from_ref(&file)) {
        assert!(!reason.to_string().is_empty());
    }
    if let Err(reason) = Patterns::parse(&file) {
        assert!(!reason.to_string().is_empty());
    }
}

/// Lists of seeds, packed or not.
pub fn seeds(data: &[u8]) {
    let path = std::env::temp_dir().join(format!("dehusk-fuzz-{}.seeds", std::process::id()));
    std::fs::write(&path, data).expect("the folder for temporary files can be written");
    let mut seeds = Seeds::default();
    seeds.add(&path.to_string_lossy()).expect("the file is there");
    for dehusk_store::seed::Seed { url, .. } in seeds.into_seeds().take(10_000) {
        assert!(url.as_str().len() <= 8 * 1024 && PageUrl::parse(url.as_str()).is_ok());
    }
    std::fs::remove_file(&path).expect("the file is there");
}

/// URLs and references: a canonical URL is its own canonical form.
pub fn url(data: &[u8]) {
    let given = text(data);
    let base = PageUrl::parse("http://example.org/a/b?c#d").expect("a URL");
    for url in [PageUrl::parse(&given).ok(), base.join(&given)].into_iter().flatten() {
        let again = PageUrl::parse(url.as_str()).expect("a URL that was written is read");
        assert_eq!((again.as_str(), again.fingerprint()), (url.as_str(), url.fingerprint()));
        let canonical = PageUrl::parse(&url.canonical_text()).expect("a canonical URL is a URL");
        assert_eq!(canonical.fingerprint(), url.fingerprint(), "{url}");
        url.without_parameters(|name| name.starts_with('a'));
        assert!(!url.host().is_empty());
        url.ip_literal();
    }
}
