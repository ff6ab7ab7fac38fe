//! A demo site on one of many nights. It has new content each night, and its template may change.

use std::collections::BTreeMap;

use super::check::own_texts;
use super::sites::page;
use super::words::Words;
use super::{DemoPage, DemoSite, MARK};

/// How the template of a site changes over the nights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Redesign {
    /// The template does not change.
    Never,
    /// A block is added, removed or renamed every night from the fifth to the twenty-fourth.
    Gradual,
    /// The whole template is replaced on the fifteenth night.
    Sudden,
}

/// The night of a sudden redesign.
pub const SUDDEN_NIGHT: u64 = 15;

/// The first and the last night of a gradual redesign.
const GRADUAL_NIGHTS: std::ops::RangeInclusive<u64> = 5..=24;

/// The site as it is served on a night, counted from 1.
pub fn on_night(site: &DemoSite, redesign: Redesign, night: u64) -> DemoSite {
    let mut paths = site.pages.keys();
    let links: Vec<&String> = paths.by_ref().take(8).collect();
    let pages: BTreeMap<String, DemoPage> = site
        .pages
        .iter()
        .zip(0..)
        .map(|((path, page), number)| {
            let marked = match redesign {
                Redesign::Sudden if night >= SUDDEN_NIGHT => anew(page, &links),
                Redesign::Gradual => (GRADUAL_NIGHTS)
                    .take_while(|step| *step <= night)
                    .fold(page.marked.clone(), |html, step| changed(html, step, links[0])),
                Redesign::Sudden | Redesign::Never => page.marked.clone(),
            };
            (path.clone(), DemoPage { marked: with_news(marked, night, number), ..*page })
        })
        .collect();
    let (start, key) = (site.start.clone(), site.key.clone());
    DemoSite { start, key, pages, redirects: site.redirects.clone(), ..*site }
}

/// Each night a quarter of the pages gets a news paragraph. It stays until the page gets the next one.
fn with_news(html: String, night: u64, number: u64) -> String {
    let Some(latest) = (1..=night).rev().find(|night| (night + number).is_multiple_of(4)) else { return html };
    let Some(at) = html.find(MARK).and_then(|mark| html[..mark].rfind('<')) else { return html };
    let mut words = Words::new(latest * 1000 + number);
    let news = format!("<p{MARK}>Night {latest}: {}</p>", words.paragraph());
    format!("{}{news}{}", &html[..at], &html[at..])
}

/// Makes one small change to the template.
fn changed(html: String, step: u64, path: &str) -> String {
    let sentence = Words::new(step).sentence();
    let before_end = |html: &str, block: &str| match html.rfind("</body>") {
        Some(at) => format!("{}{block}{}", &html[..at], &html[at..]),
        None => format!("{html}{block}"),
    };
    let name = format!("Part {step}");
    match step % 5 {
        0 => html.replacen("<li>", &format!("<li><a href=\"{path}\">{name}</a></li><li>"), 1),
        1 => before_end(&html, &format!("<div class=\"base-{step}\"><p>{name}: {sentence}</p></div>")),
        2 => html
            .replacen("<header", &format!("<header data-step=\"{step}\""), 1)
            .replace("<nav>", "<nav class=\"main\">"),
        3 => before_end(&html, &format!("<ul class=\"service\"><li><a href=\"{path}\">{name}</a><li>{sentence}</ul>")),
        // The block that was added three nights ago is removed.
        _ => match html.find(&format!("<div class=\"base-{}\">", step - 3)) {
            Some(at) => {
                let end = html[at..].find("</div>").map_or(html.len(), |end| at + end + "</div>".len());
                format!("{}{}", &html[..at], &html[end..])
            }
            None => html,
        },
    }
}

/// The page's own texts in another template.
fn anew(old: &DemoPage, links: &[&String]) -> String {
    let bar: String = links
        .iter()
        .enumerate()
        .map(|(n, path)| format!("<span class=\"tab\"><a href=\"{path}\">Way {n}</a></span>"))
        .collect();
    let own: String = own_texts(old).into_iter().map(|text| format!("<p{MARK}>{text}</p>")).collect();
    page(
        "New edition",
        &format!(
            "<div class=\"shell\"><div class=\"brand\"><b>New edition</b> of the old house</div><div class=\"bar\">{bar}</div>\
             <section class=\"words\">{own}</section><div class=\"base\"><p>All is new in this edition.</p>\
             <p>Set and printed in another town.</p></div></div>"
        ),
    )
}
