//! The measure of Velloso and Dorneles' table I: data records that MDR finds on listings, with and without the page
//! pruned by its tag path sequence.

use dehusk::demo::generated;
use dehusk::settings::Settings;
use dehusk_core::internals::baselines::data_records;
use dehusk_core::internals::dom::ParseOptions;
use dehusk_core::internals::dom::{NodeId, Tree, parse};
use dehusk_core::internals::tps::by_tag_paths;

/// Records, and those of them that hold something the page calls its own.
fn count(tree: &Tree, own: &[bool], is_out: &[bool]) -> (usize, usize) {
    let records = data_records(tree, is_out);
    let targets = records.iter().filter(|record| record.nodes.clone().any(|node| own[node])).count();
    (records.len(), targets)
}

/// Share of the records without a target that pruning takes away.
fn noise_removed((raw, raw_targets): (usize, usize), (pruned, targets): (usize, usize)) -> f64 {
    1.0 - (pruned - targets) as f64 / (raw - raw_targets) as f64
}

/// Table I of the paper, a site each: nodes, nodes left, is the content there, MDR's records and targets, those left.
const TABLE: [[usize; 7]; 23] = [
    [601, 340, 1, 61, 10, 16, 10],
    [3309, 1054, 1, 368, 15, 27, 15],
    [2660, 710, 1, 211, 20, 20, 20],
    [3632, 1425, 1, 299, 15, 15, 15],
    [3897, 3069, 1, 231, 28, 178, 28],
    [1913, 1113, 1, 164, 10, 93, 10],
    [3608, 3514, 1, 279, 24, 266, 24],
    [2623, 1801, 1, 162, 50, 50, 50],
    [906, 160, 1, 120, 10, 32, 10],
    [900, 619, 0, 225, 10, 202, 0],
    [400, 193, 1, 80, 10, 20, 10],
    [1421, 981, 1, 118, 11, 61, 11],
    [1111, 410, 0, 77, 10, 11, 0],
    [3167, 1115, 1, 314, 40, 44, 40],
    [2401, 1771, 1, 136, 50, 52, 50],
    [1202, 480, 1, 136, 10, 54, 10],
    [4929, 4688, 1, 114, 20, 75, 20],
    [2389, 1268, 1, 116, 20, 22, 20],
    [869, 588, 1, 122, 50, 76, 50],
    [514, 126, 0, 55, 10, 2, 0],
    [2119, 1361, 1, 113, 14, 19, 14],
    [760, 290, 1, 67, 10, 10, 10],
    [1424, 674, 1, 82, 20, 20, 20],
];

#[test]
fn the_measure_gives_the_means_of_the_table() {
    let mean = |list: Vec<f64>| list.iter().sum::<f64>() / list.len() as f64;
    let reduction = mean(TABLE.iter().map(|[nodes, left, ..]| 1.0 - *left as f64 / *nodes as f64).collect());
    let kept = TABLE.iter().filter(|row| row[2] == 1);
    let noise: Vec<f64> = kept.map(|row| noise_removed((row[3], row[4]), (row[5], row[6]))).collect();
    assert_eq!(noise.len(), 20);
    let noise = mean(noise);
    assert!((reduction - 0.4622).abs() < 5e-5 && (noise - 0.7703).abs() < 5e-5, "{reduction:.5}, {noise:.5}");
}

#[test]
fn pruned_listings_have_less_noise_and_their_records() {
    let tps = Settings::default().core.clean.tps;
    let (mut all, mut left, mut kept, mut pages) = ((0, 0), (0, 0), 0, 0);
    for seed in 0..60 {
        for page in generated(seed).pages.into_values().filter(|page| page.marked.matches("<article").count() > 2) {
            let tree = parse(&page.marked, &ParseOptions::default());
            let mut own = vec![false; tree.len()];
            for node in tree.counted() {
                own[node] = own[tree.shape.parent[node] as usize] || tree.attr(NodeId::new(node), "data-own").is_some();
            }
            let (raw, raw_targets) = count(&tree, &own, &[]);
            let (pruned, targets) = count(&tree, &own, &by_tag_paths(&tree, &tps).is_template);
            if raw_targets == 0 {
                continue;
            }
            pages += 1;
            kept += usize::from(targets > 0);
            if targets > 0 {
                all = (all.0 + raw, all.1 + raw_targets);
                left = (left.0 + pruned, left.1 + targets);
            }
        }
    }
    let removed = noise_removed(all, left);
    println!(
        "{pages} listings: content kept on {kept}, noise removed {removed:.3}: {all:?} to {left:?} records and targets"
    );
    assert!(pages > 20 && kept as f64 > 0.8 * pages as f64 && removed > 0.3, "{kept} of {pages}, {removed:.3}");
}
