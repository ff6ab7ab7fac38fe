//! A corpus of whole sites: `gold.toml`, `SPLIT/SITE/www` or `SPLIT/SITE.warc.gz`, `labels/SPLIT/SITE.jsonl`,
//! `content-SPLIT.jsonl`.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::time::Instant;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use serde::Deserialize;

use super::features::{FeatureFile, FeaturePage};
use super::report::{Report, SiteRow};
use super::source::{Raw, Source};
use super::taught::taught_by_gold;
use super::teco::{Benchmark, benchmarks};
use super::{Cost, EvaluateError, Learning, Marked, PageGold, Task, Which, json_lines, read};
use dehusk_content::Labels;
use dehusk_core::clean::{TemplateMatcher, label_page};
use dehusk_files::folder::url_of;
use dehusk_html::Tree;
use dehusk_html::{PageUrl, Site};
use dehusk_papers::method_table::Model;
use dehusk_papers::scores::{NodeCounts, WordScore, bag_score, expand, lcs_score, node_score, tokens};
use dehusk_template::etdm::vote;
use dehusk_template::learn_options::LabelBy;
use dehusk_template::learner::{FoundPage, Learned, Learner};
use dehusk_template::site_model::TrainingSet;

#[derive(Deserialize)]
struct Gold {
    site: BTreeMap<String, GoldSite>,
}

#[derive(Deserialize)]
struct GoldSite {
    split: String,
    key_page: String,
    #[serde(default)]
    hosts: Vec<String>,
}

#[derive(Deserialize)]
struct LabelLine {
    page: String,
    labels: String,
}

#[derive(Deserialize)]
struct ContentLine {
    id: String,
    gold: String,
}

struct SiteTask<'a> {
    name: &'a str,
    gold: &'a GoldSite,
    /// The page from which the site is learned.
    key: &'a str,
    pages: &'a BTreeMap<String, PageGold>,
    place: &'a Path,
    task: &'a Task<'a>,
}

pub(super) fn evaluate(task: &Task<'_>, dump: &mut dyn FnMut(&Marked)) -> Result<Report, EvaluateError> {
    let file = task.corpus.join("gold.toml");
    let gold: Gold = toml::from_str(&read(&file)?).map_err(|e| EvaluateError::Form {
        path: file,
        line: None,
        reason: e.to_string(),
    })?;
    let mut contents: HashMap<&str, HashMap<String, String>> = HashMap::new();
    let mut sites = Vec::new();
    for (name, site) in &gold.site {
        // A corpus contains only the splits that were released; gold.toml may list more.
        let Some(place) = Source::place(&task.corpus.join(&site.split), name) else { continue };
        if !contents.contains_key(site.split.as_str()) {
            contents.insert(&site.split, content_of(task.corpus, &site.split)?);
        }
        let labels = task.corpus.join("labels").join(&site.split).join(format!("{name}.jsonl"));
        let pages = gold_of(name, &labels, &contents[site.split.as_str()])?;
        sites.push((name, site, pages, place));
    }
    let tasks: Vec<SiteTask<'_>> = sites
        .iter()
        .flat_map(|(name, gold, pages, place)| {
            let with_words = pages.iter().filter(|(_, gold)| gold.words.is_some()).map(|(page, _)| page.as_str());
            let keys: Vec<&str> = match task.which {
                Which::EachKey => with_words.collect(),
                Which::Key | Which::Gold | Which::All => vec![gold.key_page.as_str()],
            };
            keys.into_iter().map(|key| SiteTask { name, gold, key, pages, place, task }).collect::<Vec<_>>()
        })
        .collect();
    reported(task, &tasks, dump)
}

/// The benchmarks of TECO. Only their key pages have gold.
pub(super) fn evaluate_teco(task: &Task<'_>, dump: &mut dyn FnMut(&Marked)) -> Result<Report, EvaluateError> {
    let found = benchmarks(task.corpus, &task.settings.core.parse)?;
    if found.is_empty() {
        return Err(EvaluateError::NotACorpus { path: task.corpus.to_owned() });
    }
    let gold = |benchmark: &Benchmark| GoldSite {
        split: String::new(),
        key_page: benchmark.key_page.clone(),
        hosts: Vec::new(),
    };
    let sites: Vec<(&Benchmark, GoldSite)> = found.iter().map(|benchmark| (benchmark, gold(benchmark))).collect();
    let tasks: Vec<SiteTask<'_>> = sites
        .iter()
        .map(|(benchmark, gold)| {
            let Benchmark { name, folder, key_page, pages } = *benchmark;
            SiteTask { name, gold, key: key_page, pages, place: folder, task }
        })
        .collect();
    reported(task, &tasks, dump)
}

fn reported(task: &Task<'_>, tasks: &[SiteTask<'_>], dump: &mut dyn FnMut(&Marked)) -> Result<Report, EvaluateError> {
    let rows: Vec<Result<(SiteRow, Vec<Marked>), EvaluateError>> = tasks.par_iter().map(SiteTask::run).collect();
    let mut report = Report::new(task.method.method);
    for row in rows {
        let (row, marked) = row?;
        marked.iter().for_each(&mut *dump);
        report.sites.push(row);
    }
    Ok(report)
}

fn content_of(corpus: &Path, split: &str) -> Result<HashMap<String, String>, EvaluateError> {
    let file = corpus.join(format!("content-{split}.jsonl"));
    if !file.is_file() {
        return Ok(HashMap::new());
    }
    Ok(json_lines::<ContentLine>(&file)?.into_iter().map(|line| (line.id, line.gold)).collect())
}

fn gold_of(
    site: &str,
    labels: &Path,
    content: &HashMap<String, String>,
) -> Result<BTreeMap<String, PageGold>, EvaluateError> {
    let mut pages = BTreeMap::new();
    for (at, line) in json_lines::<LabelLine>(labels)?.into_iter().enumerate() {
        let labels = expand(&line.labels).ok_or_else(|| EvaluateError::Form {
            path: labels.to_owned(),
            line: Some(at + 1),
            reason: format!("labels {:.40} are not run lengths", line.labels),
        })?;
        let words = content.get(&id_of(site, &line.page)).map(|text| tokens(text)).filter(|w| !w.is_empty());
        pages.insert(line.page, PageGold { labels, words });
    }
    Ok(pages)
}

fn id_of(site: &str, page: &str) -> String {
    format!("{site}|{page}")
}

impl SiteTask<'_> {
    fn run(&self) -> Result<(SiteRow, Vec<Marked>), EvaluateError> {
        let mut row = SiteRow { site: self.name.to_owned(), ..SiteRow::default() };
        let key_url = self.url(self.key)?;
        let source = Source::open(self.place, self.task.settings.fetch.max_bytes)?;
        let key = source.read(self.key)?;
        let mut cost = Cost::default();
        let learns = self.task.method.is_site_method();
        let learned = learns.then(|| self.learn(&source, key_url, &key, &mut row, &mut cost));
        let start = Instant::now();
        let mut model = learned.as_ref().and_then(|learned| self.model(learned));
        if self.task.method.label_by().is_none() {
            // This method does not use the learner's own template, so the time for it is not counted.
            cost.learn = cost.learn.saturating_sub(cost.vote);
        }
        cost.learn += start.elapsed();
        if let Some(matcher) = model.as_mut().filter(|_| self.task.add_all).and_then(Model::matcher_mut) {
            for page in self.pages.keys() {
                let tree = self.parse(&source.read(page)?);
                let labeled = matcher.candidate(&tree);
                matcher.add_page(self.url(page)?.fingerprint(), labeled);
            }
        }
        let taught = match model.as_mut().and_then(Model::matcher_mut) {
            Some(matcher) if self.task.teach > 0 => self.teach(&source, matcher)?,
            _ => HashSet::new(),
        };
        let mut features = match self.task.features {
            Some(folder) => Some(FeatureFile::create(folder, self.name, self.key)?),
            None => None,
        };
        let mut marked = Vec::new();
        for (page, gold) in self.pages {
            let is_key = page == self.key;
            let wanted = match self.task.which {
                Which::Key | Which::EachKey => is_key,
                Which::Gold => is_key || gold.words.is_some(),
                Which::All => true,
            };
            if !wanted || taught.contains(page.as_str()) {
                continue;
            }
            let raw = source.read(page)?;
            let start = Instant::now();
            let tree = self.parse(&raw);
            let method = self.task.method;
            let has_labels = is_key && !self.task.add_all && method.is_default() && method.method.uses_chain();
            let known = learned.as_ref().filter(|_| has_labels);
            let how = &self.task.settings.core.clean;
            let parsed = Instant::now();
            let applied = match known {
                Some(learned) => {
                    let applier = model.as_ref().and_then(Model::matcher);
                    label_page(&tree, Some(learned.key_labels.clone()), applier, how).labels
                }
                None => {
                    self.task
                        .method
                        .label(&tree, model.as_ref(), &self.task.settings.core, &self.task.settings.papers)
                        .labels
                }
            };
            cost.label += parsed.elapsed();
            cost.clean += start.elapsed();
            cost.n_cleaned += 1;
            if let (Some(features), Some(set)) =
                (&mut features, model.as_ref().and_then(Model::matcher).and_then(TemplateMatcher::training_set))
            {
                let of_page = FeaturePage { site: self.name, page, is_key, tree: &tree, gold };
                features.push(&of_page, set).map_err(|reason| self.unwritten(reason))?;
            }
            marked.push(self.mark(page, gold, &tree, &applied, is_key, &mut row));
        }
        if let Some(features) = features {
            features.finish().map_err(|reason| self.unwritten(reason))?;
        }
        row.cost = cost;
        Ok((row, marked))
    }

    /// Labels the pages of the site that say most by their gold. Returns which they are.
    fn teach(&self, source: &Source, matcher: &mut TemplateMatcher) -> Result<HashSet<&str>, EvaluateError> {
        let (mut names, mut pages) = (Vec::new(), Vec::new());
        for (page, gold) in self.pages {
            let tree = self.parse(&source.read(page)?);
            if gold.words.is_some() && gold.labels.len() == tree.counted().len() {
                names.push(page.as_str());
                pages.push((self.url(page)?.fingerprint(), tree, gold.labels.as_slice()));
            }
        }
        let (taught, chosen) = taught_by_gold(&pages, self.task.teach);
        matcher.teach(taught);
        Ok(chosen.into_iter().map(|at| names[at]).collect())
    }

    fn unwritten(&self, reason: std::io::Error) -> EvaluateError {
        EvaluateError::File { path: self.task.features.unwrap_or(Path::new("-")).to_owned(), reason }
    }

    /// The template from the learner, or the model that the method learns from the loaded pages.
    fn model(&self, learned: &Learned) -> Option<Model> {
        let method = self.task.method;
        if method.label_by().is_some() {
            return learned
                .template
                .as_ref()
                .map(|template| Model::from_matcher(method.method, TemplateMatcher::from_template(template)));
        }
        let pages: Vec<&Tree> = std::iter::once(&learned.key).chain(&learned.pages).map(|page| &page.tree).collect();
        method.learn(&pages, &self.task.settings.core, &self.task.settings.papers)
    }

    fn learn(&self, source: &Source, url: PageUrl, key: &Raw, row: &mut SiteRow, cost: &mut Cost) -> Learned {
        let learn = &self.task.settings.core.learn;
        let mut paths: HashMap<PageUrl, String> = HashMap::new();
        let hosts: Vec<String> = self.gold.hosts.iter().chain(source.host()).cloned().collect();
        let site = Site::new(&url, learn.links.same_site).with_aliases(&hosts);
        let mut reading = std::time::Duration::ZERO;
        let start = Instant::now();
        let key = FoundPage::new(url, self.parse(key));
        let learned = Learner::new(key, site, None, learn).run(|url| {
            let asked = Instant::now();
            let found = source.find(url)?;
            reading += asked.elapsed();
            paths.insert(found.url.clone(), found.path);
            Some(FoundPage::new(found.url, self.parse(&found.page)))
        });
        cost.learn = start.elapsed() - reading;
        let voters = learned.found.voters.iter().map(|load| &learned.pages[*load].tree);
        let trees: Vec<(u64, &Tree)> = (0..).zip(std::iter::once(&learned.key.tree).chain(voters)).collect();
        let start = Instant::now();
        match learn.label_by {
            LabelBy::Votes => {
                let voters: Vec<&Tree> = trees[1..].iter().map(|(_, tree)| *tree).collect();
                drop(std::hint::black_box(vote(trees[0].1, &voters, &learn.etdm)));
            }
            LabelBy::SiteModel | LabelBy::Gottron | LabelBy::Text => {
                drop(std::hint::black_box(TrainingSet::learn(&trees, &learn.site_model)))
            }
        }
        cost.vote = start.elapsed();
        row.learning = Learning {
            nodes: learned.key.tree.counted().len(),
            links: learned.n_links,
            loads: learned.found.loads,
            requests: learned.found.requests,
            cs: learned.found.voters.iter().filter_map(|load| paths.get(&learned.pages[*load].url).cloned()).collect(),
            min_votes: learned.min_votes,
        };
        learned
    }

    fn mark(
        &self,
        page: &str,
        gold: &PageGold,
        tree: &Tree,
        applied: &Labels,
        is_key: bool,
        row: &mut SiteRow,
    ) -> Marked {
        let labels = applied.run_lengths(tree);
        let found = expand(&labels).unwrap_or_default();
        let text = applied.text_nodes(tree);
        match node_score(&gold.labels, &found) {
            Some(score) if is_key => {
                row.key_labels = labels.clone();
                row.key = Some(score);
                row.key_counts = NodeCounts::new(&gold.labels, &found);
                row.nodes.push(score);
            }
            Some(score) => row.nodes.push(score),
            None => row.other_node_count += 1,
        }
        if let Some(wanted) = &gold.words {
            let words = tokens(&text);
            row.words.push(WordScore { bag: bag_score(&words, wanted), lcs: lcs_score(&words, wanted) });
        }
        Marked {
            method: self.task.method.method,
            site: self.name.to_owned(),
            page: page.to_owned(),
            labels,
            id: id_of(self.name, page),
            t: text,
            confidence: applied.confidence,
        }
    }

    fn parse(&self, raw: &Raw) -> Tree {
        raw.parse(&self.task.settings.core.parse)
    }

    fn url(&self, page: &str) -> Result<PageUrl, EvaluateError> {
        url_of(&format!("{}.test", self.name), page).ok_or_else(|| EvaluateError::Form {
            path: self.task.corpus.join("gold.toml"),
            line: None,
            reason: format!("site {}: {page} is not a path", self.name),
        })
    }
}
