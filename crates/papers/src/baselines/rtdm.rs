//! RTDM, the restricted top-down mapping (Reis et al. 2004), and RTDM-TD, template detection with it (Vieira et al.
//! 2006).
//!
//! Trees are mapped from the root down. The children of two mapped nodes are aligned in order at the least cost, and so
//! on below nodes with the same label. Nodes with different labels can be mapped at the cost of one replacement, but
//! nothing below them is mapped. An identical subtree is mapped at no cost and not searched.
//!
//! Choices made here: the label of an element is its tag with all attributes, and the label of a text is its words.
//! Each node costs one. Child lists are aligned until eight million pairs of children have been compared, which only
//! hostile pages reach. After that, lists are deleted and inserted whole.

use dehusk_content::Labels;
use rustc_hash::FxHashMap;

use dehusk_html::{NodeId, Tree, mix};

/// Largest number of pairs of children compared for one mapping.
const MOST_PAIRS: usize = 8_000_000;

/// A labeled tree: the body of a page, or the part of it that is template.
#[derive(Clone, Debug, Default, PartialEq)]
struct Labelled {
    label: Vec<u64>,
    size: Vec<u32>,
    /// Hash of the label and everything below.
    full: Vec<u64>,
    parent: Vec<u32>,
    child_from: Vec<u32>,
    children: Vec<u32>,
}

impl Labelled {
    fn from_tree(tree: &Tree) -> Labelled {
        let counted = tree.counted();
        let (shape, fields, hashes) = (&tree.shape, tree.fields(), &tree.subtree_hashes().full);
        let label = counted.clone().map(|node| {
            if tree.is_text(NodeId::new(node)) {
                hashes[node]
            } else {
                [fields.classes[node], fields.attrs[node]]
                    .into_iter()
                    .fold(mix(shape.tag[node], fields.id[node]), |hash, set| mix(hash, fields.sets.hash(set)))
            }
        });
        let parent = counted.clone().map(|node| shape.parent[node].saturating_sub(counted.start as u32)).collect();
        Labelled::new(label.collect(), parent)
    }

    /// Builds a tree from labels and parents in preorder. The root is its own parent.
    fn new(label: Vec<u64>, mut parent: Vec<u32>) -> Labelled {
        let n = label.len();
        if let Some(root) = parent.first_mut() {
            *root = 0;
        }
        let mut size = vec![1_u32; n];
        let mut child_from = vec![0_u32; n + 1];
        for node in (1..n).rev() {
            size[parent[node] as usize] += size[node];
            child_from[parent[node] as usize + 1] += 1;
        }
        (0..n).for_each(|node| child_from[node + 1] += child_from[node]);
        let mut next = child_from.clone();
        let mut children = vec![0_u32; n.saturating_sub(1)];
        for node in 1..n {
            let place = &mut next[parent[node] as usize];
            children[*place as usize] = node as u32;
            *place += 1;
        }
        let mut full = label.clone();
        for node in (0..n).rev() {
            let below = child_from[node] as usize..child_from[node + 1] as usize;
            full[node] = children[below].iter().fold(label[node], |hash, child| mix(hash, full[*child as usize]));
        }
        Labelled { label, size, full, parent, child_from, children }
    }

    fn len(&self) -> usize {
        self.label.len()
    }

    fn children(&self, node: usize) -> &[u32] {
        &self.children[self.child_from[node] as usize..self.child_from[node + 1] as usize]
    }

    /// The tree of the nodes marked in `keeps`. A node whose parent is dropped is dropped too.
    fn reduced(&self, keeps: &[bool]) -> Labelled {
        let mut number = vec![u32::MAX; self.len()];
        let (mut label, mut parent) = (Vec::new(), Vec::new());
        for node in 0..self.len() {
            let above = if node == 0 { 0 } else { number[self.parent[node] as usize] };
            if keeps[node] && above != u32::MAX {
                number[node] = label.len() as u32;
                label.push(self.label[node]);
                parent.push(above);
            }
        }
        Labelled::new(label, parent)
    }
}

/// The mapping of two trees.
struct Mapping<'a> {
    left: &'a Labelled,
    right: &'a Labelled,
    /// Costs of compared pairs with the same label.
    cost: FxHashMap<(u32, u32), u32>,
    /// Number of pairs that may still be compared.
    left_pairs: usize,
}

impl<'a> Mapping<'a> {
    fn new(left: &'a Labelled, right: &'a Labelled) -> Mapping<'a> {
        Mapping { left, right, cost: FxHashMap::default(), left_pairs: MOST_PAIRS }
    }

    /// Cost of mapping two subtrees whose roots are mapped.
    fn of_pair(&mut self, i: u32, j: u32) -> u32 {
        let (a, b) = (i as usize, j as usize);
        let (left, right) = (self.left, self.right);
        if left.full[a] == right.full[b] {
            return 0;
        }
        if left.label[a] != right.label[b] {
            // One replacement; all descendants of one node are deleted and those of the other inserted.
            return 1 + (left.size[a] - 1) + (right.size[b] - 1);
        }
        if left.size[a] == 1 || right.size[b] == 1 {
            return (left.size[a] - 1) + (right.size[b] - 1);
        }
        if let Some(known) = self.cost.get(&(i, j)) {
            return *known;
        }
        let cost = self.of_lists(left.children(a), right.children(b), None);
        self.cost.insert((i, j), cost);
        cost
    }

    /// Cost of aligning two child lists. The children that are mapped to each other are appended to `pairs`.
    fn of_lists(&mut self, a: &[u32], b: &[u32], pairs: Option<&mut Vec<(u32, u32)>>) -> u32 {
        let (left, right) = (self.left, self.right);
        let same = |(x, y): &(&u32, &u32)| left.full[**x as usize] == right.full[**y as usize];
        // Some mapping of least cost maps equal ends to each other.
        let head = a.iter().zip(b).take_while(same).count();
        let tail = a[head..].iter().rev().zip(b[head..].iter().rev()).take_while(same).count();
        let (inner_a, inner_b) = (&a[head..a.len() - tail], &b[head..b.len() - tail]);
        let size = |tree: &Labelled, node: u32| tree.size[node as usize];
        let whole = |tree: &Labelled, list: &[u32]| list.iter().map(|node| size(tree, *node)).sum::<u32>();
        let (n, m) = (inner_a.len(), inner_b.len());
        let mut inner = Vec::new();
        let cost = if n == 0 || m == 0 || n.saturating_mul(m) > self.left_pairs {
            whole(left, inner_a) + whole(right, inner_b)
        } else {
            self.left_pairs -= n * m;
            let width = m + 1;
            let mut table = vec![0_u32; (n + 1) * width];
            (1..=n).for_each(|x| table[x * width] = table[(x - 1) * width] + size(left, inner_a[x - 1]));
            (1..=m).for_each(|y| table[y] = table[y - 1] + size(right, inner_b[y - 1]));
            for x in 1..=n {
                for y in 1..=m {
                    let delete = table[(x - 1) * width + y] + size(left, inner_a[x - 1]);
                    let insert = table[x * width + y - 1] + size(right, inner_b[y - 1]);
                    let map = table[(x - 1) * width + y - 1] + self.of_pair(inner_a[x - 1], inner_b[y - 1]);
                    table[x * width + y] = map.min(delete).min(insert);
                }
            }
            if pairs.is_some() {
                let (mut x, mut y) = (n, m);
                while x > 0 && y > 0 {
                    let here = table[x * width + y];
                    let (i, j) = (inner_a[x - 1], inner_b[y - 1]);
                    if here == table[(x - 1) * width + y - 1] + self.of_pair(i, j) {
                        inner.push((i, j));
                        (x, y) = (x - 1, y - 1);
                    } else if here == table[(x - 1) * width + y] + size(left, i) {
                        x -= 1;
                    } else {
                        y -= 1;
                    }
                }
            }
            table[n * width + m]
        };
        if let Some(pairs) = pairs {
            pairs.extend(a[..head].iter().copied().zip(b[..head].iter().copied()));
            pairs.append(&mut inner);
            pairs.extend(a[a.len() - tail..].iter().copied().zip(b[b.len() - tail..].iter().copied()));
        }
        cost
    }

    /// The nodes of each tree that a mapping of least cost maps to a node with the same label.
    fn identities(&mut self) -> (Vec<bool>, Vec<bool>) {
        let (mut in_left, mut in_right) = (vec![false; self.left.len()], vec![false; self.right.len()]);
        if in_left.is_empty() || in_right.is_empty() {
            return (in_left, in_right);
        }
        let mut open = vec![(0_u32, 0_u32)];
        // The bodies are always mapped, whatever their attributes.
        (in_left[0], in_right[0]) = (true, true);
        while let Some((i, j)) = open.pop() {
            let (a, b) = (i as usize, j as usize);
            if self.left.full[a] == self.right.full[b] {
                in_left[a..a + self.left.size[a] as usize].fill(true);
                in_right[b..b + self.right.size[b] as usize].fill(true);
                continue;
            }
            let mut pairs = Vec::new();
            self.of_lists(self.left.children(a), self.right.children(b), Some(&mut pairs));
            for (x, y) in pairs {
                if self.left.label[x as usize] == self.right.label[y as usize] {
                    (in_left[x as usize], in_right[y as usize]) = (true, true);
                    open.push((x, y));
                }
            }
        }
        (in_left, in_right)
    }
}

/// Cost of mapping two pages as a share of their nodes, from 0 to 1.
pub fn rtdm_distance(left: &Tree, right: &Tree) -> f64 {
    RtdmPage::new(left).distance(&RtdmPage::new(right))
}

/// A page, ready to be compared with many others.
#[derive(Clone, Debug, PartialEq)]
pub struct RtdmPage(Labelled);

impl RtdmPage {
    /// Reads a page.
    pub fn new(tree: &Tree) -> RtdmPage {
        RtdmPage(Labelled::from_tree(tree))
    }

    /// [`rtdm_distance`] to another page.
    pub fn distance(&self, other: &RtdmPage) -> f64 {
        let (left, right) = (&self.0, &other.0);
        let nodes = (left.len() + right.len()) as f64;
        if left.len() == 0 || right.len() == 0 {
            return if nodes > 0.0 { 1.0 } else { 0.0 };
        }
        f64::from(Mapping::new(left, right).of_pair(0, 0)) / nodes
    }
}

/// The RTDM-TD template of a site: what is the same on the first page and on all others.
#[derive(Clone, Debug, PartialEq)]
pub struct RtdmTemplate {
    tree: Labelled,
}

impl RtdmTemplate {
    /// Reduces the first page to the nodes that are mapped to a node with the same label on every other page.
    pub fn learn(pages: &[&Tree]) -> Option<RtdmTemplate> {
        let (first, others) = pages.split_first()?;
        let mut tree = Labelled::from_tree(first);
        for page in others {
            let page = Labelled::from_tree(page);
            let mut mapping = Mapping::new(&tree, &page);
            let (kept, _) = mapping.identities();
            tree = tree.reduced(&kept);
        }
        (!others.is_empty() && tree.len() > 1).then_some(RtdmTemplate { tree })
    }

    /// Labels the nodes of a page that the template is mapped to. The confidence is the mapped share of the template.
    pub fn label(&self, page: &Tree) -> Labels {
        let mut is_template = vec![false; page.len()];
        let start = page.counted().start;
        let labelled = Labelled::from_tree(page);
        let mut mapping = Mapping::new(&self.tree, &labelled);
        let (_, found) = mapping.identities();
        let n = found.iter().filter(|is| **is).count();
        is_template[start..start + found.len()].copy_from_slice(&found);
        Labels::new(is_template).with_confidence(n as f64 / self.tree.len().max(1) as f64)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::test_pages;
    use dehusk_html::ParseOptions;
    use dehusk_html::parse;

    fn page(html: &str) -> Tree {
        parse(html, &ParseOptions::default())
    }

    #[test]
    fn what_differs_is_left() {
        let of = |own: &str| page(&format!("<ul><li>Home<li>Blog</ul><div class=a><p>{own}</p></div><b>foot</b>"));
        let pages = ["one", "two", "three"].map(of);
        let template = RtdmTemplate::learn(&pages.each_ref()).unwrap();
        let new = of("four");
        let labels = template.label(&new);
        let kept: Vec<&str> = new
            .counted()
            .map(NodeId::new)
            .filter(|n| new.is_text(*n) && !labels.is_template(*n))
            .map(|n| new.text(n))
            .collect();
        assert_eq!((kept, labels.confidence), (vec!["four"], 1.0));
        assert!(RtdmTemplate::learn(&[&new]).is_none() && RtdmTemplate::learn(&[]).is_none());
        assert_eq!(template.label(&page("")).confidence, 1.0 / template.tree.len() as f64);
    }

    #[test]
    fn distances() {
        let near = |a: &str, b: &str, nodes: f64, cost: f64| {
            assert!((rtdm_distance(&page(a), &page(b)) - cost / nodes).abs() < 1e-9, "{a} {b}");
        };
        near("<p>a", "<p>a", 6.0, 0.0);
        near("<p>a", "<p>b", 6.0, 1.0);
        near("<p>a<p>b", "<p>b", 8.0, 2.0);
        // A replacement deletes and inserts everything below: 1 + 1 + 1.
        near("<i>a</i>", "<b>a</b>", 6.0, 3.0);
    }

    #[test]
    fn tables_of_unlike_cells_end() {
        let table = |from: usize| {
            let rows = (0..120).map(|row| {
                let cells = (0..20).map(|cell| format!("<td><b>{}</b></td>", from + 20 * row + cell));
                format!("<tr>{}</tr>", cells.collect::<String>())
            });
            page(&format!("<table>{}</table>", rows.collect::<String>()))
        };
        let (one, two) = (table(0), table(1_000_000));
        let distance = rtdm_distance(&one, &two);
        assert!((0.1..=1.0).contains(&distance), "{distance}");
        let template = RtdmTemplate::learn(&[&one, &two]).unwrap();
        assert_eq!(template.label(&one).is_template.len(), one.len());
    }

    /// The recursion as printed, without stripped ends, memoization or identical subtrees.
    fn literal(left: &Labelled, i: usize, right: &Labelled, j: usize) -> u32 {
        let (a, b) = (left.children(i), right.children(j));
        if left.label[i] != right.label[j] {
            return 1 + left.size[i] - 1 + right.size[j] - 1;
        }
        let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
        for x in 0..=a.len() {
            for y in 0..=b.len() {
                let delete = (x > 0).then(|| table[x - 1][y] + left.size[a[x - 1] as usize]);
                let insert = (y > 0).then(|| table[x][y - 1] + right.size[b[y - 1] as usize]);
                let map = (x > 0 && y > 0)
                    .then(|| table[x - 1][y - 1] + literal(left, a[x - 1] as usize, right, b[y - 1] as usize));
                table[x][y] = [delete, insert, map].into_iter().flatten().min().unwrap_or(0);
            }
        }
        table[a.len()][b.len()]
    }

    proptest! {
        #[test]
        fn the_fast_form_costs_what_the_recursion_does(pages in test_pages::pages(1, 0..10)) {
            let trees: Vec<Labelled> = pages.iter().map(|html| Labelled::from_tree(&page(html))).collect();
            let mut mapping = Mapping::new(&trees[0], &trees[1]);
            prop_assert_eq!(mapping.of_pair(0, 0), literal(&trees[0], 0, &trees[1], 0));
            let (left, right) = mapping.identities();
            let count = |list: &[bool]| list.iter().filter(|is| **is).count();
            prop_assert_eq!(count(&left), count(&right), "a mapping is one to one");
        }
    }
}
