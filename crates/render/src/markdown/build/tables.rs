//! Tables of data, and the content of tables that only lay a page out.

use super::flat::flat_runs;
use super::{Builder, Context, Flow, QUOTES, has_class};
use crate::markdown::block::{Align, Block, Marks, Piece, Row};
use crate::markdown::code::code_block;
use crate::markdown::inline::tidied;
use crate::markdown::table::{Table, read_table};
use dehusk_html::{NodeId, Tree, children};

impl Builder<'_> {
    pub(super) fn table(&mut self, node: NodeId, flow: &mut Flow, context: Context) {
        let tree = self.tree;
        flow.end_paragraph();
        let shows = &self.shows;
        // Posts of a thread are no rows of data.
        let inside = tree.shape.subtree(node);
        let holds_post = self.above.keys().any(|post| inside.contains(&post.index()));
        let rows = match read_table(tree, node, |row| shows[row.index()], &mut self.spanned) {
            Table::Layout => return self.unrolled(node, flow, context),
            Table::Data(_) if holds_post => return self.unrolled(node, flow, context),
            Table::Code(cell) if tree.shape.subtree(cell).any(|at| tree.name(NodeId::new(at)) == "pre") => {
                self.children(cell, flow, context);
                return flow.end_paragraph();
            }
            Table::Code(cell) => return self.code_block(cell, flow),
            Table::CodeLines(cells) => {
                let line = |cell: &NodeId| code_block(tree, *cell, |node| shows[node.index()]).1;
                let text = cells.iter().map(line).collect::<Vec<_>>().join("\n");
                return flow.block(Block::Code { language: String::new(), text });
            }
            Table::Data(rows) => rows,
        };
        for child in children(tree, node).filter(|child| tree.name(*child) == "caption").collect::<Vec<_>>() {
            if self.shows[child.index()] {
                self.children(child, flow, context);
                flow.end_paragraph();
            }
        }
        let inside = Context { depth: context.depth, marks: Marks::default(), ..context };
        let aligns = aligns(tree, &rows);
        let mut written = Vec::with_capacity(rows.len());
        for (is_head, cells) in rows {
            let cell = |cell: Option<NodeId>| match cell {
                Some(cell) => tidied(flat_runs(self.inner_blocks(cell, inside), Piece::Break)),
                None => Vec::new(),
            };
            written.push(Row { cells: cells.into_iter().map(cell).collect(), is_head });
        }
        flow.block(Block::Table(written, aligns));
    }

    /// A table that only places its content: its cells, one after the other.
    fn unrolled(&mut self, node: NodeId, flow: &mut Flow, context: Context) {
        for child in children(self.tree, node).collect::<Vec<_>>() {
            if !self.shows[child.index()] {
                continue;
            }
            match self.tree.name(child) {
                "tbody" | "thead" | "tfoot" | "tr" => self.unrolled(child, flow, context),
                "td" if has_class(self.tree, child, &QUOTES) => {
                    let blocks = self.inner_blocks(child, context);
                    flow.block(Block::Quote(blocks));
                }
                "td" | "th" | "caption" => {
                    flow.end_paragraph();
                    self.children(child, flow, context);
                    flow.end_paragraph();
                }
                _ => self.node(child, flow, context),
            }
        }
    }
}

/// How the columns are aligned: as the cells of the first row below the head say, else the head.
fn aligns(tree: &Tree, rows: &[(bool, Vec<Option<NodeId>>)]) -> Vec<Align> {
    let first = |is_head: bool| rows.iter().find(|(head, _)| *head == is_head).map(|(_, cells)| &cells[..]);
    let of = |cells: Option<&[Option<NodeId>]>, column: usize| {
        let cell = cells.and_then(|cells| cells.get(column).copied().flatten());
        cell.map(|cell| align(tree, cell)).unwrap_or_default()
    };
    let n_columns = rows.iter().map(|(_, cells)| cells.len()).max().unwrap_or(0);
    let column = |column: usize| match of(first(false), column) {
        Align::Any => of(first(true), column),
        align => align,
    };
    (0..n_columns).map(column).collect()
}

fn align(tree: &Tree, cell: NodeId) -> Align {
    let style = || {
        let style = tree.attr(cell, "style")?;
        Some(style[style.find("text-align:")? + "text-align:".len()..].split(';').next()?.trim())
    };
    match tree.attr(cell, "align").map(str::trim).or_else(style).unwrap_or_default().to_ascii_lowercase().as_str() {
        "left" => Align::Left,
        "center" => Align::Center,
        "right" => Align::Right,
        _ => Align::Any,
    }
}
