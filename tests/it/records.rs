//! The measure of Velloso and Dorneles' table I: data records that MDR finds on listings, with and without the page pruned
//! by its tag path sequence.

use dehusk::baselines::data_records;
use dehusk::demo::generated;
use dehusk::dom::{NodeId, Tree, parse};
use dehusk::settings::{PageLimits, Settings};
use dehusk::tps::by_tag_paths;

/// Records, and those of them that hold something the page calls its own.
fn count(tree: &Tree, own: &[bool], is_out: &[bool]) -> (usize, usize) {
    let records = data_records(tree, is_out);
    let targets = records.iter().filter(|record| record.nodes.clone().any(|node| own[node])).count();
    (records.len(), targets)
}

#[test]
fn pruned_listings_have_less_noise_and_their_records() {
    let tps = Settings::default().clean.tps;
    let (mut noise, mut kept, mut pages) = ((0, 0), 0, 0);
    for seed in 0..60 {
        for page in generated(seed).pages.into_values().filter(|page| page.marked.matches("<article").count() > 2) {
            let tree = parse(&page.marked, &PageLimits::default());
            let mut own = vec![false; tree.len()];
            for node in tree.counted() {
                own[node] = own[tree.shape.parent[node] as usize] || tree.attr(NodeId::new(node), "data-own").is_some();
            }
            let (raw, raw_targets) = count(&tree, &own, &[]);
            let (pruned, targets) = count(&tree, &own, &by_tag_paths(&tree, &tps));
            if raw_targets == 0 {
                continue;
            }
            pages += 1;
            kept += usize::from(targets > 0);
            if targets > 0 {
                noise = (noise.0 + raw - raw_targets, noise.1 + pruned - targets);
            }
        }
    }
    let removed = 1.0 - noise.1 as f64 / noise.0 as f64;
    println!(
        "{pages} listings: content kept on {kept}, noise removed {removed:.3} ({} of {})",
        noise.0 - noise.1,
        noise.0
    );
    assert!(pages > 20 && kept as f64 > 0.8 * pages as f64 && removed > 0.3, "{kept} of {pages}, {removed:.3}");
}
