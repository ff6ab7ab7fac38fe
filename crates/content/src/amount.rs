//! How much of a page is its main content: which of the ranked blocks are kept.
//!
//! The ranking of the blocks of a page is nearly always right; how many of them are content is the harder question.
//! Where the net is sure of the page, blocks above one half are kept. Elsewhere (lists, shops, short pages) the blocks
//! are kept that make the expected F1 greatest.

use super::net::sigmoid;

/// What the user prefers where the net is in doubt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Favor {
    /// Less of the page, with less that is not main content.
    Precision,
    /// The greatest F1.
    #[default]
    Balanced,
    /// More of the page, with less main content missing.
    Recall,
}

impl Favor {
    /// What is added to every logit.
    fn shift(self) -> f32 {
        match self {
            Favor::Precision => -1.5,
            Favor::Balanced => 0.0,
            Favor::Recall => 1.5,
        }
    }
}

/// Expected F1 from which the net is sure of a page.
const SURE: f32 = 0.8;

/// Which blocks are kept, from their logits and lengths in words.
pub(super) fn kept_blocks(logits: &[f32], words: &[f32], favor: Favor) -> Vec<bool> {
    let probabilities: Vec<f32> = logits.iter().map(|logit| sigmoid(logit + favor.shift())).collect();
    let mut order: Vec<usize> = (0..logits.len()).collect();
    order.sort_by(|a, b| probabilities[*b].total_cmp(&probabilities[*a]).then(a.cmp(b)));
    let expected: f32 = probabilities.iter().zip(words).map(|(p, n)| p * n).sum();
    let (mut hits, mut size, mut best) = (0.0, 0.0, (0.0, 1.0));
    for at in order {
        hits += probabilities[at] * words[at];
        size += words[at];
        let f1 = 2.0 * hits / (size + expected).max(1e-9);
        if f1 > best.0 {
            best = (f1, probabilities[at]);
        }
    }
    let is_sure = best.0 >= SURE;
    probabilities.iter().map(|p| if is_sure { *p > 0.5 } else { *p >= best.1 && best.0 > 0.0 }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_in_doubt_gives_more_than_half_sure_blocks_do() {
        let sure = [4.0, 3.0, -3.0, -5.0];
        assert_eq!(kept_blocks(&sure, &[50.0; 4], Favor::Balanced), [true, true, false, false]);
        let doubtful = [-0.2, -0.3, -0.4, -4.0];
        assert_eq!(kept_blocks(&doubtful, &[10.0; 4], Favor::Balanced), [true, true, true, false]);
        assert_eq!(kept_blocks(&[], &[], Favor::Balanced), Vec::<bool>::new());
    }

    #[test]
    fn favor_moves_the_boundary() {
        let logits = [5.0, 1.0, -1.0, -5.0];
        let n = |favor| kept_blocks(&logits, &[100.0, 5.0, 5.0, 5.0], favor).iter().filter(|kept| **kept).count();
        assert_eq!([Favor::Precision, Favor::Balanced, Favor::Recall].map(n), [1, 2, 3]);
    }
}
