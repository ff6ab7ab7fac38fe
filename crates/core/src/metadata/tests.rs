//! Metadata of whole pages.

use super::*;
use dehusk_html::{ParseOptions, parse};

fn metadata(html: &str) -> Metadata {
    let url = PageUrl::parse("https://s.example/2023/05/06/rye.html").unwrap();
    Metadata::new(&parse(html, &ParseOptions::default()), Some(&url))
}

fn value(fact: &Option<Fact>) -> (&str, Source) {
    fact.as_ref().map(|fact| (fact.value.as_str(), fact.source)).unwrap()
}

#[test]
fn json_ld_is_trusted_first() {
    let html = r##"<html lang=en_US><head><title>Rye | Grains</title><meta property="og:title" content="Rye!">
        <meta property="og:site_name" content="Grains"><link rel=canonical href=/rye>
        <script type="application/ld+json">{"@context":"https://schema.org","@graph":[
        {"@type":"Person","@id":"#a","name":"Ann Rye"},
        {"@type":["NewsArticle"],"headline":"Rye","author":[{"@id":"#a"},"Bob Oat"],"datePublished":"2024-01-31T10:00:00Z",
         "dateModified":"2024-02-01","keywords":["grain","bread"],"image":{"url":"/rye.png"},"publisher":{"name":"Grains Ltd"}}
        ]}</script></head><body><h1>Rye</h1><a rel=license href="https://creativecommons.org/licenses/by/4.0/">CC</a>"##;
    let read = metadata(html);
    assert_eq!(value(&read.title), ("Rye", Source::JsonLd));
    assert_eq!(read.authors.iter().map(|a| a.value.as_str()).collect::<Vec<_>>(), ["Ann Rye", "Bob Oat"]);
    assert_eq!(value(&read.published), ("2024-01-31", Source::JsonLd));
    assert_eq!(value(&read.modified), ("2024-02-01", Source::JsonLd));
    assert_eq!(value(&read.language), ("en-US", Source::Link));
    assert_eq!(value(&read.image), ("https://s.example/rye.png", Source::JsonLd));
    assert_eq!(value(&read.canonical_url), ("https://s.example/rye", Source::Link));
    assert_eq!(value(&read.licence).0, "https://creativecommons.org/licenses/by/4.0/");
    assert_eq!(value(&read.kind), ("NewsArticle", Source::JsonLd));
    assert_eq!(read.tags.len(), 2);
}

#[test]
fn elements_url_and_text_are_read_where_nothing_else_is() {
    let read = metadata("<title>Rye - Grains</title><h1>Rye</h1><p class=byline>By Ann Rye</p><p>Text");
    assert_eq!(value(&read.title), ("Rye", Source::Meta));
    assert_eq!(value(&read.published), ("2023-05-06", Source::Url));
    assert_eq!(read.authors[0].value, "Ann Rye");
    let time = "<h1>Rye</h1><time datetime=2022-01-02>x</time><div class=comments><time datetime=2021-01-01>";
    assert_eq!(value(&metadata(time).published), ("2022-01-02", Source::Time));
    let micro = "<div itemscope><span itemprop=author itemscope><b itemprop=name>Ann</b> writes</span>\
        <meta itemprop=datePublished content=2020-02-03></div>";
    let read = metadata(micro);
    assert_eq!((read.authors[0].value.as_str(), value(&read.published)), ("Ann", ("2020-02-03", Source::Microdata)));
}

#[test]
fn a_list_of_articles_is_none_of_them_and_damage_is_read() {
    let list = r#"<script type="application/ld+json">[{"@type":"Article","headline":"A"},{"@type":"Article","headline":"B"}]</script><title>All"#;
    assert_eq!(value(&metadata(list).title), ("All", Source::Meta));
    let damaged = "<script type='application/ld+json'>//<![CDATA[\n{\"@type\":\"Article\",\"headline\":\"A\nB\"};\n//]]></script>";
    assert_eq!(value(&metadata(damaged).title), ("A B", Source::JsonLd));
    for broken in ["{", "[[[[", "{\"@type\":5}", "null", "{\"@graph\":{\"@graph\":[]}}"] {
        let html = format!("<script type='application/ld+json'>{broken}</script>");
        assert_eq!(metadata(&html).title, None, "{broken}");
    }
}
