//! Template score by nodes: the measure of the TECO suite.

use serde::Serialize;

/// Precision, recall and their harmonic mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Score {
    /// Share of the found nodes that are gold.
    pub precision: f64,
    /// Share of the gold nodes that were found.
    pub recall: f64,
    /// Harmonic mean.
    pub f1: f64,
}

impl Score {
    /// Computes a score from counts. An empty result is perfect if nothing was wanted.
    pub fn new(hits: usize, found: usize, wanted: usize) -> Score {
        let precision = if found > 0 { hits as f64 / found as f64 } else { f64::from(wanted == 0) };
        let recall = if wanted > 0 { hits as f64 / wanted as f64 } else { 1.0 };
        Score::from_parts(precision, recall)
    }

    pub(crate) fn from_parts(precision: f64, recall: f64) -> Score {
        let sum = precision + recall;
        let f1 = if sum > 0.0 { 2.0 * precision * recall / sum } else { 0.0 };
        Score { precision, recall, f1 }
    }

    /// Mean of each component; 0 of no scores.
    pub fn mean(scores: &[Score]) -> Score {
        let n = scores.len().max(1) as f64;
        // The sum of no floats is -0.0.
        let sum = |part: fn(&Score) -> f64| scores.iter().map(part).fold(0.0, |a, b| a + b) / n;
        Score { precision: sum(|s| s.precision), recall: sum(|s| s.recall), f1: sum(|s| s.f1) }
    }
}

/// Expands run lengths such as `T12C3N1` to one letter per node; `None` if malformed.
pub fn expand(labels: &str) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let mut rest = labels.as_bytes();
    while let Some((letter, tail)) = rest.split_first() {
        let digits = tail.iter().take_while(|b| b.is_ascii_digit()).count();
        let n: usize = std::str::from_utf8(&tail[..digits]).ok()?.parse().ok()?;
        if !letter.is_ascii_uppercase() || n > 100_000_000 {
            return None;
        }
        out.resize(out.len() + n, *letter);
        rest = &tail[digits..];
    }
    Some(out)
}

/// What a page's score is made of: the columns of table 5.1 of Alarte 2014.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct NodeCounts {
    /// Nodes of the page.
    pub nodes: usize,
    /// Template nodes of the gold standard.
    pub template: usize,
    /// Nodes that were found to be template.
    pub retrieved: usize,
    /// Those of them that are.
    pub hits: usize,
}

impl NodeCounts {
    /// Counts of found labels against gold labels; `None` if their lengths differ.
    pub fn new(gold: &[u8], found: &[u8]) -> Option<NodeCounts> {
        let count = |labels: &[u8]| labels.iter().filter(|l| **l == b'T').count();
        let hits = gold.iter().zip(found).filter(|(g, f)| **g == b'T' && **f == b'T').count();
        let (template, retrieved) = (count(gold), count(found));
        (gold.len() == found.len()).then_some(NodeCounts { nodes: gold.len(), template, retrieved, hits })
    }
}

/// Score of found labels against gold labels; `None` if their lengths differ.
pub fn node_score(gold: &[u8], found: &[u8]) -> Option<Score> {
    let counts = NodeCounts::new(gold, found)?;
    Some(Score::new(counts.hits, counts.retrieved, counts.template))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_expand_and_score() {
        assert_eq!(expand("T2C1N1").unwrap(), b"TTCN");
        assert_eq!((expand("T"), expand("2T"), expand("t1")), (None, None, None));
        let score = node_score(b"TTCN", b"TNTN").unwrap();
        assert_eq!((score.precision, score.recall, score.f1), (0.5, 0.5, 0.5));
        assert_eq!(node_score(b"CC", b"NN").unwrap().f1, 1.0);
        assert_eq!(node_score(b"T", b"TT"), None);
    }

    #[test]
    fn macro_mean_is_the_mean_of_f1_not_the_f1_of_means() {
        let rows = [Score::from_parts(1.0, 0.5), Score::from_parts(0.5, 1.0)];
        let mean = Score::mean(&rows);
        assert!((mean.f1 - 2.0 / 3.0).abs() < 1e-9 && (mean.precision - 0.75).abs() < 1e-9);
        assert_eq!(Score::mean(&[]).f1, 0.0);
    }

    /// Table 5.1 of Alarte 2014: recall, precision and F1 of its 40 key pages, and the printed means.
    #[test]
    fn the_means_of_table_5_1() {
        const ROWS: [(f64, f64, f64); 40] = [
            (93.53, 100.00, 96.66),
            (100.00, 100.00, 100.00),
            (100.00, 97.39, 98.68),
            (97.44, 95.00, 96.20),
            (86.10, 99.48, 92.31),
            (98.47, 89.38, 93.70),
            (84.78, 97.91, 90.87),
            (97.01, 99.39, 98.19),
            (97.40, 100.00, 98.68),
            (96.26, 100.00, 98.09),
            (99.25, 92.31, 95.65),
            (97.63, 100.00, 98.80),
            (99.75, 71.99, 83.63),
            (69.94, 100.00, 82.31),
            (98.34, 100.00, 99.16),
            (86.86, 100.00, 92.97),
            (74.92, 100.00, 85.66),
            (99.72, 88.83, 93.96),
            (97.95, 100.00, 98.97),
            (89.66, 100.00, 94.55),
            (100.00, 100.00, 100.00),
            (100.00, 83.15, 90.80),
            (57.16, 98.65, 72.38),
            (96.98, 100.00, 98.47),
            (87.25, 100.00, 93.19),
            (99.43, 97.94, 98.68),
            (97.17, 96.43, 96.80),
            (100.00, 92.62, 96.17),
            (100.00, 98.87, 99.43),
            (90.63, 100.00, 95.08),
            (96.93, 100.00, 98.44),
            (72.94, 94.08, 82.17),
            (100.00, 100.00, 100.00),
            (93.81, 84.06, 88.67),
            (100.00, 75.33, 85.93),
            (87.50, 100.00, 93.33),
            (96.97, 97.71, 97.34),
            (100.00, 99.01, 99.50),
            (99.47, 100.00, 99.73),
            (100.00, 96.67, 98.31),
        ];
        let scores = ROWS.map(|(recall, precision, f1)| Score { precision, recall, f1 });
        let mean = Score::mean(&scores);
        for (got, printed) in [(mean.recall, 93.53), (mean.precision, 96.16), (mean.f1, 94.34)] {
            assert!((got - printed).abs() < 0.006, "{got} {printed}");
        }
        // Each printed F1 follows from its row, except for rounding.
        for (recall, precision, f1) in ROWS {
            assert!((Score::from_parts(precision / 100.0, recall / 100.0).f1 * 100.0 - f1).abs() < 0.02);
        }
    }
}
