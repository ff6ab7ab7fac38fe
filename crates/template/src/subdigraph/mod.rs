//! The search for pages that all link to each other: Algorithm 2 (Alarte 2014, section 2.2.5) as a pure state machine.
//!
//! The search does no I/O. [`Search::next_step`] returns the page to fetch, and [`Search::tell`] takes the answer. The
//! result depends only on the answers, never on their timing. States of a link: waiting in [`LinkOrder`], requested,
//! then loaded or skipped. The search ends when a loaded page completes a clique of size `n` (in mode
//! `First`: when `n` pages are usable).
//!
//! A page that has little in common with the key page is exchanged for the next link ([`Answer::Page`]), which the
//! thesis names as future work.
//!
//! In mode `First`, pages that are no links of the key page are tried where its links give too few: its parent folders,
//! the home page, what a sitemap names ([`Search::offer`]). The thesis' mode knows links only.
//!
//! Departures from Algorithm 2 as printed: reachable links are tried in link order; the key page is not a candidate; a
//! page is skipped if it is a duplicate; loads and requests are bounded. A link that redirects to another link is
//! skipped in mode `Complete`, and is that one in mode `First`.

mod clique;
mod options;

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};

use clique::largest_clique_with;

use crate::links::{LinkOrder, form};
use dehusk_html::PageUrl;
pub use options::{SearchOptions, SubdigraphMode};

/// Maximum number of pages of a search for a complete subdigraph; each page is one bit of a mask. Mode `First` loads
/// more, and looks for the subdigraph among the first of them.
const MOST_IN_MASK: usize = 64;

/// Maximum number of pages of any search.
pub const MOST_LOADS: usize = 1000;

/// Training pages below which pages are tried that the key page does not link to: with fewer of them, what all pages
/// share cannot be told from what a few do.
const FEW: usize = 3;

/// Maximum size of a clique; the search time is exponential in it.
const LARGEST_CLIQUE: usize = 8;

/// The outcome of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It is an HTML page of the site.
    Page {
        /// Its URL after redirects.
        url: PageUrl,
        /// Hash of its body.
        fingerprint: u64,
        /// Its links.
        links: Vec<PageUrl>,
        /// Whether its layout has less in common with that of the key page than [`SearchOptions::min_similarity`].
        is_atypical: bool,
    },
    /// It could not be fetched, is not HTML, or is outside the site.
    Failed,
}

/// The next step of the search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Fetch this page and call [`Search::tell`].
    Fetch(PageUrl),
    /// The search is over.
    Done(SearchResult),
}

/// The result of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchResult {
    /// Load numbers of the training pages: the page that completed the clique, then the others in load order.
    pub voters: Vec<usize>,
    /// Load numbers of the largest set of training pages that all link to each other, at most eight. In mode
    /// `Complete`, the training pages.
    pub subdigraph: Vec<usize>,
    /// Pages loaded, duplicates included.
    pub loads: usize,
    /// Pages requested.
    pub requests: usize,
}

/// The running search.
#[derive(Clone, Debug)]
pub struct Search {
    order: LinkOrder,
    /// Pages that no link of the key page leads to, tried after all links.
    offered: VecDeque<PageUrl>,
    /// Training pages below which offered pages are tried.
    enough: usize,
    /// Whether the page that is asked for was offered.
    is_offered: bool,
    mode: SubdigraphMode,
    n: usize,
    max_loads: usize,
    max_requests: usize,
    /// Number of each candidate link.
    links: FxHashMap<PageUrl, u32>,
    key: PageUrl,
    fingerprints: FxHashSet<u64>,
    found_at: FxHashSet<PageUrl>,
    asked: Option<PageUrl>,
    loaded: Vec<Loaded>,
    /// Pages for which another link is tried, until none is left.
    atypical: VecDeque<Loaded>,
    best: Vec<usize>,
    loads: usize,
    requests: usize,
}

#[derive(Clone, Debug)]
struct Loaded {
    /// Number of the load. Duplicates count as loads.
    load: usize,
    link: u32,
    out: FxHashSet<u32>,
    /// Loaded pages with links in both directions, one bit each.
    mutual: u64,
}

impl Search {
    /// A search from the key page over its `links`, which `order` yields one by one.
    pub fn new(key: PageUrl, fingerprint: u64, links: &[PageUrl], order: LinkOrder, options: &SearchOptions) -> Search {
        let enough = if links.len() < FEW { options.n } else { FEW.min(options.n) };
        let links = links.iter().enumerate().map(|(i, url)| (url.clone(), i as u32)).collect();
        Search {
            order,
            offered: VecDeque::new(),
            enough,
            is_offered: false,
            mode: options.mode,
            n: match options.mode {
                SubdigraphMode::Complete => options.n.min(LARGEST_CLIQUE),
                SubdigraphMode::First => options.n,
            },
            max_loads: match options.mode {
                SubdigraphMode::Complete => options.max_loads.min(MOST_IN_MASK),
                SubdigraphMode::First => options.max_loads.min(MOST_LOADS),
            },
            max_requests: options.max_requests,
            links,
            key,
            fingerprints: FxHashSet::from_iter([fingerprint]),
            found_at: FxHashSet::default(),
            asked: None,
            loaded: Vec::new(),
            atypical: VecDeque::new(),
            best: Vec::new(),
            loads: 0,
            requests: 0,
        }
    }

    /// The page to fetch, or the result. Repeated calls without [`Search::tell`] return the same step.
    pub fn next_step(&mut self) -> Step {
        if let Some(url) = &self.asked {
            return Step::Fetch(url.clone());
        }
        let spent = self.loads >= self.max_loads || self.requests >= self.max_requests;
        if self.best.len() < self.n
            && !spent
            && let Some(url) = self.next_link().or_else(|| self.next_offered())
        {
            self.requests += 1;
            self.asked = Some(url.clone());
            return Step::Fetch(url);
        }
        while self.best.len() < self.n
            && let Some(page) = self.atypical.pop_front()
        {
            self.add(page);
        }
        let (loads, requests) = (self.loads, self.requests);
        Step::Done(SearchResult { voters: self.voters().collect(), subdigraph: self.subdigraph(), loads, requests })
    }

    /// The next link whose page has not been found by a redirect.
    fn next_link(&mut self) -> Option<PageUrl> {
        let Search { order, found_at, .. } = self;
        order.find(|url| !found_at.contains(url))
    }

    /// Offers pages that are tried where the links give too few.
    pub fn offer(&mut self, urls: impl IntoIterator<Item = PageUrl>) {
        self.offered.extend(urls);
    }

    fn next_offered(&mut self) -> Option<PageUrl> {
        self.is_offered = self.mode == SubdigraphMode::First && self.best.len() < self.enough;
        if !self.is_offered {
            return None;
        }
        while let Some(url) = self.offered.pop_front() {
            if url != self.key && !self.links.contains_key(&url) && !self.found_at.contains(&url) {
                self.links.insert(url.clone(), self.links.len() as u32);
                return Some(url);
            }
        }
        None
    }

    /// Whether a page was found that can be a training page.
    pub fn has_voters(&self) -> bool {
        !self.best.is_empty()
    }

    /// Ends the search with the pages found so far.
    pub fn stop(&mut self) {
        self.n = self.best.len();
    }

    /// Load numbers of the pages that would be training pages if the search ended now.
    pub fn voters(&self) -> impl Iterator<Item = usize> + '_ {
        self.best.iter().map(|at| self.loaded[*at].load)
    }

    /// Takes the outcome of the request. Returns the load number of the page if it was loaded.
    pub fn tell(&mut self, answer: Answer) -> Option<usize> {
        let asked = self.asked.take()?;
        let is_offered = std::mem::take(&mut self.is_offered);
        let Answer::Page { url, fingerprint, links, is_atypical } = answer else { return None };
        let load = self.loads;
        self.loads += 1;
        // The paper's search skips a redirect to another link: that link is loaded when its turn comes.
        let is_other_link = self.mode == SubdigraphMode::Complete && self.links.contains_key(&url);
        if url != asked && (url == self.key || is_other_link) {
            return Some(load);
        }
        // Otherwise it is that link's page, which is not asked for again.
        let link = self.links.get(&url).or_else(|| self.links.get(&asked)).copied();
        if !self.found_at.insert(url) || !self.fingerprints.insert(fingerprint) {
            return Some(load);
        }
        let Some(link) = link else { return Some(load) };
        if is_offered {
            self.offered.extend(links.iter().take(MOST_IN_MASK).cloned());
        }
        if self.mode == SubdigraphMode::First {
            let form = form(&asked);
            for url in &links {
                if *url != self.key && !self.links.contains_key(url) && self.order.offer(url, &form) {
                    self.links.insert(url.clone(), self.links.len() as u32);
                }
            }
        }
        let out: FxHashSet<u32> = links.iter().filter_map(|l| self.links.get(l).copied()).collect();
        let page = Loaded { load, link, out, mutual: 0 };
        if is_atypical {
            self.atypical.push_back(page);
        } else {
            self.add(page);
        }
        Some(load)
    }

    fn add(&mut self, mut page: Loaded) {
        let at = self.loaded.len();
        let others = if at < MOST_IN_MASK { self.loaded.as_mut_slice() } else { &mut [] };
        for (i, other) in others.iter_mut().enumerate() {
            if page.out.contains(&other.link) && other.out.contains(&page.link) {
                page.mutual |= 1 << i;
                other.mutual |= 1 << at;
            }
        }
        self.loaded.push(page);
        match self.mode {
            SubdigraphMode::First => self.best.push(at),
            SubdigraphMode::Complete => self.improve_with(at),
        }
    }

    /// Load numbers of the largest clique among the pages found, in load order but for mode `Complete`.
    fn subdigraph(&self) -> Vec<usize> {
        if self.mode == SubdigraphMode::Complete {
            return self.voters().collect();
        }
        let mutual: Vec<u64> = self.loaded.iter().map(|page| page.mutual).collect();
        let mut best: Vec<usize> = Vec::new();
        for start in 0..mutual.len().min(MOST_IN_MASK) {
            let clique = largest_clique_with(&mutual, start, LARGEST_CLIQUE);
            if clique.len() > best.len() {
                best = clique;
            }
        }
        best.sort_unstable();
        best.into_iter().map(|at| self.loaded[at].load).collect()
    }

    /// A larger clique must contain the newest page; otherwise it would have been found earlier.
    fn improve_with(&mut self, newest: usize) {
        let mutual: Vec<u64> = self.loaded.iter().map(|page| page.mutual).collect();
        let clique = largest_clique_with(&mutual, newest, self.n);
        if clique.len() > self.best.len() {
            self.best = clique;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::links::{LinkOptions, outlinks};
    use dehusk_html::ParseOptions;
    use dehusk_html::parse;
    use dehusk_html::{SameSite, Site};

    fn url(name: &str) -> PageUrl {
        PageUrl::parse(&format!("http://s.com/{name}")).unwrap()
    }

    fn search(names: &[&str], learn: &SearchOptions) -> Search {
        let html: String = names.iter().map(|n| format!("<a href='/{n}'>x</a>")).collect();
        let tree = parse(&html, &ParseOptions::default());
        let key = url("key");
        let links = outlinks(&tree, &key, &Site::new(&key, SameSite::Host), 100);
        let order = LinkOrder::paper(&tree, &key, &links, &LinkOptions::thesis2014());
        let urls: Vec<PageUrl> = links.into_iter().map(|l| l.url).collect();
        Search::new(key, 0, &urls, order, learn)
    }

    fn page(name: &str, fingerprint: u64, links: &[&str]) -> Answer {
        Answer::Page { url: url(name), fingerprint, links: links.iter().map(|l| url(l)).collect(), is_atypical: false }
    }

    #[test]
    fn an_atypical_page_is_exchanged_while_there_are_links() {
        let learn = SearchOptions { n: 2, max_loads: 3, ..SearchOptions::default() };
        let ended = |names: &[&str]| {
            let mut search = search(names, &learn);
            loop {
                match search.next_step() {
                    Step::Fetch(asked) => {
                        let fingerprint = 1 + search.requests as u64;
                        let is_atypical = asked == url("a");
                        search.tell(Answer::Page { url: asked, fingerprint, links: Vec::new(), is_atypical });
                    }
                    Step::Done(found) => return (found.voters, found.loads),
                }
            }
        };
        assert_eq!(ended(&["a", "b", "c", "d"]), (vec![1, 2], 3));
        assert_eq!(ended(&["a", "b"]), (vec![1, 0], 2), "better an atypical page than none");
    }

    #[test]
    fn a_triangle_ends_the_search() {
        let learn = SearchOptions::thesis2014();
        let mut search = search(&["a", "b", "c", "d", "e"], &learn);
        assert_eq!(search.next_step(), Step::Fetch(url("a")));
        assert_eq!(search.next_step(), Step::Fetch(url("a")), "asking twice changes nothing");
        search.tell(page("a", 1, &["b", "c", "d"]));
        for (name, answer) in
            [("b", Answer::Failed), ("c", page("c", 2, &["a", "b", "d"])), ("d", page("d", 3, &["a", "c"]))]
        {
            assert_eq!(search.next_step(), Step::Fetch(url(name)));
            search.tell(answer);
        }
        let found = SearchResult { voters: vec![2, 0, 1], subdigraph: vec![2, 0, 1], loads: 3, requests: 4 };
        assert_eq!(search.next_step(), Step::Done(found));
    }

    #[test]
    fn duplicates_are_no_voters_and_a_redirect_onto_a_link_is_that_link() {
        let learn = SearchOptions::thesis2014();
        let mut search = search(&["a", "b", "c"], &learn);
        for answer in [page("a", 1, &["b", "c"]), page("b", 1, &["a", "c"]), page("a", 2, &["b"])] {
            search.next_step();
            search.tell(answer);
        }
        let paper = SearchResult { voters: vec![0], subdigraph: vec![0], loads: 3, requests: 3 };
        assert_eq!(search.next_step(), Step::Done(paper));
        let learn = SearchOptions { mode: SubdigraphMode::First, ..SearchOptions::thesis2014() };
        let mut search = self::search(&["a", "b", "c"], &learn);
        assert_eq!(search.next_step(), Step::Fetch(url("a")));
        search.tell(page("b", 1, &["a", "c"]));
        assert_eq!(search.next_step(), Step::Fetch(url("c")), "the page of b is there");
        search.tell(page("c", 1, &["b"]));
        let ours = SearchResult { voters: vec![0], subdigraph: vec![0], loads: 2, requests: 2 };
        assert_eq!(search.next_step(), Step::Done(ours));
    }

    #[test]
    fn loads_are_bounded_and_first_takes_what_comes() {
        let learn = SearchOptions { max_loads: 2, mode: SubdigraphMode::First, ..SearchOptions::thesis2014() };
        let mut search = search(&["a", "b", "c"], &learn);
        for answer in [page("a", 1, &[]), page("b", 2, &[])] {
            search.next_step();
            search.tell(answer);
        }
        let found = SearchResult { voters: vec![0, 1], subdigraph: vec![0], loads: 2, requests: 2 };
        assert_eq!(search.next_step(), Step::Done(found));
    }

    #[test]
    fn the_first_pages_have_a_complete_subdigraph_too() {
        let learn = SearchOptions { mode: SubdigraphMode::First, n: 4, ..SearchOptions::thesis2014() };
        let mut search = search(&["a", "b", "c", "d"], &learn);
        let links: [&[&str]; 4] = [&["c"], &["c", "d"], &["a", "b", "d"], &["b", "c"]];
        for links in links {
            let Step::Fetch(asked) = search.next_step() else { panic!("the search goes on") };
            let name = asked.as_str().trim_start_matches("http://s.com/");
            search.tell(page(name, u64::from(name.as_bytes()[0]), links));
        }
        let Step::Done(found) = search.next_step() else { panic!("four pages are enough") };
        assert_eq!((found.voters, found.subdigraph), (vec![0, 1, 2, 3], vec![1, 2, 3]));
    }

    #[test]
    fn pages_without_links_are_tried_where_links_give_too_few() {
        let first = ["a", "x", "y"];
        for (mode, n_links, wanted) in [
            (SubdigraphMode::First, 3, vec!["a", "x", "y", "home", "parent"]),
            (SubdigraphMode::First, 1, vec!["a", "home", "parent", "b"]),
            (SubdigraphMode::Complete, 1, vec!["a"]),
        ] {
            let mut search = search(&first[..n_links], &SearchOptions { mode, n: 8, ..SearchOptions::thesis2014() });
            search.offer(["key", "a", "home", "parent"].map(url));
            let mut asked = Vec::new();
            while let Step::Fetch(page_url) = search.next_step() {
                let name = page_url.as_str().trim_start_matches("http://s.com/").to_owned();
                let links: &[&str] = if name == "home" { &["a", "b"] } else { &[] };
                let is_missing = first[1..].contains(&name.as_str());
                search.tell(if is_missing { Answer::Failed } else { page(&name, asked.len() as u64 + 1, links) });
                asked.push(name);
            }
            assert_eq!(asked, wanted, "{n_links} links");
        }
    }
}
