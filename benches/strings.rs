//! Template strings at size: learning from 220 MB of pages, and cleaning with 10,000 strings beside a regex set.
//!
//! `cargo bench --bench strings`; `-- 20` takes 20 MB. The paper's figures: 220 MB in 449 s on eight threads of 2007.
#![allow(missing_docs, unreachable_pub, clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark")]

use std::time::Instant;

use dehusk_html::ParseOptions;
use dehusk_html::parse;
use dehusk_settings::Settings;
use dehusk_template::strings::{Corpus, Document, Patterns, StringCleaner, StringTemplate, TokenizedDocument};
use dehusk_template::strings::{StringOptions, StringTokens};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

#[path = "generated.rs"]
mod generated;
#[path = "pages.rs"]
mod pages;

fn main() {
    let megabytes = std::env::args().filter_map(|arg| arg.parse::<usize>().ok()).next().unwrap_or(220);
    learn(megabytes * 1_000_000);
    clean();
}

/// Pages are made as they are needed and timed without that, so that the peak of memory is not theirs.
fn learn(bytes: usize) {
    let how = Settings::default().core.strings;
    let mut news = generated::News::new();
    let mut sites: Vec<String> = pages::load().into_iter().flat_map(|site| site.pages).map(|(_, html)| html).collect();
    let n_sites = sites.len();
    let mut collection = Corpus::new(Patterns::shipped(), StringTokens::Auto);
    let (mut read, mut spent, mut n) = (0, 0.0, 0);
    while read < bytes {
        let batch: Vec<String> =
            (0..256).map_while(|_| sites.pop()).chain((0..256).map(|_| news.page())).take(256).collect();
        read += batch.iter().map(String::len).sum::<usize>();
        n += batch.len();
        let start = Instant::now();
        let prepare = |html: &String| collection.prepare(Document::Page(&parse(html, &ParseOptions::default())));
        let prepared: Vec<TokenizedDocument> = batch.par_iter().map(prepare).collect();
        prepared.into_iter().for_each(|document| collection.add(document).unwrap());
        spent += start.elapsed().as_secs_f64();
    }
    let tokens = collection.n_tokens();
    let start = Instant::now();
    let template = StringTemplate::learn(collection, &how).unwrap();
    let arrays = start.elapsed().as_secs_f64();
    let (all, peak) = (spent + arrays, generated::peak_memory());
    println!(
        "learning: {:.0} MB, {n} pages ({n_sites} of them of the sites at hand), {:.1} M tokens",
        read as f64 / 1e6,
        tokens as f64 / 1e6
    );
    println!(
        "  parsing and cutting {spent:.1} s, arrays, repeats and cut {arrays:.1} s, together {all:.1} s: {:.1} MB/s",
        read as f64 / 1e6 / all
    );
    println!("  the paper: 0.49 MB/s; ratio {:.0}", read as f64 / 1e6 / all / 0.49);
    println!(
        "  peak {:.0} MB: {:.1} bytes a token, {:.0} MB less than 12 a token and the input",
        peak as f64 / 1e6,
        peak as f64 / tokens as f64,
        (12 * tokens + read) as f64 / 1e6 - peak as f64 / 1e6
    );
    let cleaner = StringCleaner::new(&template, &Patterns::shipped(), &how, |_| true).unwrap();
    let page = parse(&news.page(), &ParseOptions::default());
    let labels = cleaner.label(&page);
    let (is_template, share) = (labels.is_template, labels.confidence);
    let left: Vec<&str> = page
        .nodes()
        .filter(|node| page.counted().contains(&node.index()) && page.is_text(*node) && !is_template[node.index()])
        .map(|node| page.text(node))
        .collect();
    let of_template = [&news.menu, &news.side, &news.foot]
        .iter()
        .any(|part| left.iter().any(|text| part.contains(&format!(">{text}<"))));
    println!(
        "  {} strings; of a new page {:.0} % of the tokens are template; texts of the known template left: {}",
        template.strings.len(),
        share * 100.0,
        if of_template { "some" } else { "none" }
    );
}

fn clean() {
    const STRINGS: usize = 10_000;
    let mut zipf = generated::Zipf::new(60_000, 5);
    let strings: Vec<String> = (0..STRINGS)
        .map(|n| {
            let words = 3 + zipf.below(6);
            format!("{} s{n} {}", zipf.text(2), zipf.text(words))
        })
        .collect();
    let mut collection = Corpus::new(Patterns::none(), StringTokens::Ws);
    for document in 0..3 {
        // Something of its own between any two.
        let text: Vec<String> =
            strings.iter().enumerate().map(|(n, string)| format!("{string} own-{document}-{n}")).collect();
        let prepared = collection.prepare(Document::Text(&text.join("\n")));
        collection.add(prepared).unwrap();
    }
    let how = StringOptions { max_idiom: 0, ..Settings::default().core.strings };
    let template = StringTemplate::learn(collection, &how).unwrap();
    let start = Instant::now();
    let cleaner = StringCleaner::new(&template, &Patterns::none(), &how, |_| true).unwrap();
    let built = start.elapsed().as_secs_f64();
    let text: Vec<String> =
        (0..40_000).map(|n| if n % 4 == 0 { strings[n * 7 % STRINGS].clone() } else { zipf.text(60) }).collect();
    let text = text.join("\n");
    let megabytes = text.len() as f64 / 1e6;
    let start = Instant::now();
    let cleaned = cleaner.clean_text(&text);
    let automaton = start.elapsed().as_secs_f64();
    println!("\ncleaning {megabytes:.1} MB of text with {} strings, one core", template.strings.len());
    println!("  automaton: {:.1} MB/s, built in {built:.2} s, {} cuts", megabytes / automaton, cleaned.removed.len());
    let expressions = template.expressions(&Patterns::none()).unwrap();
    let start = Instant::now();
    let set = regex::RegexSetBuilder::new(&expressions).size_limit(4 << 30).dfa_size_limit(1 << 30).build().unwrap();
    let set_built = start.elapsed().as_secs_f64();
    // One line after the other, as far as ten seconds go; it says which expressions match, not yet where.
    let (start, mut done, mut matched) = (Instant::now(), 0, 0);
    for line in text.lines() {
        matched += set.matches(line).iter().count();
        done += line.len() + 1;
        if start.elapsed().as_secs_f64() > 10.0 {
            break;
        }
    }
    let rate = done as f64 / 1e6 / start.elapsed().as_secs_f64();
    println!(
        "  regex set: {rate:.3} MB/s, built in {set_built:.2} s, {matched} matches in {:.2} MB; ratio {:.0}",
        done as f64 / 1e6,
        megabytes / automaton / rate
    );
    // The paper's way: one pass an expression.
    let some: Vec<regex::Regex> = expressions.iter().take(20).map(|e| regex::Regex::new(e).unwrap()).collect();
    let start = Instant::now();
    let n: usize = some.iter().map(|regex| regex.find_iter(&text).count()).sum();
    let one = start.elapsed().as_secs_f64() / some.len() as f64;
    let all = megabytes / (one * expressions.len() as f64);
    println!(
        "  a pass an expression: {all:.4} MB/s by the time of {} of them ({n} matches); ratio {:.0}",
        some.len(),
        megabytes / automaton / all
    );
}
