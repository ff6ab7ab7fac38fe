//! Renders a key page with its template highlighted as one self-contained HTML file, without scripts and requests.
//!
//! The page's markup is untrusted: it is written by `safe_html`, and the Content-Security-Policy of the file forbids
//! scripts and requests.

use crate::safe_html::{Marking, escaped, safe_html};
use dehusk_content::Labels;
use dehusk_html::{NodeId, Tree};
use dehusk_html::{PageUrl, base_url};
use dehusk_template::template::Template;

const STYLE: &str = "
:root { color-scheme: light; font: 15px/1.5 system-ui, sans-serif; }
body { margin: 0; }
.bar { position: sticky; top: 0; background: #222; color: #fff; padding: .6rem 1rem; }
.bar b { font-weight: 600; }
.bar small { display: block; color: #bbb; overflow-wrap: anywhere; }
.show { position: sticky; top: 3.6rem; background: #eee; padding: .4rem 1rem; border-bottom: 1px solid #ccc; }
.show label { margin-right: 1.2rem; }
#page { padding: 1rem; max-width: 70rem; overflow-wrap: anywhere; }
#page [data-dehusk=t] { background: #fdeccb; }
#page span[data-dehusk=t] { border-bottom: 1px solid #e0a030; }
#page pre { white-space: pre-wrap; }
body:has(#template:checked) #page [data-dehusk=o], body:has(#own:checked) #page [data-dehusk=t] { display: none; }
";

/// The content of the HTML file.
pub(super) fn picture(template: &Template, version: i64, page: &Tree, applied: &Labels) -> String {
    let is_template = &applied.is_template;
    let base = PageUrl::parse(&template.key_url).ok().map(|url| base_url(page, &url));
    let kinds: Vec<u8> = is_template.iter().map(|is| u8::from(!is)).collect();
    let marking = Marking {
        kinds: &kinds,
        names: &["t", "o"],
        title: &|_| String::new(),
        base: base.as_ref(),
        links: true,
        pictures: false,
        max_nodes: usize::MAX,
    };
    let marked = safe_html(page, &marking);
    let texts = page.counted().map(NodeId::new).filter(|node| page.is_text(*node));
    let (mut all, mut template_chars) = (0, 0);
    for node in texts {
        let chars = page.text(node).chars().count();
        all += chars;
        template_chars += if is_template[node.index()] { chars } else { 0 };
    }
    let share = if all == 0 { 0.0 } else { 100.0 * template_chars as f64 / all as f64 };
    let (host, key_url) = (escaped(&template.host), escaped(&template.key_url));
    let (n, nodes) = (template.n_nodes(), template.key_nodes);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>Template of {host}</title>\
         <style>{STYLE}</style></head>\n<body>\n\
         <div class=\"bar\"><b>Template of {host}</b>, version {version}: {n} of {nodes} nodes, {share:.0} % of the text of \
         <small>{key_url}</small></div>\n\
         <div class=\"show\">Show \
         <label><input type=\"radio\" name=\"show\" id=\"both\" checked> both, the template shaded</label>\
         <label><input type=\"radio\" name=\"show\" id=\"template\"> the template</label>\
         <label><input type=\"radio\" name=\"show\" id=\"own\"> the page without it</label></div>\n\
         <main id=\"page\">{marked}</main>\n</body></html>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use dehusk_html::ParseOptions;
    use dehusk_html::parse;
    use dehusk_template::etdm::vote;
    use dehusk_template::learn_options::Preset;
    use dehusk_template::template::Provenance;

    #[test]
    fn nothing_of_the_page_runs_and_all_of_it_is_marked() {
        let html = "<nav onclick=alert(1)><a href='javascript:alert(2)'>Home</a> <a href=/a>A &amp; B</a></nav>\
            <script>alert(3)</script><img src=x onerror=alert(4)><p style='background:url(http://e.test/)'>own &lt;b&gt;</p>\
            <svg><script>alert(5)</script></svg><iframe src=//e.test></iframe><foo\"><x></main><style>*{display:none}</style>";
        let tree = parse(html, &ParseOptions::default());
        let url = PageUrl::parse("http://s.test/k").unwrap();
        let learn = Preset::Thesis2014.learn();
        let template = Template::from_votes(
            &tree,
            Provenance { key_url: Some(&url), ..Provenance::default() },
            &vote(&tree, &[&tree], &learn.etdm),
            &learn,
        );
        let mut applied = Labels::none(&tree);
        tree.all("nav").for_each(|nav| applied.is_template[tree.shape.subtree(nav)].fill(true));
        let picture = picture(&template, 1, &tree, &applied);
        for bad in ["<script", "alert(1)", "javascript:", "onerror", "<img", "<iframe", "<svg", "url(", "display:none"]
        {
            assert!(!picture.contains(bad), "{bad} in {picture}");
        }
        assert!(picture.contains("<nav data-dehusk=\"t\">"), "{picture}");
        assert!(picture.contains("<a data-dehusk=\"t\" href=\"http://s.test/a\""), "{picture}");
        let own = parse(&picture, &ParseOptions::default());
        assert_eq!(own.all("main").filter(|main| own.attr(*main, "id") == Some("page")).count(), 1);
        assert_eq!(own.all("main").count(), 1, "the page does not end the frame that it stands in");
        assert!(picture.contains("<p data-dehusk=\"o\"><span data-dehusk=\"o\">own &lt;b&gt;</span>"), "{picture}");
    }
}
