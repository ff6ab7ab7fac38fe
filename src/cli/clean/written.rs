//! What `dehusk clean` writes of a page: text, HTML or Markdown, a JSON line, the row of an export, or data records.

use super::format::CleanFormat;
use super::{Clean, Run, Written, now_ms};
use crate::cli::Format;
use crate::cli::loaded_page::Loaded;
use crate::cli::stored_templates::{Choice, StoredPage};
use dehusk_content::tps::main_part;
use dehusk_core::clean::{LabeledPage, comment_labels};
use dehusk_core::corpus::{About, OptionalColumns, Record, RecordSource, TextOptions};
use dehusk_core::pii::Pii;
use dehusk_core::rights::{Rights, page_statements};
use dehusk_core::write_page_markdown;
use dehusk_files::warc::Archived;
use dehusk_html::{Note, PageUrl};
use dehusk_papers::method_table::{MethodEntry, Model};
use dehusk_papers::records::{PageRecord, records_by_mdr, records_by_tps};
use dehusk_render::write_own_html;
use dehusk_settings::Settings;
use dehusk_template::method::Method;

impl Clean {
    pub(super) fn written(
        &self,
        page: &Loaded,
        choice: &Choice,
        method: Option<(&MethodEntry, Option<&Model>)>,
        run: &Run<'_>,
    ) -> Written {
        let name = page.name.as_str();
        warn_of_cuts(page);
        let settings = run.settings;
        if let Some((method, _)) = method.filter(|_| self.records) {
            return Written { text: records(page, method.method, settings), part: None };
        }
        let Applied { host, kind, labeled } = applied(page, choice, method, settings);
        let part = (labeled.method == Method::Tps).then(|| main_part(&page.tree, &settings.core.clean.tps).1);
        if self.rows || run.chunking.is_some() {
            let optional = self.corpus.optional();
            let record = row(page, &Applied { host, kind, labeled }, optional, self.corpus.pii(), run);
            let text = run.chunking.as_ref().map(|chunking| chunking.lines(&record));
            return Written { text: text.unwrap_or_else(|| format!("{}\n", record.to_json())), part };
        }
        let LabeledPage { labels, method, .. } = labeled;
        let content = match self.format.and_then(CleanFormat::text).unwrap_or(Format::Text) {
            Format::Text => labels.text(&page.tree),
            Format::Html => write_own_html(&page.tree, page.url.as_ref(), labels.is_own()),
            Format::Markdown => {
                write_page_markdown(&page.tree, page.url.as_ref(), &settings.core.markdown, labels.is_own())
            }
        };
        if !self.json {
            return Written { text: content, part };
        }
        let confidence = (labels.confidence * 1000.0).round() / 1000.0;
        let mut line = serde_json::json!({
            "page": name, "url": page.url.as_ref().map(PageUrl::as_str), "site": host, "method": method,
            "confidence": confidence, "kind": kind.map(|kind| kind + 1), "content": content,
        });
        if let Some(part) = part {
            line["part"] = part.name().into();
        }
        Written { text: format!("{line}\n"), part }
    }
}

/// The data records of a page, one JSON line each.
fn records(page: &Loaded, method: Method, settings: &Settings) -> String {
    let url = page.url.as_ref();
    let found = match method {
        Method::Tps => records_by_tps(&page.tree, url, &settings.core.clean.tps),
        _ => records_by_mdr(&page.tree, url),
    };
    let line = |(number, record): (usize, PageRecord)| {
        let fields: serde_json::Map<String, serde_json::Value> =
            record.fields.into_iter().map(|(column, value)| (column, value.into())).collect();
        let line = serde_json::json!({
            "page": page.name, "url": url.map(PageUrl::as_str), "region": record.region, "record": number,
            "fields": fields,
        });
        format!("{line}\n")
    };
    found.into_iter().enumerate().map(line).collect()
}

/// Tells of what is missing of a page because of its size.
pub(super) fn warn_of_cuts(page: &Loaded) {
    let name = page.name.as_str();
    for note in page.tree.notes() {
        match note {
            Note::BytesCut(n) => tracing::warn!("{name}: {n} bytes beyond page.max_bytes are cut off"),
            Note::NodesCut => tracing::warn!("{name}: what comes after page.max_nodes is cut off"),
            _ => {}
        }
    }
}

/// What was found in a page, and by the template of which site.
pub(super) struct Applied {
    pub(super) host: Option<String>,
    pub(super) kind: Option<usize>,
    pub(super) labeled: LabeledPage,
}

/// Labels a page.
pub(super) fn applied(
    page: &Loaded,
    choice: &Choice,
    method: Option<(&MethodEntry, Option<&Model>)>,
    settings: &Settings,
) -> Applied {
    let stored = StoredPage { name: &page.name, tree: &page.tree, host: None };
    let (template, labeled) = match method {
        Some((method, model)) => (None, method.label(&page.tree, model, &settings.core, &settings.papers)),
        None => choice.label(&stored, &settings.core.clean),
    };
    let host = template.map(|(host, _)| host.to_owned());
    let kind = template.and_then(|(_, matcher)| matcher.kind_of(&labeled));
    Applied { host, kind, labeled }
}

/// The row of a page, as `dehusk export` writes it.
pub(super) fn row(
    page: &Loaded,
    applied: &Applied,
    optional: OptionalColumns,
    pii: Option<Pii>,
    run: &Run<'_>,
) -> Record {
    let Archived { record, at, status, truncated } = page.archived.clone();
    let cut = page.tree.notes().iter().find_map(|note| match note {
        Note::BytesCut(_) => Some("page.max_bytes"),
        Note::NodesCut => Some("page.max_nodes"),
        _ => None,
    });
    let about = About {
        url: page.url.clone(),
        fetched_at: at,
        read_at: Some(now_ms()),
        status,
        warc_record: record,
        rights: Some(Rights::new(page_statements(&page.rights, &page.tree, &run.settings.agents()))),
        truncated: truncated.or_else(|| cut.map(str::to_owned)),
        source: page.source.as_deref().map(str::to_owned),
        source_id: Some(page.name.clone()),
        input: page.input.clone(),
        model: applied.host.clone().map(|host| (host, None)),
        template_kind: applied.kind,
        ..About::default()
    };
    let settings = run.settings;
    let comments = optional.comments.then(|| comment_labels(&page.tree, None, &settings.core.clean));
    Record::new(&RecordSource {
        tree: &page.tree,
        labeled: &applied.labeled,
        about: &about,
        comments: comments.as_ref(),
        optional,
        markdown: &settings.core.markdown,
        language: run.language.as_deref(),
        texts: TextOptions { tokens: run.tokens.as_deref(), pii },
    })
}
