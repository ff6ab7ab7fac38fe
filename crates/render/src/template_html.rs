//! The template of a page as an HTML document with the page's own design, for reuse of that design: every slot of the
//! page's own is empty.

use super::html::escape;
use dehusk_html::{NodeId, PageUrl, Tree, base_url};

/// What stands where content of the page's own stood.
const SLOT: &str = "<!-- slot -->";

/// Elements without content and end tag (HTML, section 13.1.2).
const VOID: [&str; 17] = [
    "area", "base", "basefont", "bgsound", "br", "col", "embed", "frame", "hr", "img", "input", "link", "meta",
    "param", "source", "track", "wbr",
];

/// The template of a page: the elements and texts that `is_template` selects and the elements that hold them, with all
/// of their attributes. Where nodes of the page's own stood is a comment, `<!-- slot -->`. The head has the links and
/// metadata of the page and, as they are not in the tree, the `style` elements and the `script` elements with an
/// address of its `source`. Relative addresses are those of `url`, by a `base` element.
///
/// This is markup of the page, with its scripts by reference and its handlers. It is not safe to open where the page
/// itself is not; [`super::write_html`] is.
pub fn write_template_html(
    tree: &Tree,
    url: Option<&PageUrl>,
    source: &str,
    is_template: impl Fn(NodeId) -> bool,
) -> String {
    let body = tree.counted();
    let mut holds: Vec<bool> = tree.nodes().map(|node| !body.contains(&node.index()) || is_template(node)).collect();
    for node in (1..tree.len()).rev() {
        if holds[node] {
            holds[tree.shape.parent[node] as usize] = true;
        }
    }
    let mut out = String::from("<!DOCTYPE html>\n");
    let mut open: Vec<(usize, &str)> = Vec::new();
    for node in tree.nodes() {
        close_until(node.index(), &mut open, &mut out);
        let parent = open.last().map_or("", |(_, name)| *name);
        if !holds[node.index()] {
            if !out.ends_with(SLOT) && holds[tree.shape.parent[node.index()] as usize] {
                out.push_str(SLOT);
            }
            continue;
        }
        out.push_str(tree.space(node));
        if tree.is_text(node) {
            escape(tree.text(node), false, &mut out);
            continue;
        }
        let name = tree.name(node);
        if !is_name(name) || (name == "base" && parent == "head") {
            continue;
        }
        out.push('<');
        out.push_str(name);
        write_attributes(tree, node, &mut out);
        out.push('>');
        if name == "head" {
            write_base(tree, url, &mut out);
        }
        if !VOID.contains(&name) {
            open.push((tree.shape.subtree(node).end, name));
        }
        if name == "head" {
            write_designs(source, &mut out);
        }
    }
    close_until(usize::MAX, &mut open, &mut out);
    out.push('\n');
    out
}

/// Letters, digits and the few signs that names have. Others would end the tag, or begin another one.
fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte))
}

fn write_attributes(tree: &Tree, node: NodeId, out: &mut String) {
    for (name, value) in tree.attrs(node).filter(|(name, _)| is_name(name)) {
        out.extend([" ", name, "=\""]);
        escape(value, true, out);
        out.push('"');
    }
}

fn write_base(tree: &Tree, url: Option<&PageUrl>, out: &mut String) {
    let Some(url) = url else { return };
    out.push_str("<base href=\"");
    escape(base_url(tree, url).as_str(), true, out);
    out.push_str("\">");
}

/// The `style` elements of a page, and its scripts that have an address, in their order.
fn write_designs(source: &str, out: &mut String) {
    for (name, tag, text) in raw_elements(source) {
        match name {
            "style" => out.extend([tag, text, "</style>"]),
            _ if tag.to_ascii_lowercase().contains(" src") => out.extend([tag, "</script>"]),
            _ => {}
        }
    }
}

/// The start tag and the text of each `style` element in the source of a page. No text has an end tag of `style` in it.
pub fn style_elements(source: &str) -> Vec<(&str, &str)> {
    let styles = raw_elements(source).into_iter().filter(|(name, ..)| *name == "style");
    styles.map(|(_, tag, text)| (tag, text)).collect()
}

/// Name, start tag and text of the `style` and `script` elements.
fn raw_elements(source: &str) -> Vec<(&'static str, &str, &str)> {
    let lower = source.to_ascii_lowercase();
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some((start, name)) = next_raw(&lower, at) {
        let Some(open_end) = lower[start..].find('>').map(|n| start + n + 1) else { break };
        let Some(close) = lower[open_end..].find(&format!("</{name}")).map(|n| open_end + n) else { break };
        found.push((name, &source[start..open_end], &source[open_end..close]));
        at = close;
    }
    found
}

/// Where the next `style` or `script` element begins.
fn next_raw(lower: &str, from: usize) -> Option<(usize, &'static str)> {
    let begins = |at: usize| {
        ["style", "script"].into_iter().find(|name| {
            let rest = lower[at + 1..].strip_prefix(name);
            rest.is_some_and(|rest| rest.starts_with(|c: char| c == '>' || c.is_ascii_whitespace()))
        })
    };
    lower[from..].match_indices('<').find_map(|(at, _)| Some((from + at, begins(from + at)?)))
}

fn close_until(node: usize, open: &mut Vec<(usize, &str)>, out: &mut String) {
    while let Some((_, name)) = open.last().filter(|(end, _)| *end <= node).copied() {
        out.extend(["</", name, ">"]);
        open.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dehusk_html::{ParseOptions, parse};

    #[test]
    fn slots_are_empty_and_the_design_stays() {
        let source = "<html lang=en><head><title>T</title><link rel=stylesheet href=a.css><base href=/x/>\
            <STYLE media=screen>p > b { color: red }</style><script async src=a.js></script><script>track()</script></head>\
            <body class=b style='margin:0'><nav onclick=\"a('&quot;')\"><a href=/>Home &amp; more</a></nav>\
            <main id=m><h1>Own</h1><p>own</p></main><svg viewBox='0 0 1 1'><path d=M0 /></svg><footer>Foot</footer>";
        let tree = parse(source, &ParseOptions::default());
        let main = tree.all("main").next().unwrap();
        let own = tree.shape.subtree(main);
        let url = PageUrl::parse("http://a.test/p").unwrap();
        let html = write_template_html(&tree, Some(&url), source, |node| node == main || !own.contains(&node.index()));
        assert_eq!(
            html,
            "<!DOCTYPE html>\n<html lang=\"en\"><head><base href=\"http://a.test/x/\"><STYLE media=screen>p > b { color: red }\
             </style><script async src=a.js></script><title>T</title><link rel=\"stylesheet\" href=\"a.css\"></head>\
             <body class=\"b\" style=\"margin:0\"><nav onclick=\"a('&quot;')\"><a href=\"/\">Home &amp; more</a></nav>\
             <main id=\"m\"><!-- slot --></main><svg viewBox=\"0 0 1 1\"><path d=\"M0\"></path></svg>\
             <footer>Foot</footer></body></html>\n"
        );
        // Read again, it has the same elements.
        let again = parse(&html, &ParseOptions::default());
        assert_eq!(again.all("path").count() + again.all("main").count(), 2);
    }
}
