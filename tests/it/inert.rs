//! What leaves the program runs nothing: Markdown and HTML of any page, read by a reader that trusts it.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use dehusk_core::{MarkdownOptions, ParseOptions};
use dehusk_html::PageUrl;
use dehusk_html::{NodeId, parse};
use dehusk_render::{write_html, write_markdown};
use proptest::prelude::*;
use pulldown_cmark::{Event, Options, Parser, Tag};

/// Raw HTML that Markdown is written with.
const OURS: [&str; 5] = ["<br>", "<sup>", "</sup>", "<sub>", "</sub>"];

/// What a reader finds in Markdown that a page did not have: raw HTML, and addresses that run something or are no
/// address of the page.
fn foreign(markdown: &str, html: &str, options: Options) -> Vec<String> {
    let tree = parse(html, &ParseOptions::default());
    let nodes = || tree.counted().map(NodeId::new);
    let base = PageUrl::parse("http://a.org/dir/page").unwrap();
    let named = nodes().flat_map(|node| [tree.attr(node, "href"), tree.attr(node, "src")]).flatten();
    let written = |raw: &str| {
        [raw.to_owned(), base.join(raw).map_or_else(String::new, |url| url.to_string()), format!("{base}{raw}")]
    };
    // A cell of a table cannot hold a bar.
    let escaped = |url: String| [url.clone(), url.replace('|', "%7C")];
    let known: BTreeSet<String> =
        named.flat_map(written).map(|url| url.replace('\\', "%5C").replace('`', "%60")).flat_map(escaped).collect();
    let mut found = Vec::new();
    for event in Parser::new_ext(markdown, options) {
        match event {
            Event::Html(text) | Event::InlineHtml(text) if !OURS.contains(&text.trim()) => {
                found.push(format!("HTML {text}"));
            }
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                if !known.contains(&*dest_url) {
                    found.push(format!("address {dest_url} of none"));
                }
                let address: String = dest_url.chars().filter(|c| !c.is_control() && !c.is_whitespace()).collect();
                let scheme = address.split(['/', '?', '#']).next().unwrap_or_default().to_ascii_lowercase();
                if scheme.starts_with("javascript:")
                    || scheme.starts_with("vbscript:")
                    || scheme.starts_with("data:text")
                {
                    found.push(format!("address {dest_url}"));
                }
            }
            _ => {}
        }
    }
    found
}

fn markdown(html: &str, url: Option<&str>) -> String {
    let url = url.map(|url| PageUrl::parse(url).unwrap());
    let tree = parse(html, &ParseOptions::default());
    write_markdown(&tree, url.as_ref(), &MarkdownOptions::default(), |_| true)
}

/// Readers of Markdown: of CommonMark alone, of GFM, and with formulas.
fn readers() -> [Options; 3] {
    let gfm = Options::ENABLE_TABLES | Options::ENABLE_TASKLISTS | Options::ENABLE_STRIKETHROUGH;
    [Options::empty(), gfm | Options::ENABLE_FOOTNOTES, gfm | Options::ENABLE_MATH]
}

fn check(html: &str) {
    for url in [None, Some("http://a.org/dir/page")] {
        let written = markdown(html, url);
        for options in readers() {
            let found = foreign(&written, html, options);
            assert!(found.is_empty(), "{found:?}\nof {html}\nas {written}");
        }
    }
}

const LIVE: &str = "&lt;img src=x onerror=alert(1)>";

#[test]
fn formulas_are_inert_wherever_they_stand() {
    let attacks = [
        LIVE,
        "[x](javascript:alert(1))",
        "&lt;javascript:alert(1)>",
        "![t](http://track.er/p)",
        "`",
        "```\n&lt;script>\n```",
        "a\n\n&lt;script>b&lt;/script>",
        "[a]: javascript:b",
    ];
    for attack in attacks {
        for html in [
            format!("<p>\\({attack}\\) and <code>{LIVE}</code>"),
            format!("<p>\\[{attack}\\]<pre>{LIVE}</pre>"),
            format!("<h2>$${attack}$$</h2>"),
            format!("<p>$$<code>$$</code> {attack}"),
            format!(
                "<p><math><semantics><mi>x</mi><annotation encoding='application/x-tex'>{attack}</annotation></semantics></math> b"
            ),
            format!("<p><math alttext='{attack}'><mi>x</mi></math> <code>{LIVE}</code>"),
            format!(
                "<p><script type='math/tex'>{}</script> <code>{LIVE}</code>",
                attack.replace("&lt;", "<").replace("</script", "</ script")
            ),
            format!(
                "<p><script type='math/tex; mode=display'>{}</script><pre>{LIVE}</pre>",
                attack.replace("&lt;", "<").replace("</script", "</ script")
            ),
            format!("<p><img alt='{{\\displaystyle {attack}}}' src=x.png>"),
            format!("<table><tr><th>a<th>b<tr><td>\\({attack}\\)<td>c</table>"),
        ] {
            check(&html);
        }
    }
}

#[test]
fn code_addresses_and_marks_are_inert() {
    for html in [
        // Code, lists and quotations at the beginning of a definition.
        format!("<dl><dt>a<dd><pre>b\n\n{LIVE}</pre></dl>"),
        format!("<dl><dd><ul><li><pre>b\n\n{LIVE}</pre></ul></dl>"),
        format!("<ol><li><dl><dd><blockquote><pre>b\n\n{LIVE}</pre></blockquote></dl></ol>"),
        format!("<dl><dt>a<dd><p>b<pre>c\n\n{LIVE}</pre></dl>"),
        "<a href='java&#x7f;script:alert(1)'>x</a><img src='java&#x85;script:alert(1)'>".to_owned(),
        "<a href='javascript\\:alert(1)'>x</a> <a href='javascript&amp;colon;alert(1)'>y</a>".to_owned(),
        "<a href='http://a/?q=\\'>one</a> <a href='http://b/'>two</a>".to_owned(),
        format!("<ul><li><input type=checkbox><pre>{LIVE}</pre></ul>"),
        format!("<p><img alt='`' src=x> <code>{LIVE}</code>"),
        format!("<p><a href='#n' id=r>1</a><ul><li id=n><pre>{LIVE}</pre><a href='#r'>back</a></ul>"),
        format!("<table><tr><th>a<th>b<tr><td><a href='http://a/|b'>{LIVE}</a><td>\\<br>c</table>"),
        "<h2>Head {onclick=alert(1)}</h2><p><code>a</code>{=html}".to_owned(),
    ] {
        check(&html);
    }
    assert!(markdown("<h2>Head {onclick=x}</h2>", None).contains("\\{onclick"));
    assert!(markdown("<p><code>a</code>{=html}", None).contains("`\\{=html"));
    let link = markdown("<a href='http://a/?x=1&amp;copy;=2&y=\\'>one</a> <a href='/b'>two</a>", None);
    assert!(link.contains("http://a/?x=1&amp;copy;=2&y=%5C") && link.contains("[two]"), "{link}");
}

#[test]
fn a_written_page_keeps_its_own_policy() {
    let html = "<head><meta name=referrer content=unsafe-url><meta name=author content=Ada></head><body><p>x";
    let written = write_html(&parse(html, &ParseOptions::default()), None, |_| true);
    assert!(!written.contains("unsafe-url") && written.contains("Ada"), "{written}");
    let live = "<a href='java&#x7f;script:alert(1)'>x</a><img src='java&#x96;script:alert(1)'>";
    let written = write_html(&parse(live, &ParseOptions::default()), None, |_| true);
    assert!(!written.contains("javascript:"), "{written}");
}

/// Pieces of pages that Markdown has to take care of.
fn piece() -> impl Strategy<Value = String> {
    let text = prop::sample::select(vec![
        "a",
        " ",
        "`",
        "``",
        "```\n",
        "[x](javascript:y)",
        "[",
        "](",
        "]: ",
        "![",
        "\\(",
        "\\)",
        "\\[",
        "\\]",
        "$$",
        "$",
        "{=html}",
        "{",
        "|",
        "\\",
        "&amp;lt;",
        "&lt;img src=x onerror=y>",
        "&lt;/p>",
        "&lt;!--",
        "#",
        "- ",
        "1. ",
        "*",
        "_",
        "~",
        "\n",
        "    ",
        "<br>",
        "http://a.b/",
    ]);
    let tag = prop::sample::select(vec![
        "p",
        "b",
        "i",
        "code",
        "pre",
        "h2",
        "ul",
        "li",
        "ol",
        "table",
        "tr",
        "td",
        "th",
        "blockquote",
        "sup",
        "span",
        "dl",
        "dt",
        "dd",
        "a href='/x?y=\\'",
        "a href='#n' id=r",
        "li id=n",
        "math alttext='`&lt;x'",
        "script type=math/tex",
    ]);
    let void = prop::sample::select(vec!["<input type=checkbox>", "<img src=x alt='`]('>", "<hr>", "<br>"]);
    prop_oneof![
        text.prop_map(str::to_owned),
        (tag, any::<bool>()).prop_map(|(tag, ends)| if ends {
            format!("</{}>", tag.split(' ').next().unwrap_or_default())
        } else {
            format!("<{tag}>")
        }),
        void.prop_map(str::to_owned),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    /// No reader finds markup in the Markdown of a page that the page did not have.
    #[test]
    fn markdown_of_any_page_is_inert(pieces in prop::collection::vec(piece(), 0..40)) {
        check(&pieces.concat());
    }
}

/// Cases of the property, unless `PROPTEST_CASES` asks for more.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(2000)
}

/// Pages whose cost must be linear: what is written of them is bounded by what they hold.
#[test]
fn what_is_written_is_bounded_by_the_page() {
    let n = 2000;
    let repeat = |text: &str| text.repeat(n);
    let rows = |cell: &str| {
        (0..n).fold(String::new(), |mut out, _| {
            let _ = write!(out, "<tr><td>{cell}<td>b");
            out
        })
    };
    for (name, html) in [
        ("columns", format!("<table><tr>{}{}</table>", repeat("<th>x"), rows("a"))),
        ("spans", format!("<table><tr><th>x<th>y{}</table>", repeat("<tr><td colspan=1000 rowspan=1000>a<td>b"))),
        ("many tables", repeat("<table><tr><th colspan=500>x<th>y<tr><td>a<td>b</table>")),
        ("base", format!("<base href='http://a.b/{}'>{}", "x".repeat(100_000), repeat("<a href=y>z</a> "))),
        ("sources", format!("<base href='http://a.b/{}'>{}", "x".repeat(3000), repeat("<img srcset='a 1x, b 2x'>"))),
    ] {
        let tree = parse(&html, &ParseOptions::default());
        let bound = 6 * html.len() + (4 << 20);
        for written in
            [write_markdown(&tree, None, &MarkdownOptions::default(), |_| true), write_html(&tree, None, |_| true)]
        {
            assert!(written.len() <= bound, "{name}: {} of {}", written.len(), html.len());
        }
    }
}
