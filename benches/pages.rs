//! Pages for the benchmarks: the real sites when they are unpacked under target/, else the demo's.

use std::path::{Path, PathBuf};

use dehusk::demo::sites;
use dehusk_files::folder::Folder;
use dehusk_html::decode;

/// A site: its key page and all its pages, decoded.
#[allow(dead_code, reason = "each bench uses some")]
pub struct BenchSite {
    pub name: String,
    pub key: String,
    pub folder: Option<Folder>,
    pub pages: Vec<(String, String)>,
}

/// All sites.
pub fn load() -> Vec<BenchSite> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/corpus/sites");
    let found = corpus_sites(&corpus);
    if found.is_empty() { demo_sites() } else { found }
}

fn corpus_sites(corpus: &Path) -> Vec<BenchSite> {
    let Ok(gold) = std::fs::read_to_string(corpus.join("gold.toml")) else { return Vec::new() };
    let gold: toml::Table = gold.parse().unwrap();
    let mut sites = Vec::new();
    for (name, site) in gold["site"].as_table().unwrap() {
        let www: PathBuf = corpus.join(site["split"].as_str().unwrap()).join(name).join("www");
        let Ok(folder) = Folder::open(&www) else { continue };
        let read = |path: String| {
            let bytes = folder.read(&path).unwrap();
            (path, decode(&bytes, None).0.into_owned())
        };
        let pages = folder.pages().unwrap().into_iter().map(read).collect();
        let key = site["key_page"].as_str().unwrap().to_owned();
        sites.push(BenchSite { name: name.clone(), key, folder: Some(folder), pages });
    }
    sites
}

fn demo_sites() -> Vec<BenchSite> {
    let site = |s: dehusk::demo::DemoSite| BenchSite {
        name: s.name.to_owned(),
        key: s.key.clone(),
        folder: None,
        pages: s.pages.iter().map(|(path, page)| (path.clone(), page.html())).collect(),
    };
    sites().into_iter().map(site).collect()
}
