//! TEXT-MAX: partners are searched among the clusters that share the most signature positions (Kim and Shim 2011).

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::parallel;
use rustc_hash::FxHashMap;

use super::Merge;
use super::signature::Signature;

/// A pair that might be merged.
#[derive(Clone, Copy, PartialEq)]
struct Pair {
    saved: f64,
    at: usize,
    other: usize,
    /// Number of merges that each of the two had undergone when the pair was found.
    age: (u32, u32),
}

impl Eq for Pair {}

impl Ord for Pair {
    fn cmp(&self, other: &Pair) -> Ordering {
        let tie = (other.at, other.other).cmp(&(self.at, self.other));
        self.saved.total_cmp(&other.saved).then(tie)
    }
}

impl PartialOrd for Pair {
    fn partial_cmp(&self, other: &Pair) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

struct Clusters {
    list: Vec<Option<Signature>>,
    age: Vec<u32>,
    /// Clusters by signature position and rank. Outdated entries are skipped.
    buckets: FxHashMap<(u32, u64), Vec<u32>>,
    /// Number of members of a bucket that are examined, latest first.
    most: usize,
}

/// Repeatedly merges the pair that saves the most, where each cluster is paired only with the clusters that share the
/// most signature positions with it.
///
/// A rank that very many clusters share (that of `html/body`) is not informative and would make the work quadratic.
/// Only the `most` latest members of a bucket are therefore examined. This departs from the paper, but has no effect at
/// the paper's sizes.
pub(super) fn merge(start: Vec<Signature>, most: usize) -> Vec<Signature> {
    let age = vec![0; start.len()];
    let mut clusters =
        Clusters { list: start.into_iter().map(Some).collect(), age, buckets: FxHashMap::default(), most };
    (0..clusters.list.len()).for_each(|at| clusters.enter(at, |_| true));
    let found: Vec<Option<Pair>> = parallel::map_range(clusters.list.len(), |at| clusters.best(at));
    let mut heap: BinaryHeap<Pair> = found.into_iter().flatten().collect();
    while let Some(pair) = heap.pop() {
        let Pair { at, other, age, .. } = pair;
        if clusters.list[at].is_none() || clusters.age[at] != age.0 {
            continue;
        }
        if clusters.list[other].is_some() && clusters.age[other] == age.1 {
            clusters.join(at, other);
        }
        heap.extend(clusters.best(at));
    }
    clusters.list.into_iter().flatten().collect()
}

impl Clusters {
    /// Adds a cluster to the buckets of the positions for which `is_new` is true.
    fn enter(&mut self, at: usize, is_new: impl Fn(usize) -> bool) {
        let Some(cluster) = &self.list[at] else { return };
        for (place, rank) in cluster.places.iter().enumerate() {
            if let Some((rank, _)) = rank.filter(|_| is_new(place)) {
                self.buckets.entry((place as u32, rank)).or_default().push(at as u32);
            }
        }
    }

    /// Merges `other` into `at`. Outdated bucket entries of both remain until `tidy` reaches them.
    fn join(&mut self, at: usize, other: usize) {
        let Some(absorbed) = self.list[other].take() else { return };
        let Some(cluster) = &mut self.list[at] else { return };
        let ranks = |cluster: &Signature| cluster.places.iter().map(|p| p.map(|(rank, _)| rank)).collect::<Vec<_>>();
        let before = ranks(cluster);
        cluster.absorb(absorbed);
        let after = ranks(cluster);
        self.age[at] += 1;
        self.enter(at, |place| after[place] != before[place]);
        for (place, rank) in after.into_iter().enumerate() {
            if let Some(bucket) = rank.and_then(|rank| self.buckets.get_mut(&(place as u32, rank))) {
                tidy(bucket, self.most, |member| is_here(&self.list, member, place, rank));
            }
        }
    }

    /// The partner that saves the most, among those that share the most positions.
    fn best(&self, at: usize) -> Option<Pair> {
        let own = self.list.get(at)?.as_ref()?;
        let mut shared: FxHashMap<u32, u32> = FxHashMap::default();
        for (place, rank) in own.places.iter().enumerate() {
            let Some((rank, _)) = rank else { continue };
            let Some(bucket) = self.buckets.get(&(place as u32, *rank)) else { continue };
            let here = bucket.iter().rev().filter(|member| is_here(&self.list, **member, place, Some(*rank)));
            for member in here.take(self.most) {
                *shared.entry(*member).or_default() += 1;
            }
        }
        shared.remove(&(at as u32));
        let most = shared.values().copied().max()?;
        let candidates = shared.into_iter().filter(|(_, places)| *places == most).map(|(member, _)| member as usize);
        let pair = |other: usize| {
            let saved = own.saving(self.list[other].as_ref()?);
            (saved > 0.0).then_some(Pair { saved, at, other, age: (self.age[at], self.age[other]) })
        };
        candidates.filter_map(pair).max()
    }
}

/// Whether the cluster still has this rank at this position.
fn is_here(list: &[Option<Signature>], member: u32, place: usize, rank: Option<u64>) -> bool {
    list[member as usize].as_ref().is_some_and(|cluster| cluster.places[place].map(|(rank, _)| rank) == rank)
}

/// Removes outdated entries from the examined end of a bucket.
fn tidy(bucket: &mut Vec<u32>, most: usize, is_here: impl Fn(u32) -> bool) {
    let (mut at, mut seen) = (bucket.len(), 0);
    while at > 0 && seen < most {
        at -= 1;
        if is_here(bucket[at]) {
            seen += 1
        } else {
            bucket.remove(at);
        }
    }
}
