//! Copies of real pages with some of their words changed: how many are found, and how much else.
//!
//! `cargo test --release --test it near_duplicates -- --nocapture` prints the table.

use std::collections::HashMap;

use dehusk_core::{Page, PageOptions};
use dehusk_corpus::export::minhash_bands;
use dehusk_settings::MinHash;

use crate::markdown::pages;

/// A copy with a share of its words replaced by words of other texts.
fn changed(words: &[String], share: f64, others: &[String], random: &mut u64) -> String {
    let mut next = |below: usize| {
        *random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*random >> 33) as usize % below
    };
    let mut copy = Vec::with_capacity(words.len());
    for word in words {
        let is_changed = next(10_000) < (share * 10_000.0) as usize;
        copy.push(if is_changed { others[next(others.len())].as_str() } else { word });
    }
    copy.join(" ")
}

#[test]
fn copies_with_changed_words_are_found_and_other_texts_are_not() {
    let mut texts: Vec<Vec<String>> = Vec::new();
    for (_, html) in pages() {
        let page = Page::parse(html.as_str(), &PageOptions::default());
        let words: Vec<String> = page.clean().text().split_whitespace().map(str::to_owned).collect();
        if words.len() >= 100 {
            texts.push(words);
        }
    }
    if texts.is_empty() {
        return;
    }
    let vocabulary: Vec<String> = texts.iter().flatten().cloned().collect();
    let loose = MinHash { shingle: 3, bands: 64, rows: 3 };
    let mut random = 7;
    for (name, by) in [("5 words, 14 bands of 8", MinHash::default()), ("3 words, 64 bands of 3", loose)] {
        let mut first: HashMap<u64, usize> = HashMap::new();
        let mut among_originals = 0;
        let mut owner = vec![0; texts.len()];
        for (at, words) in texts.iter().enumerate() {
            let bands = minhash_bands(&words.join(" "), by);
            owner[at] = bands.iter().find_map(|band| first.get(band)).copied().unwrap_or(at);
            among_originals += usize::from(owner[at] != at);
            for band in bands {
                first.entry(band).or_insert(at);
            }
        }
        for share in [0.01, 0.05, 0.2] {
            let (mut found, mut wrong) = (0, 0);
            for (at, words) in texts.iter().enumerate() {
                let copy = changed(words, share, &vocabulary, &mut random);
                match minhash_bands(&copy, by).iter().find_map(|band| first.get(band)) {
                    Some(of) if *of == at || *of == owner[at] => found += 1,
                    Some(_) => wrong += 1,
                    None => {}
                }
            }
            let n = texts.len();
            let (recall, precision) = (found as f64 / n as f64, 1.0 - wrong as f64 / (found + wrong).max(1) as f64);
            println!(
                "{name}: {:>2.0} % of the words of {n} texts changed: recall {recall:.3}, precision {precision:.3}; \
                 {among_originals} originals are near another one",
                100.0 * share
            );
            assert!(among_originals < texts.len() / 50 && precision > 0.99, "{name} {share}");
            assert!(recall > 0.9 || (by == MinHash::default() && share > 0.01), "{name} {share}: {recall}");
        }
    }
}
