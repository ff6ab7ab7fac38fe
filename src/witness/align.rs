//! Aligns a page to a witness, content first.
//!
//! From the bodies down: equal subtrees in any order, then equal ids, then what is most alike by the equality
//! probability of the thesis (definition 3.2.2, with stable names only and without order). What no place was found for
//! may stand elsewhere on the witness, by a unique id or as an equal subtree.

use rustc_hash::FxHashMap;

use super::Params;
use super::page::Page;
use crate::dom::mix;

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
pub(super) fn align(page: &Page, witness: &Page, params: Params, room: &mut Room) -> Alignment {
    let mut out = Alignment { said: vec![Said::Absent; page.len()], taken: vec![false; witness.len()] };
    if !page.is_empty() && !witness.is_empty() {
        let mut walk = Walk { page, witness, params, out: &mut out, room };
        walk.from(0, 0);
        walk.look_elsewhere();
    }
    out
}

struct Walk<'a> {
    page: &'a Page,
    witness: &'a Page,
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
    by_key: ByKey,
}

/// Room for the child lists in hand.
#[derive(Default)]
struct Lists {
    left: Vec<usize>,
    right: Vec<usize>,
    rest: Vec<usize>,
    candidates: Vec<(f64, u32, u32)>,
}

/// Lists of more pairs are mapped kind by kind first; what is then still more is left.
const MANY_PAIRS: usize = 4096;

/// Longer lists are searched by hash.
const SHORT: usize = 16;

impl Walk<'_> {
    fn from(&mut self, x: usize, y: usize) {
        self.room.open.push((x, y));
        while let Some((x, y)) = self.room.open.pop() {
            let (page, witness) = (self.page, self.witness);
            let size = page.size[x] as usize;
            if page.hash[x] == witness.hash[y] && page.size[x] == witness.size[y] {
                self.out.said[x..x + size].fill(Said::Equal);
                self.out.taken[y..y + size].fill(true);
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

    /// What `map_children` would do with two only children.
    fn map_only(&mut self, i: usize, j: usize) {
        let (page, witness) = (self.page, self.witness);
        let (a, b) = (page.names(i).id, witness.names(j).id);
        let is_same = page.hash[i] == witness.hash[j] || (a != 0 && a == b && page.tag[i] == witness.tag[j]);
        if !self.out.taken[j] && (is_same || self.likeness(i, j).is_some_and(|p| p > self.params.threshold)) {
            self.room.open.push((i, j));
        }
    }

    fn map_children(&mut self, x: usize, y: usize) {
        let mut lists = std::mem::take(&mut self.room.lists);
        let Lists { left, right, .. } = &mut lists;
        left.clear();
        right.clear();
        left.extend(self.page.children(x));
        right.extend(self.witness.children(y).filter(|node| !self.out.taken[*node]));
        self.map_equal(&mut lists);
        let Lists { left, right, rest, candidates, .. } = &mut lists;
        self.map_ids(left, right, rest);
        if rest.len().saturating_mul(right.len()) > MANY_PAIRS {
            self.map_kinds(rest, right);
        }
        if !rest.is_empty() && rest.len().saturating_mul(right.len()) <= MANY_PAIRS {
            self.map_alike(rest, right, candidates);
        }
        self.room.lists = lists;
    }

    /// Pairs children of one tag and the same names, the first with the first: what long lists of like items would come
    /// to pair by pair, in time that is linear in them.
    fn map_kinds(&mut self, rest: &mut Vec<usize>, right: &mut Vec<usize>) {
        let (page, witness) = (self.page, self.witness);
        let left = |i: usize| mix(page.names(i).hash, u64::from(page.tag[i]));
        let other = |j: usize| mix(witness.names(j).hash, u64::from(witness.tag[j]));
        self.room.by_key.pair(rest, right, left, other, &mut self.room.open);
    }

    /// Pairs children with equal subtrees, the first with the first; leaves the others in `left` and `right`.
    fn map_equal(&mut self, lists: &mut Lists) {
        let Lists { left, right, .. } = lists;
        let (a, b) = (&self.page.hash, &self.witness.hash);
        let open = &mut self.room.open;
        let n = left.iter().zip(&*right).take_while(|(i, j)| a[**i] == b[**j]).count();
        open.extend(left.drain(..n).zip(right.drain(..n)));
        if left.len() <= SHORT || right.len() <= SHORT {
            left.retain(|i| match right.iter().position(|j| a[*i] == b[*j]) {
                Some(at) => {
                    open.push((*i, right.remove(at)));
                    false
                }
                None => true,
            });
            return;
        }
        self.room.by_key.pair(left, right, |i| a[i], |j| b[j], open);
    }

    /// Pairs children of equal ids; leaves the others in `rest` and `right`.
    fn map_ids(&mut self, left: &[usize], right: &mut Vec<usize>, rest: &mut Vec<usize>) {
        rest.clear();
        for i in left {
            let id = self.page.names(*i).id;
            let same = |j: &usize| self.witness.names(*j).id == id && self.page.tag[*i] == self.witness.tag[*j];
            match (id != 0).then(|| right.iter().position(same)).flatten() {
                Some(at) => self.room.open.push((*i, right.remove(at))),
                None => rest.push(*i),
            }
        }
    }

    /// Pairs what is most alike, best pair first.
    fn map_alike(&mut self, rest: &[usize], right: &[usize], candidates: &mut Vec<(f64, u32, u32)>) {
        candidates.clear();
        for (a, i) in rest.iter().enumerate() {
            for (b, j) in right.iter().enumerate() {
                if let Some(p) = self.likeness(*i, *j).filter(|p| *p > self.params.threshold) {
                    candidates.push((p, a as u32, b as u32));
                }
            }
        }
        candidates.sort_unstable_by(|x, y| y.0.total_cmp(&x.0).then((x.1, x.2).cmp(&(y.1, y.2))));
        let (mut is_used, mut is_taken) = (vec![false; rest.len()], vec![false; right.len()]);
        for (_, a, b) in candidates.iter().map(|(p, a, b)| (p, *a as usize, *b as usize)) {
            if !is_used[a] && !is_taken[b] {
                (is_used[a], is_taken[b]) = (true, true);
                self.room.open.push((rest[a], right[b]));
            }
        }
    }

    /// The equality probability with the weights of the thesis; texts go by their place.
    fn likeness(&self, i: usize, j: usize) -> Option<f64> {
        let (page, witness) = (self.page, self.witness);
        if page.tag[i] != witness.tag[j] {
            return None;
        }
        let place = self.place(i, j);
        if page.is_text[i] {
            return Some(0.6 + 0.4 * place);
        }
        let (a, b) = (page.names(i), witness.names(j));
        if a.id != 0 && b.id != 0 {
            return None;
        }
        let children = ratio(page.n_children[i], witness.n_children[j]);
        let named = 0.5 * overlap(&a.classes, &b.classes, 0.99) + 0.2 * overlap(&a.attrs, &b.attrs, 0.25);
        Some(named + 0.1 * children + 0.2 * place)
    }

    /// How near two nodes stand in their lists, counted from either end.
    fn place(&self, i: usize, j: usize) -> f64 {
        let (page, witness) = (self.page, self.witness);
        let (m, n) = (page.n_children[page.parent[i] as usize], witness.n_children[witness.parent[j] as usize]);
        let (p, q) = (page.position[i], witness.position[j]);
        let off = p.abs_diff(q).min((m.saturating_sub(p)).abs_diff(n.saturating_sub(q)));
        1.0 - f64::from(off) / f64::from(m.max(n).max(1))
    }

    fn look_elsewhere(&mut self) {
        let mut x = 0;
        while x < self.page.len() {
            if self.out.said[x] == Said::Absent {
                let id = self.page.names(x).id;
                let by_id = (id != 0).then(|| self.witness.find_id(id)).flatten();
                let is_free = |y: &usize| !self.out.taken[*y] && self.page.tag[x] == self.witness.tag[*y];
                if let Some(y) = by_id.filter(is_free) {
                    self.from(x, y);
                } else if self.page.has_text(x) && self.witness.find_subtree(self.page.hash[x]).is_some() {
                    let end = x + self.page.size[x] as usize;
                    self.out.said[x..end].fill(Said::Elsewhere);
                    x = end;
                    continue;
                }
            }
            x += 1;
        }
    }
}

/// Room for pairing by key: the first of each key, and the next one of the same key.
#[derive(Default)]
struct ByKey {
    first: FxHashMap<u64, u32>,
    next: Vec<u32>,
    is_used: Vec<bool>,
}

impl ByKey {
    /// Pairs nodes of equal keys, the first with the first, in time that is linear in the lists; the others stay in them.
    fn pair(
        &mut self,
        left: &mut Vec<usize>,
        right: &mut Vec<usize>,
        left_key: impl Fn(usize) -> u64,
        right_key: impl Fn(usize) -> u64,
        out: &mut Vec<(usize, usize)>,
    ) {
        const LAST: u32 = u32::MAX;
        self.first.clear();
        self.next.clear();
        self.next.resize(right.len(), LAST);
        self.is_used.clear();
        self.is_used.resize(right.len(), false);
        for (at, j) in right.iter().enumerate().rev() {
            self.next[at] = self.first.insert(right_key(*j), at as u32).unwrap_or(LAST);
        }
        left.retain(|i| match self.first.get_mut(&left_key(*i)).filter(|at| **at != LAST) {
            Some(first) => {
                let at = *first as usize;
                *first = self.next[at];
                self.is_used[at] = true;
                out.push((*i, right[at]));
                false
            }
            None => true,
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
