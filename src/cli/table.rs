//! Aligned text tables for terminals of any width.

use super::terminal::plain;

/// A table of text cells. The first column is left-aligned, the others are right-aligned unless [`Table::left`] is
/// called.
pub(super) struct Table {
    head: Vec<&'static str>,
    rows: Vec<Vec<String>>,
    left: Vec<usize>,
}

impl Table {
    pub(super) fn new(head: &[&'static str]) -> Table {
        Table { head: head.to_vec(), rows: Vec::new(), left: vec![0] }
    }

    /// Left-aligns another column.
    pub(super) fn left(mut self, column: usize) -> Table {
        self.left.push(column);
        self
    }

    pub(super) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells.into_iter().map(|cell| plain(&cell).into_owned()).collect());
    }

    /// The table as text. No cell is ever cut, so that everything can be copied.
    ///
    /// Without a width (a pipe), long cells stretch their own line only. Where a row does not fit into the width, the
    /// first cell of every row is on a line of its own and the others below it.
    pub(super) fn render(&self, width: Option<usize>) -> String {
        let widths = self.widths(usize::MAX);
        let total: usize = widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1);
        let rows =
            || std::iter::once(self.head.iter().map(|h| (*h).to_owned()).collect()).chain(self.rows.iter().cloned());
        match width {
            Some(width) if total > width => {
                let rest = self.widths(usize::MAX)[1..].to_vec();
                rows().map(|row: Vec<String>| self.stacked(&row, &rest, width)).collect()
            }
            Some(_) => rows().map(|row: Vec<String>| self.line(&row, &widths)).collect(),
            None => {
                let widths = self.widths(MOST_PADDING);
                rows().map(|row: Vec<String>| self.line(&row, &widths)).collect()
            }
        }
    }

    /// Columns of the widest cell of each column, cells above `most` left out.
    fn widths(&self, most: usize) -> Vec<usize> {
        let mut widths: Vec<usize> = self.head.iter().map(|h| columns(h)).collect();
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(Some(columns(cell)).filter(|n| *n <= most).unwrap_or(0));
            }
        }
        widths
    }

    fn stacked(&self, row: &[String], widths: &[usize], width: usize) -> String {
        let Some((first, rest)) = row.split_first() else { return String::new() };
        let mut out = format!("{first}\n");
        let fits = 2 + widths.iter().sum::<usize>() + 2 * widths.len() <= width;
        let mut line = String::new();
        for (at, (cell, column)) in rest.iter().zip(widths).enumerate() {
            let pad = " ".repeat(if fits { column.saturating_sub(columns(cell)) } else { 0 });
            let cell = if self.left.contains(&(at + 1)) { format!("{cell}{pad}") } else { format!("{pad}{cell}") };
            if !line.is_empty() && columns(&line) + 2 + columns(&cell) > width {
                out.push_str(line.trim_end());
                out.push('\n');
                line.clear();
            }
            line.push_str(if line.is_empty() { "    " } else { "  " });
            line.push_str(&cell);
        }
        if !line.trim().is_empty() {
            out.push_str(line.trim_end());
            out.push('\n');
        }
        out
    }

    fn line(&self, row: &[String], widths: &[usize]) -> String {
        let mut line = String::new();
        for (i, (cell, width)) in row.iter().zip(widths).enumerate() {
            if i > 0 {
                line.push_str("  ");
            }
            let pad = " ".repeat(width.saturating_sub(columns(cell)));
            if self.left.contains(&i) {
                line.push_str(cell);
                line.push_str(&pad);
            } else {
                line.push_str(&pad);
                line.push_str(cell);
            }
        }
        line.truncate(line.trim_end().len());
        line.push('\n');
        line
    }
}

/// Cells of up to so many columns are lined up in a pipe.
const MOST_PADDING: usize = 48;

/// Columns of the terminal; `None` without a terminal.
pub(super) fn terminal_width() -> Option<usize> {
    let named = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let terminal = || console::Term::stdout().size_checked().map(|(_, columns)| usize::from(columns));
    named.or_else(terminal).map(|columns: usize| columns.max(40))
}

/// A number with spaces between groups of three digits.
pub(super) fn count(n: usize) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}

/// A number of things, such as `1 site` and `2 sites`.
pub(super) fn count_of(n: usize, what: &str) -> String {
    format!("{} {what}{}", count(n), if n == 1 { "" } else { "s" })
}

/// Unix milliseconds as UTC, such as `2026-11-21 08:40`.
pub(super) fn time(unix_ms: i64) -> String {
    let minutes = unix_ms.div_euclid(60_000);
    let (days, minute) = (minutes.div_euclid(1440), minutes.rem_euclid(1440));
    // Civil date from days (Hinnant): years begin in March, an era is 400 years.
    let z = days + 719_468;
    let (era, day_of_era) = (z.div_euclid(146_097), z.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02}", minute / 60, minute % 60)
}

fn columns(text: &str) -> usize {
    console::measure_text_width(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_no_cell_is_cut() {
        let mut table = Table::new(&["site", "pages", "s"]);
        table.row(vec!["日本語.example".to_owned(), "5".to_owned(), "1.0".to_owned()]);
        table.row(vec!["a-very-long-host-name.example.org".to_owned(), "12".to_owned(), "0.5".to_owned()]);
        let widths: Vec<usize> = table.render(Some(80)).lines().map(columns).collect();
        assert_eq!(widths, [45, 45, 45]);
        assert_eq!(
            table.render(Some(40)),
            "site\n    pages    s\n日本語.example\n        5  1.0\na-very-long-host-name.example.org\n       12  0.5\n"
        );
        table.row(vec!["x".repeat(60), "7".to_owned(), "2.0".to_owned()]);
        let piped = table.render(None);
        let widths: Vec<usize> = piped.lines().map(columns).collect();
        assert_eq!(widths, [45, 45, 45, 72], "a long cell stretches its own line only");
        assert!(table.render(Some(50)).contains(&"x".repeat(60)));
        assert_eq!(count(1234567), "1 234 567");
        assert_eq!(time(0), "1970-01-01 00:00");
        assert_eq!(time(1_709_210_096_000), "2024-02-29 12:34");
    }
}
