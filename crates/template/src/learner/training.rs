//! From the pages of a finished search to a template and labels.

use super::{FoundPage, Learned};
use crate::cluster::{MIN_CLUSTER, training_set};
use crate::etdm::vote;
use crate::learn_options::{LabelBy, LearnOptions};
use crate::method::Method;
use crate::site_model::{SiteModelOptions, TrainingSet};
use crate::subdigraph::SearchResult;
use crate::template::{Provenance, Template};
use dehusk_content::Labels;
use dehusk_html::PageUrl;
use dehusk_html::Tree;

/// A loaded page that waits for the end of the search.
pub(super) struct TrainingPage {
    url: PageUrl,
    fetched: PageUrl,
    nofollow: bool,
    tree: Rebuildable,
}

/// A tree, or the way to build it again.
enum Rebuildable {
    Kept(Box<Tree>),
    Dropped(Box<dyn FnOnce() -> Tree + Send>),
}

impl TrainingPage {
    pub(super) fn with_tree(page: FoundPage) -> TrainingPage {
        let FoundPage { url, fetched, tree, nofollow } = page;
        TrainingPage { url, fetched, nofollow, tree: Rebuildable::Kept(Box::new(tree)) }
    }

    pub(super) fn without_tree(page: FoundPage, rebuild: impl FnOnce() -> Tree + Send + 'static) -> TrainingPage {
        let FoundPage { url, fetched, nofollow, .. } = page;
        TrainingPage { url, fetched, nofollow, tree: Rebuildable::Dropped(Box::new(rebuild)) }
    }

    pub(super) fn drop_tree(&mut self, rebuild: impl FnOnce() -> Tree + Send + 'static) {
        self.tree = Rebuildable::Dropped(Box::new(rebuild));
    }

    pub(super) fn url(&self) -> &PageUrl {
        &self.url
    }

    pub(super) fn nofollow(&self) -> bool {
        self.nofollow
    }

    /// The tree, unless it was dropped.
    pub(super) fn tree(&self) -> Option<&Tree> {
        match &self.tree {
            Rebuildable::Kept(tree) => Some(tree),
            Rebuildable::Dropped(_) => None,
        }
    }

    fn into_page(self) -> FoundPage {
        let tree = match self.tree {
            Rebuildable::Kept(tree) => *tree,
            Rebuildable::Dropped(rebuild) => rebuild(),
        };
        FoundPage { url: self.url, fetched: self.fetched, tree, nofollow: self.nofollow }
    }
}

/// How stable the labels of the key page are while pages come in.
#[derive(Default)]
pub(super) struct Settling {
    labels: Vec<bool>,
    /// Pages in a row that changed at most [`MAX_CHANGED`] of the labels.
    n_unchanged: usize,
}

/// Share of the labels of the key page that count as no change.
const MAX_CHANGED: f64 = 0.01;

impl Settling {
    /// Takes the pages known so far, the key page first. Returns how many pages in a row changed nothing.
    pub(super) fn unchanged_pages(&mut self, known: &[(u64, &Tree)], options: &SiteModelOptions) -> usize {
        let learned = TrainingSet::learn(known, options);
        let Some(labels) = learned.and_then(|(_, labels)| Some(labels.into_iter().next()?.is_template)) else {
            return self.n_unchanged;
        };
        let n_changed = labels.iter().zip(&self.labels).filter(|(new, old)| new != old).count();
        let is_unchanged = !self.labels.is_empty() && n_changed as f64 <= MAX_CHANGED * labels.len() as f64;
        self.n_unchanged = if is_unchanged { self.n_unchanged + 1 } else { 0 };
        self.labels = labels;
        self.n_unchanged
    }
}

/// Learns from the pages of a finished search.
pub(super) fn learn(
    key: TrainingPage,
    pages: Vec<TrainingPage>,
    n_links: usize,
    found: SearchResult,
    options: &LearnOptions,
) -> Learned {
    let key = key.into_page();
    let pages: Vec<FoundPage> = pages.into_iter().map(TrainingPage::into_page).collect();
    let learned = Learned {
        n_links,
        min_votes: 0,
        key_labels: Labels::none(&key.tree),
        labels: pages.iter().map(|_| None).collect(),
        template: None,
        training_set: None,
        pages,
        key,
        found,
    };
    match options.label_by {
        LabelBy::Votes => learned.by_votes(options),
        LabelBy::SiteModel => learned.by_site_model(options),
        LabelBy::Gottron => learned.by_frequency(options),
        LabelBy::Text => learned.by_text(options),
    }
}

impl Learned {
    fn by_votes(mut self, options: &LearnOptions) -> Learned {
        let voters: Vec<&Tree> = self.found.voters.iter().map(|load| &self.pages[*load].tree).collect();
        let votes = vote(&self.key.tree, &voters, &options.etdm);
        (self.min_votes, self.key_labels) = (votes.min_votes, votes.labels(&self.key.tree));
        let voters = self.voter_urls();
        let members: Vec<usize> = (0..voters.len()).collect();
        let template = (votes.n_voters > 0).then(|| {
            Template::from_votes(&self.key.tree, self.provenance(&voters), &votes, options).with_votes(
                &self.key.tree,
                &self.key_labels,
                members,
                &votes,
            )
        });
        self.template = template;
        self
    }

    fn by_site_model(mut self, options: &LearnOptions) -> Learned {
        let voters = self.found.voters.iter().map(|load| &self.pages[*load]);
        let trees: Vec<(u64, &Tree)> =
            std::iter::once(&self.key).chain(voters).map(|page| (page.url.fingerprint(), &page.tree)).collect();
        let Some((set, labels)) = TrainingSet::learn(&trees, &options.site_model) else { return self };
        let mut labels = labels.into_iter();
        if let Some(key) = labels.next() {
            let voters = self.voter_urls();
            let template = Template::from_training_set(&self.key.tree, self.provenance(&voters), &key, &set, options);
            let confidence = template.key_coverage.unwrap_or(key.confidence);
            self.template = Some(self.with_votes(template, &key, options));
            self.key_labels = key.with_confidence(confidence);
        }
        for (load, labels) in self.found.voters.iter().zip(labels) {
            self.labels[*load] = Some(labels);
        }
        self.training_set = Some(set);
        self
    }

    /// Document frequency over the pages in the cluster of the key page. Two pages are no training set.
    fn by_frequency(mut self, options: &LearnOptions) -> Learned {
        let pages: Vec<&FoundPage> = std::iter::once(&self.key).chain(&self.pages).collect();
        let trees: Vec<&Tree> = pages.iter().map(|page| &page.tree).collect();
        let members: Vec<&FoundPage> =
            training_set(&trees, &options.gottron.cluster).into_iter().map(|at| pages[at]).collect();
        if members.len() < MIN_CLUSTER {
            return self;
        }
        let numbered: Vec<(u64, &Tree)> = members.iter().map(|page| (page.url.fingerprint(), &page.tree)).collect();
        let Some((set, _)) = TrainingSet::learn(&numbered, &options.site_model) else { return self };
        let voters: Vec<PageUrl> = members.iter().skip(1).map(|page| page.url.clone()).collect();
        let labels = set.label_by_frequency(&self.key.tree);
        let template = Template::from_training_set(&self.key.tree, self.provenance(&voters), &labels, &set, options);
        self.labels = self.pages.iter().map(|page| Some(set.label_by_frequency(&page.tree))).collect();
        self.template = Some(Template { method: Method::Gottron, n_wanted: self.pages.len(), ..template });
        (self.key_labels, self.training_set) = (labels, Some(set));
        self
    }

    /// The cluster of the key page among the training pages. Without another page in it there is no template.
    fn by_text(mut self, options: &LearnOptions) -> Learned {
        let loaded = self.found.voters.iter().map(|load| &self.pages[*load]);
        let trees: Vec<(u64, &Tree)> =
            std::iter::once(&self.key).chain(loaded).map(|page| (page.url.fingerprint(), &page.tree)).collect();
        let Some((set, _)) = TrainingSet::learn(&trees, &options.site_model) else { return self };
        let labels = set.label_by_text(&self.key.tree, &options.text);
        if labels.confidence == 0.0 {
            return self;
        }
        let voters = self.voter_urls();
        let template = Template::from_training_set(&self.key.tree, self.provenance(&voters), &labels, &set, options);
        self.labels = self.pages.iter().map(|page| Some(set.label_by_text(&page.tree, &options.text))).collect();
        self.template = Some(Template { method: Method::Text, ..template });
        (self.key_labels, self.training_set) = (labels, Some(set));
        self
    }

    /// The template with the votes of the pages that link to each other (thesis, Algorithm 3).
    fn with_votes(&self, template: Template, key: &Labels, options: &LearnOptions) -> Template {
        let members: Vec<&Tree> = self.found.subdigraph.iter().map(|load| &self.pages[*load].tree).collect();
        let place = |load: &usize| self.found.voters.iter().position(|voter| voter == load);
        let places: Vec<usize> = self.found.subdigraph.iter().filter_map(place).collect();
        let votes = vote(&self.key.tree, &members, &options.etdm);
        template.with_votes(&self.key.tree, key, places, &votes)
    }

    fn voter_urls(&self) -> Vec<PageUrl> {
        self.found.voters.iter().map(|load| self.pages[*load].url.clone()).collect()
    }

    fn provenance<'a>(&'a self, voters: &'a [PageUrl]) -> Provenance<'a> {
        Provenance { key_url: Some(&self.key.url), voters, loads: self.found.loads }
    }
}
