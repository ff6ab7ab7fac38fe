//! Properties of learning and labelling with a site model.

use proptest::prelude::*;

use super::*;
use crate::test_pages;
use dehusk_html::ParseOptions;
use dehusk_html::{NodeId, parse};

fn page(html: &str) -> Tree {
    parse(html, &ParseOptions::default())
}

fn article(words: &str) -> String {
    format!(
        "<header><a href=/>Home</a><a href=/about>About us</a></header><main class=text><h1>{words} title</h1>\
         <p>All that {words} is about, in a sentence.</p><p>{words} again, and more of it.</p></main>\
         <footer class=foot><p>Some rights reserved</p></footer>"
    )
}

fn learned(pages: &[String]) -> (Vec<Tree>, TrainingSet, Vec<Labels>) {
    let trees: Vec<Tree> = pages.iter().map(|html| page(html)).collect();
    let (set, labels) = TrainingSet::learn(&numbered(&trees), &SiteModelOptions::default()).expect("pages enough");
    (trees, set, labels)
}

fn numbered(trees: &[Tree]) -> Vec<(u64, &Tree)> {
    (0..).zip(trees).collect()
}

fn own_text(tree: &Tree, labels: &Labels) -> String {
    let own = tree.counted().map(NodeId::new).filter(|n| tree.is_text(*n) && !labels.is_template[n.index()]);
    own.map(|n| tree.text(n).to_owned()).collect::<Vec<_>>().join("|")
}

fn articles() -> Vec<String> {
    ["rye", "oats", "corn", "rice"].map(article).to_vec()
}

#[test]
fn what_the_pages_share_is_template_and_what_they_say_is_not() {
    let (trees, set, labels) = learned(&articles());
    let expected = "rye title|All that rye is about, in a sentence.|rye again, and more of it.";
    assert_eq!(own_text(&trees[0], &labels[0]), expected);
    let new = page(&article("barley"));
    let judged = set.label(&new);
    assert_eq!(own_text(&new, &judged), expected.replace("rye", "barley"));
    assert!(judged.confidence > 0.9, "{}", judged.confidence);
    let other = set.label(&page("<table><tr><td>another site</table>"));
    assert!(other.confidence < 0.1 && other.is_template.iter().filter(|t| **t).count() <= 1, "{other:?}");
    assert_eq!(set.label(&page("<frameset>")).confidence, 0.0);
}

#[test]
fn features_are_columns_of_the_nodes() {
    let trees: Vec<Tree> = articles().iter().map(|html| page(html)).collect();
    let (set, _) = TrainingSet::learn(&numbered(&trees), &SiteModelOptions::default()).expect("pages enough");
    for (html, n) in [(article("barley"), 16), (String::from("<p>x"), 3), (String::from("<frameset>"), 0)] {
        let new = page(&html);
        assert_eq!(new.counted().len(), n, "{html}");
        let (names, columns) = set.node_features(&new);
        assert!(columns.iter().all(|of_forest| of_forest.len() == names.len()));
        assert!(
            columns.iter().flatten().all(|column| column.len() == n && column.iter().all(|value| value.is_finite()))
        );
        // Only the expected content differs.
        let differ = (0..names.len()).filter(|at| columns[0][*at] != columns[1][*at]).map(|at| names[at]);
        let is_expected = |name: &str| name.contains("expected") || name.ends_with("_95") || name.ends_with("_50");
        assert!(differ.into_iter().all(is_expected));
    }
}

/// An item of a shop: a button beside what is said of it, which all items have.
fn item(number: usize) -> String {
    format!(
        "<div class=bar><a href=/>Shop</a> <a href=/b>Basket</a></div><div class=item><h1>Mill number {number}</h1>\
         <p>This one grinds {number} sacks of barley a day.</p><p class=price><span>{number} crowns</span></p>\
         <button>Put this into the basket</button></div><div class=terms>Free delivery</div>"
    )
}

#[test]
fn what_is_said_of_an_item_is_its_own_and_what_stands_around_it_is_not() {
    let pages: Vec<String> = (0..6).map(item).collect();
    let (trees, set, labels) = learned(&pages);
    let new = page(&item(77));
    for (tree, labels, number) in [(&trees[0], &labels[0], 0), (&new, &set.label(&new), 77)] {
        let own = format!("Mill number {number}|This one grinds {number} sacks of barley a day.|{number} crowns");
        // The button stands among the content. It may be on either side.
        assert_eq!(own_text(tree, labels).trim_end_matches("|Put this into the basket"), own);
    }
}

#[test]
fn a_page_of_another_night_is_no_evidence_for_itself() {
    let (_, set, _) = learned(&articles());
    let changed = page(&article("rye").replace("more of it", "a correction of tonight"));
    let own = own_text(&changed, &set.label(&changed));
    assert_eq!(own, "rye title|All that rye is about, in a sentence.|rye again, and a correction of tonight.");
}

#[test]
fn elements_with_equal_ids_are_the_same_element() {
    let page = |n: usize| {
        let items =
            ["Search", "Print", "Send", "Subscribe", "Archive", "Help"].map(|name| format!("<p>{name} this page</p>"));
        let tools = format!("<div id=tools>{}<p>{n} visitors</p></div>", items.concat());
        let text = format!("<div id=text><p>What page {n} says, {}</p></div>", "and more of it ".repeat(n));
        // On each page in another place, once below another parent.
        match n {
            1 => format!("{text}{tools}<p>Some rights reserved</p>"),
            2 => format!("<section><div><div>{tools}</div></div></section>{text}<p>Some rights reserved</p>"),
            _ => format!("{tools}{text}<p>Some rights reserved</p>"),
        }
    };
    let (trees, _, labels) = learned(&(1..6).map(page).collect::<Vec<_>>());
    for (n, (tree, labels)) in (1..).zip(trees.iter().zip(&labels)) {
        let tools = tree.nodes().find(|node| tree.attr(*node, "id") == Some("tools")).unwrap().index();
        assert_eq!(labels.support[tools], 4, "page {n}: the other pages have it");
        assert!(n == 2 || labels.is_template[tools], "page {n}");
        assert!(own_text(tree, labels).contains(&format!("What page {n} says")), "page {n}");
    }
}

#[test]
fn a_block_in_another_place_is_the_same_block() {
    let page = |n: usize| {
        let rights = "<footer><p>Some rights reserved</p><p>Written by many</p></footer>";
        let text = format!("<p>What page {n} says</p><p>{}</p>", "and more of it ".repeat(n));
        match n {
            2 => format!("<table><tr><td>{rights}</td></tr></table><main>{text}</main>"),
            _ => format!("<main>{text}</main>{rights}"),
        }
    };
    let (trees, _, labels) = learned(&(1..6).map(page).collect::<Vec<_>>());
    for (n, (tree, labels)) in (1..).zip(trees.iter().zip(&labels)) {
        let rights = tree.nodes().find(|node| tree.text(*node) == "Some rights reserved").unwrap().index();
        assert_eq!(labels.support[rights], 4, "page {n}: the other pages have it");
    }
}

/// A page that comes without labels.
fn unlabeled(tree: &Tree) -> Candidate<'_> {
    Candidate::labeled(tree, Labels::default())
}

/// A post of some hundred words, with a list of topics that all posts have.
fn post(words: &str) -> String {
    let sentence =
        |n: usize| format!("{words} is the grain of field number {n}, and {words} is sown there each year. ");
    let text: String = (0..9).map(|n| format!("<p>{}</p>", sentence(n))).collect();
    let topics: String = (0..12).map(|n| format!("<li><a href=/topic/{n}>Topic {n}</a></li>")).collect();
    format!("<article><h1>All of {words}</h1><ul class=topics>{topics}</ul>{text}</article>")
}

const MENU: &str = "<nav><a href=/>Home</a><a href=/about>About us</a></nav>";

#[test]
fn a_list_that_every_post_has_is_a_part_of_the_post() {
    let frame = |post: String| format!("{MENU}{post}<footer><p>Some rights reserved</p></footer>");
    let pages = ["rye", "oats", "corn", "rice", "wheat"].map(|words| frame(post(words)));
    let (trees, _, labels) = learned(&pages);
    for (tree, labels) in trees.iter().zip(&labels) {
        let own = own_text(tree, labels);
        assert!(own.contains("Topic 3") && !own.contains("rights reserved"), "{own}");
    }
}

#[test]
fn fewer_than_two_different_pages_are_no_training_set() {
    let options = SiteModelOptions::default();
    let (one, twin) = (page(&article("rye")), page(&article("rye")));
    assert!(TrainingSet::learn(&[], &options).is_none());
    assert!(TrainingSet::learn(&[(1, &one)], &options).is_none());
    assert!(TrainingSet::learn(&[(1, &one), (2, &twin)], &options).is_none());
}

#[test]
fn extra_pages_are_a_bounded_sample_that_no_order_changes() {
    let extra: Vec<Tree> = (0..60).map(|n| page(&article(&format!("grain {n}")))).collect();
    let extended = |turn: usize| {
        let (_, mut set, _) = learned(&articles());
        for at in 0..extra.len() {
            let at = (at + turn) % extra.len();
            let labeled = set.candidate(&extra[at]);
            set.add(100 + at as u64, labeled);
        }
        set
    };
    let (one, other) = (extended(0), extended(23));
    assert_eq!(one.pages.len(), 4 + one.options.extra_pages);
    let urls = |set: &TrainingSet| set.pages.iter().map(|page| page.url).collect::<Vec<_>>();
    assert_eq!(urls(&one), urls(&other));
    let new = page(&article("barley"));
    assert_eq!(one.label(&new).is_template, other.label(&new).is_template);
    // Tonight's version of a page takes the place of yesterday's; what is known is not added again.
    let mut later = one;
    let at = later.pages.iter().find(|page| page.is_extra).unwrap().url;
    assert!(!later.add(at, unlabeled(&extra[at as usize - 100])));
    assert!(later.add(at, unlabeled(&page(&article("grain of another night")))));
    assert_eq!(later.pages.len(), 4 + later.options.extra_pages);
}

#[test]
fn a_section_that_no_training_page_has_is_known_once_it_was_seen() {
    let section = |words: &str| {
        let menu = "<aside class=section><a href=/s/1>First step</a><a href=/s/2>Second step</a></aside>";
        page(&article(words).replace("<main", &format!("{menu}<main")))
    };
    let (_, mut set, _) = learned(&articles());
    let new = section("barley");
    assert!(own_text(&new, &set.label(&new)).contains("First step"));
    for (url, words) in (10..).zip(["malt", "hops", "wheat", "millet", "sorghum", "teff", "spelt"]) {
        set.add(url, unlabeled(&section(words)));
    }
    let own = own_text(&new, &set.label(&new));
    assert!(!own.contains("First step") && own.contains("All that barley"), "{own}");
}

#[test]
fn damaged_sets_are_refused() {
    let (_, set, _) = learned(&articles());
    let json = serde_json::to_string(&set.store()).unwrap();
    let stored: StoredTrainingSet = serde_json::from_str(&json).unwrap();
    assert!(stored.check().is_ok());
    let refusal = |from: &str, to: &str| {
        assert!(json.contains(from), "{from} in {json}");
        let stored: StoredTrainingSet = serde_json::from_str(&json.replacen(from, to, 1)).unwrap();
        assert!(stored.load(&SiteModelOptions::default()).pages.len() < 4);
        stored.check().unwrap_err().to_string()
    };
    assert!(refusal("\"children\":[3,", "\"children\":[2,").contains("training page 1: its"));
    assert!(refusal("\"children\":[3,", "\"children\":[4000000000,").contains("no tree"));
    assert!(refusal("\"labels\":[", "\"labels\":[9,").contains("labels"));
    assert!(refusal("\"leaves\":[", "\"leaves\":[9,").contains("leaf"));
    assert!(refusal("\"signatures\":[0,", "\"signatures\":[999,").contains("signature"));
    let of_no_kind = json.replacen("\"kind\":0", "\"kind\":18446744073709551615", 1);
    let stored: StoredTrainingSet = serde_json::from_str(&of_no_kind).unwrap();
    assert!(stored.check().unwrap_err().to_string().contains("kind"));
}

#[test]
fn long_lists_and_large_pages_are_kept_in_part() {
    let list = |name: &str| {
        let items: String = (0..2000).map(|n| format!("<li>{name} {n}</li>")).collect();
        article(name).replace("</main>", &format!("<ul>{items}</ul></main>"))
    };
    let (trees, set, labels) = learned(&["rye", "oats", "corn"].map(list));
    assert!(set.pages.iter().all(|page| page.len() < 1000), "{}", set.pages[0].len());
    let own = own_text(&trees[1], &labels[1]);
    assert!(own.contains("oats 1000") && own.contains("oats 1999") && !own.contains("reserved"), "{own:.300}");
    assert_eq!(labels[1].confidence, 1.0, "known again, though it is kept in part");
}

proptest! {
    #[test]
    fn neither_order_nor_storing_changes_a_label(
        pages in test_pages::pages(3, 0..24), turn in 0..4_usize,
    ) {
        let trees: Vec<Tree> = pages.iter().map(|html| page(html)).collect();
        let options = SiteModelOptions::default();
        let known = numbered(&trees[..3]);
        let Some((set, labels)) = TrainingSet::learn(&known, &options) else { return Ok(()) };
        let mut turned = known.clone();
        turned.rotate_left(turn % 3);
        let (other, _) = TrainingSet::learn(&turned, &options).unwrap();
        let json = serde_json::to_vec(&set.store()).unwrap();
        let stored: StoredTrainingSet = serde_json::from_slice(&json).unwrap();
        prop_assert!(stored.check().is_ok());
        let stored = stored.load(&options);
        prop_assert_eq!((set.number(), set.number()), (other.number(), stored.number()), "numbers");
        for (at, tree) in trees.iter().enumerate() {
            let label = set.label(tree);
            prop_assert_eq!(&label, &other.label(tree), "order");
            prop_assert_eq!(&label, &stored.label(tree), "stored");
            if let Some(first) = labels.get(at) {
                prop_assert_eq!(&label, first, "known page {}", at);
            }
            for node in tree.counted().skip(1) {
                prop_assert!(!label.is_template[node] || label.support[node] > 0, "nobody has node {}", node);
            }
        }
    }
}

/// A blog whose index, tag and archive pages repeat the newest post in full.
#[test]
fn a_post_that_most_training_pages_repeat_is_still_content() {
    let post = |words: &str| {
        let sentence = format!("{words} is a grass, which is grown as a grain, and it is used for flour and bread. ");
        format!(
            "<article class=post><h2><a href=/{words}>{words}</a></h2><p>{}<p>{}</article>",
            sentence.repeat(3),
            sentence.repeat(2)
        )
    };
    let frame = |title: &str, posts: &str| {
        format!(
            "<title>{title}</title><header><h1><a href=/>The grain blog</a></h1><ul class=menu><li><a href=/>Home</a><li>\
             <a href=/tags>Tags</a><li><a href=/about>About the grain blog</a></ul></header><main>{posts}</main>\
             <footer><p>Powered by a blog engine. All rights reserved, 2026.</p></footer>"
        )
    };
    let newest = post("Rye");
    let older = ["Oats", "Maize", "Barley", "Millet", "Rice", "Wheat"].map(post);
    let mut pages = vec![frame("Rye", &newest)];
    // Each repeats the post, beside another one.
    pages.extend(older.iter().map(|other| frame("Archive", &format!("{newest}{other}"))));
    pages.push(frame("Oats", &older[0]));
    let (trees, _, labels) = learned(&pages);
    let own = own_text(&trees[0], &labels[0]);
    assert!(own.contains("Rye is a grass") && !own.contains("Powered by"), "{own}");
}

/// A page whose content stands in two columns with a list between them, so that no element holds it and little else.
fn columns(words: &str) -> String {
    let prose = |n: usize| {
        let line = format!("{words} is grown in the north, as all know who have seen {words} there, in field {n}. ");
        format!("<p>{}<p>{}", line.repeat(3), line.repeat(2))
    };
    let links: String = (0..30).map(|n| format!("<li><a href=/{n}>Entry {n} of the menu</a>")).collect();
    format!(
        "<header><a href=/>Home</a></header><div class=left><h1>{words}</h1>{}</div><nav><ul>{links}</ul></nav>\
         <div class=right>{}</div><footer class=foot><p>Some rights reserved</p></footer>",
        prose(1),
        prose(2)
    )
}

#[test]
fn copies_of_a_page_of_columns_are_no_evidence_that_it_is_template() {
    let copy = |kind: &str| format!("{}<section class={kind}><p>All entries of the {kind}</section>", columns("rye"));
    let mut pages = ["rye", "oats", "corn"].map(columns).to_vec();
    pages.extend(["print", "archive"].map(copy));
    let (trees, _, labels) = learned(&pages);
    let own = own_text(&trees[0], &labels[0]);
    assert!(own.contains("in field 1") && own.contains("in field 2") && !own.contains("Entry 7"), "{own}");
}

#[test]
fn another_night_of_a_page_of_columns_is_no_evidence_for_it() {
    let listing: String = (0..40).map(|n| format!("<tr><td>{n}<td>An entry")).collect();
    let (_, set, _) = learned(&[columns("rye"), format!("<table>{listing}</table>")]);
    let changed = page(&columns("rye").replace("<h1>rye", "<h1>Rye"));
    let own = own_text(&changed, &set.label(&changed));
    assert!(own.contains("in field 1") && own.contains("in field 2"), "{own}");
}

#[test]
fn blocks_can_be_made_later() {
    let trees: Vec<Tree> = articles().iter().map(|html| page(html)).collect();
    let extra = page(&article("barley"));
    let stored = |blocks_at_once: bool| {
        let options = SiteModelOptions { blocks_at_once, ..SiteModelOptions::default() };
        let (mut set, _) = TrainingSet::learn(&numbered(&trees), &options).unwrap();
        let labeled = set.candidate(&extra);
        assert!(set.add(9, labeled));
        set.store()
    };
    let (at_once, mut later) = (stored(true), stored(false));
    assert!(at_once.without_blocks().is_empty() && later != at_once);
    let new = page(&article("millet"));
    let main = |stored: &StoredTrainingSet| {
        stored.load(&SiteModelOptions::default()).label_main(&JudgedPage::new(&new), Favor::Balanced)
    };
    assert_eq!(main(&later), None, "no training page has blocks");
    assert!(main(&at_once).is_some());
    let mut without = later.without_blocks();
    without.sort_unstable();
    assert_eq!(without, [0, 1, 2, 3, 9]);
    let with_urls = numbered(&trees).into_iter().chain([(9, &extra)]);
    with_urls.for_each(|(url, tree)| later.add_blocks(url, &PageBlocks::new(&JudgedPage::new(tree))));
    assert_eq!(later, at_once);
}
