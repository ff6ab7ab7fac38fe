//! Plots of a run and of those before it.

use super::{Bars, blocks};
use dehusk_core::calendar::iso_8601;
use dehusk_store::{RunRow, Store, StoreError};

/// Runs that are shown, at most.
const RUNS: usize = 60;

/// Classes of gaps up to the delay, and in all.
const CLASSES_OF_DELAY: i64 = 10;
const CLASSES: usize = 40;

/// The runs up to one, the oldest first.
///
/// # Errors
///
/// [`StoreError`] when the database cannot be read.
pub fn runs_until(store: &Store, last: i64) -> Result<Vec<RunRow>, StoreError> {
    let ids = store.newest_runs(usize::MAX >> 1)?;
    let ids = ids.into_iter().filter(|(id, _)| *id <= last).take(RUNS);
    let mut runs = ids.filter_map(|(id, _)| store.find_run(id).transpose()).collect::<Result<Vec<_>, _>>()?;
    runs.reverse();
    Ok(runs)
}

/// Pages of each run by what became of them.
pub fn pages(runs: &[RunRow]) -> Bars {
    let series = |name, value: fn(&RunRow) -> i64| (name, runs.iter().map(|run| value(run).max(0) as f64).collect());
    Bars {
        title: "Pages by run".to_owned(),
        unit: "pages",
        labels: labels(runs),
        series: vec![
            series("new", |run| run.new),
            series("changed", |run| run.changed),
            series("the same", |run| run.unchanged + run.same_text + run.recleaned),
            series("gone or moved", |run| run.gone + run.moved + run.blocked),
            series("failed", |run| run.failed),
        ],
        mark: None,
    }
}

/// The same for a terminal: a line for each outcome that there was. Nothing for a single run.
pub fn lines(runs: &[RunRow]) -> String {
    let outcomes =
        pages(runs).series.into_iter().filter(|(_, values)| runs.len() > 1 && values.iter().any(|n| *n > 0.0));
    outcomes.map(|(name, values)| format!("{name:<14}{}\n", blocks(&values))).collect()
}

/// Pages by what became of them and bytes, of a run and those before it; its gaps beside the delay, and its sites by
/// the share of template.
///
/// # Errors
///
/// [`StoreError`] when the database cannot be read.
pub fn plots(store: &Store, run: &RunRow) -> Result<Vec<Bars>, StoreError> {
    let runs = runs_until(store, run.id)?;
    let bytes_of = |run: &RunRow| -> Result<f64, StoreError> {
        Ok(store.run_rate(run.id, i64::MAX)?.iter().map(|part| part.bytes as f64).sum())
    };
    let bytes = runs.iter().map(bytes_of).collect::<Result<Vec<_>, _>>()?;
    let bytes = Bars {
        title: "Bytes received by run".to_owned(),
        unit: "bytes",
        labels: labels(&runs),
        series: vec![("bytes", bytes)],
        mark: None,
    };
    Ok(vec![pages(&runs), bytes, gaps(store, run)?, template_share(store, run)?])
}

fn labels(runs: &[RunRow]) -> Vec<String> {
    runs.iter().map(|run| format!("run {}, {}", run.id, &iso_8601(run.started_at)[..10])).collect()
}

/// Gaps between two requests to one site, in classes of a tenth of the delay of the run.
fn gaps(store: &Store, run: &RunRow) -> Result<Bars, StoreError> {
    let delay_ms = store.run_delay_ms(run.id)?.max(1);
    let class_ms = (delay_ms / CLASSES_OF_DELAY).max(1);
    let mut counts = vec![0.0; CLASSES];
    for gap in store.run_gaps(run.id, class_ms, usize::MAX >> 1)? {
        counts[(gap.class.max(0) as usize).min(CLASSES - 1)] += gap.n as f64;
    }
    let label = |at: usize| match at + 1 {
        CLASSES => format!("{} s and more", at as f64 * class_ms as f64 / 1000.0),
        _ => format!("{} s", at as f64 * class_ms as f64 / 1000.0),
    };
    Ok(Bars {
        title: format!("Gaps between requests to one site, run {}", run.id),
        unit: "gaps",
        labels: (0..CLASSES).map(label).collect(),
        series: vec![("gaps", counts)],
        mark: Some((CLASSES_OF_DELAY as f64, format!("delay {} s", delay_ms as f64 / 1000.0))),
    })
}

/// Sites by the share of their pages' HTML that is template, as stored.
fn template_share(store: &Store, run: &RunRow) -> Result<Bars, StoreError> {
    let mut sites = vec![0.0; 10];
    for (cleaned, raw) in store.bytes_by_site(run.id)? {
        let share = 1.0 - cleaned as f64 / raw.max(1) as f64;
        sites[((share.clamp(0.0, 1.0) * 10.0) as usize).min(9)] += 1.0;
    }
    Ok(Bars {
        title: format!("Sites by the share of template in their stored HTML, run {}", run.id),
        unit: "sites",
        labels: (0..10).map(|at| format!("{} to {} %", at * 10, at * 10 + 10)).collect(),
        series: vec![("sites", sites)],
        mark: None,
    })
}
