//! One page as a witness: columns in preorder from the body on.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::dom::{NodeId, SetId, Sets, Tree, mix, normalized_chars};

use super::align::Alignment;

/// A page reduced to what is compared.
#[derive(Clone, Debug, Default)]
pub(super) struct Page {
    pub(super) tag: Vec<u32>,
    pub(super) parent: Vec<u32>,
    pub(super) size: Vec<u32>,
    /// Position among the siblings, from 1.
    pub(super) position: Vec<u32>,
    pub(super) n_children: Vec<u32>,
    /// Hash of a text, or of the attributes of an element without children; 0 = none.
    pub(super) own: Vec<u32>,
    pub(super) is_text: Vec<bool>,
    /// Number of each node in `names`.
    pub(super) named: Vec<u32>,
    pub(super) names: Arc<Vec<Names>>,
    /// Characters of a text node; known only of a page that is labelled.
    pub(super) chars: Vec<u32>,
    /// Hash of the subtree's tags and texts.
    pub(super) hash: Vec<u64>,
    /// Hash of the whole page, of what a bounded one has lost too.
    digest: u64,
    url: u64,
    is_further: bool,
    /// Does the subtree hold text?
    has_text: Vec<bool>,
    is_template: Vec<bool>,
    n_template: usize,
    /// Nodes of subtrees with text, by hash; of equal ones the first.
    by_hash: Vec<u32>,
    /// Nodes with an id, by id.
    by_id: Vec<u32>,
}

/// Names of an element that other pages bear too.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Names {
    /// 0 = none.
    pub(super) id: u32,
    /// Ascending.
    pub(super) classes: Vec<u32>,
    /// Name and value, hashed; ascending.
    pub(super) attrs: Vec<u32>,
    /// Equal for equal names, on any page.
    pub(super) hash: u64,
}

impl Names {
    pub(super) fn new(id: u32, classes: Vec<u32>, attrs: Vec<u32>) -> Names {
        let lists = classes.iter().chain(std::iter::once(&0)).chain(&attrs);
        let hash = lists.fold(u64::from(id), |hash, token| mix(hash, u64::from(*token)));
        Names { id, classes, attrs, hash }
    }
}

/// Kinds of tokens are kept apart: a class is no id.
const ID: u64 = 1;
const CLASS: u64 = 2;
const ATTRIBUTE: u64 = 3;

fn token(kind: u64, name: u64) -> u32 {
    (mix(kind, name) as u32).max(1)
}

/// Place of a URL among all URLs: as good as random.
pub(super) fn rank(url: u64) -> u64 {
    mix(0, url)
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

/// Gives all pages one table of names: they share most of them.
pub(super) fn share_names(pages: &mut [Page]) {
    let mut table: Vec<Names> = Vec::new();
    let mut known: FxHashMap<Names, u32> = FxHashMap::default();
    for page in pages.iter_mut() {
        let mut number: Vec<Option<u32>> = vec![None; page.names.len()];
        for named in &mut page.named {
            let names = &page.names[*named as usize];
            *named = *number[*named as usize].get_or_insert_with(|| {
                *known.entry(names.clone()).or_insert_with_key(|names| {
                    table.push(names.clone());
                    table.len() as u32 - 1
                })
            });
        }
    }
    let table = Arc::new(table);
    pages.iter_mut().for_each(|page| page.names = Arc::clone(&table));
}

impl Page {
    /// The page of a tree; names outside the vocabulary are left out.
    pub(super) fn of(tree: &Tree, vocabulary: &FxHashSet<u32>) -> Page {
        let (counted, shape) = (tree.counted(), &tree.shape);
        let (first, n) = (counted.start, counted.len());
        let mut page = Page { chars: vec![0; n], ..Page::with_capacity(n) };
        let mut classes = Stable::new(CLASS, &shape.sets, vocabulary);
        let mut attrs = Stable::new(ATTRIBUTE, &shape.sets, vocabulary);
        let mut known: FxHashMap<(u32, u32, u32), u32> = FxHashMap::default();
        let mut names = Vec::new();
        for node in counted {
            let at = NodeId::new(node);
            let is_text = tree.is_text(at);
            page.tag.push(if is_text { 0 } else { (shape.tag[node] as u32).max(1) });
            page.parent.push((shape.parent[node] as usize).saturating_sub(first) as u32);
            page.n_children.push(shape.n_children[node]);
            page.position.push(shape.position[node]);
            page.is_text.push(is_text);
            page.own.push(if is_text {
                page.chars[node - first] = normalized_chars(tree.text(at)) as u32;
                (shape.text[node] as u32).max(1)
            } else if shape.n_children[node] == 0 {
                shape.sets.hash(shape.attrs[node]) as u32
            } else {
                0
            });
            let id = token(ID, shape.id[node]);
            let id = if shape.id[node] != 0 && vocabulary.contains(&id) { id } else { 0 };
            let in_classes = classes.number(&shape.sets, shape.classes[node]);
            let in_attrs = attrs.number(&shape.sets, shape.attrs[node]);
            let named = *known.entry((id, in_classes, in_attrs)).or_insert_with(|| {
                let list = |stable: &Stable<'_>, number: u32| stable.lists[number as usize].clone();
                names.push(Names::new(id, list(&classes, in_classes), list(&attrs, in_attrs)));
                names.len() as u32 - 1
            });
            page.named.push(named);
        }
        page.names = Arc::new(names);
        page.sum_up();
        page.digest = page.hash.first().copied().unwrap_or(0);
        page
    }

    fn with_capacity(n: usize) -> Page {
        let column = || Vec::with_capacity(n);
        Page {
            tag: column(),
            parent: column(),
            position: column(),
            n_children: column(),
            own: column(),
            is_text: Vec::with_capacity(n),
            named: column(),
            ..Page::default()
        }
    }

    /// Fills in what follows from the other columns.
    pub(super) fn sum_up(&mut self) {
        let n = self.len();
        self.size = vec![1; n];
        for node in (1..n).rev() {
            self.size[self.parent[node] as usize] += self.size[node];
        }
        self.hash = vec![0; n];
        self.has_text.clone_from(&self.is_text);
        for node in (0..n).rev() {
            let mut hash = mix(u64::from(self.tag[node]), u64::from(self.own[node]));
            for child in self.children(node) {
                hash = mix(hash, self.hash[child]);
            }
            self.hash[node] = hash;
            if node > 0 && self.has_text[node] {
                self.has_text[self.parent[node] as usize] = true;
            }
        }
    }

    /// Makes the page one that others can be aligned to.
    pub(super) fn index(&mut self) {
        let hash = &self.hash;
        self.by_hash = (0..self.len() as u32).filter(|node| self.has_text[*node as usize]).collect();
        self.by_hash.sort_by_key(|node| hash[*node as usize]);
        self.by_hash.dedup_by_key(|node| hash[*node as usize]);
        self.by_hash.shrink_to_fit();
        let id = |node: &u32| self.names(*node as usize).id;
        let mut by_id: Vec<u32> = (0..self.len() as u32).filter(|node| id(node) != 0).collect();
        by_id.sort_by_key(id);
        by_id.shrink_to_fit();
        self.by_id = by_id;
    }

    /// Drops what only a page needs that is labelled.
    pub(super) fn forget_chars(&mut self) {
        self.chars = Vec::new();
    }

    /// The page without the middle of very long child lists, and cut off after `most` nodes.
    pub(super) fn bounded(self, most: usize) -> Page {
        /// Children of one node that are kept from the beginning and from the end of their list.
        const FIRST: u32 = 300;
        const LAST: u32 = 50;
        let is_long = self.n_children.iter().any(|n| *n > FIRST + LAST);
        if self.len() <= most && !is_long {
            return self;
        }
        let mut kept = Page { names: Arc::clone(&self.names), digest: self.digest, ..Page::default() };
        let mut number: Vec<Option<u32>> = vec![None; self.len()];
        for node in 0..self.len() {
            let parent = self.parent[node] as usize;
            let place = self.position[node];
            let is_end = place <= FIRST || place + LAST > self.n_children[parent];
            if kept.len() >= most || (node > 0 && (number[parent].is_none() || !is_end)) {
                continue;
            }
            let above = number[parent].unwrap_or(0);
            number[node] = Some(kept.len() as u32);
            if node > 0 {
                kept.n_children[above as usize] += 1;
            }
            kept.position.push(if node > 0 { kept.n_children[above as usize] } else { 1 });
            kept.tag.push(self.tag[node]);
            kept.parent.push(above);
            kept.n_children.push(0);
            kept.own.push(self.own[node]);
            kept.is_text.push(self.is_text[node]);
            kept.named.push(self.named[node]);
            kept.chars.extend(self.chars.get(node));
        }
        kept.sum_up();
        kept
    }

    pub(super) fn len(&self) -> usize {
        self.tag.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tag.is_empty()
    }

    /// Equal for equal pages.
    pub(super) fn digest(&self) -> u64 {
        self.digest
    }

    pub(super) fn set_digest(&mut self, digest: u64) {
        self.digest = digest;
    }

    pub(super) fn found_at(self, url: u64) -> Page {
        Page { url, ..self }
    }

    /// Number of its URL.
    pub(super) fn url(&self) -> u64 {
        self.url
    }

    /// Was it added after the training pages?
    pub(super) fn is_further(&self) -> bool {
        self.is_further
    }

    pub(super) fn set_further(&mut self, is_further: bool) {
        self.is_further = is_further;
    }

    pub(super) fn rank(&self) -> u64 {
        rank(self.url)
    }

    pub(super) fn names(&self, node: usize) -> &Names {
        &self.names[self.named[node] as usize]
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

    /// The first node whose subtree has this hash and a text.
    pub(super) fn find_subtree(&self, hash: u64) -> Option<usize> {
        let at = self.by_hash.binary_search_by_key(&hash, |node| self.hash[*node as usize]).ok()?;
        Some(self.by_hash[at] as usize)
    }

    /// The only node of this id.
    pub(super) fn find_id(&self, id: u32) -> Option<usize> {
        let id_of = |node: &u32| self.names(*node as usize).id;
        let at = self.by_id.partition_point(|node| id_of(node) < id);
        let is_it = |at: usize| self.by_id.get(at).is_some_and(|node| id_of(node) == id);
        (is_it(at) && !is_it(at + 1)).then(|| self.by_id[at] as usize)
    }

    pub(super) fn has_text(&self, node: usize) -> bool {
        self.has_text[node]
    }

    pub(super) fn set_template(&mut self, is_template: &[bool]) {
        self.is_template = is_template.to_vec();
        // The body counts nothing: every page has one.
        self.n_template = is_template.iter().skip(1).filter(|t| **t).count();
    }

    pub(super) fn template(&self) -> &[bool] {
        &self.is_template
    }

    /// Share of this witness' template that an aligned page shows.
    pub(super) fn shown(&self, alignment: &Alignment) -> f64 {
        let shown = self.is_template.iter().zip(&alignment.taken).skip(1).filter(|(t, taken)| **t && **taken).count();
        if self.n_template == 0 { 0.0 } else { shown as f64 / self.n_template as f64 }
    }
}
