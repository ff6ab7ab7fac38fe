//! The candidate pairs of two child lists, best first, without listing all pairs.
//!
//! Nodes of a list that score equally except for their position are one *kind*. For two kinds, the offset δ (right
//! position minus left position) determines the probability of a pair. The pairs of two large kinds are therefore
//! generated diagonal by diagonal (one for each δ), outwards from δ = 0 in both directions: away from δ = 0 the
//! probability never rises and the displacement grows. A diagonal is expanded only when its turn comes. Two kinds are
//! given up when, at an occasional check, no pair of them can still be accepted. Pairs of small kinds are all listed.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use rustc_hash::FxHashMap;

use super::accepted::Accepted;
use super::equality::{Equality, Likeness, Side, diagonal_score, position_score};

/// A pair that may be mapped, with its sort key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Candidate {
    /// Complement of the probability's bits, then displacement, then left index. Probabilities are not negative, so
    /// their bits have the same order. One integer sorts several times faster than a float with tie-breakers. The
    /// thesis does not define ties; here the smaller displacement comes first, then the left index.
    key: u128,
    /// Index in the right list.
    pub(super) k: u32,
}

impl Candidate {
    fn new(p: f64, off: u32, i: usize, k: usize) -> Candidate {
        Candidate { key: u128::from(!p.to_bits()) << 64 | u128::from(off) << 32 | i as u128, k: k as u32 }
    }

    pub(super) fn p(&self) -> f64 {
        f64::from_bits(!((self.key >> 64) as u64))
    }

    /// Displacement: the absolute difference of the two positions.
    pub(super) fn off(&self) -> u32 {
        (self.key >> 32) as u32
    }

    /// Index in the left list.
    pub(super) fn i(&self) -> u32 {
        self.key as u32
    }
}

/// Every pair above the threshold, ordered by left index, then by right index.
pub(super) fn all(equality: &Equality<'_>, a: &[Side], b: &[Side]) -> Vec<Candidate> {
    let mut found = Vec::new();
    for (i, x) in a.iter().enumerate() {
        let tag = equality.left.shape.tag[x.node];
        for (k, y) in b.iter().enumerate() {
            if equality.right.shape.tag[y.node] != tag {
                continue;
            }
            if let Some(p) = equality.score_above_threshold(*x, *y) {
                found.push(Candidate::new(p, x.position.abs_diff(y.position), i, k));
            }
        }
    }
    found
}

/// Ascending indices of the nodes in one list that score equally except for their position.
type Kind = Vec<u32>;

fn kinds(list: &[Side], key: impl Fn(usize) -> [u64; 6]) -> Vec<Kind> {
    let mut known: FxHashMap<[u64; 6], usize> = FxHashMap::default();
    let mut kinds: Vec<Kind> = Vec::new();
    for (place, side) in list.iter().enumerate() {
        let kind = *known.entry(key(side.node)).or_insert(kinds.len());
        if kind == kinds.len() {
            kinds.push(Kind::new());
        }
        kinds[kind].push(place as u32);
    }
    kinds
}

/// Generates candidates in their order.
pub(super) struct BestFirst<'l> {
    lists: Lists<'l>,
    /// Listed pairs. Those before `sorted` are sorted and precede all others; those before `next` have been returned.
    few: Vec<Candidate>,
    sorted: usize,
    next: usize,
    /// One stream for each pair of large kinds, ordered by its next candidate.
    streams: BinaryHeap<Reverse<Stream>>,
}

#[derive(Clone, Copy)]
struct Lists<'l> {
    equality: &'l Equality<'l>,
    a: &'l [Side],
    b: &'l [Side],
}

impl<'l> BestFirst<'l> {
    pub(super) fn new(equality: &'l Equality<'l>, a: &'l [Side], b: &'l [Side]) -> BestFirst<'l> {
        let lists = Lists { equality, a, b };
        let mut all = BestFirst { lists, few: Vec::new(), sorted: 0, next: 0, streams: BinaryHeap::new() };
        let left = kinds(a, |node| equality.left_kind(node));
        let right = kinds(b, |node| equality.right_kind(node));
        for x in &left {
            for y in &right {
                let (left, right) = (a[x[0] as usize].node, b[y[0] as usize].node);
                let likeness = equality.likeness(left, right);
                if equality.left.shape.tag[left] != equality.right.shape.tag[right]
                    || !equality.passes(likeness.at(1.0))
                {
                    continue;
                }
                let (n, most) = (lists.n_diagonals(x, y), 8 * x.len().max(y.len()) as u64);
                if x.len().min(y.len()) >= LARGE && n <= most {
                    let stream = Stream::new(&lists, likeness, x.clone(), y.clone());
                    all.streams.extend(stream.map(Reverse));
                } else {
                    all.list(likeness, x, y);
                }
            }
        }
        all
    }

    fn list(&mut self, likeness: Likeness, x: &[u32], y: &[u32]) {
        for i in x {
            for k in y {
                let (i, k) = (*i as usize, *k as usize);
                let (p, off) = self.lists.pair(likeness, self.lists.a[i], self.lists.b[k]);
                if self.lists.equality.passes(p) {
                    self.few.push(Candidate::new(p, off, i, k));
                }
            }
        }
    }

    /// The next candidate. Candidates that conflict with the `accepted` pairs may be skipped.
    pub(super) fn next(&mut self, accepted: &Accepted) -> Option<Candidate> {
        let few = self.next_of_few(accepted);
        let Some(mut top) = self.streams.peek_mut() else {
            self.next += usize::from(few.is_some());
            return few;
        };
        let head = top.0.head;
        if few.is_some_and(|candidate| candidate < head) {
            self.next += 1;
            return few;
        }
        if !top.0.advance(&self.lists, accepted) {
            PeekMut::pop(top);
        }
        Some(head)
    }

    /// The best listed pair. Pairs are sorted in growing pieces, and conflicting pairs are dropped before each piece.
    /// In long lists of similar nodes the first piece is often sufficient.
    fn next_of_few(&mut self, accepted: &Accepted) -> Option<Candidate> {
        if self.next == self.sorted && !self.few.is_empty() {
            if self.sorted > 0 {
                let room = accepted.room();
                self.few.drain(..self.sorted);
                self.few.retain(|candidate| room.fits(candidate.i(), candidate.k));
            }
            let piece = (2 * (self.lists.a.len() + self.lists.b.len())).max(4 * self.sorted);
            if piece < self.few.len() {
                self.few.select_nth_unstable(piece);
            }
            self.sorted = piece.min(self.few.len());
            self.few[..self.sorted].sort_unstable();
            self.next = 0;
        }
        self.few.get(self.next).copied()
    }
}

/// Minimum number of nodes of a kind whose pairs are generated by diagonals. The nodes must also be so dense that
/// walking all diagonals costs little more than listing all pairs.
const LARGE: usize = 8;

impl Lists<'_> {
    /// δ of the first and the last diagonal that can contain a pair.
    fn range(&self, x: &Kind, y: &Kind) -> (i64, i64) {
        let ends = |list: &[Side], kind: &Kind| {
            [kind[0], kind[kind.len() - 1]].map(|place| i64::from(list[place as usize].position))
        };
        let ([a0, a1], [b0, b1]) = (ends(self.a, x), ends(self.b, y));
        (b0 - a1, b1 - a0)
    }

    fn n_diagonals(&self, x: &Kind, y: &Kind) -> u64 {
        let (from, to) = self.range(x, y);
        from.abs_diff(to) + 1
    }

    fn pair(&self, likeness: Likeness, x: Side, y: Side) -> (f64, u32) {
        (likeness.at(position_score(x.position, x.of, y.position, y.of)), x.position.abs_diff(y.position))
    }
}

/// Generates the pairs of two large kinds diagonal by diagonal.
struct Stream {
    head: Candidate,
    /// The rest of the current diagonals, in reverse order.
    rest: Vec<Candidate>,
    likeness: Likeness,
    x: Kind,
    y: Kind,
    /// δ of the next diagonal with δ ≥ 0, and of the next with δ < 0.
    up: i64,
    down: i64,
    /// δ of the first and the last diagonal that can contain a pair.
    range: (i64, i64),
    /// Steps since the last check of `Accepted::room`.
    walked: usize,
}

impl Ord for Stream {
    fn cmp(&self, other: &Stream) -> Ordering {
        self.head.cmp(&other.head)
    }
}

impl PartialOrd for Stream {
    fn partial_cmp(&self, other: &Stream) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Stream {
    fn eq(&self, other: &Stream) -> bool {
        self.head == other.head
    }
}

impl Eq for Stream {}

impl Stream {
    fn new(lists: &Lists<'_>, likeness: Likeness, x: Kind, y: Kind) -> Option<Stream> {
        let range = lists.range(&x, &y);
        let head = Candidate { key: u128::MAX, k: 0 };
        let (up, down) = (range.0.max(0), range.1.min(-1));
        let mut stream = Stream { head, rest: Vec::new(), likeness, x, y, up, down, range, walked: 0 };
        stream.refill(lists).then_some(stream)
    }

    /// Advances to the next candidate. False if no further candidate can be accepted or is above the threshold.
    fn advance(&mut self, lists: &Lists<'_>, accepted: &Accepted) -> bool {
        match self.rest.pop() {
            Some(next) => {
                self.head = next;
                true
            }
            None => self.may_bring(lists, accepted) && self.refill(lists),
        }
    }

    /// Whether a pair may still be accepted. Checked only after walks that cost about as much as a check.
    fn may_bring(&mut self, lists: &Lists<'_>, accepted: &Accepted) -> bool {
        if 4 * self.walked < lists.a.len() {
            return true;
        }
        self.walked = 0;
        accepted.room().is_between(&self.x, &self.y)
    }

    /// Expands the best diagonal that contains a pair. False if none is left above the threshold.
    fn refill(&mut self, lists: &Lists<'_>) -> bool {
        loop {
            let up = (self.up <= self.range.1).then(|| self.rank(lists, self.up));
            let down = (self.down >= self.range.0).then(|| self.rank(lists, self.down));
            let Some(best) = [up, down].into_iter().flatten().min() else { return false };
            if !lists.equality.passes(best.p()) {
                return false;
            }
            if up == Some(best) {
                self.walk(lists, self.up, best);
                self.up += 1;
            }
            if down == Some(best) {
                self.walk(lists, self.down, best);
                self.down -= 1;
            }
            if up == down {
                self.rest.sort_unstable();
            }
            self.rest.reverse();
            if let Some(head) = self.rest.pop() {
                self.head = head;
                return true;
            }
        }
    }

    /// Probability and displacement on a diagonal, as a candidate without indices.
    fn rank(&self, lists: &Lists<'_>, delta: i64) -> Candidate {
        let x = lists.a[self.x[0] as usize];
        let n_right = lists.b[self.y[0] as usize].of;
        let p = self.likeness.at(diagonal_score(x.of, n_right, delta));
        Candidate::new(p, delta.unsigned_abs() as u32, 0, 0)
    }

    /// Appends the pairs of a diagonal in ascending order: each node of the smaller kind with its partner in the other.
    fn walk(&mut self, lists: &Lists<'_>, delta: i64, rank: Candidate) {
        let left = |i: u32| i64::from(lists.a[i as usize].position);
        let right = |k: u32| i64::from(lists.b[k as usize].position);
        let pair = |i: u32, k: u32| Candidate { key: rank.key | u128::from(i), k };
        if self.x.len() <= self.y.len() {
            let partner = |i: u32| Some(self.y[self.y.binary_search_by_key(&(left(i) + delta), |k| right(*k)).ok()?]);
            self.rest.extend(self.x.iter().filter_map(|i| Some(pair(*i, partner(*i)?))));
        } else {
            let partner = |k: u32| Some(self.x[self.x.binary_search_by_key(&(right(k) - delta), |i| left(*i)).ok()?]);
            self.rest.extend(self.y.iter().filter_map(|k| Some(pair(partner(*k)?, *k))));
        }
        self.walked += self.x.len().min(self.y.len());
    }
}
