//! Sites at random parameters, whose template is known by construction, learned and cleaned.

use dehusk::demo::{DemoSite, check_site, generated};
use dehusk_html::ParseOptions;
use dehusk_html::parse;
use dehusk_html::{PageUrl, Site};
use dehusk_template::learn_options::Preset;
use dehusk_template::learner::{FoundPage, Learner};
use dehusk_template::template::Template;

fn learned(site: &DemoSite) -> Option<Template> {
    let url = |path: &str| PageUrl::parse(&format!("http://generated.demo.test{path}")).unwrap();
    let page = |path: &str| {
        let tree = parse(&site.pages.get(path)?.html(), &ParseOptions::default());
        Some(FoundPage::new(url(path), tree))
    };
    let key = page(&site.key).unwrap();
    let learn = Preset::Dehusk.learn();
    let own = Site::new(&key.url, learn.links.same_site);
    Learner::new(key, own, None, &learn).run(|url| page(url.path())).template
}

#[test]
fn no_word_of_their_own_is_lost_and_nearly_all_of_the_template_goes() {
    let (mut nodes, mut n, mut lost) = (0.0, 0, Vec::new());
    for seed in 0..80 {
        let site = generated(seed);
        let template = learned(&site).unwrap_or_else(|| panic!("seed {seed}: no template"));
        let check = check_site(&site, &template);
        if check.words_kept < 1.0 {
            lost.push((seed, check));
        }
        nodes += check.nodes.f1;
        n += 1;
    }
    assert!(lost.is_empty(), "words lost: {lost:#?}");
    let mean = nodes / f64::from(n);
    println!("node F1 {mean:.4} over {n} sites");
    assert!(mean > 0.98, "node F1 {mean:.4} over {n} sites");
}
