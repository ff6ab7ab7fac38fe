//! Main-content score over words: multiset overlap, and longest common subsequence (Gottron 2008, table 3).

use std::sync::LazyLock;

use regex::Regex;
use rustc_hash::FxHashMap;
use serde::Serialize;

use super::nodes::Score;

/// Scores of one page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct WordScore {
    /// Words as a multiset.
    pub bag: Score,
    /// Longest common subsequence of words.
    pub lcs: Score,
}

/// Lower-case runs of letters, digits and `_`; every CJK character is a token of its own.
pub fn tokens(text: &str) -> Vec<String> {
    static TOKEN: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let cjk = r"\u{3040}-\u{30ff}\u{3400}-\u{4dbf}\u{4e00}-\u{9fff}\u{ac00}-\u{d7af}";
        Regex::new(&format!(r"[{cjk}]|[\p{{L}}\p{{N}}_--[{cjk}]]+")).ok()
    });
    let lower = text.to_lowercase();
    let Some(token) = TOKEN.as_ref() else { return Vec::new() };
    token.find_iter(&lower).map(|m| m.as_str().to_owned()).collect()
}

/// Multiset overlap of found and wanted words.
pub fn bag_score(found: &[String], wanted: &[String]) -> Score {
    let mut left: FxHashMap<&str, usize> = FxHashMap::default();
    for word in wanted {
        *left.entry(word).or_default() += 1;
    }
    let hits = found
        .iter()
        .filter(|word| match left.get_mut(word.as_str()) {
            Some(n) if *n > 0 => {
                *n -= 1;
                true
            }
            _ => false,
        })
        .count();
    words(hits, found.len(), wanted.len())
}

/// Longest common subsequence of found and wanted words.
pub fn lcs_score(found: &[String], wanted: &[String]) -> Score {
    words(lcs_length(found, wanted), found.len(), wanted.len())
}

/// Unlike in the node score, an empty output has precision and recall 0.
fn words(hits: usize, found: usize, wanted: usize) -> Score {
    let share = |n: usize| if n > 0 { hits as f64 / n as f64 } else { 0.0 };
    Score::from_parts(share(found), share(wanted))
}

/// Length of the longest common subsequence by Hyyrö's bit-parallel algorithm, with 64 positions per machine word.
fn lcs_length(a: &[String], b: &[String]) -> usize {
    let n_words = a.len().div_ceil(64);
    let mut places: FxHashMap<&str, Vec<(usize, u64)>> = FxHashMap::default();
    for (i, word) in a.iter().enumerate() {
        let list = places.entry(word).or_default();
        match list.last_mut() {
            Some((block, bits)) if *block == i / 64 => *bits |= 1 << (i % 64),
            _ => list.push((i / 64, 1 << (i % 64))),
        }
    }
    let mut state = vec![u64::MAX; n_words];
    for word in b {
        let Some(list) = places.get(word.as_str()) else { continue };
        let mut carry = false;
        let mut next = list.iter().peekable();
        for (block, bits) in state.iter_mut().enumerate() {
            let here = match next.peek() {
                Some((at, mask)) if *at == block => {
                    next.next();
                    *mask
                }
                _ => 0,
            };
            let hit = *bits & here;
            let (sum, over) = bits.overflowing_add(hit);
            let (sum, over_again) = sum.overflowing_add(u64::from(carry));
            carry = over || over_again;
            *bits = sum | (*bits & !here);
        }
    }
    let zeros: usize = state.iter().map(|bits| bits.count_zeros() as usize).sum();
    zeros.min(a.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn list(text: &str) -> Vec<String> {
        tokens(text)
    }

    #[test]
    fn tokens_are_words_and_single_cjk_characters() {
        assert_eq!(list("It's A_1 日本語x é"), ["it", "s", "a_1", "日", "本", "語", "x", "é"]);
    }

    #[test]
    fn bag_counts_each_word_once() {
        let score = bag_score(&list("a a b"), &list("a b b c"));
        assert!((score.precision - 2.0 / 3.0).abs() < 1e-9 && (score.recall - 0.5).abs() < 1e-9);
        assert_eq!(bag_score(&[], &list("a")).f1, 0.0);
    }

    fn literal(a: &[String], b: &[String]) -> usize {
        let mut row = vec![0; b.len() + 1];
        for x in a {
            let mut diagonal = 0;
            for (k, y) in b.iter().enumerate() {
                let old = row[k + 1];
                row[k + 1] = if x == y { diagonal + 1 } else { old.max(row[k]) };
                diagonal = old;
            }
        }
        row[b.len()]
    }

    proptest! {
        #[test]
        fn bit_parallel_equals_the_table(
            a in proptest::collection::vec(0..6_u8, 0..200), b in proptest::collection::vec(0..6_u8, 0..200),
        ) {
            let words = |v: Vec<u8>| v.into_iter().map(|x| x.to_string()).collect::<Vec<_>>();
            let (a, b) = (words(a), words(b));
            prop_assert_eq!(lcs_length(&a, &b), literal(&a, &b));
        }
    }
}
