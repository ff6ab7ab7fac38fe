//! Writes the blocks of pages and their features for the training program (`scripts/content/`).
//!
//! Reads JSON lines `{"html": ..}` or `{"file": ..}`, with optional run lengths of gold labels (`"labels": "T3C2"`).
//! Writes, in little-endian bytes: the length of a JSON array of the names of the features, that array, and for each
//! page the number of blocks, the length of a JSON array of the blocks, that array, and the features.

use std::io::{BufRead, Write};

use dehusk_content::{ContentRow, content_rows, feature_names};
use dehusk_html::{NodeId, ParseOptions, Tree, parse, parse_bytes};
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let names = serde_json::to_vec(&feature_names())?;
    out.write_all(&u32::try_from(names.len())?.to_le_bytes())?;
    out.write_all(&names)?;
    for line in std::io::stdin().lock().lines() {
        let line: Value = serde_json::from_str(&line?)?;
        let limits = ParseOptions::default();
        let tree = match (line["html"].as_str(), line["file"].as_str()) {
            (Some(html), _) => parse(html, &limits),
            (None, Some(file)) => parse_bytes(&std::fs::read(file)?, None, &limits).0,
            (None, None) => return Err("a line has neither `html` nor `file`".into()),
        };
        let rows = content_rows(&tree);
        let gold = line["labels"].as_str().map(expanded);
        let blocks: Vec<Value> = rows.blocks.iter().map(|block| described(&tree, block, gold.as_deref())).collect();
        let blocks_json = serde_json::to_vec(&blocks)?;
        out.write_all(&u32::try_from(blocks.len())?.to_le_bytes())?;
        out.write_all(&u32::try_from(blocks_json.len())?.to_le_bytes())?;
        out.write_all(&blocks_json)?;
        for value in &rows.features {
            out.write_all(&value.to_le_bytes())?;
        }
    }
    Ok(())
}

/// The label of each counted node.
fn expanded(labels: &str) -> Vec<char> {
    let mut all = Vec::new();
    let (mut label, mut n) = (None, 0_usize);
    let mut give =
        |label: Option<char>, n: usize| all.extend(label.into_iter().flat_map(|c| std::iter::repeat_n(c, n)));
    for c in labels.chars() {
        match c.to_digit(10) {
            Some(digit) => n = n * 10 + digit as usize,
            None => {
                give(label, n);
                (label, n) = (Some(c), 0);
            }
        }
    }
    give(label, n);
    all
}

/// A block, with the shares of its characters that the gold calls content (`C`) and neither (`N`).
fn described(tree: &Tree, block: &ContentRow, gold: Option<&[char]>) -> Value {
    let mut described = json!({
        "text": block.text, "slot": block.slot, "path": block.tag_path, "pattern": block.pattern,
        "near": block.near, "far": block.far,
    });
    if let Some(gold) = gold {
        let start = tree.counted().start;
        let (mut all, mut content, mut neither) = (0, 0, 0);
        for node in &block.nodes {
            let chars = tree.text(NodeId::new(*node as usize)).chars().filter(|c| !c.is_whitespace()).count();
            all += chars;
            match gold.get(*node as usize - start) {
                Some('C') => content += chars,
                Some('N') => neither += chars,
                _ => {}
            }
        }
        let share = |part: usize| part as f64 / all.max(1) as f64;
        described["content"] = share(content).into();
        described["neither"] = share(neither).into();
    }
    described
}
