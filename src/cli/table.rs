//! Aligned text tables for terminals of any width.

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
        self.rows.push(cells);
    }

    /// The table as text, with lines of at most `width` columns. The widest left-aligned columns are shortened.
    pub(super) fn render(&self, width: usize) -> String {
        let mut widths: Vec<usize> = self.head.iter().map(|h| columns(h)).collect();
        for row in &self.rows {
            for (i, cell) in row.iter().enumerate() {
                widths[i] = widths[i].max(columns(cell));
            }
        }
        let total: usize = widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1);
        for _ in width.min(total)..total {
            let widest = self.left.iter().copied().max_by_key(|i| widths.get(*i).copied().unwrap_or(0));
            match widest.and_then(|i| widths.get_mut(i)) {
                Some(column) if *column > 8 => *column -= 1,
                _ => break,
            }
        }
        let head: Vec<String> = self.head.iter().map(|h| (*h).to_owned()).collect();
        std::iter::once(&head).chain(&self.rows).map(|row| self.line(row, &widths)).collect()
    }

    fn line(&self, row: &[String], widths: &[usize]) -> String {
        let mut line = String::new();
        for (i, (cell, width)) in row.iter().zip(widths).enumerate() {
            if i > 0 {
                line.push_str("  ");
            }
            let cell = shorten(cell, *width);
            let pad = " ".repeat(width.saturating_sub(columns(&cell)));
            if self.left.contains(&i) {
                line.push_str(&cell);
                line.push_str(&pad);
            } else {
                line.push_str(&pad);
                line.push_str(&cell);
            }
        }
        line.truncate(line.trim_end().len());
        line.push('\n');
        line
    }
}

/// Columns of the terminal; unlimited without a terminal.
pub(super) fn terminal_width() -> usize {
    std::env::var("COLUMNS")
        .ok()
        .and_then(|c| c.parse().ok())
        .unwrap_or_else(|| match console::Term::stdout().size_checked() {
            Some((_, columns)) => usize::from(columns),
            // A pipe: nothing is shortened, so that URLs can be used.
            None => usize::MAX,
        })
        .max(40)
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

/// The text in at most `width` columns, with an ellipsis in the middle, because both ends of a URL are informative.
fn shorten(text: &str, width: usize) -> String {
    if columns(text) <= width || width < 4 {
        return text.to_owned();
    }
    let keep = width - 1;
    let head: String = console::truncate_str(text, keep - keep / 2, "").into_owned();
    let mut tail: Vec<char> = Vec::new();
    let mut used = 0;
    for c in text.chars().rev() {
        used += columns(c.encode_utf8(&mut [0; 4]));
        if used > keep / 2 {
            break;
        }
        tail.push(c);
    }
    head + "…" + &tail.into_iter().rev().collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_long_cells_give_way() {
        let mut table = Table::new(&["site", "pages"]);
        table.row(vec!["日本語.example".to_owned(), "5".to_owned()]);
        table.row(vec!["a-very-long-host-name.example.org".to_owned(), "12".to_owned()]);
        let text = table.render(24);
        let widths: Vec<usize> = text.lines().map(columns).collect();
        assert_eq!(widths, [24, 24, 24]);
        assert!(text.contains('…'));
        assert_eq!(count(1234567), "1 234 567");
        assert_eq!(time(0), "1970-01-01 00:00");
        assert_eq!(time(1_709_210_096_000), "2024-02-29 12:34");
    }
}
