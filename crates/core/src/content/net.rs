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

/// A feature of a block: how it is standardized, and its weights in the first layer.
#[derive(Clone, Debug)]
struct Feature {
    mean: f32,
    /// 1 / standard deviation.
    scale: f32,
    /// 0, standardized.
    zero: f32,
    /// For each hidden number.
    weights: Layer,
}

impl Feature {
    fn standardized(&self, value: f32) -> f32 {
        ((value - self.mean) * self.scale).clamp(-CLIP, CLIP)
    }
}

/// The blocks of a page in front of a net, added one by one in their order.
pub(super) struct Page<'n> {
    net: &'n Net,
    /// The first layer of each block.
    first: Vec<Layer>,
    /// Sum of the first layers, and the same weighted by length.
    mean: Layer,
    weighted: Layer,
    /// Sum of these weights.
    weights: f32,
}

impl Page<'_> {
    /// Adds a block with its features.
    pub(super) fn add(&mut self, row: &[f32]) {
        let first = self.net.first(row);
        let length = self.net.features[self.net.length].standardized(row[self.net.length]);
        let weight = 1.0 + length.clamp(-0.9, CLIP);
        add(&mut self.mean, 1.0, &first);
        add(&mut self.weighted, weight, &first);
        self.weights += weight;
        self.first.push(first);
    }

    /// The logit of each block.
    pub(super) fn logits(&self) -> Vec<f32> {
        let n = self.first.len() as f32;
        let means = self.mean.map(|sum| sum / n).into_iter().chain(self.weighted.map(|sum| sum / self.weights));
        let mut pooled = self.net.b2;
        means.zip(&self.net.pool).for_each(|(mean, weights)| add(&mut pooled, mean, weights));
        self.first.iter().map(|first| self.net.logit(first, &pooled)).collect()
    }
}

/// Standardized features are cut at this many deviations.
const CLIP: f32 = 4.0;

type Layer = [f32; HIDDEN];

/// A net with its weights.
#[derive(Clone, Debug)]
pub(super) struct Net {
    features: Vec<Feature>,
    /// The first layer of a block whose features are all 0.
    zero: Layer,
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
        let mean = take(n_features);
        let scale = take(n_features);
        let w1 = layers(take(n_features * HIDDEN));
        let b1 = layer(take(HIDDEN));
        let pool = layers(take(2 * HIDDEN * HIDDEN));
        let w2 = layers(take(HIDDEN * HIDDEN));
        let (b2, w3) = (layer(take(HIDDEN)), layer(take(HIDDEN)));
        let b3 = take(1)[0];
        let feature = |((mean, scale), weights): ((&f32, &f32), Layer)| {
            let feature = Feature { mean: *mean, scale: *scale, zero: 0.0, weights };
            Feature { zero: feature.standardized(0.0), ..feature }
        };
        let features: Vec<Feature> = mean.iter().zip(scale).zip(w1).map(feature).collect();
        let mut zero = b1;
        features.iter().for_each(|feature| add(&mut zero, feature.zero, &feature.weights));
        Some(Net { features, zero, pool, w2, b2, w3, b3, length })
    }

    /// A page of so many blocks, of which none is read yet.
    pub(super) fn page(&self, n_blocks: usize) -> Page<'_> {
        let none = [0.0; HIDDEN];
        Page { net: self, first: Vec::with_capacity(n_blocks), mean: none, weighted: none, weights: 0.0 }
    }

    /// Most features are 0, and their part is known.
    fn first(&self, row: &[f32]) -> Layer {
        let mut sum = self.zero;
        for (value, feature) in row.iter().zip(&self.features) {
            if *value != 0.0 {
                add(&mut sum, feature.standardized(*value) - feature.zero, &feature.weights);
            }
        }
        sum.map(relu)
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
