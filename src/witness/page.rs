//! A page that is to be labelled: columns in preorder from the body on.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Params;
use super::tables::{Kind, Tables, UNKNOWN};
use crate::dom::{NodeId, SetId, Sets, Tree, mix, normalized_chars};

/// What a page and a witness have alike, by node.
#[derive(Clone, Debug, Default)]
pub(super) struct Columns {
    /// Number of its kind in the tables.
    pub(super) kind: Vec<u32>,
    /// Nodes of its subtree.
    pub(super) size: Vec<u32>,
    pub(super) n_children: Vec<u32>,
    /// Number of its subtree in the tables.
    pub(super) subtree: Vec<u32>,
}

impl Columns {
    pub(super) fn len(&self) -> usize {
        self.size.len()
    }

    pub(super) fn children(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        let end = node + self.size[node] as usize;
        let mut next = node + 1;
        std::iter::from_fn(move || {
            (next < end).then(|| {
                let child = next;
                next += self.size[child] as usize;
                child
            })
        })
    }
}

/// A page reduced to what is compared.
#[derive(Clone, Debug, Default)]
pub(super) struct Page {
    /// Kinds and subtrees are [`UNKNOWN`] until the page is numbered, and those that no witness has stay so.
    pub(super) columns: Columns,
    pub(super) parent: Vec<u32>,
    /// Its kinds of nodes.
    kinds: Vec<Kind>,
    /// Number of each node in `kinds`.
    own_kind: Vec<u32>,
    /// Hash of a text, or of the attributes of an element without children; 0 = none.
    own: Vec<u32>,
    /// Characters of a text node.
    pub(super) chars: Vec<u32>,
    /// Hash of the subtree's tags and texts.
    hash: Vec<u64>,
    /// Does the subtree hold text?
    pub(super) has_text: Vec<bool>,
    /// Hash of the whole page, of what a bounded one has lost too.
    digest: u64,
}

/// Kinds of tokens are kept apart: a class is no id.
const ID: u64 = 1;
const CLASS: u64 = 2;
const ATTRIBUTE: u64 = 3;

fn token(kind: u64, name: u64) -> u32 {
    (mix(kind, name) as u32).max(1)
}

/// The distinct tokens of a page.
pub(super) fn tokens(tree: &Tree) -> FxHashSet<u32> {
    let shape = &tree.shape;
    let mut found = FxHashSet::default();
    let mut seen = [vec![false; shape.sets.len()], vec![false; shape.sets.len()]];
    for node in tree.counted() {
        if shape.id[node] != 0 {
            found.insert(token(ID, shape.id[node]));
        }
        for (at, kind, set) in [(0, CLASS, shape.classes[node]), (1, ATTRIBUTE, shape.attrs[node])] {
            if !std::mem::replace(&mut seen[at][set.index()], true) {
                found.extend(shape.sets.get(set).iter().map(|name| token(kind, *name)));
            }
        }
    }
    found
}

/// Lists of the tokens of a kind that are in the vocabulary, each once: a page of a million links has a million sets of
/// attributes, and hardly one of them anywhere else.
struct Stable<'a> {
    kind: u64,
    vocabulary: &'a FxHashSet<u32>,
    /// List of each set, once it is known.
    of_set: Vec<Option<u32>>,
    lists: Vec<Vec<u32>>,
    known: FxHashMap<Vec<u32>, u32>,
}

impl<'a> Stable<'a> {
    fn new(kind: u64, sets: &Sets, vocabulary: &'a FxHashSet<u32>) -> Stable<'a> {
        Stable { kind, vocabulary, of_set: vec![None; sets.len()], lists: Vec::new(), known: FxHashMap::default() }
    }

    /// Number of the list of a set.
    fn number(&mut self, sets: &Sets, set: SetId) -> u32 {
        if let Some(number) = self.of_set[set.index()] {
            return number;
        }
        let tokens = sets.get(set).iter().map(|name| token(self.kind, *name));
        let mut list: Vec<u32> = tokens.filter(|token| self.vocabulary.contains(token)).collect();
        list.sort_unstable();
        list.dedup();
        let number = *self.known.entry(list).or_insert_with_key(|list| {
            self.lists.push(list.clone());
            self.lists.len() as u32 - 1
        });
        self.of_set[set.index()] = Some(number);
        number
    }
}

impl Page {
    /// The page of a tree; names outside the vocabulary are left out.
    pub(super) fn of(tree: &Tree, vocabulary: &FxHashSet<u32>) -> Page {
        let (counted, shape) = (tree.counted(), &tree.shape);
        let (first, n) = (counted.start, counted.len());
        let mut page = Page { chars: vec![0; n], ..Page::with_capacity(n) };
        let mut classes = Stable::new(CLASS, &shape.sets, vocabulary);
        let mut attrs = Stable::new(ATTRIBUTE, &shape.sets, vocabulary);
        let mut known: FxHashMap<(u32, u32, u32, u32), u32> = FxHashMap::default();
        for node in counted {
            let at = NodeId::new(node);
            let is_text = tree.is_text(at);
            page.parent.push((shape.parent[node] as usize).saturating_sub(first) as u32);
            page.columns.n_children.push(shape.n_children[node]);
            page.own.push(if is_text {
                page.chars[node - first] = normalized_chars(tree.text(at)) as u32;
                (shape.text[node] as u32).max(1)
            } else if shape.n_children[node] == 0 {
                shape.sets.hash(shape.attrs[node]) as u32
            } else {
                0
            });
            let tag = if is_text { 0 } else { (shape.tag[node] as u32).max(1) };
            let id = token(ID, shape.id[node]);
            let id = if shape.id[node] != 0 && vocabulary.contains(&id) { id } else { 0 };
            let in_classes = classes.number(&shape.sets, shape.classes[node]);
            let in_attrs = attrs.number(&shape.sets, shape.attrs[node]);
            let kind = *known.entry((tag, id, in_classes, in_attrs)).or_insert_with(|| {
                let list = |stable: &Stable<'_>, number: u32| stable.lists[number as usize].clone();
                page.kinds.push(Kind { tag, id, classes: list(&classes, in_classes), attrs: list(&attrs, in_attrs) });
                page.kinds.len() as u32 - 1
            });
            page.own_kind.push(kind);
        }
        page.sum_up();
        page.digest = page.hash.first().copied().unwrap_or(0);
        page
    }

    /// The page that a witness was made of, as far as it is known: without the lengths of its texts.
    pub(super) fn again(kinds: &[Kind], own_kind: &[u32], n_children: Vec<u32>, own: Vec<u32>) -> Page {
        let mut page = Page { own, ..Page::with_capacity(own_kind.len()) };
        let mut number = vec![UNKNOWN; kinds.len()];
        for kind in own_kind {
            let number = &mut number[*kind as usize];
            if *number == UNKNOWN {
                *number = page.kinds.len() as u32;
                page.kinds.push(kinds[*kind as usize].clone());
            }
            page.own_kind.push(*number);
        }
        // Nodes with children still to come, and how many.
        let mut open: Vec<(u32, u32)> = Vec::new();
        for (node, n_children) in n_children.iter().enumerate() {
            while open.last().is_some_and(|(_, to_come)| *to_come == 0) {
                open.pop();
            }
            page.parent.push(open.last_mut().map_or(0, |(parent, to_come)| {
                *to_come -= 1;
                *parent
            }));
            open.push((node as u32, *n_children));
        }
        page.columns.n_children = n_children;
        page.sum_up();
        page
    }

    fn with_capacity(n: usize) -> Page {
        let column = || Vec::with_capacity(n);
        let columns = Columns { n_children: column(), ..Columns::default() };
        Page { columns, parent: column(), own_kind: column(), own: column(), ..Page::default() }
    }

    /// Fills in what follows from the other columns.
    fn sum_up(&mut self) {
        let n = self.parent.len();
        self.columns.size = vec![1; n];
        for node in (1..n).rev() {
            self.columns.size[self.parent[node] as usize] += self.columns.size[node];
        }
        self.hash = vec![0; n];
        self.has_text = (0..n).map(|node| self.kind(node).is_text()).collect();
        for node in (0..n).rev() {
            let parent = self.parent[node] as usize;
            self.has_text[parent] |= self.has_text[node];
            let mut hash = mix(u64::from(self.kind(node).tag), u64::from(self.own[node]));
            for child in self.columns.children(node) {
                hash = mix(hash, self.hash[child]);
            }
            self.hash[node] = hash;
        }
    }

    /// The page without the middle of very long child lists, and cut off after `max_nodes` nodes.
    pub(super) fn bounded(self, params: Params) -> Page {
        let most = params.max_nodes;
        // Of a long list more from the beginning: pages append.
        let last = (params.children / 7) as u32;
        let first = params.children as u32 - last;
        let n_children = &self.columns.n_children;
        if self.len() <= most && n_children.iter().all(|n| *n <= first + last) {
            return self;
        }
        let mut kept = Page { kinds: self.kinds, digest: self.digest, ..Page::default() };
        let mut number: Vec<Option<u32>> = vec![None; self.parent.len()];
        // Children of each node that have come.
        let mut come: Vec<u32> = vec![0; self.parent.len()];
        for node in 0..self.parent.len() {
            let parent = self.parent[node] as usize;
            if node > 0 {
                come[parent] += 1;
                let is_end = come[parent] <= first || come[parent] + last > n_children[parent];
                if number[parent].is_none() || !is_end {
                    continue;
                }
            }
            if kept.parent.len() >= most {
                break;
            }
            let above = number[parent].unwrap_or(0);
            number[node] = Some(kept.parent.len() as u32);
            if node > 0 {
                kept.columns.n_children[above as usize] += 1;
            }
            kept.parent.push(above);
            kept.columns.n_children.push(0);
            kept.own_kind.push(self.own_kind[node]);
            kept.own.push(self.own[node]);
            kept.chars.push(self.chars[node]);
        }
        kept.sum_up();
        kept
    }

    /// Numbers its kinds and subtrees as the witnesses do.
    pub(super) fn number(&mut self, tables: &Tables) {
        let kinds: Vec<u32> = self.kinds.iter().map(|kind| tables.find_kind(kind).unwrap_or(UNKNOWN)).collect();
        self.columns.kind = self.own_kind.iter().map(|kind| kinds[*kind as usize]).collect();
        self.columns.subtree = self.hash.iter().map(|hash| tables.find_subtree(*hash)).collect();
    }

    /// Makes its kinds known, as far as its nodes bear them.
    pub(super) fn admit_kinds(&self, tables: &mut Tables) {
        let mut is_seen = vec![false; self.kinds.len()];
        for kind in &self.own_kind {
            if !std::mem::replace(&mut is_seen[*kind as usize], true) {
                tables.add_kind(&self.kinds[*kind as usize]);
            }
        }
    }

    /// Hashes of its subtrees.
    pub(super) fn hashes(&self) -> &[u64] {
        &self.hash
    }

    pub(super) fn len(&self) -> usize {
        self.parent.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.parent.is_empty()
    }

    /// Equal for equal pages.
    pub(super) fn digest(&self) -> u64 {
        self.digest
    }

    pub(super) fn kind(&self, node: usize) -> &Kind {
        &self.kinds[self.own_kind[node] as usize]
    }

    /// Hashes of the nodes without children, in order.
    pub(super) fn leaves(&self) -> Vec<u32> {
        (0..self.len()).filter(|node| self.columns.n_children[*node] == 0).map(|node| self.own[node]).collect()
    }
}
