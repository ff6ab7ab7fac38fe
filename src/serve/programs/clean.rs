//! A page that a program sends: cleaned by the template of its site, or by itself.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::serve::{Inspector, Refusal};
use dehusk_core::clean::label_page;
use dehusk_core::corpus::{About, OptionalColumns, Record, RecordSource, TextOptions};
use dehusk_core::page_rules::PageRules;
use dehusk_core::rights::{Rights, RightsHeaders, Statement, page_statements};
use dehusk_core::write_page_markdown;
use dehusk_html::{PageUrl, parse_bytes};
use dehusk_render::write_own_html;
use dehusk_store::Store;

/// In which form a page is given back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::serve) enum Form {
    /// Markdown.
    #[default]
    Markdown,
    /// Text, one line a block.
    Text,
    /// HTML that runs nothing.
    Html,
    /// The columns of `dehusk export`.
    Row,
}

/// A page, and what is known of it.
pub(in crate::serve) struct Given {
    pub(in crate::serve) body: Vec<u8>,
    pub(in crate::serve) content_type: Option<String>,
    pub(in crate::serve) url: Option<PageUrl>,
    /// Host whose template is used, in place of that of the address.
    pub(in crate::serve) site: Option<String>,
    /// Whether no template is used.
    pub(in crate::serve) alone: bool,
    pub(in crate::serve) headers: RightsHeaders,
    /// What its site says about its use.
    pub(in crate::serve) said: Vec<Statement>,
    /// When it was fetched, Unix milliseconds.
    pub(in crate::serve) fetched_at: Option<i64>,
}

/// A page without its template.
#[derive(Serialize)]
pub(in crate::serve) struct Cleaned {
    schema: u32,
    url: Option<String>,
    /// The site whose template was used, and its version.
    model: Option<String>,
    model_version: Option<i64>,
    step: &'static str,
    confidence: f64,
    /// What the owner says about use, if anything.
    #[serde(skip_serializing_if = "Rights::is_empty")]
    rights: Rights,
    /// Whether its owner wants it in no collection.
    pub(in crate::serve) noindex: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::serve) content: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    row: Option<Value>,
}

/// Cleans a page.
pub(in crate::serve) fn cleaned(
    inspector: &Inspector,
    store: &Store,
    given: Given,
    form: Form,
) -> Result<Cleaned, Refusal> {
    let settings = &inspector.settings;
    let host = given.site.clone().or_else(|| given.url.as_ref().map(PageUrl::authority)).filter(|_| !given.alone);
    let programs = inspector.programs.as_deref().ok_or(Refusal::Failed)?;
    let model = match host {
        Some(host) => programs.models.of(store, &host, &settings.core.parse)?,
        None => None,
    };
    if let (Some(site), None) = (&given.site, &model) {
        return Err(Refusal::Nothing(format!("no template of {site} is stored")));
    }
    let (tree, _) = parse_bytes(&given.body, given.content_type.as_deref(), &settings.core.parse);
    let matcher = model.as_ref().map(|model| model.matcher.as_ref());
    let labeled = label_page(&tree, None, matcher, &settings.core.clean);
    let agents = settings.agents();
    let of_page = page_statements(&given.headers, &tree, &agents);
    let metas = tree.all("meta").filter_map(|meta| Some((tree.attr(meta, "name")?, tree.attr(meta, "content")?)));
    let rules = PageRules::new(&given.headers.robots_tags(), metas, &agents, dehusk_store::unix_ms() / 1000);
    let rights = Rights::new(given.said.iter().cloned().chain(of_page));
    let (url, options) = (given.url.as_ref(), &settings.core.markdown);
    let content = match form {
        Form::Row => None,
        Form::Text => Some(labeled.labels.text(&tree)),
        Form::Html => Some(write_own_html(&tree, url, labeled.labels.is_own())),
        Form::Markdown => Some(write_page_markdown(&tree, url, options, labeled.labels.is_own())),
    };
    let used = model.as_ref().filter(|_| labeled.by_template);
    let row = || {
        let about = About {
            url: given.url.clone(),
            fetched_at: given.fetched_at,
            rights: Some(rights.clone()),
            model: used.map(|model| (model.host.clone(), Some(model.version))),
            template_kind: matcher.and_then(|matcher| matcher.kind_of(&labeled)),
            ..About::default()
        };
        let source = RecordSource {
            tree: &tree,
            labeled: &labeled,
            about: &about,
            comments: None,
            optional: OptionalColumns::default(),
            markdown: options,
            language: None,
            texts: TextOptions::default(),
        };
        serde_json::from_str(&Record::new(&source).to_json()).unwrap_or_default()
    };
    Ok(Cleaned {
        schema: 1,
        url: url.map(|url| url.as_str().to_owned()),
        model: used.map(|model| model.host.clone()),
        model_version: used.map(|model| model.version),
        step: labeled.method.name(),
        confidence: (labeled.labels.confidence * 1000.0).round() / 1000.0,
        row: (form == Form::Row).then(row),
        rights,
        noindex: rules.noindex,
        content,
    })
}
