//! Links around several blocks: a person links the heading, or the first block, and not each paragraph.

use rustc_hash::FxHashMap;

use crate::markdown::block::{Block, Piece, Run, Term};

/// The block that shows a link, as its number in the order of the page.
#[derive(Clone, Copy)]
struct Place {
    block: usize,
    is_heading: bool,
    has_words: bool,
}

/// Leaves each link in one of the blocks that it is around.
pub(super) fn link_once(blocks: &mut [Block]) {
    let mut chosen: FxHashMap<u32, Place> = FxHashMap::default();
    let mut is_any = false;
    each_line(blocks, &mut 0, &mut |block, is_heading, runs| {
        for run in runs.iter().filter(|run| run.marks.link != 0) {
            let has_words = matches!(&run.piece, Piece::Text(text) if text.contains(char::is_alphanumeric));
            let place = Place { block, is_heading, has_words };
            let known = chosen.entry(run.marks.link).or_insert(place);
            is_any |= known.block != block;
            let is_better = (is_heading && !known.is_heading) || (has_words && !known.has_words && !known.is_heading);
            if is_better {
                *known = place;
            }
        }
    });
    if !is_any {
        return;
    }
    each_line(blocks, &mut 0, &mut |block, _, runs| {
        for run in runs {
            if chosen.get(&run.marks.link).is_some_and(|place| place.block != block) {
                run.marks.link = 0;
            }
        }
    });
}

/// Calls `visit` with the runs of each paragraph, heading, cell and term, its number, and whether it is a heading.
fn each_line(blocks: &mut [Block], number: &mut usize, visit: &mut dyn FnMut(usize, bool, &mut Vec<Run>)) {
    for block in blocks {
        *number += 1;
        match block {
            Block::Heading(_, runs) => visit(*number, true, runs),
            Block::Paragraph(runs) => visit(*number, false, runs),
            Block::Quote(blocks) | Block::Footnote(_, blocks) => each_line(blocks, number, visit),
            Block::List(list) => {
                list.items.iter_mut().for_each(|item| each_line(&mut item.blocks, number, visit));
            }
            Block::Table(rows, _) => {
                for cell in rows.iter_mut().flat_map(|row| &mut row.cells) {
                    *number += 1;
                    visit(*number, false, cell);
                }
            }
            Block::Terms(terms) => {
                for term in terms {
                    *number += 1;
                    match term {
                        Term::Name(runs) => visit(*number, false, runs),
                        Term::Definition(blocks) => each_line(blocks, number, visit),
                    }
                }
            }
            Block::Code { .. } | Block::Formula(_) | Block::Rule => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::MarkdownOptions;
    use crate::markdown::write_markdown;
    use dehusk_html::{ParseOptions, parse};

    #[test]
    fn a_link_around_blocks_is_written_once() {
        let written = |html: &str| {
            write_markdown(&parse(html, &ParseOptions::default()), None, &MarkdownOptions::default(), |_| true)
        };
        let card = "<a href=/r><img src=r.png><p>Grain</p><h3>Rye</h3><p>It is <b>hardy</b>.</p></a>";
        assert_eq!(written(card), "![](r.png)\n\nGrain\n\n### [Rye](/r)\n\nIt is **hardy**.\n");
        assert_eq!(written("<a href=/r><p>Rye</p><p>A grain</p></a>"), "[Rye](/r)\n\nA grain\n");
        assert_eq!(written("<p><a href=/r>Rye</a></p><p><a href=/r>Rye</a></p>"), "[Rye](/r)\n\n[Rye](/r)\n");
        assert_eq!(written("<a href=/r><div><img src=r.png></div></a>"), "[![](r.png)](/r)\n");
    }
}
