//! The labels of a training page as run lengths.

use std::ops::Range;

/// Run lengths of labels: template, own, template, and so on. Equal labels have equal runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelRuns(Box<[u32]>);

impl LabelRuns {
    /// The runs of labels.
    pub fn new(is_template: &[bool]) -> LabelRuns {
        let runs = is_template.chunk_by(|a, b| a == b);
        let begins_own = is_template.first() == Some(&false);
        LabelRuns(begins_own.then_some(0).into_iter().chain(runs.map(|run| run.len() as u32)).collect())
    }

    /// Labels of these lengths. A file may have runs of length 0 among them.
    pub fn of_lengths(lengths: &[u32]) -> LabelRuns {
        LabelRuns::new(&LabelRuns(lengths.into()).to_vec())
    }

    /// The lengths, that of a run of template first.
    pub fn lengths(&self) -> &[u32] {
        &self.0
    }

    /// The runs of template nodes.
    pub fn template(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        let mut end = 0;
        let ranges = self.0.iter().map(move |length| {
            let start = end;
            end += *length as usize;
            start..end
        });
        ranges.step_by(2)
    }

    /// Whether each node is template.
    pub fn to_vec(&self) -> Vec<bool> {
        let runs = self.0.iter().enumerate();
        runs.flat_map(|(at, length)| std::iter::repeat_n(at % 2 == 0, *length as usize)).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn runs_are_the_labels(labels in proptest::collection::vec(any::<bool>(), 0..20)) {
            let runs = LabelRuns::new(&labels);
            prop_assert_eq!(&runs.to_vec(), &labels);
            let template: Vec<usize> = runs.template().flatten().collect();
            let expected: Vec<usize> = (0..labels.len()).filter(|node| labels[*node]).collect();
            prop_assert_eq!(template, expected);
            prop_assert_eq!(LabelRuns::of_lengths(runs.lengths()), runs);
        }
    }

    #[test]
    fn empty_runs_of_a_file_are_left_out() {
        let runs = LabelRuns::of_lengths(&[2, 0, 1, 3, 0, 0]);
        assert_eq!(runs, LabelRuns::new(&[true, true, true, false, false, false]));
        assert_eq!(runs.lengths(), [3, 3]);
    }
}
