//! The card of a corpus: `README.md` with the YAML header that Hugging Face reads, so that the folder can be loaded and
//! published as it is.

use std::fmt::Write;
use std::io;
use std::path::Path;

use super::Form;
use super::manifest::Manifest;
use super::places::write_whole;
use dehusk_core::corpus::columns;

pub(super) const NAME: &str = "README.md";

/// Languages that are named, those with the most rows first.
const MOST_LANGUAGES: usize = 50;

pub(super) fn write(dir: &Path, form: Form, manifest: &Manifest) -> io::Result<()> {
    write_whole(&dir.join(NAME), card(form, manifest).as_bytes())
}

fn card(form: Form, manifest: &Manifest) -> String {
    let mut languages: Vec<(&str, u64)> =
        manifest.languages.iter().filter(|(code, _)| !code.is_empty()).map(|(code, n)| (code.as_str(), *n)).collect();
    languages.sort_by_key(|(code, n)| (std::cmp::Reverse(*n), *code));
    languages.truncate(MOST_LANGUAGES);
    let mut out = String::from("---\n");
    if !languages.is_empty() {
        out.push_str("language:\n");
        languages.iter().for_each(|(code, _)| out.extend(["- \"", code, "\"\n"]));
    }
    let _ = writeln!(out, "size_categories:\n- {}", size_category(manifest.rows));
    out.push_str("task_categories:\n- text-generation\ntags:\n- web\n- dehusk\n");
    if matches!(form, Form::Jsonl | Form::Chunks | Form::Parquet) {
        let files = format!("data/part-*.{}", form.ending());
        let _ = writeln!(out, "configs:\n- config_name: default\n  data_files: {files}");
    }
    let what = if form.holds_pages() { "Web pages as fetched" } else { "Web pages without their templates" };
    let _ = write!(out, "---\n\n# {what}\n\n");
    let _ = writeln!(
        out,
        "{} pages in {} part{} below `data/`, written by dehusk {} ({}). `manifest.json` has the rows, bytes and SHA-256 \
         of each part, and the options.",
        manifest.rows,
        manifest.parts.len(),
        if manifest.parts.len() == 1 { "" } else { "s" },
        env!("CARGO_PKG_VERSION"),
        form.name()
    );
    if !manifest.left_out.is_empty() {
        out.push_str("\nLeft out, listed in `left-out-*.jsonl`:\n\n");
        manifest.left_out.iter().for_each(|(why, n)| {
            let _ = writeln!(out, "- {why}: {n}");
        });
    }
    if languages.len() > 1 {
        out.push_str("\n| language | pages |\n|---|---|\n");
        languages.iter().for_each(|(code, n)| {
            let _ = writeln!(out, "| {code} | {n} |");
        });
    }
    if matches!(form, Form::Jsonl | Form::Parquet) {
        out.push_str("\n| column | what it holds |\n|---|---|\n");
        for column in columns() {
            let _ = writeln!(out, "| {} | {} |", column.name, column.doc.replace('|', "\\|"));
        }
    }
    out.push_str("\nThe pages belong to their authors. The columns `licence` and `url` say where to ask.\n");
    out
}

/// The category of a number of rows, by the names that Hugging Face has.
fn size_category(rows: u64) -> &'static str {
    match rows {
        0..1_000 => "n<1K",
        1_000..10_000 => "1K<n<10K",
        10_000..100_000 => "10K<n<100K",
        100_000..1_000_000 => "100K<n<1M",
        1_000_000..10_000_000 => "1M<n<10M",
        10_000_000..100_000_000 => "10M<n<100M",
        100_000_000..1_000_000_000 => "100M<n<1B",
        _ => "n>1B",
    }
}
