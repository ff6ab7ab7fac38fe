//! The runs of a paragraph as one line of Markdown.
//!
//! Runs carry their marks, so emphasis that overlaps, nests in itself or ends in white space on the page becomes marks
//! that Markdown can read: blanks move out, neighbors join, and emphasis that could not be read where it stands
//! (CommonMark 0.31, section 6.2, left- and right-flanking delimiters) is dropped.

use rustc_hash::FxHashMap;

use super::block::{Link, Mark, Marks, Piece, Run};
use super::escape::{TextContext, code_span, destination, escape, longest_run};
use super::formulas::inert;
use super::options::MarkdownLinks;

/// Where the runs stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Paragraph,
    Heading,
    Cell,
}

/// Joins runs, and gives each blank the marks that both its neighbors have. No blank is left at the ends of a line.
pub(super) fn tidied(runs: Vec<Run>) -> Vec<Run> {
    let mut out: Vec<Run> = Vec::with_capacity(runs.len());
    for run in runs {
        let is_at_start = out.last().is_none_or(|last| matches!(last.piece, Piece::Space | Piece::Break));
        match (&run.piece, out.last_mut()) {
            (Piece::Space, _) if is_at_start => continue,
            (Piece::Break, None) => continue,
            (Piece::Break, Some(last)) if last.piece == Piece::Space => {
                out.pop();
            }
            (Piece::Text(text), Some(Run { piece: Piece::Text(before), marks })) if *marks == run.marks => {
                before.push_str(text);
                continue;
            }
            (Piece::Code(text), Some(Run { piece: Piece::Code(before), marks })) if *marks == run.marks => {
                before.push_str(text);
                continue;
            }
            _ => {}
        }
        out.push(run);
    }
    while out.last().is_some_and(|last| matches!(last.piece, Piece::Space | Piece::Break)) {
        out.pop();
    }
    for at in 0..out.len() {
        if matches!(out[at].piece, Piece::Space | Piece::Break) {
            let before = at.checked_sub(1).map(|before| out[before].marks).unwrap_or_default();
            let after = out.get(at + 1).map(|after| after.marks).unwrap_or_default();
            out[at].marks = before.and(after);
        }
    }
    out
}

/// Whether the runs show anything.
pub(super) fn is_blank(runs: &[Run]) -> bool {
    runs.iter().all(|run| matches!(run.piece, Piece::Space | Piece::Break))
}

/// Marked texts in parts: the punctuation that each begins with, its words, and the punctuation that it ends with. A
/// mark can then be taken off a part.
fn parted(runs: Vec<Run>) -> Vec<Run> {
    let mut out = Vec::with_capacity(runs.len());
    for run in runs {
        let Piece::Text(text) = &run.piece else {
            out.push(run);
            continue;
        };
        let (start, end) = if run.marks == Marks::default() {
            (0, text.len())
        } else {
            let start = text.len() - text.trim_start_matches(is_sign).len();
            (start, text.trim_end_matches(is_sign).len().max(start))
        };
        let parts = [&text[..start], &text[start..end], &text[end..]];
        let parts = parts.into_iter().filter(|part| !part.is_empty());
        out.extend(parts.map(|part| Run { piece: Piece::Text(part.to_owned()), ..run.clone() }));
    }
    out
}

/// Clears a mark wherever Markdown would not read it.
fn clear_unreadable(runs: &mut [Run], mark: Mark) {
    let mut at = 0;
    while at < runs.len() {
        if !runs[at].marks.has(mark) {
            at += 1;
            continue;
        }
        let mut end = at + n_marked(&runs[at..], mark);
        let next = end;
        if !is_read_at_start(runs, at, end, mark) && free_start(runs, at, end, mark) {
            at += 1;
        }
        if !is_read_at_end(runs, at, end, mark) {
            end -= usize::from(free_end(runs, at, end, mark));
            // A bracket that is opened inside is closed inside.
            if OPENING.contains(&first_char(&runs[at])) && free_start(runs, at, end, mark) {
                at += 1;
            }
        }
        if !is_read_at_start(runs, at, end, mark) || !is_read_at_end(runs, at, end, mark) {
            runs[at..end].iter_mut().for_each(|run| run.marks.set(mark, false));
        }
        at = next;
    }
}

/// Brackets and quotation marks that open.
const OPENING: [char; 12] = ['(', '[', '{', '<', '“', '‘', '«', '「', '『', '（', '《', '【'];

/// Takes the mark off the punctuation that a text begins with: `**(a)**b` is not read, `(**a**)b` is.
fn free_start(runs: &mut [Run], at: usize, end: usize, mark: Mark) -> bool {
    let is_free = at + 1 < end && is_signs(&runs[at]) && is_same_text(&runs[at + 1], &runs[at]);
    if is_free {
        runs[at].marks.set(mark, false);
    }
    is_free
}

/// The same for the punctuation that a text ends with.
fn free_end(runs: &mut [Run], at: usize, end: usize, mark: Mark) -> bool {
    let is_free = at + 1 < end && is_signs(&runs[end - 1]) && is_same_text(&runs[end - 2], &runs[end - 1]);
    if is_free {
        runs[end - 1].marks.set(mark, false);
    }
    is_free
}

/// Whether a run is punctuation only.
fn is_signs(run: &Run) -> bool {
    matches!(&run.piece, Piece::Text(text) if text.chars().all(is_sign))
}

/// Whether a run holds the words of the text that `signs` is a part of.
fn is_same_text(run: &Run, signs: &Run) -> bool {
    matches!(run.piece, Piece::Text(_)) && run.marks == signs.marks && !is_signs(run)
}

/// Takes a mark off the runs from the first on that have it.
fn clear(runs: &mut [Run], mark: Mark) {
    let n = n_marked(runs, mark);
    runs[..n].iter_mut().for_each(|run| run.marks.set(mark, false));
}

/// Number of runs from the first on that have a mark.
fn n_marked(runs: &[Run], mark: Mark) -> usize {
    runs.iter().position(|run| !run.marks.has(mark)).unwrap_or(runs.len())
}

/// Whether the delimiter before run `start` opens. It stands before a link that the mark covers, else in the link.
fn is_read_at_start(runs: &[Run], start: usize, end: usize, mark: Mark) -> bool {
    let Some(before) = start.checked_sub(1).map(|before| &runs[before]) else { return true };
    let first = &runs[start];
    let next = if before.marks.link == first.marks.link {
        if has_other(first, before, mark) { '~' } else { first_char(first) }
    } else if first.marks.link == 0 || start + n_marked(&runs[start..], Mark::Link(first.marks.link)) > end {
        return true;
    } else {
        '['
    };
    !is_punctuation(next) || !is_letter(last_char(before))
}

/// Whether a run has a mark with other delimiters than this one that its neighbor has not: they may stand between the
/// delimiter and the text.
fn has_other(run: &Run, neighbor: &Run, mark: Mark) -> bool {
    let is_star = |mark: Mark| matches!(mark, Mark::Strong | Mark::Emphasis);
    let mut others = run.marks.all().filter(|other| *other != mark && !(is_star(*other) && is_star(mark)));
    others.any(|other| !neighbor.marks.has(other))
}

/// The same for the delimiter after the last run before `end`.
fn is_read_at_end(runs: &[Run], start: usize, end: usize, mark: Mark) -> bool {
    let (last, Some(after)) = (&runs[end - 1], runs.get(end)) else { return true };
    let previous = if after.marks.link == last.marks.link {
        let plain = Run { piece: Piece::Space, marks: Marks::default() };
        let before = start.checked_sub(1).map_or(&plain, |before| &runs[before]);
        let begins_inside = has_other(last, before, mark);
        if has_other(last, after, mark) || begins_inside { '~' } else { last_char(last) }
    } else if last.marks.link == 0 || (start > 0 && runs[start - 1].marks.link == last.marks.link) {
        return true;
    } else {
        ')'
    };
    !is_punctuation(previous) || !is_letter(first_char(after))
}

fn is_sign(c: char) -> bool {
    is_punctuation(c) || c.is_whitespace()
}

fn is_letter(c: char) -> bool {
    !c.is_whitespace() && !is_punctuation(c)
}

/// Unicode punctuation and symbols, nearly: what is neither a letter, a mark, a digit nor white space.
fn is_punctuation(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_punctuation() } else { !c.is_alphanumeric() && !c.is_whitespace() && !is_combining(c) }
}

/// Marks that belong to the letter before them. Only the large blocks; others count as punctuation, which is safe: an
/// emphasis is dropped.
fn is_combining(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}')
}

fn first_char(run: &Run) -> char {
    match &run.piece {
        Piece::Text(text) => text.chars().next().unwrap_or(' '),
        Piece::Space | Piece::Break => ' ',
        _ => '`',
    }
}

fn last_char(run: &Run) -> char {
    match &run.piece {
        Piece::Text(text) => text.chars().next_back().unwrap_or(' '),
        Piece::Space | Piece::Break => ' ',
        _ => '`',
    }
}

/// Writes runs.
pub(super) struct Inline<'d> {
    pub(super) links: &'d [Link],
    pub(super) style: MarkdownLinks,
    /// Whether a cell is written.
    pub(super) in_cell: bool,
    /// Links that are written by reference, in the order of their numbers.
    pub(super) references: Vec<String>,
    /// Places of the references, by address.
    pub(super) known: FxHashMap<String, usize>,
}

impl Inline<'_> {
    /// One paragraph, heading or cell. Lines are separated by line breaks.
    pub(super) fn write(&mut self, runs: &[Run], kind: Kind) -> String {
        let mut runs = tidied(runs.to_vec());
        for run in &mut runs {
            // A heading is strong by itself, and ends with its line.
            if kind == Kind::Heading {
                run.marks.strong = false;
                if run.piece == Piece::Break {
                    run.piece = Piece::Space;
                }
            }
            if self.style == MarkdownLinks::Drop {
                run.marks.link = 0;
            }
        }
        runs = parted(runs);
        [Mark::Deleted, Mark::Strong, Mark::Emphasis].into_iter().for_each(|mark| clear_unreadable(&mut runs, mark));
        let mut runs = tidied(runs);
        let place = self.place(&runs, kind);
        self.in_cell = place.in_cell;
        let mut out = String::new();
        let mut open = Vec::new();
        for at in 0..runs.len() {
            // What ends at the next word ends before the blank.
            let is_gap = |run: &Run| matches!(run.piece, Piece::Space | Piece::Break);
            let word = if is_gap(&runs[at]) { at + 1 } else { at };
            let marks = runs.get(word).map(|run| run.marks).unwrap_or_default();
            let closed = self.close(&mut open, marks, &mut out);
            if !is_gap(&runs[at]) {
                // A mark that would end and begin again inside a word is not read: it ends.
                if at > 0 && !is_gap(&runs[at - 1]) {
                    closed.into_iter().for_each(|mark| clear(&mut runs[at..], mark));
                }
                self.open(&mut open, &runs[at..], &mut out);
            }
            self.piece(&runs, at, place, &mut out);
        }
        self.close(&mut open, Marks::default(), &mut out);
        out
    }

    fn place(&self, runs: &[Run], kind: Kind) -> TextContext {
        let texts: String =
            runs.iter().filter_map(|run| if let Piece::Text(t) = &run.piece { Some(&**t) } else { None }).collect();
        let n = |c: char| texts.matches(c).count();
        let has_link = self.style == MarkdownLinks::Reference;
        TextContext {
            in_link: false,
            before_link: false,
            in_cell: kind == Kind::Cell,
            has_backticks: n('`') > 1 || (n('`') > 0 && runs.iter().any(|run| matches!(run.piece, Piece::Code(_)))),
            has_tildes: n('~') > 1 || (n('~') > 0 && runs.iter().any(|run| run.marks.deleted)),
            has_dollars: runs.iter().any(|run| matches!(&run.piece, Piece::Code(code) if code.contains('$'))),
            in_heading: kind == Kind::Heading,
            has_brackets: has_link || texts.contains("](") || texts.contains("][") || texts.contains("]:"),
        }
    }

    fn piece(&self, runs: &[Run], at: usize, place: TextContext, out: &mut String) {
        let run = &runs[at];
        match &run.piece {
            Piece::Text(text) => {
                // What stands at a border of marks is a delimiter.
                let beside = |other: Option<&Run>, edge: fn(&Run) -> char| match other {
                    Some(other) if other.marks == run.marks => Some(edge(other)),
                    // A line break of a cell is markup.
                    Some(Run { piece: Piece::Break, .. }) if place.in_cell => Some('<'),
                    Some(other) if matches!(other.piece, Piece::Space | Piece::Break) => Some(' '),
                    None if run.marks == Marks::default() => None,
                    _ => Some('['),
                };
                let before = beside(at.checked_sub(1).map(|before| &runs[before]), last_char);
                let after = beside(runs.get(at + 1), first_char);
                let before_link = runs.get(at + 1).is_some_and(|next| {
                    // Of the same marks, its first character is what follows.
                    next.marks == run.marks
                        || ![0, run.marks.link].contains(&next.marks.link)
                        || matches!(next.piece, Piece::FootnoteRef(_))
                });
                let place = TextContext { in_link: run.marks.link != 0, before_link, ..place };
                escape(text, before, after, place, out);
            }
            Piece::Space => out.push(' '),
            // Right behind other code it would be read as one with it.
            Piece::Code(text) if out.ends_with('`') => {
                escape(text, Some('`'), None, TextContext { in_link: true, has_backticks: true, ..place }, out)
            }
            Piece::Code(text) => out.push_str(&code_span(text, place.in_cell)),
            Piece::Image { src, alt } => {
                out.push_str("![");
                let in_image = TextContext { in_link: true, has_backticks: true, ..place };
                escape(alt, None, None, in_image, out);
                out.push_str("](");
                out.push_str(&destination(src, place.in_cell));
                out.push(')');
            }
            Piece::Formula(tex) => {
                let tex = inert(tex);
                let fence = "$".repeat(longest_run(&tex, '$').map_or(1, |longest| longest + 1));
                out.push_str(&format!("{fence}{}{fence}", in_cell(tex, place)));
            }
            Piece::FootnoteRef(number) => out.push_str(&format!("[^{number}]")),
            Piece::Break if place.in_cell => out.push_str("<br>"),
            Piece::Break => out.push_str("  \n"),
        }
    }

    /// Closes what does not go on, and what was opened after it.
    ///
    /// Returns what was closed and goes on, links left out.
    fn close(&mut self, open: &mut Vec<Mark>, to: Marks, out: &mut String) -> Vec<Mark> {
        let first = open.iter().position(|mark| !to.has(*mark)).unwrap_or(open.len());
        let closed: Vec<Mark> = open.drain(first..).rev().collect();
        closed.iter().for_each(|mark| self.end(*mark, out));
        closed.into_iter().filter(|mark| to.has(*mark) && !matches!(mark, Mark::Link(_))).collect()
    }

    /// Opens the marks of the first run that are not open, the longest first. A link is not split: what ends inside it
    /// is opened inside it.
    fn open(&mut self, open: &mut Vec<Mark>, runs: &[Run], out: &mut String) {
        let marks = runs[0].marks;
        let link = Mark::Link(marks.link);
        if marks.has(link) && !open.contains(&link) {
            let length = n_marked(runs, link);
            // Not the whole of what a long mark covers: there may be as many links in it.
            let linked = &runs[..length];
            let first = open.iter().position(|mark| n_marked(linked, *mark) < length).unwrap_or(open.len());
            for mark in open.drain(first..).rev().collect::<Vec<_>>() {
                self.end(mark, out);
            }
        }
        let mut new: Vec<Mark> = marks.all().filter(|mark| !open.contains(mark)).collect();
        new.sort_by_key(|mark| std::cmp::Reverse(n_marked(runs, *mark)));
        for mark in new {
            out.push_str(mark.start());
            open.push(mark);
        }
    }

    fn end(&mut self, mark: Mark, out: &mut String) {
        match mark {
            Mark::Link(number) => {
                let end = self.link_end(number);
                out.push_str(&end);
            }
            Mark::Superscript => out.push_str("</sup>"),
            Mark::Subscript => out.push_str("</sub>"),
            mark => out.push_str(mark.start()),
        }
    }

    fn link_end(&mut self, number: u32) -> String {
        let href = self.links.get(number as usize - 1).map_or("", |link| &*link.href);
        match self.style {
            MarkdownLinks::Reference => {
                let Inline { references, known, .. } = self;
                let at = *known.entry(href.to_owned()).or_insert_with(|| {
                    references.push(href.to_owned());
                    references.len() - 1
                });
                format!("][{}]", at + 1)
            }
            _ => format!("]({})", destination(href, self.in_cell)),
        }
    }
}

fn in_cell(text: String, place: TextContext) -> String {
    if place.in_cell { text.replace('|', "\\|") } else { text }
}
