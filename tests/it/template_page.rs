//! The template itself, for people: a page with empty slots, and the template part of any page.

use crate::cli::{dehusk, err, out};

#[test]
fn a_template_is_exported_as_a_page_with_empty_slots() {
    let dir = tempfile::tempdir().unwrap();
    let demo = dehusk(dir.path(), &["demo", "--quiet"]);
    assert!(demo.status.success(), "{}", err(&demo));
    let run = |args: &[&str]| {
        let done = dehusk(dir.path(), &[args, &["--db", "dehusk-demo/dehusk.db"]].concat());
        assert!(done.status.success(), "{}", err(&done));
        out(&done)
    };
    let (page, own) = ("http://menus.demo.test/1/3.html", "--view=own");
    let own = run(&["pages", "show", page, own]);
    let template = run(&["pages", "show", page, "--view", "template"]);
    assert!(template.contains("Imprint") && !own.contains("Imprint"), "{template}");
    let sentences = own.lines().filter(|line| line.len() > 40);
    assert!(sentences.clone().count() > 2 && sentences.clone().all(|line| !template.contains(line)), "{template}");
    let markdown = run(&["pages", "show", page, "--view", "template", "--format", "markdown"]);
    assert!(markdown.contains("[Imprint](http://menus.demo.test/"), "{markdown}");

    let html = run(&["templates", "export", "menus.demo.test", "--form", "html"]);
    for part in ["<base href=\"http://menus.demo.test/", "rel=\"stylesheet\"", "<ul class=\"menu\">", "<!-- slot -->"] {
        assert!(html.contains(part), "{part}: {html}");
    }
    let words = |html: &str| {
        let tree = dehusk_html::parse(html, &dehusk_html::ParseOptions::default());
        dehusk_html::write_text(&tree, |_| true)
    };
    assert_eq!(words(&html).trim(), template.trim(), "the same for all pages of the site");
    let json = run(&["templates", "export", "menus.demo.test"]);
    assert!(json.starts_with('{'));
}
