//! The table of settings: key, default as TOML, one line of description, and the field that the value sets.
//!
//! `crawl.toml`, `--set`, the defaults and the rejection of unknown keys all derive from it.

use std::time::Duration;

use toml::Value;

use dehusk_content::Favor;
use dehusk_core::clean::{Alone, HiddenText};
use dehusk_html::{KeepNodes, ParserKind};
use dehusk_papers::text_mdl::{TextCost, TextMethod};
use dehusk_papers::tps::{TpsGap, TpsKeep, TpsSearch};
use dehusk_render::{MarkdownImages, MarkdownLinks};
use dehusk_template::cluster::ClusterBy;
use dehusk_template::etdm::{AttrMode, ChildMap, NodeText};
use dehusk_template::learn_options::{LabelBy, Preset};
use dehusk_template::links::{DomRef, LinkOrderBy};
use dehusk_template::strings::{HistogramWeight, InnerStrings, StringTokens};
use dehusk_template::subdigraph::SubdigraphMode;

use crate::values::{
    at_least, at_most, bytes, duration, headers, keep_text, networks, never, number, one_of, patterns, positive, share,
    strings, text, truth, user_agent, whole,
};
use crate::{DelayFrom, Mode, NoindexPages, Order, PolitenessScope, SAME_SITE, ScopeOf, Settings};

/// One setting.
pub(super) struct Key {
    /// Dotted name.
    pub name: &'static str,
    /// Default as TOML text. A test compares it with the typed default.
    pub default: &'static str,
    /// Description in `crawl.toml`, one line.
    pub doc: &'static str,
    /// Checks a value and sets it. The error says what was expected.
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

/// All keys, in the order of the file. `preset` comes first: it sets all learning parameters, and later keys refine it.
pub(super) const KEYS: &[Key] = keys! {
    "preset" = "\"dehusk\"", "Parameter set of template learning: dehusk (measured best), votes (best variant of the thesis' votes), thesis2014, hybex2020. Keys of [links] to [etdm] refine it.",
        |s, v| s.core.learn => one_of(v, &Preset::ALL)?.learn();

    "crawl.seeds" = "[\"seeds/example.txt\"]", "Seed files read when the command line names none. One URL per line, # begins a comment. The first URL of a host is the key page of its site; further ones are fetched as pages of it.",
        |s, v| s.crawl.seeds => strings(v)?;
    "crawl.sites_at_once" = "256", "Sites processed at the same time. Each keeps its training pages in memory.",
        |s, v| s.crawl.sites_at_once => whole(v, 1, 1_000_000)?;
    "crawl.cpu_threads" = "0", "Threads that parse and learn. 0 = one per core.",
        |s, v| s.crawl.cpu_threads => whole(v, 0, 1024)?;
    "crawl.network_threads" = "0", "Threads that send requests, and read and unpack responses. 0 = one per core, but a single one for two cores. A single one also schedules: less CPU time in all, and no more than one core for the network.",
        |s, v| s.crawl.network_threads => whole(v, 0, 1024)?;

    "crawl.mode" = "\"full\"", "full: learn, clean and store pages. links: only follow links and record visits, without storing pages.",
        |s, v| s.crawl.mode => one_of(v, &[("full", Mode::Full), ("links", Mode::Links)])?;
    "crawl.pages_per_site" = "0", "Number of pages of a site to fetch in one run, if learning needs fewer. Seeds are fetched whatever it says. 0 = only those that learning needs.",
        |s, v| s.crawl.pages_per_site => whole(v, 0, 1_000_000_000)?;
    "crawl.depth" = "0", "Maximum number of links from the key page to a page beyond the training pages. 0 = no limit.",
        |s, v| s.crawl.depth => whole(v, 0, 10_000)? as u32;
    "crawl.order" = "\"paper\"", "Order of pages beyond the training pages: paper (hyperlink distance to the key page), breadth (fewest links from the key page first).",
        |s, v| s.crawl.order => one_of(v, &[("paper", Order::Paper), ("breadth", Order::Breadth)])?;
    "crawl.scope" = "\"host\"", "Pages beyond the training pages are limited to: host (www. ignored), registrable (registrable domain), path (folder of the key page).",
        |s, v| s.crawl.scope => one_of(v, &[("host", ScopeOf::Host), ("registrable", ScopeOf::Registrable), ("path", ScopeOf::Path)])?;
    "crawl.include" = "[]", "Regular expressions. If there are any, only URLs that match one of them are requested, by a link, a redirect or a seed. Key pages are exempt.",
        |s, v| s.crawl.include => patterns(v)?;
    "crawl.exclude" = "[]", "Regular expressions. URLs that match one of them are not requested. Key pages are exempt.",
        |s, v| s.crawl.exclude => patterns(v)?;
    "crawl.never" = "[]", "Hosts (with their subdomains) and regular expressions of URLs that are never contacted: as seeds, links or targets of redirects, key pages and robots.txt included. An entry of letters, digits, dots and hyphens is a host.",
        |s, v| s.crawl.never => never(v)?;
    "crawl.sitemaps" = "true", "Whether sitemaps named by robots.txt are read for more pages.",
        |s, v| s.crawl.sitemaps => truth(v)?;
    "crawl.feeds" = "true", "Whether RSS and Atom feeds linked from the key page are read for more pages.",
        |s, v| s.crawl.feeds => truth(v)?;
    "crawl.strings" = "true", "Whether the sentences that the entries of a site's feeds repeat, such as 'The post ... appeared first on ...', are learned from the feeds that are read (crawl.feeds, crawl.pages_per_site above 0) and stored as HOST/feeds. dehusk strings clean removes them from feeds and other texts of the site.",
        |s, v| s.crawl.strings => truth(v)?;
    "crawl.drop_parameters" = "[\"utm_*\", \"gclid\", \"dclid\", \"fbclid\", \"msclkid\", \"yclid\", \"mc_cid\", \"mc_eid\", \"_ga\", \"igshid\", \"phpsessid\", \"jsessionid\", \"aspsessionid*\", \"cfid\", \"cftoken\", \"zenid\", \"osCsid\"]", "Session and tracking parameters removed from every link, case-insensitive. A * at the end matches any suffix.",
        |s, v| s.crawl.drop_parameters => strings(v)?;
    "crawl.max_url_bytes" = "2000", "Maximum length of a URL in bytes. Longer URLs count as crawler traps and are not requested.",
        |s, v| s.crawl.max_url_bytes => whole(v, 64, 65_536)?;
    "crawl.max_path_segments" = "20", "Maximum number of path segments of a URL. URLs with more count as crawler traps.",
        |s, v| s.crawl.max_path_segments => whole(v, 1, 1000)?;
    "crawl.max_repeats" = "3", "Maximum number of times that a path segment, or a sequence of segments, may occur in one path. More count as a crawler trap.",
        |s, v| s.crawl.max_repeats => whole(v, 1, 1000)?;
    "crawl.max_queries" = "5000", "Maximum number of different queries requested for one path. More count as a crawler trap.",
        |s, v| s.crawl.max_queries => whole(v, 1, 1_000_000)?;
    "crawl.max_calendar_years" = "30", "Maximum distance in years between now and a date in a path or query. Dates further away count as an endless calendar.",
        |s, v| s.crawl.max_calendar_years => whole(v, 1, 1000)? as i64;
    "crawl.max_requests" = "0", "Number of requests after which the run ends. What is left waits for the next run. 0 = no limit.",
        |s, v| s.crawl.budget.max_requests => whole(v, 0, usize::MAX >> 1)?;
    "crawl.max_failures" = "0", "Number of requests in a row without any answer, over all hosts, after which the run ends: the network may be down. 0 = no limit.",
        |s, v| s.crawl.budget.max_failures => whole(v, 0, usize::MAX >> 1)?;
    "crawl.max_bytes" = "0", "Number of body bytes as sent after which the run ends. 0 = no limit.",
        |s, v| s.crawl.budget.max_bytes => bytes(v)?;
    "crawl.max_seconds" = "0", "Time after which the run ends, in seconds or as text such as \"8h\". 0 = no limit.",
        |s, v| s.crawl.budget.max_seconds => duration(v)?;
    "crawl.resume_within" = "\"20h\"", "Maximum age of an unfinished run that is resumed. An older run is closed.",
        |s, v| s.crawl.resume_within => duration(v)?;
    "crawl.stop_within" = "30.0", "Time that requests in flight have to complete after SIGTERM or Ctrl-C.",
        |s, v| s.crawl.stop_within => duration(v)?;
    "crawl.memory" = "\"1GB\"", "Memory for pages and their trees. Above it, fewer requests are sent until some pages are done. A site whose trees need more than a quarter of it is learned from the pages that fit.",
        |s, v| s.crawl.memory => bytes(v)?.max(16 << 20);

    "crawl.site.max_requests" = "0", "Number of requests of a site after which it ends for this run, with its template and its pages as far as they are known. What is left waits for the next run. 0 = no limit.",
        |s, v| s.crawl.site.max_requests => whole(v, 0, usize::MAX >> 1)?;
    "crawl.site.max_failures" = "100", "Number of requests of a site in a row that gave no page, after which it ends for this run. 0 = no limit.",
        |s, v| s.crawl.site.max_failures => whole(v, 0, usize::MAX >> 1)?;
    "crawl.site.max_bytes" = "0", "Number of body bytes of a site as sent after which it ends for this run. 0 = no limit.",
        |s, v| s.crawl.site.max_bytes => bytes(v)?;
    "crawl.site.max_seconds" = "0", "Time after which a site ends for this run, so that one site does not set the length of the night. 0 = no limit.",
        |s, v| s.crawl.site.max_seconds => duration(v)?;
    "crawl.site.max_pages" = "0", "Number of pages of a site that may be known. Beyond it no further ones are requested, in later runs too, apart from seeds. 0 = no limit.",
        |s, v| s.crawl.site_max_pages => whole(v, 0, usize::MAX >> 1)?;

    "template.min_freshness" = "0.8", "Minimum share of its original template coverage that a key page must still reach. Below it the site is learned again.",
        |s, v| s.template.min_freshness => share(v)?;
    "template.relearn" = "false", "Whether every site is learned again, even if its stored template still fits.",
        |s, v| s.template.relearn => truth(v)?;

    "revisit.first" = "\"20h\"", "First interval before a page is fetched again. Later intervals adapt to changes. Less than a day, so that the page is due for the next nightly run.",
        |s, v| s.revisit.first => duration(v)?;
    "revisit.least" = "\"1h\"", "Shortest revisit interval.",
        |s, v| s.revisit.least => duration(v)?;
    "revisit.most" = "\"30d\"", "Longest revisit interval.",
        |s, v| s.revisit.most => duration(v)?;
    "revisit.shrink" = "0.8", "Factor on the revisit interval of a page whose text has changed.",
        |s, v| s.revisit.shrink => share(v)?;
    "revisit.grow" = "1.4", "Factor on the revisit interval of a page whose text has not changed.",
        |s, v| s.revisit.grow => number(v).filter(|x| (1.0..=100.0).contains(x)).ok_or("expected a number from 1 to 100")?;
    "revisit.all" = "false", "Whether every known page is fetched again, even if it is not due. Same as crawl --all.",
        |s, v| s.revisit.all => truth(v)?;

    "politeness.delay" = "1.0", "Minimum time between two fetches with the same politeness key, in seconds or as text such as \"500ms\".",
        |s, v| s.politeness.delay => duration(v)?;
    "politeness.delay_from" = "\"end\"", "Whether the delay runs from the end or from the start of a fetch: end, start.",
        |s, v| s.politeness.delay_from => one_of(v, &[("end", DelayFrom::End), ("start", DelayFrom::Start)])?;
    "politeness.key" = "\"domain\"", "What shares one delay: domain (registrable domain), host, ip (resolved address).",
        |s, v| s.politeness.key => one_of(v, &[("domain", PolitenessScope::Domain), ("host", PolitenessScope::Host), ("ip", PolitenessScope::Ip)])?;
    "politeness.max_crawl_delay" = "60.0", "Longest Crawl-delay of robots.txt that is obeyed. Sites that ask for more are not fetched. A Crawl-delay never shortens the delay.",
        |s, v| s.politeness.max_crawl_delay => duration(v)?;
    "politeness.adaptive" = "0.0", "The delay is at least this factor times the duration of the last fetch. 0 = off.",
        |s, v| s.politeness.adaptive => number(v).filter(|x| (0.0..=1000.0).contains(x)).ok_or("expected a number from 0 to 1000")?;
    "politeness.max_back_off" = "\"10m\"", "Longest back-off after 429, 503 or failed connections, each of which doubles it. A longer Retry-After defers the site to a later run.",
        |s, v| s.politeness.max_back_off => duration(v)?;
    "politeness.park_after" = "5", "Failed connections in a row after which a politeness key gets no more requests in this run.",
        |s, v| s.politeness.park_after => whole(v, 1, 1000)? as u32;
    "politeness.robots_agents" = "[]", "Agent names for robots.txt. The first one with a group applies, then *. Empty = the name in fetch.user_agent.",
        |s, v| s.politeness.robots_agents => strings(v)?;
    "politeness.robots_ttl" = "\"24h\"", "How long a fetched robots.txt is cached (RFC 9309: at most 24 h).",
        |s, v| s.politeness.robots_ttl => at_most(duration(v)?, Duration::from_secs(86_400))?;

    "fetch.user_agent" = "\"dehusk/0.1 (+https://example.org/set-fetch.user_agent)\"", "User agent, with a URL where a site operator can complain. Put your own here.",
        |s, v| s.fetch.user_agent => user_agent(v)?;
    "fetch.allow_private" = "false", "Whether addresses of this machine and of private networks may be fetched. For tests and intranets.",
        |s, v| s.fetch.allow_private => truth(v)?;
    "fetch.resolve" = "[]", "NAME=ADDRESS[:PORT] pairs that override DNS, such as \"*.shop.test=127.0.0.1:8080\".",
        |s, v| s.fetch.resolve => strings(v)?;
    "fetch.allow_networks" = "[]", "Networks that may be fetched even if allow_private is false, such as \"10.1.0.0/16\".",
        |s, v| s.fetch.allow_networks => networks(v)?;
    "fetch.deny_networks" = "[]", "Networks that are never fetched.",
        |s, v| s.fetch.deny_networks => networks(v)?;
    "fetch.dns_ttl" = "\"5m\"", "How long a resolved address is cached.",
        |s, v| s.fetch.dns_ttl => duration(v)?;
    "fetch.ca_file" = "\"\"", "File of certificates (PEM) of authorities that are trusted beside the built-in ones and those of the system (or of SSL_CERT_FILE). Empty = none.",
        |s, v| s.fetch.ca_file => v.as_str().ok_or("expected a text")?.trim().to_owned();
    "fetch.proxy" = "\"\"", "Proxy for all requests, such as \"http://proxy.my.org:3128\". Empty = none.",
        |s, v| s.fetch.proxy => v.as_str().ok_or("expected a text")?.trim().to_owned();
    "fetch.headers" = "[]", "Additional request headers, such as \"From: crawl@my.org\".",
        |s, v| s.fetch.headers => headers(v)?;
    "fetch.cookies" = "false", "Whether cookies are kept during a run, separate for each registrable domain.",
        |s, v| s.fetch.cookies => truth(v)?;
    "fetch.min_rate" = "200", "Minimum rate of a response body in bytes per second, measured over five seconds. A slower response fails.",
        |s, v| s.fetch.min_rate => bytes(v)?;
    "fetch.connect_timeout" = "10.0", "Time limit for connecting, including TLS.",
        |s, v| s.fetch.connect_timeout => positive(duration(v)?)?;
    "fetch.timeout" = "30.0", "Time limit for a complete response, from request to last byte.",
        |s, v| s.fetch.timeout => positive(duration(v)?)?;
    "fetch.max_raw_bytes" = "\"10MB\"", "Maximum size of a response body as sent. A larger one is rejected.",
        |s, v| s.fetch.max_raw_bytes => bytes(v)?;
    "fetch.max_bytes" = "\"40MB\"", "Maximum size of a response body after decompression. A larger one is rejected.",
        |s, v| s.fetch.max_bytes => bytes(v)?;
    "fetch.max_redirects" = "5", "Maximum number of redirects for one page. Each hop obeys robots.txt and the politeness delay.",
        |s, v| s.fetch.max_redirects => whole(v, 0, 20)?;
    "fetch.retries" = "1", "How often a page is requested again after a failed connection, a timeout, 429 or 5xx.",
        |s, v| s.fetch.retries => whole(v, 0, 10)? as u8;
    "fetch.in_flight" = "256", "Maximum number of requests in flight over all hosts.",
        |s, v| s.fetch.in_flight => whole(v, 1, 65_536)?;
    "fetch.requests_per_second" = "0", "Maximum number of requests per second over all hosts. 0 = no limit.",
        |s, v| s.fetch.requests_per_second => whole(v, 0, u32::MAX as usize)? as u32;
    "fetch.bytes_per_second" = "0", "Maximum number of body bytes per second over all hosts. 0 = no limit.",
        |s, v| s.fetch.bytes_per_second => bytes(v)?.min(u32::MAX as usize) as u32;
    "fetch.requests_per_second_per_address" = "0", "Maximum number of requests per second to one IP address, over all its hosts. 0 = no limit.",
        |s, v| s.fetch.requests_per_second_per_address => whole(v, 0, u32::MAX as usize)? as u32;

    "page.max_bytes" = "\"40MB\"", "Decoded bytes of a page that are parsed. The rest is cut off and noted.",
        |s, v| s.core.parse.max_bytes => bytes(v)?;
    "page.max_nodes" = "1000000", "Nodes after which parsing stops. The rest of the page is cut off and noted.",
        |s, v| s.core.parse.max_nodes => whole(v, 16, 100_000_000)?;
    "page.max_depth" = "512", "Maximum nesting depth of elements. Deeper elements are replaced by their children, as in browsers, and noted.",
        |s, v| s.core.parse.max_depth => whole(v, 16, 4096)? as u16;
    "page.max_attributes" = "1000", "Maximum number of attributes kept per element.",
        |s, v| s.core.parse.max_attributes => whole(v, 1, 100_000)?;
    "page.keep" = "\"counted\"", "Nodes kept in a page tree: counted (elements and text), browser (comments and blank text, too).",
        |s, v| s.core.parse.keep => one_of(v, &[("counted", KeepNodes::Counted), ("browser", KeepNodes::Browser)])?;
    "page.parser" = "\"dehusk\"", "What makes a tree of a page: dehusk, or html5ever, which is slower and gives the same trees.",
        |s, v| s.core.parse.parser => one_of(v, &[("dehusk", ParserKind::Dehusk), ("html5ever", ParserKind::Html5ever)])?;

    "links.same_site" = "\"host\"", "Links that count as links within the site: host (same host, www. ignored), registrable (same registrable domain).",
        |s, v| s.core.learn.links.same_site => one_of(v, &SAME_SITE)?;
    "links.slug_dirs" = "true", "Whether a last path segment without a dot counts as a directory, as in /section.",
        |s, v| s.core.learn.links.slug_dirs => truth(v)?;
    "links.dom_ref" = "\"class\"", "Links that the next link should be far from in the DOM: class (same hyperlink distance, Algorithm 1), global (all chosen links), all.",
        |s, v| s.core.learn.links.dom_ref => one_of(v, &[("class", DomRef::Class), ("global", DomRef::Global), ("all", DomRef::All)])?;
    "links.max" = "5000", "Maximum number of links of a page that are considered.",
        |s, v| s.core.learn.links.max => whole(v, 1, 1_000_000)?;
    "links.skip_nofollow" = "true", "Whether links marked nofollow are excluded from the training set.",
        |s, v| s.core.learn.links.skip_nofollow => truth(v)?;

    "links.order" = "\"turns\"", "Order of links: turns (round-robin over URL forms and main menu), forms (without the menu), menu (menu links first), paper (Algorithm 1), random.",
        |s, v| s.core.learn.links.order => one_of(v, &[("turns", LinkOrderBy::Turns), ("forms", LinkOrderBy::Forms), ("paper", LinkOrderBy::Paper), ("menu", LinkOrderBy::Menu), ("random", LinkOrderBy::Random)])?;

    "subdigraph.mode" = "\"first\"", "Which pages are training pages: complete (pages that all link to each other), first (the first usable ones).",
        |s, v| s.core.learn.search.mode => one_of(v, &[("complete", SubdigraphMode::Complete), ("first", SubdigraphMode::First)])?;
    "subdigraph.n" = "8", "Number of training pages or voters. At most 8 with mode complete.",
        |s, v| s.core.learn.search.n => whole(v, 1, 24)?;
    "subdigraph.stop_after" = "0", "With label.by site_model: stop after this many pages in a row that changed at most 1 % of the key page's labels. 0 = never.",
        |s, v| s.core.learn.search.stop_after => whole(v, 0, 64)?;
    "subdigraph.max_loads" = "8", "Maximum number of pages loaded to learn one site.",
        |s, v| s.core.learn.search.max_loads => whole(v, 1, 64)?;
    "subdigraph.max_requests" = "48", "Maximum number of requests to learn one site, including failed ones.",
        |s, v| s.core.learn.search.max_requests => whole(v, 1, 10_000)?;

    "label.by" = "\"site_model\"", "What decides which nodes are template: site_model (evidence of training pages, weighted by similarity), votes (the thesis), gottron (document frequency, see gottron.candidates).",
        |s, v| s.core.learn.label_by => one_of(v, &[("site_model", LabelBy::SiteModel), ("votes", LabelBy::Votes), ("gottron", LabelBy::Gottron)])?;

    "site_model.threshold" = "0.35", "Nodes with different subtrees are mapped if their equality probability is above this.",
        |s, v| s.core.learn.site_model.threshold => share(v)?;
    "site_model.max_nodes" = "20000", "Maximum number of nodes kept of a training page.",
        |s, v| s.core.learn.site_model.max_nodes => whole(v, 100, 1_000_000)?;
    "site_model.max_children" = "350", "Maximum number of children kept of one node of a training page, six of seven from the beginning of the list.",
        |s, v| s.core.learn.site_model.max_children => whole(v, 7, 1_000_000)?;
    "site_model.max_pairs" = "4096", "Child lists with more pairs than this are mapped by node signature, in linear time.",
        |s, v| s.core.learn.site_model.max_pairs => whole(v, 1, 100_000_000)?;
    "site_model.max_names" = "50000", "Maximum number of names seen on one page only that are remembered until a second page has them.",
        |s, v| s.core.learn.site_model.max_names => whole(v, 0, 10_000_000)?;
    "site_model.extra_pages" = "8", "Maximum number of further crawled pages added to the site model. 0 = training pages only.",
        |s, v| s.core.learn.site_model.extra_pages => whole(v, 0, 200)?;

    "etdm.min_votes" = "0", "Votes that make a node template. 0 = the majority of the voters.",
        |s, v| s.core.learn.etdm.min_votes => whole(v, 0, 8)?;
    "etdm.w_class" = "0.5", "Weight of the class overlap in the equality probability.",
        |s, v| s.core.learn.etdm.weights.class => share(v)?;
    "etdm.w_attributes" = "0.2", "Weight of the attribute overlap in the equality probability.",
        |s, v| s.core.learn.etdm.weights.attributes => share(v)?;
    "etdm.w_children" = "0.1", "Weight of the ratio of child counts in the equality probability.",
        |s, v| s.core.learn.etdm.weights.children => share(v)?;
    "etdm.w_position" = "0.2", "Weight of the position among the siblings in the equality probability.",
        |s, v| s.core.learn.etdm.weights.position => share(v)?;
    "etdm.p_no_class" = "0.99", "Class overlap of two nodes without classes.",
        |s, v| s.core.learn.etdm.weights.no_class => share(v)?;
    "etdm.p_no_attributes" = "0.25", "Attribute overlap of two nodes without attributes.",
        |s, v| s.core.learn.etdm.weights.no_attributes => share(v)?;
    "etdm.p_no_children" = "1.0", "Child ratio of two nodes without children.",
        |s, v| s.core.learn.etdm.weights.no_children => share(v)?;
    "etdm.threshold" = "0.45", "Two nodes can be mapped if their equality probability is above this.",
        |s, v| s.core.learn.etdm.weights.threshold => share(v)?;
    "etdm.threshold_inclusive" = "false", "Whether a probability equal to the threshold is enough.",
        |s, v| s.core.learn.etdm.weights.threshold_inclusive => truth(v)?;
    "etdm.exact_wins" = "false", "Whether equal classes and equal attributes decide alone.",
        |s, v| s.core.learn.etdm.weights.exact_wins => truth(v)?;
    "etdm.attr_mode" = "\"name_value\"", "What is compared of an attribute: name_value, name.",
        |s, v| s.core.learn.etdm.attr_mode => one_of(v, &[("name_value", AttrMode::NameValue), ("name", AttrMode::Name)])?;
    "etdm.map" = "\"greedy\"", "How children are mapped: greedy (best pair first), dp (heaviest matching).",
        |s, v| s.core.learn.etdm.child_map => one_of(v, &[("greedy", ChildMap::Greedy), ("dp", ChildMap::Dp)])?;
    "etdm.keep_order" = "true", "Whether mapped children must keep their order.",
        |s, v| s.core.learn.etdm.keep_order => truth(v)?;
    "etdm.text" = "\"equal\"", "When a text node is template: equal (its words are equal), structural (by its position, as for elements).",
        |s, v| s.core.learn.etdm.text => one_of(v, &[("equal", NodeText::Equal), ("structural", NodeText::Structural)])?;
    "etdm.ignore_generated" = "true", "Whether class tokens and ids that look generated (long hex, three digits at the end) are ignored.",
        |s, v| s.core.learn.etdm.ignore_generated => truth(v)?;
    "etdm.large_pairs" = "250000", "Child lists with a larger product of lengths are anchored on equal nodes first.",
        |s, v| s.core.learn.etdm.large_pairs => whole(v, 1_000, 100_000_000)?;

    "etdm.min_confidence" = "0.15", "Minimum share of a voted template that a page must show for the template to be applied.",
        |s, v| s.core.learn.etdm.min_confidence => share(v)?;

    "clean.keep" = "\"own\"", "What is kept of a page: own (everything that is not template), main (the main text of that), or the main text with kinds of the rest, such as main+comments+byline. Kinds: comments, byline, breadcrumbs, contents, related. A crawl with own takes a fifth less CPU time. Its pages can still be exported with main: the export then runs the page model on the stored training pages.",
        |s, v| s.core.clean.keep => keep_text(v)?;
    "clean.min_confidence" = "0.25", "Minimum share of the template that a page must show. Below it, the document frequency of its texts decides.",
        |s, v| s.core.clean.min_confidence => share(v)?;
    "clean.whole_blocks" = "true", "Whether a paragraph, heading, cell, item or block of code without blocks in it is kept or left out as a whole.",
        |s, v| s.core.clean.whole_blocks => truth(v)?;
    "clean.hidden" = "\"keep\"", "Text below hidden, display:none or visibility:hidden: keep, drop. Closed tabs, answers and menus are hidden, too.",
        |s, v| s.core.clean.hidden => one_of(v, &[("keep", HiddenText::Keep), ("drop", HiddenText::Drop)])?;
    "clean.alone" = "\"page_model\"", "How a page of an unknown site is cleaned: page_model (its main content), plain (the whole page is kept).",
        |s, v| s.core.clean.alone => one_of(v, &[("page_model", Alone::PageModel), ("plain", Alone::Plain)])?;
    "clean.favor" = "\"balanced\"", "What is preferred where it is in doubt how much of a page is main content: precision, balanced, recall.",
        |s, v| s.core.clean.favor => one_of(v, &[("precision", Favor::Precision), ("balanced", Favor::Balanced), ("recall", Favor::Recall)])?;

    "markdown.links" = "\"inline\"", "Links in Markdown: inline, reference (addresses at the end), drop (their text only).",
        |s, v| s.core.markdown.links => one_of(v, &[("inline", MarkdownLinks::Inline), ("reference", MarkdownLinks::Reference), ("drop", MarkdownLinks::Drop)])?;
    "markdown.images" = "\"keep\"", "Pictures in Markdown: keep, alt (the text that stands for them), drop.",
        |s, v| s.core.markdown.images => one_of(v, &[("keep", MarkdownImages::Keep), ("alt", MarkdownImages::Alt), ("drop", MarkdownImages::Drop)])?;

    "tps.gap" = "\"abs\"", "Method tps: difference between the two sides of a cut: abs (absolute), paper (as printed, which never keeps a left side).",
        |s, v| s.papers.tps.gap => one_of(v, &[("abs", TpsGap::Abs), ("paper", TpsGap::Paper)])?;
    "tps.search" = "\"first\"", "Which cut is tried: first (the paper), best (the one with the most unequal sides).",
        |s, v| s.papers.tps.search => one_of(v, &[("first", TpsSearch::First), ("best", TpsSearch::Best)])?;
    "tps.split_margin" = "0.2", "Minimum difference between the two sides, as a share of both, for the larger side to be kept.",
        |s, v| s.papers.tps.split_margin => share(v)?;
    "tps.complement" = "true", "Whether the rest of the page is kept instead if it has more text outside links. false = the paper.",
        |s, v| s.papers.tps.complement => truth(v)?;
    "tps.keep" = "\"main\"", "Which regions are kept: main (the paper), list (all that are large enough, as in the authors' program of 2013, for news).",
        |s, v| s.papers.tps.keep => one_of(v, &[("main", TpsKeep::Main), ("list", TpsKeep::List)])?;
    "tps.min_region" = "0.1", "Minimum share of the page in a region of the list.",
        |s, v| s.papers.tps.min_region => share(v)?;
    "tps.max_splits" = "200", "Number of cuts after which the search ends.",
        |s, v| s.papers.tps.max_splits => whole(v, 0, 1_000_000)?;

    "cluster.by" = "\"cps\"", "Features that pages are clustered by (Gottron 2008): cp (tag paths), cps (shingles of tag paths), ctss (shingles of the tag sequence).",
        |s, v| s.papers.cluster.by => one_of(v, &[("cp", ClusterBy::Cp), ("cps", ClusterBy::Cps), ("ctss", ClusterBy::Ctss)])?;
    "cluster.shingle" = "4", "Number of tag names in a shingle.",
        |s, v| s.papers.cluster.shingle => whole(v, 1, 64)?;
    "cluster.distance" = "0.3", "Maximum distance of two pages in one cluster. 0 = the paper: cp 0.7, cps 0.6, ctss 0.85, found on five sites of its year.",
        |s, v| s.papers.cluster.distance => share(v)?;

    "gottron.candidates" = "0", "Method gottron and label.by = gottron: number of linked pages from which the training set is chosen. 0 = all (the paper), up to 1,000.",
        |s, v| s.core.learn.gottron.candidates => whole(v, 0, 1000)?;
    "gottron.by" = "\"cp\"", "Features that the pages of a training set share: cp, cps, ctss, as in cluster.by.",
        |s, v| s.core.learn.gottron.cluster.by => one_of(v, &[("cp", ClusterBy::Cp), ("cps", ClusterBy::Cps), ("ctss", ClusterBy::Ctss)])?;
    "gottron.shingle" = "4", "Number of tag names in a shingle.",
        |s, v| s.core.learn.gottron.cluster.shingle => whole(v, 1, 64)?;
    "gottron.distance" = "0.0", "Maximum distance of two pages in one training set. 0 = the paper: cp 0.7, cps 0.6, ctss 0.85.",
        |s, v| s.core.learn.gottron.cluster.distance => share(v)?;

    "strings.tokens" = "\"auto\"", "Tokens of template strings (Foschini 2007): auto (html for pages, ws for text), ws (blanks), f2007 (blanks, hyphens), html (tags, words, punctuation).",
        |s, v| s.core.strings.tokens => one_of(v, &[("auto", StringTokens::Auto), ("ws", StringTokens::Ws), ("f2007", StringTokens::F2007), ("html", StringTokens::Html)])?;
    "strings.patterns" = "\"\"", "TOML file of mutable patterns ([[pattern]] with name, regex, test) for dehusk strings and method strings. Empty = built-in: dates, numbers, addresses.",
        |s, v| s.string_patterns => v.as_str().ok_or("expected a text")?.trim().to_owned();
    "strings.min_tokens" = "2", "Minimum number of tokens in a template string.",
        |s, v| s.core.strings.min_tokens => whole(v, 1, 1_000_000)?;
    "strings.min_df" = "0.05", "Minimum share of the documents with a string for it to be counted. Never fewer than two documents.",
        |s, v| s.core.strings.min_df_share => share(v)?;
    "strings.weight" = "\"log\"", "Weight of a bin in the histogram that separates idioms from template: log (of its count), raw (its count, the paper, with a low threshold).",
        |s, v| s.core.strings.weight => one_of(v, &[("log", HistogramWeight::Log), ("raw", HistogramWeight::Raw)])?;
    "strings.min_ratio" = "0.5", "Minimum share of the documents that contain a template string. 0 = the paper.",
        |s, v| s.core.strings.min_ratio => share(v)?;
    "strings.inner" = "\"keep\"", "Strings frequent only inside longer ones: keep (the paper, also removes them elsewhere), drop.",
        |s, v| s.core.strings.inner => one_of(v, &[("keep", InnerStrings::Keep), ("drop", InnerStrings::Drop)])?;
    "strings.max_idiom" = "4", "Strings of at most this many tokens that are distributed over documents like ordinary words are idioms and stay. 0 = the paper.",
        |s, v| s.core.strings.max_idiom => whole(v, 0, 1000)?;
    "strings.max_sites" = "0.05", "A string that is template in more than this share of the other sources, and in more than two, is an idiom and stays.",
        |s, v| s.core.strings.max_sites_share => share(v)?;
    "strings.longest_idiom" = "8", "Maximum number of tokens in an idiom. Longer strings are template even if many sources share them. 0 = no limit (the paper).",
        |s, v| s.core.strings.longest_idiom => whole(v, 0, 1_000_000)?;
    "strings.merge_gap" = "12", "Cuts in plain text separated by fewer characters, none of them a letter or digit, are merged. 0 = never.",
        |s, v| s.core.strings.merge_gap => whole(v, 0, 1_000_000)?;
    "strings.merge_text" = "false", "Whether cuts are merged over words, too, which are removed with them (the paper, section 3.4.1).",
        |s, v| s.core.strings.merge_text => truth(v)?;
    "strings.min_cut" = "0", "Minimum number of characters in a cut. Shorter ones are not removed.",
        |s, v| s.core.strings.min_cut => whole(v, 0, 1_000_000)?;
    "strings.max_total" = "\"5MB\"", "Maximum number of tokens in all strings of one template. The shortest strings above it are dropped and counted.",
        |s, v| s.core.strings.max_total => bytes(v)?.max(1);

    "text.method" = "\"max\"", "How dehusk cluster picks pairs to merge (TEXT): mdl (cost of all pairs, up to 2,000 pages), hash (estimated cost of all pairs; measured no faster than mdl here), max (only pairs that share the most; the fastest).",
        |s, v| s.papers.text.method => one_of(v, &[("mdl", TextMethod::Mdl), ("hash", TextMethod::Hash), ("max", TextMethod::Max)])?;
    "text.signature" = "128", "Length of a MinHash signature, by one-permutation hashing. The paper finds 50 enough.",
        |s, v| s.papers.text.signature => whole(v, 1, 4096)?;
    "text.min_support" = "2", "Minimum number of pages with an essential path. 1 = the paper, which keeps all paths when most occur on one page only.",
        |s, v| s.papers.text.min_support => whole(v, 1, 1_000_000)? as u32;
    "text.universal" = "0.5", "Paths on more than this share of all pages, such as html/body, do not decide which paths of a page are essential. 1 = the paper.",
        |s, v| s.papers.text.universal => share(v)?;
    "text.threshold" = "0.9", "Factor on the threshold of essential paths, which is the most frequent support on a page. Below 1, paths count that some pages of a template lack: more pages come together, in more time. 1 = the paper; its experiment runs from 0.1 to 1.1.",
        |s, v| s.papers.text.threshold => number(v).filter(|x| (0.01..=10.0).contains(x)).ok_or("expected a number from 0.01 to 10")?;
    "text.cost" = "\"count\"", "With mdl: cost of a clustering: count (ones of the matrices), entropy (bits by their entropy, the paper's definition; up to 1,000 pages).",
        |s, v| s.papers.text.cost => one_of(v, &[("count", TextCost::Count), ("entropy", TextCost::Entropy)])?;
    "text.bucket" = "64", "With max: number of the newest clusters with an equal signature value that are considered as partners.",
        |s, v| s.papers.text.bucket => whole(v, 1, 100_000_000)?;

    "store.path" = "\"dehusk.db\"", "The database with sites, templates and pages: a SQLite file, or the address of a PostgreSQL server that many crawls share (postgres://user:password@host/database). --db overrides it.",
        |s, v| s.store.path => text(v)?;
    "store.lease" = "30.0", "PostgreSQL: how long the hosts of a crawl that is not heard of stay leased to it. Others take them over after that and one full delay.",
        |s, v| s.store.lease => at_least(duration(v)?, Duration::from_secs(2))?;
    "store.zstd_level" = "3", "zstd compression level of stored pages.",
        |s, v| s.store.zstd_level => whole(v, 1, 19)? as i32;
    "store.keep_versions" = "0", "Versions of each page that are kept when a run ends. The newest one always is. 0 = all.",
        |s, v| s.store.keep.versions => whole(v, 0, 1_000_000)?;
    "store.keep_nights" = "0", "Runs of which old versions of pages and the log of requests are kept. 0 = all.",
        |s, v| s.store.keep.nights => whole(v, 0, 1_000_000)?;
    "store.keep_bytes" = "0", "Bytes of all versions of pages together. Above it, the oldest ones are deleted when a run ends; the newest of each page stays. 0 = no limit.",
        |s, v| s.store.keep.bytes => bytes(v)?;
    "store.noindex" = "\"hide\"", "Pages whose owners ask for noindex, or whose site forbids all by now: hide (left out of lists and of what is made of many pages), show. They are stored and marked in any case.",
        |s, v| s.store.noindex => one_of(v, &[("hide", NoindexPages::Hide), ("show", NoindexPages::Show)])?;

    "export.shingle" = "5", "Words of a shingle of MinHash, which finds near-duplicates. 5 with 14 bands of 8 rows: FineWeb. A text is near another one with probability 1 - (1 - s^rows)^bands, s being the overlap of their shingles (Jaccard).",
        |s, v| s.export.near.shingle => whole(v, 1, 64)?;
    "export.bands" = "14", "Bands of MinHash. More find more. Each takes 16 bytes of disk a page.",
        |s, v| s.export.near.bands => whole(v, 1, 64)?;
    "export.rows" = "8", "Hashes of a band of MinHash. Fewer find texts that are less alike.",
        |s, v| s.export.near.rows => whole(v, 1, 16)?;
    "export.min_paragraph" = "8", "Least number of words of a paragraph that dehusk export --paragraphs compares with those of other pages.",
        |s, v| s.export.min_paragraph => whole(v, 1, 1_000_000)?;
};
