//! JSON lines of pages `{"id","site","url","gold","html"}`: pages of a site that share a layout but no links.
//!
//! A site method has no link order to follow here, so the next pages of the same site in the file vote, and every
//! page is the key page of its own vote.

use std::collections::BTreeMap;
use std::time::Instant;

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use serde::Deserialize;

use super::report::{Report, SiteRow};
use super::words::{WordScore, bag_score, lcs_score, tokens};
use super::{EvaluateError, Marked, Task, json_lines};
use crate::clean::Applied;
use crate::dom::{Tree, parse};
use crate::methods::Kind;
use crate::settings::Label;
use crate::template::vote;
use crate::witness::Family;

/// Voters for each page of a pile.
const VOTERS: usize = 8;

#[derive(Deserialize)]
struct Line {
    id: String,
    site: String,
    gold: String,
    html: String,
}

pub(super) fn evaluate(task: &Task<'_>, dump: &mut dyn FnMut(&Marked)) -> Result<Report, EvaluateError> {
    let mut by_site: BTreeMap<String, Vec<Line>> = BTreeMap::new();
    for line in json_lines::<Line>(task.corpus)? {
        by_site.entry(line.site.clone()).or_default().push(line);
    }
    let rows: Vec<(SiteRow, Vec<Marked>)> =
        by_site.into_par_iter().map(|(site, lines)| run(task, &site, &lines)).collect();
    let mut report = Report::new(task.method.name);
    for (row, marked) in rows {
        marked.iter().for_each(&mut *dump);
        report.sites.push(row);
    }
    Ok(report)
}

fn run(task: &Task<'_>, site: &str, lines: &[Line]) -> (SiteRow, Vec<Marked>) {
    let mut row = SiteRow { site: site.to_owned(), ..SiteRow::default() };
    let trees: Vec<Tree> = lines.iter().map(|line| parse(&line.html, &task.settings.page)).collect();
    let learn = &task.settings.learn;
    let mut marked = Vec::new();
    for (at, (line, tree)) in lines.iter().zip(&trees).enumerate() {
        let start = Instant::now();
        let applied = match task.method.kind {
            Kind::Page => (task.method.clean)(tree, None),
            Kind::Site => {
                let voters: Vec<&Tree> =
                    (1..trees.len().min(VOTERS + 1)).map(|k| &trees[(at + k) % trees.len()]).collect();
                match learn.label {
                    Label::Votes => Applied::of_votes(tree, &vote(tree, &voters, learn)),
                    Label::Witness => match Family::learn(&numbered(&voters), learn) {
                        Some((family, _)) => Applied::of_labels(family.label(tree)),
                        None => Applied::nothing(tree),
                    },
                }
            }
        };
        let took = start.elapsed();
        match task.method.kind {
            Kind::Page => row.cost.clean += took,
            Kind::Site => row.cost.vote += took,
        }
        let text = applied.text_nodes(tree);
        let wanted = tokens(&line.gold);
        if !wanted.is_empty() {
            let words = tokens(&text);
            row.words.push(WordScore { bag: bag_score(&words, &wanted), lcs: lcs_score(&words, &wanted) });
        }
        marked.push(Marked {
            site: site.to_owned(),
            page: line.id.clone(),
            labels: applied.labels(tree),
            id: line.id.clone(),
            t: text,
        });
    }
    row.cost.n_cleaned = lines.len();
    (row, marked)
}

fn numbered<'a>(trees: &[&'a Tree]) -> Vec<(u64, &'a Tree)> {
    (0..).zip(trees.iter().copied()).collect()
}
