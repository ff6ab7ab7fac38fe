//! The order in which links are tried: DOM distance, Algorithm 1, and round-robin over URL forms.
//!
//! Source: Alarte 2014 (thesis), definitions 2.2.10 to 2.2.14 and Algorithm 1 (section 2.2.4). As printed, Algorithm 1
//! lacks the assignment of `links'`, and example 2.2.15 contradicts it. Both are resolved as in the authors' HybEx.
//!
//! Departure from the thesis: pages of one kind mostly have URLs of one form, and the training set needs pages of all
//! kinds. Links are therefore tried round-robin over the forms: first the form of the key page, then the links of the
//! main menu, then the other forms. Within a form, Algorithm 1 applies.

use std::collections::{BTreeMap, VecDeque};

use rustc_hash::{FxHashMap, FxHashSet};

use super::form::form;
use super::menu::menu;
use super::{DomRef, LinkOptions, LinkOrderBy};
use super::{Outlink, hyperlink_distance, relevance, words};
use dehusk_html::PageUrl;
use dehusk_html::{NodeId, Tree, mix};

/// Links in the order in which they are tried.
///
/// The order is computed lazily: each link costs one pass over the remaining links of its class.
#[derive(Clone, Debug)]
pub struct LinkOrder {
    urls: Vec<PageUrl>,
    nodes: Vec<NodeId>,
    places: Places,
    /// Lists of link numbers for the round-robin, each with its order by Algorithm 1.
    turns: Vec<(Vec<usize>, FarthestFirst)>,
    next: usize,
    /// Form of the key page's URL, if the order is round-robin over forms.
    own: Option<String>,
    /// Links of that form found on other pages. They are tried after those of the key page.
    more: VecDeque<PageUrl>,
    /// Links of other pages to pages of their own form, where the key page links to one of them only. They are tried
    /// next: what a kind of page repeats is told from two pages of it.
    siblings: VecDeque<PageUrl>,
    /// Forms of which there are two pages, or a sibling.
    paired: FxHashSet<String>,
    n_siblings: usize,
    /// Links of all pages by a hash, for the random order; `turns` is then empty.
    pool: Option<BTreeMap<u64, PageUrl>>,
}

/// Siblings of a search.
const MOST_SIBLINGS: usize = 2;

impl LinkOrder {
    /// The order of the thesis for `links` of the key page: by link relevance, then farthest-first by DOM distance.
    pub fn paper(tree: &Tree, key: &PageUrl, links: &[Outlink], options: &LinkOptions) -> LinkOrder {
        LinkOrder::new(tree, key, links, &LinkOptions { order: LinkOrderBy::Paper, ..options.clone() })
    }

    /// The order that `options.order` names.
    pub fn new(tree: &Tree, key: &PageUrl, links: &[Outlink], options: &LinkOptions) -> LinkOrder {
        let LinkOptions { order: choice, dom_ref, slug_dirs, .. } = *options;
        let key_words = words(key, slug_dirs);
        let class = |link: &Outlink| relevance(hyperlink_distance(&key_words, &words(&link.url, slug_dirs)));
        let classes: Vec<(bool, u32)> = links.iter().map(class).collect();
        let nodes: Vec<NodeId> = links.iter().map(|link| link.node).collect();
        let places = Places::new(tree);
        let mut is_menu = vec![false; links.len()];
        let lists = match choice {
            LinkOrderBy::Paper => vec![(0..links.len()).collect()],
            LinkOrderBy::Forms => by_form(key, links, &classes),
            LinkOrderBy::Turns => {
                let (mut lists, menu) = (by_form(key, links, &classes), menu(tree, links));
                lists.iter_mut().for_each(|list| list.retain(|at| !menu[*at]));
                lists.insert(1, (0..links.len()).filter(|at| menu[*at]).collect());
                lists
            }
            LinkOrderBy::Menu => {
                is_menu = menu(tree, links);
                vec![(0..links.len()).collect()]
            }
            LinkOrderBy::Random => Vec::new(),
        };
        let turn = |list: Vec<usize>| {
            let classes: Vec<_> = list.iter().map(|at| (!is_menu[*at], classes[*at])).collect();
            let distance = |a: usize, b: usize| places.distance(nodes[list[a]], nodes[list[b]]);
            let order = FarthestFirst::new(&classes, dom_ref, distance);
            (list, order)
        };
        let turns = lists.into_iter().map(turn).collect();
        let urls = links.iter().map(|link| link.url.clone()).collect();
        let own = matches!(choice, LinkOrderBy::Forms | LinkOrderBy::Turns).then(|| form(key));
        let pool = (choice == LinkOrderBy::Random).then(|| links.iter().map(|link| by_chance(&link.url)).collect());
        let paired = if own.is_some() { paired_forms(key, links) } else { FxHashSet::default() };
        let (more, siblings) = (VecDeque::new(), VecDeque::new());
        LinkOrder { urls, nodes, places, turns, next: 0, own, more, siblings, paired, n_siblings: 0, pool }
    }

    /// Adds a link found on a page of this form, if the order uses forms and its URL has the form of the key page. An
    /// article seldom links to articles, but the listing that it links to does. One link of the page's own form is
    /// added, too, if the key page links to no second page of that form. The random order takes every link. The caller
    /// offers each URL once.
    pub fn offer(&mut self, url: &PageUrl, form_of_page: &str) -> bool {
        /// Further links would never be tried.
        const MOST: usize = 100;
        if let Some(pool) = &mut self.pool {
            pool.extend([by_chance(url)]);
            return true;
        }
        let Some(own) = &self.own else { return false };
        let its = form(url);
        if its == *own && self.more.len() < MOST {
            self.more.push_back(url.clone());
            return true;
        }
        let is_sibling = its == form_of_page && self.n_siblings < MOST_SIBLINGS && self.paired.insert(its);
        if is_sibling {
            self.n_siblings += 1;
            self.siblings.push_back(url.clone());
        }
        is_sibling
    }
}

/// The forms of which the key page links to two pages, and its own.
fn paired_forms(key: &PageUrl, links: &[Outlink]) -> FxHashSet<String> {
    let mut once: FxHashSet<String> = FxHashSet::from_iter([form(key)]);
    let mut paired = once.clone();
    for link in links {
        let form = form(&link.url);
        if !once.insert(form.clone()) {
            paired.insert(form);
        }
    }
    paired
}

/// A URL with its hash, which gives an arbitrary order that is the same in every run.
fn by_chance(url: &PageUrl) -> (u64, PageUrl) {
    (mix(0, url.fingerprint()), url.clone())
}

/// Groups links by form: the form of the key page first, then the others in the order of their most relevant link.
fn by_form(key: &PageUrl, links: &[Outlink], classes: &[(bool, u32)]) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..links.len()).collect();
    order.sort_by_key(|at| classes[*at]);
    let mut lists: Vec<Vec<usize>> = vec![Vec::new()];
    let mut known: FxHashMap<String, usize> = FxHashMap::from_iter([(form(key), 0)]);
    for at in order {
        let list = *known.entry(form(&links[at].url)).or_insert_with(|| {
            lists.push(Vec::new());
            lists.len() - 1
        });
        lists[list].push(at);
    }
    // Algorithm 1 needs document order inside a class.
    lists.iter_mut().for_each(|list| list.sort_unstable());
    lists
}

impl Iterator for LinkOrder {
    type Item = PageUrl;

    fn next(&mut self) -> Option<PageUrl> {
        if let Some(pool) = &mut self.pool {
            return pool.pop_first().map(|(_, url)| url);
        }
        if let Some(url) = self.siblings.pop_front() {
            return Some(url);
        }
        let (nodes, places) = (&self.nodes, &self.places);
        for _ in 0..self.turns.len() {
            let at = self.next % self.turns.len();
            self.next = at + 1;
            let (list, order) = &mut self.turns[at];
            if let Some(chosen) = order.next(|a, b| places.distance(nodes[list[a]], nodes[list[b]])) {
                return Some(self.urls[list[chosen]].clone());
            }
            if let Some(url) = (at == 0).then(|| self.more.pop_front()).flatten() {
                return Some(url);
            }
        }
        None
    }
}

/// Parents and depths of the nodes, usable without the tree. They take linear space; a root path per link would not.
#[derive(Clone, Debug)]
struct Places {
    parent: Vec<u32>,
    depth: Vec<u16>,
}

impl Places {
    fn new(tree: &Tree) -> Places {
        Places { parent: tree.shape.parent.clone(), depth: tree.shape.depth.clone() }
    }

    /// DOM distance (thesis, definition 2.2.10): number of nodes on the two root paths after their common prefix. The
    /// definition does not cover a node and its ancestor; the same formula is used for them.
    fn distance(&self, a: NodeId, b: NodeId) -> u32 {
        let (mut a, mut b, mut steps) = (a.index(), b.index(), 0);
        while a != b {
            let (depth_a, depth_b) = (self.depth[a], self.depth[b]);
            if depth_a >= depth_b {
                a = self.parent[a] as usize;
                steps += 1;
            }
            if depth_b >= depth_a {
                b = self.parent[b] as usize;
                steps += 1;
            }
        }
        steps
    }
}

/// Gonzalez' farthest-point order inside classes (Algorithm 1 with the missing assignment of `links'`).
#[derive(Clone, Debug)]
struct FarthestFirst {
    /// Remaining items by class, each class in document order; the current class is the last one.
    classes: Vec<Vec<usize>>,
    /// Smallest distance of each item to the reference set so far; it never increases.
    nearest: Vec<u32>,
    dom_ref: DomRef,
}

impl FarthestFirst {
    fn new<C: Ord>(class_of: &[C], dom_ref: DomRef, distance: impl Fn(usize, usize) -> u32) -> FarthestFirst {
        let n = class_of.len();
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by_key(|i| &class_of[*i]);
        let mut classes: Vec<Vec<usize>> =
            order.chunk_by(|a, b| class_of[*a] == class_of[*b]).map(<[usize]>::to_vec).collect();
        classes.reverse();
        let nearest = match dom_ref {
            DomRef::Class | DomRef::Global => vec![u32::MAX; n],
            DomRef::All => {
                (0..n).map(|i| (0..n).filter(|j| *j != i).map(|j| distance(i, j)).min().unwrap_or(u32::MAX)).collect()
            }
        };
        FarthestFirst { classes, nearest, dom_ref }
    }

    fn next(&mut self, distance: impl Fn(usize, usize) -> u32) -> Option<usize> {
        while self.classes.last().is_some_and(Vec::is_empty) {
            self.classes.pop();
        }
        let class = self.classes.last_mut()?;
        let nearest = &mut self.nearest;
        // `max_by_key` keeps the last of equals; in reverse, that is the first in document order.
        let at = (0..class.len()).rev().max_by_key(|i| nearest[class[*i]])?;
        let chosen = class.remove(at);
        let touched: Vec<usize> = match self.dom_ref {
            DomRef::Class => class.clone(),
            DomRef::Global => self.classes.iter().flatten().copied().collect(),
            DomRef::All => Vec::new(),
        };
        for item in touched {
            nearest[item] = nearest[item].min(distance(item, chosen));
        }
        Some(chosen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::links::outlinks;
    use dehusk_html::ParseOptions;
    use dehusk_html::parse;
    use dehusk_html::{SameSite, Site};

    /// The distance table of example 2.2.15, A1 to A5.
    fn printed(a: usize, b: usize) -> u32 {
        const TABLE: [[u32; 5]; 5] =
            [[0, 5, 6, 5, 5], [5, 0, 3, 6, 6], [6, 3, 0, 7, 7], [5, 6, 7, 0, 6], [5, 6, 7, 6, 0]];
        TABLE[a][b]
    }

    #[test]
    fn the_three_reference_sets_of_example_2_2_15() {
        const NAMES: [&str; 5] = ["europe", "root", "uk", "sport", "also"];
        let class_of = [2, 3, 1, 3, 1];
        let cases = [
            (DomRef::Class, ["uk", "also", "europe", "root", "sport"]),
            (DomRef::Global, ["uk", "also", "europe", "sport", "root"]),
            (DomRef::All, ["also", "uk", "europe", "sport", "root"]),
        ];
        for (dom_ref, want) in cases {
            let mut order = FarthestFirst::new(&class_of, dom_ref, printed);
            let got: Vec<&str> = std::iter::from_fn(|| order.next(printed)).map(|i| NAMES[i]).collect();
            assert_eq!(got, want, "{dom_ref:?}");
        }
    }

    #[test]
    fn dom_distance_of_example_2_2_11() {
        let html =
            "<body><section><div><p><span id=a></span></p></div><article><div><img id=b></div></article></section>";
        let tree = parse(html, &ParseOptions::default());
        let node = |id| tree.nodes().find(|n| tree.attr(*n, "id") == Some(id)).unwrap();
        let places = Places::new(&tree);
        assert_eq!(places.distance(node("a"), node("b")), 6);
        assert_eq!(places.distance(node("b"), node("a")), 6);
        assert_eq!(places.distance(node("a"), node("a")), 0);
        let section = dehusk_html::ancestors(&tree, node("a")).nth(2).unwrap();
        assert_eq!(tree.name(section), "section");
        assert_eq!(places.distance(node("a"), section), 3, "an ancestor");
        // Example 2.2.9: the path to the first node, from the body.
        assert_eq!(dehusk_html::ancestors(&tree, node("a")).count(), 5);
    }

    #[test]
    fn forms_of_url_take_turns_the_own_one_first() {
        let html = "<a href=/>x</a><a href=/tag/a/>x</a><a href=/tag/b/>x</a><a href=/2020/01/p/>x</a>\
            <a href=/2021/11/q/>x</a><a href=/about.html>x</a>";
        let tree = parse(html, &ParseOptions::default());
        let key = PageUrl::parse("http://s.com/2019/12/key/").unwrap();
        let links = outlinks(&tree, &key, &Site::new(&key, SameSite::Host), 100);
        let order = |choice| {
            let order = LinkOrder::new(&tree, &key, &links, &LinkOptions { order: choice, ..LinkOptions::default() });
            order.map(|url| url.path().to_owned()).collect::<Vec<_>>()
        };
        let forms = order(LinkOrderBy::Forms);
        assert_eq!(forms, ["/2020/01/p/", "/", "/tag/a/", "/about.html", "/2021/11/q/", "/tag/b/"]);
        let mut all = order(LinkOrderBy::Paper);
        assert_eq!(all.len(), forms.len());
        all.sort();
        let mut sorted = forms;
        sorted.sort();
        assert_eq!(all, sorted, "every link once");
        // Links of the key page's form that other pages have are tried too.
        let mut order =
            LinkOrder::new(&tree, &key, &links, &LinkOptions { order: LinkOrderBy::Forms, ..LinkOptions::default() });
        let url = |path: &str| PageUrl::parse(&format!("http://s.com{path}")).unwrap();
        let on = form(&url("/about/"));
        assert!(order.offer(&url("/2018/02/r/"), &on) && !order.offer(&url("/tag/c/"), &on));
        let forms: Vec<String> = order.map(|url| url.path().to_owned()).collect();
        assert_eq!(forms, ["/2020/01/p/", "/", "/tag/a/", "/about.html", "/2021/11/q/", "/tag/b/", "/2018/02/r/"]);
        let mut paper = LinkOrder::paper(&tree, &key, &links, &LinkOptions::default());
        assert!(!paper.offer(&url("/2018/02/r/"), &on));
    }
}
