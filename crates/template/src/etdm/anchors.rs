//! Anchors of two long child lists: nodes that are equal and unique on both sides, reduced to the longest ascending
//! chain, as in patience diff. The gaps between the anchors are mapped separately.

use rustc_hash::FxHashMap;

use super::equality::Side;
use super::pair::Pair;

/// Index pairs whose key occurs exactly once on each side, reduced to the longest chain that ascends on both sides.
pub(super) fn anchors(
    a: &[Side],
    b: &[Side],
    left_key: impl Fn(&Side) -> u64,
    right_key: impl Fn(&Side) -> u64,
) -> Vec<(usize, usize)> {
    let unique = |keys: Vec<u64>| {
        let mut at: FxHashMap<u64, Option<usize>> = FxHashMap::default();
        for (i, key) in keys.into_iter().enumerate().filter(|(_, key)| *key != 0) {
            at.entry(key).and_modify(|seen| *seen = None).or_insert(Some(i));
        }
        at
    };
    let right = unique(b.iter().map(right_key).collect());
    let mut pairs: Vec<(usize, usize)> = unique(a.iter().map(left_key).collect())
        .into_iter()
        .filter_map(|(key, i)| Some((i?, (*right.get(&key)?)?)))
        .collect();
    pairs.sort_unstable();
    longest_ascending(&pairs)
}

/// The longest subsequence that ascends on the right, too (patience sorting).
fn longest_ascending(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let mut tails: Vec<usize> = Vec::new();
    let mut before = vec![usize::MAX; pairs.len()];
    for (at, (_, k)) in pairs.iter().enumerate() {
        let pile = tails.partition_point(|tail| pairs[*tail].1 < *k);
        if pile > 0 {
            before[at] = tails[pile - 1];
        }
        match tails.get_mut(pile) {
            Some(tail) => *tail = at,
            None => tails.push(at),
        }
    }
    let mut chain = Vec::new();
    let mut at = tails.last().copied().unwrap_or(usize::MAX);
    while let Some(pair) = pairs.get(at) {
        chain.push(*pair);
        at = before[at];
    }
    chain.reverse();
    chain
}

/// Adds the anchors to the mapping and returns the gaps between them.
pub(super) fn fix<'s>(
    a: &'s [Side],
    b: &'s [Side],
    anchors: &[(usize, usize)],
    out: &mut Vec<Pair>,
) -> Vec<(&'s [Side], &'s [Side])> {
    let mut gaps = Vec::with_capacity(anchors.len() + 1);
    let (mut i, mut k) = (0, 0);
    for (x, y) in anchors {
        out.push((a[*x].node, b[*y].node));
        gaps.push((&a[i..*x], &b[k..*y]));
        (i, k) = (x + 1, y + 1);
    }
    gaps.push((&a[i..], &b[k..]));
    gaps.retain(|(x, y)| !x.is_empty() && !y.is_empty());
    gaps
}
