//! The blocks before and behind.

use super::Facts;
use crate::numbers::{exp, ln1p};

pub(super) const OFFSETS: [i32; 6] = [-3, -2, -1, 1, 2, 3];

pub(super) const NAMES: [&str; 7] =
    ["ln_length", "link_share", "marks", "prose", "heading", "same_parent", "same_slot"];

pub(super) const SMOOTHED: [&str; 8] = [
    "length_near",
    "length_around",
    "length_far",
    "link_share_near",
    "link_share_around",
    "link_share_far",
    "ln_since_prose",
    "ln_to_prose",
];

/// Standard deviations of the three Gaussian windows, in blocks.
const WIDTHS: [f32; 3] = [1.0, 3.0, 8.0];

/// Steps to prose beyond which their number does not matter.
const FAR: f32 = 50.0;

/// What is computed for all blocks of a page at once.
pub(super) struct Neighbors {
    /// By block: its own values, copied to its neighbors.
    own: Vec<[f32; 5]>,
    smoothed: Vec<[f32; SMOOTHED.len()]>,
}

impl Neighbors {
    pub(super) fn new(facts: &Facts<'_>) -> Neighbors {
        let flag = |is: bool| f32::from(u8::from(is));
        let own = facts.measures.list.iter().zip(&facts.is_heading);
        let own = own
            .map(|(m, is_heading)| [ln1p(m.len), m.link_share(), m.mark_rate(), flag(m.is_prose), flag(*is_heading)]);
        let mut smoothed = vec![[0.0; SMOOTHED.len()]; facts.len()];
        let lengths: Vec<f32> = facts.measures.list.iter().map(|m| m.len).collect();
        let links: Vec<f32> = facts.measures.list.iter().map(|m| m.link_len).collect();
        let unlinked: Vec<f32> = facts.measures.list.iter().map(|m| ln1p(m.len - m.link_len)).collect();
        for (width, sigma) in WIDTHS.into_iter().enumerate() {
            let window = Window::new(sigma);
            let [unlinked, links, lengths] = [&unlinked, &links, &lengths].map(|values| window.over(values));
            for (at, values) in smoothed.iter_mut().enumerate() {
                values[width] = unlinked[at];
                values[width + 3] = links[at] / lengths[at].max(1.0);
            }
        }
        let is_prose = |at: usize| facts.measures.list[at].is_prose;
        let (mut since, mut to) = (FAR, FAR);
        for at in 0..facts.len() {
            smoothed[at][6] = ln1p(since.min(FAR)) / 4.0;
            since = if is_prose(at) { 0.0 } else { since + 1.0 };
            let back = facts.len() - 1 - at;
            smoothed[back][7] = ln1p(to.min(FAR)) / 4.0;
            to = if is_prose(back) { 0.0 } else { to + 1.0 };
        }
        Neighbors { own: own.collect(), smoothed }
    }

    pub(super) fn write(&self, facts: &Facts<'_>, at: usize, out: &mut [f32]) {
        let width = NAMES.len();
        let container = |at: usize| facts.blocks.list[at].container;
        for (place, offset) in OFFSETS.into_iter().enumerate() {
            let Some(other) = at.checked_add_signed(offset as isize).filter(|other| *other < facts.len()) else {
                continue;
            };
            let values = &mut out[place * width..(place + 1) * width];
            values[..5].copy_from_slice(&self.own[other]);
            let (one, two) = (container(at), container(other));
            values[5] = f32::from(u8::from(one == two || facts.parent(one) == facts.parent(two)));
            values[6] = f32::from(u8::from(facts.slot(at) == facts.slot(other)));
        }
        out[OFFSETS.len() * width..].copy_from_slice(&self.smoothed[at]);
    }
}

/// A Gaussian window of three standard deviations.
struct Window {
    /// Weights from the middle outwards.
    weights: Vec<f32>,
}

impl Window {
    fn new(sigma: f32) -> Window {
        let reach = (3.0 * sigma) as usize + 1;
        let weights: Vec<f32> =
            (0..=reach).map(|step| exp(-0.5 * (step as f32 / sigma) * (step as f32 / sigma))).collect();
        let sum = 2.0 * weights.iter().sum::<f32>() - weights[0];
        Window { weights: weights.into_iter().map(|weight| weight / sum).collect() }
    }

    /// The weighted sum around each place. Past the ends there is nothing.
    fn over(&self, values: &[f32]) -> Vec<f32> {
        let reach = self.weights.len() - 1;
        let mut padded = vec![0.0; values.len() + 2 * reach];
        padded[reach..reach + values.len()].copy_from_slice(values);
        let mut sums: Vec<f32> = values.iter().map(|value| self.weights[0] * value).collect();
        for (step, weight) in self.weights.iter().enumerate().skip(1) {
            let around = padded[reach - step..].iter().zip(&padded[reach + step..]);
            sums.iter_mut().zip(around).for_each(|(sum, (before, behind))| *sum += weight * (before + behind));
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_weighs_what_is_near() {
        let window = Window::new(1.0);
        let sums = window.over(&[0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!(sums[2], window.weights[0]);
        assert_eq!(
            (sums[1], sums[3], sums[0], sums[4]),
            (window.weights[1], window.weights[1], window.weights[2], window.weights[2])
        );
        assert_eq!(sums[7], 0.0);
        let whole: f32 = window.weights[0] + 2.0 * window.weights[1..].iter().sum::<f32>();
        assert!((whole - 1.0).abs() < 1e-6);
        assert!(window.over(&[]).is_empty());
    }
}
