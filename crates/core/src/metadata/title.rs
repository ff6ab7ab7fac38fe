//! The title of a page, without the name of its site.

use super::found::{Fact, FoundFacts, Source, fact, first, plain};
use dehusk_html::{NodeId, Tree};

/// What stands between a title and the name of a site.
const SEPARATORS: [&str; 11] = [" | ", " - ", " – ", " — ", " · ", " • ", " » ", " « ", " :: ", " / ", " ~ "];

/// The title: of JSON-LD, microdata, OpenGraph or Dublin Core, else of the `title` element, else the heading.
pub(super) fn choose(tree: &Tree, found: &FoundFacts, site_name: Option<&Fact>) -> Option<Fact> {
    let element = title_element(tree);
    let headings: Vec<String> = tree.all("h1").map(|h1| plain(&inner_text(tree, h1))).take(4).collect();
    let named = first(&found.titles, 500);
    let stated = named.or_else(|| {
        let title = element.as_deref().filter(|title| !title.is_empty());
        title.map(|title| fact(title, Source::Meta))
    });
    let Some(stated) = stated else {
        return headings.into_iter().find(|text| !text.is_empty()).map(|text| fact(&text, Source::Text));
    };
    let value = without_site(&stated.value, site_name.map(|name| name.value.as_str()), &headings);
    Some(Fact { value, ..stated })
}

/// The text of the `title` element.
pub(crate) fn title_element(tree: &Tree) -> Option<String> {
    let head = tree.all("title").find(|title| !tree.counted().contains(&title.index()));
    head.map(|title| plain(&inner_text(tree, title)))
}

/// The first and the last part of a title, each with the rest.
pub(super) fn split_title(title: &str) -> Vec<(String, String)> {
    let mut parts = Vec::new();
    for separator in SEPARATORS {
        if let Some((before, after)) = title.rsplit_once(separator) {
            parts.push((after.trim().to_owned(), before.trim().to_owned()));
        }
        if let Some((before, after)) = title.split_once(separator) {
            parts.push((before.trim().to_owned(), after.trim().to_owned()));
        }
    }
    parts
}

fn inner_text(tree: &Tree, node: NodeId) -> String {
    tree.shape.subtree(node).map(|at| tree.text(NodeId::new(at))).collect::<Vec<_>>().join("")
}

/// A title without the part that names the site, or that is not in the heading of the page.
fn without_site(title: &str, site: Option<&str>, headings: &[String]) -> String {
    let is_same = |one: &str, other: &str| letters(one) == letters(other) && !letters(one).is_empty();
    for separator in SEPARATORS {
        if let Some((before, after)) = title.rsplit_once(separator)
            && (site.is_some_and(|site| is_same(after, site)) || headings.iter().any(|h1| is_same(before, h1)))
        {
            return without_site(before.trim(), site, headings);
        }
        if let Some((before, after)) = title.split_once(separator)
            && (site.is_some_and(|site| is_same(before, site)) || headings.iter().any(|h1| is_same(after, h1)))
        {
            return without_site(after.trim(), site, headings);
        }
    }
    title.to_owned()
}

fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
