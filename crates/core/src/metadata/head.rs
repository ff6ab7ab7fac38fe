//! `meta` and `link` elements, and the language of the document.

use super::found::{FoundFacts, Source, fact};
use dehusk_html::Tree;

pub(super) fn read(tree: &Tree, found: &mut FoundFacts) {
    for meta in tree.all("meta") {
        let named = ["property", "name", "itemprop", "http-equiv"].iter().find_map(|name| tree.attr(meta, name));
        let (Some(name), Some(content)) = (named, tree.attr(meta, "content")) else { continue };
        if !content.trim().is_empty() {
            name.split_ascii_whitespace().for_each(|name| push(&name.to_ascii_lowercase(), content, found));
        }
    }
    read_labels(tree, found);
    let html = tree.all("html").next();
    for name in ["lang", "xml:lang"] {
        if let Some(language) = html.and_then(|html| tree.attr(html, name)) {
            found.languages.push(fact(language, Source::Link));
        }
    }
    for link in tree.all("link") {
        let (Some(rel), Some(href)) = (tree.attr(link, "rel"), tree.attr(link, "href")) else { continue };
        for rel in rel.split_ascii_whitespace() {
            match rel.to_ascii_lowercase().as_str() {
                "canonical" => found.canonical.push(fact(href, Source::Link)),
                "license" => found.licences.push(fact(href, Source::Link)),
                _ => {}
            }
        }
    }
}

/// Facts for cards: `twitter:label1` names what `twitter:data1` is.
fn read_labels(tree: &Tree, found: &mut FoundFacts) {
    #[rustfmt::skip]
    const WRITTEN_BY: [&str; 9] = [
        "written by", "verfasst von", "geschrieben von", "écrit par", "escrito por", "scritto da", "geschreven door",
        "napisane przez", "skriven av",
    ];
    let value = |name: &str| {
        let named = |meta: &dehusk_html::NodeId| {
            ["name", "property"]
                .iter()
                .any(|key| tree.attr(*meta, key).is_some_and(|own| own.eq_ignore_ascii_case(name)))
        };
        tree.all("meta").find(named).and_then(|meta| tree.attr(meta, "content"))
    };
    let is_author = |label: &str| WRITTEN_BY.contains(&label.trim().to_lowercase().as_str());
    if value("twitter:label1").is_some_and(is_author)
        && let Some(author) = value("twitter:data1")
    {
        found.authors.push(fact(author, Source::Meta));
    }
}

/// Last parts of names that mean publication in any vocabulary.
const PUBLISHED: [&str; 8] = [
    "published",
    "published_at",
    "published_time",
    "publish_time",
    "pubdate",
    "release_date",
    "uploaded",
    "created_at",
];

fn push(name: &str, content: &str, found: &mut FoundFacts) {
    let source = match name {
        name if name.starts_with("og:") || name.starts_with("article:") => Source::OpenGraph,
        name if name.starts_with("dc.") || name.starts_with("dcterms.") || name.starts_with("dc:") => {
            Source::DublinCore
        }
        _ => Source::Meta,
    };
    let list = match name {
        "og:title" | "twitter:title" | "dc.title" | "dc:title" | "dcterms.title" | "citation_title"
        | "parsely-title" | "sailthru.title" => &mut found.titles,
        "og:description" | "description" | "twitter:description" | "dc.description" | "dcterms.description" => {
            &mut found.descriptions
        }
        "og:site_name" | "application-name" | "citation_journal_title" => &mut found.site_names,
        "article:published_time"
        | "article:published"
        | "og:published_time"
        | "og:pubdate"
        | "og:article:published_time"
        | "article.published"
        | "dc.date"
        | "dc:date"
        | "dc.date.issued"
        | "dc.date.created"
        | "dc.created"
        | "dcterms.created"
        | "dcterms.issued"
        | "dcterms.date"
        | "citation_publication_date"
        | "citation_date"
        | "citation_online_date"
        | "date"
        | "pubdate"
        | "publishdate"
        | "publish_date"
        | "publish-date"
        | "publication_date"
        | "parsely-pub-date"
        | "sailthru.date"
        | "originalpublicationdate"
        | "datepublished"
        | "datecreated"
        | "article_date_original"
        | "cxenseparse:recs:publishtime"
        | "displaydate"
        | "created" => &mut found.published,
        "article:modified_time"
        | "article:modified"
        | "og:updated_time"
        | "og:modified_time"
        | "dc.date.modified"
        | "dcterms.modified"
        | "last-modified"
        | "lastmod"
        | "lastmodified"
        | "revised"
        | "datemodified"
        | "updated" => &mut found.modified,
        "author" | "authors" | "article:author" | "og:article:author" | "dc.creator" | "dc:creator"
        | "dcterms.creator" | "citation_author" | "parsely-author" | "sailthru.author" | "byl" => &mut found.authors,
        "article:tag" | "og:article:tag" | "keywords" | "news_keywords" | "parsely-tags" | "sailthru.tags"
        | "dc.subject" => &mut found.tags,
        "og:image" | "og:image:url" | "og:image:secure_url" | "twitter:image" | "twitter:image:src" => {
            &mut found.images
        }
        "content-language" | "language" | "dc.language" | "og:locale" | "inlanguage" => &mut found.languages,
        "dc.rights" | "dcterms.license" | "dcterms.rights" | "license" => {
            return if content.trim().starts_with("http") {
                found.licences.push(fact(content, source))
            };
        }
        "og:type" => &mut found.kinds,
        "og:url" => &mut found.canonical,
        // Vocabularies of one publisher, and the types of OpenGraph: `video:release_date`.
        name if name.rsplit([':', '.']).next().is_some_and(|last| PUBLISHED.contains(&last)) => &mut found.published,
        _ => return,
    };
    list.push(fact(content, source));
}
