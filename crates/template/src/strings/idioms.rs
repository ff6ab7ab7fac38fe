//! Drops frequent strings that are not template by themselves: parts of longer strings, and idioms.
//!
//! In a mailing list, "the list" is in the footer of every mail, and "of the" is in the text of nearly every mail.
//! Removing such strings everywhere would delete words of the content. Two rules prevent this. Occurrences inside of
//! longer template strings do not count for a string. A short string is an idiom if it is scattered over the documents
//! as words are: a template has a string equally often on each page, while chance puts a word twice on one page and not
//! at all on another. With fewer than eight documents, every short string is an idiom.
//!
//! Step 6 of the paper drops a string only if all of its occurrences are in one longer string (Foschini 2007, section
//! 3.2). The paper leaves idioms to the comparison with other sites. With `papers.strings.inner = "keep"` and
//! `papers.strings.max_idiom = 0` the paper is followed. For pages, inner strings are kept, because a text is removed
//! only as a whole and a menu item must be recognized where its neighbors differ (node F1 .76 with inner strings, .63
//! without).

use super::repeats::{Documents, Repeat};
use super::suffix::Suffixes;

/// Keeps the strings that at least `cut` documents contain outside of longer kept strings and that are not idioms
/// there. `strings` must be sorted, longest first.
pub(super) fn keep_standing(
    suffixes: &Suffixes,
    documents: &Documents,
    strings: &mut Vec<Repeat>,
    cut: u32,
    keeps_inner: bool,
    max_idiom: usize,
) {
    // For each position, the furthest end of the kept occurrences that cover it.
    let mut reach = vec![0_u32; suffixes.text.len()];
    let mut counts = vec![0_u32; documents.len()];
    strings.retain(|string| {
        let ranks = string.left as usize..(string.left + string.tf) as usize;
        let is_outside = |reach: &[u32], at: u32| keeps_inner || reach[at as usize] < at + string.len;
        let mut found = Vec::new();
        for at in suffixes.array[ranks.clone()].iter().map(|at| *at as u32) {
            if is_outside(&reach, at) {
                let document = documents.at(at);
                if counts[document] == 0 {
                    found.push(document);
                }
                counts[document] += 1;
            }
        }
        let of_documents: Vec<u32> = found.iter().map(|document| std::mem::take(&mut counts[*document])).collect();
        let may_be_idiom = string.len as usize <= max_idiom;
        if of_documents.len() < cut as usize || (may_be_idiom && is_scattered(&of_documents, documents.len())) {
            return false;
        }
        let covered = if keeps_inner { 0..0 } else { ranks };
        for at in suffixes.array[covered].iter().map(|at| *at as u32) {
            if is_outside(&reach, at) {
                let end = at + string.len;
                reach[at as usize..end as usize].iter_mut().for_each(|to| *to = end.max(*to));
            }
        }
        true
    });
}

/// Standard deviations from chance at which a short string is no longer an idiom.
const SURE: f64 = 2.5;

/// Whether chance explains how often a string is in each of those of `n` documents that have it. Words come in bursts,
/// a template string is equally often on each page: it is in more documents than chance would put it in, or the numbers
/// of its occurrences differ less than those of chance do. With few documents no result is significant.
fn is_scattered(counts: &[u32], n: usize) -> bool {
    !is_in_more(counts, n) && !is_even(counts, n)
}

/// Whether a string is in more documents than chance puts it in. Placed at random, its occurrences hit fewer documents
/// than those of a template string.
fn is_in_more(counts: &[u32], n: usize) -> bool {
    let (tf, df, n) = (counts.iter().sum::<u32>().into(), counts.len() as f64, n as f64);
    // Mean and variance of the number of occupied cells.
    let (missed, both_missed): (f64, f64) = ((1.0 - 1.0 / n).powf(tf), (1.0 - 2.0 / n).max(0.0).powf(tf));
    let mean = n * (1.0 - missed);
    let variance = n * missed + n * (n - 1.0) * both_missed - n * n * missed * missed;
    df - 0.5 - mean >= SURE * variance.max(0.0).sqrt()
}

/// Whether the numbers of occurrences differ less than by chance, such as the ten links "read more" of each page: their
/// sum of squares is then below a chi-square distribution with n - 1 degrees of freedom.
fn is_even(counts: &[u32], n: usize) -> bool {
    let free = n as f64 - 1.0;
    let mean = f64::from(counts.iter().sum::<u32>()) / n as f64;
    let squares: f64 = counts.iter().map(|count| (f64::from(*count) - mean).powi(2)).sum();
    let missing = (n - counts.len()) as f64 * mean * mean;
    (squares + missing) / mean < free - SURE * (2.0 * free).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strings::repeats::maximal_repeats;

    #[test]
    fn a_part_counts_only_where_it_stands_by_itself() {
        // 1 2 3 4 in all; 2 3 by itself in one, 3 4 by itself in all.
        let documents = [vec![1, 2, 3, 4, 9, 3, 4], vec![1, 2, 3, 4, 8, 3, 4, 2, 3], vec![3, 4, 7, 1, 2, 3, 4]];
        let (mut text, mut starts) = (Vec::new(), Vec::new());
        for (at, document) in documents.iter().enumerate() {
            starts.push(text.len() as u32);
            text.extend(document);
            text.push(100 + at as i32);
        }
        let suffixes = Suffixes::new(text).unwrap();
        let places = Documents::new(starts, suffixes.text.len());
        let mut strings = Vec::new();
        maximal_repeats(&suffixes, &places, |repeat| {
            if repeat.df == 3 && repeat.len > 1 {
                strings.push(repeat);
            }
        });
        strings.sort_by_key(|repeat| std::cmp::Reverse((repeat.len, repeat.left)));
        let tokens = |repeat: &Repeat| {
            let at = suffixes.array[repeat.left as usize] as usize;
            suffixes.text[at..at + repeat.len as usize].to_vec()
        };
        assert_eq!(strings.iter().map(tokens).collect::<Vec<_>>(), [vec![1, 2, 3, 4], vec![3, 4], vec![2, 3]]);
        let mut kept = strings.clone();
        keep_standing(&suffixes, &places, &mut kept, 3, true, 0);
        assert_eq!(kept, strings);
        keep_standing(&suffixes, &places, &mut strings, 3, false, 0);
        assert_eq!(strings.iter().map(tokens).collect::<Vec<_>>(), [vec![1, 2, 3, 4], vec![3, 4]]);
    }

    #[test]
    fn words_are_scattered_and_a_menu_is_not() {
        // Occurrences on so many pages, as evenly as possible but for the first page, which has the rest.
        let scattered = |tf: u32, df: usize, n: usize| {
            let mut counts = vec![1; df];
            counts[0] += tf - df as u32;
            is_scattered(&counts, n)
        };
        // On 90 of 100 pages: once on each, or as often as chance needs to reach so many pages.
        assert!(!scattered(90, 90, 100) && scattered(230, 90, 100));
        assert!(!scattered(50, 50, 100) && scattered(69, 50, 100));
        assert!(!scattered(10, 10, 10) && scattered(9, 9, 10) && scattered(2, 2, 2), "few say little");
    }

    #[test]
    fn what_is_equally_often_on_each_page_is_no_idiom() {
        // "read more", five times on each of 40 pages, or four to six times; a word has other numbers.
        let counts = |of: fn(u32) -> u32| (0..40).map(of).collect::<Vec<u32>>();
        assert!(!is_scattered(&counts(|_| 5), 40) && !is_scattered(&counts(|page| 4 + page % 3), 40));
        assert!(is_scattered(&counts(|page| 1 + page % 10), 40), "one to ten are as many as chance gives");
        assert!(is_scattered(&[5; 8], 8), "few say little");
    }
}
