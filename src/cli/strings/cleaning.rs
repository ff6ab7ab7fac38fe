//! `dehusk strings clean`: removes the strings of a source from documents.

use std::io::Write;
use std::path::PathBuf;

use anyhow::anyhow;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use super::{ended, stored};
use crate::cli::documents::{FoundDocument, Reading, next_batch};
use crate::cli::terminal::stdout;
use crate::cli::{Failure, Format, Outcome, open_store};
use dehusk_core::write_page_markdown;
use dehusk_html::Tree;
use dehusk_render::write_own_html;
use dehusk_settings::Settings;
use dehusk_template::strings::{StringCleaner, StringTokens};

/// How documents are cleaned.
pub(super) struct Cleaning<'a> {
    pub(super) name: &'a str,
    pub(super) as_text: bool,
    pub(super) format: Format,
    pub(super) json: bool,
    pub(super) settings: &'a Settings,
}

impl Cleaning<'_> {
    pub(super) fn run(&self, sources: &[PathBuf]) -> Outcome {
        let store = open_store(self.settings)?;
        let template = stored(&store, self.name)?;
        let patterns = template.patterns().map_err(|e| Failure::Work(e.into()))?;
        let how = &self.settings.core.strings;
        let idioms = store.idioms(self.name, how.max_sites_share).map_err(|e| Failure::Work(e.into()))?;
        let n_idioms = template
            .strings
            .iter()
            .filter(|s| template.may_be_idiom(s, how) && idioms.contains(&template.hash(s)))
            .count();
        if n_idioms > 0 {
            tracing::info!(
                "{n_idioms} of {} strings are template in other sources, too, and stay (papers.strings.max_sites); `dehusk strings show {}` marks them",
                template.strings.len(),
                self.name
            );
        }
        let cleaner = StringCleaner::new(&template, &patterns, how, |hash| !idioms.contains(&hash))
            .map_err(|e| Failure::Work(e.into()))?;
        let reading = Reading { as_text: self.as_text, entries: true, ..Reading::new(self.settings) };
        let (mut n, mut n_other) = (0, 0);
        let mut documents = reading.all(sources);
        while let Some(batch) = next_batch(&mut documents) {
            let found = reading.readable(batch);
            n_other += found.iter().filter(|found| found.is_page != (template.tokens == StringTokens::Html)).count();
            let lines: Vec<String> = found.par_iter().map(|found| self.line(&cleaner, found)).collect();
            let mut out = stdout();
            for line in lines {
                // An empty line separates the texts of several documents.
                let between = if self.json || n == 0 { "" } else { "\n" };
                write!(out, "{between}{line}")?;
                n += 1;
            }
        }
        reading.warn_of_skipped();
        if n == 0 && reading.failed.get() == 0 {
            return Err(Failure::Nothing(anyhow!("no documents found")));
        }
        if n_other > 0 {
            let (learned, other) = if template.tokens == StringTokens::Html {
                ("pages", "plain text")
            } else {
                ("plain text", "pages, which --text reads as text")
            };
            tracing::warn!(
                "the strings of {} were learned from {learned}, but {n_other} of {n} documents are {other}",
                self.name
            );
        }
        Ok(ended(&reading))
    }

    fn line(&self, cleaner: &StringCleaner, found: &FoundDocument) -> String {
        let (mut content, share) = if found.is_page {
            self.page(cleaner, &found.tree(&self.settings.core.parse))
        } else {
            let cleaned = cleaner.clean_text(&found.text());
            (cleaned.text, cleaned.share)
        };
        if !self.json {
            if !content.ends_with('\n') {
                content.push('\n');
            }
            return content;
        }
        let removed = (share * 1000.0).round() / 1000.0;
        format!("{}\n", serde_json::json!({"id": found.name, "removed": removed, "content": content}))
    }

    fn page(&self, cleaner: &StringCleaner, tree: &Tree) -> (String, f64) {
        let labels = cleaner.label(tree);
        let share = labels.confidence;
        let content = match self.format {
            Format::Text => labels.text(tree),
            Format::Html => write_own_html(tree, None, labels.is_own()),
            Format::Markdown => write_page_markdown(tree, None, &self.settings.core.markdown, labels.is_own()),
        };
        (content, share)
    }
}
