//! TEXT-MAX: partners are looked for among the clusters that share the most of a signature (section 5.5).

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use rustc_hash::FxHashMap;

use super::Merge;
use super::signature::Signature;

/// A pair that might be merged.
#[derive(Clone, Copy, PartialEq)]
struct Pair {
    saved: f64,
    at: usize,
    other: usize,
    /// Merges that both had gone through when it was found.
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
    /// Clusters by place and rank; some have moved on and are passed over.
    buckets: FxHashMap<(u32, u64), Vec<u32>>,
    /// Members of a bucket that are looked at, the latest.
    most: usize,
}

/// Merges the pair that saves the most among those of a cluster and the clusters that share most places with it.
///
/// A rank that very many clusters share (that of `html/body`) tells nothing, and would make the work quadratic; so only
/// the `most` latest members of a bucket are looked at, a departure that the paper's sizes never feel.
pub(super) fn merge(start: Vec<Signature>, most: usize) -> Vec<Signature> {
    let age = vec![0; start.len()];
    let mut clusters =
        Clusters { list: start.into_iter().map(Some).collect(), age, buckets: FxHashMap::default(), most };
    (0..clusters.list.len()).for_each(|at| clusters.enter(at, |_| true));
    let found: Vec<Option<Pair>> = (0..clusters.list.len()).into_par_iter().map(|at| clusters.best(at)).collect();
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
    /// Puts a cluster into the buckets of those places that `is_new` allows.
    fn enter(&mut self, at: usize, is_new: impl Fn(usize) -> bool) {
        let Some(cluster) = &self.list[at] else { return };
        for (place, rank) in cluster.places.iter().enumerate() {
            if let Some((rank, _)) = rank.filter(|_| is_new(place)) {
                self.buckets.entry((place as u32, rank)).or_default().push(at as u32);
            }
        }
    }

    /// The absorbed cluster, and the other one where it has moved on, stay in their buckets until they are come upon.
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

    /// The partner that saves the most among those with the most places in common.
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

/// Does the cluster still have this rank at this place?
fn is_here(list: &[Option<Signature>], member: u32, place: usize, rank: Option<u64>) -> bool {
    list[member as usize].as_ref().is_some_and(|cluster| cluster.places[place].map(|(rank, _)| rank) == rank)
}

/// Takes those that have gone out of the end of a bucket, as far as it is looked at.
fn tidy(bucket: &mut Vec<u32>, most: usize, is_here: impl Fn(u32) -> bool) {
    let (mut at, mut seen) = (bucket.len(), 0);
    while at > 0 && seen < most {
        at -= 1;
        match is_here(bucket[at]) {
            true => seen += 1,
            false => {
                bucket.remove(at);
            }
        }
    }
}
