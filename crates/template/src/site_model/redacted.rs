//! A stored training set without the hashes of texts that only one page has.
//!
//! Hashes of texts are 32 bits wide and have no key: who guesses a text can tell whether a training page has it. Of a
//! text on several pages the template tells no less. One that a single page has is no evidence for a template, as long
//! as it is equal to nothing else.

use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::stored::StoredTrainingSet;

impl StoredTrainingSet {
    /// Replaces the hash of each text that is on one page only by one that depends on `seed`, too. Forget the seed.
    pub fn redact(&mut self, seed: u64) {
        let shared = self.shared_hashes();
        let hash = |hash: u32| {
            let is_shared = shared.get(&hash).is_some_and(Option::is_none);
            if is_shared { hash } else { xxh3_64_with_seed(&hash.to_le_bytes(), seed) as u32 }
        };
        for page in self.pages_mut() {
            page.replace_hashes(hash);
        }
    }

    /// The page of each hash; nothing for one that several pages have.
    fn shared_hashes(&mut self) -> FxHashMap<u32, Option<usize>> {
        let mut pages_of: FxHashMap<u32, Option<usize>> = FxHashMap::default();
        for (at, page) in self.pages_mut().iter_mut().enumerate() {
            page.replace_hashes(|hash| {
                let first = pages_of.entry(hash).or_insert(Some(at));
                if *first != Some(at) {
                    *first = None;
                }
                hash
            });
        }
        pages_of
    }
}

#[cfg(test)]
mod tests {
    use dehusk_html::{ParseOptions, Tree, parse};

    use super::super::{SiteModelOptions, TrainingSet};

    fn page(n: usize) -> Tree {
        let own: String = (0..6).map(|at| format!("<p>Sentence {at} of page {n} alone.")).collect();
        let html =
            format!("<nav><a href=/>Home</a><a href=/b>Basket</a></nav><h1>Page {n}</h1>{own}<footer>Foot</footer>");
        parse(&html, &ParseOptions::default())
    }

    #[test]
    fn own_texts_are_not_found_by_a_guess_and_labels_stay() {
        let trees: Vec<Tree> = (0..5).map(page).collect();
        let numbered: Vec<(u64, &Tree)> = (1..).zip(&trees).collect();
        let options = SiteModelOptions::default();
        let (set, _) = TrainingSet::learn(&numbered, &options).unwrap();
        let stored = set.store();
        let mut redacted = stored.clone();
        redacted.redact(7);
        let leaves = |set: &super::StoredTrainingSet| {
            let mut set = set.clone();
            let mut all = rustc_hash::FxHashSet::default();
            set.pages_mut().iter_mut().for_each(|page| {
                page.replace_hashes(|hash| {
                    all.insert(hash);
                    hash
                });
            });
            all
        };
        let (before, after) = (leaves(&stored), leaves(&redacted));
        let n_left = before.intersection(&after).count();
        assert!(n_left > 0 && n_left < before.len() / 2, "{n_left} of {}", before.len());
        // A page that was not seen, and one that was.
        for tree in [&page(9), &trees[0]] {
            let [before, after] = [stored.clone(), redacted.clone()].map(|set| set.load(&options).label(tree));
            assert_eq!(before.is_template, after.is_template);
        }
    }
}
