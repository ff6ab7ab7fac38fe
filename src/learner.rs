//! Learns the template of one site from its pages: link order, search for the voters, vote, cleaned pages.
//!
//! Pure, like the search that it drives: [`Learner::next_step`] names the page it wants, [`Learner::tell`] takes it. The
//! crawl, `learn` over a folder and `evaluate` all run this one, so what is measured is what is shipped.

use crate::clean::Applied;
use crate::dom::Tree;
use std::sync::Arc;

use crate::links::{LinkOrder, Outlink, outlinks};
use crate::page::{PageUrl, Site};
use crate::scope::Scope;
use crate::settings::{Label, Learn};
use crate::subdigraph::{Answer, Found, Search, Step};
use crate::template::{Template, vote};
use crate::witness::Family;

/// A parsed page and where it was found.
#[derive(Clone, Debug)]
pub struct Page {
    /// After redirects; inside a learner as the site names it.
    pub url: PageUrl,
    /// After redirects, as it was asked for.
    pub fetched: PageUrl,
    /// Its tree.
    pub tree: Tree,
    /// Does its owner want no link of it followed?
    pub nofollow: bool,
}

/// A site being learned.
pub struct Learner {
    site: Site,
    learn: Learn,
    /// What a crawl leaves out; `None` where pages come from a folder.
    scope: Option<Arc<Scope>>,
    key: Page,
    n_links: usize,
    search: Search,
    /// Pages by load number.
    pages: Vec<Waiting>,
    sure: Sure,
    /// Share of a stored template that the key page shows, where that was too little to keep it.
    pub shown_of_old: Option<f64>,
}

/// How sure the labels of the key page are.
#[derive(Default)]
struct Sure {
    labels: Vec<bool>,
    /// Pages in a row that changed hardly one.
    unmoved: usize,
}

/// A page that waits for the vote.
struct Waiting {
    url: PageUrl,
    fetched: PageUrl,
    nofollow: bool,
    tree: Again,
}

/// A tree, or the way to get it again.
enum Again {
    Kept(Box<Tree>),
    Later(Box<dyn FnOnce() -> Tree + Send>),
}

/// What was learned of a site.
pub struct Learned {
    /// The key page.
    pub key: Page,
    /// Links of the key page that stay in the site.
    pub n_links: usize,
    /// Pages loaded for the vote, by load number.
    pub pages: Vec<Page>,
    /// The search's result.
    pub found: Found,
    /// Votes that made a node template; 0 when witnesses decided.
    pub t: usize,
    /// Labels of the key page.
    pub key_applied: Applied,
    /// Labels of the loaded pages, by load number, where they were found with the template; it finds the others.
    pub applied: Vec<Option<Applied>>,
    /// The template, when pages voted and share more than the body.
    pub template: Option<Template>,
}

impl Page {
    /// A page found at this URL.
    pub fn new(url: PageUrl, tree: Tree) -> Page {
        Page { fetched: url.clone(), url, tree, nofollow: false }
    }
}

impl Learner {
    /// Begins with the key page.
    pub fn new(key: Page, site: Site, learn: &Learn) -> Learner {
        Learner::within(None, key, site, learn)
    }

    /// Begins with the key page; links that the scope refuses are not asked for.
    pub fn within(scope: Option<Arc<Scope>>, key: Page, site: Site, learn: &Learn) -> Learner {
        let links = followed(&key, &site, learn, scope.as_deref());
        let order = LinkOrder::chosen(learn.link_order, &key.tree, &key.url, &links, learn.dom_ref, learn.slug_dirs);
        let urls: Vec<PageUrl> = links.into_iter().map(|link| link.url).collect();
        let search = Search::new(key.url.clone(), fingerprint(&key.tree), &urls, order, learn);
        Learner {
            site,
            learn: learn.clone(),
            scope,
            key,
            n_links: urls.len(),
            search,
            pages: Vec::new(),
            sure: Sure::default(),
            shown_of_old: None,
        }
    }

    /// The site that is learned.
    pub fn site(&self) -> &Site {
        &self.site
    }

    /// The page to fetch, or the end of the search.
    pub fn next_step(&mut self) -> Step {
        self.search.next_step()
    }

    /// The page asked for, or `None` when it could not be had.
    pub fn tell(&mut self, page: Option<Page>) {
        self.take(page, |tree| Again::Kept(Box::new(tree)));
    }

    /// The page asked for, where memory is short: its tree is dropped now and made again for the vote. `again` must
    /// give the same tree.
    pub fn tell_briefly(&mut self, page: Page, again: impl FnOnce() -> Tree + Send + 'static) {
        self.take(Some(page), |_| Again::Later(Box::new(again)));
    }

    fn take(&mut self, page: Option<Page>, keep: impl FnOnce(Tree) -> Again) {
        // A redirect that left the site is a page that could not be had.
        let inside = page.and_then(|page| Some(Page { url: self.site.claim(page.url)?, ..page }));
        let answer = match &inside {
            Some(page) => Answer::Page {
                url: page.url.clone(),
                fingerprint: fingerprint(&page.tree),
                links: followed(page, &self.site, &self.learn, self.scope.as_deref())
                    .into_iter()
                    .map(|link| link.url)
                    .collect(),
            },
            None => Answer::Failed,
        };
        if let (Some(_), Some(page)) = (self.search.tell(answer), inside) {
            let Page { url, fetched, tree, nofollow } = page;
            self.pages.push(Waiting { url, fetched, nofollow, tree: keep(tree) });
            if self.learn.stop_after > 0 && self.learn.label == Label::Witness {
                self.stop_when_sure();
            }
        }
    }

    /// Ends the search when page after page changes hardly a label of the key page.
    fn stop_when_sure(&mut self) {
        /// Share of the labels that is hardly any.
        const HARDLY: f64 = 0.01;
        let tree_of = |load: usize| match &self.pages[load].tree {
            Again::Kept(tree) => Some((load as u64 + 1, &**tree)),
            Again::Later(_) => None,
        };
        // A packed page is not unpacked for this.
        let Some(voters) = self.search.voters().map(tree_of).collect::<Option<Vec<_>>>() else { return };
        let known: Vec<(u64, &Tree)> = std::iter::once((0, &self.key.tree)).chain(voters).collect();
        let Some((_, labels)) = Family::learn(&known, &self.learn) else { return };
        let Some(labels) = labels.into_iter().next().map(|labels| labels.is_template) else { return };
        let changed = labels.iter().zip(&self.sure.labels).filter(|(new, old)| new != old).count();
        let is_unmoved = !self.sure.labels.is_empty() && changed as f64 <= HARDLY * labels.len() as f64;
        self.sure = Sure { labels, unmoved: if is_unmoved { self.sure.unmoved + 1 } else { 0 } };
        if self.sure.unmoved >= self.learn.stop_after {
            self.search.stop();
        }
    }

    /// Does a page wait without its tree?
    pub fn is_packed(&self) -> bool {
        self.pages.iter().any(|page| matches!(page.tree, Again::Later(_)))
    }

    /// Decides with what was found so far.
    pub fn finish(self, found: Found) -> Learned {
        let Learner { learn, key, n_links, pages, .. } = self;
        let pages: Vec<Page> = pages.into_iter().map(Waiting::page).collect();
        let learned = Learned {
            n_links,
            t: 0,
            key_applied: Applied::nothing(&key.tree),
            applied: pages.iter().map(|_| None).collect(),
            template: None,
            pages,
            key,
            found,
        };
        match learn.label {
            Label::Votes => learned.by_votes(&learn),
            Label::Witness => learned.by_witnesses(&learn),
        }
    }

    /// Runs the search to its end over pages that `fetch` can give at once.
    pub fn run(mut self, mut fetch: impl FnMut(&PageUrl) -> Option<Page>) -> Learned {
        loop {
            match self.next_step() {
                Step::Fetch(url) => {
                    let page = fetch(&url);
                    self.tell(page);
                }
                Step::Done(found) => return self.finish(found),
            }
        }
    }
}

impl Waiting {
    fn page(self) -> Page {
        let tree = match self.tree {
            Again::Kept(tree) => *tree,
            Again::Later(again) => again(),
        };
        Page { url: self.url, fetched: self.fetched, tree, nofollow: self.nofollow }
    }
}

impl Learned {
    fn by_votes(mut self, learn: &Learn) -> Learned {
        let voters: Vec<&Tree> = self.found.voters.iter().map(|load| &self.pages[*load].tree).collect();
        let votes = vote(&self.key.tree, &voters, learn);
        (self.t, self.key_applied) = (votes.t, Applied::of_votes(&self.key.tree, &votes));
        self.template = (votes.m > 0)
            .then(|| Template::of(&self.key.tree, &self.key.url, &self.voter_urls(), self.found.loads, &votes, learn));
        self
    }

    fn by_witnesses(mut self, learn: &Learn) -> Learned {
        let voters = self.found.voters.iter().map(|load| &self.pages[*load]);
        let trees: Vec<(u64, &Tree)> =
            std::iter::once(&self.key).chain(voters).map(|page| (page.url.fingerprint(), &page.tree)).collect();
        let Some((family, labels)) = Family::learn(&trees, learn) else { return self };
        let mut labels = labels.into_iter();
        if let Some(key) = labels.next() {
            let (voters, loads) = (self.voter_urls(), self.found.loads);
            let template = Template::witnessed(&self.key.tree, &self.key.url, &voters, loads, &key, &family, learn);
            let confidence = template.standing.unwrap_or(key.confidence);
            self.template = Some(template);
            self.key_applied = Applied { confidence, ..Applied::of_labels(key) };
        }
        for (load, labels) in self.found.voters.iter().zip(labels) {
            self.applied[*load] = Some(Applied::of_labels(labels));
        }
        self
    }

    fn voter_urls(&self) -> Vec<PageUrl> {
        self.found.voters.iter().map(|load| self.pages[*load].url.clone()).collect()
    }
}

/// The links of a page that may be asked for.
fn followed(page: &Page, site: &Site, learn: &Learn, scope: Option<&Scope>) -> Vec<Outlink> {
    if page.nofollow {
        return Vec::new();
    }
    let mut links = outlinks(&page.tree, &page.url, site, learn.max_links);
    if learn.skip_nofollow {
        links.retain(|link| !link.nofollow);
    }
    let Some(scope) = scope else { return links };
    for link in &mut links {
        link.url = scope.strip(&link.url);
    }
    let mut seen = rustc_hash::FxHashSet::default();
    links.retain(|link| scope.allows(&page.url, &link.url).is_ok() && seen.insert(link.url.clone()));
    links
}

/// Hash of all that a page shows below its body.
fn fingerprint(tree: &Tree) -> u64 {
    tree.body().map_or(0, |body| tree.shape.h_full[body.index()])
}
