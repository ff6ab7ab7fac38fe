//! The title of a page, without the name of its site.

use super::found::{Fact, FoundFacts, Source, fact, in_order, plain, shown};
use super::names::letters;
use dehusk_html::{NodeId, Tree};

/// What stands between a title and the name of a site.
const SEPARATORS: [&str; 11] = [" | ", " - ", " – ", " — ", " · ", " • ", " » ", " « ", " :: ", " / ", " ~ "];

/// Most characters of a title.
const MOST_CHARS: usize = 500;

/// Letters from which on the beginning of a title stands for the whole, and the least share of it.
const FEWEST_LETTERS_OF_BEGINNING: usize = 20;
const LEAST_SHARE_OF_BEGINNING: f64 = 0.6;

/// What readers see as the title: the `title` element, and the headings of the first level.
#[derive(Debug)]
pub(super) struct ShownTitles {
    element: Option<String>,
    headings: Vec<String>,
    /// Headings of the second and third level, where there is none of the first. One that is a part of a title is it.
    lower_headings: Vec<String>,
}

/// Headings of a level that are looked at.
const MOST_HEADINGS: usize = 4;

/// The places that can name a title, each of which has one vote.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Stated(Source),
    Element,
    Heading,
}

struct Candidate {
    fact: Fact,
    letters: String,
    place: Place,
}

impl ShownTitles {
    pub(super) fn new(tree: &Tree) -> ShownTitles {
        let texts = |name: &str| -> Vec<String> {
            let of_page = tree.all(name).filter(|heading| !leads_home(tree, *heading));
            let texts = of_page.map(|heading| shown(&inner_text(tree, heading))).filter(|text| is_title(text));
            texts.take(MOST_HEADINGS).collect()
        };
        let headings = texts("h1");
        let lower_headings = if headings.is_empty() { [texts("h2"), texts("h3")].concat() } else { Vec::new() };
        ShownTitles { element: title_element(tree).filter(|title| !title.is_empty()), headings, lower_headings }
    }

    /// Whether a name is a heading of the page, or a part of its title.
    pub(super) fn agree_with(&self, name: &str) -> bool {
        let name = letters(&plain(name));
        let element = self.element.iter().flat_map(|title| {
            std::iter::once(title.clone()).chain(split_title(title).into_iter().flat_map(|(part, rest)| [part, rest]))
        });
        !name.is_empty() && self.headings.iter().cloned().chain(element).any(|shown| letters(&shown) == name)
    }

    /// Whether a name is the first or the last part of the title.
    pub(super) fn have_part(&self, name: &str) -> bool {
        let parts = self.element.iter().flat_map(|title| split_title(title));
        let name = letters(name);
        !name.is_empty() && parts.into_iter().any(|(part, _)| letters(&part) == name)
    }

    /// The title on which most places agree: structured data, `meta` elements, the `title` element, the heading.
    ///
    /// Where several titles have as many votes, the one of the heading is taken, then that of the most trusted source.
    /// A name of the site is the title only where there is no other.
    pub(super) fn choose(&self, found: &FoundFacts, site_name: Option<&Fact>) -> Option<Fact> {
        let site = site_name.map(|name| name.value.as_str());
        let names = found.site_names.iter().chain(&found.organizations).map(|name| letters(&plain(&name.value)));
        // A name that is the whole title is no name of the site, or the page is its first.
        let whole = self.element.as_deref().map(letters);
        let own_names: Vec<String> = names.filter(|name| Some(name) != whole.as_ref()).collect();
        let stated = in_order(&found.titles).into_iter().map(|stated| {
            // Meta elements copy each other.
            let source = if stated.source == Source::Meta { Source::OpenGraph } else { stated.source };
            (plain(&stated.value), stated.source, Place::Stated(source))
        });
        let element = self.element.iter().map(|title| (title.clone(), Source::Meta, Place::Element));
        let headings = self.headings.iter().map(|heading| (heading.clone(), Source::Text, Place::Heading));
        let all = stated.chain(element).chain(headings).filter(|(title, ..)| is_title(title));
        let (own, candidates): (Vec<Candidate>, Vec<Candidate>) = all
            .map(|(title, source, place)| {
                let value = self.without_site(&title, site);
                Candidate { letters: letters(&value), fact: fact(&value, source), place }
            })
            .partition(|candidate| own_names.contains(&candidate.letters));
        let candidates = if candidates.is_empty() { own } else { candidates };
        let most_trusted = candidates.iter().rev();
        most_trusted.max_by_key(|candidate| candidate.votes(&candidates)).map(|candidate| candidate.fact.clone())
    }

    /// A title without the part that names the site, or that is not in a heading of the page.
    fn without_site(&self, title: &str, site: Option<&str>) -> String {
        let is_same = |one: &str, other: &str| letters(one) == letters(other) && !letters(one).is_empty();
        let is_site = |part: &str| site.is_some_and(|site| is_same(part, site));
        let is_in =
            |headings: &[String], part: &str| headings.iter().any(|heading| is_same(part, heading)) && !is_site(part);
        // A logo can be the heading.
        for headings in [&self.headings, &self.lower_headings] {
            for (before, after) in SEPARATORS.iter().flat_map(|separator| all_splits(title, separator)) {
                if let Some(part) = [before, after].into_iter().find(|part| is_in(headings, part)) {
                    return part.trim().to_owned();
                }
            }
        }
        for separator in SEPARATORS {
            let sides =
                [title.rsplit_once(separator), title.split_once(separator).map(|(before, after)| (after, before))];
            for (rest, part) in sides.into_iter().flatten() {
                if is_site(part) {
                    return self.without_site(rest.trim(), site);
                }
            }
        }
        title.trim_end_matches(['|', '»', '·', '•', ' ']).to_owned()
    }
}

impl Candidate {
    /// The places that agree with it, if there are any; whether a heading is among them; whether it is whole.
    fn votes(&self, all: &[Candidate]) -> (usize, bool, bool) {
        let mut places = vec![self.place];
        for other in all.iter().filter(|other| self.is_like(other)) {
            if !places.contains(&other.place) {
                places.push(other.place);
            }
        }
        let has_heading = places.len() > 1 && places.contains(&Place::Heading);
        let is_shorter = |other: &Candidate| other.place == Place::Heading && other.letters.len() > self.letters.len();
        let is_cut = self.fact.value.ends_with('…')
            || self.fact.value.ends_with("...")
            || all.iter().any(|other| self.is_like(other) && is_shorter(other));
        (places.len(), has_heading, !is_cut)
    }

    /// Whether both are the same title, or one is the beginning of the other.
    fn is_like(&self, other: &Candidate) -> bool {
        let (short, long) = if self.letters.len() <= other.letters.len() { (self, other) } else { (other, self) };
        let share = short.letters.len() as f64 / long.letters.len().max(1) as f64;
        let is_beginning = short.letters.chars().count() >= FEWEST_LETTERS_OF_BEGINNING
            && share >= LEAST_SHARE_OF_BEGINNING
            && long.letters.starts_with(&short.letters);
        short.letters == long.letters || is_beginning
    }
}

fn is_title(text: &str) -> bool {
    text.contains(char::is_alphanumeric) && text.chars().count() <= MOST_CHARS
}

/// The text of the `title` element.
pub(super) fn title_element(tree: &Tree) -> Option<String> {
    let head = tree.all("title").find(|title| !tree.counted().contains(&title.index()));
    head.map(|title| shown(&inner_text(tree, title)))
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

/// What stands before and behind a separator, at each of its places.
fn all_splits<'t>(title: &'t str, separator: &'t str) -> impl Iterator<Item = (&'t str, &'t str)> {
    title.match_indices(separator).map(move |(at, _)| (&title[..at], &title[at + separator.len()..]))
}

fn inner_text(tree: &Tree, node: NodeId) -> String {
    tree.shape.subtree(node).map(|at| tree.text(NodeId::new(at))).collect::<Vec<_>>().join("")
}

/// Whether a heading is a link to the first page of its site, so that it is the name of the site, or a logo.
fn leads_home(tree: &Tree, heading: NodeId) -> bool {
    let mut links = tree.shape.subtree(heading).map(NodeId::new).filter_map(|node| tree.attr(node, "href"));
    links.any(|href| matches!(href.trim(), "/" | "./" | "index.html" | "index.php"))
}
