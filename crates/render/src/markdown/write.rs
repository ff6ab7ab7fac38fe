//! Blocks as lines of Markdown.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use super::block::{Align, Block, Document, Item, List, Row, Run, Term};
use super::escape::{destination, escape_start, longest_run};
use super::formulas::inert;
use super::inline::{Inline, Kind, is_blank};
use super::options::MarkdownLinks;

/// Empty cells that rows of all tables of a page are filled up with. A page can have one long row and many short ones.
const MOST_PADDING: usize = 50_000;

/// Depth of lists and quotes below which nothing is indented further. A line of a hostile page is then bounded.
const DEEPEST: usize = 16;

/// Number of cells up to the last that shows something.
fn n_shown(row: &Row) -> usize {
    row.cells.iter().rposition(|cell| !is_blank(cell)).map_or(0, |at| at + 1)
}

/// Writes a document.
pub(super) fn write(document: &Document, style: MarkdownLinks) -> String {
    let inline =
        Inline { links: &document.links, style, in_cell: false, references: Vec::new(), known: FxHashMap::default() };
    let (out, prefix) = (String::new(), Vec::new());
    let mut writer = Writer { inline, out, prefix, is_fresh: true, depth: 0, padding: MOST_PADDING };
    writer.blocks(&document.blocks, true);
    let references = std::mem::take(&mut writer.inline.references);
    for (at, href) in references.iter().enumerate() {
        if at == 0 {
            writer.empty_line();
        }
        writer.line(&format!("[{}]: {}", at + 1, destination(href, false)));
    }
    writer.out
}

struct Writer<'d> {
    inline: Inline<'d>,
    out: String,
    /// What each line begins with, from the outermost block on.
    prefix: Vec<String>,
    /// Whether the line has its prefix already: it follows the marker of an item.
    is_fresh: bool,
    depth: usize,
    /// Empty cells that may still be written to fill rows up.
    padding: usize,
}

impl Writer<'_> {
    /// One line, with what the blocks around it put before it.
    fn line(&mut self, line: &str) {
        if !self.is_fresh || self.out.is_empty() || self.out.ends_with('\n') {
            let prefix: String = self.prefix.concat();
            self.out.push_str(if line.is_empty() { prefix.trim_end() } else { &prefix });
        }
        self.is_fresh = false;
        self.out.push_str(line);
        self.out.push('\n');
    }

    fn empty_line(&mut self) {
        if !self.out.is_empty() {
            self.is_fresh = false;
            self.line("");
        }
    }

    fn blocks(&mut self, blocks: &[Block], is_loose: bool) {
        let mut bullet = '-';
        for (at, block) in blocks.iter().enumerate() {
            let before = at.checked_sub(1).map(|before| &blocks[before]);
            if before.is_some() && (is_loose || !matches!(block, Block::List(_))) {
                self.empty_line();
            }
            // Two lists in a row stay two lists.
            bullet = match (before, block) {
                (Some(Block::List(one)), Block::List(two)) if one.is_numbered == two.is_numbered && bullet == '-' => {
                    '*'
                }
                _ => '-',
            };
            self.block(block, bullet);
        }
    }

    fn block(&mut self, block: &Block, bullet: char) {
        match block {
            Block::Heading(level, runs) => {
                let text = self.inline.write(runs, Kind::Heading);
                // A sequence of # at the end would be read as its close.
                let text = if text.ends_with('#') { format!("{}\\#", &text[..text.len() - 1]) } else { text };
                self.line(&format!("{} {text}", "#".repeat(usize::from(*level))));
            }
            Block::Paragraph(runs) => self.paragraph(runs),
            Block::Code { language, text } => self.code(language, text),
            Block::Formula(tex) => {
                self.line("$$");
                tex.lines().map(|line| inert(line.trim())).filter(|line| !line.is_empty()).for_each(|line| {
                    // An empty group of TeX, where the line would begin a block.
                    let is_read = matches!(escape_start(&line), Cow::Owned(_));
                    self.line(&format!("{}{line}", if is_read { "{}" } else { "" }));
                });
                self.line("$$");
            }
            Block::Quote(blocks) => self.within("> ", |writer| writer.blocks(blocks, true)),
            Block::List(list) => self.list(list, bullet),
            Block::Table(rows, aligns) => self.table(rows, aligns),
            Block::Terms(terms) => self.terms(terms),
            Block::Footnote(number, blocks) => {
                // Code right behind the mark would be text for a reader without footnotes.
                let is_text = matches!(blocks.first(), None | Some(Block::Paragraph(_)));
                let first = if is_text { format!("[^{number}]: ") } else { "    ".to_owned() };
                if !is_text {
                    self.line(&format!("[^{number}]:"));
                    self.empty_line();
                }
                self.marked(&first, "    ", |writer| writer.blocks(blocks, true));
            }
            // Not --- : below a list marker or a text it would be something else.
            Block::Rule => self.line(if self.prefix.is_empty() { "---" } else { "___" }),
        }
    }

    fn paragraph(&mut self, runs: &[Run]) {
        let text = self.inline.write(runs, Kind::Paragraph);
        for line in text.split('\n') {
            self.line(&escape_start(line.trim_start()));
        }
    }

    fn code(&mut self, language: &str, text: &str) {
        let fence = "`".repeat(longest_run(text, '`').map_or(3, |longest| (longest + 1).max(3)));
        self.line(&format!("{fence}{language}"));
        text.split('\n').for_each(|line| self.line(line.trim_end_matches('\r')));
        self.line(&fence);
    }

    /// Writes what is inside, each line with `prefix` before it.
    fn within(&mut self, prefix: &str, inside: impl FnOnce(&mut Self)) {
        self.marked(prefix, prefix, inside);
    }

    /// The same with another prefix on the first line.
    fn marked(&mut self, first: &str, others: &str, inside: impl FnOnce(&mut Self)) {
        self.depth += 1;
        let is_deep = self.depth > DEEPEST;
        if is_deep {
            inside(self);
        } else {
            if !self.is_fresh || self.out.is_empty() || self.out.ends_with('\n') {
                let prefix: String = self.prefix.concat();
                self.out.push_str(&prefix);
            }
            self.out.push_str(first);
            self.is_fresh = true;
            self.prefix.push(others.to_owned());
            let length = self.out.len();
            inside(self);
            self.prefix.pop();
            if self.out.len() == length {
                self.out.truncate(self.out.trim_end().len());
                self.out.push('\n');
            }
            self.is_fresh = false;
        }
        self.depth -= 1;
    }

    fn list(&mut self, list: &List, bullet: char) {
        for (at, item) in list.items.iter().enumerate() {
            if at > 0 && list.is_loose {
                self.empty_line();
            }
            let end = if bullet == '-' { '.' } else { ')' };
            let marker =
                if list.is_numbered { format!("{}{end} ", item.number.min(999_999_999)) } else { format!("{bullet} ") };
            let indent = " ".repeat(marker.len());
            self.marked(&marker, &indent, |writer| writer.item(item, list.is_loose));
        }
    }

    fn item(&mut self, item: &Item, is_loose: bool) {
        // Any other block would be read as the text of the item.
        let is_text = matches!(item.blocks.first(), None | Some(Block::Paragraph(_)));
        let Some(checked) = item.checked.filter(|_| is_text) else { return self.blocks(&item.blocks, is_loose) };
        self.out.push_str(if checked { "[x] " } else { "[ ] " });
        self.blocks(&item.blocks, is_loose);
    }

    fn table(&mut self, rows: &[Row], aligns: &[Align]) {
        let n_columns = rows.iter().map(n_shown).max().unwrap_or(0).max(1);
        let head = rows.first().filter(|row| row.is_head);
        let empty = Row::default();
        self.row(head.unwrap_or(&empty), n_columns);
        let rule = |column: usize| match aligns.get(column).copied().unwrap_or_default() {
            Align::Any => " --- |",
            Align::Left => " :--- |",
            Align::Center => " :---: |",
            Align::Right => " ---: |",
        };
        self.line(&format!("|{}", (0..n_columns).map(rule).collect::<String>()));
        for row in rows.iter().skip(usize::from(head.is_some())) {
            // Readers fill short rows up (GFM, section 4.10).
            let shown = n_shown(row).max(1);
            let left = self.padding.checked_sub(n_columns - shown.min(n_columns));
            self.row(row, left.map_or(shown, |_| n_columns));
            self.padding = left.unwrap_or(0);
        }
    }

    /// A row with so many cells.
    fn row(&mut self, row: &Row, n_columns: usize) {
        let mut line = String::from("|");
        for column in 0..n_columns {
            let cell = row.cells.get(column).filter(|cell| !is_blank(cell));
            let text = cell.map(|cell| self.inline.write(cell, Kind::Cell)).unwrap_or_default();
            line.push_str(&format!(" {text}{}|", if text.is_empty() { "" } else { " " }));
        }
        self.line(&line);
    }

    fn terms(&mut self, terms: &[Term]) {
        for (at, term) in terms.iter().enumerate() {
            let before = at.checked_sub(1).map(|before| &terms[before]);
            match term {
                Term::Name(runs) => {
                    if before.is_some() {
                        self.empty_line();
                    }
                    self.paragraph(runs);
                }
                Term::Definition(blocks) => {
                    if before.is_some() {
                        self.empty_line();
                    }
                    self.marked(":   ", "    ", |writer| writer.blocks(blocks, true));
                }
            }
        }
    }
}
