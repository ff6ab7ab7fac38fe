//! Merging by all pairs: TEXT-MDL, and with estimated costs TEXT-HASH.

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::Merge;

/// The partner of a cluster that saves the most, behind it in their order.
type Best = Option<(f64, usize)>;

/// Merges the pair that saves the most, until none saves anything; of several the first. A tie in cost is no saving: the
/// paper's own example needs that. Its pseudo-code merges down to one cluster, and assigns to the wrong variable; the
/// text around it says this.
///
/// Every cluster knows its best partner, so a merge costs one comparison with each other cluster and not all pairs anew;
/// the result is the same.
pub(super) fn merge<C: Merge + Send + Sync>(start: Vec<C>, saving: impl Fn(&C, &C) -> f64 + Sync) -> Vec<C> {
    let mut clusters: Vec<Option<C>> = start.into_iter().map(Some).collect();
    let n = clusters.len();
    let find = |clusters: &[Option<C>], at: usize| -> Best {
        let own = clusters[at].as_ref()?;
        let mut best: Best = None;
        for (other, cluster) in clusters.iter().enumerate().skip(at + 1) {
            let Some(cluster) = cluster else { continue };
            let saved = saving(own, cluster);
            if saved > best.map_or(0.0, |(most, _)| most) {
                best = Some((saved, other));
            }
        }
        best
    };
    let mut best: Vec<Best> = (0..n).into_par_iter().map(|at| find(&clusters, at)).collect();
    loop {
        let mut first: Option<(f64, usize, usize)> = None;
        for (at, partner) in best.iter().enumerate() {
            if let Some((saved, other)) = partner
                && first.is_none_or(|(most, ..)| *saved > most)
            {
                first = Some((*saved, at, *other));
            }
        }
        let Some((_, at, other)) = first else { break };
        let Some(absorbed) = clusters[other].take() else { break };
        let Some(cluster) = clusters[at].as_mut() else { break };
        cluster.absorb(absorbed);
        best[other] = None;
        let again: Vec<(usize, Best)> = (0..n)
            .into_par_iter()
            .filter(|i| clusters[*i].is_some())
            .map(|i| {
                let is_stale = i == at || best[i].is_some_and(|(_, partner)| partner == at || partner == other);
                if is_stale {
                    return (i, find(&clusters, i));
                }
                // The merged cluster may be a better partner than before, for those that stand before it.
                let (mut own, Some(this), Some(merged)) = (best[i], &clusters[i], &clusters[at]) else {
                    return (i, best[i]);
                };
                if i < at {
                    let saved = saving(this, merged);
                    let is_better =
                        own.map_or(saved > 0.0, |(most, partner)| saved > most || (saved == most && at < partner));
                    if is_better {
                        own = Some((saved, at));
                    }
                }
                (i, own)
            })
            .collect();
        again.into_iter().for_each(|(i, partner)| best[i] = partner);
    }
    clusters.into_iter().flatten().collect()
}
