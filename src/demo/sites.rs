//! The ten demo sites. Each demonstrates one difficulty that real sites pose to a crawler or a template learner.

use std::collections::BTreeMap;
use std::time::Duration;

use encoding_rs::{Encoding, GBK, UTF_8, WINDOWS_1252};

use super::words::Words;
use super::{DemoPage, DemoSite, MARK};

/// All ten demo sites.
pub fn sites() -> Vec<DemoSite> {
    vec![
        menus(),
        two_templates(),
        tables(),
        charsets(),
        broken(),
        duplicates(),
        redirects(),
        robots(),
        DemoSite { wait: Duration::from_millis(400), ..blog("slow", "every answer takes 0.4 s", 61) },
        DemoSite { fails_every: 4, ..blog("moody", "every fourth answer is a 500", 67) },
    ]
}

pub(super) fn site(name: &'static str, shows: &'static str, key: &str, pages: BTreeMap<String, DemoPage>) -> DemoSite {
    DemoSite {
        name,
        shows,
        start: key.to_owned(),
        key: key.to_owned(),
        pages,
        robots: "",
        redirects: BTreeMap::new(),
        wait: Duration::ZERO,
        fails_every: 0,
    }
}

pub(super) fn utf8(marked: String) -> DemoPage {
    DemoPage { marked, charset: UTF_8, charset_in_header: true }
}

/// Headings, paragraphs and lists of one page, all marked as its own.
pub(super) fn article(words: &mut Words) -> String {
    let mut html = format!("<h1{MARK}>{}</h1>\n<p class=\"lead\"{MARK}>{}</p>\n", words.title(), words.sentence());
    for _ in 0..2 + words.below(4) {
        if words.below(3) == 0 {
            html += &format!("<h2{MARK}>{}</h2>\n", words.title());
        }
        html += &format!(
            "<p{MARK}>{} <a href=\"/story/{}\">{}</a></p>\n",
            words.paragraph(),
            words.below(90),
            words.title()
        );
    }
    if words.below(2) == 0 {
        let items: String = (0..2 + words.below(4)).map(|_| format!("<li>{}</li>", words.sentence())).collect();
        html += &format!("<ul{MARK}>{items}</ul>\n");
    }
    html
}

pub(super) fn menu(links: &[(String, &str)]) -> String {
    let items: String = links.iter().map(|(path, name)| format!("<li><a href=\"{path}\">{name}</a></li>")).collect();
    format!("<ul class=\"menu\">{items}</ul>")
}

pub(super) fn page(title: &str, body: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\
         <link rel=\"stylesheet\" href=\"/style.css\"></head>\n<body>\n{body}\n</body></html>\n"
    )
}

/// A menu on every page and a submenu on the pages of each section: a partial template.
fn menus() -> DemoSite {
    const SECTIONS: [&str; 4] = ["Guide", "Reference", "Cookbook", "About"];
    let mut words = Words::new(11);
    let mut pages = BTreeMap::new();
    for (s, section) in SECTIONS.iter().enumerate() {
        for n in 0..5 {
            let top =
                menu(&SECTIONS.iter().enumerate().map(|(i, name)| (format!("/{i}/0.html"), *name)).collect::<Vec<_>>());
            const CHAPTERS: [&str; 5] = ["First steps", "Settings", "Examples", "Questions", "Changes"];
            let sub = menu(
                &CHAPTERS.iter().enumerate().map(|(i, name)| (format!("/{s}/{i}.html"), *name)).collect::<Vec<_>>(),
            );
            let body = format!(
                "<header id=\"top\"><a class=\"logo\" href=\"/0/0.html\">Field Manual</a><nav>{top}</nav></header>\n\
                 <div class=\"columns\"><aside class=\"sub\">{sub}</aside>\n<main class=\"text\">{}</main></div>\n\
                 <footer><p>Field Manual, written by its readers.</p><a href=\"/3/0.html\">Imprint</a></footer>",
                article(&mut words)
            );
            pages.insert(format!("/{s}/{n}.html"), utf8(page(section, &body)));
        }
    }
    site("menus", "menu everywhere, submenu in each section", "/1/2.html", pages)
}

/// A blog and a shop on one site.
fn two_templates() -> DemoSite {
    let mut words = Words::new(13);
    let mut pages = BTreeMap::new();
    for n in 0..8 {
        let links: Vec<(String, &str)> =
            ["News", "Letters", "Essays"].iter().enumerate().map(|(i, t)| (format!("/blog/{i}"), *t)).collect();
        let all: String = (0..8).map(|i| format!("<a href=\"/blog/{i}\">No. {i}</a> ")).collect();
        let body = format!(
            "<header class=\"blog\"><h2>The Reading Room</h2>{}</header>\n<article>{}</article>\n\
             <section class=\"issues\"><h3>All issues</h3>{all}</section><footer class=\"blog\">Set in type by hand.</footer>",
            menu(&links),
            article(&mut words)
        );
        pages.insert(format!("/blog/{n}"), utf8(page("Reading Room", &body)));
        let all: String = (0..8).map(|i| format!("<td><a href=\"/shop/{i}\">Item {i}</a></td>")).collect();
        let body = format!(
            "<div id=\"shop\"><div class=\"bar\"><a href=\"/shop/0\">Shop</a> <a href=\"/blog/0\">Blog</a> Basket: empty</div>\n\
             <table class=\"shelf\"><tr>{all}</tr></table>\n<div class=\"item\"><h1{MARK}>{}</h1><p{MARK}>{}</p>\
             <p class=\"price\"><span{MARK}>{} crowns</span></p><button>Put into basket</button></div>\n\
             <div class=\"terms\">Free delivery within the valley.</div></div>",
            words.title(),
            words.paragraph(),
            10 + words.below(90)
        );
        pages.insert(format!("/shop/{n}"), utf8(page("Shop", &body)));
    }
    site("twofold", "two templates in one site", "/shop/3", pages)
}

/// Table layout as in 1999, without classes or ids.
fn tables() -> DemoSite {
    let mut words = Words::new(17);
    let mut pages = BTreeMap::new();
    for n in 0..10 {
        let rows: String = (0..10)
            .map(|i| {
                format!(
                    "<tr><td bgcolor=\"#ccccff\"><font size=\"2\"><a href=\"p{i}.htm\">Chapter {i}</a></font></td></tr>"
                )
            })
            .collect();
        let body = format!(
            "<table width=\"100%\" border=\"0\"><tr><td colspan=\"2\" align=\"center\"><font size=\"6\">The Old Gazetteer</font></td></tr>\n\
             <tr><td width=\"150\" valign=\"top\"><table>{rows}</table></td>\n<td valign=\"top\">{}</td></tr>\n\
             <tr><td colspan=\"2\"><hr><center><font size=\"1\">Best viewed with both eyes. <a href=\"p0.htm\">Home</a></font></center></td></tr></table>",
            article(&mut words)
        );
        pages.insert(format!("/p{n}.htm"), utf8(page("Gazetteer", &body)));
    }
    site("tables", "legacy table layout", "/p4.htm", pages)
}

/// Pages in windows-1252 declared by the header, and pages in GBK declared only by a meta element.
fn charsets() -> DemoSite {
    let mut words = Words::new(19);
    let mut pages = BTreeMap::new();
    for n in 0..8 {
        let western = n % 2 == 0;
        let charset: &'static Encoding = if western { WINDOWS_1252 } else { GBK };
        let greeting =
            if western { "Café Zürich – “naïve”" } else { "今天天气很好，我们去图书馆看书。" };
        let links: String = (0..8).map(|i| format!("<li><a href=\"/{i}.html\">Page {i}</a></li>")).collect();
        let meta =
            if western { "" } else { "<meta http-equiv=\"Content-Type\" content=\"text/html; charset=gb2312\">" };
        let marked = format!(
            "<html><head>{meta}<title>Scripts</title></head><body><div id=\"head\">Scripts of the world</div>\
             <ul id=\"nav\">{links}</ul><div id=\"text\"><p{MARK}>{greeting}</p>{}</div><div id=\"foot\">End of page</div></body></html>",
            article(&mut words)
        );
        pages.insert(format!("/{n}.html"), DemoPage { marked, charset, charset_in_header: western });
    }
    site("charsets", "windows-1252 and GBK pages", "/2.html", pages)
}

/// Unclosed and misnested elements, stray end tags, text in tables, attributes without quotes.
fn broken() -> DemoSite {
    let mut words = Words::new(23);
    let mut pages = BTreeMap::new();
    for n in 0..9 {
        let links: String = (0..9).map(|i| format!("<li><a href=/{i}>Note {i}")).collect();
        let marked = format!(
            "<title>Notes</title><body bgcolor=white><center><b><i>Loose Notes</b></i></center></div>\n<ul class=nav>{links}</ul>\n\
             <div class=main><div class=inner{MARK}><p>{}<p>{}</span><table>{}<tr><td>{}</table></div></p></div>\n<p class=foot>No rights reserved<br></br></font>",
            words.paragraph(),
            words.paragraph(),
            words.sentence(),
            words.sentence()
        );
        pages.insert(format!("/{n}"), utf8(marked));
    }
    site("broken", "broken markup", "/5", pages)
}

/// Every page has a copy at a second address, with one word changed. Votes of such copies carry no information.
fn duplicates() -> DemoSite {
    let mut base = blog("twins", "near-duplicate pages", 29);
    let copies: Vec<(String, DemoPage)> = base
        .pages
        .iter()
        .map(|(path, page)| (format!("/print{path}"), utf8(page.marked.replacen("The ", "This ", 1))))
        .collect();
    base.pages.extend(copies);
    for page in base.pages.values_mut() {
        page.marked = page.marked.replace("<footer>", "<footer><a href=\"/print/0\">Print edition</a> ");
    }
    base
}

/// Old addresses that redirect to new ones, in chains.
fn redirects() -> DemoSite {
    let mut base = blog("moved", "a site behind redirects", 31);
    base.start = "/".to_owned();
    base.redirects = BTreeMap::from([
        ("/".to_owned(), "/home".to_owned()),
        ("/home".to_owned(), "/index.php".to_owned()),
        ("/index.php".to_owned(), "/1".to_owned()),
        ("/old/2".to_owned(), "/2".to_owned()),
    ]);
    for page in base.pages.values_mut() {
        page.marked = page.marked.replace("href=\"/2\"", "href=\"/old/2\"");
    }
    base
}

/// Half of the pages are forbidden, beginning with the first one of the menu.
fn robots() -> DemoSite {
    let mut base = blog("fenced", "robots.txt forbids half", 37);
    base.robots = "User-agent: *\nDisallow: /0\nDisallow: /2\nDisallow: /4\nDisallow: /6\nDisallow: /8\n";
    base
}

/// An ordinary site of ten pages that all link to each other.
fn blog(name: &'static str, shows: &'static str, seed: u64) -> DemoSite {
    let mut words = Words::new(seed);
    let mut pages = BTreeMap::new();
    let titles: Vec<String> = (0..10).map(|_| words.title()).collect();
    let links: Vec<(String, &str)> = titles.iter().enumerate().map(|(i, t)| (format!("/{i}"), t.as_str())).collect();
    for (n, title) in titles.iter().enumerate() {
        let body = format!(
            "<header class=\"site\"><h2><a href=\"/0\">Walks and Talks</a></h2>{}</header>\n<main>{}</main>\n\
             <footer><p>Written outdoors, printed indoors.</p><p>Letters are welcome.</p></footer>",
            menu(&links),
            article(&mut words)
        );
        pages.insert(format!("/{n}"), utf8(page(title, &body)));
    }
    site(name, shows, "/1", pages)
}
