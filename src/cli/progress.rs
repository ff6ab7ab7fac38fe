//! Shows the progress of a crawl: a live line on a terminal, plain lines elsewhere.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::table::count;
use dehusk_crawl::{Progress, SiteSummary, Stats};
use dehusk_store::reason::ReasonCode;

/// Interval between plain lines.
const LINE_EVERY: Duration = Duration::from_secs(10);

pub(super) struct Display {
    bar: Option<ProgressBar>,
    started: Instant,
    last_line: Instant,
    last_tick: Instant,
    /// Number of failures still to be shown as they occur. The summary lists all.
    failures_left: usize,
}

impl Display {
    pub(super) fn new() -> Display {
        let now = Instant::now();
        let bar = io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(8));
            let style = ProgressStyle::with_template("{bar:16} {pos}/{len} sites  {wide_msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("█▌░"));
            bar
        });
        Display { bar, started: now, last_line: now, last_tick: now, failures_left: 20 }
    }

    pub(super) fn show(&mut self, progress: &Progress<'_>) {
        match progress {
            Progress::Tick(stats) => self.tick(stats),
            Progress::Site(site, stats) => {
                self.site(site);
                self.tick(stats);
            }
        }
    }

    fn site(&mut self, site: &SiteSummary) {
        let redesigned = match site.old_template_coverage {
            Some(share) => format!(", redesigned: {:.0} % of the old template is left", share * 100.0),
            None => String::new(),
        };
        let text = match &site.reason {
            None if site.outcome == "not_due" => format!("{}: not due", site.host),
            None => format!(
                "{}: {}: {} of {} nodes are template, {} training pages, {} pages{redesigned}",
                site.host, site.outcome, site.template_nodes, site.key_nodes, site.voters, site.pages
            ),
            Some(reason) => format!("{}: {}: {reason}", site.host, site.outcome),
        };
        match &self.bar {
            None => tracing::info!(
                event = "site_ended",
                host = site.host,
                outcome = site.outcome,
                reason_code = site.reason_code.map(ReasonCode::as_str),
                reason = site.reason,
                pages = site.pages,
                requests = site.requests,
                template_nodes = site.template_nodes,
                seconds = site.seconds,
                "{text}"
            ),
            Some(bar) if site.reason.is_some() && self.failures_left > 0 => {
                self.failures_left -= 1;
                bar.println(text);
                if self.failures_left == 0 {
                    bar.println("further failures are in the summary");
                }
            }
            Some(_) => {}
        }
    }

    fn tick(&mut self, stats: &Stats) {
        match &self.bar {
            Some(bar) if self.last_tick.elapsed() > Duration::from_millis(50) => {
                self.last_tick = Instant::now();
                bar.set_length(stats.sites as u64);
                bar.set_position(stats.ended() as u64);
                bar.set_message(self.figures(stats));
            }
            None if self.last_line.elapsed() >= LINE_EVERY => {
                self.last_line = Instant::now();
                tracing::info!(
                    event = "progress",
                    sites_ended = stats.ended(),
                    sites = stats.sites,
                    pages = stats.pages,
                    waiting = stats.waiting,
                    in_flight = stats.in_flight,
                    errors = stats.errors,
                    "{}/{} sites  {}",
                    stats.ended(),
                    stats.sites,
                    self.figures(stats)
                );
            }
            _ => {}
        }
    }

    fn figures(&self, stats: &Stats) -> String {
        let seconds = self.started.elapsed().as_secs_f64().max(0.001);
        format!(
            "{} pages {:.1}/s  {} waiting  {} in flight  {} errors",
            count(stats.pages),
            stats.pages as f64 / seconds,
            count(stats.waiting),
            stats.in_flight,
            count(stats.errors)
        )
    }

    pub(super) fn say(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.println(text),
            None => {
                let _ = writeln!(io::stderr(), "{text}");
            }
        }
    }

    pub(super) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
