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

#[test]
fn structured_data_in_any_wrapper_is_read() {
    for (start, end) in [("<![CDATA[", "]]>"), ("//<![CDATA[", "//]]>"), ("/*<![CDATA[*/", "/*]]>*/;"), ("<!--", "-->")]
    {
        let json = r#"{"@type":"Article","headline":"Rye","datePublished":"2020-07-10"}"#;
        let html = format!("<script type='application/ld+json'>\n{start}\n{json}\n{end}\n</script>");
        assert_eq!(value(&metadata(&html).published), ("2020-07-10", Source::JsonLd), "{start}");
    }
    let wrappers = format!("<script type='application/ld+json'>{}</script>", "<!--".repeat(200_000));
    assert_eq!(metadata(&wrappers).title, None);
}

#[test]
fn days_of_code_and_of_quoted_texts_are_not_the_page_s() {
    let date = |html: &str| Metadata::new(&parse(html, &ParseOptions::default()), None).published.map(|day| day.value);
    assert_eq!(date("<h1>Rye</h1><pre>last-modified: 13 June 2012</pre><p>Text"), None);
    assert_eq!(date("<h1>Rye</h1><blockquote><p>Ann, 27 May 2020</blockquote><p>Text"), None);
    assert_eq!(date("<h1>Rye</h1><p>27 May 2020</p><p>Text").as_deref(), Some("2020-05-27"));
}

#[test]
fn a_day_that_is_labeled_as_that_of_a_change_is_no_day_of_publication() {
    let read = |html: &str| {
        let read = Metadata::new(&parse(html, &ParseOptions::default()), None);
        (read.published.map(|day| day.value), read.modified.map(|day| day.value))
    };
    let changed = Some("2020-07-10".to_owned());
    assert_eq!(read("<h1>Rye</h1><p>This page was last edited on 10 July 2020.</p>"), (None, changed.clone()));
    // One moment, stated twice, and another one: the other is that of publication.
    let both = "<meta property='article:modified_time' content='2020-07-10T08:00:00Z'>\
        <meta property='article:published_time' content='2020-06-01T08:00:00Z'>\
        <body><meta itemprop=datePublished content='2020-07-10T08:00:00Z'>";
    assert_eq!(read(both), (Some("2020-06-01".to_owned()), changed));
}

#[test]
fn the_day_of_a_moment_in_utc_is_confirmed_by_a_text() {
    let day = |address: &str, texts: &str| {
        let html =
            format!("<meta property='article:published_time' content='2020-09-28T23:12:35Z'><h1>Rye</h1>{texts}");
        let url = PageUrl::parse(address).unwrap();
        Metadata::new(&parse(&html, &ParseOptions::default()), Some(&url)).published.map(|day| day.value).unwrap()
    };
    let times = "<time datetime='2020-09-29T01:00+02:00'>x</time><time datetime=2020-09-28>y</time>";
    assert_eq!(day("https://s.example/rye", times), "2020-09-28");
    assert_eq!(day("https://s.example/rye", "<time datetime='2020-09-29T01:12+02:00'>x</time>"), "2020-09-29");
    assert_eq!(day("https://s.example/2020/09/29/rye", times), "2020-09-29");
}

#[test]
fn headings_tell_the_title_from_the_names_around_it() {
    let title = |html: &str| metadata(html).title.map(|title| title.value).unwrap();
    assert_eq!(title("<title>Grains :: algo :: Counting rye</title><h3>Counting rye</h3><p>Text"), "Counting rye");
    assert_eq!(title("<title>Sowing rye | Farm</title><h1><a href=/>Farm</a></h1><h2>Rules</h2>"), "Sowing rye");
    assert_eq!(title("<title>Sowing rye |</title><p>Text"), "Sowing rye");
}
