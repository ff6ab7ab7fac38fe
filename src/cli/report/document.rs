//! A report as text, Markdown or HTML: headings, lines and tables.

use crate::cli::table::Table;
use crate::cli::terminal::plain;
use crate::plot::{Bars, svg};
use crate::safe_html::escaped;

const STYLE: &str = "body{max-width:60rem;margin:1rem auto;padding:0 1rem;font:1rem/1.5 system-ui,sans-serif}\
table{border-collapse:collapse;margin:.5rem 0}td,th{border-bottom:1px solid #ccc;padding:.2rem .6rem .2rem 0;\
text-align:left;vertical-align:top;overflow-wrap:anywhere}td:first-child{min-width:14rem}td.n,th.n{text-align:right}\
th{white-space:nowrap}";

/// One part of a report.
enum Part {
    Heading(String),
    Line(String),
    Rows { head: &'static [&'static str], numbers: &'static [usize], rows: Vec<Vec<String>> },
    Plot { plot: Bars, lines: String },
}

/// A report that is not written yet. Texts come from servers: each form escapes what it would read as markup.
pub(in crate::cli) struct Document {
    title: String,
    parts: Vec<Part>,
}

impl Document {
    pub(super) fn new(title: String) -> Document {
        Document { title, parts: Vec::new() }
    }

    pub(super) fn heading(&mut self, text: impl Into<String>) {
        self.parts.push(Part::Heading(text.into()));
    }

    pub(super) fn line(&mut self, text: impl Into<String>) {
        self.parts.push(Part::Line(text.into()));
    }

    /// A table. The columns of `numbers` are right-aligned.
    pub(super) fn table(&mut self, head: &'static [&'static str], numbers: &'static [usize], rows: Vec<Vec<String>>) {
        self.parts.push(Part::Rows { head, numbers, rows });
    }

    /// A plot, and what stands for it where there are no pictures.
    pub(super) fn plot(&mut self, plot: Bars, lines: String) {
        self.parts.push(Part::Plot { plot, lines });
    }

    pub(in crate::cli) fn text(&self, width: Option<usize>) -> String {
        let mut out = format!("{}\n", plain(&self.title));
        for part in &self.parts {
            match part {
                Part::Heading(text) => out += &format!("\n{}\n", plain(text)),
                Part::Line(text) => out += &format!("{}\n", plain(text)),
                Part::Plot { lines, .. } => out += lines,
                Part::Rows { head, numbers, rows } => {
                    let left = (1..head.len()).filter(|column| !numbers.contains(column));
                    let mut table = left.fold(Table::new(head), Table::left);
                    rows.iter().for_each(|row| table.row(row.clone()));
                    out += &table.render(width);
                }
            }
        }
        out
    }

    pub(super) fn markdown(&self) -> String {
        let cell = |text: &String| plain(text).replace('|', "\\|").replace(['\n', '\r'], " ").replace('<', "\\<");
        let row = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let mut out = format!("# {}\n", cell(&self.title));
        for part in &self.parts {
            match part {
                Part::Heading(text) => out += &format!("\n## {}\n\n", cell(text)),
                Part::Line(text) => out += &format!("{}\n\n", cell(text)),
                Part::Plot { lines, .. } => out += &format!("```text\n{lines}```\n\n"),
                Part::Rows { head, numbers, rows } => {
                    let rule = |column| if numbers.contains(&column) { "---:" } else { "---" }.to_owned();
                    out += &row(head.iter().map(|head| (*head).to_owned()).collect());
                    out += &row((0..head.len()).map(rule).collect());
                    rows.iter().for_each(|cells| out += &row(cells.iter().map(cell).collect()));
                    out.push('\n');
                }
            }
        }
        out
    }

    /// HTML that loads nothing and runs nothing, fit for mail.
    pub(in crate::cli) fn html(&self) -> String {
        let title = escaped(&self.title);
        let mut out = format!(
            "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
             <title>{title}</title><style>{STYLE}</style></head>\n<body><h1>{title}</h1>\n"
        );
        for part in &self.parts {
            match part {
                Part::Heading(text) => out += &format!("<h2>{}</h2>\n", escaped(text)),
                Part::Line(text) => out += &format!("<p>{}</p>\n", escaped(text)),
                Part::Plot { plot, .. } => out += &svg(std::slice::from_ref(plot)),
                Part::Rows { head, numbers, rows } => {
                    let row = |cells: &[String], name: &str| {
                        let cell = |(column, text): (usize, &String)| {
                            let class = if numbers.contains(&column) { " class=\"n\"" } else { "" };
                            format!("<{name}{class}>{}</{name}>", escaped(text))
                        };
                        format!("<tr>{}</tr>\n", cells.iter().enumerate().map(cell).collect::<String>())
                    };
                    let head: Vec<String> = head.iter().map(|head| (*head).to_owned()).collect();
                    let rows: String = rows.iter().map(|cells| row(cells, "td")).collect();
                    out += &format!("<table>\n{}{rows}</table>\n", row(&head, "th"));
                }
            }
        }
        out + "</body></html>\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_servers_are_no_markup() {
        let mut document = Document::new("run 1".to_owned());
        document.heading("Changed pages");
        document.table(&["page", "n"], &[1], vec![vec!["http://a.org/<b>|\x1b[31m".to_owned(), "2".to_owned()]]);
        assert!(document.html().contains("&lt;b&gt;|") && document.html().contains("<th class=\"n\">n</th>"));
        assert!(
            document.markdown().contains("| http://a.org/\\<b>\\|") && document.markdown().contains("| --- | ---: |")
        );
        assert!(!document.text(None).contains('\x1b'));
    }
}
