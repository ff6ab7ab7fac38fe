//! A page aligned to all training pages of its site.

use dehusk_content::TwoBits;
use dehusk_html::Tree;

use super::align::{Alignment, NodeMatch, PageToAlign, align};
use super::encoded_page::EncodedPage;
use super::scratch::Scratch;
use super::{MIN_TEMPLATE, TrainingSet};

/// Digest of a training page, and the number of its URL.
type PageKey = (u64, u64);

/// A page beside the training pages.
pub(super) struct Aligned {
    /// Its alignment to each, in their order. Those of equal content are left out.
    pub(super) alignments: Vec<Alignment>,
    /// Which training pages these are.
    to: Vec<PageKey>,
    /// The greatest share of a training page's template that it shows.
    pub(super) confidence: f64,
    /// Number of the URL of that training page.
    pub(super) nearest: Option<u64>,
}

impl TrainingSet {
    /// Aligns a page to the training pages. Where it is a training page itself, its alignments to some others may be
    /// known.
    pub(super) fn aligned(&self, page: &EncodedPage, known: &KeptAlignments) -> Aligned {
        let alignments = Vec::with_capacity(self.pages.len());
        let mut aligned = Aligned { alignments, to: Vec::new(), confidence: 0.0, nearest: None };
        let to_align = PageToAlign::new(page);
        let mut scratch = Scratch::for_page();
        for training_page in self.evidence_pages() {
            if training_page.digest == page.digest() {
                (aligned.confidence, aligned.nearest) = (1.0, Some(training_page.url));
                continue;
            }
            let to = (training_page.digest, training_page.url);
            aligned.to.push(to);
            // The confidence of a training page is 1.
            if let Some(alignment) = known.find(to, page.len()) {
                aligned.alignments.push(alignment);
                continue;
            }
            let alignment = align(&to_align, training_page, &self.interner, &self.options, &mut scratch);
            if training_page.n_template() >= MIN_TEMPLATE {
                let coverage = training_page.coverage(&scratch.taken);
                if coverage > aligned.confidence {
                    (aligned.confidence, aligned.nearest) = (coverage, Some(training_page.url));
                }
            }
            aligned.alignments.push(alignment);
        }
        aligned
    }

    /// The mean share of a page's characters that a training page has, too: it tells sites of one layout apart.
    pub fn shared_text(&self, tree: &Tree) -> f64 {
        let page = self.encode(tree);
        let (all, aligned) = (page.n_chars(), self.aligned(&page, &KeptAlignments::default()));
        let shares = aligned.alignments.iter().map(|alignment| alignment.equal_text(&page, all));
        shares.sum::<f64>() / aligned.alignments.len().max(1) as f64
    }
}

impl Aligned {
    /// The alignments, to be kept for a page that becomes a training page.
    pub(super) fn kept(&self) -> KeptAlignments {
        let pack = |alignment: &Alignment| {
            let numbers: Vec<u8> = alignment.matches.iter().map(|found| *found as u8).collect();
            TwoBits::new(&numbers)
        };
        let packed = self.alignments.iter().map(pack);
        KeptAlignments(self.to.iter().copied().zip(packed).collect())
    }
}

/// The alignments of a training page to others, in two bits a node. Each is valid as long as the encoding of both pages
/// stays the same. Pages that are added later do not change it.
#[derive(Clone, Debug, Default)]
pub(super) struct KeptAlignments(Vec<(PageKey, TwoBits)>);

impl KeptAlignments {
    /// The alignment to a training page, of a page of n nodes.
    fn find(&self, to: PageKey, n: usize) -> Option<Alignment> {
        let (_, packed) = self.0.iter().find(|(page, packed)| *page == to && packed.n_values() == n)?;
        Some(Alignment { matches: packed.to_vec().into_iter().map(NodeMatch::of_number).collect() })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found() -> impl Strategy<Value = NodeMatch> {
        use NodeMatch::{Absent, Equal, Moved, Partial};
        prop_oneof![Just(Absent), Just(Partial), Just(Equal), Just(Moved)]
    }

    proptest! {
        #[test]
        fn kept_alignments_are_given_back(matches in proptest::collection::vec(found(), 0..40)) {
            let alignments = vec![Alignment { matches: matches.clone() }];
            let kept = Aligned { alignments, to: vec![(7, 1)], confidence: 0.0, nearest: None }.kept();
            prop_assert_eq!(kept.find((7, 1), matches.len()).map(|found| found.matches), Some(matches));
            prop_assert!(kept.find((7, 2), 0).is_none());
        }
    }
}
