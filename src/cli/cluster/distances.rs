//! A histogram of the distances between pages, from which a threshold is chosen (Gottron 2008, figure 2): the distances
//! of pages of one template are small, those of others are large, and a threshold stands in the valley between.

use std::io::{self, Write};

use crate::cli::table::{Table, count};

/// Bars of the histogram.
const BINS: usize = 20;

/// Width of the longest bar.
const WIDTH: u64 = 40;

/// Pages of which all pairs are compared; of more, so many are taken at equal steps.
const MOST_PAGES: usize = 2_000;

/// Writes how many pairs of pages have each distance; with known groups, how many of them are of one group.
pub(super) fn write_histogram(
    n_pages: usize,
    groups: &[usize],
    distance: impl Fn(usize, usize) -> f64,
    out: &mut impl Write,
) -> io::Result<()> {
    let n = n_pages.min(MOST_PAGES);
    let page = |at: usize| at * n_pages / n;
    let (mut pairs, mut within) = ([0_u64; BINS], [0_u64; BINS]);
    for (one, other) in (0..n).flat_map(|one| (0..one).map(move |other| (page(one), page(other)))) {
        let bin = ((distance(one, other) * BINS as f64) as usize).min(BINS - 1);
        pairs[bin] += 1;
        within[bin] += u64::from(!groups.is_empty() && groups[one] == groups[other]);
    }
    let most = pairs.iter().copied().max().unwrap_or(0).max(1);
    let mut head = vec!["distance", "pairs"];
    head.extend((!groups.is_empty()).then_some("of one group"));
    head.push("");
    let left = head.len() - 1;
    let mut table = Table::new(&head).left(left);
    for bin in 0..BINS {
        let (from, to) = (bin as f64 / BINS as f64, (bin + 1) as f64 / BINS as f64);
        let mut row = vec![format!("{from:.2} to {to:.2}"), count(pairs[bin] as usize)];
        row.extend((!groups.is_empty()).then(|| count(within[bin] as usize)));
        row.push("#".repeat((pairs[bin] * WIDTH).div_ceil(most) as usize));
        table.row(row);
    }
    write!(out, "\n{}", table.render(None))?;
    if n < n_pages {
        writeln!(out, "pairs of {} of {} pages, at equal steps", count(n), count(n_pages))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_counted_by_distance() {
        let mut out = Vec::new();
        let groups = [0, 0, 1];
        let distance = |one: usize, other: usize| if groups[one] == groups[other] { 0.12 } else { 1.0 };
        write_histogram(3, &groups, distance, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let cells = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let rows: Vec<Vec<String>> = text.lines().map(cells).collect();
        let row = |from: &str| rows.iter().find(|row| row.first().is_some_and(|cell| cell == from)).unwrap().clone();
        assert_eq!(row("0.10")[3..5], ["1", "1"], "{text}");
        assert_eq!(row("0.95")[3..5], ["2", "0"], "{text}");
        assert_eq!(rows.iter().filter(|row| row.len() > 4 && row[3] == "0").count(), 18, "{text}");
    }
}
