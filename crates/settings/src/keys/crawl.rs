//! The other keys of the crawl: budgets, traps, revisits, politeness, the network.

use std::time::Duration;

use super::{Key, keys};
use crate::values::{
    any_text, at_most, bytes, duration, networks, number, one_of, positive, share, strings, truth, whole,
};
use crate::{DelayFrom, Order, PolitenessScope, ScriptHosts};

pub(super) const CRAWL: &[Key] = keys! {
    "crawl.cpu_threads" = "0", "Threads that parse and learn. 0 = one per core.",
        |s, v| s.crawl.cpu_threads => whole(v, 0, 1024)?;
    "crawl.network_threads" = "0", "Threads that send requests, and read and unpack responses. 0 = one per core, but a single one for two cores. A single one also schedules: less CPU time in all, and no more than one core for the network.",
        |s, v| s.crawl.network_threads => whole(v, 0, 1024)?;
    "crawl.order" = "\"paper\"", "Order of pages beyond the training pages: paper (hyperlink distance to the key page), breadth (fewest links from the key page first).",
        |s, v| s.crawl.order => one_of(v, &[("paper", Order::Paper), ("breadth", Order::Breadth)])?;
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
    "crawl.resume_within" = "\"20h\"", "Maximum age of an unfinished run that is resumed. An older run is closed.",
        |s, v| s.crawl.resume_within => duration(v)?;
    "crawl.stop_within" = "30.0", "Time that requests in flight have to complete after SIGTERM or Ctrl-C.",
        |s, v| s.crawl.stop_within => duration(v)?;
    "crawl.site.max_failures" = "100", "Number of requests of a site in a row that gave no page, after which it ends for this run. 0 = no limit.",
        |s, v| s.crawl.site.max_failures => whole(v, 0, usize::MAX >> 1)?;
    "crawl.site.max_bytes" = "0", "Number of body bytes of a site as sent after which it ends for this run. 0 = no limit.",
        |s, v| s.crawl.site.max_bytes => bytes(v)?;
    "crawl.site.max_pages" = "0", "Number of pages of a site that may be known. Beyond it no further ones are requested, in later runs too, apart from seeds. 0 = no limit.",
        |s, v| s.crawl.site_max_pages => whole(v, 0, usize::MAX >> 1)?;
    "template.min_freshness" = "0.8", "Minimum share of its original template coverage that a key page must still reach. Below it the site is learned again.",
        |s, v| s.template.min_freshness => share(v)?;
    "template.relearn" = "false", "Whether every site is learned again, even if its stored template still fits.",
        |s, v| s.template.relearn => truth(v)?;
    "revisit.least" = "\"1h\"", "Shortest revisit interval.",
        |s, v| s.revisit.least => duration(v)?;
    "revisit.shrink" = "0.8", "Factor on the revisit interval of a page whose text has changed.",
        |s, v| s.revisit.shrink => share(v)?;
    "revisit.grow" = "1.4", "Factor on the revisit interval of a page whose text has not changed.",
        |s, v| s.revisit.grow => number(v).filter(|x| (1.0..=100.0).contains(x)).ok_or("expected a number from 1 to 100")?;
    "revisit.all" = "false", "Whether every known page is fetched again, even if it is not due. Same as crawl --all.",
        |s, v| s.revisit.all => truth(v)?;
    "politeness.delay_from" = "\"end\"", "Whether the delay runs from the end or from the start of a fetch: end, start.",
        |s, v| s.politeness.delay_from => one_of(v, &[("end", DelayFrom::End), ("start", DelayFrom::Start)])?;
    "politeness.key" = "\"domain\"", "What shares one delay: domain (registrable domain), host, ip (resolved address).",
        |s, v| s.politeness.key => one_of(v, &[("domain", PolitenessScope::Domain), ("host", PolitenessScope::Host), ("ip", PolitenessScope::Ip)])?;
    "politeness.adaptive" = "0.0", "The delay is at least this factor times the duration of the last fetch. 0 = off.",
        |s, v| s.politeness.adaptive => number(v).filter(|x| (0.0..=1000.0).contains(x)).ok_or("expected a number from 0 to 1000")?;
    "politeness.max_back_off" = "\"10m\"", "Longest back-off after 429, 503 or failed connections, each of which doubles it. A longer Retry-After defers the site to a later run.",
        |s, v| s.politeness.max_back_off => duration(v)?;
    "politeness.park_after" = "5", "Failed connections in a row after which a politeness key gets no more requests in this run.",
        |s, v| s.politeness.park_after => whole(v, 1, 1000)? as u32;
    "politeness.robots_ttl" = "\"24h\"", "How long a fetched robots.txt is cached (RFC 9309: at most 24 h).",
        |s, v| s.politeness.robots_ttl => at_most(duration(v)?, Duration::from_secs(86_400))?;
    "fetch.resolve" = "[]", "NAME=ADDRESS[:PORT] pairs that override DNS, such as \"*.shop.test=127.0.0.1:8080\".",
        |s, v| s.fetch.resolve => strings(v)?;
    "fetch.deny_networks" = "[]", "Networks that are never fetched.",
        |s, v| s.fetch.deny_networks => networks(v)?;
    "fetch.dns_ttl" = "\"5m\"", "How long a resolved address is cached.",
        |s, v| s.fetch.dns_ttl => duration(v)?;
    "fetch.cookies" = "false", "Whether cookies are kept during a run, separate for each registrable domain.",
        |s, v| s.fetch.cookies => truth(v)?;
    "fetch.min_rate" = "200", "Minimum rate of a response body in bytes per second, measured over five seconds. A slower response fails.",
        |s, v| s.fetch.min_rate => bytes(v)?;
    "fetch.connect_timeout" = "10.0", "Time limit for connecting, including TLS.",
        |s, v| s.fetch.connect_timeout => positive(duration(v)?)?;
    "fetch.max_raw_bytes" = "\"10MB\"", "Maximum size of a response body as sent. A larger one is rejected.",
        |s, v| s.fetch.max_raw_bytes => bytes(v)?;
    "fetch.max_redirects" = "5", "Maximum number of redirects for one page. Each hop obeys robots.txt and the politeness delay.",
        |s, v| s.fetch.max_redirects => whole(v, 0, 20)?;
    "fetch.retries" = "1", "How often a page is requested again after a failed connection, a timeout, 429 or 5xx.",
        |s, v| s.fetch.retries => whole(v, 0, 10)? as u8;
    "fetch.in_flight" = "256", "Maximum number of requests in flight over all hosts.",
        |s, v| s.fetch.in_flight => whole(v, 1, 65_536)?;
    "fetch.requests_per_second_per_address" = "0", "Maximum number of requests per second to one IP address, over all its hosts. 0 = no limit.",
        |s, v| s.fetch.requests_per_second_per_address => whole(v, 0, u32::MAX as usize)? as u32;
    "render.browser" = "\"\"", "Program that renders pages (fetch.render). Empty = Chromium or Chrome, as found in PATH.",
        |s, v| s.render.browser => any_text(v)?;
    "render.sandbox" = "true", "Whether pages run in the sandbox of the browser. It does not work as root. Switch it off only where the machine is a sandbox itself, such as a container of its own.",
        |s, v| s.render.sandbox => truth(v)?;
    "render.memory" = "\"1GB\"", "Memory of the process of one page in the browser. A page that needs more is given up.",
        |s, v| s.render.memory => bytes(v)?.max(64 << 20);
    "render.pages" = "2", "Pages that are rendered at the same time.",
        |s, v| s.render.pages => whole(v, 1, 256)?;
    "render.origins" = "\"needed\"", "Hosts that the scripts of a page may ask, each by its own robots.txt and delay: site (those of its registrable domain), needed (all, where those of the site leave it without text), all.",
        |s, v| s.render.origins => one_of(v, &[("site", ScriptHosts::Site), ("needed", ScriptHosts::Needed), ("all", ScriptHosts::All)])?;
    "render.requests" = "100", "Maximum number of requests of a page for its scripts and what they read. Further ones fail.",
        |s, v| s.render.requests => whole(v, 0, 100_000)?;
    "render.bytes" = "\"20MB\"", "Maximum bytes of the answers to these requests together. Further requests fail.",
        |s, v| s.render.bytes => bytes(v)?;
    "render.settled" = "2.0", "How long nothing must change until a page is complete, by its own clock, which stands still while it waits for an answer.",
        |s, v| s.render.settled => positive(duration(v)?)?;
    "render.seconds" = "15.0", "How long a page may take, by its own clock. It is taken as it is then.",
        |s, v| s.render.seconds => positive(duration(v)?)?;
    "render.patience" = "20.0", "How long the scripts of a page may work, by the clock of the machine; waiting for answers does not count. A page that takes longer is given up.",
        |s, v| s.render.patience => positive(duration(v)?)?;
    "render.nodes" = "100000", "Maximum number of elements of a rendered page. A page with more is given up.",
        |s, v| s.render.nodes => whole(v, 100, 10_000_000)?;
};
