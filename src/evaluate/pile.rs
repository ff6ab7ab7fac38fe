//! JSON lines of pages `{"id","site","url","gold","html"}`: a mixed collection of pages of many sites, without links.
//! Where a line has `labels`, run lengths such as `T12N3`, the nodes are scored, too: `dehusk serve` saves such lines.
//!
//! A site method has no link order to follow here. The pages are clustered by structure (Gottron 2008), and the pages
//! of a cluster are each other's training pages. Their sites are used only to score the clustering and to group the
//! rows of the report.

use std::collections::BTreeMap;
use std::time::Instant;

use rayon::iter::{IntoParallelIterator, IntoParallelRefIterator, ParallelIterator};
use serde::Deserialize;

use super::report::{Clusters, Report, SiteRow};
use super::{EvaluateError, Marked, Task, json_lines};
use dehusk_content::Labels;
use dehusk_html::{Tree, parse};
use dehusk_papers::scores::{WordScore, bag_score, expand, lcs_score, node_score, tokens};
use dehusk_template::cluster::{Features, dunn, rand, single_linkage};
use dehusk_template::etdm::vote;
use dehusk_template::learn_options::LabelBy;

/// Number of voters for each page.
const VOTERS: usize = 8;

#[derive(Deserialize)]
struct Line {
    id: String,
    site: String,
    gold: String,
    html: String,
    /// Labels of the counted nodes, as run lengths.
    labels: Option<String>,
}

/// Page number, labels, seconds for labeling, and the page's share of the seconds for learning its cluster.
type Labelled = (usize, Labels, f64, f64);

pub(super) fn evaluate(task: &Task<'_>, dump: &mut dyn FnMut(&Marked)) -> Result<Report, EvaluateError> {
    let lines = json_lines::<Line>(task.corpus)?;
    if lines.is_empty() {
        let (path, reason) = (task.corpus.to_owned(), "contains no pages".to_owned());
        return Err(EvaluateError::Form { path, line: None, reason });
    }
    let trees: Vec<Tree> = lines.par_iter().map(|line| parse(&line.html, &task.settings.core.parse)).collect();
    let mut report = Report::new(task.method.method);
    let mut labelled: Vec<Labelled> = if !task.method.is_site_method() {
        (0..trees.len())
            .into_par_iter()
            .map(|at| {
                timed(at, || task.method.label(&trees[at], None, &task.settings.core, &task.settings.papers).labels)
            })
            .collect()
    } else {
        let (members, clusters) = clustered(&lines, &trees, task);
        report.clusters = Some(clusters);
        members.into_par_iter().flat_map_iter(|pages| label(&pages, &trees, task)).collect()
    };
    labelled.sort_by_key(|(at, ..)| *at);
    let mut rows: BTreeMap<&str, SiteRow> = BTreeMap::new();
    for (at, applied, took, share) in labelled {
        let (line, tree) = (&lines[at], &trees[at]);
        let row = rows.entry(&line.site).or_insert_with(|| SiteRow { site: line.site.clone(), ..SiteRow::default() });
        row.cost.clean += std::time::Duration::from_secs_f64(took + share);
        row.cost.label += std::time::Duration::from_secs_f64(took);
        row.cost.n_cleaned += 1;
        let text = applied.text_nodes(tree);
        let wanted = tokens(&line.gold);
        if !wanted.is_empty() {
            let words = tokens(&text);
            row.words.push(WordScore { bag: bag_score(&words, &wanted), lcs: lcs_score(&words, &wanted) });
        }
        if let Some(labels) = line.labels.as_deref().and_then(expand) {
            match node_score(&labels, &expand(&applied.run_lengths(tree)).unwrap_or_default()) {
                Some(score) => row.nodes.push(score),
                None => row.other_node_count += 1,
            }
        }
        let (site, page, id) = (line.site.clone(), line.id.clone(), line.id.clone());
        dump(&Marked {
            method: task.method.method,
            site,
            page,
            labels: applied.run_lengths(tree),
            id,
            t: text,
            confidence: applied.confidence,
        });
    }
    report.sites = rows.into_values().collect();
    Ok(report)
}

/// The pages of each cluster, and how well the clusters agree with the sites.
fn clustered(lines: &[Line], trees: &[Tree], task: &Task<'_>) -> (Vec<Vec<usize>>, Clusters) {
    let start = Instant::now();
    let options = &task.settings.papers.cluster;
    let features: Vec<Features> = trees.par_iter().map(|tree| Features::new(tree, options)).collect();
    let cluster = single_linkage(&features, options.max_distance());
    let took = start.elapsed();
    let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    cluster.iter().enumerate().for_each(|(at, number)| members.entry(*number).or_default().push(at));
    let sites = numbered(lines);
    let clusters = Clusters {
        n: members.len(),
        alone: members.values().filter(|pages| pages.len() == 1).count(),
        rand: rand(&cluster, &sites),
        dunn: dunn(&features, &sites),
        took,
    };
    (members.into_values().collect(), clusters)
}

/// The site number of each page.
fn numbered(lines: &[Line]) -> Vec<usize> {
    let mut known: BTreeMap<&str, usize> = BTreeMap::new();
    let number = |line| {
        let n = known.len();
        *known.entry(line).or_insert(n)
    };
    lines.iter().map(|line| line.site.as_str()).map(number).collect()
}

/// Labels the pages of one cluster, with pages of the cluster as training pages.
fn label(pages: &[usize], trees: &[Tree], task: &Task<'_>) -> Vec<Labelled> {
    let learn = &task.settings.core.learn;
    match task.method.label_by() {
        Some(LabelBy::Votes) => (0..pages.len())
            .map(|at| {
                let others = (1..pages.len().min(VOTERS + 1)).map(|k| &trees[pages[(at + k) % pages.len()]]);
                let voters: Vec<&Tree> = others.collect();
                let tree = &trees[pages[at]];
                timed(pages[at], || vote(tree, &voters, &learn.etdm).labels(tree))
            })
            .collect(),
        _ => {
            // The training pages: as many as a crawl of a site learns from, evenly spread over the cluster.
            let most = (learn.search.n + learn.site_model.extra_pages).min(pages.len());
            let known: Vec<&Tree> = (0..most).map(|k| pages[k * pages.len() / most]).map(|at| &trees[at]).collect();
            let start = Instant::now();
            let model = task.method.learn(&known, &task.settings.core, &task.settings.papers);
            let share = start.elapsed().as_secs_f64() / pages.len() as f64;
            let apply = |at: &usize| {
                task.method.label(&trees[*at], model.as_ref(), &task.settings.core, &task.settings.papers).labels
            };
            let labelled = pages.iter().map(|at| timed(*at, || apply(at)));
            labelled.map(|(at, applied, took, _)| (at, applied, took, share)).collect()
        }
    }
}

fn timed(at: usize, label: impl FnOnce() -> Labels) -> Labelled {
    let start = Instant::now();
    let applied = label();
    (at, applied, start.elapsed().as_secs_f64(), 0.0)
}
