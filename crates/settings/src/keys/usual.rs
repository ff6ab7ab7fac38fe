//! Keys that people set: which sites, how politely, what is kept, and where it is stored.

use dehusk_content::Favor;
use dehusk_core::clean::HiddenText;
use dehusk_core::rights::Use;
use dehusk_render::MarkdownImages;
use dehusk_render::MarkdownLinks;
use dehusk_template::learn_options::Preset;

use super::{Key, keys};
use crate::values::{
    bytes, duration, headers, keep_text, networks, never, one_of, patterns, positive, strings, text, truth, user_agent,
    whole,
};
use crate::{Mode, NoindexPages, Render, ScopeOf};

pub(super) const USUAL: &[Key] = keys! {
    "preset" = "\"dehusk\"", "Parameter set of template learning: dehusk (measured best), votes (best variant of the thesis' votes), thesis2014, hybex2020. Keys of [links] to [etdm] refine it.",
        |s, v| s.core.learn => one_of(v, &Preset::ALL)?.learn();
    "crawl.seeds" = "[\"seeds/example.txt\"]", "Seed files read when the command line names none. One URL per line, # begins a comment. The first URL of a host is the key page of its site; further ones are fetched as pages of it.",
        |s, v| s.crawl.seeds => strings(v)?;
    "crawl.mode" = "\"full\"", "full: learn, clean and store pages. links: only follow links and record visits, without storing pages.",
        |s, v| s.crawl.mode => one_of(v, &[("full", Mode::Full), ("links", Mode::Links)])?;
    "crawl.purpose" = "\"any\"", "What pages are for: any, archive, search, input (of models that write answers) or train. What owners deny for it is not stored.",
        |s, v| s.crawl.purpose => one_of(v, &[("any", None), ("archive", Some(Use::Archive)), ("search", Some(Use::Search)),
            ("input", Some(Use::Input)), ("train", Some(Use::Train))])?;
    "crawl.ignore_changes" = "[]", "Regular expressions. A text that matches one of them is ignored when it is decided whether a page has changed. It is stored like any other.",
        |s, v| s.crawl.ignore_changes => patterns(v)?;
    "crawl.learn_changing" = "true", "Whether parts that differ on every visit, such as counters, dates and teasers, are learned and ignored when it is decided whether a page has changed. See docs/nightly.md.",
        |s, v| s.crawl.learn_changing => truth(v)?;
    "crawl.withhold" = "true", "Whether answers with status 200 that look like no page are not stored: challenges, shells without text, log-in walls, soft 404s, parked domains. The page has failed then, with a reason code, and its last version stays.",
        |s, v| s.crawl.withhold => truth(v)?;
    "crawl.probe" = "true", "Whether a site is asked once for an address that it does not have, where a page has little text. Pages that say the same are soft 404s (crawl.withhold).",
        |s, v| s.crawl.probe => truth(v)?;
    "fetch.render" = "\"never\"", "Which pages are rendered in a browser: never, needed (pages without text, of sites whose training pages have no text without scripts), always. Needs Chromium, and a program with the feature render. See docs/rendering.md.",
        |s, v| s.fetch.render => one_of(v, &[("never", Render::Never), ("needed", Render::Needed), ("always", Render::Always)])?;
    "crawl.pages_per_site" = "0", "Number of pages of a site to fetch in one run, if learning needs fewer. Seeds and pages of earlier runs that are due are fetched whatever it says; a quarter of it is for pages that were never fetched. 0 = only those that learning needs.",
        |s, v| s.crawl.pages_per_site => whole(v, 0, 1_000_000_000)?;
    "crawl.depth" = "0", "Maximum number of links from the key page to a page beyond the training pages. 0 = no limit.",
        |s, v| s.crawl.depth => whole(v, 0, 10_000)? as u32;
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
    "crawl.max_seconds" = "0", "Time after which the run ends, in seconds or as text such as \"8h\". 0 = no limit.",
        |s, v| s.crawl.budget.max_seconds => duration(v)?;
    "crawl.site.max_requests" = "0", "Number of requests of a site after which it ends for this run, with its template and its pages as far as they are known. What is left waits for the next run. 0 = no limit.",
        |s, v| s.crawl.site.max_requests => whole(v, 0, usize::MAX >> 1)?;
    "crawl.site.max_seconds" = "0", "Time after which a site ends for this run, so that one site does not set the length of the night. 0 = no limit.",
        |s, v| s.crawl.site.max_seconds => duration(v)?;
    "crawl.sites_at_once" = "256", "Sites processed at the same time. Each keeps its training pages in memory.",
        |s, v| s.crawl.sites_at_once => whole(v, 1, 1_000_000)?;
    "crawl.memory" = "\"1GB\"", "Memory for pages and their trees. Above it, fewer requests are sent until some pages are done. A site whose trees need more than a quarter of it is learned from the pages that fit.",
        |s, v| s.crawl.memory => bytes(v)?.max(16 << 20);
    "politeness.delay" = "1.0", "Minimum time between two fetches with the same politeness key, in seconds or as text such as \"500ms\".",
        |s, v| s.politeness.delay => duration(v)?;
    "politeness.max_crawl_delay" = "60.0", "Longest Crawl-delay of robots.txt that is obeyed. Sites that ask for more are not fetched. A Crawl-delay never shortens the delay.",
        |s, v| s.politeness.max_crawl_delay => duration(v)?;
    "politeness.robots_agents" = "[]", "Agent names for robots.txt. The first one with a group applies, then *. Empty = the name in fetch.user_agent.",
        |s, v| s.politeness.robots_agents => strings(v)?;
    "fetch.user_agent" = "\"dehusk/0.1 (+https://example.org/set-fetch.user_agent)\"", "User agent, with a URL where a site operator can complain. Put your own here.",
        |s, v| s.fetch.user_agent => user_agent(v)?;
    "fetch.headers" = "[]", "Additional request headers, such as \"From: crawl@my.org\".",
        |s, v| s.fetch.headers => headers(v)?;
    "fetch.proxy" = "\"\"", "Proxy for all requests, such as \"http://proxy.my.org:3128\". Empty = none.",
        |s, v| s.fetch.proxy => v.as_str().ok_or("expected a text")?.trim().to_owned();
    "fetch.ca_file" = "\"\"", "File of certificates (PEM) of authorities that are trusted beside the built-in ones and those of the system (or of SSL_CERT_FILE). Empty = none.",
        |s, v| s.fetch.ca_file => v.as_str().ok_or("expected a text")?.trim().to_owned();
    "fetch.allow_private" = "false", "Whether addresses of this machine and of private networks may be fetched. For tests and intranets.",
        |s, v| s.fetch.allow_private => truth(v)?;
    "fetch.allow_networks" = "[]", "Networks that may be fetched even if allow_private is false, such as \"10.1.0.0/16\".",
        |s, v| s.fetch.allow_networks => networks(v)?;
    "fetch.timeout" = "30.0", "Time limit for a complete response, from request to last byte.",
        |s, v| s.fetch.timeout => positive(duration(v)?)?;
    "fetch.max_bytes" = "\"40MB\"", "Maximum size of a response body after decompression. A larger one is rejected.",
        |s, v| s.fetch.max_bytes => bytes(v)?;
    "fetch.requests_per_second" = "0", "Maximum number of requests per second over all hosts. 0 = no limit.",
        |s, v| s.fetch.requests_per_second => whole(v, 0, u32::MAX as usize)? as u32;
    "fetch.bytes_per_second" = "0", "Maximum number of body bytes per second over all hosts. 0 = no limit.",
        |s, v| s.fetch.bytes_per_second => bytes(v)?.min(u32::MAX as usize) as u32;
    "revisit.first" = "\"20h\"", "First interval before a page is fetched again. Later intervals adapt to changes. Less than a day, so that the page is due for the next nightly run.",
        |s, v| s.revisit.first => duration(v)?;
    "revisit.most" = "\"30d\"", "Longest revisit interval.",
        |s, v| s.revisit.most => duration(v)?;
    "clean.keep" = "\"own\"", "What is kept of a page: own (everything that is not template), main (the main text of that), or the main text with kinds of the rest, such as main+comments+byline. Kinds: comments, byline, breadcrumbs, contents, related. A crawl with own takes a fifth less CPU time. Its pages can still be exported with main: the export then runs the page model on the stored training pages.",
        |s, v| s.core.clean.keep => keep_text(v)?;
    "clean.favor" = "\"balanced\"", "What is preferred where it is in doubt how much of a page is main content: precision, balanced, recall.",
        |s, v| s.core.clean.favor => one_of(v, &[("precision", Favor::Precision), ("balanced", Favor::Balanced), ("recall", Favor::Recall)])?;
    "clean.hidden" = "\"keep\"", "Text below hidden, display:none or visibility:hidden: keep, drop. Closed tabs, answers and menus are hidden, too.",
        |s, v| s.core.clean.hidden => one_of(v, &[("keep", HiddenText::Keep), ("drop", HiddenText::Drop)])?;
    "markdown.links" = "\"inline\"", "Links in Markdown: inline, reference (addresses at the end), drop (their text only).",
        |s, v| s.core.markdown.links => one_of(v, &[("inline", MarkdownLinks::Inline), ("reference", MarkdownLinks::Reference), ("drop", MarkdownLinks::Drop)])?;
    "markdown.images" = "\"keep\"", "Pictures in Markdown: keep, alt (the text that stands for them), drop.",
        |s, v| s.core.markdown.images => one_of(v, &[("keep", MarkdownImages::Keep), ("alt", MarkdownImages::Alt), ("drop", MarkdownImages::Drop)])?;
    "store.path" = "\"dehusk.db\"", "The database with sites, templates and pages: a SQLite file, or the address of a PostgreSQL server that many crawls share (postgres://user:password@host/database). --db overrides it.",
        |s, v| s.store.path => text(v)?;
    "store.keep_versions" = "0", "Versions of each page that are kept when a run ends. The newest one always is. 0 = all.",
        |s, v| s.store.keep.versions => whole(v, 0, 1_000_000)?;
    "store.keep_bytes" = "0", "Bytes of all versions of pages together. Above it, the oldest ones are deleted when a run ends; the newest of each page stays. 0 = no limit.",
        |s, v| s.store.keep.bytes => bytes(v)?;
    "store.noindex" = "\"hide\"", "Pages whose owners ask for noindex, or whose site forbids all by now: hide (left out of lists and of what is made of many pages), show. They are stored and marked in any case.",
        |s, v| s.store.noindex => one_of(v, &[("hide", NoindexPages::Hide), ("show", NoindexPages::Show)])?;
};
