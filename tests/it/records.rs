//! The measure of Velloso and Dorneles' table I: data records that MDR finds on listings, with and without the page
//! pruned by its tag path sequence.

use crate::cli::{dehusk, err, out};
use dehusk::demo::generated;
use dehusk_content::tps::{TpsKeep, TpsOptions, by_tag_paths};
use dehusk_html::ParseOptions;
use dehusk_html::{NodeId, Tree, parse};
use dehusk_papers::baselines::data_records;

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

#[test]
fn pruned_listings_have_less_noise_and_their_records() {
    let tps = TpsOptions { keep: TpsKeep::Main, ..TpsOptions::default() };
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
    assert!(pages > 20 && kept as f64 > 0.8 * pages as f64 && removed > 0.5, "{kept} of {pages}, {removed:.3}");
}

#[test]
fn records_of_a_page_are_rows_of_the_command() {
    let dir = tempfile::tempdir().unwrap();
    let item = |n: usize| format!("<div class=p><a href=/p{n}><h3>Lamp {n}</h3></a><p>{n},50 kr</p></div>");
    let items: String = (0..8).map(item).collect();
    let page = format!("<nav><a href=/>Home</a></nav><section>{items}</section><p>The shop is open from nine to five.");
    std::fs::write(dir.path().join("shop.html"), page).unwrap();
    for method in ["mdr", "tps"] {
        let done = dehusk(dir.path(), &["clean", "shop.html", "--method", method, "--records"]);
        let rows: Vec<serde_json::Value> = out(&done).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(rows.len(), 8, "{method}: {}{}", out(&done), err(&done));
        let wanted = serde_json::json!({"div/a@href": "/p3", "div/a/h3": "Lamp 3", "div/p": "3,50 kr"});
        assert_eq!((&rows[3]["fields"], &rows[3]["record"]), (&wanted, &3.into()), "{method}");
    }
    for (method, said) in [("site_model", "mdr and tps do"), ("dsc", "mdr and tps do")] {
        let done = dehusk(dir.path(), &["clean", "shop.html", "--method", method, "--records"]);
        assert!(done.status.code() == Some(2) && err(&done).contains(said), "{}", err(&done));
    }
}

/// The rest of a page is told from its main region, also where TPS is what cleans a page without a site.
#[test]
fn the_part_that_is_kept_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let links: String = (0..30).map(|n| format!("<li><a href=/{n}>Lamp {n}</a></li>")).collect();
    let page = format!("<ul>{links}</ul><p>The shop is open from nine to five, and closed on Sundays.</p>");
    std::fs::write(dir.path().join("shop.html"), page).unwrap();
    let cleaned = |args: &[&str]| {
        let done = dehusk(dir.path(), &[&["clean", "shop.html", "--json"], args].concat());
        let line: serde_json::Value = serde_json::from_str(out(&done).trim()).unwrap();
        (line, err(&done))
    };
    for by in [&["--method", "tps"][..], &["--set", "clean.alone=tps"]] {
        let (line, said) = cleaned(by);
        assert_eq!((&line["method"], &line["part"], &line["confidence"]), (&"tps".into(), &"rest".into(), &1.0.into()));
        assert!(line["content"].as_str().unwrap().starts_with("The shop is open"), "{line}");
        assert!(said.contains("has more text (pages: 1)"), "{said}");
        let (line, said) = cleaned(&[by, &["--set", "papers.tps.complement=false"]].concat());
        assert_eq!((&line["part"], &line["confidence"]), (&"region".into(), &0.0.into()));
        assert!(line["content"].as_str().unwrap().contains("Lamp 29") && !said.contains("tps kept"), "{line} {said}");
    }
    let (line, _) = cleaned(&["--alone"]);
    assert!(line.get("part").is_none(), "{line}");
}
