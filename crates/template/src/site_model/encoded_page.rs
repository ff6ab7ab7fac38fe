//! A page encoded for labeling: columns in preorder, starting at the body.

use rustc_hash::FxHashMap;

use super::SiteModelOptions;
use super::class_lists::ClassLists;
use super::columns::Columns;
use super::interner::{Interner, NodeSignature, UNKNOWN};
use super::names::NameReader;
use super::vocabulary::Vocabulary;
use dehusk_html::{NodeId, Tree, mix};

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
    /// Hash of the text, or of the attributes of an element without children; 0 for other nodes. 32 bits suffice: with
    /// 20 bits of a text, so with 4,096 times as many texts that are falsely known, none of the 214 figures of
    /// docs/figures.json moved by .0015.
    own: Vec<u32>,
    /// Number of characters of a text node; 0 for elements.
    pub(super) chars: Vec<u32>,
    /// Hash of the subtree: tags, texts, and attributes of childless elements.
    hash: Vec<u64>,
    /// Whether the subtree contains text.
    pub(super) has_text: Vec<bool>,
    /// Hash of the whole page, including nodes that `bounded` removed.
    digest: u64,
    /// The node of the whole page that each node was, where `bounded` has removed some.
    whole: Option<Box<[u32]>>,
}

/// The distinct signatures of a page as they are found.
struct Signatures {
    found: Vec<NodeSignature>,
    /// Their numbers by tag and a hash of their names.
    by_names: FxHashMap<(u32, u64), u32>,
    /// Those of elements without attributes, by the number of the tag name.
    bare: Vec<Option<u32>>,
    text: Option<u32>,
}

/// Nodes for each signature, in most pages.
const NODES: usize = 8;

impl Signatures {
    fn new(tree: &Tree) -> Signatures {
        let bare = vec![None; tree.names().count()];
        let mut by_names = FxHashMap::default();
        by_names.reserve(tree.counted().len() / NODES);
        Signatures { found: Vec::new(), by_names, bare, text: None }
    }

    fn text(&mut self) -> u32 {
        *self.text.get_or_insert_with(|| push(&mut self.found, NodeSignature::default()))
    }

    /// The number of the signature of an element: the one whose names were read last.
    fn element(&mut self, tag: u32, name: usize, names: &NameReader<'_, impl Fn(u32) -> bool>) -> u32 {
        if let Some(number) = self.bare[name].filter(|_| names.is_empty()) {
            return number;
        }
        let number = *self.by_names.entry((tag, names.key())).or_insert_with(|| {
            let (classes, attrs) = (names.classes().to_vec(), names.attributes().to_vec());
            push(&mut self.found, NodeSignature { tag, id: names.id(), classes, attrs })
        });
        if names.is_empty() {
            self.bare[name] = Some(number);
        }
        number
    }
}

/// Appends a signature and gives its number.
fn push(signatures: &mut Vec<NodeSignature>, signature: NodeSignature) -> u32 {
    signatures.push(signature);
    signatures.len() as u32 - 1
}

impl EncodedPage {
    /// Encodes a tree. Names outside the vocabulary are left out.
    pub(super) fn new(tree: &Tree, vocabulary: &Vocabulary) -> EncodedPage {
        let (counted, shape, texts) = (tree.counted(), &tree.shape, tree.texts());
        let (first, n) = (counted.start, counted.len());
        let mut page = EncodedPage { chars: vec![0; n], ..EncodedPage::with_capacity(n) };
        let mut names = NameReader::new(tree, ClassLists::default(), |name| vocabulary.contains(name));
        let mut signatures = Signatures::new(tree);
        for node in counted {
            page.parent.push((shape.parent[node] as usize).saturating_sub(first) as u32);
            page.columns.n_children.push(shape.n_children[node]);
            let id = NodeId::new(node);
            if tree.is_text(id) {
                page.chars[node - first] = texts.chars[node];
                page.own.push((texts.hash[node] as u32).max(1));
                page.own_signature.push(signatures.text());
                continue;
            }
            names.read(id);
            let tag = (shape.tag[node] as u32).max(1);
            page.own_signature.push(signatures.element(tag, tree.name_number(id), &names));
            page.own.push(if shape.n_children[node] == 0 { names.hash_of_attributes() as u32 } else { 0 });
        }
        page.signatures = signatures.found;
        page.sum_up();
        page.digest = page.hash.first().copied().unwrap_or(0);
        page
    }

    /// Restores a page from a stored training page. Text lengths are missing, because they are not stored.
    pub(super) fn rebuilt(
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
                hash = mix(hash, self.hash[child.node]);
            }
            self.hash[node] = hash;
        }
    }

    /// The page without the middle of very long child lists, truncated to `max_nodes` nodes.
    pub(super) fn bounded(self, options: &SiteModelOptions) -> EncodedPage {
        let most = options.max_nodes;
        // More children are kept from the beginning of a list: lists grow at the end.
        let max_children = u32::try_from(options.max_children).unwrap_or(u32::MAX);
        let last = max_children / 7;
        let first = max_children - last;
        let n_children = &self.columns.n_children;
        if self.len() <= most && n_children.iter().all(|n| *n <= first + last) {
            return self;
        }
        let mut kept = EncodedPage { signatures: self.signatures, digest: self.digest, ..EncodedPage::default() };
        let mut number: Vec<Option<u32>> = vec![None; self.parent.len()];
        let mut whole: Vec<u32> = Vec::new();
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
            whole.push(node as u32);
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
        kept.whole = Some(whole.into());
        kept
    }

    /// Values of the nodes of the whole page, for the nodes that are kept.
    pub(super) fn kept<T: Copy>(&self, of_whole: Vec<T>) -> Vec<T> {
        match &self.whole {
            Some(whole) => whole.iter().map(|node| of_whole[*node as usize]).collect(),
            None => of_whole,
        }
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
                self.columns.subtree[node] = if self.is_text(node) {
                    interner.find_text(self.own[node])
                } else {
                    interner.find_element(self.hash[node])
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

    /// The number of the signature of a node among those of the page.
    pub(super) fn signature_number(&self, node: usize) -> u32 {
        self.own_signature[node]
    }

    /// Hashes of the attributes of elements without children, in order.
    pub(super) fn empty_elements(&self) -> Vec<u32> {
        let empty = (0..self.len()).filter(|node| self.columns.n_children[*node] == 0 && !self.is_text(*node));
        empty.map(|node| self.own[node]).collect()
    }
}
