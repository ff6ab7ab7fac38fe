//! Learning a site from fetched pages, voting alone, and cleaning a page with a stored template; one core.
#![allow(missing_docs, unreachable_pub, clippy::unwrap_used, clippy::expect_used, reason = "a benchmark")]

use std::collections::HashMap;

use dehusk_core::clean::TemplateMatcher;
use dehusk_files::folder::url_of;
use dehusk_html::ParseOptions;
use dehusk_html::{PageUrl, SameSite, Site};
use dehusk_html::{Tree, parse};
use dehusk_template::etdm::vote;
use dehusk_template::learn_options::{LearnOptions, Preset};
use dehusk_template::learner::{FoundPage, Learned, Learner};
use dehusk_template::template::Template;
use divan::counter::ItemsCount;

#[path = "pages.rs"]
mod pages;

fn main() {
    divan::main();
}

struct Prepared {
    site: pages::BenchSite,
    by_path: HashMap<String, usize>,
}

impl Prepared {
    fn all() -> Vec<Prepared> {
        let prepare = |site: pages::BenchSite| {
            let by_path = site.pages.iter().enumerate().map(|(i, (path, _))| (path.clone(), i)).collect();
            Prepared { site, by_path }
        };
        pages::load().into_iter().map(prepare).collect()
    }

    fn page(&self, url: PageUrl, path: &str) -> Option<FoundPage> {
        let (_, html) = &self.site.pages[*self.by_path.get(path)?];
        Some(FoundPage::new(url, parse(html, &ParseOptions::default())))
    }

    fn learn(&self, learn: &LearnOptions) -> Learned {
        let url = url_of(&format!("{}.test", self.site.name), &self.site.key).unwrap();
        let key = self.page(url.clone(), &self.site.key).unwrap();
        Learner::new(key, Site::new(&url, SameSite::Host), None, learn).run(|url| match &self.site.folder {
            Some(folder) => {
                let served = folder.find(url)?;
                self.page(served.url, &served.path)
            }
            None => self.page(url.clone(), url.path()),
        })
    }
}

/// All sites once: parse, order, search, vote.
#[divan::bench(sample_count = 10, args = ["dehusk", "thesis2014"])]
fn learn_all_sites(bencher: divan::Bencher<'_, '_>, preset: &str) {
    let learn = Preset::ALL.iter().find(|(name, _)| *name == preset).unwrap().1.learn();
    let sites = Prepared::all();
    bencher.counter(ItemsCount::new(sites.len())).bench_local(|| {
        for site in &sites {
            divan::black_box(site.learn(&learn));
        }
    });
}

/// The votes of all sites, trees at hand.
#[divan::bench(sample_count = 10, args = ["dehusk", "thesis2014"])]
fn vote_all_sites(bencher: divan::Bencher<'_, '_>, preset: &str) {
    let learn = Preset::ALL.iter().find(|(name, _)| *name == preset).unwrap().1.learn();
    let learned: Vec<Learned> = Prepared::all().iter().map(|site| site.learn(&learn)).collect();
    bencher.counter(ItemsCount::new(learned.len())).bench_local(|| {
        for site in &learned {
            let voters: Vec<&Tree> = site.found.voters.iter().map(|load| &site.pages[*load].tree).collect();
            divan::black_box(vote(&site.key.tree, &voters, &learn.etdm));
        }
    });
}

/// Every page of every site with its stored template: parse, map, write text.
#[divan::bench(sample_count = 5)]
fn clean_all_pages(bencher: divan::Bencher<'_, '_>) {
    let learn = Preset::Dehusk.learn();
    let sites: Vec<(Prepared, TemplateMatcher)> = Prepared::all()
        .into_iter()
        .filter_map(|site| {
            let applier = TemplateMatcher::from_template(&site.learn(&learn).template?);
            Some((site, applier))
        })
        .collect();
    let n_pages: usize = sites.iter().map(|(site, _)| site.site.pages.len()).sum();
    let limits = ParseOptions::default();
    bencher.counter(ItemsCount::new(n_pages)).bench_local(|| {
        for (site, applier) in &sites {
            for (_, html) in &site.site.pages {
                let tree = parse(html, &limits);
                divan::black_box(applier.label(&tree).text(&tree));
            }
        }
    });
}

/// Every page of a site labelled and shown to its family, one site after the other, trees at hand: what the walk adds to
/// cleaning is the difference to `label_all_pages`.
#[divan::bench(sample_count = 3)]
fn label_and_sharpen_all_pages(bencher: divan::Bencher<'_, '_>) {
    walk(bencher, true);
}

/// The same without showing them.
#[divan::bench(sample_count = 3)]
fn label_all_pages(bencher: divan::Bencher<'_, '_>) {
    walk(bencher, false);
}

fn walk(bencher: divan::Bencher<'_, '_>, sharpens: bool) {
    let (learn, limits) = (Preset::Dehusk.learn(), ParseOptions::default());
    let sites: Vec<(Template, Vec<Tree>)> = Prepared::all()
        .into_iter()
        .filter_map(|site| {
            Some((site.learn(&learn).template?, site.site.pages.iter().map(|(_, html)| parse(html, &limits)).collect()))
        })
        .collect();
    let n_pages: usize = sites.iter().map(|(_, trees)| trees.len()).sum();
    bencher.counter(ItemsCount::new(n_pages)).bench_local(|| {
        for (template, trees) in &sites {
            let mut applier = TemplateMatcher::from_template(template);
            for (url, tree) in (1_000_000..).zip(trees) {
                let labeled = applier.candidate(tree);
                if sharpens {
                    applier.add_page(url, labeled);
                }
            }
        }
    });
}
