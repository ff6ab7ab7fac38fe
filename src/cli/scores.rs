//! Prints the scores of an evaluation as tables.

use std::io::{self, Write};

use super::table::{Table, terminal_width};
use crate::evaluate::{Report, SiteRow};
use dehusk_papers::method_table::MethodEntry;
use dehusk_papers::scores::Score;

/// Prints the scores of one method.
pub(super) fn print(report: &Report, by_site: bool, out: &mut impl Write) -> io::Result<()> {
    if by_site {
        print_by_site(report, out)?;
    }
    let mut table = Table::new(&["measure", "pages", "P", "R", "F1"]);
    let mut add = |name: &str, pages: usize, score: Score| {
        if pages > 0 {
            let cells = [score.precision, score.recall, score.f1].map(figure);
            table.row([vec![name.to_owned(), pages.to_string()], cells.to_vec()].concat());
        }
    };
    add("template nodes, key pages", report.sites.iter().filter(|s| s.key.is_some()).count(), report.key());
    add("template nodes, labeled pages", report.n_node_pages(), report.nodes());
    add("main content, words", report.n_word_pages(), report.bag());
    add("main content, word order", report.n_word_pages(), report.lcs());
    write!(out, "{}", table.render(terminal_width()))?;
    let collapsed = report.sites.iter().filter(|site| site.key.is_some_and(|key| key.f1 < 0.5)).count();
    if collapsed > 0 {
        writeln!(out, "\n{collapsed} key pages have a node F1 under .5")?;
    }
    if let Some(clusters) = report.clusters {
        let dunn = clusters.dunn.map_or_else(|| "-".to_owned(), figure);
        writeln!(
            out,
            "\n{} clusters, {} of one page; against the sites: Rand {}, Dunn {dunn}; {:.0} ms for all",
            clusters.n,
            clusters.alone,
            figure(clusters.rand),
            clusters.took.as_secs_f64() * 1000.0
        )?;
    }
    let (median, worst) = report.median_and_worst(|s| s.cost.learn.as_secs_f64() * 1000.0);
    let (vote_median, vote_worst) = report.median_and_worst(|s| s.cost.vote.as_secs_f64() * 1000.0);
    let unequal: usize = report.sites.iter().map(|s| s.other_node_count).sum();
    if unequal > 0 {
        writeln!(out, "{unequal} labeled pages have a different number of nodes from the gold and are in no mean")?;
    }
    let n_sites = report.n_sites();
    if report.sites.iter().all(|s| s.learning.nodes == 0) {
        return writeln!(out, "\n{} on {n_sites} sites: cleaning {:.2} ms a page", report.method, report.clean_ms());
    }
    writeln!(
        out,
        "\n{} on {n_sites} sites: {:.1} pages loaded a site; learning {median:.1} ms a site (worst {worst:.1}), votes {vote_median:.1} ms \
         (worst {vote_worst:.1}), cleaning {:.2} ms a page",
        report.method,
        report.site_mean(|s| s.learning.loads as f64),
        report.clean_ms(),
    )
}

/// Prints one row for each site, the worst first.
fn print_by_site(report: &Report, out: &mut impl Write) -> io::Result<()> {
    let mut table = Table::new(&[
        "site", "key F1", "P", "R", "nodes", "template", "found", "both", "pages", "nodes F1", "words F1", "words P",
        "words R", "links", "loads", "m", "t",
    ]);
    let mut rows: Vec<&SiteRow> = report.sites.iter().collect();
    let worst = |s: &SiteRow| s.key.map_or_else(|| s.word_mean().f1, |k| k.f1);
    rows.sort_by(|a, b| worst(a).total_cmp(&worst(b)));
    for s in rows {
        // A dash for what was not measured.
        let shown = |is_there: bool, text: String| if is_there { text } else { "-".to_owned() };
        let (key, learned) = (s.key.unwrap_or_default(), s.learning.nodes > 0);
        let (counts, words) = (s.key_counts.unwrap_or_default(), s.word_mean());
        table.row(vec![
            s.site.clone(),
            shown(s.key.is_some(), figure(key.f1)),
            shown(s.key.is_some(), figure(key.precision)),
            shown(s.key.is_some(), figure(key.recall)),
            shown(s.key.is_some(), counts.nodes.to_string()),
            shown(s.key.is_some(), counts.template.to_string()),
            shown(s.key.is_some(), counts.retrieved.to_string()),
            shown(s.key.is_some(), counts.hits.to_string()),
            s.cost.n_cleaned.to_string(),
            shown(!s.nodes.is_empty(), figure(s.node_mean().f1)),
            shown(!s.words.is_empty(), figure(words.f1)),
            shown(!s.words.is_empty(), figure(words.precision)),
            shown(!s.words.is_empty(), figure(words.recall)),
            shown(learned, s.learning.links.to_string()),
            shown(learned, s.learning.loads.to_string()),
            shown(learned, s.learning.cs.len().to_string()),
            shown(learned, s.learning.min_votes.to_string()),
        ]);
    }
    writeln!(out, "{}", table.render(terminal_width()))
}

/// Prints all methods in one table: node scores, word scores, number of loaded pages, and time.
pub(super) fn print_all(reports: &[Report], out: &mut impl Write) -> io::Result<()> {
    let mut table = Table::new(&[
        "method", "pages", "key F1", "nodes F1", "P", "R", "words F1", "P", "R", "order F1", "loads", "learn ms",
        "label ms",
    ]);
    for report in reports {
        let shown = |is_there: bool, x: f64| if is_there { figure(x) } else { "-".to_owned() };
        let (nodes, words) = (report.nodes(), report.bag());
        let (has_nodes, has_words) = (report.n_node_pages() > 0, report.n_word_pages() > 0);
        let is_site = MethodEntry::find(report.method).is_some_and(MethodEntry::is_site_method);
        let learns = is_site && report.sites.iter().any(|site| site.learning.nodes > 0);
        let (learn, _) = report.median_and_worst(|site| site.cost.learn.as_secs_f64() * 1000.0);
        table.row(vec![
            report.method.to_string(),
            report.n_node_pages().max(report.n_word_pages()).to_string(),
            shown(report.sites.iter().any(|site| site.key.is_some()), report.key().f1),
            shown(has_nodes, nodes.f1),
            shown(has_nodes, nodes.precision),
            shown(has_nodes, nodes.recall),
            shown(has_words, words.f1),
            shown(has_words, words.precision),
            shown(has_words, words.recall),
            shown(has_words, report.lcs().f1),
            if learns { format!("{:.1}", report.site_mean(|site| site.learning.loads as f64)) } else { "-".to_owned() },
            if learns { format!("{learn:.1}") } else { "-".to_owned() },
            format!("{:.2}", report.label_ms()),
        ]);
    }
    write!(out, "{}", table.render(terminal_width()))?;
    writeln!(
        out,
        "\nlearn ms: median per site, without parsing; label ms: mean per page, without parsing; loads: pages per site besides the key page"
    )
}

fn figure(x: f64) -> String {
    format!("{x:.3}")
}
