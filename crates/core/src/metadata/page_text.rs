//! What the address and the text of a page say, where no element says it.

use super::date::{Date, find_date};
use super::elements::is_of_another;
use super::found::{Fact, FoundFacts, Source, fact};
use dehusk_html::PageUrl;
use dehusk_html::{NodeId, Tree};

/// Characters of an element above which it is no byline.
const MOST_CHARS: usize = 160;

/// What stands before a day of publication, as lower-case parts of words.
#[rustfmt::skip]
const OF_PUBLICATION: [&str; 24] = [
    "published", "posted on", "created on", "released on", "veröffentlicht", "erschienen", "erstellt am", "publié le",
    "paru le", "publicado", "publicada", "pubblicato", "gepubliceerd", "geplaatst", "опубликован", "opublikowan",
    "publicerad", "publisert", "udgivet", "julkaistu", "发布", "發布", "公開日", "投稿日",
];

/// What stands before the day of the last change.
#[rustfmt::skip]
const OF_CHANGE: [&str; 20] = [
    "updated", "modified", "last edited", "last change", "geändert", "änderung", "aktualisiert", "mis à jour",
    "mise à jour", "modifié", "actualizado", "atualizado", "aggiornat", "bijgewerkt", "gewijzigd", "обновлен",
    "zaktualizowan", "uppdaterad", "oppdatert", "更新",
];

/// Nodes behind the heading in which a line of facts is believed like an element that is named after a date. From 30 to
/// 400 give the same on both halves of the 520 pages.
const CLOSE: usize = 60;

pub(super) fn read(tree: &Tree, url: Option<&PageUrl>, found: &mut FoundFacts) {
    if let Some(date) = url.and_then(|url| date_of_path(url.path())) {
        found.published.push(fact(&date.to_string(), Source::Url));
    }
    let heading = tree.all("h1").next().map_or(tree.counted().start, NodeId::index);
    let mut near: Vec<(u8, usize, String)> = Vec::new();
    for node in tree.counted().map(NodeId::new) {
        let words = class_words(tree, node);
        if words.is_empty() && !tree.is_text(node) {
            continue;
        }
        let named = |names: &[&str]| words.iter().any(|word| names.contains(&word.as_str()));
        if !tree.is_text(node) {
            let is_date = named(&[
                "date",
                "time",
                "published",
                "publish",
                "posted",
                "pubdate",
                "datetime",
                "timestamp",
                "datum",
                "fecha",
            ]);
            let is_line = named(&["byline", "meta", "submitted", "info", "credit", "infos", "dateline"]);
            let is_author = named(&["author", "byline", "autor", "auteur", "writer"]);
            if (is_date || is_line || is_author)
                && let Some(text) = short_text(tree, node).filter(|_| !is_of_another(tree, node))
            {
                if find_date(&text).is_some() {
                    near.push((if is_date { 0 } else { 1 }, distance(node, heading), text));
                } else if is_author {
                    found.authors.push(Fact { value: text, source: Source::Text });
                }
            }
            continue;
        }
        let text = tree.text(node);
        // A longer text may begin with the date.
        let end = text.char_indices().nth(40).filter(|_| text.len() > MOST_CHARS).map_or(text.len(), |(at, _)| at);
        let text = &text[..end];
        if text.contains(|c: char| c.is_ascii_digit()) && find_date(text).is_some() {
            let lower = text.to_lowercase();
            let says = |labels: &[&str]| labels.iter().any(|label| lower.contains(label));
            let rank = match (is_of_another(tree, node), says(&OF_PUBLICATION), says(&OF_CHANGE)) {
                (false, true, false) => 0,
                (false, _, false) => 2,
                _ => 3,
            };
            near.push((rank, distance(node, heading), text.to_owned()));
        }
    }
    // Close to the heading a line of facts says as much as the name of a date.
    near.sort_by_key(|(rank, distance, _)| (if *rank == 1 && *distance < CLOSE { 0 } else { *rank }, *distance));
    found.published.extend(near.into_iter().map(|(.., text)| fact(&text, Source::Text)).take(1));
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
