//! What a site allows and how slowly (RFC 9309), through texting_robots for now.
//!
//! One robots.txt speaks for one origin. It is asked for before the first page and cannot be switched off.

use std::fmt;
use std::time::Duration;

use texting_robots::Robot;

use crate::page::PageUrl;

/// Bytes of a robots.txt that are read (RFC 9309, 2.5).
pub const MAX_ROBOTS_BYTES: usize = 500 * 1024;

/// Redirects followed for a robots.txt (RFC 9309, 2.3.1.2).
pub const MAX_ROBOTS_REDIRECTS: usize = 5;

/// The rules of one origin for us.
pub struct Robots {
    rules: Rules,
    delay: Option<Duration>,
}

enum Rules {
    All,
    Nothing(&'static str),
    Listed(Box<Robot>),
}

/// How a robots.txt was answered.
#[derive(Clone, Copy, Debug)]
pub enum RobotsAnswer<'a> {
    /// With this status and body.
    Status(u16, &'a [u8]),
    /// Not at all: no connection, a timeout, a broken answer.
    Unreachable,
}

impl Robots {
    /// The rules that follow from an answer: 2xx is read, 4xx means no rules, everything else forbids all.
    pub fn of(answer: RobotsAnswer<'_>, user_agent: &str) -> Robots {
        let (rules, delay) = match answer {
            RobotsAnswer::Status(200..=299, body) => read(body, product_token(user_agent)),
            // Not of RFC 9309: a server that has too much to do has no time for pages either.
            RobotsAnswer::Status(429, _) => (Rules::Nothing("robots.txt answers 429, too many requests"), None),
            // Redirects were followed as far as they go; RFC 9309 lets what lies beyond count as unavailable.
            RobotsAnswer::Status(300..=499, _) => (Rules::All, None),
            RobotsAnswer::Status(..) => (Rules::Nothing("robots.txt answers with a server error"), None),
            RobotsAnswer::Unreachable => (Rules::Nothing("robots.txt cannot be reached"), None),
        };
        Robots { rules, delay }
    }

    /// May this URL be fetched?
    pub fn allows(&self, url: &PageUrl) -> bool {
        match &self.rules {
            Rules::All => true,
            Rules::Nothing(_) => url.path() == "/robots.txt",
            Rules::Listed(robot) => robot.allowed(url.as_str()),
        }
    }

    /// Why nothing at all is allowed, when that is so.
    pub fn unreachable(&self) -> Option<&'static str> {
        match self.rules {
            Rules::Nothing(reason) => Some(reason),
            Rules::All | Rules::Listed(_) => None,
        }
    }

    /// The `Crawl-delay` of our group.
    pub fn delay(&self) -> Option<Duration> {
        self.delay
    }
}

impl fmt::Debug for Robots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rules = match &self.rules {
            Rules::All => "all",
            Rules::Nothing(reason) => reason,
            Rules::Listed(_) => "listed",
        };
        f.debug_struct("Robots").field("rules", &rules).field("delay", &self.delay).finish()
    }
}

fn read(body: &[u8], agent: &str) -> (Rules, Option<Duration>) {
    let body = &body[..body.len().min(MAX_ROBOTS_BYTES)];
    match Robot::new(agent, body) {
        Ok(robot) => {
            let delay = robot
                .delay
                .filter(|seconds| seconds.is_finite() && *seconds >= 0.0)
                .and_then(|seconds| Duration::try_from_secs_f32(seconds).ok());
            (Rules::Listed(Box::new(robot)), delay)
        }
        Err(_) => (Rules::Nothing("robots.txt cannot be read"), None),
    }
}

/// The name that a robots.txt knows us by: the user agent up to the first character that a token cannot have.
fn product_token(user_agent: &str) -> &str {
    let end = user_agent.find(|c: char| !(c.is_ascii_alphabetic() || c == '_' || c == '-')).unwrap_or(user_agent.len());
    if end == 0 { "dehusk" } else { &user_agent[..end] }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(path: &str) -> PageUrl {
        PageUrl::parse(&format!("http://s.com{path}")).unwrap()
    }

    #[test]
    fn our_group_counts_and_names_its_delay() {
        let text = b"User-agent: *\nDisallow: /\n\nUser-agent: dehusk\nDisallow: /private\nAllow: /private/open\nCrawl-delay: 2.5";
        let robots = Robots::of(RobotsAnswer::Status(200, text), "dehusk/0.1 (+https://a.b)");
        assert!(robots.allows(&url("/a")) && robots.allows(&url("/private/open/x")));
        assert!(!robots.allows(&url("/private/x")));
        assert_eq!(robots.delay(), Some(Duration::from_millis(2500)));
        assert_eq!(robots.unreachable(), None);
        let other = Robots::of(RobotsAnswer::Status(200, text), "otherbot/1.0");
        assert!(!other.allows(&url("/a")));
    }

    #[test]
    fn what_is_missing_allows_and_what_is_broken_forbids() {
        let rules = |answer| Robots::of(answer, "dehusk");
        assert!(rules(RobotsAnswer::Status(404, b"")).allows(&url("/a")));
        assert!(rules(RobotsAnswer::Status(200, b"")).allows(&url("/a")));
        assert!(!rules(RobotsAnswer::Status(503, b"")).allows(&url("/a")));
        assert!(!rules(RobotsAnswer::Status(429, b"")).allows(&url("/a")));
        assert!(!rules(RobotsAnswer::Unreachable).allows(&url("/a")));
        assert!(rules(RobotsAnswer::Unreachable).unreachable().is_some());
        assert!(rules(RobotsAnswer::Status(200, &[0xff; 600_000])).allows(&url("/a")));
    }
}
