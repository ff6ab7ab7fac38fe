//! Lists, tasks and definition lists.

use super::flat::flat_runs;
use super::{Builder, Context, Flow};
use crate::markdown::block::{Block, Item, List, Piece, Run, Term};
use crate::markdown::inline::tidied;
use crate::markdown::is_block;
use dehusk_html::{NodeId, Tree, ancestors, children};

impl Builder<'_> {
    pub(super) fn list(&mut self, node: NodeId, flow: &mut Flow, context: Context) {
        let tree = self.tree;
        let number = |node: NodeId, name: &str| tree.attr(node, name)?.trim().parse::<u64>().ok();
        let is_reversed = tree.attr(node, "reversed").is_some();
        let n_items = || children(tree, node).filter(|child| tree.name(*child) == "li").count() as u64;
        let mut next = number(node, "start").unwrap_or_else(|| if is_reversed { n_items() } else { 1 });
        let mut list = List { is_numbered: tree.name(node) == "ol", ..List::default() };
        let mut notes = Vec::new();
        let mut queue: Vec<NodeId> = children(tree, node).collect();
        queue.reverse();
        while let Some(child) = queue.pop() {
            if !self.shows[child.index()] {
                continue;
            }
            let is_item = tree.name(child) == "li";
            if !is_item && wraps_items(tree, child) {
                queue.extend(children(tree, child).collect::<Vec<_>>().into_iter().rev());
                continue;
            }
            if is_item && self.footnotes.note(child).is_some() {
                let mut note = Flow::default();
                self.node(child, &mut note, context);
                notes.extend(note.finish());
                continue;
            }
            let mut inner = Flow::default();
            if is_item {
                self.children(child, &mut inner, context)
            } else {
                self.node(child, &mut inner, context)
            }
            let blocks = inner.finish();
            match list.items.last_mut() {
                // A list right inside a list belongs to the item before it.
                Some(item) if !is_item => item.blocks.extend(blocks),
                _ if blocks.is_empty() && !is_item => {}
                _ => {
                    let own = number(child, "value").filter(|_| is_item).unwrap_or(next);
                    next = if is_reversed { own.saturating_sub(1) } else { own.saturating_add(1) };
                    list.is_loose |= self.has_paragraph(child) || n_texts(&blocks) > 1;
                    list.items.push(Item { number: own, checked: self.task(child), blocks });
                }
            }
        }
        if list.items.iter().any(|item| !item.blocks.is_empty()) {
            list.items.retain(|item| !item.blocks.is_empty() || item.checked.is_some());
            // Items that hold nothing but a list only indent it.
            let indents = list.items.iter().all(|item| matches!(item.blocks[..], [Block::List(_)]));
            // So does an item that is alone, and a heading.
            let is_lone_heading = matches!(&list.items[..], [item] if matches!(item.blocks[..], [Block::Heading(..)]));
            if indents || is_lone_heading {
                list.items.into_iter().flat_map(|item| item.blocks).for_each(|inner| flow.block(inner));
            } else {
                flow.block(Block::List(list));
            }
        }
        flow.end_paragraph();
        flow.blocks.extend(notes);
    }

    /// An item outside of a list: items in a row make one.
    pub(super) fn lone_item(&mut self, node: NodeId, flow: &mut Flow, context: Context) {
        let blocks = self.inner_blocks(node, context);
        let item = Item { number: 0, checked: self.task(node), blocks };
        flow.end_paragraph();
        match flow.blocks.last_mut() {
            _ if item.blocks.is_empty() => {}
            Some(Block::List(list)) if !list.is_numbered => list.items.push(item),
            _ => flow.block(Block::List(List { items: vec![item], ..List::default() })),
        }
    }

    fn has_paragraph(&self, item: NodeId) -> bool {
        children(self.tree, item).any(|child| self.tree.name(child) == "p" && self.shows[child.index()])
    }

    /// The check box that an item begins with, and that its text follows in the same line. One before a block folds it.
    fn task(&self, item: NodeId) -> Option<bool> {
        let tree = self.tree;
        let mut before_text = tree.shape.subtree(item).map(NodeId::new).take_while(|node| !tree.is_text(*node));
        let is_box = |node: &NodeId| {
            tree.name(*node) == "input" && tree.attr(*node, "type").is_some_and(|t| t.eq_ignore_ascii_case("checkbox"))
        };
        let input = before_text.find(is_box)?;
        let folds = before_text.any(|node| tree.name(node) != "p" && is_block(tree.name(node)));
        (!folds).then(|| tree.attr(input, "checked").is_some())
    }

    /// A definition list in the form of Pandoc, where each definition is a paragraph. Others stand below their name,
    /// which is bold: indented blocks are code for readers that know no definition lists.
    pub(super) fn terms(&mut self, node: NodeId, flow: &mut Flow, context: Context) {
        let tree = self.tree;
        let mut terms = Vec::new();
        let mut queue: Vec<NodeId> = children(tree, node).collect();
        queue.reverse();
        while let Some(child) = queue.pop() {
            if !self.shows[child.index()] {
                continue;
            }
            match tree.name(child) {
                "dt" => {
                    let blocks = self.inner_blocks(child, Context { is_heading: true, ..context });
                    let runs = tidied(flat_runs(blocks, Piece::Space));
                    if !runs.is_empty() {
                        terms.push(Term::Name(runs));
                    }
                }
                "div" => queue.extend(children(tree, child).collect::<Vec<_>>().into_iter().rev()),
                _ => {
                    let mut inner = Flow::default();
                    match tree.name(child) {
                        "dd" => self.children(child, &mut inner, context),
                        _ => self.node(child, &mut inner, context),
                    }
                    let blocks = inner.finish();
                    if !blocks.is_empty() {
                        terms.push(Term::Definition(blocks));
                    }
                }
            }
        }
        if terms.is_empty() {
            return;
        }
        match numbered(&terms) {
            Some(list) => flow.block(Block::List(list)),
            None if terms.iter().all(is_line) && matches!(terms[0], Term::Name(_)) => flow.block(Block::Terms(terms)),
            None => terms.into_iter().flat_map(below_name).for_each(|block| flow.block(block)),
        }
        flow.end_paragraph();
    }
}

fn is_line(term: &Term) -> bool {
    matches!(term, Term::Name(_))
        || matches!(term, Term::Definition(blocks) if matches!(blocks[..], [Block::Paragraph(_)]))
}

fn below_name(term: Term) -> Vec<Block> {
    match term {
        Term::Name(mut runs) => {
            runs.iter_mut().for_each(|run| run.marks.strong = true);
            vec![Block::Paragraph(runs)]
        }
        Term::Definition(blocks) => blocks,
    }
}

/// The terms as a list, if each is the number of its definition: steps of a recipe.
fn numbered(terms: &[Term]) -> Option<List> {
    let mut list = List { is_numbered: true, ..List::default() };
    for pair in terms.chunks(2) {
        let [Term::Name(name), Term::Definition(blocks)] = pair else { return None };
        let [Run { piece: Piece::Text(number), .. }] = &name[..] else { return None };
        let number = number.trim_end_matches(['.', ')']).parse().ok()?;
        list.is_loose |= n_texts(blocks) > 1;
        list.items.push(Item { number, checked: None, blocks: blocks.clone() });
    }
    let is_in_order = list.items.iter().zip(1..).all(|(item, number)| item.number == number);
    is_in_order.then_some(list)
}

/// Whether an element in a list holds items of that list.
fn wraps_items(tree: &Tree, element: NodeId) -> bool {
    let is_list = |node: &NodeId| matches!(tree.name(*node), "ul" | "ol" | "menu" | "dir");
    let mut items = tree.shape.subtree(element).map(NodeId::new).filter(|node| tree.name(*node) == "li");
    let first = items.next().filter(|_| !is_list(&element));
    first.and_then(|item| ancestors(tree, item).find(is_list)).is_some_and(|list| list.index() < element.index())
}

/// Blocks of an item that are separated by an empty line.
fn n_texts(blocks: &[Block]) -> usize {
    blocks.iter().filter(|block| !matches!(block, Block::List(_))).count()
}
