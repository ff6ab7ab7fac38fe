//! Blocks as the walk over a page makes them, and the paragraph that is not ended yet.

use crate::markdown::block::{Block, Marks, Piece, Run};
use crate::markdown::inline::tidied;

/// Blocks, and the runs of the paragraph that is not ended yet.
#[derive(Default)]
pub(super) struct Flow {
    pub(super) blocks: Vec<Block>,
    pub(super) runs: Vec<Run>,
}

impl Flow {
    pub(super) fn push(&mut self, piece: Piece, marks: Marks) {
        self.runs.push(Run { piece, marks });
    }

    pub(super) fn blank(&mut self) {
        if self.runs.last().is_some_and(|run| !matches!(run.piece, Piece::Space | Piece::Break)) {
            self.push(Piece::Space, Marks::default());
        }
    }

    /// Ends a line. Two line ends make a paragraph.
    pub(super) fn break_line(&mut self) {
        self.runs.pop_if(|run| run.piece == Piece::Space);
        match self.runs.last() {
            Some(run) if run.piece == Piece::Break => self.end_paragraph(),
            Some(_) => self.push(Piece::Break, Marks::default()),
            None => {}
        }
    }

    pub(super) fn end_paragraph(&mut self) {
        let runs = tidied(std::mem::take(&mut self.runs));
        match &runs[..] {
            [] => {}
            _ if is_lone_sign(&runs) => {}
            // A formula that is alone in its block stands on a line of its own.
            [Run { piece: Piece::Formula(tex), .. }] => self.blocks.push(Block::Formula(tex.clone())),
            _ => self.blocks.push(Block::Paragraph(runs)),
        }
    }

    pub(super) fn block(&mut self, block: Block) {
        self.end_paragraph();
        // A rule divides what stands before it from what follows.
        if block == Block::Rule && matches!(self.blocks.last(), None | Some(Block::Rule)) {
            return;
        }
        // A line above code that only names its language.
        if let (Block::Code { language, .. }, Some(Block::Paragraph(runs))) = (&block, self.blocks.last())
            && let [Run { piece: Piece::Text(text), .. }] = &runs[..]
            && text.eq_ignore_ascii_case(language)
        {
            self.blocks.pop();
        }
        self.blocks.push(block);
    }

    /// A line of facts about what follows: the first one in bold.
    pub(super) fn above(&mut self, facts: &[String]) {
        self.end_paragraph();
        self.block(Block::Rule);
        for (at, fact) in facts.iter().enumerate() {
            if at > 0 {
                self.push(Piece::Text(", ".to_owned()), Marks::default());
            }
            self.push(Piece::Text(fact.clone()), Marks { strong: at == 0, ..Marks::default() });
        }
        self.end_paragraph();
    }

    pub(super) fn finish(mut self) -> Vec<Block> {
        self.end_paragraph();
        self.blocks.pop_if(|block| *block == Block::Rule);
        self.blocks
    }
}

/// Whether a paragraph is one sign that divides others: a full stop, a bar, a dot.
fn is_lone_sign(runs: &[Run]) -> bool {
    matches!(runs, [Run { piece: Piece::Text(text), .. }] if matches!(text.as_str(), "." | "|" | "·" | "•"))
}
