//! Tables: which hold data, which only lay a page out, and which number the lines of code.

use std::cell::LazyCell;

use dehusk_html::{NodeId, Tree, ancestors, children};

/// Cells that the spans of all tables of a page may add.
pub(super) const MOST_SPANNED: usize = 50_000;

/// Characters of one cell above which a table without heads lays a page out.
const LONG_CELL: usize = 1500;

/// The same for a cell that has this share of the characters of its table: a post beside its author.
const LONG_MAIN_CELL: usize = 150;
const MAIN_SHARE: f64 = 0.7;

/// What a table is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Table {
    /// Rows of cells; `None` where a cell of another column or row reaches in.
    Data(Vec<(bool, Vec<Option<NodeId>>)>),
    /// It only places its content.
    Layout,
    /// It numbers the lines of the code in this cell.
    Code(NodeId),
    /// Each row is a line of code, in its last cell.
    CodeLines(Vec<NodeId>),
}

/// What this table is.
///
/// `spanned` is what is left of the cells that spans may add.
pub(super) fn read_table(tree: &Tree, table: NodeId, shows: impl Fn(NodeId) -> bool, spanned: &mut usize) -> Table {
    let mut rows: Vec<(NodeId, Vec<NodeId>)> = rows(tree, table).filter(|(row, _)| shows(*row)).collect();
    // A foot is shown at the end, wherever it is written.
    rows.sort_by_key(|(row, _)| ancestors(tree, *row).next().is_some_and(|above| tree.name(above) == "tfoot"));
    if let Some(code) = numbered_code(tree, &rows) {
        return code;
    }
    let n_columns = rows.iter().map(|(_, cells)| cells.len()).max().unwrap_or(0);
    let n_rows = rows.len();
    let has_head = rows.iter().any(|(_, cells)| cells.iter().any(|cell| tree.name(*cell) == "th"));
    // A head says that it holds data, whatever its role is for screen readers.
    let is_unmarked = !has_head && matches!(tree.attr(table, "role"), Some("presentation" | "none"));
    let is_small = n_columns < 2 || (n_rows < 2 && !has_head);
    if is_unmarked || is_small || holds_blocks(tree, table, has_head) {
        return Table::Layout;
    }
    Table::Data(grid(tree, rows, spanned))
}

/// The rows of this table and not of those in it, with their cells.
fn rows(tree: &Tree, table: NodeId) -> impl Iterator<Item = (NodeId, Vec<NodeId>)> {
    let nodes = tree.shape.subtree(table).map(NodeId::new).filter(|node| tree.name(*node) == "tr");
    let own = nodes.filter(move |row| ancestors(tree, *row).find(|node| tree.name(*node) == "table") == Some(table));
    own.map(|row| (row, children(tree, row).filter(|cell| matches!(tree.name(*cell), "td" | "th")).collect()))
}

/// Whether the table holds what no cell of a table of data holds.
fn holds_blocks(tree: &Tree, table: NodeId, has_head: bool) -> bool {
    let mut nodes = tree.shape.subtree(table).skip(1).map(NodeId::new);
    // A table with a head says that it holds data, whatever its cells hold.
    let is_marked = children(tree, table).any(|child| tree.name(child) == "thead");
    let is_block = |name: &str| match name {
        "table" => true,
        "pre" | "blockquote" | "h1" | "h2" | "h3" | "hr" | "article" | "section" => !is_marked,
        _ => false,
    };
    let length =
        |element: NodeId| tree.shape.subtree(element).map(|at| tree.text(NodeId::new(at)).len()).sum::<usize>();
    let n_all = LazyCell::new(|| length(table));
    let is_long = |cell: NodeId| {
        let n = length(cell);
        n > LONG_CELL || (n > LONG_MAIN_CELL && n as f64 > MAIN_SHARE * *n_all as f64)
    };
    nodes.any(|node| is_block(tree.name(node)) || (!has_head && tree.name(node) == "td" && is_long(node)))
}

fn text(tree: &Tree, node: NodeId) -> String {
    tree.shape.subtree(node).map(|at| tree.text(NodeId::new(at))).collect()
}

fn holds(tree: &Tree, node: NodeId, names: &[&str]) -> bool {
    tree.shape.subtree(node).any(|at| names.contains(&tree.name(NodeId::new(at))))
}

/// Code whose lines a table numbers: all in one row, or each in its own.
fn numbered_code(tree: &Tree, rows: &[(NodeId, Vec<NodeId>)]) -> Option<Table> {
    if let [(_, cells)] = rows {
        let [numbers, code] = cells[..] else { return None };
        let text = text(tree, numbers);
        let is_numbers = !text.trim().is_empty() && text.split_whitespace().all(|word| word.parse::<u32>().is_ok());
        return (is_numbers && is_code(tree, code)).then_some(Table::Code(code));
    }
    let line = |(_, cells): &(NodeId, Vec<NodeId>)| {
        let (first, last) = (*cells.first()?, *cells.last().filter(|_| cells.len() > 1)?);
        let number = text(tree, first).trim().to_owned();
        let number = if number.is_empty() { tree.attr(first, "data-line-number")?.to_owned() } else { number };
        let number: u32 = number.parse().ok()?;
        is_code(tree, last).then_some((number, last))
    };
    let lines: Vec<(u32, NodeId)> = rows.iter().map(line).collect::<Option<_>>()?;
    let is_row = lines.len() > 1 && lines.windows(2).all(|pair| pair[0].0.checked_add(1) == Some(pair[1].0));
    is_row.then(|| Table::CodeLines(lines.into_iter().map(|(_, cell)| cell).collect()))
}

/// Whether a cell holds code: by its elements, or by its name.
fn is_code(tree: &Tree, cell: NodeId) -> bool {
    holds(tree, cell, &["pre", "code"])
        || tree.attr(cell, "class").is_some_and(|class| class.split(['-', '_', ' ']).any(|word| word == "code"))
}

/// The cells by row and column, spans written out.
fn grid(tree: &Tree, rows: Vec<(NodeId, Vec<NodeId>)>, spanned: &mut usize) -> Vec<(bool, Vec<Option<NodeId>>)> {
    let span = |cell: NodeId, name: &str| {
        tree.attr(cell, name).and_then(|span| span.trim().parse::<usize>().ok()).unwrap_or(1).clamp(1, 1000)
    };
    let all = rows.iter().flat_map(|(_, cells)| cells);
    let n_cells: usize = all.map(|cell| span(*cell, "colspan") * span(*cell, "rowspan").min(rows.len())).sum();
    let added = n_cells.saturating_sub(rows.iter().map(|(_, cells)| cells.len()).sum());
    let spans = added <= *spanned;
    *spanned -= if spans { added } else { 0 };
    // Rows that a cell above still reaches into, by column.
    let mut reaches: Vec<usize> = Vec::new();
    let mut out = Vec::with_capacity(rows.len());
    for (row, cells) in rows {
        let is_head = tree.name(NodeId::new(tree.shape.parent[row.index()] as usize)) == "thead"
            || (!cells.is_empty() && cells.iter().all(|cell| tree.name(*cell) == "th"));
        let mut line: Vec<Option<NodeId>> = Vec::new();
        let skip = |line: &mut Vec<Option<NodeId>>, reaches: &mut Vec<usize>| {
            while reaches.get(line.len()).is_some_and(|left| *left > 0) {
                reaches[line.len()] -= 1;
                line.push(None);
            }
        };
        for cell in cells {
            skip(&mut line, &mut reaches);
            let (columns, down) = if spans { (span(cell, "colspan"), span(cell, "rowspan")) } else { (1, 1) };
            for column in 0..columns {
                let at = line.len();
                if reaches.len() <= at {
                    reaches.resize(at + 1, 0);
                }
                reaches[at] = down - 1;
                line.push((column == 0).then_some(cell));
            }
        }
        skip(&mut line, &mut reaches);
        out.push((is_head, line));
    }
    out
}
