//! Aligns a page to a witness, content first.
//!
//! From the bodies down: equal subtrees in any order, then equal ids, then what is most alike by the equality
//! probability of the thesis (definition 3.2.2, with stable names only and without order). What no place was found for
//! may stand elsewhere on the witness, by a unique id or as an equal subtree.

use super::Params;
use super::known::Witness;
use super::page::Page;
use super::tables::{Kind, Tables, UNKNOWN};

/// What a witness says of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Said {
    /// It is not there.
    #[default]
    Absent,
    /// It is there; below it, or in it, something differs.
    Mapped,
    /// Its subtree is there, in its place.
    Equal,
    /// Its subtree is there, in another place.
    Elsewhere,
}

/// What one witness says of every node of a page.
#[derive(Debug, Default)]
pub(super) struct Alignment {
    pub(super) said: Vec<Said>,
    /// Nodes of the witness that a node of the page was mapped to.
    pub(super) taken: Vec<bool>,
}

impl Alignment {
    /// Share of the page's text that the witness has, in characters.
    pub(super) fn equal_text(&self, page: &Page) -> f64 {
        let (mut equal, mut all) = (0_u64, 0_u64);
        for (said, chars) in self.said.iter().zip(&page.chars) {
            all += u64::from(*chars);
            equal += if matches!(said, Said::Equal | Said::Elsewhere) { u64::from(*chars) } else { 0 };
        }
        if all == 0 { 0.0 } else { equal as f64 / all as f64 }
    }
}

/// What `witness` says of `page`.
pub(super) fn align(page: &Page, witness: &Witness, tables: &Tables, params: Params, room: &mut Room) -> Alignment {
    let mut out = Alignment { said: vec![Said::Absent; page.len()], taken: vec![false; witness.len()] };
    if !page.is_empty() && witness.len() > 0 {
        let mut walk = Walk { page, witness, tables, params, out: &mut out, room };
        walk.note_subtrees();
        walk.from(0, 0);
        walk.look_elsewhere();
    }
    out
}

struct Walk<'a> {
    page: &'a Page,
    witness: &'a Witness,
    tables: &'a Tables,
    params: Params,
    out: &'a mut Alignment,
    room: &'a mut Room,
}

/// Room that one alignment leaves to the next.
#[derive(Default)]
pub(super) struct Room {
    /// Pairs whose children are to be mapped.
    open: Vec<(usize, usize)>,
    lists: Lists,
    by_subtree: ByNumber,
    by_kind: ByNumber,
    /// By subtree: the last witness that has it.
    stands_in: Vec<u32>,
    /// Number of the witness in hand.
    witness: u32,
}

/// A node of a child list.
#[derive(Clone, Copy)]
struct Child {
    node: usize,
    /// Position among the siblings, from 1.
    position: u32,
}

/// Room for the child lists in hand.
#[derive(Default)]
struct Lists {
    left: Vec<Child>,
    right: Vec<Child>,
    candidates: Vec<(f64, u32, u32)>,
    is_used: Vec<bool>,
    is_taken: Vec<bool>,
}

impl Walk<'_> {
    fn note_subtrees(&mut self) {
        let Room { stands_in, witness, .. } = &mut *self.room;
        *witness += 1;
        stands_in.resize(self.tables.n_subtrees(), 0);
        self.witness.columns.subtree.iter().for_each(|subtree| stands_in[*subtree as usize] = *witness);
    }

    fn from(&mut self, x: usize, y: usize) {
        self.room.open.push((x, y));
        while let Some((x, y)) = self.room.open.pop() {
            let (page, witness) = (&self.page.columns, &self.witness.columns);
            if page.subtree[x] == witness.subtree[y] {
                self.equal(x, y);
                continue;
            }
            self.out.said[x] = Said::Mapped;
            self.out.taken[y] = true;
            match (page.n_children[x], witness.n_children[y]) {
                (0, _) | (_, 0) => (),
                (1, 1) => self.map_only(x + 1, y + 1),
                _ => self.map_children(x, y),
            }
        }
    }

    fn equal(&mut self, x: usize, y: usize) {
        // Two sizes: hashes of a hostile page can agree where the subtrees do not.
        let (here, there) = (self.page.columns.size[x] as usize, self.witness.columns.size[y] as usize);
        self.out.said[x..x + here].fill(Said::Equal);
        self.out.taken[y..y + there].fill(true);
    }

    /// What `map_children` would do with two only children.
    fn map_only(&mut self, i: usize, j: usize) {
        let only = |node: usize| Child { node, position: 1 };
        let is_equal = self.page.columns.subtree[i] == self.witness.columns.subtree[j];
        let is_like = || {
            let (a, b) = (self.page.kind(i), self.kind(j));
            let same_id = a.id != 0 && a.id == b.id && a.tag == b.tag;
            same_id || self.likeness(only(i), only(j), 1, 1).is_some_and(|p| p > self.params.threshold)
        };
        if !self.out.taken[j] && (is_equal || is_like()) {
            self.room.open.push((i, j));
        }
    }

    fn map_children(&mut self, x: usize, y: usize) {
        let mut lists = std::mem::take(&mut self.room.lists);
        let Lists { left, right, .. } = &mut lists;
        let child = |(node, position): (usize, u32)| Child { node, position };
        left.clear();
        right.clear();
        left.extend(self.page.columns.children(x).zip(1..).map(child));
        let taken = &self.out.taken;
        right.extend(self.witness.columns.children(y).zip(1..).filter(|(node, _)| !taken[*node]).map(child));
        self.map_equal(left, right);
        if self.witness.has_ids() {
            self.map_ids(left, right);
        }
        // Longer lists kind by kind first; what is then still more is left.
        if left.len().saturating_mul(right.len()) > self.params.pairs {
            self.map_kinds(left, right);
        }
        if !left.is_empty() && left.len().saturating_mul(right.len()) <= self.params.pairs {
            self.map_alike((x, y), &mut lists);
        }
        self.room.lists = lists;
    }

    /// Pairs children of one tag and the same names, the first with the first: what long lists of like items would come
    /// to pair by pair, in time that is linear in them.
    fn map_kinds(&mut self, left: &mut Vec<Child>, right: &mut Vec<Child>) {
        let (page, witness) = (&self.page.columns.kind, &self.witness.columns.kind);
        let open = &mut self.room.open;
        let n = self.tables.kinds().len();
        self.room.by_kind.pair(n, (left, page), (right, witness), |i, j| open.push((i, j)));
    }

    /// Pairs children with equal subtrees, the first with the first; leaves the others in the lists.
    fn map_equal(&mut self, left: &mut Vec<Child>, right: &mut Vec<Child>) {
        let (a, b) = (&self.page.columns.subtree, &self.witness.columns.subtree);
        let n = left.iter().zip(&*right).take_while(|(i, j)| a[i.node] == b[j.node]).count();
        for (i, j) in left.drain(..n).zip(right.drain(..n)) {
            self.equal(i.node, j.node);
        }
        if left.iter().all(|i| a[i.node] == UNKNOWN) || right.is_empty() {
            return;
        }
        let (out, here, there) = (&mut *self.out, &self.page.columns.size, &self.witness.columns.size);
        self.room.by_subtree.pair(self.tables.n_subtrees(), (left, a), (right, b), |i, j| {
            out.said[i..i + here[i] as usize].fill(Said::Equal);
            out.taken[j..j + there[j] as usize].fill(true);
        });
    }

    /// Pairs children of equal ids; leaves the others in the lists.
    fn map_ids(&mut self, left: &mut Vec<Child>, right: &mut Vec<Child>) {
        left.retain(|i| {
            let kind = self.page.kind(i.node);
            if kind.id == 0 {
                return true;
            }
            let is_same = |j: &Child| {
                let other = self.kind(j.node);
                other.id == kind.id && other.tag == kind.tag
            };
            let Some(at) = right.iter().position(is_same) else { return true };
            self.room.open.push((i.node, right.remove(at).node));
            false
        });
    }

    /// Pairs what is most alike, best pair first.
    fn map_alike(&mut self, (x, y): (usize, usize), lists: &mut Lists) {
        let Lists { left, right, candidates, is_used, is_taken } = lists;
        let (m, n) = (self.page.columns.n_children[x], self.witness.columns.n_children[y]);
        candidates.clear();
        for (a, i) in left.iter().enumerate() {
            for (b, j) in right.iter().enumerate() {
                if let Some(p) = self.likeness(*i, *j, m, n).filter(|p| *p > self.params.threshold) {
                    candidates.push((p, a as u32, b as u32));
                }
            }
        }
        candidates.sort_unstable_by(|x, y| y.0.total_cmp(&x.0).then((x.1, x.2).cmp(&(y.1, y.2))));
        is_used.clear();
        is_used.resize(left.len(), false);
        is_taken.clear();
        is_taken.resize(right.len(), false);
        for (_, a, b) in candidates.iter().map(|(p, a, b)| (p, *a as usize, *b as usize)) {
            if !is_used[a] && !is_taken[b] {
                (is_used[a], is_taken[b]) = (true, true);
                self.room.open.push((left[a].node, right[b].node));
            }
        }
    }

    fn kind(&self, j: usize) -> &Kind {
        &self.tables.kinds()[self.witness.columns.kind[j] as usize]
    }

    /// The equality probability with the weights of the thesis, in lists of m and n children; texts go by their place.
    fn likeness(&self, i: Child, j: Child, m: u32, n: u32) -> Option<f64> {
        let (a, b) = (self.page.kind(i.node), self.kind(j.node));
        if a.tag != b.tag {
            return None;
        }
        let place = place(i, j, m, n);
        if a.is_text() {
            return Some(0.6 + 0.4 * place);
        }
        if a.id != 0 && b.id != 0 {
            return None;
        }
        let children = ratio(self.page.columns.n_children[i.node], self.witness.columns.n_children[j.node]);
        let named = 0.5 * overlap(&a.classes, &b.classes, 0.99) + 0.2 * overlap(&a.attrs, &b.attrs, 0.25);
        Some(named + 0.1 * children + 0.2 * place)
    }

    fn stands_here(&self, x: usize) -> bool {
        let subtree = self.page.columns.subtree[x] as usize;
        self.room.stands_in.get(subtree).is_some_and(|witness| *witness == self.room.witness)
    }

    fn look_elsewhere(&mut self) {
        let mut x = 0;
        while x < self.page.len() {
            if self.out.said[x] == Said::Absent {
                let kind = self.page.kind(x);
                let by_id = (kind.id != 0).then(|| self.witness.find_id(kind.id)).flatten();
                let is_free = |y: &usize| !self.out.taken[*y] && kind.tag == self.kind(*y).tag;
                if let Some(y) = by_id.filter(is_free) {
                    self.from(x, y);
                } else if self.page.has_text[x] && self.stands_here(x) {
                    let end = x + self.page.columns.size[x] as usize;
                    self.out.said[x..end].fill(Said::Elsewhere);
                    x = end;
                    continue;
                }
            }
            x += 1;
        }
    }
}

/// How near two nodes stand in their lists of m and n, counted from either end.
fn place(i: Child, j: Child, m: u32, n: u32) -> f64 {
    let (p, q) = (i.position, j.position);
    let off = p.abs_diff(q).min((m.saturating_sub(p)).abs_diff(n.saturating_sub(q)));
    1.0 - f64::from(off) / f64::from(m.max(n).max(1))
}

/// Room for pairing by number: the first of each number, and the next one of the same.
#[derive(Default)]
struct ByNumber {
    /// By number: the round that it was written in, and the place in the right list.
    first: Vec<(u32, u32)>,
    round: u32,
    next: Vec<u32>,
    is_used: Vec<bool>,
}

impl ByNumber {
    /// Pairs children of equal numbers below `n`, the first with the first, in time that is linear in the lists; the
    /// others stay in them.
    fn pair(
        &mut self,
        n: usize,
        (left, left_number): (&mut Vec<Child>, &[u32]),
        (right, right_number): (&mut Vec<Child>, &[u32]),
        mut out: impl FnMut(usize, usize),
    ) {
        const LAST: u32 = u32::MAX;
        self.first.resize(n, (0, LAST));
        self.round += 1;
        self.next.clear();
        self.next.resize(right.len(), LAST);
        self.is_used.clear();
        self.is_used.resize(right.len(), false);
        for (at, j) in right.iter().enumerate().rev() {
            let (round, first) = &mut self.first[right_number[j.node] as usize];
            self.next[at] = if *round == self.round { *first } else { LAST };
            (*round, *first) = (self.round, at as u32);
        }
        left.retain(|i| match self.first.get_mut(left_number[i.node] as usize) {
            Some((round, first)) if *round == self.round && *first != LAST => {
                let at = *first as usize;
                *first = self.next[at];
                self.is_used[at] = true;
                out(i.node, right[at].node);
                false
            }
            _ => true,
        });
        let mut is_used = self.is_used.iter();
        right.retain(|_| !is_used.next().copied().unwrap_or(false));
    }
}

/// Shared members over all members.
fn overlap(a: &[u32], b: &[u32], none: f64) -> f64 {
    if a.is_empty() && b.is_empty() {
        return none;
    }
    let (mut i, mut j, mut shared) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => (i, j, shared) = (i + 1, j + 1, shared + 1),
        }
    }
    f64::from(shared) / (a.len() + b.len() - shared as usize) as f64
}

fn ratio(m: u32, n: u32) -> f64 {
    if m.max(n) == 0 { 1.0 } else { f64::from(m.min(n)) / f64::from(m.max(n)) }
}
