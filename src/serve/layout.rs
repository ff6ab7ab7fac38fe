//! What all pages of the inspector have in common.

use maud::{DOCTYPE, Markup, html};

/// The entry of the menu that a page belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum MenuEntry {
    Runs,
    Sites,
    Search,
    Try,
    Elsewhere,
}

/// A whole document.
pub(super) fn document(title: &str, place: MenuEntry, body: &Markup) -> Markup {
    let entry = |to: &str, name: &str, of: MenuEntry| {
        html! { a href=(to) aria-current=[(place == of).then_some("page")] { (name) } }
    };
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " · dehusk" }
                link rel="stylesheet" href="/assets/inspector.css";
                link rel="icon" href="data:,";
                script src="/assets/inspector.js" defer {}
            }
            body {
                a.skip href="#main" { "Skip to the content" }
                header.top {
                    a.brand href="/" { "dehusk" }
                    nav aria-label="Inspector" {
                        (entry("/", "Runs", MenuEntry::Runs))
                        (entry("/sites", "Sites", MenuEntry::Sites))
                        (entry("/search", "Search", MenuEntry::Search))
                        (entry("/try", "Try it", MenuEntry::Try))
                    }
                    form.find action="/find" role="search" {
                        label.hidden for="find" { "Host or URL" }
                        input #find name="q" type="search" placeholder="Host or URL ( / )" autocomplete="off";
                    }
                }
                main #main tabindex="-1" { (body) }
            }
        }
    }
}

/// A list of facts: names and values.
pub(super) fn facts(rows: &[(&str, Markup)]) -> Markup {
    html! {
        dl.facts {
            @for (name, value) in rows {
                div { dt { (name) } dd { (value) } }
            }
        }
    }
}

/// A link to the page of a site.
pub(super) fn site_link(host: &str) -> Markup {
    html! { a href=(format!("/site?{}", query(&[("host", host)]))) { (host) } }
}

/// Names and values as the query of an address.
pub(super) fn query(pairs: &[(&str, &str)]) -> String {
    url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
}
