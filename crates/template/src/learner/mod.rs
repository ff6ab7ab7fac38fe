//! Learns the template of one site from its pages: link order, search for training pages, labels.
//!
//! Pure, like the search that it drives: [`Learner::next_step`] names the page it wants, [`Learner::tell`] takes it.
//! The crawl, `learn` over a folder and `evaluate` all run this one, so what is measured is what is shipped.

mod training;

use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::cluster::{ClusterBy, ClusterOptions, Features};
use crate::learn_options::{LabelBy, LearnOptions};
use crate::links::{LinkOrder, Outlink, outlinks};
use crate::site_model::TrainingSet;
use crate::subdigraph::{Answer, Search, SearchResult, Step};
use crate::template::Template;
use dehusk_content::{Labels, TaughtPages};
use dehusk_html::Tree;
use dehusk_html::{PageUrl, Site};

use training::{Settling, TrainingPage};

/// A parsed page and where it was found.
#[derive(Clone, Debug)]
pub struct FoundPage {
    /// URL as the site names it: with the scheme and host of the key page.
    pub url: PageUrl,
    /// URL that the server answered for, after redirects. The key of the page in a store.
    pub fetched: PageUrl,
    /// Its tree.
    pub tree: Tree,
    /// Whether its owner wants no link of it followed.
    pub nofollow: bool,
}

/// Decides whether a link may be followed: gives the URL to ask for, or `None`. Arguments: the page and its link.
pub type LinkFilter = Arc<dyn Fn(&PageUrl, &PageUrl) -> Option<PageUrl> + Send + Sync>;

/// A site being learned.
pub struct Learner {
    site: Site,
    options: LearnOptions,
    /// `None` where pages come from a folder.
    filter: Option<LinkFilter>,
    key: TrainingPage,
    n_links: usize,
    search: Search,
    /// What other pages are compared with, where that is asked for.
    layout: Option<Features>,
    /// Pages by load number.
    pages: Vec<TrainingPage>,
    settling: Settling,
}

/// What was learned of a site.
pub struct Learned {
    /// The key page.
    pub key: FoundPage,
    /// Links of the key page that stay in the site.
    pub n_links: usize,
    /// Pages loaded beside the key page, by load number.
    pub pages: Vec<FoundPage>,
    /// The search's result.
    pub found: SearchResult,
    /// Votes that made a node template; 0 when the site model decided.
    pub min_votes: usize,
    /// Labels of the key page.
    pub key_labels: Labels,
    /// Labels of the loaded pages, by load number, where they were computed with the template.
    pub labels: Vec<Option<Labels>>,
    /// The template, when the pages share more than the body.
    pub template: Option<Template>,
    /// The training set that the template was made from, ready to label pages; `None` for votes.
    pub training_set: Option<TrainingSet>,
}

impl Learned {
    /// Gives what was taught of the site before to what was learned.
    pub fn teach(&mut self, taught: TaughtPages) {
        if taught.is_empty() {
            return;
        }
        if let Some(template) = &mut self.template {
            template.teach(taught.clone());
        }
        if let Some(set) = &mut self.training_set {
            set.teach(taught);
        }
    }
}

impl FoundPage {
    /// A page found at this URL.
    pub fn new(url: PageUrl, tree: Tree) -> FoundPage {
        FoundPage { fetched: url.clone(), url, tree, nofollow: false }
    }
}

impl Learner {
    /// Begins with the key page. Links that `filter` refuses are not asked for.
    pub fn new(key: FoundPage, site: Site, filter: Option<LinkFilter>, options: &LearnOptions) -> Learner {
        let options = options.in_effect();
        let links = followed(&key, &site, &options, filter.as_ref());
        let order = LinkOrder::new(&key.tree, &key.url, &links, &options.links);
        let urls: Vec<PageUrl> = links.into_iter().map(|link| link.url).collect();
        let mut search = Search::new(key.url.clone(), fingerprint(&key.tree), &urls, order, &options.search);
        if !key.nofollow {
            search.offer(pages_above(&key.url).filter_map(|url| permitted(&key.url, url, filter.as_ref())));
        }
        let layout = (options.search.min_similarity > 0.0).then(|| layout_of(&key.tree));
        Learner {
            site,
            layout,
            options,
            filter,
            key: TrainingPage::with_tree(key),
            n_links: urls.len(),
            search,
            pages: Vec::new(),
            settling: Settling::default(),
        }
    }

    /// The site that is learned.
    pub fn site(&self) -> &Site {
        &self.site
    }

    /// Drops the tree of the key page and builds it again at the end, where memory is short. `rebuild` must give the
    /// same tree.
    pub fn pack_key(&mut self, rebuild: impl FnOnce() -> Tree + Send + 'static) {
        self.key.drop_tree(rebuild);
    }

    /// Ends the search: the site is learned from the pages that are there.
    pub fn stop(&mut self) {
        self.search.stop();
    }

    /// Offers pages of the site that the key page does not link to, such as those of a sitemap. They are tried where
    /// its links give too few training pages.
    pub fn offer(&mut self, urls: impl IntoIterator<Item = PageUrl>) {
        let (site, key, filter) = (&self.site, &self.key, self.filter.as_ref());
        let inside = urls.into_iter().filter_map(|url| permitted(key.url(), site.claim(url)?, filter));
        self.search.offer(inside);
    }

    /// Whether the search has found no page that can be a training page, and may look elsewhere.
    pub fn has_nothing(&self) -> bool {
        !self.search.has_voters() && !self.key.nofollow()
    }

    /// The page to fetch, or the end of the search.
    pub fn next_step(&mut self) -> Step {
        self.search.next_step()
    }

    /// Takes the page asked for, or `None` when it could not be had.
    pub fn tell(&mut self, page: Option<FoundPage>) {
        self.take(page, TrainingPage::with_tree);
    }

    /// Takes the page asked for, but drops its tree and builds it again at the end, where memory is short. `rebuild`
    /// must give the same tree.
    pub fn tell_packed(&mut self, page: FoundPage, rebuild: impl FnOnce() -> Tree + Send + 'static) {
        self.take(Some(page), |page| TrainingPage::without_tree(page, rebuild));
    }

    fn take(&mut self, page: Option<FoundPage>, keep: impl FnOnce(FoundPage) -> TrainingPage) {
        // A redirect that left the site is a page that could not be had.
        let inside = page.and_then(|page| Some(FoundPage { url: self.site.claim(page.url)?, ..page }));
        let answer = inside.as_ref().map_or(Answer::Failed, |page| Answer::Page {
            url: page.url.clone(),
            fingerprint: fingerprint(&page.tree),
            links: followed(page, &self.site, &self.options, self.filter.as_ref())
                .into_iter()
                .map(|link| link.url)
                .collect(),
            is_atypical: self.layout.as_ref().is_some_and(|of_key| {
                1.0 - of_key.distance(&layout_of(&page.tree)) < self.options.search.min_similarity
            }),
        });
        if let (Some(_), Some(page)) = (self.search.tell(answer), inside) {
            self.pages.push(keep(page));
            if self.options.search.stop_after > 0 && self.options.label_by == LabelBy::SiteModel {
                self.stop_when_settled();
            }
        }
    }

    /// Ends the search when page after page changes hardly a label of the key page.
    fn stop_when_settled(&mut self) {
        // A packed page is not unpacked for this.
        let tree_of = |load: usize| Some((load as u64 + 1, self.pages[load].tree()?));
        let (Some(key), Some(voters)) =
            (self.key.tree(), self.search.voters().map(tree_of).collect::<Option<Vec<_>>>())
        else {
            return;
        };
        let known: Vec<(u64, &Tree)> = std::iter::once((0, key)).chain(voters).collect();
        if self.settling.unchanged_pages(&known, &self.options.site_model) >= self.options.search.stop_after {
            self.search.stop();
        }
    }

    /// Whether a page waits without its tree.
    pub fn is_packed(&self) -> bool {
        std::iter::once(&self.key).chain(&self.pages).any(|page| page.tree().is_none())
    }

    /// Learns from what was found so far.
    pub fn finish(self, found: SearchResult) -> Learned {
        let Learner { options, key, n_links, pages, .. } = self;
        training::learn(key, pages, n_links, found, &options)
    }

    /// Runs the search to its end over pages that `fetch` can give at once.
    pub fn run(self, fetch: impl FnMut(&PageUrl) -> Option<FoundPage>) -> Learned {
        self.run_offered(fetch, Vec::new)
    }

    /// Does what [`Learner::run`] does. Where no link gives a training page, `offered` names pages to try.
    pub fn run_offered(
        mut self,
        mut fetch: impl FnMut(&PageUrl) -> Option<FoundPage>,
        offered: impl FnOnce() -> Vec<PageUrl>,
    ) -> Learned {
        let mut offered = Some(offered);
        loop {
            match self.next_step() {
                Step::Fetch(url) => {
                    let page = fetch(&url);
                    self.tell(page);
                }
                Step::Done(found) => match offered.take().filter(|_| self.has_nothing()) {
                    Some(offered) => self.offer(offered()),
                    None => return self.finish(found),
                },
            }
        }
    }
}

/// The links of a page that may be asked for.
fn followed(page: &FoundPage, site: &Site, options: &LearnOptions, filter: Option<&LinkFilter>) -> Vec<Outlink> {
    if page.nofollow {
        return Vec::new();
    }
    let mut links = outlinks(&page.tree, &page.url, site, options.links.max);
    if options.links.skip_nofollow {
        links.retain(|link| !link.nofollow);
    }
    let Some(filter) = filter else { return links };
    let mut seen = FxHashSet::default();
    links.retain_mut(|link| match filter(&page.url, &link.url) {
        Some(url) => {
            link.url = url;
            seen.insert(link.url.clone())
        }
        None => false,
    });
    links
}

/// The URL to ask for where a link may be followed.
fn permitted(from: &PageUrl, url: PageUrl, filter: Option<&LinkFilter>) -> Option<PageUrl> {
    match filter {
        Some(filter) => filter(from, &url),
        None => Some(url),
    }
}

/// The two folders above a page, and the home page.
fn pages_above(url: &PageUrl) -> impl Iterator<Item = PageUrl> + '_ {
    ["./", "../", "/"].into_iter().filter_map(|path| url.join(path))
}

/// The tag paths of a page (Gottron 2008, CP).
fn layout_of(tree: &Tree) -> Features {
    Features::new(tree, &ClusterOptions { by: ClusterBy::Cp, ..ClusterOptions::default() })
}

/// Hash of all that a page shows below its body.
fn fingerprint(tree: &Tree) -> u64 {
    tree.body().map_or(0, |body| tree.subtree_hashes().full[body.index()])
}
