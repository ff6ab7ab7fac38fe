//! Blocks in one line, for cells, headings and terms.

use crate::markdown::block::{Block, Marks, Piece, Run, Term};

/// All runs of some blocks in one line, with `between` between them.
pub(super) fn flat_runs(blocks: Vec<Block>, between: Piece) -> Vec<Run> {
    let mut runs = Vec::new();
    for block in blocks {
        if !runs.is_empty() {
            runs.push(Run { piece: between.clone(), marks: Marks::default() });
        }
        match block {
            Block::Heading(_, inner) | Block::Paragraph(inner) => runs.extend(inner),
            Block::Code { text, .. } => {
                let lines = text.lines().map(str::trim_end).filter(|line| !line.is_empty());
                let lines = lines.map(|line| Piece::Code(line.to_owned()));
                runs.extend(joined(lines.map(|piece| vec![Run { piece, marks: Marks::default() }]), &between));
            }
            Block::Formula(tex) => runs.push(Run { piece: Piece::Formula(tex), marks: Marks::default() }),
            Block::Quote(inner) | Block::Footnote(_, inner) => runs.extend(flat_runs(inner, between.clone())),
            Block::List(list) => {
                let items = list.items.into_iter().map(|item| flat_runs(item.blocks, between.clone()));
                runs.extend(joined(items, &between));
            }
            Block::Table(rows, _) => {
                let cells = rows.into_iter().flat_map(|row| row.cells).filter(|cell| !cell.is_empty());
                runs.extend(joined(cells, &between));
            }
            Block::Terms(terms) => {
                let parts = terms.into_iter().map(|term| match term {
                    Term::Name(name) => name,
                    Term::Definition(blocks) => flat_runs(blocks, between.clone()),
                });
                runs.extend(joined(parts, &between));
            }
            Block::Rule => {}
        }
    }
    runs
}

fn joined(parts: impl Iterator<Item = Vec<Run>>, between: &Piece) -> Vec<Run> {
    let separator = [Run { piece: between.clone(), marks: Marks::default() }];
    parts.collect::<Vec<_>>().join(&separator[..])
}
