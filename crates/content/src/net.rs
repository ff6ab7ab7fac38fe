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
use super::text_scan::{N, bits, places};

/// Numbers of a hidden layer.
pub(super) const HIDDEN: usize = 32;

/// How features are standardized, by feature.
#[derive(Clone, Debug)]
struct Scales {
    mean: Vec<f32>,
    /// 1 / standard deviation.
    scale: Vec<f32>,
    /// 0, standardized.
    zero: Vec<f32>,
}

impl Scales {
    fn new(mean: &[f32], scale: &[f32]) -> Scales {
        let zero = mean.iter().zip(scale).map(|(mean, scale)| standardized(0.0, *mean, *scale)).collect();
        Scales { mean: mean.to_vec(), scale: scale.to_vec(), zero }
    }

    fn standardized(&self, feature: usize, value: f32) -> f32 {
        standardized(value, self.mean[feature], self.scale[feature])
    }

    /// The standardized features of a block, less what they are for a feature of 0: 0 for most. Without branches, so
    /// that it is compiled to vector instructions.
    fn differences(&self, row: &[f32], differences: &mut [f32]) {
        let columns = self.mean.iter().zip(&self.scale).zip(&self.zero);
        for ((difference, value), ((mean, scale), zero)) in differences.iter_mut().zip(row).zip(columns) {
            *difference = standardized(*value, *mean, *scale) - zero;
        }
    }
}

fn standardized(value: f32, mean: f32, scale: f32) -> f32 {
    ((value - mean) * scale).clamp(-CLIP, CLIP)
}

/// The blocks of a page in front of a net, added one by one in their order.
pub(super) struct Page<'n> {
    net: &'n Net,
    /// Of the block that is added: the differences that its features make.
    differences: Vec<f32>,
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
        let first = self.first_layer(row);
        let length = self.net.scales.standardized(self.net.length, row[self.net.length]);
        let weight = 1.0 + length.clamp(-0.9, CLIP);
        add(&mut self.mean, 1.0, &first);
        add(&mut self.weighted, weight, &first);
        self.weights += weight;
        self.first.push(first);
    }

    fn first_layer(&mut self, row: &[f32]) -> Layer {
        self.net.scales.differences(row, &mut self.differences);
        added(&self.net.zero, &self.differences, &self.net.w1).map(relu)
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
    scales: Scales,
    /// The weights of the first layer, by feature.
    w1: Vec<Layer>,
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
        let (scales, mut zero) = (Scales::new(mean, scale), b1);
        scales.zero.iter().zip(&w1).for_each(|(feature, weights)| add(&mut zero, *feature, weights));
        Some(Net { scales, w1, zero, pool, w2, b2, w3, b3, length })
    }

    /// A page of so many blocks, of which none is read yet.
    pub(super) fn page(&self, n_blocks: usize) -> Page<'_> {
        let none = [0.0; HIDDEN];
        let n = self.w1.len();
        Page {
            net: self,
            differences: vec![0.0; n],
            first: Vec::with_capacity(n_blocks),
            mean: none,
            weighted: none,
            weights: 0.0,
        }
    }

    fn logit(&self, first: &Layer, pooled: &Layer) -> f32 {
        let second = added(pooled, first, &self.w2);
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

/// A sum and the weights of the inputs, each times its value. Most inputs are 0 and add nothing. Not inlined: within
/// `logit`, the compiler splits the sum into scalars.
#[inline(never)]
fn added(sum: &Layer, values: &[f32], weights: &[Layer]) -> Layer {
    let mut sum = *sum;
    for (values, weights) in values.chunks(N).zip(weights.chunks(N)) {
        let mut flags = [0; N];
        flags.iter_mut().zip(values).for_each(|(flag, value)| *flag = u8::from(*value != 0.0));
        for at in places(bits(&flags)) {
            add(&mut sum, values[at], &weights[at]);
        }
    }
    sum
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
