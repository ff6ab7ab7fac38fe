//! Max-sum labeling of a tree: the labels of all nodes are decided jointly.

/// The labeling with the greatest sum of scores of template nodes, less the costs of edges between unlike labels. The
/// root is template. Exact, in two passes, since a tree has no cycles.
///
/// `parent` and `scores` are in preorder. `out` is the cost of an edge from a template parent to a child that is not,
/// `back` the cost of an edge from a parent that is not template to a template child.
pub fn max_sum_labels(parent: &[u32], scores: Vec<f64>, out: f64, back: f64) -> Vec<bool> {
    let n = scores.len();
    let (mut template, mut own) = (scores, vec![0.0; n]);
    for node in (1..n).rev() {
        let parent = parent[node] as usize;
        template[parent] += template[node].max(own[node] - out);
        own[parent] += own[node].max(template[node] - back);
    }
    let mut labels = vec![true; n];
    for node in 1..n {
        labels[node] = if labels[parent[node] as usize] {
            template[node] >= own[node] - out
        } else {
            template[node] - back > own[node]
        };
    }
    labels
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn value(parent: &[u32], scores: &[f64], labels: &[bool], out: f64, back: f64) -> f64 {
        let edges = (1..parent.len()).map(|node| match (labels[parent[node] as usize], labels[node]) {
            (true, false) => -out,
            (false, true) => -back,
            _ => 0.0,
        });
        scores.iter().zip(labels).map(|(score, label)| if *label { *score } else { 0.0 }).sum::<f64>()
            + edges.sum::<f64>()
    }

    proptest! {
        #[test]
        fn no_other_labeling_is_worth_more(
            nodes in prop::collection::vec((0..8_u32, -4.0..4.0_f64), 1..9), out in 0.0..3.0_f64, back in 0.0..3.0_f64,
        ) {
            let parent: Vec<u32> = nodes.iter().enumerate().map(|(at, (p, _))| if at == 0 { 0 } else { p % at as u32 }).collect();
            let scores: Vec<f64> = nodes.iter().map(|(_, score)| *score).collect();
            let labels = max_sum_labels(&parent, scores.clone(), out, back);
            let best = value(&parent, &scores, &labels, out, back);
            prop_assert!(labels[0]);
            for bits in 0..1_u32 << (nodes.len() - 1) {
                let other: Vec<bool> = (0..nodes.len()).map(|at| at == 0 || bits >> (at - 1) & 1 == 1).collect();
                prop_assert!(value(&parent, &scores, &other, out, back) <= best + 1e-9);
            }
        }
    }
}
