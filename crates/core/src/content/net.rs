//! A small net that scores the blocks of a page: one hidden layer for each block, a pooled vector for the page, and a
//! second layer that sees both.
//!
//! ```text
//! z = clip((x - mean) / deviation, -4, 4)            features of a block, standardized
//! e = relu(W1 z + b1)                                HIDDEN numbers a block
//! g = P [mean of e; mean of e weighted by length]    HIDDEN numbers a page
//! h = relu(W2 e + b2 + g)
//! logit = w3 h + b3
//! ```
//!
//! All sums run in a fixed order in single precision, without fused operations, so that the same page gives the same
//! bits on every machine.

use super::numbers::exp;

/// Numbers of a hidden layer.
pub(super) const HIDDEN: usize = 32;

/// Standardized features are cut at this many deviations.
const CLIP: f32 = 4.0;

type Layer = [f32; HIDDEN];

/// A net with its weights.
#[derive(Clone, Debug)]
pub(super) struct Net {
    mean: Vec<f32>,
    /// 1 / standard deviation.
    scale: Vec<f32>,
    /// By feature: its weight for each hidden number.
    w1: Vec<Layer>,
    /// The first layer of a block whose features are all 0.
    zero: Layer,
    /// The first layer's part of a feature that is 0, by feature.
    zero_of: Vec<f32>,
    pool: Vec<Layer>,
    w2: Vec<Layer>,
    b2: Layer,
    w3: Layer,
    b3: f32,
    /// The feature that weighs the second mean: the logarithm of a block's length.
    length: usize,
}

impl Net {
    /// Number of weights of a net with this many features, in the order of [`Net::read`].
    pub(super) fn n_weights(n_features: usize) -> usize {
        n_features * (2 + HIDDEN) + HIDDEN + 2 * HIDDEN * HIDDEN + HIDDEN * HIDDEN + 2 * HIDDEN + 1
    }

    /// A net from its weights: mean, scale, W1 by feature, b1, P by input, W2 by input, b2, w3, b3.
    pub(super) fn read(n_features: usize, length: usize, weights: &[f32]) -> Option<Net> {
        if weights.len() != Net::n_weights(n_features) {
            return None;
        }
        let mut rest = weights;
        let mut take = |n: usize| {
            let (taken, left) = rest.split_at(n);
            rest = left;
            taken
        };
        let mean = take(n_features).to_vec();
        let scale = take(n_features).to_vec();
        let w1 = layers(take(n_features * HIDDEN));
        let b1 = layer(take(HIDDEN));
        let pool = layers(take(2 * HIDDEN * HIDDEN));
        let w2 = layers(take(HIDDEN * HIDDEN));
        let (b2, w3) = (layer(take(HIDDEN)), layer(take(HIDDEN)));
        let b3 = take(1)[0];
        let zero_of: Vec<f32> = mean.iter().zip(&scale).map(|(mean, scale)| standardized(0.0, *mean, *scale)).collect();
        let mut zero = b1;
        for (value, weights) in zero_of.iter().zip(&w1) {
            add(&mut zero, *value, weights);
        }
        Some(Net { mean, scale, w1, zero, zero_of, pool, w2, b2, w3, b3, length })
    }

    /// The logit of each block of a page, from the rows of its features.
    pub(super) fn logits(&self, rows: &[f32]) -> Vec<f32> {
        let width = self.mean.len();
        let first: Vec<Layer> = rows.chunks_exact(width).map(|row| self.first(row)).collect();
        let pooled = self.pooled(rows, &first);
        first.iter().map(|first| self.logit(first, &pooled)).collect()
    }

    /// Most features are 0, and their part is known.
    fn first(&self, row: &[f32]) -> Layer {
        let mut sum = self.zero;
        for (at, value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
            let change = standardized(*value, self.mean[at], self.scale[at]) - self.zero_of[at];
            add(&mut sum, change, &self.w1[at]);
        }
        sum.map(relu)
    }

    fn pooled(&self, rows: &[f32], first: &[Layer]) -> Layer {
        let (mut mean, mut weighted) = ([0.0; HIDDEN], [0.0; HIDDEN]);
        let (mut n, mut total) = (0.0, 0.0);
        for (row, first) in rows.chunks_exact(self.mean.len()).zip(first) {
            let length = standardized(row[self.length], self.mean[self.length], self.scale[self.length]);
            let weight = 1.0 + length.clamp(-0.9, CLIP);
            add(&mut mean, 1.0, first);
            add(&mut weighted, weight, first);
            (n, total) = (n + 1.0, total + weight);
        }
        let mut pooled = self.b2;
        for (at, weights) in self.pool.iter().enumerate() {
            let value = if at < HIDDEN { mean[at] / n } else { weighted[at - HIDDEN] / total };
            add(&mut pooled, value, weights);
        }
        pooled
    }

    fn logit(&self, first: &Layer, pooled: &Layer) -> f32 {
        let mut second = *pooled;
        for (value, weights) in first.iter().zip(&self.w2) {
            if *value > 0.0 {
                add(&mut second, *value, weights);
            }
        }
        self.b3 + second.iter().zip(&self.w3).map(|(value, weight)| relu(*value) * weight).sum::<f32>()
    }
}

/// Probability of a logit.
pub(super) fn sigmoid(logit: f32) -> f32 {
    1.0 / (1.0 + exp(-logit))
}

fn relu(value: f32) -> f32 {
    value.max(0.0)
}

fn standardized(value: f32, mean: f32, scale: f32) -> f32 {
    ((value - mean) * scale).clamp(-CLIP, CLIP)
}

fn add(sum: &mut Layer, value: f32, weights: &Layer) {
    for (sum, weight) in sum.iter_mut().zip(weights) {
        *sum += value * weight;
    }
}

fn layer(weights: &[f32]) -> Layer {
    let mut layer = [0.0; HIDDEN];
    layer.iter_mut().zip(weights).for_each(|(to, from)| *to = *from);
    layer
}

fn layers(weights: &[f32]) -> Vec<Layer> {
    weights.chunks_exact(HIDDEN).map(layer).collect()
}
