//! robots.txt (RFC 9309) with `Crawl-delay` and `Sitemap`: what a site allows, and how fast.
//!
//! One robots.txt applies to one origin. It is fetched before the first page of the origin; no setting disables it.
//!
//! Only the rules for our agents are kept, percent-encoded once in the form of RFC 9309, 2.2.2. Matching compares bytes
//! and is linear in the rules' bytes, for files up to 500 KiB. Agents are a list: the first one that has a group
//! applies, then `*`. Groups of one agent are merged (2.2.1). Where the RFC is silent, parsing is as lenient as
//! Google's parser: a missing colon, odd line ends, a byte order mark, misspelled `dissallow`.

mod encode;
mod parse;
mod rule;
mod usage;

use std::rc::Rc;
use std::time::Duration;

use encode::{Side, encode};
use parse::{Directive, Groups};
pub(crate) use rule::PathPattern;
use rule::Rule;
use usage::UsageRule;

use crate::rights_files::RightsFiles;
use dehusk_core::page_rules::{product_token, token_of};
use dehusk_core::rights::Statement;
use dehusk_html::PageUrl;
use dehusk_store::reason::{Reason, ReasonCode};

/// Bytes of a robots.txt that are read (RFC 9309, 2.5).
pub const MAX_ROBOTS_BYTES: usize = 500 * 1024;

/// Redirects followed for a robots.txt (RFC 9309, 2.3.1.2).
pub const MAX_ROBOTS_REDIRECTS: usize = 5;

/// Lines about the use of paths that are kept.
const MAX_USAGE: usize = 1000;

/// The rules of one origin for our agents.
#[derive(Clone, Debug, PartialEq)]
pub struct Robots {
    rules: Rules,
    delay: Option<Duration>,
    sitemaps: Vec<String>,
    usage: Vec<UsageRule>,
    licences: Vec<String>,
    /// What was read beside it.
    files: RightsFiles,
}

#[derive(Clone, Debug, PartialEq)]
enum Rules {
    Nothing(Reason),
    /// Longest pattern first, `Allow` before `Disallow` of the same length: the first match decides.
    Listed(Vec<Rule>),
}

/// How the request for a robots.txt ended.
#[derive(Clone, Copy, Debug)]
pub enum RobotsAnswer<'a> {
    /// A response with this status and body.
    Status(u16, &'a [u8]),
    /// No response, for this reason: no connection, a timeout, a broken response. The text may be empty.
    Unreachable(ReasonCode, &'a str),
}

impl Robots {
    /// The rules that follow from a response (RFC 9309, 2.3.1): 2xx is parsed, 3xx and 4xx mean no rules, everything
    /// else and 429 forbid all. `agents` are product tokens, the preferred one first.
    pub fn new(answer: RobotsAnswer<'_>, agents: &[String]) -> Robots {
        let nothing = |code: ReasonCode, text: &str| Robots {
            rules: Rules::Nothing(Reason::new(code, text)),
            delay: None,
            sitemaps: Vec::new(),
            usage: Vec::new(),
            licences: Vec::new(),
            files: RightsFiles::default(),
        };
        let unavailable = ReasonCode::RobotsUnavailable;
        match answer {
            RobotsAnswer::Status(200..=299, body) => Robots::parse(body, agents),
            // Not in RFC 9309: a server that is overloaded for robots.txt is overloaded for pages, too.
            RobotsAnswer::Status(429, _) => nothing(unavailable, "robots.txt answers 429, too many requests"),
            // Redirects were followed up to the limit; RFC 9309 lets a longer chain count as unavailable.
            RobotsAnswer::Status(300..=499, _) => Robots::parse(b"", agents),
            RobotsAnswer::Status(..) => nothing(unavailable, "robots.txt answers with a server error"),
            RobotsAnswer::Unreachable(code, "") => nothing(code, "robots.txt cannot be reached"),
            RobotsAnswer::Unreachable(code, reason) => {
                nothing(code, &format!("robots.txt cannot be reached ({reason})"))
            }
        }
    }

    /// Parses a robots.txt for these agents.
    pub fn parse(body: &[u8], agents: &[String]) -> Robots {
        // A truncated line could mean something else, so it is dropped.
        let body = match body.get(..MAX_ROBOTS_BYTES) {
            Some(cut) => &cut[..cut.iter().rposition(|byte| matches!(byte, b'\r' | b'\n')).unwrap_or(0)],
            None => body,
        };
        let groups = Groups::read(body);
        let tokens: Vec<String> =
            agents.iter().filter_map(|agent| product_token(agent)).map(str::to_lowercase).collect();
        let names = tokens.iter().flat_map(|token| names_of(token));
        let id = |name: &str| groups.agents.iter().position(|agent| agent == name);
        let wanted = names.into_iter().find_map(id).or_else(|| id("*"));
        let mut rules = Vec::new();
        let mut delay = None;
        let mut usage = Vec::new();
        let mut licences = groups.licences;
        let mut last: Option<(&Rc<[usize]>, bool)> = None;
        for line in &groups.lines {
            // Lines of one group share their list of agents, so it is searched once per group.
            let is_ours = match last {
                Some((list, is_ours)) if Rc::ptr_eq(list, &line.agents) => is_ours,
                _ => wanted.is_some_and(|id| line.agents.contains(&id)),
            };
            last = Some((&line.agents, is_ours));
            if !is_ours {
                continue;
            }
            match &line.directive {
                Directive::Rule(rule) => rules.push(rule.clone()),
                Directive::Delay(seconds) => delay = delay.or(Some(*seconds)),
                Directive::Usage(line) if usage.len() < MAX_USAGE => usage.push(line.clone()),
                Directive::Usage(_) => {}
                Directive::Licence(address) => licences.push(address.clone()),
            }
        }
        rules.sort_by_key(|rule| (std::cmp::Reverse(rule.length()), !rule.allow));
        licences.truncate(parse::MAX_LICENCES);
        let (sitemaps, files) = (groups.sitemaps, RightsFiles::default());
        Robots { rules: Rules::Listed(rules), delay, sitemaps, usage, licences, files }
    }

    /// The same with what the other files of the origin say about its pages.
    pub fn with_files(self, files: RightsFiles) -> Robots {
        Robots { files, ..self }
    }

    /// Addresses of licences of Really Simple Licensing for our agents, as written.
    pub fn licences(&self) -> &[String] {
        &self.licences
    }

    /// What the site says about the use of a page.
    pub fn statements(&self, url: &PageUrl) -> Vec<Statement> {
        let mut all = usage::statements(&self.usage, &path_and_query(url));
        self.files.add_statements(url, &self.licences, &mut all);
        all
    }

    /// Whether a rule is for a path, and what it says.
    pub(crate) fn rule_of(&self, path: &str) -> Option<bool> {
        let Rules::Listed(rules) = &self.rules else { return None };
        let path = encode(path.as_bytes(), Side::Url);
        rules.iter().find(|rule| rule.matches(&path)).map(|rule| rule.allow)
    }

    /// Whether this URL may be fetched. robots.txt itself always may.
    pub fn allows(&self, url: &PageUrl) -> bool {
        let path = url.path();
        path == "/robots.txt" || self.allows_path(&path_and_query(url))
    }

    fn allows_path(&self, path: &str) -> bool {
        matches!(self.rules, Rules::Listed(_)) && self.rule_of(path).unwrap_or(true)
    }

    /// Whether the rules, which could be had, forbid every path.
    pub fn forbids_all(&self) -> bool {
        match &self.rules {
            Rules::Nothing(_) => false,
            Rules::Listed(rules) => rules.iter().any(Rule::is_of_all) && rules.iter().all(|rule| !rule.allow),
        }
    }

    /// Why everything is forbidden, if it is.
    pub fn unreachable(&self) -> Option<&Reason> {
        match &self.rules {
            Rules::Nothing(reason) => Some(reason),
            Rules::Listed(_) => None,
        }
    }

    /// The `Crawl-delay` of our group.
    pub fn delay(&self) -> Option<Duration> {
        self.delay
    }

    /// `Sitemap` lines, as written. They belong to no group.
    pub fn sitemaps(&self) -> &[String] {
        &self.sitemaps
    }
}

/// Group names that apply to a token: the token, the token truncated as the RFC requires, and its prefixes
/// (`family-images`, then `family`), as Google documents for its own crawlers.
fn names_of(token: &str) -> impl Iterator<Item = &str> {
    let cut = token.find(|c: char| !(c.is_ascii_alphabetic() || c == '_' || c == '-')).unwrap_or(token.len());
    let families = std::iter::successors(Some(&token[..cut]), |name| name.rsplit_once('-').map(|(family, _)| family));
    std::iter::once(token).chain(families).filter(|name| !name.is_empty())
}

pub(crate) fn path_and_query(url: &PageUrl) -> String {
    match url.url().query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn url(path: &str) -> PageUrl {
        PageUrl::parse(&format!("http://s.com{path}")).unwrap()
    }

    fn read(text: &str) -> Robots {
        Robots::parse(text.as_bytes(), &["dehusk/0.1 (+https://a.b)".to_owned()])
    }

    #[test]
    fn our_group_counts_and_names_its_delay() {
        let text = "User-agent: *\nDisallow: /\n\nUser-agent: dehusk\nDisallow: /private\nAllow: /private/open\nCrawl-delay: 2.5";
        let robots = read(text);
        assert!(robots.allows(&url("/a")) && robots.allows(&url("/private/open/x")));
        assert!(!robots.allows(&url("/private/x")));
        assert_eq!(robots.delay(), Some(Duration::from_millis(2500)));
        assert_eq!(robots.unreachable(), None);
        assert!(!Robots::parse(text.as_bytes(), &["otherbot/1.0".to_owned()]).allows(&url("/a")));
    }

    #[test]
    fn what_forbids_every_path_allows_none() {
        let forbids = |rules: &str| {
            let body = format!("User-agent: *\n{rules}");
            Robots::parse(body.as_bytes(), &["dehusk".to_owned()]).forbids_all()
        };
        for rules in ["Disallow: /", "Disallow: *", "Disallow: /*", "Disallow: /*$", "Disallow: /a\nDisallow: /"] {
            assert!(forbids(rules), "{rules}");
        }
        for rules in ["", "Disallow:", "Disallow: /a", "Disallow: /$", "Disallow: /\nAllow: /a", "Allow: /"] {
            assert!(!forbids(rules), "{rules}");
        }
    }

    #[test]
    fn the_first_agent_of_the_list_with_a_group_counts_and_groups_merge() {
        let text =
            "User-agent: b\nUser-agent: a/2\nDisallow: /1\nUser-agent: *\nDisallow: /2\nUser-agent: A\nDisallow: /3";
        let of = |agents: &[&str]| {
            let agents: Vec<String> = agents.iter().map(|a| (*a).to_owned()).collect();
            let robots = Robots::parse(text.as_bytes(), &agents);
            ["/1", "/2", "/3"].map(|path| robots.allows(&url(path)))
        };
        assert_eq!(of(&["c", "a"]), [false, true, false]);
        assert_eq!(of(&["b", "a"]), [false, true, true]);
        assert_eq!(of(&["c"]), [true, false, true]);
    }

    #[test]
    fn the_longest_match_wins_and_allow_wins_ties() {
        let robots = read("user-agent: *\ndisallow: /a\nallow: /a/b*c\ndisallow: /*.gif$\nallow: /p$\ndisallow: /p");
        for (path, allowed) in
            [("/a/x", false), ("/a/bxxc", true), ("/x.gif", false), ("/x.gif?y", true), ("/p", true), ("/pq", false)]
        {
            assert_eq!(robots.allows(&url(path)), allowed, "{path}");
        }
        assert!(read("user-agent: *\ndisallow: /t\nallow: /t").allows(&url("/t")));
        assert!(read("user-agent: *\nallow: /\ndisallow:").allows(&url("/t")));
    }

    #[test]
    fn escapes_are_compared_by_what_they_mean() {
        let robots = read("user-agent: *\ndisallow: /ä\ndisallow: /%7Ejoe\ndisallow: /a%2fb\ndisallow: /star%2A\n");
        for path in ["/%C3%A4", "/ä", "/~joe", "/%7ejoe", "/a%2Fb", "/star*", "/star%2a"] {
            assert!(!robots.allows(&url(path)), "{path}");
        }
        for path in ["/a/b", "/starry"] {
            assert!(robots.allows(&url(path)), "{path}");
        }
    }

    #[test]
    fn odd_files_are_read_and_long_ones_cut() {
        let robots = read("\u{feff}USER-AGENT : *\rdisallow /x # no colon\r\nSitemap: http://s.com/a.xml\n\0\nfoo\n");
        assert!(!robots.allows(&url("/x")) && robots.allows(&url("/y")));
        assert_eq!(robots.sitemaps(), ["http://s.com/a.xml"]);
        let mut long = b"user-agent: *\ndisallow: /x\n".to_vec();
        long.resize(MAX_ROBOTS_BYTES, b'#');
        long.extend(b"\ndisallow: /y");
        let robots = Robots::parse(&long, &[]);
        assert!(!robots.allows(&url("/x")) && robots.allows(&url("/y")));
        assert!(Robots::parse(&[0xff; 600_000], &[]).allows(&url("/a")));
    }

    #[test]
    fn what_is_missing_allows_and_what_is_broken_forbids() {
        let rules = |answer| Robots::new(answer, &["dehusk".to_owned()]);
        for status in [200, 301, 401, 403, 404, 410] {
            assert!(rules(RobotsAnswer::Status(status, b"")).allows(&url("/a")), "{status}");
        }
        for status in [100, 429, 500, 503] {
            assert!(!rules(RobotsAnswer::Status(status, b"")).allows(&url("/a")), "{status}");
        }
        assert!(!rules(RobotsAnswer::Unreachable(ReasonCode::Timeout, "")).allows(&url("/a")));
        assert!(rules(RobotsAnswer::Unreachable(ReasonCode::Timeout, "")).unreachable().is_some());
        assert!(rules(RobotsAnswer::Unreachable(ReasonCode::Timeout, "")).allows(&url("/robots.txt")));
    }

    #[test]
    fn many_agents_and_rules_cost_no_more_than_the_file() {
        let agents: String = (0..20_000).map(|i| format!("user-agent: {}\n", "x".repeat(i % 7 + 1))).collect();
        let rules: String = (0..10_000).map(|i| format!("disallow: /*{i}*a*b*c\n")).collect();
        let robots = read(&format!("{agents}user-agent: dehusk\n{rules}"));
        assert!(robots.allows(&url(&format!("/{}", "a".repeat(4000)))));
    }

    /// Reference matcher that tries every expansion of `*`.
    fn literal(pattern: &[u8], ends: bool, path: &[u8]) -> bool {
        match (pattern.split_first(), path.split_first()) {
            (None, _) => !ends || path.is_empty(),
            (Some((b'*', rest)), _) => (0..=path.len()).any(|skip| literal(rest, ends, &path[skip..])),
            (Some((p, rest)), Some((c, path))) => p == c && literal(rest, ends, path),
            (Some(_), None) => false,
        }
    }

    proptest! {
        #[test]
        fn wildcards_match_as_the_definition_says(pattern in "/[ab*]{0,7}", ends: bool, path in "/[ab]{0,9}") {
            let value = format!("{pattern}{}", if ends { "$" } else { "" });
            let matched = Rule::parse(true, value.as_bytes()).map(|rule| rule.matches(path.as_bytes()));
            prop_assert_eq!(matched, Some(literal(pattern.as_bytes(), ends, path.as_bytes())));
        }

        #[test]
        fn no_input_breaks_it(body in proptest::collection::vec(any::<u8>(), 0..400), path in "/.{0,20}") {
            let robots = Robots::parse(&body, &["dehusk".to_owned()]);
            let _ = robots.allows(&url(&path.replace('\\', "/")));
        }
    }
}
