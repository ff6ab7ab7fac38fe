//! Elements of the body that say what they hold: microdata, RDFa, `rel`, `time`.

use super::found::{FoundFacts, Source, fact};
use super::title::ShownTitles;
use dehusk_html::{NodeId, PageUrl, Tree, ancestors, normalized};

/// Text of an element; of its first `name` property, where it has one.
pub(super) fn text(tree: &Tree, element: NodeId) -> String {
    let inside = || tree.shape.subtree(element).map(NodeId::new);
    let is_name = |node: &NodeId| *node != element && tree.attr(*node, "itemprop") == Some("name");
    let within = inside().find(is_name).unwrap_or(element);
    let texts = tree.shape.subtree(within).take(200).map(NodeId::new);
    texts.map(|node| tree.text(node)).collect::<Vec<_>>().join(" ")
}

/// Whether an element is part of a comment or of another page's summary.
pub(super) fn is_of_another(tree: &Tree, element: NodeId) -> bool {
    let is_comment = |node: NodeId| {
        let marks = [tree.attr(node, "class"), tree.attr(node, "id"), tree.attr(node, "itemtype")];
        marks.into_iter().flatten().any(|mark| {
            let mark = mark.to_ascii_lowercase();
            ["comment", "related", "sidebar", "widget"].iter().any(|word| mark.contains(word)) && !mark.contains("no-")
        }) || matches!(tree.name(node), "aside" | "footer" | "nav")
    };
    // Not the body and the root: their classes name what the page has, not what it is.
    ancestors(tree, element).take_while(|node| tree.name(*node) != "body").any(is_comment)
}

/// Microdata and RDFa: `itemprop` and `property` attributes of the body.
pub(super) fn read_properties(tree: &Tree, found: &mut FoundFacts) {
    let mut author_scope = None;
    for node in tree.counted().map(NodeId::new) {
        let names = [tree.attr(node, "itemprop"), tree.attr(node, "property")];
        for name in names.into_iter().flatten().flat_map(str::split_ascii_whitespace) {
            let name = name.rsplit([':', '/']).next().unwrap_or(name);
            let list = match name {
                "datePublished" | "dateCreated" | "uploadDate" => &mut found.published,
                "dateModified" => &mut found.modified,
                "author" | "creator" => &mut found.authors,
                "headline" => &mut found.titles,
                "keywords" => &mut found.tags,
                "inLanguage" => &mut found.languages,
                "license" => &mut found.licences,
                _ => continue,
            };
            let scope = ancestors(tree, node).find(|above| tree.attr(*above, "itemscope").is_some());
            if scope.is_some_and(|scope| is_of_site(tree, scope)) {
                continue;
            }
            // Authors of other items are of other pages.
            let is_author = matches!(name, "author" | "creator");
            if is_of_another(tree, node) || (is_author && *author_scope.get_or_insert(scope) != scope) {
                continue;
            }
            let value = ["content", "datetime"].iter().find_map(|name| tree.attr(node, name)).map(str::to_owned);
            let value = match name {
                "license" => tree.attr(node, "href").map(str::to_owned),
                _ => value.or_else(|| Some(text(tree, node))),
            };
            if let Some(value) = value.filter(|value| !value.trim().is_empty()) {
                list.push(fact(&value, Source::Microdata));
            }
        }
    }
}

/// Whether an item is a part that all pages of a site share, or the site itself.
fn is_of_site(tree: &Tree, item: NodeId) -> bool {
    let kind = tree.attr(item, "itemtype").unwrap_or_default();
    let kind = kind.trim().rsplit(['/', '#']).next().unwrap_or_default();
    matches!(kind, "WPHeader" | "WPFooter" | "WPSideBar" | "SiteNavigationElement" | "Organization" | "WebSite")
}

/// Links that say what they lead to: the author, the licence.
pub(super) fn read_links(tree: &Tree, found: &mut FoundFacts) {
    for link in tree.all("a").filter(|link| tree.counted().contains(&link.index())) {
        let rel = tree.attr(link, "rel").unwrap_or_default();
        let has = |name: &str| rel.split_ascii_whitespace().any(|rel| rel.eq_ignore_ascii_case(name));
        let href = tree.attr(link, "href").unwrap_or_default();
        let is_cc =
            href.contains("creativecommons.org/licenses/") || href.contains("creativecommons.org/publicdomain/");
        if is_cc || has("license") {
            found.licences.push(fact(href, Source::Link));
        }
        if has("author") && !is_of_another(tree, link) {
            found.authors.push(fact(&text(tree, link), Source::Link));
        }
    }
}

/// Links of a page that are looked at for the one to the first page of its site.
const MOST_LINKS: usize = 200;

/// The name of the site: the text of a link to its first page that is a part of the title, too.
pub(super) fn read_home_links(tree: &Tree, url: Option<&PageUrl>, titles: &ShownTitles, found: &mut FoundFacts) {
    let is_home = |href: &str| {
        let named = url.and_then(|url| url.join(href));
        matches!(href, "/" | "./") || named.is_some_and(|named| named.path() == "/" && !named.as_str().contains('?'))
    };
    let links = tree.all("a").filter(|link| tree.counted().contains(&link.index())).take(MOST_LINKS);
    let home = links.filter(|link| tree.attr(*link, "href").is_some_and(|href| is_home(href.trim())));
    let texts = home.map(|link| normalized(&text(tree, link)));
    found.site_names.extend(texts.filter(|text| titles.have_part(text)).map(|text| fact(&text, Source::Text)));
}

/// `time` elements: first those that say that they are the day of publication. One that stands before the heading, and
/// has nothing in common with it but the whole page, is of another page.
pub(super) fn read_times(tree: &Tree, found: &mut FoundFacts) {
    let times = tree.all("time").filter(|time| tree.counted().contains(&time.index()) && !is_of_another(tree, *time));
    let heading = tree.all("h1").find(|h1| tree.counted().contains(&h1.index()));
    let mut marked = Vec::new();
    let mut others = Vec::new();
    for time in times {
        let value = tree.attr(time, "datetime").map_or_else(|| text(tree, time), str::to_owned);
        let class = tree.attr(time, "class").unwrap_or_default().to_ascii_lowercase();
        if class.contains("updated") || class.contains("modified") {
            let is_both = class.contains("published");
            found.modified.push(fact(&value, Source::Time));
            if !is_both {
                continue;
            }
        }
        let is_marked =
            tree.attr(time, "pubdate").is_some() || class.contains("publish") || class.contains("entry-date");
        if is_marked {
            marked.push(fact(&value, Source::Time));
        } else if heading.is_none_or(|heading| time >= heading || are_near(tree, time, heading)) {
            others.push(fact(&value, Source::Time));
        }
    }
    found.published.extend(marked);
    found.published.extend(others);
}

/// Share of the nodes of a page above which an element stands for the whole page.
const WHOLE_PAGE: f64 = 0.9;

/// Whether an element that is less than the page holds both nodes.
fn are_near(tree: &Tree, one: NodeId, other: NodeId) -> bool {
    let holds = |node: &NodeId| tree.shape.subtree(*node).contains(&other.index());
    let common = ancestors(tree, one).find(holds);
    common.is_some_and(|common| (tree.shape.subtree(common).len() as f64) < WHOLE_PAGE * tree.counted().len() as f64)
}
