//! `dehusk cluster`: groups mixed pages by template.

mod distances;
mod pile;

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::anyhow;
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use rustc_hash::FxHashMap;
use serde_json::{Value, json};

use distances::write_histogram;
use pile::Pile;

use super::table::{Table, count, terminal_width};
use super::{Failure, Outcome, exit};
use dehusk_settings::Settings;
use dehusk_store::Store;
use dehusk_template::cluster::ClusterBy;
use dehusk_template::cluster::{dunn, dunn_by, precision_and_recall, rand};
use dehusk_template::cluster::{single_linkage, single_linkage_by};
use dehusk_template::text_mdl::{Essential, cluster, entropy_cost};
use dehusk_template::text_mdl::{TextCost, TextMethod, TextTemplate, TextTemplates};

/// Group a mixed collection of pages by template.
///
/// Sources are files, WARC files, or JSON lines with `html`, also of many sites. TEXT (mdl, hash, max) finds clusters
/// and their template paths. cp, cps and ctss cluster pages with similar layout (Gottron 2008), comparing all pairs.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  dehusk cluster crawl.warc.gz
  dehusk cluster pages.jsonl --gold site
  dehusk cluster mirrors/ --gold folder --method mdl
  dehusk cluster pages.jsonl --paths | less
  dehusk cluster pages.jsonl --store forums && dehusk clean new.html --method text
  dehusk cluster --stored --db dehusk.db --gold host
  dehusk cluster mirrors/ --gold folder --method cps --distances
  dehusk cluster pages.jsonl --json > clusters.json")]
pub(super) struct Cluster {
    /// Folders, files, WARC files, or .jsonl with `html`.
    #[arg(required_unless_present = "stored", value_name = "DIR|WARC|JSONL")]
    sources: Vec<PathBuf>,
    /// The newest stored version of every page, or of those of one host, in place of files.
    #[arg(long, value_name = "HOST", num_args = 0..=1, default_missing_value = "", conflicts_with = "sources")]
    stored: Option<String>,
    /// Clustering method [default: that of papers.text.method].
    #[arg(long, value_enum)]
    method: Option<Method>,
    /// Known group of each page: a field of the JSON lines; for files, the folder within the source; for WARC pages,
    /// the host, as for stored pages.
    ///
    /// For these the value is ignored. Precision and recall compare each cluster with the group that has most of its
    /// pages, averaged over the clusters.
    #[arg(long, value_name = "FIELD")]
    gold: Option<String>,
    /// Print how many pairs of pages have each distance, to choose papers.cluster.distance from.
    ///
    /// Not by TEXT.
    #[arg(long, conflicts_with = "json")]
    distances: bool,
    /// Print the template paths of each cluster.
    #[arg(long)]
    paths: bool,
    /// Store the templates under this name, for `dehusk clean --method text`. Only by TEXT.
    #[arg(long, value_name = "NAME")]
    store: Option<String>,
    /// Print JSON: clusters with their pages and template paths.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, clap::ValueEnum)]
enum Method {
    /// TEXT-MDL: exact costs of all pairs; up to about 2,000 pages.
    Mdl,
    /// TEXT-HASH: estimated costs of all pairs; no faster than mdl here.
    Hash,
    /// TEXT-MAX: estimated costs of the pairs that share the most; up to 100,000 pages and more.
    Max,
    /// Tag paths, single linkage.
    Cp,
    /// Shingles of tag paths, single linkage.
    Cps,
    /// Shingles of the tag sequence, single linkage.
    Ctss,
    /// Distance by restricted top-down mapping, single linkage; a baseline, up to about 2,000 pages.
    Rtdm,
}

/// What the clusters of TEXT cost (Kim and Shim 2011, section 3).
struct Cost {
    /// Ones of the templates and of the differences from them.
    ones: u64,
    /// The same as estimated by signatures.
    estimated: Option<f64>,
    /// Entropy of the matrices, in bits.
    bits: f64,
    /// Essential paths, from which templates are made.
    n_paths: usize,
}

/// The clusters.
struct Grouped {
    /// Cluster number of each page.
    numbers: Vec<usize>,
    /// Hashes of template paths by cluster; empty unless clustered by TEXT.
    templates: Vec<Vec<u64>>,
    cost: Option<Cost>,
    /// Dunn index of the known groups under the distance of the method.
    dunn: Option<f64>,
    took: Duration,
}

impl Cluster {
    pub(super) fn run(&self, settings: &Settings) -> Outcome {
        let method = self.method.unwrap_or(match settings.core.learn.text.method {
            TextMethod::Mdl => Method::Mdl,
            TextMethod::Hash => Method::Hash,
            TextMethod::Max => Method::Max,
        });
        let mut settings = settings.clone();
        match method {
            Method::Mdl => settings.core.learn.text.method = TextMethod::Mdl,
            Method::Hash => settings.core.learn.text.method = TextMethod::Hash,
            Method::Max => settings.core.learn.text.method = TextMethod::Max,
            Method::Cp => settings.papers.cluster.by = ClusterBy::Cp,
            Method::Cps => settings.papers.cluster.by = ClusterBy::Cps,
            Method::Ctss => settings.papers.cluster.by = ClusterBy::Ctss,
            Method::Rtdm => {}
        }
        let by_text = matches!(method, Method::Mdl | Method::Hash | Method::Max);
        if self.store.is_some() && !by_text {
            return Err(Failure::Usage(anyhow!("--store keeps templates, which only mdl, hash and max find")));
        }
        if self.store.is_some() && !settings.core.learn.text.implied {
            return Err(Failure::Usage(anyhow!(
                "--store: pages are labeled by paths with all elements; leave papers.text.implied as it is"
            )));
        }
        if settings.core.learn.text.cost == TextCost::Entropy && matches!(method, Method::Hash | Method::Max) {
            return Err(Failure::Usage(anyhow!(
                "papers.text.cost = \"entropy\" is the cost of mdl; hash and max estimate the count cost: add --method mdl"
            )));
        }
        if self.distances && by_text {
            return Err(Failure::Usage(anyhow!("--distances needs a method with distances: cp, cps, ctss or rtdm")));
        }
        let pile = self.read(method, &settings)?;
        if pile.names.is_empty() {
            return Err(Failure::Nothing(anyhow!(
                "no pages found; pages are .html files, WARC records and lines of .jsonl with a field html"
            )));
        }
        let grouped = group(&pile, method, &settings);
        if let Some(name) = &self.store {
            save(name, &pile, &grouped, &settings)?;
        }
        let names = if self.paths || self.json {
            self.path_names(grouped.templates.iter().flatten().copied().collect(), &settings)?
        } else {
            FxHashMap::default()
        };
        let mut out = io::stdout().lock();
        if self.json {
            writeln!(out, "{}", self.to_json(method, &pile, &grouped, &names))?
        } else {
            self.print(method, &pile, &grouped, &names, &mut out)?;
        }
        if self.distances {
            write_distances(&pile, &mut out)?;
        }
        Ok(if pile.failed > 0 { ExitCode::from(exit::FAILED) } else { ExitCode::SUCCESS })
    }

    fn print(
        &self,
        method: Method,
        pile: &Pile,
        grouped: &Grouped,
        names: &FxHashMap<u64, String>,
        out: &mut impl Write,
    ) -> io::Result<()> {
        /// Maximum number of rows of the table.
        const MOST: usize = 40;
        let members = members(&grouped.numbers);
        let mut order: Vec<usize> = (0..members.len()).collect();
        order.sort_by_key(|number| (std::cmp::Reverse(members[*number].len()), *number));
        let mut table = if self.gold.is_some() {
            Table::new(&["first page", "cluster", "pages", "paths", "gold"]).left(4)
        } else {
            Table::new(&["first page", "cluster", "pages", "paths"])
        };
        for number in order.iter().take(if self.paths { usize::MAX } else { MOST }) {
            let pages = &members[*number];
            let paths = grouped.templates.get(*number).map_or("-".to_owned(), |paths| count(paths.len()));
            let mut row = vec![pile.names[pages[0]].clone(), number.to_string(), count(pages.len()), paths];
            if self.gold.is_some() {
                row.push(main_gold(pages, &pile.gold));
            }
            table.row(row);
        }
        write!(out, "{}", table.render(terminal_width()))?;
        if !self.paths && members.len() > MOST {
            writeln!(out, "and {} more; --json has all", count(members.len() - MOST))?;
        }
        if self.paths {
            for number in order {
                writeln!(out, "\ncluster {number}, {} pages", count(members[number].len()))?;
                for path in grouped.templates.get(number).into_iter().flatten().filter_map(|hash| names.get(hash)) {
                    writeln!(out, "  {path}")?;
                }
            }
        }
        let alone = members.iter().filter(|pages| pages.len() == 1).count();
        write!(
            out,
            "\n{method:?}: {} pages in {} clusters, {} of one page, in {:.2} s after reading",
            count(pile.names.len()),
            count(members.len()),
            count(alone),
            grouped.took.as_secs_f64(),
        )?;
        if let Some(Cost { ones, estimated, bits, n_paths }) = &grouped.cost {
            write!(out, "\ncost {}", count(*ones as usize))?;
            if let Some(estimated) = estimated {
                write!(out, " (estimated {})", count(estimated.round() as usize))?;
            }
            write!(out, ", entropy {bits:.3} bits, {} essential paths", count(*n_paths))?;
        }
        writeln!(out)?;
        if let Some((precision, recall, rand)) = self.score(pile, grouped) {
            let dunn = grouped.dunn.map_or_else(String::new, |dunn| format!(", Dunn {dunn:.3}"));
            let gold = self.gold();
            writeln!(out, "against {gold}: precision {precision:.3}, recall {recall:.3}, Rand {rand:.4}{dunn}")?;
        }
        Ok(())
    }

    fn gold(&self) -> &str {
        self.gold.as_deref().unwrap_or_default()
    }

    fn score(&self, pile: &Pile, grouped: &Grouped) -> Option<(f64, f64, f64)> {
        self.gold.as_ref()?;
        let groups = pile.groups();
        let (precision, recall) = precision_and_recall(&grouped.numbers, &groups);
        Some((precision, recall, rand(&grouped.numbers, &groups)))
    }

    fn to_json(&self, method: Method, pile: &Pile, grouped: &Grouped, names: &FxHashMap<u64, String>) -> Value {
        let clusters: Vec<Value> = members(&grouped.numbers)
            .into_iter()
            .enumerate()
            .map(|(number, pages)| {
                let template = grouped
                    .templates
                    .get(number)
                    .map(|paths| paths.iter().filter_map(|hash| names.get(hash)).collect::<Vec<_>>());
                let pages: Vec<&String> = pages.iter().map(|page| &pile.names[*page]).collect();
                json!({"cluster": number, "pages": pages, "template": template})
            })
            .collect();
        let gold = self
            .score(pile, grouped)
            .map(|(precision, recall, rand)| json!({"precision": precision, "recall": recall, "rand": rand, "dunn": grouped.dunn}));
        json!({
            "schema": 1, "method": format!("{method:?}").to_lowercase(), "n_pages": pile.names.len(),
            "cost": grouped.cost.as_ref().map(|cost| cost.ones),
            "estimated": grouped.cost.as_ref().and_then(|cost| cost.estimated),
            "bits": grouped.cost.as_ref().map(|cost| cost.bits),
            "essential_paths": grouped.cost.as_ref().map(|cost| cost.n_paths),
            "seconds": grouped.took.as_secs_f64(), "gold": gold, "clusters": clusters,
        })
    }
}

/// The histogram of the distances by which the pages were clustered.
fn write_distances(pile: &Pile, out: &mut impl Write) -> io::Result<()> {
    let groups = pile.groups();
    if pile.trees.is_empty() {
        let distance = |one: usize, other: usize| pile.features[one].distance(&pile.features[other]);
        return write_histogram(pile.names.len(), &groups, distance, out);
    }
    let distance = |one: usize, other: usize| pile.trees[one].distance(&pile.trees[other]);
    write_histogram(pile.names.len(), &groups, distance, out)
}

/// Largest RTDM distance of two pages in one cluster: Gottron 2008 calls pages alike from a similarity of 80 %.
const RTDM_DISTANCE: f64 = 0.2;

fn group(pile: &Pile, method: Method, settings: &Settings) -> Grouped {
    let start = Instant::now();
    match method {
        Method::Cp | Method::Cps | Method::Ctss => {
            let numbers = single_linkage(&pile.features, settings.papers.cluster.max_distance());
            let (dunn, took) = (dunn(&pile.features, &pile.groups()), start.elapsed());
            return Grouped { numbers, templates: Vec::new(), cost: None, dunn, took };
        }
        Method::Rtdm => {
            let pages = &pile.trees;
            let row = |at: usize| (0..at).map(|other| pages[at].distance(&pages[other])).collect();
            let distances: Vec<Vec<f64>> = (0..pages.len()).into_par_iter().map(row).collect();
            let distance = |one: usize, other: usize| match one.cmp(&other) {
                Ordering::Greater => distances[one][other],
                Ordering::Less => distances[other][one],
                Ordering::Equal => 0.0,
            };
            let numbers = single_linkage_by(pages.len(), |one, other| distance(one, other) <= RTDM_DISTANCE);
            let (dunn, took) = (dunn_by(&pile.groups(), distance), start.elapsed());
            return Grouped { numbers, templates: Vec::new(), cost: None, dunn, took };
        }
        Method::Mdl | Method::Hash | Method::Max => {}
    }
    let (essential, hashes) = Essential::find_all(&pile.paths, &settings.core.learn.text);
    let found = cluster(&essential, &settings.core.learn.text);
    let took = start.elapsed();
    let of_numbers = |paths: Vec<u32>| paths.into_iter().map(|path| hashes[path as usize]).collect();
    let templates = found.clusters.iter().map(|cluster| of_numbers(cluster.template())).collect();
    let bits = entropy_cost(&found.clusters, pile.names.len(), hashes.len());
    let n_paths = Essential::n_distinct(&essential);
    let cost = Cost { ones: found.cost, estimated: found.estimated, bits, n_paths };
    Grouped { numbers: found.of_pages(), templates, cost: Some(cost), dunn: None, took }
}

/// Stores the templates of the clusters.
fn save(name: &str, pile: &Pile, grouped: &Grouped, settings: &Settings) -> Result<(), Failure> {
    let members = members(&grouped.numbers);
    let templates = members.iter().zip(&grouped.templates).map(|(pages, paths)| TextTemplate::new(pages.len(), paths));
    let templates = TextTemplates::new(templates.collect());
    if name.trim().is_empty() {
        return Err(Failure::Usage(anyhow!(
            "--store: the name is empty; it is the name of the collection in the store"
        )));
    }
    let n = templates.templates.len();
    if n == 0 {
        return Err(Failure::Nothing(anyhow!("--store: no two pages share a template; nothing was stored")));
    }
    let work = |e: dehusk_store::StoreError| Failure::Work(e.into());
    let store = Store::create(Path::new(&settings.store.path), settings.store.zstd_level).map_err(work)?;
    let at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis() as i64;
    store.save_collection(name, at, pile.names.len(), &templates).map_err(work)?;
    tracing::info!("collection {name}: {} templates of {} pages stored", count(n), count(pile.names.len()));
    Ok(())
}

fn members(numbers: &[usize]) -> Vec<Vec<usize>> {
    let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    numbers.iter().enumerate().for_each(|(page, number)| members.entry(*number).or_default().push(page));
    members.into_values().collect()
}

/// The known group of most pages of a cluster, with their share.
fn main_gold(pages: &[usize], gold: &[String]) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for page in pages {
        *counts.entry(&gold[*page]).or_default() += 1;
    }
    let most = counts.into_iter().max_by_key(|(_, n)| *n);
    most.map_or_else(String::new, |(gold, n)| {
        if n == pages.len() {
            gold.to_owned()
        } else {
            format!("{gold} ({:.0} %)", 100.0 * n as f64 / pages.len() as f64)
        }
    })
}
