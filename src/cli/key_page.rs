//! The key page of a template as HTML: with the template shaded, or with empty slots.

use std::fs;
use std::path::Path;

use anyhow::{Context, anyhow};

use super::picture::picture;
use super::templates::{load, versions};
use super::{Failure, open_store};
use dehusk_content::Labels;
use dehusk_core::clean::{CleanOptions, TemplateMatcher};
use dehusk_html::{PageUrl, Tree, decode, parse};
use dehusk_render::write_template_html;
use dehusk_settings::Settings;
use dehusk_store::{StoreError, TemplateRow};
use dehusk_template::template::Template;

/// Writes the key page with its template shaded.
pub(super) fn show_html(
    settings: &Settings,
    host: &str,
    version: Option<i64>,
    page: Option<&Path>,
    file: &Path,
) -> Result<(), Failure> {
    let template = load(settings, host, version)?;
    let (number, learned_at) = learned(settings, host, version)?;
    let page = match page {
        Some(page) => {
            let bytes = fs::read(page).with_context(|| page.display().to_string()).map_err(Failure::Usage)?;
            parse(&text_of(&bytes, None, settings), &settings.core.parse)
        }
        None => parse(&stored_key_page(settings, &template, learned_at)?, &settings.core.parse),
    };
    let applied = labels_of(&template, &page)?;
    fs::write(file, picture(&template, number, &page, &applied))
        .with_context(|| file.display().to_string())
        .map_err(Failure::Work)
}

/// Number of a version, and when it was learned.
fn learned(settings: &Settings, host: &str, version: Option<i64>) -> Result<(i64, i64), Failure> {
    let rows = versions(settings, host)?;
    let wanted = |row: &&TemplateRow| version.is_none_or(|version| row.version == version);
    Ok(rows.iter().rev().find(wanted).map_or((1, 0), |row| (row.version, row.learned_at)))
}

/// The labels of a key page.
fn labels_of(template: &Template, page: &Tree) -> Result<Labels, Failure> {
    let matcher = TemplateMatcher::from_template(template);
    let labels = matcher.label(page);
    if labels.confidence < matcher.min_confidence(&CleanOptions::default()) {
        let url = &template.key_url;
        return Err(Failure::Nothing(anyhow!("{url}: the page shows nothing of this version of the template")));
    }
    Ok(labels)
}

/// The key page with empty slots.
pub(super) fn empty_page(settings: &Settings, host: &str, version: Option<i64>) -> Result<String, Failure> {
    let template = load(settings, host, version)?;
    let source = stored_key_page(settings, &template, learned(settings, host, version)?.1)?;
    let page = parse(&source, &settings.core.parse);
    let labels = labels_of(&template, &page)?;
    let url = PageUrl::parse(&template.key_url).ok();
    Ok(write_template_html(&page, url.as_ref(), &source, |node| labels.is_template[node.index()]))
}

/// The snapshot from which a version was learned.
fn stored_key_page(settings: &Settings, template: &Template, learned_at: i64) -> Result<String, Failure> {
    let (store, work) = (open_store(settings)?, |e: StoreError| Failure::Work(e.into()));
    let row = store.find_page_by(&template.key_url, learned_at).map_err(work)?.ok_or_else(|| {
        Failure::Nothing(anyhow!(
            "{}: the key page of this version is not stored. A template learned from files has no stored pages: \
             `--page FILE` names the file of its key page",
            template.key_url
        ))
    })?;
    Ok(text_of(&store.load_raw(&row).map_err(work)?, row.content_type.as_deref(), settings))
}

/// A page as text, up to the most bytes that are read.
fn text_of(bytes: &[u8], content_type: Option<&str>, settings: &Settings) -> String {
    decode(&bytes[..bytes.len().min(settings.core.parse.max_bytes)], content_type).0.into_owned()
}
