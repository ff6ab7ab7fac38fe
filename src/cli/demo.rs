//! `dehusk demo`: the complete pipeline on ten built-in sites.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;

use super::crawl::run_crawl;
use super::table::{Table, terminal_width};
use super::{Failure, Outcome, exit};
use crate::demo::server::Server;
use crate::demo::{DemoSite, TOP, answers, check_site, sites};
use dehusk_crawl::SiteSummary;
use dehusk_settings::Settings;
use dehusk_store::Store;

/// Crawl ten small built-in sites on a local server, and compare the learned templates with the known ones.
///
/// No internet connection is needed. The database stays in dehusk-demo/ for the commands printed at the end.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  dehusk demo
  dehusk pages list --db dehusk-demo/dehusk.db      what it stored, afterwards")]
pub(super) struct Demo {
    /// Folder for the results.
    #[arg(long, default_value = "dehusk-demo", value_name = "FOLDER")]
    dir: PathBuf,
}

impl Demo {
    pub(super) fn run(&self, settings: &Settings) -> Outcome {
        std::fs::create_dir_all(&self.dir).with_context(|| self.dir.display().to_string()).map_err(Failure::Work)?;
        let sites = Arc::new(sites());
        let server =
            Server::start(answers(Arc::clone(&sites))).context("cannot listen on 127.0.0.1").map_err(Failure::Work)?;
        let settings = self.settings(settings, server.port());
        let seeds: Vec<_> = sites.iter().filter_map(|site| site.seed()).collect();
        let mut out = io::stdout().lock();
        writeln!(out, "Serving {} sites on 127.0.0.1:{} and crawling them as *.{TOP}.\n", sites.len(), server.port())?;
        out.flush()?;
        let (summary, rows) = run_crawl(seeds.into(), &settings, None, None)?;
        if summary.was_interrupted {
            return Ok(ExitCode::from(exit::INTERRUPTED));
        }
        let path = Path::new(&settings.store.path);
        let store = Store::open(path).map_err(|e| Failure::Work(e.into()))?;
        let table = compare(&sites, &rows, &store)?;
        write!(out, "{}", table.render(terminal_width()))?;
        writeln!(
            out,
            "\nkey F1   template nodes of the key page against those known by construction\n\
             all F1   the same over every page that shows the template\n\
             kept     share of the pages' own words that is left after cleaning\n\
             own      share of the words left that are the pages' own\n\n\
             {} of {} sites learned, {} pages in {:.1} s. Next:\n",
            summary.stats.learned, summary.stats.sites, summary.stats.pages, summary.seconds
        )?;
        let db = path.display();
        // The program as it was called: after `cargo run` it is not on the PATH.
        let program =
            std::env::args_os().next().map_or_else(|| "dehusk".to_owned(), |name| name.to_string_lossy().into_owned());
        writeln!(out, "  {program} templates show menus.{TOP} --db {db}")?;
        writeln!(out, "  {program} pages list menus.{TOP} --db {db}")?;
        writeln!(out, "  {program} pages show http://menus.{TOP}/1/2.html --db {db}")?;
        writeln!(out, "  {program} crawl https://your.site/ --db your.db")?;
        #[cfg(feature = "serve")]
        writeln!(out, "\nSee it in a browser:\n\n  {program} serve --db {db}")?;
        let all_well = summary.stats.learned == summary.stats.sites;
        Ok(if all_well { ExitCode::SUCCESS } else { ExitCode::from(exit::FAILED) })
    }

    /// The user's settings, adapted to a server on the loopback address.
    fn settings(&self, settings: &Settings, port: u16) -> Settings {
        let mut settings = settings.clone();
        settings.store.path = self.dir.join("dehusk.db").display().to_string();
        settings.fetch.allow_private = true;
        settings.fetch.resolve = vec![format!("*.{TOP}=127.0.0.1:{port}")];
        settings.politeness.delay = settings.politeness.delay.min(Duration::from_millis(200));
        // Every demo starts from the beginning.
        settings.template.relearn = true;
        settings.crawl.resume_within = Duration::ZERO;
        settings.revisit.all = true;
        // All demo hosts share one registrable domain.
        settings.politeness.key = dehusk_settings::PolitenessScope::Host;
        settings
    }
}

fn compare(sites: &[DemoSite], rows: &[SiteSummary], store: &Store) -> Result<Table, Failure> {
    let mut table = Table::new(&["site", "shows", "pages", "loads", "key F1", "all F1", "kept", "own"]).left(1);
    for site in sites {
        let host = site.host();
        let row = rows.iter().find(|row| row.host == host);
        let template = store.load_template(&host, None).map_err(|e| Failure::Work(e.into()))?;
        let (Some(row), Some(template)) = (row, template) else {
            let reason = row.and_then(|r| r.reason.clone()).unwrap_or_else(|| "not crawled".to_owned());
            let mut cells = vec![site.name.to_owned(), reason];
            cells.resize(8, "-".to_owned());
            table.row(cells);
            continue;
        };
        let check = check_site(site, &template);
        let figure = |x: f64| format!("{x:.3}");
        table.row(vec![
            site.name.to_owned(),
            site.shows.to_owned(),
            row.pages.to_string(),
            row.loads.to_string(),
            figure(check.key.f1),
            figure(check.nodes.f1),
            format!("{:.1}%", check.words_kept * 100.0),
            format!("{:.1}%", check.words_clean * 100.0),
        ]);
    }
    Ok(table)
}
