//! The structure of a page as Markdown knows it: blocks of runs.

/// A block.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Block {
    /// A heading of level 1 to 6.
    Heading(u8, Vec<Run>),
    Paragraph(Vec<Run>),
    Code {
        language: String,
        text: String,
    },
    /// A displayed formula, as TeX.
    Formula(String),
    Quote(Vec<Block>),
    List(List),
    /// Rows, and how each column is aligned.
    Table(Vec<Row>, Vec<Align>),
    /// Names with what defines each of them, in one paragraph.
    Terms(Vec<Term>),
    /// The text of a footnote.
    Footnote(u32, Vec<Block>),
    Rule,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct List {
    /// Whether its items have numbers.
    pub(super) is_numbered: bool,
    pub(super) items: Vec<Item>,
    /// Whether an item has paragraphs of its own.
    pub(super) is_loose: bool,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Item {
    /// Its number in a list with numbers.
    pub(super) number: u64,
    /// Whether the box of a task is checked; `None` without a box.
    pub(super) checked: Option<bool>,
    pub(super) blocks: Vec<Block>,
}

/// How a column is aligned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Align {
    /// As the reader likes.
    #[default]
    Any,
    Left,
    Center,
    Right,
}

/// One row of a table: the runs of each cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Row {
    pub(super) cells: Vec<Vec<Run>>,
    pub(super) is_head: bool,
}

/// One part of a definition list.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Term {
    Name(Vec<Run>),
    Definition(Vec<Block>),
}

/// A piece of a line, with the marks on it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Run {
    pub(super) piece: Piece,
    pub(super) marks: Marks,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Piece {
    /// Text without white space at its ends.
    Text(String),
    /// A blank between two words.
    Space,
    Code(String),
    Image {
        src: String,
        alt: String,
    },
    /// A formula, as TeX.
    Formula(String),
    /// Number of a footnote.
    FootnoteRef(u32),
    /// The end of a line inside a paragraph.
    Break,
}

/// The marks on a run. Marks of one kind do not nest, so that runs with equal marks can be joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Marks {
    /// Number of the link, from 1; 0 = none.
    pub(super) link: u32,
    pub(super) deleted: bool,
    pub(super) strong: bool,
    pub(super) emphasis: bool,
    pub(super) superscript: bool,
    pub(super) subscript: bool,
}

/// One mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Link(u32),
    Deleted,
    Strong,
    Emphasis,
    Superscript,
    Subscript,
}

impl Mark {
    /// What it begins with.
    pub(super) fn start(self) -> &'static str {
        match self {
            Mark::Link(_) => "[",
            Mark::Deleted => "~~",
            Mark::Strong => "**",
            Mark::Emphasis => "*",
            Mark::Superscript => "<sup>",
            Mark::Subscript => "<sub>",
        }
    }
}

impl Marks {
    pub(super) fn has(self, mark: Mark) -> bool {
        match mark {
            Mark::Link(number) => number != 0 && self.link == number,
            Mark::Deleted => self.deleted,
            Mark::Strong => self.strong,
            Mark::Emphasis => self.emphasis,
            Mark::Superscript => self.superscript,
            Mark::Subscript => self.subscript,
        }
    }

    pub(super) fn set(&mut self, mark: Mark, is: bool) {
        match mark {
            Mark::Link(number) => self.link = if is { number } else { 0 },
            Mark::Deleted => self.deleted = is,
            Mark::Strong => self.strong = is,
            Mark::Emphasis => self.emphasis = is,
            Mark::Superscript => self.superscript = is,
            Mark::Subscript => self.subscript = is,
        }
    }

    /// Its marks, a link first.
    pub(super) fn all(self) -> impl Iterator<Item = Mark> {
        use Mark::{Deleted, Emphasis, Link, Strong, Subscript, Superscript};
        let marks = [Link(self.link), Deleted, Strong, Emphasis, Superscript, Subscript];
        marks.into_iter().filter(move |mark| self.has(*mark))
    }

    /// The marks that both have.
    pub(super) fn and(self, other: Marks) -> Marks {
        Marks {
            link: if self.link == other.link { self.link } else { 0 },
            deleted: self.deleted && other.deleted,
            strong: self.strong && other.strong,
            emphasis: self.emphasis && other.emphasis,
            superscript: self.superscript && other.superscript,
            subscript: self.subscript && other.subscript,
        }
    }
}

/// Where a link leads.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Link {
    pub(super) href: String,
}

/// A page in blocks, with what its runs refer to.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Document {
    pub(super) blocks: Vec<Block>,
    /// The link with number `n` is at `n - 1`.
    pub(super) links: Vec<Link>,
}
