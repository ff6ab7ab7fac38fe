//! Label by click: a user says of each block of a page whether it is template, main content or neither.

use maud::{Markup, html};
use rustc_hash::FxHashMap;
use serde::Deserialize;

use super::gold::GoldPage;
use super::layout::{MenuEntry, document, query, site_link};
use super::page::{Asked, LabeledPage};
use super::site::page_address;
use super::words::count;
use super::{Inspector, Refusal};
use dehusk_content::Labels;
use dehusk_content::text_blocks;
use dehusk_html::{NodeId, Tree, normalized};
use dehusk_store::{PageRow, Store};

/// Blocks that can be labeled. Those of a longer page keep the label of the model.
const MOST_BLOCKS: usize = 3000;
/// Characters of a block that are shown.
const MOST_TEXT: usize = 400;

/// The kinds, with the letter of the gold file.
const KINDS: [(u8, &str, &str); 3] =
    [(b'm', "main", "main"), (b'n', "neither", "neither"), (b't', "template", "template")];

/// What is sent: the snapshot, and the kind of each block by its number, `b0=m&b1=t`.
#[derive(Debug, Deserialize)]
pub(super) struct Sent {
    #[serde(flatten)]
    fields: FxHashMap<String, String>,
}

/// A page with its blocks.
struct Blocks {
    row: PageRow,
    labeled: LabeledPage,
    nodes: Vec<Vec<NodeId>>,
    /// The kind that the model gives to each block.
    by_model: Vec<u8>,
    id: String,
}

impl Blocks {
    fn load(inspector: &Inspector, store: &Store, url: &str) -> Result<Blocks, Refusal> {
        let asked = Asked { url: url.to_owned(), ..Asked::default() };
        let (row, labeled) = inspector.labeled(store, &asked)?;
        let nodes = text_blocks(&labeled.tree);
        let kinds = labeled.shown().kinds();
        // The kind of most of its text.
        let by_model = nodes.iter().map(|nodes| {
            let mut chars = [0_usize; 3];
            nodes.iter().for_each(|node| chars[usize::from(kinds[node.index()])] += labeled.tree.text(*node).len());
            let most = (0..3).max_by_key(|kind| chars[*kind]).unwrap_or(0);
            [b't', b'n', b'm'][most]
        });
        let by_model = by_model.collect();
        let id = format!("{}#{}", row.url, &row.digest[..row.digest.floor_char_boundary(16)]);
        Ok(Blocks { row, labeled, nodes, by_model, id })
    }

    fn text(&self, block: usize) -> String {
        let texts = self.nodes[block].iter().map(|node| self.labeled.tree.text(*node));
        normalized(&texts.collect::<Vec<_>>().join(" "))
    }

    /// What a user's kinds say, as a line of the gold file.
    fn gold(&self, kinds: &[u8], html: String) -> GoldPage {
        let tree = &self.labeled.tree;
        let labels = |is: fn(u8) -> bool| node_labels(tree, &self.nodes, |block| is(kinds[block]));
        GoldPage {
            id: self.id.clone(),
            site: self.row.host.clone(),
            url: self.row.url.clone(),
            gold: labels(|kind| kind != b'm').text_nodes(tree),
            labels: labels(|kind| kind == b't').run_lengths(tree),
            kinds: String::from_utf8_lossy(kinds).into_owned(),
            html,
        }
    }

    /// Share of the characters on which the model and the kinds agree, and the number of blocks on which they do not.
    fn agreement(&self, kinds: &[u8]) -> (f64, usize) {
        let (mut equal, mut all, mut differ) = (0, 0, 0);
        for (at, (kind, by_model)) in kinds.iter().zip(&self.by_model).enumerate() {
            let chars = self.text(at).chars().count();
            all += chars;
            equal += if kind == by_model { chars } else { 0 };
            differ += usize::from(kind != by_model);
        }
        (equal as f64 / all.max(1) as f64, differ)
    }
}

/// Labels of all nodes from those of blocks: an element with text is labeled where all of its text is, one without text
/// as the element around it.
fn node_labels(tree: &Tree, blocks: &[Vec<NodeId>], is_labeled: impl Fn(usize) -> bool) -> Labels {
    let counted = tree.counted();
    let mut labels = vec![false; tree.len()];
    // For each node, whether there is text below it, and whether any of it is not labeled.
    let mut below = vec![(false, false); tree.len()];
    for (at, nodes) in blocks.iter().enumerate() {
        let is = is_labeled(at);
        for node in nodes {
            labels[node.index()] = is;
            below[node.index()] = (true, !is);
        }
    }
    for node in counted.clone().skip(1).rev() {
        let (has_text, has_other) = below[node];
        let above = &mut below[tree.shape.parent[node] as usize];
        *above = (above.0 || has_text, above.1 || has_other);
    }
    for node in counted.clone() {
        if !tree.is_text(NodeId::new(node)) {
            let (has_text, has_other) = below[node];
            let above = node > counted.start && labels[tree.shape.parent[node] as usize];
            labels[node] = if has_text { !has_other } else { above };
        }
    }
    Labels::new(labels)
}

/// The form.
pub(super) fn form(inspector: &Inspector, store: &Store, url: &str) -> Result<Markup, Refusal> {
    let blocks = Blocks::load(inspector, store, url)?;
    let saved = inspector.gold.page(&blocks.id)?.map(|gold| gold.kinds.into_bytes());
    let saved = saved.filter(|kinds| kinds.len() == blocks.nodes.len());
    let note = saved.as_ref().map(|kinds| said("Labeled", &blocks, kinds));
    Ok(render(inspector, &blocks, saved.as_deref().unwrap_or(&blocks.by_model), note.as_ref()))
}

/// Saves what was sent, and shows it.
pub(super) fn save(inspector: &Inspector, store: &Store, sent: &Sent) -> Result<Markup, Refusal> {
    let field = |name: &str| sent.fields.get(name).map(String::as_str);
    let missing = |name: &str| Refusal::Wrong(format!("the form has no field {name}"));
    let blocks = Blocks::load(inspector, store, field("url").ok_or_else(|| missing("url"))?)?;
    if field("id") != Some(&blocks.id) {
        return Err(Refusal::Wrong(
            "a crawl has stored another version of this page meanwhile: label that one".to_owned(),
        ));
    }
    let kind = |at: usize| match field(&format!("b{at}")).map(str::as_bytes) {
        Some([kind @ (b'm' | b'n' | b't')]) => *kind,
        _ => blocks.by_model[at],
    };
    let kinds: Vec<u8> = (0..blocks.nodes.len()).map(kind).collect();
    let raw = store.load_raw(&blocks.row)?;
    let (text, _) = dehusk_html::decode(&raw, blocks.row.content_type.as_deref());
    let n = inspector.gold.save(&blocks.gold(&kinds, text.into_owned()))?;
    let note = said(&format!("Saved; {n} labeled pages"), &blocks, &kinds);
    Ok(render(inspector, &blocks, &kinds, Some(&note)))
}

fn said(what: &str, blocks: &Blocks, kinds: &[u8]) -> String {
    let (share, differ) = blocks.agreement(kinds);
    format!("{what}. The model agrees on {:.1} % of the characters; {differ} blocks differ.", 100.0 * share)
}

fn render(inspector: &Inspector, blocks: &Blocks, kinds: &[u8], note: Option<&String>) -> Markup {
    let url = &blocks.row.url;
    let shown = kinds.len().min(MOST_BLOCKS);
    let body = html! {
        nav.crumbs aria-label="Place" { (site_link(&blocks.row.host)) " › " a.url href=(page_address(url)) { (url) } }
        h1 { "Label" }
        @match inspector.gold.path() {
            Some(path) => p.dim { "Saved in " code { (path.display()) } ", which " code { "dehusk evaluate" } " reads." },
            None => p.empty { "A database on a server has no folder: " code { "dehusk serve --gold FILE" } " names a file for labels." },
        }
        @if let Some(note) = note { p.note role="status" { (note) } }
        form.label method="post" action=(format!("/label?{}", query(&[("url", url)]))) {
            input type="hidden" name="url" value=(url);
            input type="hidden" name="id" value=(blocks.id);
            div.tools {
                p { (count(kinds.len() as i64)) " blocks, as the model has them until they are saved. Keys "
                    kbd { "m" } " " kbd { "n" } " " kbd { "t" } " label the block in focus." }
                button disabled[inspector.gold.path().is_none()] { "Save" }
            }
            ol { @for at in 0..shown { (row(blocks, at, kinds[at])) } }
            @if shown < kinds.len() { p.dim { "The blocks after the first " (count(shown as i64)) " keep the label of the model." } }
        }
    };
    document("Label", MenuEntry::Sites, &body)
}

fn row(blocks: &Blocks, at: usize, kind: u8) -> Markup {
    let text = blocks.text(at);
    let cut = text.char_indices().nth(MOST_TEXT).map_or(text.len(), |(at, _)| at);
    html! {
        li data-kind=(KINDS.iter().find(|(letter, ..)| *letter == kind).map_or("", |(_, name, _)| name)) {
            fieldset {
                legend { (text[..cut]) @if cut < text.len() { " …" } }
                @for (letter, name, title) in KINDS {
                    label data-kind=(name) {
                        input type="radio" name=(format!("b{at}")) value=(char::from(letter)) checked[letter == kind]; " " (title)
                    } " "
                }
                @if blocks.by_model[at] != kind { span.dim { "the model says " (KINDS.iter().find(|(letter, ..)| *letter == blocks.by_model[at]).map_or("", |(.., title)| title)) } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dehusk_html::{ParseOptions, parse};

    #[test]
    fn elements_are_labeled_by_their_text() {
        let tree = parse("<nav><a>Home</a><img></nav><div><p>own</p><hr></div>", &ParseOptions::default());
        let labels = node_labels(&tree, &text_blocks(&tree), |block| block == 0);
        assert_eq!(labels.text_nodes(&tree), "own");
        let is = |name: &str| labels.is_template(tree.all(name).next().unwrap());
        assert!(is("nav") && is("img") && !is("div") && !is("hr") && !is("body"));
    }
}
