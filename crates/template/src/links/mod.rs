//! Outlinks of a page and their hyperlink distance. `order.rs` orders the links for the search.
//!
//! Source: Alarte, thesis of 2014, definitions 2.2.4 to 2.2.14.

use rustc_hash::FxHashMap;

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use dehusk_html::{NodeId, PlaceMemo, Tree, decode, refresh_target, scan_links};
use dehusk_html::{PageUrl, Site, base_url};

mod form;
mod menu;
mod options;
mod order;

pub use form::form;
pub use options::{DomRef, LinkOptions, LinkOrderBy};
pub use order::LinkOrder;

/// A link of a page to another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outlink {
    /// Its canonical target.
    pub url: PageUrl,
    /// The element of its first occurrence.
    pub node: NodeId,
    /// Whether every occurrence is marked `rel="nofollow"`.
    pub nofollow: bool,
}

const UTF_8: &str = "UTF-8";

/// File extensions of pages; the list extends that of the authors' HybEx. A file name without a dot can be a page.
const PAGE_ENDINGS: &[&str] = &["html", "htm", "xhtml", "shtml", "php", "php3", "asp", "aspx", "jsp", "cfm"];

/// The address that an element leads to: of a link, an area of an image map, a frame, or a refresh.
fn target_of(tree: &Tree, node: NodeId) -> Option<&str> {
    match tree.name(node) {
        "a" | "area" => tree.attr(node, "href"),
        "frame" => tree.attr(node, "src"),
        "meta" if tree.attr(node, "http-equiv").is_some_and(|name| name.eq_ignore_ascii_case("refresh")) => {
            tree.attr(node, "content").and_then(refresh_target)
        }
        _ => None,
    }
}

/// The links of a page to other pages of the same site, in document order, each URL once.
///
/// `url` is the URL of the page. Relative links are resolved against its `base` element, if it has one.
/// At most `most` links are returned, which bounds the work on pages with very many links.
pub fn outlinks(tree: &Tree, url: &PageUrl, site: &Site, most: usize) -> Vec<Outlink> {
    let base = base_url(tree, url);
    let mut seen: FxHashMap<PageUrl, usize> = FxHashMap::default();
    let mut links: Vec<Outlink> = Vec::new();
    let mut read = PlaceMemo::default();
    // A refresh is in the head, and a page of frames has no body.
    let outside = tree.all("meta").chain(tree.all("frame"));
    for node in outside.chain(tree.counted().map(NodeId::new).filter(|node| !tree.is_text(*node))) {
        // A long address that error recovery has given to many elements is read once.
        let href = target_of(tree, node).filter(|href| read.get(href).is_none());
        href.into_iter().for_each(|href| read.insert(href, ()));
        let Some(target) = href.and_then(|href| base.join_in(href, tree.charset())) else { continue };
        if !may_be_page(&target) {
            continue;
        }
        let Some(target) = site.claim(target).filter(|t| t != url) else { continue };
        let nofollow = is_nofollow(tree, node);
        match seen.get(&target) {
            // A URL is nofollow only if all links to it are.
            Some(at) => links[*at].nofollow &= nofollow,
            None if links.len() >= most => break,
            None => {
                seen.insert(target.clone(), links.len());
                links.push(Outlink { url: target, node, nofollow });
            }
        }
    }
    links
}

/// The links of a page to other pages of the same site, found without a tree, for crawls that need only links.
///
/// `is_known` gets a hash of each link before it is resolved. Known links are skipped, which is the only deduplication.
pub fn scanned_outlinks(
    html: &[u8],
    content_type: Option<&str>,
    url: &PageUrl,
    site: &Site,
    most: usize,
    skip_nofollow: bool,
    mut is_known: impl FnMut(u64) -> bool,
) -> Vec<PageUrl> {
    // Most pages are UTF-8, and need not be decoded to be scanned.
    let decoded = std::str::from_utf8(html).is_err().then(|| decode(html, content_type));
    let (html, charset) = match &decoded {
        Some((text, charset)) => (text.as_bytes(), charset.name),
        None => (html, UTF_8),
    };
    let (base, links) = scan_links(html, most);
    let base = base.and_then(|href| url.join(&href)).unwrap_or_else(|| url.clone());
    let page = xxh3_64(base.as_str().as_bytes());
    let folder = xxh3_64(base.path().rsplit_once('/').map_or("", |(folder, _)| folder).as_bytes());
    let mut found = Vec::new();
    for link in links {
        // Links that do not depend on the folder have the same hash on every page.
        let is_rooted = link.href.starts_with('/') || link.href.contains("://");
        let is_query = link.href.is_empty() || link.href.starts_with(['?', '#']);
        let seed = if is_rooted {
            0
        } else if is_query {
            page
        } else {
            folder
        };
        let key = xxh3_64_with_seed(link.href.as_bytes(), seed);
        if (skip_nofollow && link.nofollow) || is_known(key) {
            continue;
        }
        let target = base.join_in(&link.href, charset).filter(may_be_page).and_then(|target| site.claim(target));
        found.extend(target.filter(|target| target != url));
    }
    found
}

fn is_nofollow(tree: &Tree, node: NodeId) -> bool {
    tree.attr(node, "rel")
        .is_some_and(|rel| rel.split_ascii_whitespace().any(|word| word.eq_ignore_ascii_case("nofollow")))
}

fn may_be_page(url: &PageUrl) -> bool {
    let name = url.path().rsplit('/').next().unwrap_or_default();
    match name.rsplit_once('.') {
        Some((_, ending)) => PAGE_ENDINGS.iter().any(|e| e.eq_ignore_ascii_case(ending)),
        None => true,
    }
}

/// The word list of a URL: host, then directories, without the resource name (thesis, definition 2.2.4).
///
/// With `slug_dirs`, a last segment without a dot counts as a directory.
pub fn words(url: &PageUrl, slug_dirs: bool) -> Vec<String> {
    let path = url.path();
    let (directory, resource) = path.rsplit_once('/').unwrap_or(("", path));
    let host = url.host();
    let mut words = vec![host.strip_prefix("www.").unwrap_or(host).to_owned()];
    words.extend(directory.split('/').filter(|s| !s.is_empty()).map(str::to_owned));
    if slug_dirs && !resource.is_empty() && !resource.contains('.') {
        words.push(resource.to_owned());
    }
    words
}

/// Hyperlink distance from `reference` to `other` (thesis, definition 2.2.5). It is not symmetric.
///
/// 0 if both are equal; the number of levels down if `other` is below `reference`; otherwise minus the levels to climb.
pub fn hyperlink_distance<S: PartialEq>(reference: &[S], other: &[S]) -> i32 {
    let shared = reference.iter().zip(other).take_while(|(a, b)| a == b).count();
    if shared == reference.len() { (other.len() - shared) as i32 } else { -((reference.len() - shared) as i32) }
}

/// Sort key of link relevance (thesis, definition 2.2.12): 0, +1, +2, ..., then -1, -2, ...
pub fn relevance(distance: i32) -> (bool, u32) {
    (distance < 0, distance.unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use dehusk_html::ParseOptions;
    use dehusk_html::SameSite;
    use dehusk_html::{parse, parse_bytes};

    fn list(path: &str) -> Vec<&str> {
        path.split('/').collect()
    }

    #[test]
    fn hyperlink_distances_of_the_thesis() {
        // Examples 2.2.3 and 2.2.6 of the thesis. Item 1 of example 2.2.6 has its arguments swapped in print.
        let cases = [
            ("research/maths", "research/maths", 0),
            ("research/maths", "research/maths/geometry", 1),
            ("research/maths", "research", -1),
            ("research/maths", "research/physics/dynamics", -1),
            ("research/maths", "www.upv.es/research", -2),
            ("bbc.com/news", "bbc.com/news/world/europe", 2),
            ("bbc.com/news", "bbc.com", -1),
            ("bbc.com/news", "bbc.com/weather", -1),
            ("bbc.com/news", "bbc.com/sport/0/formula1/26599556", -1),
        ];
        for (reference, other, distance) in cases {
            assert_eq!(hyperlink_distance(&list(reference), &list(other)), distance, "{reference} {other}");
        }
        assert_eq!(hyperlink_distance(&list("bbc.com/news"), &list("bbc.com/news/technology")), 1);
        assert_eq!(hyperlink_distance(&list("bbc.com/news/technology"), &list("bbc.com/news")), -1);
    }

    #[test]
    fn relevance_order_of_example_2_2_13() {
        let mut links = vec!["bbc.com", "bbc.com/news/world/europe", "bbc.com/news/uk", "bbc.com/sport/0"];
        links.sort_by_key(|l| relevance(hyperlink_distance(&list("bbc.com/news"), &list(l))));
        assert_eq!(links, ["bbc.com/news/uk", "bbc.com/news/world/europe", "bbc.com", "bbc.com/sport/0"]);
        assert!(relevance(0) < relevance(1) && relevance(9) < relevance(-1) && relevance(-1) < relevance(-2));
    }

    #[test]
    fn outlinks_are_canonical_and_unique() {
        let html = "<head><base href='/d/'></head><body><a href=a>1</a><a href='a#x' rel=nofollow>2</a>\
            <a href=/key>self</a><a href=http://other.com/>out</a><a href=f.pdf>pdf</a><a href=mailto:x@y>m</a>\
            <a href=b.PHP rel='x NoFollow'>b</a><a name=n>none</a><noscript><a href=c>c</a></noscript>\
            <a href='http://www.s.com/v1.2/'>dir</a><map><area href=m></map>";
        let url = PageUrl::parse("http://s.com/key").unwrap();
        let site = Site::new(&url, SameSite::Host);
        let tree = parse(html, &ParseOptions::default());
        let got: Vec<(String, bool)> =
            outlinks(&tree, &url, &site, 100).into_iter().map(|l| (l.url.to_string(), l.nofollow)).collect();
        let want = [
            ("http://s.com/d/a", false),
            ("http://s.com/d/b.PHP", true),
            ("http://www.s.com/v1.2/", false),
            ("http://s.com/d/m", false),
        ];
        assert_eq!(got, want.map(|(u, n)| (u.to_owned(), n)));
    }

    #[test]
    fn frames_and_refreshes_are_links() {
        let url = PageUrl::parse("http://s.com/").unwrap();
        let site = Site::new(&url, SameSite::Host);
        for html in [
            "<frameset><frame src=/menu><frame src='/main'></frameset>",
            "<head><meta http-equiv=Refresh content='0; URL=\"/menu\"'></head><body><a href=main>x</a></body>",
        ] {
            let tree = parse(html, &ParseOptions::default());
            let links: Vec<String> = outlinks(&tree, &url, &site, 9).into_iter().map(|l| l.url.to_string()).collect();
            assert_eq!(links, ["http://s.com/menu", "http://s.com/main"], "{html}");
            let scanned = scanned_outlinks(html.as_bytes(), None, &url, &site, 9, true, |_| false);
            assert_eq!(scanned.iter().map(PageUrl::to_string).collect::<Vec<_>>(), links, "{html}");
        }
    }

    #[test]
    fn queries_are_written_in_the_charset_of_the_page() {
        let url = PageUrl::parse("http://s.com/").unwrap();
        let site = Site::new(&url, SameSite::Host);
        let latin = b"<meta charset=iso-8859-1><a href='/s\xfc?q=M\xfcller&#8364;'>x</a>";
        let (tree, _) = parse_bytes(latin, None, &ParseOptions::default());
        let links: Vec<PageUrl> = outlinks(&tree, &url, &site, 9).into_iter().map(|link| link.url).collect();
        assert_eq!(links[0].as_str(), "http://s.com/s%C3%BC?q=M%FCller%80");
        assert_eq!(scanned_outlinks(latin, None, &url, &site, 9, true, |_| false), links);
    }

    #[test]
    fn word_lists_ignore_the_resource() {
        let url = PageUrl::parse("http://www.s.com/a/b/c.html").unwrap();
        assert_eq!(words(&url, true), ["s.com", "a", "b"]);
        let slug = PageUrl::parse("http://s.com/a/b").unwrap();
        assert_eq!(words(&slug, false), ["s.com", "a"]);
        assert_eq!(words(&slug, true), ["s.com", "a", "b"]);
    }
}
