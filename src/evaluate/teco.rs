//! The benchmark of the thesis, TECO (Alarte 2014, section 6.2): mirrored sites whose key page carries the gold
//! standard in class names.
//!
//! A benchmark is a folder with one page in which elements have the class `TECO_notTemplate` or `TECO_mainContent`.
//! That page is the key page. The gold template is every node outside of `TECO_notTemplate`, the main content every
//! node inside of `TECO_mainContent`. The classes are taken off before a method sees a page: they would give the gold
//! away.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::bytes::Regex;

use super::{EvaluateError, PageGold};
use dehusk_files::folder::Folder;
use dehusk_html::{NodeId, ParseOptions, Tree, parse_bytes};
use dehusk_papers::scores::tokens;

/// What every class name of the benchmark begins with.
const MARK: &[u8] = b"TECO_";
const NOT_TEMPLATE: &str = "TECO_notTemplate";
const MAIN_CONTENT: &str = "TECO_mainContent";

/// A benchmark: a site with a labeled key page.
pub(super) struct Benchmark {
    pub(super) name: String,
    pub(super) folder: PathBuf,
    pub(super) key_page: String,
    pub(super) pages: BTreeMap<String, PageGold>,
}

/// Folders below which no further benchmarks are looked for: a corpus has categories, and these have benchmarks.
const DEEPEST: usize = 2;

/// The benchmarks of a corpus: its folders with one labeled page. A folder with several is a category.
pub(super) fn benchmarks(corpus: &Path, limits: &ParseOptions) -> Result<Vec<Benchmark>, EvaluateError> {
    let mut found = Vec::new();
    let mut open: Vec<(PathBuf, usize)> = folders(corpus)?.into_iter().rev().map(|folder| (folder, 1)).collect();
    while let Some((folder, depth)) = open.pop() {
        let files = Folder::open(&folder)?;
        let mut marked = Vec::new();
        for page in files.pages()? {
            let bytes = files.read(&page)?;
            if is_marked(&bytes) {
                marked.push((page, bytes));
            }
        }
        match marked.pop() {
            Some((key_page, bytes)) if marked.is_empty() => {
                let gold = gold_of(&parse_bytes(&bytes, None, limits).0);
                let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
                let pages = BTreeMap::from([(key_page.clone(), gold)]);
                found.push(Benchmark { name, folder, key_page, pages });
            }
            Some(_) if depth < DEEPEST => {
                open.extend(folders(&folder)?.into_iter().rev().map(|folder| (folder, depth + 1)));
            }
            Some((page, _)) => {
                let several = format!("several pages have classes of TECO, such as {page}; a benchmark has one");
                return Err(EvaluateError::Form { path: folder, line: None, reason: several });
            }
            None => {}
        }
    }
    Ok(found)
}

fn folders(path: &Path) -> Result<Vec<PathBuf>, EvaluateError> {
    let unreadable = |reason| EvaluateError::File { path: path.to_owned(), reason };
    let entries = std::fs::read_dir(path).map_err(unreadable)?.collect::<Result<Vec<_>, _>>().map_err(unreadable)?;
    let mut folders: Vec<PathBuf> =
        entries.into_iter().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    Ok(folders)
}

fn is_marked(bytes: &[u8]) -> bool {
    bytes.windows(MARK.len()).any(|window| window == MARK)
}

fn gold_of(tree: &Tree) -> PageGold {
    let below = |class: &str| {
        let mut is_below = vec![false; tree.len()];
        for node in tree.counted() {
            let classes = tree.attr(NodeId::new(node), "class").unwrap_or_default();
            let is_marked = classes.split_ascii_whitespace().any(|token| token == class);
            is_below[node] = is_marked || is_below[tree.shape.parent[node] as usize];
        }
        is_below
    };
    let (own, main) = (below(NOT_TEMPLATE), below(MAIN_CONTENT));
    let label = |node: usize| match (main[node], own[node]) {
        (true, _) => b'C',
        (_, true) => b'N',
        _ => b'T',
    };
    let labels = tree.counted().map(label).collect();
    let texts = tree.counted().map(NodeId::new).filter(|node| tree.is_text(*node) && main[node.index()]);
    let words: Vec<String> = texts.flat_map(|node| tokens(tree.text(node))).collect();
    PageGold { labels, words: (!words.is_empty()).then_some(words) }
}

/// A page without the classes of the benchmark. An attribute that held nothing else goes with them.
pub(super) fn without_marks(bytes: Vec<u8>) -> Vec<u8> {
    static ATTRIBUTE: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r#"(?i)\s+class\s*=\s*("[^"]*"|'[^']*'|[^\s"'>]+)"#).ok());
    static TOKEN: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"TECO_\w+\s*").ok());
    let (Some(attribute), Some(token)) = (&*ATTRIBUTE, &*TOKEN) else { return bytes };
    if !is_marked(&bytes) {
        return bytes;
    }
    let stripped = attribute.replace_all(&bytes, |found: &regex::bytes::Captures<'_>| {
        let whole = &found[0];
        if !is_marked(whole) {
            return whole.to_vec();
        }
        let rest = token.replace_all(&found[1], &b""[..]);
        let is_empty = rest.iter().all(|byte| matches!(byte, b'"' | b'\'') || byte.is_ascii_whitespace());
        if is_empty { Vec::new() } else { token.replace_all(whole, &b""[..]).into_owned() }
    });
    stripped.into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_classes_are_gold_and_then_gone() {
        let page =
            "<body><ul class='menu'><li>Home</ul><div class=\"TECO_notTemplate\"><p CLASS='a TECO_mainContent b'>Own
            words</p><i class=TECO_mainMenu>x</i></div> TECO_ in a text";
        let gold = gold_of(&parse_bytes(page.as_bytes(), None, &ParseOptions::default()).0);
        assert_eq!(String::from_utf8(gold.labels).unwrap(), "TTTTNCCNNT");
        assert_eq!(gold.words.unwrap(), ["own", "words"]);
        let text = String::from_utf8(without_marks(page.as_bytes().to_vec())).unwrap();
        assert_eq!(
            text,
            "<body><ul class='menu'><li>Home</ul><div><p CLASS='a b'>Own
            words</p><i>x</i></div> TECO_ in a text"
        );
        assert_eq!(without_marks(b"<p class=x>".to_vec()), b"<p class=x>");
    }
}
