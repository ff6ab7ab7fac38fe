//! The papers' methods beside each other: TEXT at 1,000 to 100,000 pages, RTDM beside ETDM, page methods a page and on a
//! page of 200,000 nodes. Prints tables; `cargo bench --bench methods`.
#![allow(missing_docs, unreachable_pub, clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark")]

use std::time::Instant;

use dehusk_html::ParseOptions;
use dehusk_html::{Tree, parse};
use dehusk_papers::baselines::rtdm_distance;
use dehusk_papers::method_table::METHODS;
use dehusk_settings::Settings;
use dehusk_template::cluster::{precision_and_recall, rand};
use dehusk_template::etdm::vote;
use dehusk_template::learn_options::Preset;
use dehusk_template::text_mdl::{Clustering, Essential, Paths, cluster};
use dehusk_template::text_mdl::{TextMethod, TextOptions};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

#[path = "generated.rs"]
mod generated;
#[path = "pages.rs"]
mod pages;

fn main() {
    page_methods();
    rtdm_beside_etdm();
    text();
}

fn page(html: &str) -> Tree {
    parse(html, &ParseOptions::default())
}

fn seconds<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let start = Instant::now();
    let made = std::hint::black_box(work());
    (start.elapsed().as_secs_f64(), made)
}

fn page_methods() {
    let settings = Settings::default();
    let trees: Vec<Tree> = pages::load().into_iter().flat_map(|site| site.pages).map(|(_, html)| page(&html)).collect();
    println!(
        "page methods, after parsing, one core: ms a page over {} pages; ms on pages of so many nodes",
        trees.len()
    );
    println!("{:<10}{:>8}{:>10}{:>10}{:>10}{:>10}", "", "a page", "50,000", "100,000", "200,000", "rows 200k");
    let large = |n: usize| page(&"<div class=a><p>some words of a text <a href=/>link</a></p></div>".repeat(n / 5));
    // A table of like rows, the worst for methods that compare neighbors.
    let rows = page(&format!("<table>{}</table>", "<tr><td>a<td>b<td><i>c</i>".repeat(200_000 / 8)));
    let sizes = [50_000, 100_000, 200_000].map(large);
    for method in METHODS.iter().filter(|method| !method.is_site_method()) {
        let clean = |tree: &Tree| method.label(tree, None, &settings.core, &settings.papers).labels;
        let (all, _) = seconds(|| trees.iter().map(|tree| clean(tree).is_template.len()).sum::<usize>());
        let sizes = sizes.each_ref().map(|tree| seconds(|| clean(tree)).0 * 1e3);
        let rows = seconds(|| clean(&rows)).0 * 1e3;
        let a_page = all * 1e3 / trees.len() as f64;
        println!(
            "{:<10}{a_page:>8.3}{:>10.1}{:>10.1}{:>10.1}{rows:>10.1}",
            method.method.name(),
            sizes[0],
            sizes[1],
            sizes[2]
        );
    }
}

/// Pairs of pages of a site, both of 1,000 to 2,500 nodes.
fn rtdm_beside_etdm() {
    let learn = Preset::Votes.learn();
    let mut pairs: Vec<(Tree, Tree)> = Vec::new();
    for site in pages::load() {
        let trees = site.pages.iter().map(|(_, html)| page(html));
        let mut trees: Vec<Tree> =
            trees.filter(|tree| (1_000..2_500).contains(&tree.counted().len())).take(6).collect();
        while let (Some(a), Some(b)) = (trees.pop(), trees.pop()) {
            pairs.push((a, b));
        }
    }
    let nodes: usize = pairs.iter().map(|(a, b)| a.counted().len() + b.counted().len()).sum();
    let mean = nodes as f64 / 2.0 / pairs.len().max(1) as f64;
    let (rtdm, _) = seconds(|| pairs.iter().map(|(a, b)| rtdm_distance(a, b)).sum::<f64>());
    let (etdm, _) = seconds(|| pairs.iter().map(|(a, b)| vote(a, &[b], &learn.etdm).n_voters).sum::<usize>());
    println!("\nmapping {} pairs of pages of one site, {mean:.0} nodes on average, one core", pairs.len());
    println!(
        "  RTDM {:.2} ms a pair, ETDM {:.2} ms; ratio {:.1}",
        rtdm * 1e3 / pairs.len() as f64,
        etdm * 1e3 / pairs.len() as f64,
        rtdm / etdm
    );
    // Siblings share most of their subtrees; pages that differ in every text show the cost of the table.
    let (mut zipf, mut lists) = (generated::Zipf::new(1000, 3), Vec::new());
    for _ in 0..2 {
        let items: Vec<String> =
            (0..300).map(|_| format!("<li><b>{}</b> <i>{}</i></li>", zipf.text(2), zipf.text(1))).collect();
        lists.push(page(&format!("<ul>{}</ul>", items.concat())));
    }
    let (rtdm, _) = seconds(|| rtdm_distance(&lists[0], &lists[1]));
    let (etdm, _) = seconds(|| vote(&lists[0], &[&lists[1]], &learn.etdm).n_voters);
    println!(
        "  two lists of 300 items with words of their own, {} nodes: RTDM {:.1} ms, ETDM {:.1} ms",
        lists[0].counted().len(),
        rtdm * 1e3,
        etdm * 1e3
    );
}

fn text() {
    for (foot, threshold) in [(100, 1.0), (97, 1.0), (97, 0.9)] {
        text_with(foot, threshold);
    }
    println!("peak memory {:.0} MB", generated::peak_memory() as f64 / 1e6);
}

fn text_with(foot: usize, threshold: f64) {
    println!(
        "\nTEXT, two cores, after parsing: pages have 97 % of a menu, 90 % of the boxes, {foot} % of the foot; \
         text.threshold = {threshold}"
    );
    println!(
        "{:<8}{:>9}{:>10}{:>11}{:>10}{:>12}{:>10}{:>11}{:>8}{:>9}{:>9}",
        "", "pages", "templates", "essential", "seconds", "cost", "of MDL", "clusters", "P", "R", "Rand"
    );
    for (templates, n) in [(20, 200), (50, 1_000), (100, 2_000), (200, 10_000), (1_000, 100_000)] {
        let mut pile = generated::Pile::new(templates, foot);
        let mut paths: Vec<Paths> = Vec::new();
        while paths.len() < n {
            let batch: Vec<String> = (0..512.min(n - paths.len())).map(|_| pile.page()).collect();
            let made: Vec<Paths> = batch.par_iter().map(|html| Paths::new(&page(html))).collect();
            paths.extend(made);
        }
        let how = TextOptions { threshold, ..Settings::default().core.learn.text };
        let (prepared, (essential, _)) = seconds(|| Essential::find_all(&paths, &how));
        drop(paths);
        let gold: Vec<usize> = (0..n).map(|at| at % templates).collect();
        let mut of_mdl: Option<u64> = None;
        for (name, method) in [("MDL", TextMethod::Mdl), ("HASH", TextMethod::Hash), ("MAX", TextMethod::Max)] {
            let most = match method {
                TextMethod::Mdl => 2_000,
                TextMethod::Hash => 2_000,
                TextMethod::Max => usize::MAX,
            };
            if n > most {
                continue;
            }
            let (took, found): (f64, Clustering) =
                seconds(|| cluster(&essential, &TextOptions { method, ..how.clone() }));
            let exact = *of_mdl.get_or_insert(found.cost);
            let numbers = found.of_pages();
            let (precision, recall) = precision_and_recall(&numbers, &gold);
            let share = if n > 2_000 { "-".to_owned() } else { format!("{:.3}", found.cost as f64 / exact as f64) };
            println!(
                "{name:<8}{n:>9}{templates:>10}{prepared:>11.3}{took:>10.3}{:>12}{share:>10}{:>11}{precision:>8.3}{recall:>9.3}{:>9.4}",
                found.cost,
                found.clusters.len(),
                rand(&numbers, &gold)
            );
        }
    }
}
