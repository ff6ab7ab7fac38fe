//! Cleans a page that is pasted: by the model of a stored site, or by itself.

use maud::{Markup, html};
use serde::Deserialize;

use super::frame::Show;
use super::layout::{MenuEntry, document};
use super::page::LabeledPage;
use super::{Inspector, Refusal};
use dehusk_core::write_page_markdown;
use dehusk_html::PageUrl;
use dehusk_html::parse;
use dehusk_store::Store;

/// What is pasted.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Pasted {
    html: String,
    /// Address of the page; its host names the site.
    url: String,
}

/// The empty form.
pub(super) fn form() -> Markup {
    page(&Pasted::default(), None)
}

/// The form with what came of it.
pub(super) fn cleaned(inspector: &Inspector, store: &Store, pasted: &Pasted) -> Result<Markup, Refusal> {
    let given = pasted.url.trim();
    let url = match given {
        "" => None,
        text => Some(PageUrl::parse(text).map_err(|e| Refusal::Wrong(format!("{text}: {e}")))?),
    };
    let parse_options = &inspector.settings.core.parse;
    let template = match &url {
        Some(url) => store.load_template_with_blocks(&url.authority(), None, parse_options)?,
        None => None,
    };
    let tree = parse(&pasted.html, parse_options);
    let labeled = LabeledPage::new(tree, template.as_ref(), url, &inspector.settings);
    let options = &inspector.settings.core.markdown;
    let markdown = write_page_markdown(&labeled.tree, labeled.url.as_ref(), options, labeled.main.is_own());
    let by = match &template {
        Some(template) => format!("by {} with the model of {}", labeled.step, template.host),
        None if given.is_empty() => "by the page alone".to_owned(),
        None => "by the page alone: no template of its site is stored".to_owned(),
    };
    Ok(page(pasted, Some((&by, &markdown, &labeled.shown().document(Show::Overlay, false)))))
}

fn page(pasted: &Pasted, outcome: Option<(&str, &str, &str)>) -> Markup {
    let body = html! {
        h1 { "Try it" }
        form.paste method="post" action="/try" {
            label { "URL, if its site is in the database" input name="url" type="text" inputmode="url" value=(pasted.url); }
            label { "HTML" textarea name="html" rows="10" required spellcheck="false" { (pasted.html) } }
            button { "Clean" }
        }
        @if let Some((by, markdown, overlay)) = outcome {
            h2 { "Main content, " (by) }
            div.view data-n="2" {
                pre.source tabindex="0" { (markdown) @if markdown.trim().is_empty() { "(nothing)" } }
                iframe sandbox="" title="Overlay" srcdoc=(overlay) {}
            }
        }
    };
    document("Try it", MenuEntry::Try, &body)
}
