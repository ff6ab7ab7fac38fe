//! A page encoded for labeling: columns in preorder, starting at the body.

use rustc_hash::{FxHashMap, FxHashSet};

use super::SiteModelOptions;
use super::columns::Columns;
use super::interner::{Interner, NodeSignature, UNKNOWN};
use crate::dom::{NodeId, SetId, Sets, Tree, mix};

/// A page reduced to the compared fields.
#[derive(Clone, Debug, Default)]
pub(super) struct EncodedPage {
    /// Signatures and subtrees are set by `EncodedPage::number`; those that no training page has are [`UNKNOWN`].
    pub(super) columns: Columns,
    pub(super) parent: Vec<u32>,
    /// The distinct signatures of its nodes.
    signatures: Vec<NodeSignature>,
    /// Number of each node in `signatures`.
    own_signature: Vec<u32>,
    /// Hash of the text, or of the attributes of an element without children; 0 for other nodes.
    own: Vec<u32>,
    /// Number of characters of a text node; 0 for elements.
    pub(super) chars: Vec<u32>,
    /// Hash of the subtree: tags, texts, and attributes of childless elements.
    hash: Vec<u64>,
    /// Whether the subtree contains text.
    pub(super) has_text: Vec<bool>,
    /// Hash of the whole page, including nodes that `bounded` removed.
    digest: u64,
}

/// Kinds of tokens. A class and an id of the same name are different tokens.
const ID: u64 = 1;
const CLASS: u64 = 2;
const ATTRIBUTE: u64 = 3;

fn token(kind: u64, name: u64) -> u32 {
    (mix(kind, name) as u32).max(1)
}

/// The distinct tokens of a page.
pub(super) fn tokens(tree: &Tree) -> FxHashSet<u32> {
    let fields = tree.fields();
    let mut found = FxHashSet::default();
    let mut seen = [vec![false; fields.sets.len()], vec![false; fields.sets.len()]];
    for node in tree.counted() {
        if fields.id[node] != 0 {
            found.insert(token(ID, fields.id[node]));
        }
        for (at, signature, set) in [(0, CLASS, fields.classes[node]), (1, ATTRIBUTE, fields.attrs[node])] {
            if !std::mem::replace(&mut seen[at][set.index()], true) {
                found.extend(fields.sets.get(set).iter().map(|name| token(signature, *name)));
            }
        }
    }
    found
}

/// Distinct lists of the tokens of one kind that are in the vocabulary. A page with a million links has a million
/// attribute sets, but hardly any of them is on another page.
struct Stable<'a> {
    kind: u64,
    vocabulary: &'a FxHashSet<u32>,
    /// Number of the list of each set, once it is computed.
    of_set: Vec<Option<u32>>,
    lists: Vec<Vec<u32>>,
    known: FxHashMap<Vec<u32>, u32>,
    /// A buffer for the list of a set: most sets have one that is known.
    list: Vec<u32>,
}

impl<'a> Stable<'a> {
    fn new(kind: u64, sets: &Sets, vocabulary: &'a FxHashSet<u32>) -> Stable<'a> {
        let (of_set, known) = (vec![None; sets.len()], FxHashMap::default());
        Stable { kind, vocabulary, of_set, lists: Vec::new(), known, list: Vec::new() }
    }

    /// The number of the list of a set.
    fn number(&mut self, sets: &Sets, set: SetId) -> u32 {
        if let Some(number) = self.of_set[set.index()] {
            return number;
        }
        let tokens = sets.get(set).iter().map(|name| token(self.kind, *name));
        self.list.clear();
        self.list.extend(tokens.filter(|token| self.vocabulary.contains(token)));
        self.list.sort_unstable();
        self.list.dedup();
        let number = self.known.get(&self.list).copied().unwrap_or_else(|| {
            self.lists.push(self.list.clone());
            let number = self.lists.len() as u32 - 1;
            self.known.insert(self.list.clone(), number);
            number
        });
        self.of_set[set.index()] = Some(number);
        number
    }
}

impl EncodedPage {
    /// Encodes a tree. Names outside the vocabulary are left out.
    pub(super) fn of(tree: &Tree, vocabulary: &FxHashSet<u32>) -> EncodedPage {
        let (counted, shape, fields) = (tree.counted(), &tree.shape, tree.fields());
        let (first, n) = (counted.start, counted.len());
        let mut page = EncodedPage { chars: vec![0; n], ..EncodedPage::with_capacity(n) };
        let mut classes = Stable::new(CLASS, &fields.sets, vocabulary);
        let mut attrs = Stable::new(ATTRIBUTE, &fields.sets, vocabulary);
        let mut known: FxHashMap<(u32, u32, u32, u32), u32> = FxHashMap::default();
        let mut text_signature = None;
        for node in counted {
            page.parent.push((shape.parent[node] as usize).saturating_sub(first) as u32);
            page.columns.n_children.push(shape.n_children[node]);
            if tree.is_text(NodeId::new(node)) {
                page.chars[node - first] = fields.chars[node];
                page.own.push((fields.text[node] as u32).max(1));
                page.own_signature.push(*text_signature.get_or_insert_with(|| {
                    page.signatures.push(NodeSignature::default());
                    page.signatures.len() as u32 - 1
                }));
                continue;
            }
            let is_leaf = shape.n_children[node] == 0;
            page.own.push(if is_leaf { fields.sets.hash(fields.attrs[node]) as u32 } else { 0 });
            let tag = (shape.tag[node] as u32).max(1);
            let id = token(ID, fields.id[node]);
            let id = if fields.id[node] != 0 && vocabulary.contains(&id) { id } else { 0 };
            let in_classes = classes.number(&fields.sets, fields.classes[node]);
            let in_attrs = attrs.number(&fields.sets, fields.attrs[node]);
            let signature = *known.entry((tag, id, in_classes, in_attrs)).or_insert_with(|| {
                let list = |stable: &Stable<'_>, number: u32| stable.lists[number as usize].clone();
                page.signatures.push(NodeSignature {
                    tag,
                    id,
                    classes: list(&classes, in_classes),
                    attrs: list(&attrs, in_attrs),
                });
                page.signatures.len() as u32 - 1
            });
            page.own_signature.push(signature);
        }
        page.sum_up();
        page.digest = page.hash.first().copied().unwrap_or(0);
        page
    }

    /// Restores a page from a stored training page. Text lengths are missing, because they are not stored.
    pub(super) fn again(
        signatures: &[NodeSignature],
        own_signature: &[u32],
        n_children: Vec<u32>,
        own: Vec<u32>,
    ) -> EncodedPage {
        let mut page = EncodedPage { own, ..EncodedPage::with_capacity(own_signature.len()) };
        let mut number = vec![UNKNOWN; signatures.len()];
        for signature in own_signature {
            let number = &mut number[*signature as usize];
            if *number == UNKNOWN {
                *number = page.signatures.len() as u32;
                page.signatures.push(signatures[*signature as usize].clone());
            }
            page.own_signature.push(*number);
        }
        // Open nodes, with the number of their children that have not been visited.
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

    fn with_capacity(n: usize) -> EncodedPage {
        let column = || Vec::with_capacity(n);
        let columns = Columns { n_children: column(), ..Columns::default() };
        EncodedPage { columns, parent: column(), own_signature: column(), own: column(), ..EncodedPage::default() }
    }

    /// Computes the columns that follow from the others.
    fn sum_up(&mut self) {
        let n = self.parent.len();
        self.columns.size = vec![1; n];
        for node in (1..n).rev() {
            self.columns.size[self.parent[node] as usize] += self.columns.size[node];
        }
        self.hash = vec![0; n];
        self.has_text = vec![false; n];
        let tags: Vec<u32> = self.signatures.iter().map(|signature| signature.tag).collect();
        for node in (0..n).rev() {
            let (parent, tag) = (self.parent[node] as usize, tags[self.own_signature[node] as usize]);
            self.has_text[node] |= tag == 0;
            self.has_text[parent] |= self.has_text[node];
            let mut hash = mix(u64::from(tag), u64::from(self.own[node]));
            for child in self.columns.children(node) {
                hash = mix(hash, self.hash[child]);
            }
            self.hash[node] = hash;
        }
    }

    /// The page without the middle of very long child lists, truncated to `max_nodes` nodes.
    pub(super) fn bounded(self, options: &SiteModelOptions) -> EncodedPage {
        let most = options.max_nodes;
        // More children are kept from the beginning of a list: lists grow at the end.
        let last = (options.max_children / 7) as u32;
        let first = options.max_children as u32 - last;
        let n_children = &self.columns.n_children;
        if self.len() <= most && n_children.iter().all(|n| *n <= first + last) {
            return self;
        }
        let mut kept = EncodedPage { signatures: self.signatures, digest: self.digest, ..EncodedPage::default() };
        let mut number: Vec<Option<u32>> = vec![None; self.parent.len()];
        // Number of visited children of each node.
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
            kept.own_signature.push(self.own_signature[node]);
            kept.own.push(self.own[node]);
            kept.chars.push(self.chars[node]);
        }
        kept.sum_up();
        kept
    }

    /// The same for a training page of this process, with what is not stored: its numbers, lengths and digest.
    pub(super) fn with_numbers(self, columns: Columns, chars: Vec<u32>, digest: u64) -> EncodedPage {
        EncodedPage { columns, chars, digest, ..self }
    }

    /// Numbers its signatures and subtrees by the interner.
    pub(super) fn number(&mut self, interner: &Interner) {
        let signatures: Vec<u32> =
            self.signatures.iter().map(|signature| interner.find_signature(signature).unwrap_or(UNKNOWN)).collect();
        self.columns.signature = self.own_signature.iter().map(|signature| signatures[*signature as usize]).collect();
        self.columns.subtree = vec![0; self.len()];
        for node in (0..self.len()).rev() {
            // A subtree with an unknown part is unknown, too, and not looked up.
            if self.columns.subtree[node] != UNKNOWN {
                self.columns.subtree[node] = match self.is_text(node) {
                    true => interner.find_text(self.own[node]),
                    false => interner.find_element(self.hash[node]),
                };
            }
            if self.columns.subtree[node] == UNKNOWN {
                self.columns.subtree[self.parent[node] as usize] = UNKNOWN;
            }
        }
    }

    /// Adds the signatures of its nodes to the interner.
    pub(super) fn intern_signatures(&self, interner: &mut Interner) {
        let mut is_seen = vec![false; self.signatures.len()];
        for signature in &self.own_signature {
            if !std::mem::replace(&mut is_seen[*signature as usize], true) {
                interner.add_signature(&self.signatures[*signature as usize]);
            }
        }
    }

    /// Whether a node is a text. A stored page that was made by hand can have children below one.
    fn is_text(&self, node: usize) -> bool {
        self.columns.n_children[node] == 0 && self.signature(node).is_text()
    }

    /// Hashes of its texts, in order.
    pub(super) fn text_hashes(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.len()).filter(|node| self.is_text(*node)).map(|node| self.own[node])
    }

    /// Hashes of its other subtrees, in order.
    pub(super) fn element_hashes(&self) -> impl Iterator<Item = u64> + '_ {
        (0..self.len()).filter(|node| !self.is_text(*node)).map(|node| self.hash[node])
    }

    /// Number of characters of all its texts.
    pub(super) fn n_chars(&self) -> u64 {
        self.chars.iter().map(|chars| u64::from(*chars)).sum()
    }

    pub(super) fn len(&self) -> usize {
        self.parent.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.parent.is_empty()
    }

    /// A hash of the whole page: equal for equal pages.
    pub(super) fn digest(&self) -> u64 {
        self.digest
    }

    pub(super) fn signature(&self, node: usize) -> &NodeSignature {
        &self.signatures[self.own_signature[node] as usize]
    }

    /// Hashes of the attributes of elements without children, in order.
    pub(super) fn empty_elements(&self) -> Vec<u32> {
        let empty = (0..self.len()).filter(|node| self.columns.n_children[*node] == 0 && !self.is_text(*node));
        empty.map(|node| self.own[node]).collect()
    }
}
