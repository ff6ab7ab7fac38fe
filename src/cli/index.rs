//! `dehusk index`: makes the texts of stored pages searchable, in `dehusk serve` and here.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::anyhow;
use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::table::count;
use super::terminal::plain;
use super::{Failure, Outcome, open_store};
use dehusk_html::{normalized, parse, write_text};
use dehusk_settings::{NoindexPages, Settings};
use dehusk_store::{CorpusQuery, IndexedPage, PageRow, SearchIndex, Store, StoreError, search_file};

/// Pages that are read at once.
const BATCH: usize = 256;

/// Make the cleaned texts searchable: adds what was stored since the last call.
///
/// The index is a file beside the database, FILE.search. It can be deleted at any time.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  dehusk index
  dehusk index --find 'winter wheat'
  dehusk index --db postgres://db.example.org/crawl --file crawl.search")]
pub(super) struct Index {
    /// Search, and print what is found, instead of adding.
    #[arg(long, value_name = "WORDS")]
    find: Option<String>,
    /// Pages that are printed.
    #[arg(long, short, default_value_t = 10, requires = "find")]
    n: usize,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// The file of the index [default: beside the database, with .search added].
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
}

fn work(error: StoreError) -> Failure {
    Failure::Work(error.into())
}

/// The file of the index of a database.
pub(super) fn index_file(named: Option<&Path>, settings: &Settings) -> Option<PathBuf> {
    let store = &settings.store.path;
    let beside = || (!store.contains("://")).then(|| search_file(Path::new(store)));
    named.map(Path::to_owned).or_else(beside)
}

impl Index {
    pub(super) fn run(&self, settings: &Settings) -> Outcome {
        let no_file = || Failure::Usage(anyhow!("a database on a server has no folder: name a file with --file"));
        let file = index_file(self.file.as_deref(), settings).ok_or_else(no_file)?;
        match &self.find {
            Some(words) => self.print(&file, words),
            None => self.add(&file, settings),
        }
    }

    fn add(&self, file: &Path, settings: &Settings) -> Outcome {
        let store = open_store(settings)?;
        let mut index = SearchIndex::create(file, &store_mark(&store).map_err(work)?).map_err(work)?;
        let query = CorpusQuery { upto: store.last_settled_page().map_err(work)?, ..CorpusQuery::default() };
        let (mut reached, mut added) = (index.reached().map_err(work)?, 0);
        loop {
            let rows = store.corpus_rows(&query, reached, BATCH).map_err(work)?;
            let Some(last) = rows.last() else { break };
            reached = last.id;
            // A page may ask for noindex after it was indexed.
            let is_left_out = |row: &PageRow| row.noindex && settings.store.noindex == NoindexPages::Hide;
            let (left_out, shown): (Vec<PageRow>, Vec<PageRow>) = rows.into_iter().partition(is_left_out);
            let left_out: Vec<String> = left_out.into_iter().map(|row| row.url).collect();
            let read = shown.into_iter().map(|row| Ok((store.load_cleaned(&row)?.unwrap_or_default(), row)));
            let read = read.collect::<Result<Vec<_>, StoreError>>().map_err(work)?;
            let pages: Vec<IndexedPage> =
                read.into_par_iter().map(|(html, row)| indexed(&html, row, settings)).collect();
            added += pages.len();
            index.add(&pages, &left_out, reached).map_err(work)?;
            tracing::info!("{} pages added", count(added));
        }
        // A site may forbid all, or allow it again, without a page that changes.
        let is_hiding = settings.store.noindex == NoindexPages::Hide;
        let hidden = if is_hiding { store.closed_hosts().map_err(work)? } else { Vec::new() };
        index.hide(&hidden).map_err(work)?;
        let n = index.n_pages().map_err(work)?;
        let mut out = io::stdout().lock();
        if self.json {
            writeln!(out, "{}", serde_json::json!({"schema": 1, "added": added, "pages": n, "file": file}))?
        } else {
            writeln!(out, "{}: {} pages added, {} in all", file.display(), count(added), count(n.max(0) as usize))?
        }
        Ok(ExitCode::SUCCESS)
    }

    fn print(&self, file: &Path, words: &str) -> Outcome {
        let none = || Failure::Nothing(anyhow!("{}: no index; `dehusk index` makes it", file.display()));
        let index = SearchIndex::open(file).map_err(work)?.ok_or_else(none)?;
        let hits = index.find(words, self.n).map_err(work)?;
        let mut out = io::stdout().lock();
        if self.json {
            writeln!(out, "{}", serde_json::json!({"schema": 1, "hits": hits}))?;
        }
        for hit in hits.iter().filter(|_| !self.json) {
            let snippet = hit.snippet.concat().split_whitespace().collect::<Vec<_>>().join(" ");
            writeln!(out, "{}\n  {}\n  {}", plain(&hit.url), plain(&hit.title), plain(&snippet))?;
        }
        Ok(if hits.is_empty() { ExitCode::from(super::exit::FAILED) } else { ExitCode::SUCCESS })
    }
}

/// What tells a store from others that were at the same place: when its first run began.
fn store_mark(store: &Store) -> Result<String, StoreError> {
    Ok(store.first_run_began()?.map_or_else(|| "empty".to_owned(), |at| at.to_string()))
}

fn indexed(html: &str, row: PageRow, settings: &Settings) -> IndexedPage {
    let tree = parse(html, &settings.core.parse);
    let heading = tree.all("h1").next().map(|h1| {
        let texts = tree.shape.subtree(h1).map(dehusk_html::NodeId::new);
        let texts = texts.filter(|node| tree.is_text(*node)).map(|node| normalized(tree.text(node)));
        texts.collect::<Vec<_>>().join(" ")
    });
    let title = heading.filter(|title| !title.is_empty()).unwrap_or_else(|| row.url.clone());
    IndexedPage { page: row.id, url: row.url, host: row.host, title, text: write_text(&tree, |_| true) }
}
