//! The document frequency that separates idioms from template: the cut of a bimodal histogram (Foschini 2007, equation
//! 3.1).

use crate::strings::{HistogramWeight, StringOptions};

/// Number of bins of the histogram, as in the paper.
pub(super) const BINS: usize = 100;
/// With fewer strings or documents than these, no histogram is used.
const LEAST_STRINGS: u64 = 20;
const LEAST_DOCUMENTS: usize = 8;

/// Counts of strings by document frequency.
#[derive(Clone, Debug)]
pub(super) struct Histogram {
    counts: [u64; BINS],
    n_documents: usize,
}

impl Histogram {
    pub(super) fn new(n_documents: usize) -> Histogram {
        Histogram { counts: [0; BINS], n_documents }
    }

    pub(super) fn add(&mut self, df: u32) {
        self.counts[bin(df, self.n_documents)] += 1;
    }

    /// The smallest document frequency of a template string.
    ///
    /// The paper does not define x and y of its equation. If they are the centers of the two modes, the cut is that of
    /// 2-means in one dimension. Raw counts give a low cut, as idioms follow a power law. `papers.strings.weight =
    /// "log"` moves it up between the modes, and `papers.strings.min_ratio` is a lower bound; the paper has neither.
    pub(super) fn cut(&self, how: &StringOptions) -> u32 {
        let n = self.n_documents;
        let floor = (how.min_ratio * n as f64).ceil() as u32;
        if self.counts.iter().sum::<u64>() < LEAST_STRINGS || n < LEAST_DOCUMENTS {
            return floor.max((0.5 * n as f64).ceil() as u32);
        }
        let weigh = |count: &u64| match how.weight {
            HistogramWeight::Raw => *count as f64,
            HistogramWeight::Log => (1.0 + *count as f64).ln(),
        };
        let weights: Vec<f64> = self.counts.iter().map(weigh).collect();
        let at = two_means(&weights);
        // The first document frequency of that bin.
        let first = (0..=n as u32).find(|df| bin(*df, n) >= at).unwrap_or(n as u32);
        first.max(floor)
    }
}

fn bin(df: u32, n_documents: usize) -> usize {
    (BINS * df as usize / (n_documents + 1)).min(BINS - 1)
}

/// Splits the bins into two groups with the least squared distance to the group means, and returns the first bin of the
/// upper group. The lowest split wins ties. Prefix sums make this linear in the number of bins.
fn two_means(weights: &[f64]) -> usize {
    let moments = |from: &[f64], offset: usize| {
        let at = |i: usize| (offset + i) as f64;
        from.iter()
            .enumerate()
            .fold((0.0, 0.0, 0.0), |(w, x, xx), (i, h)| (w + h, x + h * at(i), xx + h * at(i) * at(i)))
    };
    let error = |(w, x, xx): (f64, f64, f64)| xx - x * x / w;
    let all = moments(weights, 0);
    let mut left = (0.0, 0.0, 0.0);
    let mut best = (f64::INFINITY, weights.len() / 2);
    for cut in 1..weights.len() {
        let (w, x, xx) = moments(&weights[cut - 1..cut], cut - 1);
        left = (left.0 + w, left.1 + x, left.2 + xx);
        let right = (all.0 - left.0, all.1 - left.1, all.2 - left.2);
        if left.0 > 0.0 && right.0 > 1e-9 {
            let sum = error(left) + error(right);
            // Rounding must not break a tie.
            if sum < best.0 - 1e-9 * best.0.min(1e12) {
                best = (sum, cut);
            }
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn two_modes_are_parted_and_a_power_law_is_cut_low() {
        let mut weights = vec![0.0; BINS];
        (weights[3], weights[5], weights[90], weights[95]) = (10.0, 10.0, 4.0, 4.0);
        let cut = two_means(&weights);
        assert!((6..=90).contains(&cut), "{cut}");
        let mut histogram = Histogram::new(1000);
        for df in 2..1000_u32 {
            (0..(1e6 / f64::from(df).powi(2)) as usize).for_each(|_| histogram.add(df));
        }
        (0..300).for_each(|_| histogram.add(960));
        let mut how = StringOptions::default();
        (how.weight, how.min_ratio) = (HistogramWeight::Raw, 0.0);
        let raw = histogram.cut(&how);
        how.weight = HistogramWeight::Log;
        let log = histogram.cut(&how);
        assert!(raw < log && (200..=400).contains(&raw) && (350..=600).contains(&log), "raw {raw}, log {log}");
        how.min_ratio = 0.5;
        assert!(histogram.cut(&how) >= 500);
        assert_eq!(Histogram::new(5).cut(&how), 3, "no histogram: half of the documents");
    }

    proptest! {
        #[test]
        fn prefix_sums_give_the_least_error_of_equation_3_1(
            weights in proptest::collection::vec(0..50_u32, 2..40),
        ) {
            let weights: Vec<f64> = weights.into_iter().map(f64::from).collect();
            let error = |cut: usize| {
                let side = |range: std::ops::Range<usize>| {
                    let w: f64 = weights[range.clone()].iter().sum();
                    let mean = range.clone().map(|i| weights[i] * i as f64).sum::<f64>() / w;
                    (w > 0.0).then(|| range.map(|i| weights[i] * (i as f64 - mean).powi(2)).sum::<f64>())
                };
                Some(side(0..cut)? + side(cut..weights.len())?)
            };
            let least = (1..weights.len()).filter_map(error).fold(f64::INFINITY, f64::min);
            if least.is_finite() {
                let found = error(two_means(&weights)).unwrap();
                prop_assert!((found - least).abs() <= 1e-6 * (1.0 + least), "{} is not {}", found, least);
            }
        }
    }
}
