//! Markdown of 40 pages as other programs write them, beside what a person wrote for each by hand.
//!
//! The pages and their gold are in tests/markdown_gold: documentation, formulas, tables, news, threads, recipes, products
//! and other scripts. `scripts/measure_webmainbench.py tests/markdown_gold PROGRAM` has the metrics of WebMainBench.

use std::collections::HashMap;
use std::path::Path;

use dehusk_core::{Alone, CleanOptions, KeepText, MarkdownImages, MarkdownLinks, MarkdownOptions, Page, PageOptions};

/// The least mean of F1 of lines. It is .855.
const LEAST_MEAN: f64 = 0.84;

/// F1 of the lines of a text, as they are, beside those of the gold.
fn f1_of_lines(written: &str, gold: &str) -> f64 {
    let lines = |text: &str| {
        let mut counts: HashMap<String, usize> = HashMap::new();
        text.lines().filter(|line| !line.trim().is_empty()).for_each(|line| {
            *counts.entry(line.to_owned()).or_default() += 1;
        });
        counts
    };
    let (written, gold) = (lines(written), lines(gold));
    let hits: usize = gold.iter().map(|(line, n)| written.get(line).copied().unwrap_or(0).min(*n)).sum();
    2.0 * hits as f64 / (written.values().sum::<usize>() + gold.values().sum::<usize>()) as f64
}

#[test]
fn pages_are_written_as_a_person_writes_them() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/markdown_gold");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut pages: Vec<_> = files.filter(|file| file.extension().is_some_and(|end| end == "html")).collect();
    pages.sort();
    // The gold has the text of links, and no pictures.
    let options = MarkdownOptions { links: MarkdownLinks::Drop, images: MarkdownImages::Drop };
    let main = CleanOptions { alone: Alone::PageModel, keep: KeepText::Main, ..CleanOptions::default() };
    let mut scores = Vec::new();
    for file in &pages {
        let page = Page::parse(&std::fs::read_to_string(file).unwrap(), &PageOptions::default());
        let written = page.clean_with(&main).markdown(&options);
        let score = f1_of_lines(&written, &std::fs::read_to_string(file.with_extension("md")).unwrap());
        scores.push((file.file_stem().unwrap().to_string_lossy().into_owned(), score));
    }
    assert_eq!(scores.len(), 40);
    let mean = scores.iter().map(|(_, score)| score).sum::<f64>() / scores.len() as f64;
    assert!(mean >= LEAST_MEAN, "mean {mean:.3} of {scores:.2?}");
    println!("mean F1 of lines {mean:.3}");
}
