//! What the address and the text of a page say, where no element says it.

use super::date::{Date, find_date};
use super::elements::is_of_another;
use super::found::{DateReader, FoundFacts, Source, fact};
use super::labels::{DateLabel, labeled_dates};
use dehusk_html::{NodeId, PageUrl, Tree, ancestors};

/// Characters of an element above which it is no byline.
const MOST_CHARS: usize = 160;

/// Words of classes that name a day.
const DATES: [&str; 10] =
    ["date", "time", "published", "publish", "posted", "pubdate", "datetime", "timestamp", "datum", "fecha"];

/// Words of classes that name a line of facts.
const LINES: [&str; 7] = ["byline", "meta", "submitted", "info", "credit", "infos", "dateline"];

/// Words of classes that name an author.
const AUTHORS: [&str; 5] = ["author", "byline", "autor", "auteur", "writer"];

/// Parts of addresses below which authors have their pages.
#[rustfmt::skip]
const AUTHOR_PATHS: [&str; 14] = [
    "author", "authors", "autor", "autoren", "autore", "autores", "auteur", "auteurs", "profile", "contributor",
    "contributors", "staff", "journalist", "yazar",
];

/// Nodes behind the heading in which a line of facts is believed like an element that is named after a date. From 30 to
/// 400 give the same on both halves of the 520 pages.
const CLOSE: usize = 60;

/// Nodes behind the first byline in which others of its kind belong to it.
const CLOSE_BYLINES: usize = 24;

/// A day in the text, less trusted the larger its rank, and the farther it is from the heading.
struct NearDate {
    rank: u8,
    distance: usize,
    date: Date,
    label: Option<DateLabel>,
}

/// A text that is named after its author.
struct Byline {
    distance: usize,
    node: usize,
    class: String,
    text: String,
}

pub(super) fn read(tree: &Tree, url: Option<&PageUrl>, dates: &DateReader, found: &mut FoundFacts) {
    if let Some(date) = url.and_then(|url| date_of_path(url.path())) {
        found.published.push(fact(&date.to_string(), Source::Url));
    }
    let heading = tree.all("h1").next().map_or(tree.counted().start, NodeId::index);
    let mut near: Vec<NearDate> = Vec::new();
    let mut bylines: Vec<Byline> = Vec::new();
    let mut add = |rank: &dyn Fn() -> u8, node: NodeId, text: &str| {
        let found = labeled_dates(text, dates);
        if found.is_empty() {
            return;
        }
        let (rank, distance) = (rank(), distance(node, heading));
        near.extend(found.into_iter().map(|(date, label)| NearDate { rank, distance, date, label }));
    };
    for node in tree.counted().map(NodeId::new) {
        if tree.is_text(node) {
            let text = tree.text(node);
            // A longer text may begin with the date.
            let end = text.char_indices().nth(40).filter(|_| text.len() > MOST_CHARS).map_or(text.len(), |(at, _)| at);
            if text[..end].contains(char::is_numeric) && !is_cited(tree, node) {
                add(&|| if is_of_another(tree, node) { 3 } else { 2 }, node, &text[..end]);
            }
            continue;
        }
        let words = class_words(tree, node);
        let named = |names: &[&str]| words.iter().any(|word| names.contains(&word.as_str()));
        let is_date = named(&DATES) || words.iter().any(|word| ends_with_date(word));
        let is_author = named(&AUTHORS) || leads_to_author(tree, node);
        if (is_date || is_author || named(&LINES))
            && let Some(text) = short_text(tree, node).filter(|_| !is_of_another(tree, node))
        {
            add(&|| u8::from(!is_date), node, &text);
            if is_author && !is_in_figure(tree, node) {
                let class = tree.attr(node, "class").unwrap_or_default().to_owned();
                let text = linked_names(tree, node).unwrap_or(text);
                bylines.push(Byline { distance: distance(node, heading), node: node.index(), class, text });
            }
        }
    }
    found.authors.extend(closest_bylines(bylines).into_iter().map(|text| fact(&text, Source::Text)));
    // Close to the heading a line of facts says as much as the name of a date. So does a word for publication.
    let rank = |near: &NearDate| {
        let is_first = near.rank == 1 && near.distance < CLOSE;
        let is_named = near.rank == 2 && near.label == Some(DateLabel::Published);
        if is_first || is_named { 0 } else { near.rank }
    };
    near.sort_by_key(|near| (rank(near), near.distance));
    let first = |changed: bool| near.iter().find(|near| (near.label == Some(DateLabel::Changed)) == changed);
    let text = |near: &NearDate| fact(&near.date.to_string(), Source::Text);
    // A day that the text only mentions is not trusted where the page says when it was changed.
    let published = first(false).filter(|near| rank(near) < 2 || first(true).is_none_or(|changed| rank(changed) > 2));
    found.published.extend(published.map(text));
    found.modified.extend(first(true).map(text));
}

/// The byline that is the closest to the heading, and those of its kind that follow at once.
fn closest_bylines(bylines: Vec<Byline>) -> Vec<String> {
    let Some(first) = bylines.iter().min_by_key(|byline| byline.distance) else { return Vec::new() };
    let (node, class) = (first.node, first.class.clone());
    let belongs = |byline: &Byline| byline.class == class && byline.node.abs_diff(node) <= CLOSE_BYLINES;
    bylines.into_iter().filter(belongs).map(|byline| byline.text).filter(|text| has_capital(text)).collect()
}

/// Whether a text can be a name: it has a capital, or letters of a script that has none.
fn has_capital(text: &str) -> bool {
    text.contains(|c: char| c.is_alphabetic() && !c.is_lowercase())
}

/// Whether a word of a class is a compound for a day of publication: `postdate`, `newsdatum`.
fn ends_with_date(word: &str) -> bool {
    ["date", "datum"].iter().any(|end| word.ends_with(end)) && !word.ends_with("update")
}

/// Whether a text is code, or the words of somebody else: its days are not the page's.
fn is_cited(tree: &Tree, text: NodeId) -> bool {
    ancestors(tree, text).any(|above| matches!(tree.name(above), "pre" | "code" | "samp" | "kbd" | "blockquote" | "q"))
}

/// Whether an element is of a picture: its author is the photographer.
fn is_in_figure(tree: &Tree, node: NodeId) -> bool {
    ancestors(tree, node).any(|above| {
        matches!(tree.name(above), "figure" | "figcaption")
            || class_words(tree, above).iter().any(|word| matches!(word.as_str(), "caption" | "photo" | "gallery"))
    })
}

/// The names of authors that an element links to. What stands beside them is their office, or a button to follow them.
fn linked_names(tree: &Tree, element: NodeId) -> Option<String> {
    let inside = tree.shape.subtree(element).skip(1).map(NodeId::new);
    let texts = inside.filter(|node| leads_to_author(tree, *node)).filter_map(|link| short_text(tree, link));
    let mut names: Vec<String> = texts.filter(|text| text.contains(' ')).collect();
    names.dedup();
    (!names.is_empty()).then(|| names.join("; "))
}

/// Whether a link leads to the page of an author, by its address.
fn leads_to_author(tree: &Tree, node: NodeId) -> bool {
    let is_page = |href: &str| {
        let path = href.split(['?', '#']).next().unwrap_or_default();
        let mut parts = path.trim_end_matches('/').split('/').rev();
        // The name itself comes last.
        parts.next().is_some_and(|name| !name.is_empty()) && parts.take(3).any(|part| AUTHOR_PATHS.contains(&part))
    };
    tree.name(node) == "a" && tree.attr(node, "href").is_some_and(is_page)
}

/// Nodes between a node and the heading; what stands before the heading is farther.
fn distance(node: NodeId, heading: usize) -> usize {
    if node.index() >= heading { node.index() - heading } else { 2 * (heading - node.index()) }
}

/// The words of class and id: `entry-Date_2` is `entry`, `date`.
fn class_words(tree: &Tree, node: NodeId) -> Vec<String> {
    let named = [tree.attr(node, "class"), tree.attr(node, "id")];
    let words = named.into_iter().flatten().flat_map(|value| value.split(|c: char| !c.is_ascii_alphabetic()));
    words.filter(|word| word.len() > 2).map(str::to_ascii_lowercase).take(32).collect()
}

/// The text of an element that is short.
fn short_text(tree: &Tree, node: NodeId) -> Option<String> {
    let inside = tree.shape.subtree(node);
    if inside.len() > 40 {
        return None;
    }
    let text = inside.map(|at| tree.text(NodeId::new(at))).collect::<Vec<_>>().join(" ");
    let text = dehusk_html::normalized(&text);
    (!text.is_empty() && text.len() <= MOST_CHARS).then_some(text)
}

/// A day in the address of a page: `/2024/01/31/`, `/2024-01-31-`, `/20240131`, `/31-01-2024`.
fn date_of_path(path: &str) -> Option<Date> {
    let starts = path.match_indices("/").chain(path.match_indices("-")).chain(path.match_indices("_"));
    let mut places: Vec<usize> = starts.map(|(at, _)| at + 1).collect();
    places.sort_unstable();
    places.into_iter().filter_map(|at| path.get(at..)).find_map(|rest| {
        let digits = rest.get(..rest.len().min(10))?;
        let is_numbers = digits.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'/' | b'-' | b'_' | b'.'));
        let year_is_first = digits.starts_with("19") || digits.starts_with("20");
        let is_plain = year_is_first || (is_numbers && digits.len() == 10);
        is_plain.then(|| find_date(digits))?
    })
}
