//! The tree against html5ever's RcDom, against the corpus labels, and against its own laws.

use std::time::{Duration, Instant};

use dehusk_html::{KeepNodes, ParseOptions};
use dehusk_html::{NodeId, Note, Tree, decode, parse};
use html5ever::tendril::TendrilSink;
use html5ever::{ParseOpts, parse_document};
use markup5ever_rcdom::{Handle, NodeData, RcDom};
use proptest::prelude::*;

use crate::corpus;

/// One line a node: depth, name, attributes or text.
fn ours(tree: &Tree) -> Vec<String> {
    tree.nodes()
        .map(|n| {
            let depth = tree.shape.depth[n.index()];
            if tree.is_text(n) {
                return format!("{depth} {:?}", tree.text(n));
            }
            let attrs: String = tree.attrs(n).map(|(k, v)| format!(" {k}={v:?}")).collect();
            format!("{depth} {}{attrs}", tree.name(n))
        })
        .collect()
}

/// With scripting, `noscript` holds raw text, which is left out; without, it is an element.
fn oracle(html: &str, keep: KeepNodes, scripting: bool) -> Vec<String> {
    let mut opts = ParseOpts::default();
    opts.tree_builder.scripting_enabled = scripting;
    let dom = parse_document(RcDom::default(), opts).one(html);
    let mut out = Vec::new();
    walk(&dom.document, 0, keep, scripting, &mut out);
    out
}

fn walk(parent: &Handle, depth: usize, keep: KeepNodes, scripting: bool, out: &mut Vec<String>) {
    for node in parent.children.borrow().iter() {
        match &node.data {
            NodeData::Text { contents } => {
                let text = contents.borrow();
                let blank = text.chars().all(|c| c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c));
                if !blank || keep == KeepNodes::Browser {
                    out.push(format!("{depth} {:?}", &**text));
                }
            }
            NodeData::Comment { .. } if keep == KeepNodes::Browser && depth > 0 => {
                out.push(format!("{depth} #comment"))
            }
            NodeData::Element { name, attrs, .. } => {
                let is_raw = scripting && &*name.local == "noscript";
                if is_raw || matches!(&*name.local, "script" | "style" | "template") {
                    continue;
                }
                let attrs: String = attrs
                    .borrow()
                    .iter()
                    .map(|a| match &a.name.prefix {
                        Some(p) if !p.is_empty() => format!(" {p}:{}={:?}", a.name.local, &*a.value),
                        _ => format!(" {}={:?}", a.name.local, &*a.value),
                    })
                    .collect();
                out.push(format!("{depth} {}{attrs}", name.local));
                walk(node, depth + 1, keep, scripting, out);
            }
            _ => {}
        }
    }
}

fn check_against_oracle(html: &str, what: &str) {
    for keep in [KeepNodes::Counted, KeepNodes::Browser] {
        let limits = ParseOptions { keep, ..ParseOptions::default() };
        let tree = parse(html, &limits);
        let scripting = !tree.notes().contains(&Note::NoscriptKept);
        let (got, want) = (ours(&tree), oracle(html, keep, scripting));
        if let Some(at) = (0..got.len().max(want.len())).find(|i| got.get(*i) != want.get(*i)) {
            panic!("{what} {keep:?}: node {at}: ours {:?}, RcDom {:?}", got.get(at), want.get(at));
        }
    }
}

/// Preorder interval laws (ALGORITHMS 10).
fn check_laws(tree: &Tree) {
    let shape = &tree.shape;
    for n in tree.nodes().skip(1) {
        let (i, parent) = (n.index(), shape.parent[n.index()] as usize);
        assert!(parent < i, "a parent comes first");
        assert!(shape.subtree(NodeId::new(parent)).contains(&(shape.subtree(n).end - 1)));
        assert_eq!(shape.depth[i], shape.depth[parent] + 1);
    }
    for n in tree.nodes() {
        let children: Vec<usize> = shape.children(n).collect();
        assert_eq!(children.len(), shape.n_children[n.index()] as usize);
        let sizes: u32 = children.iter().map(|c| shape.size[*c]).sum();
        assert_eq!(sizes + 1, shape.size[n.index()]);
        for (k, child) in children.iter().enumerate() {
            assert_eq!(shape.position[*child] as usize, k + 1);
            assert_eq!(shape.parent[*child] as usize, n.index());
        }
    }
}

const BAD: &[&str] = &[
    "",
    "plain",
    "<table>a<tr>b<td>c</table>d",
    "<table>a <b>b<tr> c <td>d</b>e</table>f",
    "<p>1<b>2<i>3</b>4</i>5",
    "<a>1<p>2<a>3</p>4</a>",
    "<b><p><b><p><b><p>x</b>y",
    "<div><div></span></div><li>a<li>b<ul><li>c",
    "<select><option>a<option>b<div>c</select>",
    "<body a=1><body b=2 a=3><p>x<html lang=en>",
    "<frameset><frame></frameset>",
    "<svg><a xlink:href=x><foreignObject><p>y</p></foreignObject></a><title>t</title></svg>z",
    "<math><annotation-xml encoding=text/html><p>x</annotation-xml></math>",
    "<template><p>x</p></template><p>y",
    "<head><noscript><link><p>x</noscript><title>t",
    "<iframe><p>x</iframe><textarea>\n<b></textarea><plaintext><p>",
    "<!doctype html><!-- c --><html><!-- d --><body>x</body><!-- e --></html>y",
    "<pre>\n\nx</pre>\u{0}a\u{0}b&amp;&nosuch;&#x41;",
    "<ul><li><a href=1>x<li><a href=2>y</ul>",
    "<button><p><button>x<form><form>y",
    "<td>x<tr>y<caption>z",
    "<h1>a<h2>b</h1>c<dd>d<dt>e",
    "<font color=a><font color=b><p><font color=c>x</p>y",
];

#[test]
fn bad_html_gives_the_oracles_tree() {
    for html in BAD {
        check_against_oracle(html, html);
        check_laws(&parse(html, &ParseOptions::default()));
    }
}

#[test]
fn every_corpus_page_gives_the_oracles_tree_and_the_labels_node_count() {
    let Some(sites) = corpus::sites() else { return };
    let mut n_pages = 0;
    for labels in corpus_files(&sites.join("labels/dev")) {
        let site = labels.file_stem().unwrap().to_str().unwrap().to_owned();
        for line in std::fs::read_to_string(&labels).unwrap().lines() {
            let row: serde_json::Value = serde_json::from_str(line).unwrap();
            let page = row["page"].as_str().unwrap();
            let bytes = std::fs::read(format!("{}/dev/{site}/www{page}", sites.display())).unwrap();
            let (text, _) = decode(&bytes, None);
            check_against_oracle(&text, &format!("{site}{page}"));
            let tree = parse(&text, &ParseOptions::default());
            check_laws(&tree);
            assert_eq!(tree.counted().len() as u64, row["nodes"].as_u64().unwrap(), "{site}{page}");
            n_pages += 1;
        }
    }
    assert_eq!(n_pages, 1566);
}

fn corpus_files(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    files
}

/// Not a timing of ours: quadratic work would need hours here.
#[test]
fn hostile_pages_end_soon_and_say_what_was_cut() {
    let many = |text: &str, n: usize| text.repeat(n);
    let limits = ParseOptions::default();
    let start = Instant::now();

    let deep = parse(&many("<div>", 1_000_000), &limits);
    assert_eq!(deep.shape.depth.iter().max(), Some(&512));
    assert!(matches!(deep.notes(), [Note::Dissolved(n)] if *n > 999_000));

    let closed = parse(&format!("{}x{}<p>after</p>", many("<div>", 100_000), many("</div>", 100_000)), &limits);
    let after = closed.nodes().find(|n| closed.name(*n) == "p").unwrap();
    assert_eq!(closed.shape.depth[after.index()], 2, "dropped end tags close nothing");

    let stray = parse(&many("<div></b></x>", 300_000), &limits);
    assert!(*stray.shape.depth.iter().max().unwrap() < 3000);

    let after_body = parse(&many("</body><!----><x>", 300_000), &limits);
    assert!(*after_body.shape.depth.iter().max().unwrap() < 3000);
    let attributes: String = (0..200_000).map(|i| format!(" a{i}=1")).collect();
    let one_tag = parse(&format!("<p{attributes}>text</p{attributes}><b>after"), &limits);
    assert_eq!(one_tag.notes(), [Note::AttributesCut(2)]);
    assert!(one_tag.nodes().any(|n| one_tag.text(n) == "after"));
    let clones = format!("<p><b{}></p>{}", &attributes[..8000], many("<p>x", 100_000));
    assert!(parse(&clones, &limits).len() > 100_000);

    let wide = parse(&many("<p>x", 1_000_000), &limits);
    assert_eq!(wide.notes(), [Note::NodesCut]);
    assert!(wide.len() <= limits.max_nodes);

    let formatting = parse(&many("<b><i><font size=1><p>", 100_000), &limits);
    check_laws(&formatting);
    let foster = parse(&format!("<table>{}", many("a<tr> ", 200_000)), &limits);
    assert!(foster.len() > 1000);
    let long = format!("<b title='{}'>{}", many("x", 1_000_000), many("<p>x", 50_000));
    assert!(parse(&long, &limits).len() > 50_000);

    let cut = parse(&many("é", 1000), &ParseOptions { max_bytes: 101, ..limits });
    assert_eq!(cut.notes(), [Note::BytesCut(1900)]);
    assert!(start.elapsed() < Duration::from_secs(300));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn random_tag_soup_gives_the_oracles_tree(parts in proptest::collection::vec(0..24_usize, 0..60)) {
        const TAGS: [&str; 24] = [
            "<div>", "</div>", "<p>", "</p>", "<b>", "</b>", "<i id=x>", "</i>", "<table>", "</table>", "<tr>",
            "<td class='a b'>", "</td>", "<a href=1>", "</a>", "text ", " ", "<li>", "<ul>", "</ul>", "<!--c-->",
            "<script>x</script>", "<select>", "<br/>",
        ];
        let html: String = parts.iter().map(|i| TAGS[*i]).collect();
        check_against_oracle(&html, &html);
        check_laws(&parse(&html, &ParseOptions::default()));
    }

    #[test]
    fn any_bytes_give_a_tree(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let (tree, _) = dehusk_html::parse_bytes(&bytes, None, &ParseOptions::default());
        check_laws(&tree);
    }
}
