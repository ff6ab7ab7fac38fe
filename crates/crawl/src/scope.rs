//! Which links a crawl follows: canonical form, scope, patterns, traps.
//!
//! [`Scope::judge`] returns the URL to request, or the reason why the link is not followed; the crawl counts these
//! reasons. No rule names a site: each trap is a pattern of unbounded URL spaces.

use std::sync::{Arc, LazyLock};

use dehusk_template::learner::LinkFilter;

use regex::{Regex, RegexSet};
use rustc_hash::{FxHashMap, FxHashSet};
use url::Position;
use xxhash_rust::xxh3::xxh3_64;

use dehusk_html::{PageUrl, SameSite, Site};
use dehusk_settings::{Crawl, ScopeOf, never_host};

/// Why a link is not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// It leaves the site, or the folder of the key page.
    Outside,
    /// It matches a pattern of `crawl.exclude`, or none of `crawl.include`.
    Pattern,
    /// The URL is too long.
    Long,
    /// Its path is too deep.
    Deep,
    /// A segment, or a sequence of segments, is repeated too often.
    Repeats,
    /// A relative link repeats the end of the page's own path.
    Growing,
    /// The path has too many different queries.
    Queries,
    /// The URL has a date too far from now.
    Calendar,
    /// `&amp;` is escaped twice or more.
    Amp,
    /// Its host or the URL is listed in `crawl.never`.
    Never,
}

impl Refusal {
    /// The name used in statistics.
    pub fn name(self) -> &'static str {
        match self {
            Refusal::Outside => "outside",
            Refusal::Pattern => "pattern",
            Refusal::Long => "long",
            Refusal::Deep => "deep",
            Refusal::Repeats => "repeats",
            Refusal::Growing => "growing",
            Refusal::Queries => "queries",
            Refusal::Calendar => "calendar",
            Refusal::Amp => "amp",
            Refusal::Never => "never",
        }
    }
}

/// The link rules of a crawl, built once from its settings.
#[derive(Debug)]
pub struct Scope {
    crawl: Crawl,
    include: RegexSet,
    exclude: RegexSet,
    /// Hosts of `crawl.never`, and its expressions.
    never_hosts: FxHashSet<String>,
    never: RegexSet,
    /// Whether a URL was forgotten for good.
    is_kept_out: Option<KeptOut>,
    /// Names of dropped parameters, in lower case. Names with a final `*` are in `dropped_beginnings`.
    dropped: FxHashSet<String>,
    dropped_beginnings: Vec<String>,
    /// The current year, for dates in URLs.
    year: i64,
}

/// Whether a URL was forgotten for good, which the store knows.
struct KeptOut(Box<dyn Fn(&PageUrl) -> bool + Send + Sync>);

impl std::fmt::Debug for KeptOut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("KeptOut")
    }
}

/// Hashes of the queries seen of each path, for one site.
pub type Queries = FxHashMap<u64, FxHashSet<u64>>;

impl Scope {
    /// The rules of these settings; `year` is the current one.
    pub fn new(crawl: &Crawl, year: i64) -> Scope {
        // Settings with invalid patterns are rejected earlier.
        let set = |patterns: &[String]| RegexSet::new(patterns).unwrap_or_else(|_| RegexSet::empty());
        let expressions: Vec<String> =
            crawl.never.iter().filter(|entry| never_host(entry).is_none()).cloned().collect();
        let names = crawl.drop_parameters.iter().map(|name| name.to_ascii_lowercase());
        let (beginnings, dropped): (Vec<String>, Vec<String>) = names.partition(|name| name.ends_with('*'));
        Scope {
            include: set(&crawl.include),
            exclude: set(&crawl.exclude),
            never_hosts: crawl.never.iter().filter_map(|entry| never_host(entry)).collect(),
            never: set(&expressions),
            is_kept_out: None,
            dropped: dropped.into_iter().collect(),
            dropped_beginnings: beginnings.iter().map(|name| name.trim_end_matches('*').to_owned()).collect(),
            crawl: crawl.clone(),
            year,
        }
    }

    /// The site of a key page, by `crawl.scope`.
    pub fn site(&self, key: &PageUrl) -> Site {
        let same = if self.crawl.scope == ScopeOf::Registrable { SameSite::Registrable } else { SameSite::Host };
        Site::new(key, same)
    }

    /// The URL without session and tracking parameters.
    pub fn strip(&self, url: &PageUrl) -> PageUrl {
        url.without_parameters(|name| {
            self.dropped.contains(name) || self.dropped_beginnings.iter().any(|beginning| name.starts_with(beginning))
        })
    }

    /// The learner's link filter: strips parameters, then checks the link.
    pub fn link_filter(self: &Arc<Scope>) -> LinkFilter {
        let scope = Arc::clone(self);
        Arc::new(move |from, to| {
            let url = scope.strip(to);
            scope.allows(from, &url).ok().map(|()| url)
        })
    }

    /// Whether `crawl.never` lists a URL, or a domain that its host is in.
    pub fn is_never(&self, url: &PageUrl) -> bool {
        let mut host = Some(url.host());
        while let Some(name) = host.filter(|_| !self.never_hosts.is_empty()) {
            if self.never_hosts.contains(name) {
                return true;
            }
            host = name.split_once('.').map(|(_, parent)| parent);
        }
        self.never.is_match(url.as_str()) || self.is_kept_out.as_ref().is_some_and(|KeptOut(is)| is(url))
    }

    /// The same rules, and those of URLs that were forgotten for good.
    pub fn without(self, is_kept_out: impl Fn(&PageUrl) -> bool + Send + Sync + 'static) -> Scope {
        Scope { is_kept_out: Some(KeptOut(Box::new(is_kept_out))), ..self }
    }

    /// What every URL must pass that is requested, key pages too.
    pub fn allows_key(&self, url: &PageUrl) -> Result<(), Refusal> {
        if url.as_str().len() > self.crawl.max_url_bytes {
            return Err(Refusal::Long);
        }
        if self.is_never(url) { Err(Refusal::Never) } else { Ok(()) }
    }

    /// Whether what a script asks for may be requested. Patterns of `crawl.include` are for pages.
    pub fn allows_subresource(&self, url: &PageUrl) -> Result<(), Refusal> {
        self.allows_key(url)?;
        if self.exclude.is_match(url.as_str()) { Err(Refusal::Pattern) } else { Ok(()) }
    }

    /// Whether a link of `from` may be followed. For links to training pages this is the only check.
    pub fn allows(&self, from: &PageUrl, to: &PageUrl) -> Result<(), Refusal> {
        self.allows_key(to)?;
        let text = to.as_str();
        if text.contains("amp;amp;") || text.contains("%26amp%3Bamp%3B") {
            return Err(Refusal::Amp);
        }
        let segments: Vec<&str> = to.path().split('/').filter(|segment| !segment.is_empty()).collect();
        if segments.len() > self.crawl.max_path_segments {
            return Err(Refusal::Deep);
        }
        if repeats(&segments) > self.crawl.max_repeats {
            return Err(Refusal::Repeats);
        }
        if grows(from, &segments) {
            return Err(Refusal::Growing);
        }
        if is_far_date(to, self.year, self.crawl.max_calendar_years) {
            return Err(Refusal::Calendar);
        }
        if self.exclude.is_match(text) || (!self.include.is_empty() && !self.include.is_match(text)) {
            return Err(Refusal::Pattern);
        }
        Ok(())
    }

    /// Checks a link of the crawl beyond the training pages: inside the scope, canonical form, no trap.
    pub fn judge(&self, site: &Site, from: &PageUrl, to: PageUrl, queries: &mut Queries) -> Result<PageUrl, Refusal> {
        let to = site.claim(to).ok_or(Refusal::Outside)?;
        let folder = &site.key().path()[..=site.key().path().rfind('/').unwrap_or(0)];
        if self.crawl.scope == ScopeOf::Path && !to.path().starts_with(folder) {
            return Err(Refusal::Outside);
        }
        let to = self.strip(&to);
        self.allows(from, &to)?;
        let Some(query) = to.url().query() else { return Ok(to) };
        let seen = queries.entry(xxh3_64(to.path().as_bytes())).or_default();
        let query = xxh3_64(query.as_bytes());
        if seen.len() >= self.crawl.max_queries && !seen.contains(&query) {
            return Err(Refusal::Queries);
        }
        seen.insert(query);
        Ok(to)
    }
}

/// How often the most frequent segment occurs in a path, or a sequence of two or three segments in a row.
fn repeats(segments: &[&str]) -> usize {
    let mut counts: FxHashMap<&str, usize> = FxHashMap::default();
    for segment in segments {
        *counts.entry(segment).or_default() += 1;
    }
    let single = counts.values().copied().max().unwrap_or(0);
    let run = (2..=3).map(|n| longest_run(segments, n)).max().unwrap_or(0);
    single.max(run)
}

/// The most consecutive repetitions of any `n` segments.
fn longest_run(segments: &[&str], n: usize) -> usize {
    let mut best = 0;
    let mut run = 1;
    for at in n..segments.len() {
        run = if segments[at] == segments[at - n] { run + 1 } else { 1 };
        best = best.max((run - 1) / n + 1);
    }
    best
}

/// Whether a relative link repeats the end of the page's own path once more: from `/a/b/b` to `/a/b/b/b`.
fn grows(from: &PageUrl, segments: &[&str]) -> bool {
    let own: Vec<&str> = from.path().split('/').filter(|segment| !segment.is_empty()).collect();
    (1..=segments.len() / 2).any(|n| {
        let (head, tail) = segments.split_at(segments.len() - n);
        // The page's own path must have repeated these segments already.
        head.ends_with(tail) && own == head && head[..head.len() - n].ends_with(tail)
    })
}

/// Whether a path or query contains a year with a month, too far from now. A year alone has many other meanings.
fn is_far_date(url: &PageUrl, year: i64, most: i64) -> bool {
    static DATE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?:(?:^|[^0-9])([0-9]{4})[/-](?:0[1-9]|1[0-2])|[?&]y(?:ear)?=([0-9]{4})&m(?:onth)?=(?:0?[1-9]|1[0-2]))(?:[^0-9]|$)").ok()
    });
    let text = &url.url()[Position::BeforePath..];
    let dates = DATE.iter().flat_map(|date| date.captures_iter(text));
    let years = dates.filter_map(|found| found.get(1).or_else(|| found.get(2))?.as_str().parse::<i64>().ok());
    // Other numbers of four digits are not years.
    years.filter(|found| (1000..=2999).contains(found)).any(|found| (found - year).abs() > most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dehusk_settings::Settings;

    fn url(text: &str) -> PageUrl {
        PageUrl::parse(text).unwrap()
    }

    fn judge(change: impl FnOnce(&mut Crawl), from: &str, to: &str) -> Result<String, Refusal> {
        let mut crawl = Settings::default().crawl;
        change(&mut crawl);
        let scope = Scope::new(&crawl, 2026);
        let site = scope.site(&url("http://s.com/docs/index.html"));
        scope.judge(&site, &url(from), url(to), &mut Queries::default()).map(|url| url.to_string())
    }

    #[test]
    fn traps_have_names() {
        let from = "http://s.com/";
        for (to, refusal) in [
            ("http://t.com/", Refusal::Outside),
            ("http://s.com/a/a/a/a/b", Refusal::Repeats),
            ("http://s.com/x/y/x/y/x/y/x/y", Refusal::Repeats),
            ("http://s.com/cal/2099/11", Refusal::Calendar),
            ("http://s.com/cal?year=1801&month=2", Refusal::Calendar),
            ("http://s.com/x?a=1&amp;amp;b=2", Refusal::Amp),
        ] {
            assert_eq!(judge(|_| {}, from, to), Err(refusal), "{to}");
        }
        assert_eq!(judge(|_| {}, from, &format!("http://s.com/{}", "x".repeat(3000))), Err(Refusal::Long));
        let deep: String = (0..30).map(|n| format!("/{n}")).collect();
        assert_eq!(judge(|_| {}, from, &format!("http://s.com{deep}")), Err(Refusal::Deep));
        assert_eq!(judge(|_| {}, "http://s.com/a/b/b", "http://s.com/a/b/b/b"), Err(Refusal::Growing));
        for fine in [
            "http://s.com/thread-1234-1-1.html",
            "http://s.com/t/x/5678/2",
            "http://s.com/2024/05/a-post",
            "http://s.com/de/de-at/de",
            "http://s.com/part/1812/intro",
        ] {
            assert_eq!(judge(|_| {}, from, fine).as_deref(), Ok(fine));
        }
    }

    #[test]
    fn scope_patterns_and_parameters() {
        let from = "http://s.com/docs/";
        assert_eq!(judge(|c| c.scope = ScopeOf::Path, from, "http://s.com/blog/"), Err(Refusal::Outside));
        assert!(judge(|c| c.scope = ScopeOf::Path, from, "http://s.com/docs/x").is_ok());
        assert!(judge(|c| c.scope = ScopeOf::Registrable, from, "http://blog.s.com/x").is_ok());
        assert_eq!(judge(|c| c.exclude = vec!["/blog/".into()], from, "http://s.com/blog/"), Err(Refusal::Pattern));
        assert_eq!(judge(|c| c.include = vec!["/docs/".into()], from, "http://s.com/blog/"), Err(Refusal::Pattern));
        let stripped = judge(|_| {}, from, "http://s.com/a;jsessionid=1?utm_source=x&q=1&PHPSESSID=2");
        assert_eq!(stripped.as_deref(), Ok("http://s.com/a?q=1"));
    }

    #[test]
    fn queries_to_one_path_are_counted() {
        let crawl = Crawl { max_queries: 2, ..Settings::default().crawl };
        let scope = Scope::new(&crawl, 2026);
        let (key, mut queries) = (url("http://s.com/"), Queries::default());
        let site = scope.site(&key);
        let mut judge = |to: &str| scope.judge(&site, &key, url(to), &mut queries).map(|_| ());
        assert_eq!(judge("http://s.com/l?a=1"), Ok(()));
        assert_eq!(judge("http://s.com/l?a=2"), Ok(()));
        assert_eq!(judge("http://s.com/l?a=3"), Err(Refusal::Queries));
        assert_eq!((judge("http://s.com/l?a=1"), judge("http://s.com/m?a=1")), (Ok(()), Ok(())));
    }
}
