//! The same trees as html5ever's, which is the oracle.

use proptest::prelude::*;

use crate::{KeepNodes, Note, ParseOptions, ParserKind, Tree, parse};

/// One line a node: depth, name, attributes or text.
fn lines(tree: &Tree) -> Vec<String> {
    let line = |node| {
        let depth = tree.shape.depth[crate::NodeId::index(node)];
        let attrs: String = tree.attrs(node).map(|(name, value)| format!(" {name}={value:?}")).collect();
        format!("{depth} {}{attrs} {:?}", tree.name(node), tree.text(node))
    };
    tree.nodes().map(line).collect()
}

fn by(parser: ParserKind, html: &str, limits: ParseOptions) -> (Vec<String>, Tree) {
    let tree = parse(html, &ParseOptions { parser, keep: KeepNodes::Browser, ..limits });
    (lines(&tree), tree)
}

fn assert_same(html: &str, limits: ParseOptions) {
    let (ours, tree) = by(ParserKind::Dehusk, html, limits);
    let (theirs, oracle) = by(ParserKind::Html5ever, html, limits);
    assert_eq!(ours, theirs, "{html:?}");
    assert_eq!(tree.notes(), oracle.notes(), "{html:?}");
    assert!(tree.data_scripts().eq(oracle.data_scripts()), "{html:?}");
    assert!(tree.noscripts().eq(oracle.noscripts()), "{html:?}");
    assert_eq!(tree.subtree_hashes().full, oracle.subtree_hashes().full, "{html:?}");
}

/// Elements that a rule names, and some that none does.
const ELEMENTS: [&str; 94] = [
    "a",
    "address",
    "annotation-xml",
    "applet",
    "b",
    "base",
    "body",
    "br",
    "button",
    "caption",
    "center",
    "code",
    "col",
    "colgroup",
    "dd",
    "desc",
    "details",
    "div",
    "dl",
    "dt",
    "em",
    "embed",
    "fieldset",
    "font",
    "foreignObject",
    "form",
    "frame",
    "frameset",
    "h1",
    "h2",
    "head",
    "header",
    "hr",
    "html",
    "i",
    "iframe",
    "image",
    "img",
    "input",
    "keygen",
    "li",
    "link",
    "listing",
    "main",
    "malignmark",
    "marquee",
    "math",
    "menu",
    "meta",
    "mglyph",
    "mi",
    "mtext",
    "nobr",
    "noembed",
    "noframes",
    "noscript",
    "object",
    "ol",
    "optgroup",
    "option",
    "p",
    "param",
    "plaintext",
    "pre",
    "rb",
    "rp",
    "rt",
    "rtc",
    "ruby",
    "script",
    "search",
    "section",
    "select",
    "source",
    "span",
    "style",
    "summary",
    "sup",
    "svg",
    "table",
    "tbody",
    "td",
    "template",
    "textarea",
    "tfoot",
    "th",
    "thead",
    "title",
    "tr",
    "track",
    "u",
    "ul",
    "unknown",
    "xmp",
];

/// Texts, comments, and tags with attributes that a rule reads.
const OTHERS: [&str; 33] = [
    "<svg xmlns=s xmlns:xlink=l xml:lang=m xlink:title=t>",
    "x",
    " ",
    "\n",
    "\0",
    "y z",
    " w",
    "&amp;",
    "<!--c-->",
    "<!doctype html>",
    "<!doctype html public \"-//W3C//DTD HTML 4.01 Transitional//EN\">",
    "<!doctype html public \"-//W3C//DTD HTML 3.2//EN\" \"x\">",
    "<input type=hidden>",
    "<font color=red>",
    "<annotation-xml encoding=text/html>",
    "<annotation-xml encoding=APPLICATION/xhtml+xml>",
    "<svg viewbox=1 xlink:href=a definitionurl=b/>",
    "<math definitionurl=b viewbox=1>",
    "<a href=1>",
    "<a href=2 class=c>",
    "<a class=c href=2>",
    "<b class=c>",
    "<b class=c id=i>",
    "<b id=i class=c>",
    "<html lang=en class=h>",
    "<body class=b>",
    "<div class='a b'>",
    "<template shadowrootmode=open>",
    "<![CDATA[d]]>",
    "<script type=application/ld+json>{}</script>",
    "<lineargradient/>",
    "<clippath gradientunits=u>",
    "<p/>",
];

fn piece() -> impl Strategy<Value = String> {
    let element = prop::sample::select(&ELEMENTS[..]);
    prop_oneof![
        4 => element.clone().prop_map(|name| format!("<{name}>")),
        3 => element.prop_map(|name| format!("</{name}>")),
        2 => prop::sample::select(&OTHERS[..]).prop_map(str::to_owned),
    ]
}

/// Pages of one part of the elements: so that a few meet often.
fn narrow_piece() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(piece(), 3..9)
        .prop_flat_map(|pieces| prop::collection::vec(prop::sample::select(pieces), 0..40))
}

proptest! {
    // PROPTEST_CASES=10000000 for more.
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.max(40_000), ..ProptestConfig::default() })]

    #[test]
    fn random_pages_have_the_trees_of_the_oracle(pieces in prop::collection::vec(piece(), 0..24)) {
        assert_same(&pieces.concat(), ParseOptions::default());
    }

    #[test]
    fn random_pages_of_a_few_tags_have_the_trees_of_the_oracle(pieces in narrow_piece()) {
        assert_same(&pieces.concat(), ParseOptions::default());
    }

    #[test]
    fn deep_pages_have_the_trees_of_the_oracle(pieces in narrow_piece(), max_depth in 1_u16..8) {
        // The oracle closes such a template twice, and so loses count of the depth.
        let html = pieces.concat().replace(" shadowrootmode=open", "");
        assert_same(&html, ParseOptions { max_depth, ..ParseOptions::default() });
    }
}

#[test]
fn no_node_is_added_beyond_the_limit() {
    let limits = ParseOptions { max_nodes: 40, ..ParseOptions::default() };
    let tree = parse(&"<p>x<b>y</b>".repeat(100), &limits);
    assert!((30..50).contains(&tree.len()) && tree.notes() == [Note::NodesCut], "{} {:?}", tree.len(), tree.notes());
}

/// In foreign content, and in `noscript` without scripting, elements of raw text nest like all others.
#[test]
fn elements_of_raw_text_do_not_pass_the_depth_limit() {
    let limits = ParseOptions { max_depth: 50, ..ParseOptions::default() };
    for (open, close) in [("<svg>", "</y>"), ("<math>", "</xmp>"), ("<noscript>text</noscript>", "</noscript>")] {
        for name in ["xmp", "style", "iframe", "noscript", "title"] {
            let html = format!("{open}{}{}<p>end", format!("<{name}>").repeat(300), close.repeat(300));
            let tree = parse(&html, &limits);
            let deepest = tree.shape.depth.iter().max().copied().unwrap_or_default();
            assert!(deepest <= 55, "{open}<{name}>: {deepest}");
            assert_same(&html, limits);
        }
    }
}

#[test]
fn many_attributes_in_any_order_are_equal() {
    let attrs: Vec<String> = (0..20).map(|n| format!("a{n}=v{n}")).collect();
    let turned: Vec<&str> = attrs.iter().rev().map(String::as_str).collect();
    for other in [turned.join(" "), format!("{} b=1", attrs[1..].join(" "))] {
        let html = format!("<p><b {0}><b {1}><b {0}><b {1}><b {0}>x</p>y", attrs.join(" "), other);
        assert_same(&html, ParseOptions::default());
    }
}
