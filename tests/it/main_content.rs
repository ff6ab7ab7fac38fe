//! Main content of pages of a crawl that kept whatever is not template: the blocks that it is chosen by are made of the
//! stored pages.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use dehusk::demo::server::Server;
use dehusk::demo::{answers, sites};
use dehusk_core::clean::KeepText;
use dehusk_crawl::Summary;
use dehusk_html::PageUrl;
use dehusk_settings::Settings;
use dehusk_store::Store;
use dehusk_template::template::Template;

use crate::crawl::{run, settings};

/// The demo sites that answer every request with its page.
struct Steady {
    server: Server,
    hosts: Vec<String>,
    seeds: Vec<PageUrl>,
    dir: tempfile::TempDir,
}

impl Steady {
    fn start() -> Steady {
        let sites: Vec<_> = sites().into_iter().filter(|site| site.fails_every == 0 && site.wait.is_zero()).collect();
        let hosts = sites.iter().map(|site| site.host()).collect();
        let seeds = sites.iter().filter_map(|site| site.seed()).collect();
        let server = Server::start(answers(Arc::new(sites))).unwrap();
        Steady { server, hosts, seeds, dir: tempfile::tempdir().unwrap() }
    }

    fn settings(&self, db: &str, keep: KeepText) -> Settings {
        let names: Vec<&str> = self.hosts.iter().map(String::as_str).collect();
        let mut settings = settings(&self.dir.path().join(db), &self.server, &names);
        settings.core.clean.keep = keep;
        settings.crawl.pages_per_site = 20;
        settings.politeness.delay = Duration::from_millis(5);
        settings
    }

    fn crawl(&self, settings: &Settings) -> Summary {
        run(self.seeds.clone(), settings).0
    }
}

fn n_without_blocks(template: &Template) -> usize {
    template.training_set.as_ref().map_or(0, |set| set.without_blocks().len())
}

#[test]
fn blocks_that_are_made_of_stored_pages_are_those_of_a_crawl_for_main_content() {
    let sites = Steady::start();
    let (own, main) = (sites.settings("own.db", KeepText::Own), sites.settings("main.db", KeepText::Main));
    assert_eq!(sites.crawl(&own).stats.pages, sites.crawl(&main).stats.pages);
    let [own_store, main_store] = [&own, &main].map(|settings| Store::open(Path::new(&settings.store.path)).unwrap());
    let mut n_made = 0;
    for template in main_store.load_newest_templates().unwrap() {
        assert_eq!(n_without_blocks(&template), 0, "{}", template.host);
        let stored = own_store.load_template(&template.host, None).unwrap().unwrap();
        assert_eq!(n_without_blocks(&stored), stored.training_set.as_ref().map_or(0, |set| set.n_pages()));
        n_made += n_without_blocks(&stored);
        let made = own_store.load_template_with_blocks(&template.host, None, &own.core.parse).unwrap();
        assert!(made.as_ref() == Some(&template), "{}", template.host);
    }
    assert!(n_made > 9 * 5, "{n_made} training pages");
}

#[test]
fn a_crawl_for_main_content_learns_sites_without_blocks_again_and_once() {
    let sites = Steady::start();
    let own = sites.settings("n.db", KeepText::Own);
    let n_learned = sites.crawl(&own).stats.learned;
    let mut main = sites.settings("n.db", KeepText::Main);
    main.revisit.all = true;
    assert!(n_learned > 5);
    assert_eq!(sites.crawl(&main).stats.learned, n_learned);
    let store = Store::open(Path::new(&main.store.path)).unwrap();
    assert!(store.load_newest_templates().unwrap().iter().all(|template| n_without_blocks(template) == 0));
    assert_eq!(sites.crawl(&main).stats.learned, 0, "they have their blocks now");
}
