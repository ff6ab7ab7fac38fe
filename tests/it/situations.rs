//! Sites of the kinds on which templates used to collapse: each a few pages, whose template words begin with `t` and
//! a digit, and all other words are the page's own. Floors hold for words and for nodes.

use dehusk_core::clean::{CleanOptions, TemplateMatcher, label_page};
use dehusk_html::{NodeId, ParseOptions, parse};
use dehusk_html::{PageUrl, Site};
use dehusk_template::learn_options::LearnOptions;
use dehusk_template::learner::{FoundPage, Learner};
use rustc_hash::FxHashMap;

/// Path and HTML of each page; the first is the key page.
type Pages = Vec<(String, String)>;

const WORDS: &str = "barley grows slowly in cold valleys where farmers keep old mills running near rivers and the grain is \
    stored through winter while children carry bread along narrow paths between stone houses under grey skies";

/// Sentences that no other number has.
fn prose(number: usize, n_sentences: usize) -> String {
    let words: Vec<&str> = WORDS.split_whitespace().collect();
    let sentence = |at: usize| {
        let word = |k: usize| words[(at * 7 + k * (number % 5 + 3) + number) % words.len()];
        let list: Vec<String> =
            (0..9).map(|k| if k == 4 { format!("{}{number}x{at},", word(k)) } else { word(k).to_owned() }).collect();
        format!("The {}.", list.join(" "))
    };
    (0..n_sentences).map(sentence).collect::<Vec<_>>().join(" ")
}

fn links(paths: &[String], word: &str) -> String {
    paths.iter().enumerate().map(|(at, path)| format!("<li><a href='{path}'>{word}{at}</a></li>")).collect()
}

fn layout(menu: &str, main: &str) -> String {
    format!(
        "<html><head><title>x</title></head><body><header id=top><h2>t1brand</h2><ul class=menu>{menu}</ul></header>\
         <div id=main>{main}</div><aside class=side><h3>t1latest</h3><p>t1about t2about</p></aside>\
         <footer><p>t1all t2rights t3reserved</p></footer></body></html>"
    )
}

fn post(number: usize) -> String {
    format!(
        "<article class=post><h1>Barley {number}</h1><p>{}</p><p>{}</p></article>",
        prose(number, 6),
        prose(number + 50, 6)
    )
}

/// What is left of a page: shares of its own words that are kept, of its template words that are not, and F1 of the text
/// nodes that are template.
struct Outcome {
    kept: f64,
    removed: f64,
    nodes: f64,
}

fn outcome(pages: &Pages, path: &str) -> Outcome {
    let url = |path: &str| PageUrl::parse(&format!("http://situation.demo.test{path}")).unwrap();
    let trees: FxHashMap<PageUrl, &String> = pages.iter().map(|(path, html)| (url(path), html)).collect();
    let page = |url: &PageUrl| {
        let html = trees.get(url)?;
        Some(FoundPage::new(url.clone(), parse(html, &ParseOptions::default())))
    };
    let key = page(&url(&pages[0].0)).unwrap();
    let options = LearnOptions::default();
    let own = Site::new(&key.url, options.links.same_site);
    let template = Learner::new(key, own, None, &options).run(&page).template.unwrap();
    let matcher = TemplateMatcher::from_template(&template);
    let tree = page(&url(path)).unwrap().tree;
    let labels = label_page(&tree, None, Some(&matcher), &CleanOptions::default()).labels;
    let is_template = |word: &&str| word.starts_with('t') && word[1..].starts_with(|c: char| c.is_ascii_digit());
    let count = |text: &str| {
        let all = text.split_whitespace().count();
        let template = text.split_whitespace().filter(is_template).count();
        (template as f64, (all - template) as f64)
    };
    let (all_template, all_own) = count(&dehusk_content::Labels::none(&tree).text_nodes(&tree));
    let (left, kept) = count(&labels.text_nodes(&tree));
    // A text node whose words are all template is template.
    let texts: Vec<(bool, bool)> = tree
        .counted()
        .map(NodeId::new)
        .filter(|node| tree.is_text(*node) && !tree.text(*node).trim().is_empty())
        .map(|node| (count(tree.text(node)).1 == 0.0, labels.is_template(node)))
        .collect();
    let n = |is: fn(&(bool, bool)) -> bool| texts.iter().filter(|text| is(text)).count() as f64;
    let nodes = 2.0 * n(|(gold, found)| *gold && *found) / (n(|(gold, _)| *gold) + n(|(_, found)| *found)).max(1.0);
    Outcome { kept: kept / all_own, removed: 1.0 - left / all_template.max(1.0), nodes }
}

/// All own words of these pages are kept, and the template goes.
fn check(situation: &str, pages: &Pages, paths: &[&str], least_removed: f64) {
    for path in paths {
        let Outcome { kept, removed, nodes } = outcome(pages, path);
        println!("{situation}, {path}: kept {kept:.3}, removed {removed:.3}, nodes {nodes:.3}");
        // The one byline that all posts have may go.
        assert!(nodes >= 0.9, "{situation}, {path}: F1 of the template's text nodes is {nodes:.2}");
        assert!(kept >= 0.97, "{situation}, {path}: {kept:.2} of the own words are kept");
        assert!(removed >= least_removed, "{situation}, {path}: {removed:.2} of the template words are gone");
    }
}

fn paths(n: usize) -> Vec<String> {
    (0..n).map(|at| format!("/p{at}.html")).collect()
}

#[test]
fn index_archive_tag_and_print_pages_repeat_the_content() {
    let posts = paths(4);
    let lists: Vec<String> = ["/", "/archive.html", "/tag-grain.html", "/page-2.html"].map(str::to_owned).into();
    let menu = links(&[lists.clone(), posts.clone()].concat(), "t1page");
    let all: String = (0..4).map(post).collect();
    let mut pages: Pages = vec![(posts[0].clone(), layout(&menu, &post(0)))];
    pages.extend(lists.iter().map(|path| (path.clone(), layout(&menu, &all))));
    pages.extend((1..4).map(|at| (posts[at].clone(), layout(&menu, &post(at)))));
    pages.push(("/p0-print.html".to_owned(), format!("<html><body>{}</body></html>", post(0))));
    check("repeated content", &pages, &["/p0.html", "/p2.html"], 0.95);
}

#[test]
fn one_page_has_several_names() {
    let posts = paths(5);
    let names: Vec<String> = (1..5).map(|at| format!("/p0.html?replytocom={at}")).collect();
    let menu = links(&[posts.clone(), names.clone()].concat(), "t1page");
    let mut pages: Pages = (0..5).map(|at| (posts[at].clone(), layout(&menu, &post(at)))).collect();
    pages.extend(names.iter().map(|path| (path.clone(), layout(&menu, &format!("{}<p>Reply {path}</p>", post(0))))));
    check("several names", &pages, &["/p0.html", "/p3.html"], 0.95);
}

#[test]
fn the_menu_is_translated_on_other_pages() {
    let (posts, others) = (paths(4), (0..4).map(|at| format!("/fr/p{at}.html")).collect::<Vec<_>>());
    let all = [posts.clone(), others.clone()].concat();
    let (menu, french) = (links(&all, "t1page"), links(&all, "t2feuille"));
    let words = [
        ("t1all t2rights t3reserved", "t4tous t5droits t6reserves"),
        ("t1latest", "t4nouveau"),
        ("t1about t2about", "t4sur t5sur"),
    ];
    let translated = |main: &str| words.iter().fold(layout(&french, main), |page, (from, to)| page.replace(from, to));
    let mut pages: Pages = (0..4).map(|at| (posts[at].clone(), layout(&menu, &post(at)))).collect();
    pages.extend((0..4).map(|at| (others[at].clone(), translated(&post(at + 20)))));
    check("two languages", &pages, &["/p0.html", "/p1.html", "/fr/p2.html"], 0.9);
}

#[test]
fn a_layout_of_tables_has_no_class_and_no_id() {
    let posts = paths(6);
    let menu: String = posts
        .iter()
        .enumerate()
        .map(|(at, path)| format!("<tr><td><a href='{path}'>t1page{at}</a></td></tr>"))
        .collect();
    let page = |at: usize| {
        let rows: String =
            (0..5).map(|row| format!("<tr><td>Barley {at}</td><td>{}</td></tr>", prose(at * 10 + row, 2))).collect();
        format!(
            "<html><body><table><tr><td><table>{menu}</table></td><td><table>{rows}</table></td></tr>\
             <tr><td colspan=2>t1all t2rights</td></tr></table></body></html>"
        )
    };
    let pages: Pages = (0..6).map(|at| (posts[at].clone(), page(at))).collect();
    // "Barley" stands in the same cell of every page: it may go, its row may not.
    for path in ["/p0.html", "/p4.html"] {
        let Outcome { kept, removed, nodes } = outcome(&pages, path);
        println!("table layout, {path}: kept {kept:.3}, removed {removed:.3}, nodes {nodes:.3}");
        assert!(kept >= 0.94 && removed >= 0.95, "table layout, {path}: {kept:.2} kept, {removed:.2} removed");
        assert!(nodes >= 0.95, "table layout, {path}: F1 of the template's text nodes is {nodes:.2}");
    }
}

#[test]
fn a_template_of_few_nodes_is_found_and_takes_nothing_with_it() {
    let posts = paths(6);
    let menu: String = posts.iter().enumerate().map(|(at, path)| format!(" <a href='{path}'>t1page{at}</a>")).collect();
    let page = |at: usize| {
        let body: String = (0..60).map(|k| format!("<p>{}</p>", prose(at * 100 + k, 3))).collect();
        format!("<html><body><p>{menu}</p><h1>Barley {at}</h1>{body}</body></html>")
    };
    let pages: Pages = (0..6).map(|at| (posts[at].clone(), page(at))).collect();
    check("small template", &pages, &["/p0.html", "/p5.html"], 0.95);
}

#[test]
fn most_of_the_page_is_template() {
    let posts = paths(6);
    let menu: String =
        (0..150).map(|at| format!("<li><a href='/p{}.html'>t1shelf{at} t2shelf</a></li>", at % 6)).collect();
    let page = |at: usize| layout(&menu, &format!("<h1>Barley{at}</h1><p>{}</p>", prose(at, 3)));
    let pages: Pages = (0..6).map(|at| (posts[at].clone(), page(at))).collect();
    check("large template", &pages, &["/p0.html", "/p5.html"], 0.95);
}

#[test]
fn a_site_has_two_layouts() {
    let (posts, goods) = (paths(5), (0..5).map(|at| format!("/shop/g{at}.html")).collect::<Vec<_>>());
    let all = [posts.clone(), goods.clone()].concat();
    let (menu, shelf) = (links(&all, "t1page"), links(&all, "t2shelf"));
    let shop = |at: usize| {
        format!(
            "<html><body class=shop><div class=bar><b>t1cart</b><ol>{shelf}</ol></div><table class=good><tr><td>Mill{at}</td>\
             <td>{}</td></tr></table><div class=legal><i>t4terms t5apply</i></div></body></html>",
            prose(at + 30, 5)
        )
    };
    let mut pages: Pages = (0..5).map(|at| (posts[at].clone(), layout(&menu, &post(at)))).collect();
    pages.extend((0..5).map(|at| (goods[at].clone(), shop(at))));
    check("two layouts", &pages, &["/p0.html", "/p3.html", "/shop/g2.html"], 0.9);
}

#[test]
fn the_frame_of_the_content_is_alike_on_pages_of_one_kind() {
    let posts = paths(6);
    let menu = links(&posts, "t1page");
    let page = |at: usize| {
        let byline = "<div class=byline><img src=a.png alt=Ann><span>by</span> <a href=/ann>Ann</a></div>";
        layout(
            &menu,
            &format!("<article class=post><h1>Barley {at}</h1>{byline}<section>{}</section></article>", post(at)),
        )
    };
    let pages: Pages = (0..6).map(|at| (posts[at].clone(), page(at))).collect();
    check("frame of the content", &pages, &["/p0.html", "/p5.html"], 0.95);
}
