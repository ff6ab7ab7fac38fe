//! Runs: what each night brought.

use std::sync::Arc;

use maud::{Markup, PreEscaped, html};
use serde::Serialize;

use super::chart::bars;
use super::layout::{MenuEntry, document, query};
use super::words::{bytes, count, duration, minute};
use super::{Inspector, Refusal};
use crate::plot::nights::pages;
use crate::plot::{Bars, svg};
use dehusk_store::{GapCount, RequestFailures, RequestRate, RunRow, Store};

/// Runs that are listed.
const MOST_RUNS: usize = 60;
/// Reasons that are listed.
const MOST_REASONS: usize = 40;
/// Parts of a run in its chart.
const PARTS: i64 = 120;
/// Classes of gaps for the length of a delay, and all that are shown.
const CLASSES_OF_DELAY: i64 = 4;
const MOST_CLASSES: usize = 40;

/// All runs.
#[derive(Serialize)]
pub(super) struct Runs {
    schema: u32,
    runs: Vec<RunRow>,
    sites: Vec<(String, i64)>,
    database_bytes: i64,
}

/// One run.
#[derive(Clone, Serialize)]
pub(super) struct Run {
    schema: u32,
    run: RunRow,
    sites: Vec<(String, i64)>,
    failures: Vec<RequestFailures>,
    /// Length of a part of `rate`, in milliseconds.
    part_ms: i64,
    rate: Vec<RequestRate>,
    /// Delay that the run was asked to keep, in milliseconds.
    delay_ms: i64,
    /// Width of a class of `gaps`, in milliseconds.
    class_ms: i64,
    gaps: Vec<GapCount>,
}

impl Runs {
    pub(super) fn load(inspector: &Inspector, store: &Store) -> Result<Runs, Refusal> {
        let runs = inspector.ended.newest(store, MOST_RUNS)?;
        Ok(Runs { schema: 1, runs, sites: store.count_sites()?, database_bytes: store.used_bytes()? })
    }

    pub(super) fn render(&self) -> Markup {
        let body = html! {
            h1 { "Runs" }
            @if self.runs.is_empty() {
                section.empty {
                    p { "Nothing was crawled into this database yet." }
                    pre { "dehusk crawl https://your.site/" }
                }
            } @else {
                p.lead {
                    @for (outcome, n) in &self.sites {
                        a.pill data-outcome=(outcome) href=(format!("/sites?{}", query(&[("outcome", outcome)]))) {
                            (count(*n)) " " (outcome.replace('_', " "))
                        } " "
                    }
                    span.dim { (bytes(self.database_bytes)) " in the database" }
                }
                @if self.runs.len() > 1 { figure { (PreEscaped(svg(&[self.plot()]))) } }
                div.scroll tabindex="0" { table {
                    thead { tr {
                        th { "run" } th { "began (UTC)" } th { "took" } th { "outcome" }
                        @for name in ["requests", "new", "changed", "same", "gone", "moved", "returned", "failed", "forbidden", "templates"] {
                            th.n { (name) }
                        }
                    } }
                    tbody { @for run in &self.runs { tr {
                        td { a href=(format!("/run?id={}", run.id)) { "run " (run.id) } }
                        td { (minute(run.started_at)) }
                        td { (took(run)) }
                        td { (outcome(run)) }
                        @for n in [run.requests, run.new, run.changed, same(run), run.gone, run.moved, run.returned, run.failed, run.forbidden, run.templates] {
                            td.n { (count(n)) }
                        }
                    } } }
                } }
            }
        };
        document("Runs", MenuEntry::Runs, &body)
    }
}

impl Runs {
    /// Pages by run, the oldest first.
    fn plot(&self) -> Bars {
        let shown: Vec<RunRow> = self.runs.iter().rev().cloned().collect();
        pages(&shown)
    }
}

fn same(run: &RunRow) -> i64 {
    run.unchanged + run.same_text + run.recleaned
}

fn took(run: &RunRow) -> String {
    run.ended_at.map_or_else(String::new, |ended| duration(ended - run.started_at))
}

fn outcome(run: &RunRow) -> Markup {
    let word = run.outcome.as_deref().unwrap_or("unfinished");
    html! { span.pill data-outcome=(word) { (word) } }
}

impl Run {
    pub(super) fn load(inspector: &Inspector, store: &Store, id: i64) -> Result<Arc<Run>, Refusal> {
        inspector.ended.run(store, id, || Run::read(store, id))
    }

    fn read(store: &Store, id: i64) -> Result<Run, Refusal> {
        let Some(run) = store.find_run(id)? else {
            return Err(Refusal::Nothing(format!("there is no run {id}")));
        };
        let delay_ms = store.run_delay_ms(id)?.max(1);
        // A run that was killed has no end: its parts grow with its length.
        let last = run.ended_at.or(store.last_sent()?).unwrap_or(run.started_at);
        let part_ms = ((last - run.started_at) / PARTS).max(1000);
        let class_ms = (delay_ms / CLASSES_OF_DELAY).max(1);
        Ok(Run {
            schema: 1,
            sites: store.site_outcomes(id)?,
            failures: store.run_failures(id, MOST_REASONS)?,
            part_ms,
            rate: store.run_rate(id, part_ms)?.into_iter().take(10 * PARTS as usize).collect(),
            delay_ms,
            class_ms,
            gaps: store.run_gaps(id, class_ms, MOST_CLASSES)?,
            run,
        })
    }

    /// Whether it may still be at work.
    fn is_open(&self) -> bool {
        self.run.outcome.is_none()
    }

    pub(super) fn render(&self) -> Markup {
        let run = &self.run;
        let title = format!("Run {}", run.id);
        let body = html! {
            h1 { (title) " " (outcome(run)) }
            p.lead { "Began " (minute(run.started_at)) " UTC" @if run.ended_at.is_some() { ", took " (took(run)) } "." }
            dl.facts.counts data-live=[self.is_open().then(|| format!("/run/live?id={}", run.id))] {
                @for (field, name, n) in counts(run) { div { dt { (name) } dd data-count=(field) { (count(n)) } } }
            }
            h2 { "Sites" }
            p { @for (word, n) in &self.sites {
                a.pill data-outcome=(word) href=(format!("/sites?{}", query(&[("outcome", word)]))) {
                    (count(*n)) " " (word.replace('_', " "))
                } " "
            } @if self.sites.is_empty() { span.dim { "All of its sites were worked on by later runs." } } }
            h2 { "Requests over time" }
            (self.rate_chart())
            h2 { "Politeness" }
            (self.gap_chart())
            h2 { "Requests without a page" }
            (self.failure_table())
        };
        document(&title, MenuEntry::Runs, &body)
    }

    fn rate_chart(&self) -> Markup {
        let last = self.rate.last().map_or(0, |part| part.part);
        let mut parts = vec![(0, String::new()); (last + 1).clamp(1, 10 * PARTS) as usize];
        for part in &self.rate {
            if let Some(place) = parts.get_mut(part.part.max(0) as usize) {
                let per_second = part.requests as f64 * 1000.0 / self.part_ms as f64;
                *place = (part.requests, format!("{per_second:.1} requests/s, {}", bytes(part.bytes)));
            }
        }
        let title = format!("Requests in each {}", duration(self.part_ms));
        html! {
            @if self.rate.is_empty() { p.dim { "No request was sent." } } @else {
                figure { (bars(&title, &parts, None)) figcaption { (title) ", "
                    (bytes(self.rate.iter().map(|part| part.bytes).sum())) " of bodies in all" } }
            }
        }
    }

    fn gap_chart(&self) -> Markup {
        let shortest = self.gaps.iter().map(|gap| gap.shortest).min();
        let last = self.gaps.last().map_or(0, |gap| gap.class).clamp(0, 4 * MOST_CLASSES as i64) as usize;
        let mut classes: Vec<(i64, String)> =
            (0..=last.max(CLASSES_OF_DELAY as usize)).map(|_| (0, String::new())).collect();
        for gap in &self.gaps {
            if let Some(class) = classes.get_mut(gap.class.max(0) as usize) {
                let from = gap.class * self.class_ms;
                *class = (
                    gap.n,
                    format!("{} gaps of {} to {}", count(gap.n), duration(from), duration(from + self.class_ms)),
                );
            }
        }
        html! {
            @match shortest {
                None => p.dim { "No site was asked twice." },
                Some(shortest) => figure {
                    (bars("Gaps between two requests to one site", &classes, Some(CLASSES_OF_DELAY as usize)))
                    figcaption { "Gaps between two requests to one site, shortest " strong { (duration(shortest)) }
                        "; the line is the delay that was asked for, " (duration(self.delay_ms)) "." }
                },
            }
        }
    }

    fn failure_table(&self) -> Markup {
        html! {
            @if self.failures.is_empty() { p.dim { "None." } } @else {
                div.scroll tabindex="0" { table {
                    thead { tr { th.n { "requests" } th { "outcome" } th.n { "status" } th { "reason" } th { "for example" } } }
                    tbody { @for failure in &self.failures { tr {
                        td.n { (count(failure.n)) } td { (failure.outcome) }
                        td.n { @if let Some(status) = failure.status { (status) } }
                        td { (failure.reason.as_deref().unwrap_or("")) } td.url { (failure.example) }
                    } } }
                } }
            }
        }
    }
}

/// The counts of a run: field, name, number.
fn counts(run: &RunRow) -> [(&'static str, &'static str, i64); 13] {
    [
        ("requests", "requests", run.requests),
        ("new", "pages new", run.new),
        ("changed", "pages changed", run.changed),
        ("same_text", "same text", run.same_text),
        ("recleaned", "cleaned anew", run.recleaned),
        ("unchanged", "unchanged", run.unchanged),
        ("gone", "gone", run.gone),
        ("moved", "moved", run.moved),
        ("blocked", "blocked by robots.txt", run.blocked),
        ("returned", "returned", run.returned),
        ("failed", "requests failed", run.failed),
        ("forbidden", "forbidden", run.forbidden),
        ("templates", "templates learned", run.templates),
    ]
}
