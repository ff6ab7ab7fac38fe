//! Merging by all pairs: TEXT-MDL with exact costs, TEXT-HASH with estimated costs.

use crate::parallel;

use super::Merge;

/// The saving and index of a cluster's best partner among the clusters after it.
type Best = Option<(f64, usize)>;

/// Merges the pair that saves the most, until no merge saves anything. Of equal savings the first pair is merged. A
/// merge that leaves the cost unchanged is not made, as the paper's own example requires. The paper's pseudo-code
/// merges down to one cluster and assigns to the wrong variable; its text describes the rule used here.
///
/// The best partner of every cluster is stored, so a merge needs one comparison with each other cluster instead of a
/// comparison of all pairs. The result is the same.
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
    let mut best: Vec<Best> = parallel::map_range(n, |at| find(&clusters, at));
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
        best = parallel::map_range(n, |i| {
            let is_stale = i == at || best[i].is_some_and(|(_, partner)| partner == at || partner == other);
            match (&clusters[i], &clusters[at]) {
                (None, _) => best[i],
                _ if is_stale => find(&clusters, i),
                // The merged cluster may be a better partner than before, for those before it.
                (Some(this), Some(merged)) if i < at => {
                    let saved = saving(this, merged);
                    let is_better =
                        best[i].map_or(saved > 0.0, |(most, partner)| saved > most || (saved == most && at < partner));
                    if is_better { Some((saved, at)) } else { best[i] }
                }
                _ => best[i],
            }
        });
    }
    clusters.into_iter().flatten().collect()
}
