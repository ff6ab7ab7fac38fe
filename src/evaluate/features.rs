//! Features of the nodes of each judged page with their gold, from which forests are trained (scripts/nodes/README.md).
//!
//! A file for each site and key page. A page is a line of JSON with its site, page and number of nodes, then in
//! little-endian bytes, for each counted node: its parent (u32), its letters (u32), its gold (u8: T, C or N); then each
//! feature of all nodes (f32), with guessed content, and each with the content that the page model expects.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use super::{EvaluateError, PageGold};
use dehusk_html::{Tree, hash_str};
use dehusk_template::site_model::TrainingSet;

/// The file of one site that is learned from one key page.
pub(super) struct FeatureFile(BufWriter<File>);

/// A page of a site.
pub(super) struct FeaturePage<'a> {
    pub(super) site: &'a str,
    pub(super) page: &'a str,
    pub(super) is_key: bool,
    pub(super) tree: &'a Tree,
    pub(super) gold: &'a PageGold,
}

impl FeatureFile {
    pub(super) fn create(folder: &Path, site: &str, key: &str) -> Result<FeatureFile, EvaluateError> {
        let path = folder.join(format!("{site}-{:016x}.features", hash_str(key)));
        let file = std::fs::create_dir_all(folder).and_then(|()| File::create(&path));
        Ok(FeatureFile(BufWriter::new(file.map_err(|reason| EvaluateError::File { path, reason })?)))
    }

    /// Appends a page, unless its gold is of other nodes.
    pub(super) fn push(&mut self, page: &FeaturePage<'_>, set: &TrainingSet) -> std::io::Result<()> {
        let FeaturePage { site, page, is_key, tree, gold } = *page;
        let counted = tree.counted();
        if gold.labels.len() != counted.len() {
            return Ok(());
        }
        let (names, columns) = set.node_features(tree);
        let n = counted.len();
        let has_words = gold.words.is_some();
        let head =
            serde_json::json!({"site": site, "page": page, "key": is_key, "words": has_words, "n": n, "names": names});
        writeln!(self.0, "{head}")?;
        let parents =
            counted.clone().map(|node| (tree.shape.parent[node] as usize).saturating_sub(counted.start) as u32);
        let letters = counted.clone().map(|node| tree.texts().chars[node]);
        let numbers: Vec<u8> = parents.chain(letters).flat_map(u32::to_le_bytes).collect();
        self.0.write_all(&numbers)?;
        self.0.write_all(&gold.labels)?;
        for column in columns.into_iter().flatten() {
            self.0.write_all(&column.into_iter().flat_map(f32::to_le_bytes).collect::<Vec<u8>>())?;
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}
