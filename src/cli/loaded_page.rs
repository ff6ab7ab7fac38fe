//! A page as `dehusk clean` has read it, with the wishes of its owner.

use std::sync::Arc;

use super::documents::FoundDocument;
use dehusk_core::page_rules::PageRules;
use dehusk_core::rights::RightsHeaders;
use dehusk_crawl::fetch::Response;
use dehusk_files::warc::Archived;
use dehusk_html::PageUrl;
use dehusk_html::{Tree, parse_bytes};
use dehusk_settings::{NoindexPages, Settings};

/// A page that was read.
pub(super) struct Loaded {
    /// As the source names it.
    pub(super) name: String,
    pub(super) tree: Tree,
    pub(super) url: Option<PageUrl>,
    pub(super) rules: PageRules,
    /// The headers in which its owner says what it may be used for.
    pub(super) rights: RightsHeaders,
    /// What its archive says of it; nothing, if it is from no archive.
    pub(super) archived: Archived,
    /// Whether it is one of many in its source, so that nobody has named it.
    pub(super) is_one_of_many: bool,
    /// The file that it was read from.
    pub(super) source: Option<Arc<str>>,
    /// Fields of its JSON line that are passed through, as an object.
    pub(super) input: Option<String>,
}

/// Whether a page is left out because its owner wants it in no collection.
pub(super) fn leaves_out(page: &Loaded, settings: &Settings) -> bool {
    if !page.rules.noindex || settings.store.noindex == NoindexPages::Show {
        return false;
    }
    if !page.is_one_of_many {
        tracing::warn!("{}: asks for noindex: its owner wants it in no collection", page.name);
    }
    page.is_one_of_many
}

pub(super) fn of_response(name: &str, response: &Response, settings: &Settings) -> Loaded {
    let (tree, _) = parse_bytes(&response.body, response.content_type.as_deref(), &settings.core.parse);
    let agents = settings.agents();
    let rules = rules_of(&tree, &response.rights, &agents);
    Loaded {
        name: name.to_owned(),
        tree,
        url: Some(response.url.clone()),
        rules,
        rights: response.rights.clone(),
        archived: Archived::default(),
        is_one_of_many: false,
        source: None,
        input: None,
    }
}

pub(super) fn of_found(found: FoundDocument, settings: &Settings, agents: &[String]) -> Loaded {
    let tree = found.tree(&settings.core.parse);
    let rules = rules_of(&tree, &found.rights, agents);
    let FoundDocument { name, url, rights, is_one_of_many, archived, source, input, .. } = found;
    Loaded { name, tree, url, rules, rights, archived, is_one_of_many, source, input }
}

fn rules_of(tree: &Tree, headers: &RightsHeaders, agents: &[String]) -> PageRules {
    let metas = tree.all("meta").filter_map(|meta| Some((tree.attr(meta, "name")?, tree.attr(meta, "content")?)));
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    PageRules::new(&headers.robots_tags(), metas, agents, now.map_or(0, |now| now.as_secs() as i64))
}
