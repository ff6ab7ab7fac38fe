//! What is written, and what never is.

use crate::write_html;
use dehusk_html::PageUrl;
use dehusk_html::{ParseOptions, Tree, parse, write_text};

fn page(html: &str) -> Tree {
    parse(html, &ParseOptions::default())
}

fn body(html: &str) -> String {
    let url = PageUrl::parse("http://s.com/a/").unwrap();
    let written = write_html(&page(html), Some(&url), |_| true);
    let from = written.find("<body>").unwrap() + "<body>".len();
    written[from..written.rfind("</body>").unwrap()].to_owned()
}

#[test]
fn what_is_written_parses_to_the_same_tree() {
    let html = "<title>a&amp;b</title><p class='x y' title='\"'>1 &lt; 2 <b>x</b> <i>y</i><br>z<ul><li>1<li>2</ul>";
    let tree = page(html);
    let again = page(&write_html(&tree, None, |_| true));
    let body = |t: &Tree| t.subtree_hashes().full[t.counted().start];
    assert_eq!(body(&tree), body(&again));
    assert_eq!(tree.counted().len(), again.counted().len());
}

#[test]
fn cloned_attributes_do_not_multiply_a_page() {
    let (href, title) = ("h".repeat(20_000), "t".repeat(20_000));
    let clones = |n: usize| body(&format!("<p><b title='{title}'><a href='/{href}'>x{}", "<p>x".repeat(n)));
    assert_eq!(clones(3).matches(" title=").count(), 4, "a few are written as a browser has them");
    assert_eq!(clones(3).matches(" href=").count(), 4);
    let many = clones(2000);
    assert!(many.len() < 2_000_000 && many.matches("<p>").count() == 2001, "{} bytes", many.len());
    // The attributes of the source itself are all written, whatever their order in memory.
    let own: String = (0..300).map(|n| format!("<a href='/{n}{}' title='&amp;{n}'>x</a>", &href[..8000])).collect();
    assert_eq!((body(&own).matches(" href=").count(), body(&own).matches(" title=").count()), (300, 300));
}

#[test]
fn every_place_of_a_text_is_escaped() {
    let marks =
        [('&', "&amp;"), ('<', "&lt;"), ('>', "&gt;"), ('\u{a0}', "&nbsp;"), ('"', "&quot;"), ('\u{a9}', "\u{a9}")];
    for (mark, written) in marks {
        for at in 0..70 {
            let (before, after) = ("a".repeat(at), "é".repeat(40));
            let mut out = String::new();
            super::escape(&format!("{before}{mark}{mark}{after}{mark}"), true, &mut out);
            assert_eq!(out, format!("{before}{written}{written}{after}{written}"));
        }
    }
}

#[test]
fn what_means_markup_is_escaped() {
    let html = body("<p title='a\"b&amp;<&nbsp;>'>\u{c2}\u{a9}1 &lt; 2 &amp;&nbsp;3 &gt; \"é\"</p>");
    assert_eq!(html, "<p title=\"a&quot;b&amp;&lt;&nbsp;&gt;\">\u{c2}\u{a9}1 &lt; 2 &amp;&nbsp;3 &gt; \"é\"</p>");
}

#[test]
fn kept_nodes_move_up_when_their_parent_is_dropped() {
    let tree = page("<div><p>keep</p></div>");
    let html = write_html(&tree, None, |n| tree.name(n) != "div");
    assert!(html.contains("<body> <p>keep</p></body>"), "{html}");
}

#[test]
fn words_stay_apart_and_code_keeps_its_lines() {
    let tree = page("<p>one<br>two</p><pre>\n\n<b>a</b>\n  <i>b</i></pre><plaintext>1 < 2");
    let html = write_html(&tree, None, |n| tree.name(n) != "br");
    assert!(html.contains("<p>one two</p>"), "{html}");
    let again = page(&html);
    assert_eq!(write_text(&again, |_| true), write_text(&tree, |_| true).replace("one\n", "one "));
    assert!(html.contains("<b>a</b>\n  <i>b</i>"), "{html}");
}

#[test]
fn elements_that_are_not_written_leave_their_text() {
    for html in [
        "<form action=x><label>Name <input></label><button>Send</button> it</form>",
        "<p>Choose <select><option>one<option>two</select> of them",
        "<my-card><p>a</p></my-card><font color=red>b</font>c<center>d</center>",
        "<a><svg><title>Icon</title><text>x</text></svg>Link</a><object>fallback</object>y",
        "<dir><li>a</dir><menu><li>b</menu><tt>c</tt><xmp><b></xmp>",
        "<math><mi>x</mi><mo>=</mo><mn>2</mn></math> <ruby>a<rt>b</ruby>",
        "<noframes>old</noframes><iframe><p>no</iframe>z",
        "<dialog>a</dialog><fieldset><legend>b</legend>c</fieldset><video>no film</video>",
    ] {
        let tree = page(html);
        let again = page(&write_html(&tree, None, |_| true));
        assert_eq!(write_text(&again, |_| true), write_text(&tree, |_| true), "{html}");
    }
}

#[test]
fn links_and_pictures_are_absolute_and_lazy_ones_found() {
    assert_eq!(body("<a href=b onclick=x() target=_top>l</a>"), "<a href=\"http://s.com/a/b\">l</a>");
    assert_eq!(body("<img src=i.png alt=A onerror=x()>"), "<img alt=\"A\" src=\"http://s.com/a/i.png\">");
    let want = "<img src=\"http://s.com/real.jpg\">";
    assert_eq!(body("<img src=data:image/gif;base64,R0 data-src=/real.jpg>"), want);
    let both = body("<img src=data:image/gif;base64,R0><noscript><img src=/real.jpg></noscript>");
    assert_eq!(both, want, "the noscript gives the source, once");
    assert_eq!(
        body("<p>x<noscript><img src=/real.jpg alt=R></noscript></p>y"),
        "<p>x<img src=\"http://s.com/real.jpg\" alt=\"R\"></p>y"
    );
    assert_eq!(body("<noscript><img src=/pixel width=1 height=1></noscript>y"), "y");
    let set = body("<img srcset='a.png 1x, b.png 2x'>");
    assert_eq!(set, "<img src=\"http://s.com/a/b.png\" srcset=\"http://s.com/a/a.png 1x, http://s.com/a/b.png 2x\">");
    assert_eq!(body("<input type=checkbox checked>done"), "<input type=\"checkbox\" disabled checked>done");
}

#[test]
fn nothing_that_runs_or_loads_is_written() {
    for html in [
        "<script>x()</script>",
        "<iframe src=http://e.com srcdoc='<script>x()</script>'></iframe>",
        "<object data=e></object>",
        "<embed src=e>",
        "<form action=javascript:x()><input onfocus=x() autofocus></form>",
        "<a href=javascript:x()>",
        "<meta http-equiv=refresh content='0;url=e'>",
        "<base href=//e.com>",
        "<link rel=stylesheet href=e>",
        "<link rel='alternate stylesheet' href=e>",
        "<style>@import 'e'</style>",
        "<p style='background:url(e)'>",
        "<svg onload=x()><script>x()</script><use href=e /></svg>",
        "<body onload=x() background=e>",
        "<math><mtext><table><mglyph><style><img src=x onerror=x()>",
        "<video poster=e src=javascript:x() autoplay>",
        "<img src=javascript:x()>",
        "<table background=e>",
        "<frameset onload=x()><frame src=e>",
        "<svg><a xlink:href=javascript:x()>t",
        "<noscript><p title='</noscript><img src=x onerror=x()>'>",
        "<textarea></textarea><img title='</textarea><script>x()'>",
        "<isindex action=javascript:x()>",
        "<div hidden style=x>a</div>",
        "<meta name=a content=b http-equiv=refresh>",
    ] {
        let written = write_html(&page(html), None, |_| true).replace(super::HEAD, "").to_ascii_lowercase();
        let again = page(&written);
        for node in again.nodes().filter(|node| !again.is_text(*node)) {
            let name = again.name(node);
            assert!(
                !["iframe", "object", "embed", "form", "base", "frame", "svg", "style"].contains(&name),
                "{html}: {written}"
            );
            for (attr, value) in again.attrs(node) {
                assert!(
                    !attr.starts_with("on")
                        && !["style", "background", "poster", "action", "http-equiv"].contains(&attr),
                    "{html}: {written}"
                );
                assert!(attr == "title" || !value.contains("x()"), "{html}: {written}");
            }
        }
        assert!(!written.contains("<script") && !written.contains("<style"), "{html}: {written}");
    }
}
