//! Pages as sets of paths, and the selection of the essential paths.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::parallel;
use crate::text_mdl::TextOptions;
use dehusk_html::{NodeId, Tree, mix, normalized};

/// All paths of a page, as sorted distinct hashes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Paths(Vec<u64>);

/// Numbers of the essential paths of a page, ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Essential(pub Vec<u32>);

impl Paths {
    /// The paths of a page. A path is the tag names from the root to a node; the path of a text node ends in its words.
    /// Each path is computed from that of the parent, so the work is linear in the page.
    pub fn new(tree: &Tree) -> Paths {
        Paths::without(tree, &Implied::default())
    }

    /// The same with paths that lead past some elements, as if their children were those of their parents.
    pub fn without(tree: &Tree, implied: &Implied) -> Paths {
        let mut paths = node_paths(tree, implied);
        paths.retain(|path| *path != 0);
        Paths::of_hashes(paths)
    }

    /// A page by the hashes of its paths.
    pub fn of_hashes(mut paths: Vec<u64>) -> Paths {
        paths.sort_unstable();
        paths.dedup();
        Paths(paths)
    }

    /// Number of paths.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the page has no nodes.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Essential {
    /// E(d) of every page: the paths whose support is at least the mode of the supports of the page's paths. Of several
    /// modes the smallest is taken.
    ///
    /// Two settings depart from the paper, and each has a value that restores its behavior. `min_support` is a lower
    /// bound for the mode: where most paths of a page are unique, a mode of 1 would keep them all. Paths that more than
    /// the share `universal` of all pages have, such as `html/body/div`, do not count for the mode as long as there are
    /// others. In a collection of small templates they are most of a page's paths, and would be its only essential
    /// ones.
    ///
    /// The numbers identify paths of these pages only. The second result is the hash of each path by number.
    pub fn find_all(pages: &[Paths], how: &TextOptions) -> (Vec<Essential>, Vec<u64>) {
        let floor = if pages.len() > 2 { how.min_support } else { 1 };
        let universal = (how.universal * pages.len() as f64) as u32;
        let mut all: Vec<u64> = pages.iter().flat_map(|page| page.0.iter().copied()).collect();
        parallel::sort(&mut all);
        // A path of only one page needs no number, unless it can be essential.
        let counted = all.chunk_by(|a, b| a == b).filter(|run| run.len() as u32 >= floor.min(2));
        let (mut number, mut hashes): (FxHashMap<u64, (u32, u32)>, Vec<u64>) = Default::default();
        for run in counted {
            number.insert(run[0], (hashes.len() as u32, run.len() as u32));
            hashes.push(run[0]);
        }
        drop(all);
        let essential = |page: &Paths| {
            let known = page.0.iter().filter_map(|hash| number.get(hash).copied());
            let mut known: Vec<(u32, u32)> = known.collect();
            known.sort_unstable_by_key(|(_, support)| *support);
            let threshold = threshold(&known, page.0.len() - known.len(), floor, universal, how.threshold);
            let mut paths: Vec<u32> =
                known.into_iter().filter(|(_, support)| *support >= threshold).map(|(number, _)| number).collect();
            paths.sort_unstable();
            Essential(paths)
        };
        (parallel::map(pages, essential), hashes)
    }

    /// Number of paths that are essential for some page.
    pub fn n_distinct(pages: &[Essential]) -> usize {
        pages.iter().flat_map(|page| &page.0).collect::<FxHashSet<_>>().len()
    }
}

/// The mode of the supports, the smallest on ties, but at least `floor`. Supports above `universal` count only if there
/// are no others. The mode is multiplied by `factor`, as in the paper's experiment. `known` holds paths with their
/// supports, sorted by support; the `unknown` other paths are in one page each.
fn threshold(known: &[(u32, u32)], unknown: usize, floor: u32, universal: u32, factor: f64) -> u32 {
    let mode = |supports: &[(u32, u32)]| {
        let mut most = (1, 0);
        for run in supports.chunk_by(|a, b| a.1 == b.1) {
            if run.len() > most.1 {
                most = (run[0].1, run.len());
            }
        }
        most
    };
    let (some, all) = known.split_at(known.partition_point(|(_, support)| *support <= universal));
    let (support, n) = if some.is_empty() { mode(all) } else { mode(some) };
    let scaled = (f64::from(support) * factor).ceil() as u32;
    if unknown >= n.max(1) { floor } else { scaled.max(floor) }
}

/// Elements that a parser adds where the source has no tag for them, such as `head` and `tbody`. The trees of the paper
/// have none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Implied(Vec<&'static str>);

impl Implied {
    /// Those of a page, by its source. An element with a tag anywhere in the page counts as one of the source.
    pub fn of_source(source: &str) -> Implied {
        let source = source.to_ascii_lowercase();
        let has_tag = |name: &str| {
            let ends = |(at, tag): (usize, &str)| {
                !source.as_bytes().get(at + tag.len()).is_some_and(u8::is_ascii_alphanumeric)
            };
            source.match_indices(&format!("<{name}")).any(ends)
        };
        Implied(["html", "head", "body", "colgroup", "tbody", "tr"].into_iter().filter(|name| !has_tag(name)).collect())
    }

    fn has(&self, tree: &Tree, node: NodeId) -> bool {
        !self.0.is_empty() && self.0.contains(&tree.name(node))
    }
}

/// The hash of the path of each node; an implied element has that of its parent, 0 at the root.
pub(super) fn node_paths(tree: &Tree, implied: &Implied) -> Vec<u64> {
    let hashes = &tree.subtree_hashes().full;
    let mut paths: Vec<u64> = Vec::with_capacity(tree.len());
    for at in 0..tree.len() {
        let node = NodeId::new(at);
        let above = if at == 0 { 0 } else { paths[tree.shape.parent[at] as usize] };
        if implied.has(tree, node) {
            paths.push(above);
            continue;
        }
        // The path of a text node ends in the hash of its words.
        let own = if tree.is_text(node) { hashes[at] } else { tree.shape.tag[at] };
        paths.push(mix(above, own));
    }
    paths
}

/// The paths of a page that have these hashes, in readable form: `html/body/ul/li`, followed by the quoted text for a
/// text node.
pub fn path_names(tree: &Tree, implied: &Implied, wanted: &FxHashSet<u64>) -> Vec<(u64, String)> {
    let paths = node_paths(tree, implied);
    let mut seen = FxHashSet::default();
    let mut found = Vec::new();
    for (at, hash) in paths.iter().enumerate().filter(|(_, hash)| wanted.contains(hash)) {
        if implied.has(tree, NodeId::new(at)) || !seen.insert(*hash) {
            continue;
        }
        let node = NodeId::new(at);
        let mut names = Vec::new();
        let mut above = at;
        while above != 0 {
            names.push(NodeId::new(above));
            above = tree.shape.parent[above] as usize;
        }
        names.push(NodeId::new(0));
        let is_part = |node: &&NodeId| !tree.is_text(**node) && !implied.has(tree, **node);
        let elements = names.iter().rev().filter(is_part).map(|node| tree.name(*node));
        let mut name = elements.collect::<Vec<_>>().join("/");
        if tree.is_text(node) {
            name += &format!(" {:?}", normalized(tree.text(node)));
        }
        found.push((*hash, name));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text_mdl::{TextMethod, cluster, entropy_cost};
    use dehusk_html::ParseOptions;
    use dehusk_html::parse;

    fn how(min_support: u32) -> TextOptions {
        TextOptions { min_support, universal: 1.0, threshold: 1.0, ..TextOptions::default() }
    }

    #[test]
    fn the_worked_example() {
        // Supports 4, 4, 3, 3, 3, 1, 1, 1.
        let page = |paths: &[u64]| Paths(paths.to_vec());
        let pages = [page(&[1, 2, 3, 4, 6]), page(&[1, 2, 3, 4, 5, 7]), page(&[1, 2, 3, 4, 5, 8]), page(&[1, 2, 5])];
        for min_support in [1, 2] {
            let (essential, hashes) = Essential::find_all(&pages, &how(min_support));
            let hashes_of = |e: &Essential| e.0.iter().map(|number| hashes[*number as usize]).collect::<Vec<_>>();
            let found: Vec<Vec<u64>> = essential.iter().map(hashes_of).collect();
            assert_eq!(found, [vec![1, 2, 3, 4], vec![1, 2, 3, 4, 5], vec![1, 2, 3, 4, 5], vec![1, 2]]);
        }
    }

    #[test]
    fn where_all_is_their_own_nothing_is_essential_but_in_the_paper() {
        let pages = [Paths(vec![1, 10, 11, 12]), Paths(vec![1, 20, 21, 22]), Paths(vec![1, 30, 31, 32])];
        let sizes = |min_support| {
            Essential::find_all(&pages, &how(min_support)).0.iter().map(|e| e.0.len()).collect::<Vec<_>>()
        };
        assert_eq!(sizes(2), [1, 1, 1]);
        assert_eq!(sizes(1), [4, 4, 4]);
    }

    #[test]
    fn what_all_pages_have_does_not_decide() {
        // Two templates of two paths under four that every page has.
        let pages = [10, 10, 20, 20].map(|own| Paths(vec![1, 2, 3, 4, own, own + 1]));
        let sizes = |universal| {
            let how = TextOptions { universal, ..how(2) };
            Essential::find_all(&pages, &how).0.iter().map(|e| e.0.len()).collect::<Vec<_>>()
        };
        assert_eq!((sizes(1.0), sizes(0.5)), (vec![4; 4], vec![6; 4]));
    }

    #[test]
    fn paths_have_names_and_texts_are_told_by_their_words() {
        let of = |html: &str| parse(html, &ParseOptions::default());
        let (one, two) = (of("<ul><li>a\n b<li>c</ul>"), of("<ul><li>a b<li>d</ul>"));
        let (a, b) = (Paths::new(&one), Paths::new(&two));
        assert_eq!((a.len(), b.len()), (7, 7));
        let shared: FxHashSet<u64> = a.0.iter().filter(|hash| b.0.contains(hash)).copied().collect();
        let names: Vec<String> =
            path_names(&one, &Implied::default(), &shared).into_iter().map(|(_, name)| name).collect();
        let wanted = ["html", "html/head", "html/body", "html/body/ul", "html/body/ul/li", "html/body/ul/li \"a b\""];
        assert_eq!(names, wanted);
    }

    #[test]
    fn example_1_as_printed() {
        let documents = [
            "<html><body><h1>Tech</h1><br></body></html>",
            "<html><body><h1>World</h1><br>List</body></html>",
            "<html><body><h1>Local</h1><br>List</body></html>",
            "<html><body>List</body></html>",
        ];
        let paths: Vec<Paths> = documents
            .iter()
            .map(|html| Paths::without(&parse(html, &ParseOptions::default()), &Implied::of_source(html)))
            .collect();
        assert_eq!(paths.iter().map(Paths::len).collect::<Vec<_>>(), [5, 6, 6, 3]);
        let how = TextOptions { method: TextMethod::Mdl, ..how(1) };
        let (essential, hashes) = Essential::find_all(&paths, &how);
        let found = cluster(&essential, &how);
        assert_eq!((hashes.len(), Essential::n_distinct(&essential)), (8, 5));
        let bits = entropy_cost(&found.clusters, documents.len(), hashes.len());
        assert!((bits - 38.6720).abs() < 1e-4, "{bits}");
        let members: Vec<Vec<u32>> = found.clusters.iter().map(|cluster| cluster.members.clone()).collect();
        assert_eq!((members, found.cost), (vec![vec![0, 1, 2], vec![3]], 8));
    }

    #[test]
    fn implied_elements_are_those_without_a_tag() {
        let of = |html: &str| Implied::of_source(html).0;
        assert_eq!(of("<TABLE><TR><td>"), ["html", "head", "body", "colgroup", "tbody"]);
        assert_eq!(of("<header><html lang=en><head>\n<body\n>"), ["colgroup", "tbody", "tr"]);
        let html = "<table><tr><td>a";
        let tree = parse(html, &ParseOptions::default());
        let implied = Implied::of_source(html);
        let wanted = Paths::without(&tree, &implied).0.into_iter().collect();
        let names: Vec<String> = path_names(&tree, &implied, &wanted).into_iter().map(|(_, name)| name).collect();
        assert_eq!(names, ["table", "table/tr", "table/tr/td", "table/tr/td \"a\""]);
    }
}
