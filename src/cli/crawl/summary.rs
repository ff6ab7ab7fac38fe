//! What `dehusk crawl` prints at the end: sites, totals, what to do next.

use std::collections::BTreeMap;
use std::io::{self, Write};

use rustc_hash::FxHashSet;

use crate::cli::table::{Table, count, count_of, terminal_width};
use dehusk_crawl::{SiteSummary, Stats, Summary};
use dehusk_settings::Settings;
use dehusk_store::reason::ReasonCode;

/// Maximum number of sites listed one by one. Above it, failures are grouped by reason.
const MOST_ROWS: usize = 40;

pub(super) fn print(
    summary: &Summary,
    sites: &[SiteSummary],
    failed_before: &FxHashSet<String>,
    settings: &Settings,
    out: &mut impl Write,
) -> io::Result<()> {
    let db = &dehusk_store::shown(&settings.store.path);
    print_sites(sites, failed_before, db, out)?;
    print_totals(summary, out)?;
    if let Some(limit) = summary.limit {
        let key = limit.as_str();
        writeln!(out, "crawl.{key} has ended the run: what is left waits, and the same command goes on with it")?;
    }
    let limited = sites.iter().filter(|site| site.limit.is_some()).count();
    if limited > 0 {
        writeln!(out, "{} sites ended by a budget (crawl.site.*): their rest waits for the next run", count(limited))?;
    }
    print_hints(&summary.stats, db, out)
}

/// The table of sites, and those that need attention. Sites that failed before, too, are counted only.
fn print_sites(
    sites: &[SiteSummary],
    failed_before: &FxHashSet<String>,
    db: &str,
    out: &mut impl Write,
) -> io::Result<()> {
    if sites.len() <= MOST_ROWS {
        write!(out, "{}", site_table(sites).render(terminal_width()))?;
    }
    let (failed, others): (Vec<&SiteSummary>, Vec<&SiteSummary>) =
        sites.iter().filter(|s| s.reason.is_some()).partition(|s| s.outcome == "failed");
    let (known, new): (Vec<&SiteSummary>, Vec<&SiteSummary>) =
        failed.into_iter().partition(|s| failed_before.contains(&s.host));
    for (title, list) in [("Sites that failed", &new), ("Sites without a template", &others)] {
        if !list.is_empty() {
            writeln!(out, "\n{title}:")?;
            write!(out, "{}", failure_table(list).render(terminal_width()))?;
        }
    }
    if !known.is_empty() {
        let n = count_of(known.len(), "site");
        writeln!(out, "\nfailed before, and again: {n}; {} report --db {db} lists them", program())?;
    }
    let redesigned: Vec<&SiteSummary> =
        sites.iter().filter(|s| s.outcome == "learned" && s.old_template_coverage.is_some()).collect();
    if let Some(first) = redesigned.first() {
        writeln!(out, "\nRedesigned sites, learned again:")?;
        write!(out, "{}", redesigned_table(&redesigned).render(terminal_width()))?;
        writeln!(out, "changed blocks: {} templates diff {} --db {db}", program(), first.host)?;
    }
    Ok(())
}

/// Sites, pages and requests of the run by outcome.
fn print_totals(summary: &Summary, out: &mut impl Write) -> io::Result<()> {
    let stats = &summary.stats;
    let rate = stats.pages as f64 / summary.seconds.max(0.001);
    let some = |n: usize, text: &str| if n > 0 { format!(", {} {text}", count(n)) } else { String::new() };
    writeln!(
        out,
        "\nrun {}{}: {}: {} learned{}{}{}, {} failed{}{}",
        summary.run,
        if summary.was_resumed { " (resumed)" } else { "" },
        count_of(stats.sites, "site"),
        count(stats.learned),
        some(stats.kept, "kept their template"),
        some(stats.walked + stats.not_due, if stats.walked > 0 { "walked" } else { "not due" }),
        some(stats.no_template, "without a template"),
        count(stats.failed),
        some(stats.interrupted, "interrupted"),
        some(stats.ended_before, "done before"),
    )?;
    let compared = stats.new + stats.changed + stats.same_text + stats.recleaned + stats.unchanged + stats.away();
    // Pages of a site are compared when it ends.
    let waiting = if summary.was_interrupted { stats.pages.saturating_sub(compared) } else { 0 };
    writeln!(
        out,
        "{}: {} new{}{}{}{}{}{}{}{}{}{}",
        count_of(compared, "page"),
        count(stats.new),
        some(stats.changed, "changed"),
        some(stats.same_text, "with the same text"),
        some(stats.recleaned, "cleaned anew"),
        some(stats.unchanged, "unchanged"),
        some(stats.gone, "gone"),
        some(stats.pages_moved, "moved"),
        some(stats.blocked, "blocked by robots.txt"),
        some(stats.pages_failed, "failed"),
        some(stats.returned, "back again"),
        some(waiting, "more fetched and stored, which are compared when their sites are done"),
    )?;
    writeln!(
        out,
        "{:.1} MB in {:.1} s ({rate:.1} pages/s); {} requests{}{}{}{}{}{}",
        stats.bytes as f64 / 1e6,
        summary.seconds,
        count(stats.requests),
        some(stats.retries, "of them retries"),
        some(stats.rendered, "pages rendered"),
        some(stats.forbidden, "URLs forbidden by robots.txt"),
        some(stats.without_rules, "not fetched for lack of robots.txt rules"),
        some(stats.back_offs, "back-offs"),
        some(stats.parked, "domains parked"),
    )
}

/// What was left out and how to get it, and where the results are.
fn print_hints(stats: &Stats, db: &str, out: &mut impl Write) -> io::Result<()> {
    if !stats.refused.is_empty() {
        let refused: Vec<String> = stats.refused.iter().map(|(name, n)| format!("{} {name}", count(*n))).collect();
        writeln!(out, "links not followed: {}", refused.join(", "))?;
    }
    print_withheld(&stats.withheld, out)?;
    if stats.not_due > 0 {
        writeln!(out, "--all fetches pages that are not due, too")?;
    }
    let program = program();
    writeln!(
        out,
        "stored in {db}; look at it with\n  {program} templates list --db {db}\n  {program} pages list --db {db}"
    )
}

/// Answers that are no pages, by reason, and what can be done.
fn print_withheld(withheld: &BTreeMap<&str, usize>, out: &mut impl Write) -> io::Result<()> {
    if withheld.is_empty() {
        return Ok(());
    }
    let by_reason: Vec<String> = withheld.iter().map(|(reason, n)| format!("{} {reason}", count(*n))).collect();
    writeln!(out, "answers that are no pages, and replace none: {}", by_reason.join(", "))?;
    let has = |codes: &[ReasonCode]| codes.iter().any(|code| withheld.contains_key(code.as_str()));
    for (codes, remedy) in [
        (&[ReasonCode::NeedsScripts][..], "needs_scripts: --set fetch.render=needed renders these pages"),
        (
            &[ReasonCode::LoginWall, ReasonCode::CookieWall],
            "login_wall, cookie_wall: fetch.cookies and fetch.headers may help, also in a [[site]] table",
        ),
        (&[ReasonCode::Challenge], "challenge: ask the owner of the site for access"),
    ] {
        if has(codes) {
            writeln!(out, "  {remedy}")?;
        }
    }
    Ok(())
}

pub(in crate::cli) fn site_table(sites: &[SiteSummary]) -> Table {
    let mut table =
        Table::new(&["site", "outcome", "pages", "loads", "voters", "template", "of", "cleaned", "s"]).left(1);
    for s in sites {
        table.row(vec![
            s.host.clone(),
            s.outcome.to_owned(),
            s.pages.to_string(),
            s.loads.to_string(),
            s.voters.to_string(),
            s.template_nodes.to_string(),
            s.key_nodes.to_string(),
            s.cleaned.to_string(),
            format!("{:.1}", s.seconds),
        ]);
    }
    table
}

fn program() -> String {
    std::env::args_os().next().map_or_else(|| "dehusk".to_owned(), |name| name.to_string_lossy().into_owned())
}

fn redesigned_table(sites: &[&SiteSummary]) -> Table {
    let mut table = Table::new(&["site", "old template left", "new template", "of"]);
    for s in sites.iter().take(MOST_ROWS) {
        let shown = s.old_template_coverage.map_or_else(String::new, |share| format!("{:.0} %", share * 100.0));
        table.row(vec![s.host.clone(), shown, s.template_nodes.to_string(), s.key_nodes.to_string()]);
    }
    if sites.len() > MOST_ROWS {
        table.row(vec![format!("and {} more", sites.len() - MOST_ROWS), String::new(), String::new(), String::new()]);
    }
    table
}

fn failure_table(failures: &[&SiteSummary]) -> Table {
    if failures.len() <= MOST_ROWS {
        let mut table = Table::new(&["site", "reason"]).left(1);
        for s in failures {
            table.row(vec![s.host.clone(), s.reason.clone().unwrap_or_default()]);
        }
        return table;
    }
    let mut by_reason: BTreeMap<String, (usize, &str)> = BTreeMap::new();
    for s in failures {
        by_reason.entry(s.reason.clone().unwrap_or_default()).or_insert((0, &s.host)).0 += 1;
    }
    let mut rows: Vec<(String, (usize, &str))> = by_reason.into_iter().collect();
    rows.sort_by_key(|(_, (n, _))| std::cmp::Reverse(*n));
    let mut table = Table::new(&["reason", "sites", "such as"]).left(2);
    for (reason, (n, host)) in rows.into_iter().take(MOST_ROWS) {
        table.row(vec![reason, count(n), host.to_owned()]);
    }
    table
}
