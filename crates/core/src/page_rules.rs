//! Robots rules of a fetched page: `X-Robots-Tag` and `<meta name="robots">`.

use crate::calendar::days_since_1970;

/// The characters of a text up to the first that a token cannot contain.
pub fn token_of(text: &str) -> &str {
    &text[..text.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-')).unwrap_or(text.len())]
}

/// Products of browsers, which crawlers name to be served the same pages.
const BROWSERS: [&str; 16] = [
    "mozilla",
    "applewebkit",
    "khtml",
    "gecko",
    "chrome",
    "headlesschrome",
    "chromium",
    "safari",
    "firefox",
    "version",
    "mobile",
    "edg",
    "opr",
    "opera",
    "msie",
    "trident",
];

/// The product token of a user agent (RFC 9309, 2.2.1): its first product, or, where that is a browser's, the one
/// behind `compatible;`, or the last that is none. `None` where it names no product but those of browsers.
pub fn product_token(user_agent: &str) -> Option<&str> {
    let own = |text| Some(token_of(text)).filter(|token| !token.is_empty() && !is_browser(token));
    let first = token_of(user_agent.trim_start());
    if !is_browser(first) {
        return own(first);
    }
    let compatible = user_agent.split_once("compatible;").and_then(|(_, rest)| own(rest.trim_start()));
    let products = user_agent.split_whitespace().rev().filter(|word| word.contains('/') && !word.contains("://"));
    compatible.or_else(|| products.filter_map(own).next())
}

fn is_browser(token: &str) -> bool {
    BROWSERS.iter().any(|browser| token.eq_ignore_ascii_case(browser))
}

/// The product tokens of our user agents.
pub struct OurAgents<'a>(Vec<&'a str>);

impl<'a> OurAgents<'a> {
    /// Those of these user agents.
    pub fn new(agents: &'a [String]) -> OurAgents<'a> {
        OurAgents(agents.iter().filter_map(|agent| product_token(agent)).collect())
    }

    /// Whether a token is one of them.
    pub fn contains(&self, name: &str) -> bool {
        self.0.iter().any(|token| token.eq_ignore_ascii_case(name))
    }
}

/// The directives of an `X-Robots-Tag` line that concern our agents, separated by commas. `agent: directives` concerns
/// an agent, up to the next one. Several lines may have been merged into one (RFC 9110, 5.3).
pub(crate) fn directives_of_line(line: &str, agents: &OurAgents<'_>) -> String {
    let mut ours = true;
    let mut directives = String::new();
    for part in line.split([',', ';']) {
        // A directive with a value has a colon, too.
        let (name, rest) = part.split_once(':').map_or(("", part), |(name, rest)| (name.trim(), rest));
        let is_agent = !name.is_empty() && (name == "*" || token_of(name) == name) && !is_valued(name);
        if is_agent {
            ours = name == "*" || name.eq_ignore_ascii_case("robots") || agents.contains(name);
        }
        if ours {
            directives.push_str(if is_agent { rest } else { part });
            directives.push(',');
        }
    }
    directives
}

/// The directives that the crawl obeys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageRules {
    /// Whether the links of the page must not be followed.
    pub nofollow: bool,
    /// Whether the page must be kept out of collections. It may still be a training page.
    pub noindex: bool,
}

impl PageRules {
    /// Parses header lines and `(name, content)` pairs of meta elements. `agents` are our user agents, `now` is Unix
    /// seconds.
    pub fn new<'a>(
        headers: &[String],
        metas: impl Iterator<Item = (&'a str, &'a str)>,
        agents: &[String],
        now: i64,
    ) -> PageRules {
        let mut rules = PageRules::default();
        let ours = OurAgents::new(agents);
        for line in headers {
            rules.add(&directives_of_line(line, &ours), now);
        }
        for (name, content) in metas {
            if name.eq_ignore_ascii_case("robots") || ours.contains(name) {
                rules.add(content, now);
            }
        }
        rules
    }

    /// Adds directives, separated by commas, or by what people write in their place.
    fn add(&mut self, directives: &str, now: i64) {
        let lower = directives.to_ascii_lowercase();
        let is_separator = |c: char| c.is_whitespace() || matches!(c, ',' | ';' | '/' | '|');
        let mut is_value = false;
        for word in lower.split(is_separator).filter(|word| !word.is_empty()) {
            let had_value = std::mem::replace(&mut is_value, word.ends_with(':'));
            if had_value || word.contains(':') {
                continue;
            }
            match word.trim_matches(|c: char| !c.is_alphanumeric()) {
                "nofollow" => self.nofollow = true,
                "noindex" => self.noindex = true,
                "none" => (self.nofollow, self.noindex) = (true, true),
                _ => {}
            }
        }
        // A date may contain commas, so it is searched for in the whole line.
        if let Some((_, date)) = lower.split_once("unavailable_after:") {
            self.noindex |= day_of(date).is_some_and(|day| day < now.div_euclid(86_400));
        }
    }
}

fn is_valued(name: &str) -> bool {
    ["unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"]
        .iter()
        .any(|directive| name.eq_ignore_ascii_case(directive))
}

/// Days since 1970 of a date in any usual order: `2026-11-21`, `21 Nov 2026`, `Sat, 21-Nov-26`, `November 21, 2026`.
/// The time of day is ignored: a page is available until the end of its last day.
fn day_of(text: &str) -> Option<i64> {
    const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let words: Vec<&str> = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let words: Vec<&str> = words
        .into_iter()
        .map(|word| word.split_once('t').filter(|(day, _)| day.parse::<i64>().is_ok()).map_or(word, |(day, _)| day))
        .collect();
    let named = words.iter().find_map(|word| MONTHS.iter().position(|month| word.starts_with(month)));
    let numbers: Vec<i64> = words.iter().filter_map(|word| word.parse().ok()).take(3).collect();
    let (year, month, day) = match (named, numbers.as_slice()) {
        (Some(month), [day, year, ..]) if *year > 31 || *day <= 31 => (*year, month as i64 + 1, *day),
        (None, [year, month, day]) if *year > 31 => (*year, *month, *day),
        _ => return None,
    };
    let year = if year < 100 { 2000 + year } else { year };
    let is_date = (1970..10_000).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    is_date.then(|| days_since_1970(year, month, day))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(headers: &[&str], metas: &[(&str, &str)]) -> PageRules {
        let headers: Vec<String> = headers.iter().map(|line| (*line).to_owned()).collect();
        // 21 November 2026.
        PageRules::new(&headers, metas.iter().copied(), &["dehusk/1".to_owned()], 1_795_219_200)
    }

    #[test]
    fn headers_and_metas_for_all_and_for_us() {
        let both = PageRules { nofollow: true, noindex: true };
        assert_eq!(rules(&["none"], &[]), both);
        assert_eq!(rules(&["otherbot: none"], &[("otherbot", "none")]), PageRules::default());
        assert_eq!(rules(&["Dehusk: noindex, NOFOLLOW"], &[]), both);
        assert_eq!(rules(&["noindex, max-snippet: 3"], &[("ROBOTS", "index,nofollow")]), both);
        assert!(rules(&["max-snippet:0, noindex"], &[]).noindex);
    }

    #[test]
    fn directives_are_read_however_they_are_separated() {
        let both = PageRules { nofollow: true, noindex: true };
        for text in [
            "noindex nofollow",
            "noindex;nofollow",
            "noindex / nofollow",
            "noindex|nofollow",
            "noindex\u{a0}nofollow",
            "\u{201c}noindex\u{201d}, nofollow.",
            "NOINDEX\nNOFOLLOW",
            "max-snippet:5 noindex nofollow",
            "all, none",
        ] {
            assert_eq!(rules(&[text], &[]), both, "{text}");
            assert_eq!(rules(&[], &[("robots", text)]), both, "{text}");
        }
        for line in ["*: none", "robots: none", "otherbot: index, dehusk: none", "otherbot: x; dehusk: none"] {
            assert_eq!(rules(&[line], &[]), both, "{line}");
        }
        for line in
            ["otherbot: noindex, nofollow", "max-image-preview: none", "max-image-preview:none", "index, follow"]
        {
            assert_eq!(rules(&[line], &[]), PageRules::default(), "{line}");
        }
        let lines: Vec<&str> = std::iter::repeat_n("all", 30).chain(["noindex"]).collect();
        assert!(rules(&lines, &[]).noindex);
    }

    #[test]
    fn the_product_of_a_user_agent_is_the_crawlers() {
        let browser =
            "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0 Safari/537.36";
        for (agent, token) in [
            ("mybot/1.0 (+https://my.org)", Some("mybot")),
            ("mybot", Some("mybot")),
            ("Mozilla/5.0 (compatible; mybot/1.0; +http://my.org/bot)", Some("mybot")),
            (
                "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; mybot/1.2; +x) Chrome/1 Safari/5",
                Some("mybot"),
            ),
            (&format!("{browser} mybot/1.0"), Some("mybot")),
            (browser, None),
            ("Mozilla/4.0 (compatible; MSIE 8.0; Windows NT 6.0)", None),
            ("Mozilla/5.0 (compatible; +http://my.org)", None),
            ("(mybot)", None),
            ("", None),
        ] {
            assert_eq!(product_token(agent), token, "{agent}");
        }
    }

    #[test]
    fn a_page_is_unavailable_after_its_day() {
        for past in [
            "20 Nov 2026 10:00:00 GMT",
            "2026-11-20",
            "Fri, 20-Nov-26 15:00:00 EST",
            "2026-11-20T23:00:00Z",
            "November 20, 2026",
        ] {
            assert!(rules(&[&format!("unavailable_after: {past}")], &[]).noindex, "{past}");
        }
        for to_come in ["22 Nov 2026", "2027-01-01", "Sunday, 22-Nov-26 15:00:00 GMT", "nonsense", "99 99 99"] {
            assert!(!rules(&[&format!("unavailable_after: {to_come}")], &[]).noindex, "{to_come}");
        }
    }
}
