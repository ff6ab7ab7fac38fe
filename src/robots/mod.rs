//! robots.txt (RFC 9309) with `Crawl-delay` and `Sitemap`: what a site allows, and how fast.
//!
//! One robots.txt applies to one origin. It is fetched before the first page of the origin; no setting disables it.
//!
//! Only the rules for our agents are kept, percent-encoded once in the form of RFC 9309, 2.2.2. Matching compares bytes
//! and is linear in the rules' bytes, for files up to 500 KiB. Agents are a list: the first one that has a group
//! applies, then `*`. Groups of one agent are merged (2.2.1). Where the RFC is silent, parsing is as lenient as
//! Google's parser: a missing colon, odd line ends, a byte order mark, misspelled `dissallow`.

mod page_rules;

use std::rc::Rc;
use std::time::Duration;

pub use page_rules::PageRules;

use dehusk_core::internals::page_url::PageUrl;

/// Bytes of a robots.txt that are read (RFC 9309, 2.5).
pub const MAX_ROBOTS_BYTES: usize = 500 * 1024;

/// Redirects followed for a robots.txt (RFC 9309, 2.3.1.2).
pub const MAX_ROBOTS_REDIRECTS: usize = 5;

/// Maximum number of `Sitemap` lines kept.
const MAX_SITEMAPS: usize = 1000;

/// The rules of one origin for our agents.
#[derive(Clone, Debug, PartialEq)]
pub struct Robots {
    rules: Rules,
    delay: Option<Duration>,
    sitemaps: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
enum Rules {
    Nothing(String),
    /// Longest pattern first, `Allow` before `Disallow` of the same length: the first match decides.
    Listed(Vec<Rule>),
}

/// One `Allow` or `Disallow` line.
#[derive(Clone, Debug, PartialEq)]
struct Rule {
    allow: bool,
    /// Percent-encoded. `*` is the only special byte; a final `$` is stored as `ends`.
    pattern: Vec<u8>,
    ends: bool,
}

/// How the request for a robots.txt ended.
#[derive(Clone, Copy, Debug)]
pub enum RobotsAnswer<'a> {
    /// A response with this status and body.
    Status(u16, &'a [u8]),
    /// No response, for this reason: no connection, a timeout, a broken response.
    Unreachable(&'a str),
}

impl Robots {
    /// The rules that follow from a response (RFC 9309, 2.3.1): 2xx is parsed, 3xx and 4xx mean no rules, everything
    /// else and 429 forbid all. `agents` are product tokens, the preferred one first.
    pub fn of(answer: RobotsAnswer<'_>, agents: &[String]) -> Robots {
        let nothing =
            |reason: &str| Robots { rules: Rules::Nothing(reason.to_owned()), delay: None, sitemaps: Vec::new() };
        match answer {
            RobotsAnswer::Status(200..=299, body) => Robots::parse(body, agents),
            // Not in RFC 9309: a server that is overloaded for robots.txt is overloaded for pages, too.
            RobotsAnswer::Status(429, _) => nothing("robots.txt answers 429, too many requests"),
            // Redirects were followed up to the limit; RFC 9309 lets a longer chain count as unavailable.
            RobotsAnswer::Status(300..=499, _) => Robots::parse(b"", agents),
            RobotsAnswer::Status(..) => nothing("robots.txt answers with a server error"),
            RobotsAnswer::Unreachable("") => nothing("robots.txt cannot be reached"),
            RobotsAnswer::Unreachable(reason) => nothing(&format!("robots.txt cannot be reached ({reason})")),
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
        let tokens: Vec<String> = agents.iter().map(|agent| product_token(agent).to_lowercase()).collect();
        let names = tokens.iter().flat_map(|token| names_of(token));
        let id = |name: &str| groups.agents.iter().position(|agent| agent == name);
        let wanted = names.into_iter().find_map(id).or_else(|| id("*"));
        let mut rules = Vec::new();
        let mut delay = None;
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
            }
        }
        rules.sort_by_key(|rule| (std::cmp::Reverse(rule.length()), !rule.allow));
        Robots { rules: Rules::Listed(rules), delay, sitemaps: groups.sitemaps }
    }

    /// Whether this URL may be fetched. robots.txt itself always may.
    pub fn allows(&self, url: &PageUrl) -> bool {
        let path = url.path();
        path == "/robots.txt" || self.allows_path(&path_and_query(url))
    }

    fn allows_path(&self, path: &str) -> bool {
        let Rules::Listed(rules) = &self.rules else { return false };
        let path = encode(path.as_bytes(), Side::Url);
        rules.iter().find(|rule| rule.matches(&path)).is_none_or(|rule| rule.allow)
    }

    /// Why everything is forbidden, if it is.
    pub fn unreachable(&self) -> Option<&str> {
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

impl Rule {
    fn of(allow: bool, value: &[u8]) -> Option<Rule> {
        let (value, ends) = value.strip_suffix(b"$").map_or((value, false), |rest| (rest, true));
        if value.is_empty() && !ends {
            return None;
        }
        Some(Rule { allow, pattern: encode(value, Side::Rule), ends })
    }

    /// The rule for `/x/` that `Allow: /x/index.html` implies, as in Google's parser.
    fn folder_of_index(&self) -> Option<Rule> {
        let at = self.pattern.iter().rposition(|byte| *byte == b'/')? + 1;
        let is_index = self.allow && matches!(&self.pattern[at..], b"index.html" | b"index.htm");
        is_index.then(|| Rule { allow: true, pattern: self.pattern[..at].to_vec(), ends: true })
    }

    /// Octets of the pattern. The longest matching pattern is the most specific rule (2.2.2).
    fn length(&self) -> usize {
        self.pattern.len() + usize::from(self.ends)
    }

    /// Whether the pattern matches a path. The leftmost match of each part between stars is enough, because a star
    /// matches any gap. Linear in the path for each part.
    fn matches(&self, path: &[u8]) -> bool {
        let mut parts = self.pattern.split(|byte| *byte == b'*');
        let Some(mut rest) = parts.next().and_then(|first| path.strip_prefix(first)) else { return false };
        let mut parts = parts.peekable();
        if parts.peek().is_none() {
            return !self.ends || rest.is_empty();
        }
        while let Some(part) = parts.next() {
            if parts.peek().is_none() && self.ends {
                return rest.ends_with(part);
            }
            let Some(at) = find(rest, part) else { return false };
            rest = &rest[at + part.len()..];
        }
        true
    }
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    memchr::memmem::find(text, part)
}

/// The lines of a robots.txt, before an agent is chosen.
struct Groups {
    /// Lower-case product tokens, and `*`.
    agents: Vec<String>,
    lines: Vec<Line>,
    sitemaps: Vec<String>,
}

/// A directive and the agents that it applies to.
struct Line {
    agents: Rc<[usize]>,
    directive: Directive,
}

enum Directive {
    Rule(Rule),
    Delay(Duration),
}

impl Groups {
    fn read(body: &[u8]) -> Groups {
        let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
        let mut groups = Groups { agents: Vec::new(), lines: Vec::new(), sitemaps: Vec::new() };
        let mut ids: rustc_hash::FxHashMap<String, usize> = rustc_hash::FxHashMap::default();
        let mut current: Vec<usize> = Vec::new();
        // All rules of a group share one list, so that memory does not grow with agents times rules.
        let mut shared: Option<Rc<[usize]>> = None;
        let mut asked: Vec<usize> = Vec::new();
        let mut last_named: rustc_hash::FxHashMap<usize, usize> = rustc_hash::FxHashMap::default();
        let mut n_group = 0;
        let (mut in_rules, mut after_delay, mut named) = (false, false, false);
        for line in body.split(|byte| matches!(byte, b'\r' | b'\n')) {
            let Some((key, value)) = key_and_value(line) else { continue };
            let directive = match key.as_str() {
                "user-agent" | "useragent" | "user agent" => {
                    named = true;
                    if std::mem::replace(&mut after_delay, false) || in_rules {
                        asked.clear();
                    }
                    if std::mem::replace(&mut in_rules, false) {
                        current.clear();
                        n_group += 1;
                    }
                    // A line without an agent name still begins a group. That group applies to no agent.
                    if let Some(name) = agent_name(value) {
                        let id = *ids.entry(name).or_insert_with_key(|name| {
                            groups.agents.push(name.clone());
                            groups.agents.len() - 1
                        });
                        // A repeated agent in one group has no effect. Hostile files repeat agents many times.
                        if last_named.insert(id, n_group) != Some(n_group) {
                            current.push(id);
                        }
                        asked.push(id);
                    }
                    shared = None;
                    continue;
                }
                "allow" => Rule::of(true, value),
                "disallow" | "dissallow" | "dissalow" | "disalow" | "diasllow" | "disallaw" => Rule::of(false, value),
                // Other records must not interfere with groups (2.2.4). A delay does not end a list of agents, and it
                // applies only to agents named since the last delay.
                "crawl-delay" | "crawldelay" | "crawl delay" => {
                    let is_first = !std::mem::replace(&mut after_delay, true);
                    if let Some(delay) = seconds(value).filter(|_| is_first && !asked.is_empty()) {
                        let agents = Rc::from(asked.as_slice());
                        groups.lines.push(Line { agents, directive: Directive::Delay(delay) });
                    }
                    continue;
                }
                "sitemap" | "site-map" | "site map" => {
                    if groups.sitemaps.len() < MAX_SITEMAPS && !value.is_empty() {
                        groups.sitemaps.push(String::from_utf8_lossy(value).into_owned());
                    }
                    continue;
                }
                _ => continue,
            };
            in_rules = true;
            if let Some(rule) = directive {
                // Rules before the first group, which the RFC does not define, apply to all agents. Rules of a group
                // without an agent apply to none.
                if groups.agents.is_empty() && !named {
                    ids.insert("*".to_owned(), 0);
                    groups.agents.push("*".to_owned());
                    current.push(0);
                }
                if current.is_empty() {
                    continue;
                }
                let agents = shared.get_or_insert_with(|| Rc::from(current.as_slice())).clone();
                if let Some(folder) = rule.folder_of_index() {
                    groups.lines.push(Line { agents: agents.clone(), directive: Directive::Rule(folder) });
                }
                groups.lines.push(Line { agents, directive: Directive::Rule(rule) });
            }
        }
        groups
    }
}

/// Key and value of a line, without comment and white space. A missing colon is accepted.
fn key_and_value(line: &[u8]) -> Option<(String, &[u8])> {
    let line = trim(line.split(|byte| *byte == b'#').next().unwrap_or_default());
    let at = line
        .iter()
        .position(|byte| *byte == b':')
        .or_else(|| line.iter().position(u8::is_ascii_whitespace).filter(|_| has_two_words(line)))?;
    let key = String::from_utf8_lossy(line[..at].trim_ascii()).to_ascii_lowercase();
    Some((key, trim(&line[at + 1..])))
}

/// Removes white space and NUL bytes at both ends.
fn trim(mut line: &[u8]) -> &[u8] {
    let is_blank = |byte: &u8| *byte == 0 || byte.is_ascii_whitespace();
    while let Some((_, rest)) = line.split_first().filter(|(first, _)| is_blank(first)) {
        line = rest;
    }
    while let Some((_, rest)) = line.split_last().filter(|(last, _)| is_blank(last)) {
        line = rest;
    }
    line
}

fn has_two_words(line: &[u8]) -> bool {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).count() == 2
}

/// The product token of a `User-agent` line: up to the first character that a token cannot contain (2.2.1).
///
/// Digits and non-ASCII letters are accepted: the RFC's tokens have none, but real files name `2bot` and `Jävla-bot`.
fn agent_name(value: &[u8]) -> Option<String> {
    if value.first() == Some(&b'*') && value.get(1).is_none_or(u8::is_ascii_whitespace) {
        return Some("*".to_owned());
    }
    let text = String::from_utf8_lossy(value);
    let token = token_of(&text);
    (!token.is_empty()).then(|| token.to_lowercase())
}

fn token_of(text: &str) -> &str {
    &text[..text.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-')).unwrap_or(text.len())]
}

/// The product token of a user agent: up to the first character that a token cannot contain.
pub fn product_token(user_agent: &str) -> &str {
    match token_of(user_agent) {
        "" => "dehusk",
        token => token,
    }
}

/// Group names that apply to a token: the token, the token truncated as the RFC requires, and its prefixes
/// (`family-images`, then `family`), as Google documents for its own crawlers.
fn names_of(token: &str) -> impl Iterator<Item = &str> {
    let cut = token.find(|c: char| !(c.is_ascii_alphabetic() || c == '_' || c == '-')).unwrap_or(token.len());
    let families = std::iter::successors(Some(&token[..cut]), |name| name.rsplit_once('-').map(|(family, _)| family));
    std::iter::once(token).chain(families).filter(|name| !name.is_empty())
}

fn seconds(value: &[u8]) -> Option<Duration> {
    let seconds: f64 = std::str::from_utf8(value).ok()?.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

fn path_and_query(url: &PageUrl) -> String {
    match url.url().query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    }
}

/// What is encoded. `*` is special in a rule only.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    Rule,
    Url,
}

/// The canonical form of RFC 9309, 2.2.2. Unreserved characters are plain. Non-ASCII bytes, and literal `*` and `$`,
/// are `%XX` in capitals. Other escapes are kept: `%2F` is not `/`.
fn encode(bytes: &[u8], side: Side) -> Vec<u8> {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    let mut out = Vec::with_capacity(bytes.len() + 8);
    let mut at = 0;
    while at < bytes.len() {
        let escaped = (bytes[at] == b'%').then(|| hex(bytes.get(at + 1), bytes.get(at + 2))).flatten();
        let (byte, stays_escaped) = match escaped {
            Some(byte) => (byte, !(byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~'))),
            None => {
                let byte = bytes[at];
                let is_literal = byte == b'$' || (byte == b'*' && side == Side::Url);
                (byte, !byte.is_ascii_graphic() || is_literal || b"\"'<>^`{|}".contains(&byte))
            }
        };
        if stays_escaped {
            out.extend([b'%', HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
        } else {
            out.push(byte);
        }
        at += if escaped.is_some() { 3 } else { 1 };
    }
    out
}

fn hex(high: Option<&u8>, low: Option<&u8>) -> Option<u8> {
    let digit = |byte: Option<&u8>| char::from(*byte?).to_digit(16);
    Some((digit(high)? * 16 + digit(low)?) as u8)
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
        let rules = |answer| Robots::of(answer, &["dehusk".to_owned()]);
        for status in [200, 301, 401, 403, 404, 410] {
            assert!(rules(RobotsAnswer::Status(status, b"")).allows(&url("/a")), "{status}");
        }
        for status in [100, 429, 500, 503] {
            assert!(!rules(RobotsAnswer::Status(status, b"")).allows(&url("/a")), "{status}");
        }
        assert!(!rules(RobotsAnswer::Unreachable("")).allows(&url("/a")));
        assert!(rules(RobotsAnswer::Unreachable("")).unreachable().is_some());
        assert!(rules(RobotsAnswer::Unreachable("")).allows(&url("/robots.txt")));
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
            let rule = Rule { allow: true, pattern: pattern.clone().into_bytes(), ends };
            prop_assert_eq!(rule.matches(path.as_bytes()), literal(pattern.as_bytes(), ends, path.as_bytes()));
        }

        #[test]
        fn no_input_breaks_it(body in proptest::collection::vec(any::<u8>(), 0..400), path in "/.{0,20}") {
            let robots = Robots::parse(&body, &["dehusk".to_owned()]);
            let _ = robots.allows(&url(&path.replace('\\', "/")));
        }
    }
}
