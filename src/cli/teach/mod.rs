//! `dehusk teach`: labels for the blocks of two or three pages of a site, which hold for all its pages.

mod blocks;
mod teacher;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::anyhow;
use serde::Serialize;
use serde_json::json;

use super::names::host_name;
use super::table::{Table, terminal_width};
use super::terminal::stdout;
use super::{Failure, Outcome, open_store};
use blocks::{LabeledBlocks, StoredTree, read_labels};
use dehusk_content::{JudgedPage, PageBlocks, TaughtPages, TaughtSlots, pages_to_teach};
use dehusk_core::clean::TemplateMatcher;
use dehusk_html::PageUrl;
use dehusk_settings::Settings;
use dehusk_store::{Store, StoreError, unpack};
use dehusk_template::template::Template;
use teacher::Teacher;

/// Label the blocks of two or three pages of a site as main content or not; all its other pages follow.
///
/// The pages of a site tell what their template is, and not which of their own texts are main content: dates, boxes
/// about the author and lists of the newest posts are on no two pages alike. A label counts for every block in the
/// same slot: the same names of elements and first classes from the body down. Labels survive a new learning of the
/// site, and are exported and imported with its template.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  dehusk teach docs.example.org --print > blocks.jsonl    the pages that say most, with today's labels
  dehusk teach docs.example.org --labels blocks.jsonl     the same file with corrected labels
  dehusk teach docs.example.org --labels dehusk.db.gold.jsonl    labels by click, from `dehusk serve`
  dehusk teach docs.example.org --teacher ./label.py      a program, such as one that asks a language model
  dehusk teach docs.example.org --forget

A page is one line of JSON: {\"url\": \"..\", \"title\": \"..\", \"blocks\": [{\"block\": 0, \"path\": \"main > p\", \
\"text\": \"..\", \"label\": \"main\"}, ..]}. A label is \"main\" or \"other\"; a block without one is not taught. A \
teacher is run once for each page. It reads the page on its standard input and writes it, with its \
labels, on its standard output; \"url\", \"title\", \"path\" and \"text\" may be left out. \
A crawl cleans each stored page again when it next visits it; `dehusk clean --site HOST` obeys the \
labels at once.")]
pub(super) struct Teach {
    /// Host.
    #[arg(value_parser = host_name)]
    host: String,
    #[command(flatten)]
    how: How,
    /// Pages that are printed or shown to the teacher.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=64))]
    pages: u8,
    /// Longest time that the teacher may take for a page, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    timeout: u64,
    /// Print JSON.
    #[arg(long, conflicts_with = "print")]
    json: bool,
}

/// Where the labels come from.
#[derive(clap::Args)]
#[group(required = true, multiple = false)]
struct How {
    /// Print the blocks of the pages whose labels say most, with today's labels.
    #[arg(long)]
    print: bool,
    /// Read labels from this file, as --print writes it, or as the inspector saves labels by click; - for standard
    /// input.
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,
    /// Ask this command, which the shell runs.
    #[arg(long, value_name = "COMMAND")]
    teacher: Option<String>,
    /// Forget all labels of the site.
    #[arg(long)]
    forget: bool,
}

/// What was taught by one page.
#[derive(Debug, Serialize)]
struct Taught {
    url: String,
    blocks: usize,
    labeled: usize,
    main: usize,
    /// Blocks whose label is not today's.
    changed: usize,
    /// Labels of blocks that the page does not have any more.
    missing: usize,
}

/// A site that is taught.
struct TaughtSite<'a> {
    store: &'a Store,
    template: Template,
    matcher: TemplateMatcher,
    settings: &'a Settings,
}

impl Teach {
    pub(super) fn run(&self, settings: &Settings) -> Outcome {
        let store = open_store(settings)?;
        let template = store.load_template_with_blocks(&self.host, None, &settings.core.parse).map_err(work)?;
        let template = template.ok_or_else(|| {
            Failure::Nothing(anyhow!("{}: no template is stored; `dehusk templates list` shows all", self.host))
        })?;
        if self.how.forget {
            return self.store(&store, TaughtPages::default(), &[], &template);
        }
        let site = TaughtSite { store: &store, matcher: TemplateMatcher::from_template(&template), template, settings };
        if let Some(file) = &self.how.labels {
            let labeled = read_labels(file, settings).map_err(Failure::Usage)?;
            return self.teach(&site, &self.stored(&site, labeled)?);
        }
        let chosen = self.chosen(&site)?;
        if self.how.print {
            let mut out = stdout();
            for page in &chosen {
                let blocks = page.blocks(&site.matcher, settings);
                writeln!(out, "{}", serde_json::to_string(&blocks).map_err(|e| Failure::Work(e.into()))?)?;
            }
            return Ok(ExitCode::SUCCESS);
        }
        let command = self.how.teacher.as_deref().unwrap_or_default();
        let teacher = Teacher { command, timeout: Duration::from_secs(self.timeout) };
        let asked = chosen.into_iter().map(|page| {
            let labeled = teacher.ask(&page.blocks(&site.matcher, settings)).map_err(Failure::Work)?;
            Ok((page, labeled))
        });
        self.teach(&site, &asked.collect::<Result<Vec<_>, Failure>>()?)
    }

    /// The stored training pages whose labels say most, in this order.
    fn chosen(&self, site: &TaughtSite<'_>) -> Result<Vec<StoredTree>, Failure> {
        let mut pages = Vec::new();
        for page in site.store.training_pages(&site.template).map_err(work)? {
            let body = unpack(&page.raw).map_err(|e| Failure::Work(anyhow!("{}: {e}", page.url)))?;
            pages.push(StoredTree::new(page.url, &body, page.content_type.as_deref(), site.settings));
        }
        if pages.is_empty() {
            let host = &self.host;
            return Err(Failure::Nothing(anyhow!(
                "{host}: none of its training pages is stored; `dehusk crawl {host}` stores them"
            )));
        }
        pages.sort_by_key(|page| page.url.fingerprint());
        let blocks: Vec<PageBlocks> = pages.iter().map(|page| PageBlocks::new(&JudgedPage::new(&page.tree))).collect();
        let nothing = TaughtSlots::default();
        let known = site.matcher.training_set().map_or(&nothing, |set| set.taught());
        let chosen = pages_to_teach(&blocks, known, self.pages.into());
        let mut pages: Vec<Option<StoredTree>> = pages.into_iter().map(Some).collect();
        Ok(chosen.into_iter().filter_map(|at| pages[at].take()).collect())
    }

    /// The stored pages of the host that a file names, with their labels.
    fn stored(
        &self,
        site: &TaughtSite<'_>,
        labeled: Vec<LabeledBlocks>,
    ) -> Result<Vec<(StoredTree, LabeledBlocks)>, Failure> {
        let bare = |host: &str| host.strip_prefix("www.").unwrap_or(host).to_owned();
        let mut found = Vec::new();
        for of_page in labeled {
            let url = PageUrl::parse(&of_page.url).map_err(|e| Failure::Usage(anyhow!("{:?}: {e}", of_page.url)))?;
            if bare(url.host()) != bare(&self.host) {
                continue;
            }
            match site.store.find_page(&of_page.url).map_err(work)? {
                Some(row) => {
                    let body = site.store.load_raw(&row).map_err(work)?;
                    let content_type = row.content_type.as_deref();
                    let tree = StoredTree::new(url, &body, content_type, site.settings);
                    found.push((tree, of_page));
                }
                None => tracing::warn!("{url}: it is not stored; its labels are left out"),
            }
        }
        Ok(found)
    }

    /// Stores the labels of pages.
    fn teach(&self, site: &TaughtSite<'_>, pages: &[(StoredTree, LabeledBlocks)]) -> Outcome {
        let (mut taught, mut rows) = (site.template.taught(), Vec::new());
        for (page, labeled) in pages {
            let today = page.blocks(&site.matcher, site.settings);
            let (labels, missing) = labeled.labels_for(&today);
            taught.set(page.url.fingerprint(), &JudgedPage::new(&page.tree), &labels);
            let known = today.blocks.iter().zip(&labels);
            let changed = known.filter(|(block, label)| label.is_some_and(|label| block.is_main() != label)).count();
            rows.push(Taught {
                url: page.url.to_string(),
                blocks: labels.len(),
                labeled: labels.iter().flatten().count(),
                main: labels.iter().flatten().filter(|is_main| **is_main).count(),
                changed,
                missing,
            });
        }
        if rows.iter().all(|row| row.labeled == 0) {
            return Err(Failure::Nothing(anyhow!(
                "{}: no block of a stored page was labeled; `dehusk teach {} --print` prints pages with their blocks",
                self.host,
                self.host
            )));
        }
        self.store(site.store, taught, &rows, &site.template)
    }

    fn store(&self, store: &Store, taught: TaughtPages, rows: &[Taught], template: &Template) -> Outcome {
        let host = &self.host;
        let slots = TaughtSlots::new(taught.clone());
        if store.teach(host, taught).map_err(work)? != Some(true) {
            return Err(Failure::Nothing(anyhow!(
                "{host}: its template was learned by {}, which knows no blocks; `label.by = \"site_model\"` does",
                template.method.name()
            )));
        }
        let mut out = stdout();
        if self.json {
            let (n_pages, n_slots) = (slots.pages().n_pages(), slots.n_slots());
            let report = json!({"schema": 1, "host": host, "pages": rows, "taught_pages": n_pages, "slots": n_slots});
            writeln!(out, "{report}")?;
            return Ok(ExitCode::SUCCESS);
        }
        if rows.is_empty() {
            writeln!(
                out,
                "{host}: all labels are forgotten; a crawl cleans its stored pages again when it visits them"
            )?;
            return Ok(ExitCode::SUCCESS);
        }
        let mut table = Table::new(&["page", "blocks", "labeled", "main", "changed"]);
        for row in rows {
            let numbers = [row.blocks, row.labeled, row.main, row.changed].map(|n| n.to_string());
            table.row(std::iter::once(row.url.clone()).chain(numbers).collect());
        }
        write!(out, "{}", table.render(terminal_width()))?;
        let missing: usize = rows.iter().map(|row| row.missing).sum();
        if missing > 0 {
            writeln!(out, "{missing} labels were left out: the stored pages have other texts in these blocks")?;
        }
        writeln!(
            out,
            "{host}: {} slots are taught by {} pages; a crawl cleans its stored pages again when it visits them",
            slots.n_slots(),
            slots.pages().n_pages()
        )?;
        Ok(ExitCode::SUCCESS)
    }
}

fn work(error: StoreError) -> Failure {
    Failure::Work(error.into())
}
