//! The blocks of a page as a person or a program labels them.

use std::io::Read;
use std::path::Path;

use anyhow::{Context, anyhow};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use dehusk_content::JudgedPage;
use dehusk_core::clean::{CleanOptions, KeepText, TemplateMatcher, label_page};
use dehusk_html::{NodeId, PageUrl, Tree, parse, parse_bytes};
use dehusk_settings::Settings;

/// A stored page.
pub(super) struct StoredTree {
    pub(super) url: PageUrl,
    pub(super) tree: Tree,
}

/// A page with its blocks: one line of a file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct LabeledBlocks {
    #[serde(default)]
    pub(super) url: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    title: String,
    pub(super) blocks: Vec<LabeledBlock>,
}

/// A block, by its number on the page.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct LabeledBlock {
    block: usize,
    /// The elements around it, the innermost last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(default)]
    label: Option<Label>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Label {
    /// Main content.
    Main,
    /// Anything else.
    Other,
}

impl LabeledBlock {
    pub(super) fn is_main(&self) -> bool {
        self.label == Some(Label::Main)
    }
}

impl LabeledBlocks {
    /// Whether each block of a page is main content, and the number of labels that fit no block: there is none of that
    /// number, or it has another text.
    pub(super) fn labels_for(&self, page: &LabeledBlocks) -> (Vec<Option<bool>>, usize) {
        let (mut labels, mut missing) = (vec![None; page.blocks.len()], 0);
        for labeled in &self.blocks {
            let Some(label) = labeled.label else { continue };
            let is_same = |block: &&LabeledBlock| labeled.text.is_none() || labeled.text == block.text;
            match page.blocks.get(labeled.block).filter(is_same) {
                Some(_) => labels[labeled.block] = Some(label == Label::Main),
                None => missing += 1,
            }
        }
        (labels, missing)
    }
}

impl StoredTree {
    pub(super) fn new(url: PageUrl, body: &[u8], content_type: Option<&str>, settings: &Settings) -> StoredTree {
        StoredTree { url, tree: parse_bytes(body, content_type, &settings.core.parse).0 }
    }

    /// The blocks, with what the site model says of them today.
    pub(super) fn blocks(&self, matcher: &TemplateMatcher, settings: &Settings) -> LabeledBlocks {
        let tree = &self.tree;
        let options = CleanOptions { keep: KeepText::Main, ..settings.core.clean };
        let labels = label_page(tree, None, Some(matcher), &options).labels;
        let judged = JudgedPage::new(tree);
        let blocks = judged.blocks().into_iter().enumerate().map(|(number, block)| {
            let is_main = block.nodes.iter().any(|node| !labels.is_template(*node));
            LabeledBlock {
                block: number,
                path: Some(path(tree, block.container)),
                text: Some(block.text.to_owned()),
                label: Some(if is_main { Label::Main } else { Label::Other }),
            }
        });
        LabeledBlocks { url: self.url.to_string(), title: title(tree), blocks: blocks.collect() }
    }
}

/// The names, ids and first classes of the elements around a block, from the body down.
fn path(tree: &Tree, container: NodeId) -> String {
    let start = tree.counted().start;
    let mut names = Vec::new();
    let mut node = container.index();
    while node > start {
        let id = NodeId::new(node);
        let mut name = tree.name(id).to_owned();
        if let Some(value) = tree.attr(id, "id") {
            name.push_str(&format!("#{value}"));
        }
        if let Some(class) = tree.attr(id, "class").and_then(|classes| classes.split_ascii_whitespace().next()) {
            name.push_str(&format!(".{class}"));
        }
        names.push(name);
        node = tree.shape.parent[node] as usize;
    }
    names.reverse();
    names.join(" > ")
}

fn title(tree: &Tree) -> String {
    let nodes = tree.all("title").next().map_or(0..0, |title| tree.shape.subtree(title));
    let texts = nodes.map(NodeId::new).filter(|node| tree.is_text(*node)).map(|node| tree.text(node));
    texts.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}

/// A page that was labeled in the inspector.
#[derive(Deserialize)]
struct ClickedPage {
    url: String,
    /// `m` for each block that is main content.
    kinds: String,
    html: String,
}

impl ClickedPage {
    fn labeled(&self, settings: &Settings) -> LabeledBlocks {
        let tree = parse(&self.html, &settings.core.parse);
        let judged = JudgedPage::new(&tree);
        let blocks = judged.blocks().into_iter().zip(self.kinds.chars()).enumerate();
        let labeled = blocks.map(|(number, (block, kind))| LabeledBlock {
            block: number,
            path: None,
            text: Some(block.text.to_owned()),
            label: Some(if kind == 'm' { Label::Main } else { Label::Other }),
        });
        LabeledBlocks { url: self.url.clone(), title: String::new(), blocks: labeled.collect() }
    }
}

/// The pages of a file, one a line.
pub(super) fn read_labels(file: &Path, settings: &Settings) -> anyhow::Result<Vec<LabeledBlocks>> {
    let name = file.display();
    let text = if file == Path::new("-") {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).context("standard input")?;
        text
    } else {
        std::fs::read_to_string(file).with_context(|| name.to_string())?
    };
    let read = |line: &str| -> Result<LabeledBlocks, serde_json::Error> {
        let value: Value = serde_json::from_str(line)?;
        if value.get("kinds").is_some() {
            return ClickedPage::deserialize(value).map(|page| page.labeled(settings));
        }
        LabeledBlocks::deserialize(value)
    };
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines.map(|(at, line)| read(line).map_err(|e| anyhow!("{name}: line {}: {e}", at + 1))).collect()
}
