//! The one table of settings: key, default as TOML, one line of explanation, and where the value goes.
//!
//! `crawl.toml`, `--set`, the defaults and the refusal of unknown keys all derive from it.

use std::time::Duration;

use toml::Value;

use dehusk_core::internals::clean::{Alone, KeepText};
use dehusk_core::internals::cluster::ClusterBy;
use dehusk_core::internals::dom::KeepNodes;
use dehusk_core::internals::learner::{LabelBy, Preset};
use dehusk_core::internals::links::{DomRef, LinkOrderBy};
use dehusk_core::internals::strings::{HistogramWeight, InnerStrings, StringTokens};
use dehusk_core::internals::subdigraph::SubdigraphMode;
use dehusk_core::internals::template::{AttrMode, ChildMap, NodeText};
use dehusk_core::internals::text_mdl::TextMethod;
use dehusk_core::internals::tps::{TpsGap, TpsKeep, TpsSearch};

use super::values::{
    at_most, bytes, duration, headers, networks, number, one_of, patterns, positive, share, strings, text, truth,
    user_agent, whole,
};
use super::{DelayFrom, Mode, Order, PolitenessScope, SAME_SITE, ScopeOf, Settings};

/// One line of `crawl.toml`.
pub(super) struct Key {
    /// Dotted name.
    pub name: &'static str,
    /// Default as TOML text; a test compares it with the typed default.
    pub default: &'static str,
    /// One line for the reader of `crawl.toml`.
    pub doc: &'static str,
    /// Checks a value and writes it; the error says what was expected.
    pub set: fn(&mut Settings, &Value) -> Result<(), String>,
}

macro_rules! keys {
    ($($name:literal = $default:literal, $doc:literal, |$s:ident, $v:ident| $target:expr => $value:expr;)*) => {
        &[$(Key {
            name: $name,
            default: $default,
            doc: $doc,
            set: |$s, $v| { $target = $value; Ok(()) },
        }),*]
    };
}

/// Every key, in the order of the file. `preset` comes first: it sets all of learning, later keys refine it.
pub(super) const KEYS: &[Key] = keys! {
    "preset" = "\"dehusk\"", "Parameter set of template learning: dehusk (measured best), votes (the best of the thesis' votes), thesis2014 (the paper), hybex2020. The [links] to [apply] keys refine it.",
        |s, v| s.core.learn => one_of(v, &Preset::ALL)?.learn();

    "crawl.seeds" = "[\"seeds/example.txt\"]", "Seed files read when the command line names none; one URL a line, # begins a comment.",
        |s, v| s.crawl.seeds => strings(v)?;
    "crawl.sites_at_once" = "256", "Sites worked on at the same time; each keeps its training pages in memory.",
        |s, v| s.crawl.sites_at_once => whole(v, 1, 1_000_000)?;
    "crawl.cpu_threads" = "0", "Threads that parse and learn; 0 = one a core.",
        |s, v| s.crawl.cpu_threads => whole(v, 0, 1024)?;

    "crawl.mode" = "\"full\"", "full: learn, clean and store; links: only follow links and record visits, no page is stored.",
        |s, v| s.crawl.mode => one_of(v, &[("full", Mode::Full), ("links", Mode::Links)])?;
    "crawl.pages_per_site" = "0", "Pages of a site beyond what learning needs are fetched until it has this many in a run; 0 = none.",
        |s, v| s.crawl.pages_per_site => whole(v, 0, 1_000_000_000)?;
    "crawl.depth" = "0", "Links followed from the key page on, for those further pages; 0 = no limit.",
        |s, v| s.crawl.depth => whole(v, 0, 10_000)? as u32;
    "crawl.order" = "\"paper\"", "Order of further pages: paper (hyperlink distance to the key page), breadth (depth first found).",
        |s, v| s.crawl.order => one_of(v, &[("paper", Order::Paper), ("breadth", Order::Breadth)])?;
    "crawl.scope" = "\"host\"", "Further pages stay in: host (www. ignored), registrable (domain), path (below the key page's folder).",
        |s, v| s.crawl.scope => one_of(v, &[("host", ScopeOf::Host), ("registrable", ScopeOf::Registrable), ("path", ScopeOf::Path)])?;
    "crawl.include" = "[]", "Regular expressions; when there are any, a URL other than a key page must match one.",
        |s, v| s.crawl.include => patterns(v)?;
    "crawl.exclude" = "[]", "Regular expressions; a URL other than a key page that matches one is not asked for.",
        |s, v| s.crawl.exclude => patterns(v)?;
    "crawl.sitemaps" = "true", "Are the sitemaps that robots.txt names read for further pages?",
        |s, v| s.crawl.sitemaps => truth(v)?;
    "crawl.feeds" = "true", "Are the RSS and Atom feeds that the key page names read for further pages?",
        |s, v| s.crawl.feeds => truth(v)?;
    "crawl.drop_parameters" = "[\"utm_*\", \"gclid\", \"dclid\", \"fbclid\", \"msclkid\", \"yclid\", \"mc_cid\", \"mc_eid\", \"_ga\", \"igshid\", \"phpsessid\", \"jsessionid\", \"aspsessionid*\", \"cfid\", \"cftoken\", \"zenid\", \"osCsid\"]", "Session and tracking parameters taken out of every link, capitals ignored; a * at the end stands for anything.",
        |s, v| s.crawl.drop_parameters => strings(v)?;
    "crawl.max_url_bytes" = "2000", "A longer URL is a trap and not asked for.",
        |s, v| s.crawl.max_url_bytes => whole(v, 64, 65_536)?;
    "crawl.max_path_segments" = "20", "A URL with more path segments is a trap.",
        |s, v| s.crawl.max_path_segments => whole(v, 1, 1000)?;
    "crawl.max_repeats" = "3", "A path in which a segment, or a run of segments, comes more often is a trap.",
        |s, v| s.crawl.max_repeats => whole(v, 1, 1000)?;
    "crawl.max_queries" = "5000", "Different queries to one path beyond this many are a trap.",
        |s, v| s.crawl.max_queries => whole(v, 1, 1_000_000)?;
    "crawl.max_calendar_years" = "30", "Dates in a path or query further than this from now are a calendar without end.",
        |s, v| s.crawl.max_calendar_years => whole(v, 1, 1000)? as i64;
    "crawl.resume_within" = "\"20h\"", "An unfinished run that began at most so long ago is taken up again; an older one is closed.",
        |s, v| s.crawl.resume_within => duration(v)?;
    "crawl.stop_within" = "30.0", "After SIGTERM or Ctrl-C, time for what is out to come home.",
        |s, v| s.crawl.stop_within => duration(v)?;
    "crawl.memory" = "\"1GB\"", "Pages and trees in memory; beyond it fewer requests are sent until some are done.",
        |s, v| s.crawl.memory => bytes(v)?.max(16 << 20);

    "template.min_freshness" = "0.8", "Minimum share of its original template coverage that a key page must still reach; below it the site is learned again.",
        |s, v| s.template.min_freshness => share(v)?;
    "template.relearn" = "false", "Whether every site is learned again, even if its stored template still fits.",
        |s, v| s.template.relearn => truth(v)?;

    "revisit.first" = "\"20h\"", "A page is asked for again after this time; then the interval adapts. Below a day, so that a nightly run finds it due.",
        |s, v| s.revisit.first => duration(v)?;
    "revisit.least" = "\"1h\"", "Shortest interval.",
        |s, v| s.revisit.least => duration(v)?;
    "revisit.most" = "\"30d\"", "Longest interval.",
        |s, v| s.revisit.most => duration(v)?;
    "revisit.shrink" = "0.8", "Factor on the interval of a page whose text has changed.",
        |s, v| s.revisit.shrink => share(v)?;
    "revisit.grow" = "1.4", "Factor on the interval of a page that has not.",
        |s, v| s.revisit.grow => number(v).filter(|x| (1.0..=100.0).contains(x)).ok_or("expected a number from 1 to 100")?;
    "revisit.all" = "false", "Is every known page asked for again, due or not? The same as crawl --all.",
        |s, v| s.revisit.all => truth(v)?;

    "politeness.delay" = "1.0", "Least time between two fetches of one domain: seconds, or text such as \"500ms\".",
        |s, v| s.politeness.delay => duration(v)?;
    "politeness.delay_from" = "\"end\"", "The delay runs from the end of a fetch or from its start: end, start.",
        |s, v| s.politeness.delay_from => one_of(v, &[("end", DelayFrom::End), ("start", DelayFrom::Start)])?;
    "politeness.key" = "\"domain\"", "What shares one delay: domain (registrable domain), host, ip (resolved address).",
        |s, v| s.politeness.key => one_of(v, &[("domain", PolitenessScope::Domain), ("host", PolitenessScope::Host), ("ip", PolitenessScope::Ip)])?;
    "politeness.max_crawl_delay" = "60.0", "A Crawl-delay in robots.txt lengthens the delay, never shortens it; a site that asks for a longer one than this is left out.",
        |s, v| s.politeness.max_crawl_delay => duration(v)?;
    "politeness.adaptive" = "0.0", "The delay is at least this times the last answer's time; 0 = off.",
        |s, v| s.politeness.adaptive => number(v).filter(|x| (0.0..=1000.0).contains(x)).ok_or("expected a number from 0 to 1000")?;
    "politeness.max_back_off" = "\"10m\"", "Longest wait after 429, 503 and broken connections, which double it each time; a longer Retry-After puts the site off.",
        |s, v| s.politeness.max_back_off => duration(v)?;
    "politeness.park_after" = "5", "Connection failures in a row after which a domain is left alone for this run.",
        |s, v| s.politeness.park_after => whole(v, 1, 1000)? as u32;
    "politeness.robots_agents" = "[]", "Names looked for in robots.txt, the first with a group counts, then *; none = the name in fetch.user_agent.",
        |s, v| s.politeness.robots_agents => strings(v)?;
    "politeness.robots_ttl" = "\"24h\"", "How long a fetched robots.txt is believed (RFC 9309: at most 24 h).",
        |s, v| s.politeness.robots_ttl => at_most(duration(v)?, Duration::from_secs(86_400))?;

    "fetch.user_agent" = "\"dehusk/0.1 (+https://example.org/set-fetch.user_agent)\"", "Who asks, with a URL where an operator can complain; put your own here.",
        |s, v| s.fetch.user_agent => user_agent(v)?;
    "fetch.allow_private" = "false", "May addresses of this machine and of private networks be asked? For tests and intranets.",
        |s, v| s.fetch.allow_private => truth(v)?;
    "fetch.resolve" = "[]", "NAME=ADDRESS[:PORT] pairs that answer before DNS does, such as \"*.shop.test=127.0.0.1:8080\".",
        |s, v| s.fetch.resolve => strings(v)?;
    "fetch.allow_networks" = "[]", "Networks that may be asked whatever allow_private says, such as \"10.1.0.0/16\".",
        |s, v| s.fetch.allow_networks => networks(v)?;
    "fetch.deny_networks" = "[]", "Networks that are never asked.",
        |s, v| s.fetch.deny_networks => networks(v)?;
    "fetch.dns_ttl" = "\"5m\"", "How long an address is remembered.",
        |s, v| s.fetch.dns_ttl => duration(v)?;
    "fetch.proxy" = "\"\"", "Proxy for all requests, such as \"http://proxy.my.org:3128\"; empty = none.",
        |s, v| s.fetch.proxy => v.as_str().ok_or("expected a text")?.trim().to_owned();
    "fetch.headers" = "[]", "Further request headers, such as \"From: crawl@my.org\".",
        |s, v| s.fetch.headers => headers(v)?;
    "fetch.cookies" = "false", "Are cookies kept, each for its own domain, while a run lasts?",
        |s, v| s.fetch.cookies => truth(v)?;
    "fetch.min_rate" = "200", "Bytes a second below which a body is given up, after five seconds.",
        |s, v| s.fetch.min_rate => bytes(v)?;
    "fetch.connect_timeout" = "10.0", "Time for connecting, TLS included.",
        |s, v| s.fetch.connect_timeout => positive(duration(v)?)?;
    "fetch.timeout" = "30.0", "Time for a whole answer, from request to last byte.",
        |s, v| s.fetch.timeout => positive(duration(v)?)?;
    "fetch.max_raw_bytes" = "\"10MB\"", "Bytes of a body as sent; a larger one is refused.",
        |s, v| s.fetch.max_raw_bytes => bytes(v)?;
    "fetch.max_bytes" = "\"40MB\"", "Bytes of a body after decompression; a larger one is refused.",
        |s, v| s.fetch.max_bytes => bytes(v)?;
    "fetch.max_redirects" = "5", "Redirects followed for one page; each hop waits its turn and asks robots.txt.",
        |s, v| s.fetch.max_redirects => whole(v, 0, 20)?;
    "fetch.retries" = "1", "Times a page is asked for again after a broken connection, a timeout, 429 or 5xx.",
        |s, v| s.fetch.retries => whole(v, 0, 10)? as u8;
    "fetch.in_flight" = "256", "Requests in flight over all domains.",
        |s, v| s.fetch.in_flight => whole(v, 1, 65_536)?;
    "fetch.requests_per_second" = "0", "Requests a second over all domains; 0 = no cap.",
        |s, v| s.fetch.requests_per_second => whole(v, 0, u32::MAX as usize)? as u32;
    "fetch.bytes_per_second" = "0", "Body bytes a second over all domains; 0 = no cap.",
        |s, v| s.fetch.bytes_per_second => bytes(v)?.min(u32::MAX as usize) as u32;
    "fetch.requests_per_second_per_address" = "0", "Requests a second to one address, whatever domains it serves; 0 = no cap.",
        |s, v| s.fetch.requests_per_second_per_address => whole(v, 0, u32::MAX as usize)? as u32;

    "page.max_bytes" = "\"40MB\"", "Decoded bytes of a page that are parsed; the rest is cut off and noted.",
        |s, v| s.core.parse.max_bytes => bytes(v)?;
    "page.max_nodes" = "1000000", "Nodes after which parsing stops; the rest is cut off and noted.",
        |s, v| s.core.parse.max_nodes => whole(v, 16, 100_000_000)?;
    "page.max_depth" = "512", "Elements nested deeper are dissolved into their parent and noted, as browsers do.",
        |s, v| s.core.parse.max_depth => whole(v, 16, 4096)? as u16;
    "page.max_attributes" = "1000", "Attributes kept for one element.",
        |s, v| s.core.parse.max_attributes => whole(v, 1, 100_000)?;
    "page.keep" = "\"counted\"", "Nodes of a tree: counted (elements and text), browser (with comments and blank text).",
        |s, v| s.core.parse.keep => one_of(v, &[("counted", KeepNodes::Counted), ("browser", KeepNodes::Browser)])?;

    "links.same_site" = "\"host\"", "Links that stay in the site: host (www. ignored), registrable (all of the registrable domain).",
        |s, v| s.core.learn.links.same_site => one_of(v, &SAME_SITE)?;
    "links.slug_dirs" = "true", "Is a last path segment without a dot a directory, as in /section?",
        |s, v| s.core.learn.links.slug_dirs => truth(v)?;
    "links.dom_ref" = "\"class\"", "Which links the next one should be far from: class (Algorithm 1), global, all.",
        |s, v| s.core.learn.links.dom_ref => one_of(v, &[("class", DomRef::Class), ("global", DomRef::Global), ("all", DomRef::All)])?;
    "links.max" = "5000", "Links of a page that are considered; the rest is left out.",
        |s, v| s.core.learn.links.max => whole(v, 1, 1_000_000)?;
    "links.skip_nofollow" = "true", "Are links marked nofollow left out of the training set?",
        |s, v| s.core.learn.links.skip_nofollow => truth(v)?;

    "links.order" = "\"turns\"", "Which links are tried first: turns (of each form of URL and of the main menu), forms (without the menu), menu (its links before all others), paper (Algorithm 1), random.",
        |s, v| s.core.learn.links.order => one_of(v, &[("turns", LinkOrderBy::Turns), ("forms", LinkOrderBy::Forms), ("paper", LinkOrderBy::Paper), ("menu", LinkOrderBy::Menu), ("random", LinkOrderBy::Random)])?;

    "subdigraph.mode" = "\"first\"", "Which pages vote: complete (they all link to each other), first (the first usable ones).",
        |s, v| s.core.learn.search.mode => one_of(v, &[("complete", SubdigraphMode::Complete), ("first", SubdigraphMode::First)])?;
    "subdigraph.n" = "8", "Pages that bear witness or vote; 8 at most that all link to each other.",
        |s, v| s.core.learn.search.n => whole(v, 1, 24)?;
    "subdigraph.stop_after" = "0", "With witnesses: the search ends when so many pages in a row changed hardly a label of the key page; 0 = never.",
        |s, v| s.core.learn.search.stop_after => whole(v, 0, 64)?;
    "subdigraph.max_loads" = "8", "Most pages loaded for one template.",
        |s, v| s.core.learn.search.max_loads => whole(v, 1, 64)?;
    "subdigraph.max_requests" = "48", "Most requests for one template, failed ones included.",
        |s, v| s.core.learn.search.max_requests => whole(v, 1, 10_000)?;

    "label.by" = "\"site_model\"", "What decides what is template: witness (the training pages, weighed by likeness), votes (the thesis).",
        |s, v| s.core.learn.label_by => one_of(v, &[("site_model", LabelBy::SiteModel), ("votes", LabelBy::Votes)])?;

    "site_model.threshold" = "0.35", "Nodes whose subtrees differ are mapped when their equality probability is above this.",
        |s, v| s.core.learn.site_model.threshold => share(v)?;
    "site_model.max_nodes" = "20000", "Nodes of a training page that are kept as evidence.",
        |s, v| s.core.learn.site_model.max_nodes => whole(v, 100, 1_000_000)?;
    "site_model.max_children" = "350", "Children of one node that are kept of a training page, six of seven from the beginning of their list.",
        |s, v| s.core.learn.site_model.max_children => whole(v, 7, 1_000_000)?;
    "site_model.max_pairs" = "4096", "Child lists of more pairs are mapped kind by kind, in time that is linear in them.",
        |s, v| s.core.learn.site_model.max_pairs => whole(v, 1, 100_000_000)?;
    "site_model.max_names" = "50000", "Names of one page that are remembered until a second page bears them.",
        |s, v| s.core.learn.site_model.max_names => whole(v, 0, 10_000_000)?;
    "site_model.extra_pages" = "16", "Further pages of a walk that are kept as evidence; 0 = the training pages only.",
        |s, v| s.core.learn.site_model.extra_pages => whole(v, 0, 200)?;

    "etdm.min_votes" = "0", "Votes that make a node template; 0 = the majority of the voters.",
        |s, v| s.core.learn.etdm.min_votes => whole(v, 0, 8)?;
    "etdm.w_class" = "0.5", "Weight of the class overlap in the equality probability.",
        |s, v| s.core.learn.etdm.weights.class => share(v)?;
    "etdm.w_attributes" = "0.2", "Weight of the attribute overlap.",
        |s, v| s.core.learn.etdm.weights.attributes => share(v)?;
    "etdm.w_children" = "0.1", "Weight of the ratio of child counts.",
        |s, v| s.core.learn.etdm.weights.children => share(v)?;
    "etdm.w_position" = "0.2", "Weight of the position among the siblings.",
        |s, v| s.core.learn.etdm.weights.position => share(v)?;
    "etdm.p_no_class" = "0.99", "Class overlap of two nodes without classes.",
        |s, v| s.core.learn.etdm.weights.no_class => share(v)?;
    "etdm.p_no_attributes" = "0.25", "Attribute overlap of two nodes without attributes.",
        |s, v| s.core.learn.etdm.weights.no_attributes => share(v)?;
    "etdm.p_no_children" = "1.0", "Child ratio of two nodes without children.",
        |s, v| s.core.learn.etdm.weights.no_children => share(v)?;
    "etdm.threshold" = "0.45", "Two nodes can be mapped when their equality probability is above this.",
        |s, v| s.core.learn.etdm.weights.threshold => share(v)?;
    "etdm.threshold_inclusive" = "false", "Is a probability equal to the threshold enough?",
        |s, v| s.core.learn.etdm.weights.threshold_inclusive => truth(v)?;
    "etdm.exact_wins" = "false", "Do equal classes and equal attributes win outright?",
        |s, v| s.core.learn.etdm.weights.exact_wins => truth(v)?;
    "etdm.attr_mode" = "\"name_value\"", "What is compared of an attribute: name_value, name.",
        |s, v| s.core.learn.etdm.attr_mode => one_of(v, &[("name_value", AttrMode::NameValue), ("name", AttrMode::Name)])?;
    "etdm.map" = "\"greedy\"", "How children are mapped: greedy (best pair first), dp (heaviest matching).",
        |s, v| s.core.learn.etdm.child_map => one_of(v, &[("greedy", ChildMap::Greedy), ("dp", ChildMap::Dp)])?;
    "etdm.keep_order" = "true", "Must mapped children keep their order?",
        |s, v| s.core.learn.etdm.keep_order => truth(v)?;
    "etdm.text" = "\"equal\"", "A text node is template when its words are equal, or structural: by its place.",
        |s, v| s.core.learn.etdm.text => one_of(v, &[("equal", NodeText::Equal), ("structural", NodeText::Structural)])?;
    "etdm.ignore_generated" = "true", "Are class tokens that look generated (long hex, three digits at the end) left out?",
        |s, v| s.core.learn.etdm.ignore_generated => truth(v)?;
    "etdm.large_pairs" = "250000", "Child lists whose product is larger are anchored on equal nodes first.",
        |s, v| s.core.learn.etdm.large_pairs => whole(v, 1_000, 100_000_000)?;

    "etdm.min_confidence" = "0.15", "Share of a template by votes that a page must show for it to be applied.",
        |s, v| s.core.learn.etdm.min_confidence => share(v)?;

    "clean.keep" = "\"own\"", "What is kept of a page: own (all that is no template), main (of that, the main text by the page alone).",
        |s, v| s.core.clean.keep => one_of(v, &[("own", KeepText::Own), ("main", KeepText::Main)])?;
    "clean.min_confidence" = "0.25", "A page that shows less of the template is strange to its witnesses: the document frequency of its texts decides.",
        |s, v| s.core.clean.min_confidence => share(v)?;
    "clean.alone" = "\"density\"", "What cleans a page of whose site nothing is known: density (of its text), plain (it is kept whole).",
        |s, v| s.core.clean.alone => one_of(v, &[("density", Alone::Density), ("plain", Alone::Plain)])?;

    "tps.gap" = "\"abs\"", "Method tps: which difference of the sides of a cut counts: abs, paper (as printed, which never keeps a left side).",
        |s, v| s.core.clean.tps.gap => one_of(v, &[("abs", TpsGap::Abs), ("paper", TpsGap::Paper)])?;
    "tps.search" = "\"first\"", "Which cut is tried: first (the paper), best (the most unequal sides).",
        |s, v| s.core.clean.tps.search => one_of(v, &[("first", TpsSearch::First), ("best", TpsSearch::Best)])?;
    "tps.split_margin" = "0.2", "Difference of the sides, as a share of both, above which the larger one is kept.",
        |s, v| s.core.clean.tps.split_margin => share(v)?;
    "tps.complement" = "true", "Is the rest kept when it has more text outside of links? false = the paper's own.",
        |s, v| s.core.clean.tps.complement => truth(v)?;
    "tps.keep" = "\"main\"", "Which regions are kept: main (the paper), list (all that hold enough of the page; the authors' program of 2013, for news).",
        |s, v| s.core.clean.tps.keep => one_of(v, &[("main", TpsKeep::Main), ("list", TpsKeep::List)])?;
    "tps.min_region" = "0.1", "Share of the page that a region of the list holds at least.",
        |s, v| s.core.clean.tps.min_region => share(v)?;
    "tps.max_splits" = "200", "Cuts after which the search ends.",
        |s, v| s.core.clean.tps.max_splits => whole(v, 0, 1_000_000)?;

    "cluster.by" = "\"cps\"", "What pages without links are put together by (Gottron): cp (tag paths), cps (shingles of them), ctss (shingles of the tag sequence).",
        |s, v| s.core.cluster.by => one_of(v, &[("cp", ClusterBy::Cp), ("cps", ClusterBy::Cps), ("ctss", ClusterBy::Ctss)])?;
    "cluster.shingle" = "4", "Names in a shingle.",
        |s, v| s.core.cluster.shingle => whole(v, 1, 64)?;
    "cluster.distance" = "0.3", "Pages at most so far apart are together; 0 = the paper's: cp 0.7, cps 0.6, ctss 0.85, found on five sites of its year.",
        |s, v| s.core.cluster.distance => share(v)?;

    "gottron.candidates" = "40", "Method gottron: linked pages that the training set is taken from.",
        |s, v| s.core.gottron.candidates => whole(v, 1, 64)?;
    "gottron.by" = "\"cp\"", "What the pages of a training set have in common: cp, cps, ctss, as cluster.by.",
        |s, v| s.core.gottron.cluster.by => one_of(v, &[("cp", ClusterBy::Cp), ("cps", ClusterBy::Cps), ("ctss", ClusterBy::Ctss)])?;
    "gottron.shingle" = "4", "Names in a shingle.",
        |s, v| s.core.gottron.cluster.shingle => whole(v, 1, 64)?;
    "gottron.distance" = "0.0", "Pages at most so far apart are together; 0 = the paper's: cp 0.7, cps 0.6, ctss 0.85.",
        |s, v| s.core.gottron.cluster.distance => share(v)?;

    "strings.tokens" = "\"auto\"", "How documents are cut for template strings (Foschini): auto (pages as html, text as ws), ws (at blanks), f2007 (at blanks and hyphens), html (tags, words, marks).",
        |s, v| s.core.strings.tokens => one_of(v, &[("auto", StringTokens::Auto), ("ws", StringTokens::Ws), ("f2007", StringTokens::F2007), ("html", StringTokens::Html)])?;
    "strings.patterns" = "\"\"", "TOML file of mutable patterns, [[pattern]] with name, regex and test; empty = those that come with the program: dates, numbers, addresses. For dehusk strings; the method strings has those of the program.",
        |s, v| s.string_patterns => v.as_str().ok_or("expected a text")?.trim().to_owned();
    "strings.min_tokens" = "2", "Tokens of the shortest template string.",
        |s, v| s.core.strings.min_tokens => whole(v, 1, 1_000_000)?;
    "strings.min_df" = "0.05", "Share of the documents that a string must be in to be counted at all; two documents always.",
        |s, v| s.core.strings.min_df_share => share(v)?;
    "strings.weight" = "\"log\"", "What counts in the histogram that parts idioms from template: log (of the counts), raw (the paper, whose cut is low).",
        |s, v| s.core.strings.weight => one_of(v, &[("log", HistogramWeight::Log), ("raw", HistogramWeight::Raw)])?;
    "strings.min_ratio" = "0.5", "Share of the documents that a template string is in at least; 0 = the paper.",
        |s, v| s.core.strings.min_ratio => share(v)?;
    "strings.inner" = "\"auto\"", "What becomes of strings that enough documents hold only inside of longer ones: keep (the paper; takes such words out of other places too), drop, auto (keep for pages, drop for plain text).",
        |s, v| s.core.strings.inner => one_of(v, &[("auto", InnerStrings::Auto), ("keep", InnerStrings::Keep), ("drop", InnerStrings::Drop)])?;
    "strings.max_idiom" = "4", "Strings of at most so many tokens that are scattered over the documents as words are, not as often on each, are idioms and stay; 0 = the paper.",
        |s, v| s.core.strings.max_idiom => whole(v, 0, 1000)?;
    "strings.max_sites" = "0.05", "A string that is template of more than this share of the other sources, and of more than two, is an idiom and stays.",
        |s, v| s.core.strings.max_sites_share => share(v)?;
    "strings.longest_idiom" = "8", "Strings of more tokens are no idioms, on however many sources they are: a footer that many lists share is template; 0 = no limit (the paper).",
        |s, v| s.core.strings.longest_idiom => whole(v, 0, 1_000_000)?;
    "strings.merge_gap" = "12", "Cuts of a plain text with fewer characters between them, and no letter or digit, are one; 0 = the paper.",
        |s, v| s.core.strings.merge_gap => whole(v, 0, 1_000_000)?;
    "strings.min_cut" = "0", "Cuts of fewer characters are left where they are.",
        |s, v| s.core.strings.min_cut => whole(v, 0, 1_000_000)?;
    "strings.max_total" = "\"5MB\"", "Tokens of all strings of one template together; the shortest strings beyond it are left out and counted.",
        |s, v| s.core.strings.max_total => bytes(v)?.max(1);

    "text.method" = "\"max\"", "How dehusk cluster finds the next pair to be merged (TEXT): mdl (the cost of all pairs; to some 2,000 pages), hash (estimated), max (only the pairs that share the most).",
        |s, v| s.core.text.method => one_of(v, &[("mdl", TextMethod::Mdl), ("hash", TextMethod::Hash), ("max", TextMethod::Max)])?;
    "text.signature" = "128", "Places of a MinHash signature; the paper finds 50 enough.",
        |s, v| s.core.text.signature => whole(v, 1, 4096)?;
    "text.min_support" = "2", "Pages that an essential path is in at least; 1 = the paper, which keeps every path where most are a page's own.",
        |s, v| s.core.text.min_support => whole(v, 1, 1_000_000)? as u32;
    "text.universal" = "0.5", "Paths that more than this share of all pages have, such as html/body, do not decide which paths of a page are essential; 1 = the paper.",
        |s, v| s.core.text.universal => share(v)?;
    "text.bucket" = "64", "With max: clusters of the same rank that are looked at for partners, the latest.",
        |s, v| s.core.text.bucket => whole(v, 1, 100_000_000)?;

    "store.path" = "\"dehusk.db\"", "The SQLite file with sites, templates and pages; --db overrides it.",
        |s, v| s.store.path => text(v)?;
    "store.zstd_level" = "3", "zstd level of stored pages.",
        |s, v| s.store.zstd_level => whole(v, 1, 19)? as i32;
};
