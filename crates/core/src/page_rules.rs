//! Robots rules of a fetched page: `X-Robots-Tag` and `<meta name="robots">`.

use crate::calendar::days_since_1970;

/// The characters of a text up to the first that a token cannot contain.
pub fn token_of(text: &str) -> &str {
    &text[..text.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-')).unwrap_or(text.len())]
}

/// The product token of a user agent: up to the first character that a token cannot contain.
pub fn product_token(user_agent: &str) -> &str {
    match token_of(user_agent) {
        "" => "dehusk",
        token => token,
    }
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
    pub fn of<'a>(
        headers: &[String],
        metas: impl Iterator<Item = (&'a str, &'a str)>,
        agents: &[String],
        now: i64,
    ) -> PageRules {
        let mut rules = PageRules::default();
        let is_ours = |name: &str| agents.iter().any(|agent| product_token(agent).eq_ignore_ascii_case(name));
        for line in headers {
            // `agent: directives`. A directive with a value has a colon, too.
            let (name, directives) = line.split_once(':').unwrap_or(("", line));
            let is_directive = name.contains(',') || is_valued(name.trim());
            if name.is_empty() || is_directive {
                rules.add(line, now);
            } else if is_ours(name.trim()) {
                rules.add(directives, now);
            }
        }
        for (name, content) in metas {
            if name.eq_ignore_ascii_case("robots") || is_ours(name) {
                rules.add(content, now);
            }
        }
        rules
    }

    fn add(&mut self, directives: &str, now: i64) {
        let lower = directives.to_ascii_lowercase();
        for directive in lower.split(',').map(str::trim) {
            match directive {
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
        PageRules::of(&headers, metas.iter().copied(), &["dehusk/1".to_owned()], 1_795_219_200)
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
