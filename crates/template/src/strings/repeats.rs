//! Maximal repeats with term and document frequency, in one pass over the suffix array.
//!
//! Step 6 of the paper drops a string that occurs only inside of one longer string (Foschini 2007, section 3.2). The
//! remaining strings are the repeats that cannot be extended to either side. Right-maximal repeats are the intervals of
//! common prefixes. A repeat is left-diverse if the tokens before its occurrences differ. Document frequencies are
//! computed after Yamamoto and Church (2001).

use super::suffix::Suffixes;

/// A repeated string.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Repeat {
    /// Rank of its first occurrence. The other occurrences have the ranks that follow.
    pub(super) left: u32,
    /// Number of tokens.
    pub(super) len: u32,
    /// Number of occurrences.
    pub(super) tf: u32,
    /// Number of documents that contain it.
    pub(super) df: u32,
}

/// Maps each position of a text to its document.
pub(super) struct Documents {
    starts: Vec<u32>,
    /// The document of every `BLOCK`th position.
    of_block: Vec<u32>,
}

const BLOCK: usize = 64;

impl Documents {
    /// `starts` is ascending and begins with 0. `len` is the length of the text.
    pub(super) fn new(starts: Vec<u32>, len: usize) -> Documents {
        let mut document = 0;
        let of_block = (0..len.div_ceil(BLOCK))
            .map(|block| {
                while starts.get(document + 1).is_some_and(|start| *start as usize <= block * BLOCK) {
                    document += 1;
                }
                document as u32
            })
            .collect();
        Documents { starts, of_block }
    }

    pub(super) fn len(&self) -> usize {
        self.starts.len()
    }

    pub(super) fn at(&self, place: u32) -> usize {
        let mut document = self.of_block[place as usize / BLOCK] as usize;
        while self.starts.get(document + 1).is_some_and(|start| *start <= place) {
            document += 1;
        }
        document
    }
}

/// An interval of suffixes with a common prefix that is not closed yet.
struct OpenInterval {
    len: u32,
    left: u32,
    /// Occurrences in a document that has an earlier one.
    again: u32,
}

/// Passes every maximal repeat to `take`. Each document must end with a token that occurs once.
pub(super) fn maximal_repeats(suffixes: &Suffixes, documents: &Documents, mut take: impl FnMut(Repeat)) {
    let n = suffixes.array.len();
    let mut open = vec![OpenInterval { len: 0, left: 0, again: 0 }];
    let mut last: Vec<u32> = vec![u32::MAX; documents.len()];
    // The last rank whose suffix is preceded by another token than the suffix of the previous rank.
    let mut last_change = 0;
    let mut before_last = None;
    for rank in 0..=n {
        let prefix = if rank < n { suffixes.prefix(rank) } else { 0 };
        let (mut left, mut carry) = (rank as u32, 0);
        while let Some(closed) = open.pop_if(|top| top.len > prefix) {
            let again = closed.again + carry;
            (carry, left) = (again, closed.left);
            if last_change > closed.left {
                let tf = rank as u32 - closed.left;
                take(Repeat { left: closed.left, len: closed.len, tf, df: tf - again });
            }
        }
        if rank == n {
            return;
        }
        match open.last_mut() {
            Some(top) if top.len == prefix => top.again += carry,
            _ => open.push(OpenInterval { len: prefix, left: left.min(rank.saturating_sub(1) as u32), again: carry }),
        }
        let place = suffixes.array[rank] as u32;
        // A document begins after the end marker of another document, which occurs once. The first document has no
        // token before it.
        let before = place.checked_sub(1).map(|before| suffixes.text[before as usize]);
        if rank > 0 && before != before_last {
            last_change = rank as u32;
        }
        before_last = before;
        let document = documents.at(place);
        if last[document] != u32::MAX {
            let deepest = open.partition_point(|interval| interval.left <= last[document]);
            if let Some(interval) = deepest.checked_sub(1).and_then(|at| open.get_mut(at)) {
                interval.again += 1;
            }
        }
        last[document] = rank as u32;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;

    /// Term and document frequency of each string.
    type Repeats = BTreeMap<Vec<i32>, (u32, u32)>;

    fn fast(documents: &[Vec<i32>]) -> Repeats {
        let (mut text, mut starts) = (Vec::new(), Vec::new());
        for (at, document) in documents.iter().enumerate() {
            starts.push(text.len() as u32);
            text.extend(document);
            text.push(1000 + at as i32);
        }
        let suffixes = Suffixes::new(text).unwrap();
        let places = Documents::new(starts, suffixes.text.len());
        let mut found = Repeats::new();
        maximal_repeats(&suffixes, &places, |repeat| {
            let at = suffixes.array[repeat.left as usize] as usize;
            let tokens = &suffixes.text[at..at + repeat.len as usize];
            assert_eq!(found.insert(tokens.to_vec(), (repeat.tf, repeat.df)), None);
        });
        found
    }

    /// Every substring with its occurrences; kept when the neighbors differ on both sides.
    fn literal(documents: &[Vec<i32>]) -> Repeats {
        let mut places: BTreeMap<Vec<i32>, Vec<(usize, usize)>> = BTreeMap::new();
        for (at, document) in documents.iter().enumerate() {
            for start in 0..document.len() {
                for end in start + 1..=document.len() {
                    places.entry(document[start..end].to_vec()).or_default().push((at, start));
                }
            }
        }
        let neighbor = |document: usize, place: Option<usize>| {
            let found = place.and_then(|place| documents[document].get(place));
            found.map_or((true, document as i32), |token| (false, *token))
        };
        let is_maximal = |string: &Vec<i32>, places: &Vec<(usize, usize)>| {
            let left: BTreeSet<_> = places.iter().map(|(d, at)| neighbor(*d, at.checked_sub(1))).collect();
            let right: BTreeSet<_> = places.iter().map(|(d, at)| neighbor(*d, Some(at + string.len()))).collect();
            places.len() > 1 && left.len() > 1 && right.len() > 1
        };
        let kept = places.into_iter().filter(|(string, places)| is_maximal(string, places));
        kept.map(|(string, places)| {
            let documents: BTreeSet<usize> = places.iter().map(|(d, _)| *d).collect();
            (string, (places.len() as u32, documents.len() as u32))
        })
        .collect()
    }

    fn words(text: &str) -> Vec<i32> {
        text.split(' ').map(|word| i32::from(word.as_bytes()[0])).collect()
    }

    #[test]
    fn the_worked_examples() {
        let toy = fast(&[words("a b c x a b d"), words("z a b c x"), words("a b q")]);
        assert_eq!(toy, Repeats::from([(words("a b"), (4, 3)), (words("a b c x"), (2, 2))]));
        let king = fast(&[words("K I N G K O N G")]);
        assert_eq!(king, Repeats::from([(words("K"), (2, 1)), (words("N G"), (2, 1))]));
        assert_eq!(fast(&[]), Repeats::new());
        let same = fast(&[words("a b c"), words("a b c")]);
        assert_eq!(same, Repeats::from([(words("a b c"), (2, 2))]));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1500))]
        #[test]
        fn the_pass_finds_what_the_definition_says(
            documents in proptest::collection::vec(proptest::collection::vec(0..4_i32, 0..14), 0..7),
        ) {
            prop_assert_eq!(fast(&documents), literal(&documents));
        }
    }
}
