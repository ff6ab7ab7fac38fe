//! A fetched page, parsed and packed.

use dehusk_html::parse_bytes;
use dehusk_template::learner::FoundPage;

use super::Tools;
use crate::fetch::Response;
use crate::request::Request;
use dehusk_core::page_rules::PageRules;
use dehusk_core::rights::{Rights, page_statements};
use dehusk_store::validators::Validators;
use dehusk_store::{Cleaned, NewPage, NewUrl, NewVisit, PageWrite, SiteId, digest};

/// A page as it came, from the network or from before a restart.
pub(crate) struct FetchedPage {
    pub(crate) request: Request,
    pub(crate) response: Response,
    /// Unix milliseconds.
    pub(crate) fetched_at: i64,
    /// Its visit, where it is to be stored.
    pub(crate) visit: Option<NewVisit>,
    /// What the store knows about its rules.
    pub(crate) noindex: bool,
    pub(crate) nofollow: bool,
    pub(crate) rendering: Rendering,
}

/// Whether a browser renders a page.
#[derive(Debug)]
pub(crate) enum Rendering {
    /// It does not.
    Off,
    /// It may, if the page needs it.
    Possible,
    /// It could not, for this reason.
    Failed(String),
    /// It has: the body is the tree that scripts have built. With the body as it was fetched.
    Done(Vec<u8>),
}

/// A page with its tree and its owner's rules.
pub(super) struct ParsedPage {
    pub(super) page: FoundPage,
    pub(super) rules: PageRules,
    /// What its owner says about its use.
    pub(super) rights: Rights,
}

impl ParsedPage {
    pub(super) fn new(fetched: &FetchedPage, tools: &Tools) -> ParsedPage {
        let response = &fetched.response;
        let (tree, _) = parse_bytes(&response.body, response.content_type.as_deref(), &tools.settings.core.parse);
        let metas = tree.all("meta").filter_map(|meta| Some((tree.attr(meta, "name")?, tree.attr(meta, "content")?)));
        let mut rules = PageRules::new(&response.rights.robots_tags(), metas, &tools.agents, fetched.fetched_at / 1000);
        rules.noindex |= fetched.noindex;
        rules.nofollow |= fetched.nofollow;
        let of_site = fetched.visit.iter().flat_map(|visit| visit.rights.statements.iter().cloned());
        let rights = Rights::new(of_site.chain(page_statements(&response.rights, &tree, &tools.agents)));
        let page = FoundPage { nofollow: rules.nofollow, ..FoundPage::new(response.url.clone(), tree) };
        ParsedPage { page, rules, rights }
    }
}

/// A page for the store; `None` when it is there already.
pub(super) fn page_write(
    site: SiteId,
    fetched: FetchedPage,
    parsed: &ParsedPage,
    cleaned: Option<Cleaned>,
    links: Vec<NewUrl>,
    tools: &Tools,
) -> Option<Box<PageWrite>> {
    let FetchedPage { request, response, fetched_at, visit, rendering, .. } = fetched;
    let pack = |body: &[u8]| tools.shared.packer.pack(body, tools.settings.store.zstd_level);
    let (as_fetched, validators) = match rendering {
        // What the server says of its answer says nothing of what scripts make of it.
        Rendering::Done(body) => (Some(pack(&body)), Validators::default()),
        _ => (None, response.validators),
    };
    // Two spellings of one URL are one row.
    let is_other = request.asked.fingerprint() != response.url.fingerprint();
    let asked = is_other.then(|| (request.asked.clone(), request.moved()));
    Some(Box::new(PageWrite {
        site,
        visit: NewVisit { rights: parsed.rights.clone(), ..visit? },
        asked,
        page: NewPage {
            depth: request.depth,
            fetched_at,
            status: response.status,
            content_type: response.content_type,
            validators,
            noindex: parsed.rules.noindex,
            nofollow: parsed.rules.nofollow,
            rights: parsed.rights.clone(),
            warc: tools.warc.clone(),
            warc_record: response.warc_record,
            digest: digest(&response.body),
            raw: pack(&response.body),
            as_fetched,
            url: response.url,
        },
        cleaned,
        links,
        settles: false,
    }))
}
