//! Demo sites with random parameters, for property tests. Their template is known by construction.

use std::collections::BTreeMap;

use super::sites::{article, menu, page, site, utf8};
use super::words::Words;
use super::{DemoPage, DemoSite, MARK};

/// A site generated from a seed. The seed decides on menus, menus of sections, a sidebar left or right or none, blocks
/// that only some pages have, listings beside articles, and markup with ids, with classes or with neither.
pub fn generated(seed: u64) -> DemoSite {
    let mut words = Words::new(seed);
    let plan = Plan::new(&mut words);
    let mut pages: BTreeMap<String, DemoPage> = BTreeMap::new();
    for section in 0..plan.sections.len() {
        for n in 0..plan.pages {
            let own = match n {
                0 if plan.has_listings => plan.listing(section, &mut words),
                _ => article(&mut words),
            };
            let body = plan.body(section, &own, &mut words);
            pages.insert(format!("/{section}/{n}.html"), utf8(page("Generated", &body)));
        }
    }
    let key = format!("/{}/{}.html", words.below(plan.sections.len()), words.below(plan.pages));
    site("generated", "a site at random parameters", &key, pages)
}

struct Plan {
    sections: Vec<String>,
    pages: usize,
    chapters: Vec<String>,
    has_sections_menu: bool,
    has_listings: bool,
    sidebar: Option<(bool, String)>,
    /// A block on about half of the pages.
    notice: Option<String>,
    footer: String,
    names: Identifiers,
}

/// How elements are identified.
#[derive(Clone, Copy)]
enum Identifiers {
    Ids,
    Classes,
    None,
}

impl Plan {
    fn new(words: &mut Words) -> Plan {
        let pages = 4 + words.below(6);
        let sidebar = words.below(3) > 0;
        let notice = words.below(2) == 0;
        Plan {
            sections: (0..2 + words.below(4)).map(|n| format!("Section {n}: {}", words.title())).collect(),
            pages,
            chapters: (0..pages).map(|n| format!("Chapter {n}")).collect(),
            has_sections_menu: words.below(2) == 0,
            has_listings: words.below(2) == 0,
            sidebar: sidebar.then(|| {
                let items: Vec<String> = (0..2 + words.below(8)).map(|_| words.sentence()).collect();
                let items: String = items.iter().map(|item| format!("<li>Sidebar: {item}</li>")).collect();
                (words.below(2) == 0, format!("<h3>Of the house</h3><ul>{items}</ul>"))
            }),
            notice: notice
                .then(|| format!("<p>Notice: {}</p><a href=\"/0/0.html\">Read more here</a>", words.sentence())),
            footer: format!("<p>Footer: {}</p><p>Printed on <b>loopback</b></p>", words.sentence()),
            names: [Identifiers::Ids, Identifiers::Classes, Identifiers::None][words.below(3)],
        }
    }

    fn open(&self, tag: &str, name: &str) -> String {
        match self.names {
            Identifiers::Ids => format!("<{tag} id=\"{name}\">"),
            Identifiers::Classes => format!("<{tag} class=\"block {name}\">"),
            Identifiers::None => format!("<{tag}>"),
        }
    }

    fn body(&self, section: usize, own: &str, words: &mut Words) -> String {
        let links = |list: &[String], path: &dyn Fn(usize) -> String| {
            menu(&list.iter().enumerate().map(|(at, name)| (path(at), name.as_str())).collect::<Vec<_>>())
        };
        let mut html =
            self.open("header", "head") + &links(&self.sections, &|at| format!("/{at}/0.html")) + "</header>";
        let side = |html: &str| self.open("aside", "side") + html + "</aside>";
        if let Some((true, sidebar)) = &self.sidebar {
            html += &side(sidebar);
        }
        if self.has_sections_menu {
            let chapters = links(&self.chapters, &|at| format!("/{section}/{at}.html"));
            html += &(self.open("nav", "chapters") + &chapters + "</nav>");
        }
        html += &(self.open("main", "text") + own + "</main>");
        if let Some(notice) = self.notice.as_ref().filter(|_| words.below(2) == 0) {
            html += &(self.open("section", "notice") + notice + "</section>");
        }
        if let Some((false, sidebar)) = &self.sidebar {
            html += &side(sidebar);
        }
        let all: String = (0..self.sections.len())
            .flat_map(|at| (0..self.pages).map(move |n| format!("<a href=\"/{at}/{n}.html\">{at}.{n}</a> ")))
            .collect();
        html + &self.open("footer", "foot") + &all + &self.footer + "</footer>"
    }

    /// Teasers of the other pages of a section.
    fn listing(&self, section: usize, words: &mut Words) -> String {
        let teasers: Vec<String> = (1..self.pages)
            .map(|n| {
                let title = words.title();
                format!("<h2><a href=\"/{section}/{n}.html\">{title}</a></h2><p>{}</p>", words.sentence())
            })
            .collect();
        teasers.iter().map(|teaser| format!("<article{MARK}>{teaser}</article>")).collect()
    }
}
