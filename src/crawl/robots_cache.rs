//! What robots.txt says of each origin that is worked on.

use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;

use super::event::Request;
use crate::robots::Robots;

/// The one reason that concerns a page and not all of its origin.
pub(super) const FORBIDDEN: &str = "robots.txt forbids it";

/// The rules by origin. Requests that came before their rules are parked here.
#[derive(Default)]
pub(super) struct Origins {
    rules: FxHashMap<String, Rules>,
}

enum Rules {
    Asked(Vec<Request>),
    Known { robots: Robots, until: Instant },
}

/// What to do with a request.
pub(super) enum Verdict {
    Allowed,
    Forbidden(String),
    /// Its rules are being fetched; the request is parked.
    Parked,
    /// Fetch the rules of its origin first; the request is parked.
    Ask(String),
}

impl Origins {
    /// `most` is the longest `Crawl-delay` that is followed.
    pub(super) fn judge(&mut self, request: Request, now: Instant, most: Duration) -> (Verdict, Option<Request>) {
        let origin = request.url.origin();
        match self.rules.get_mut(&origin) {
            Some(Rules::Known { robots, until }) if *until > now || request.ruled => {
                let too_slow = robots.delay().filter(|delay| *delay > most);
                let verdict = match (robots.unreachable(), too_slow, robots.allows(&request.url)) {
                    (Some(reason), _, _) => Verdict::Forbidden(reason.to_owned()),
                    (None, _, false) => Verdict::Forbidden(FORBIDDEN.to_owned()),
                    (None, Some(delay), true) => Verdict::Forbidden(format!(
                        "robots.txt asks for a Crawl-delay of {} s, longer than politeness.max_crawl_delay",
                        delay.as_secs()
                    )),
                    (None, None, true) => Verdict::Allowed,
                };
                (verdict, Some(request))
            }
            Some(Rules::Asked(parked)) => {
                parked.push(request);
                (Verdict::Parked, None)
            }
            _ => {
                self.rules.insert(origin.clone(), Rules::Asked(vec![request]));
                (Verdict::Ask(origin), None)
            }
        }
    }

    /// The rules have come; gives back what waited for them.
    pub(super) fn learn(&mut self, origin: String, robots: Robots, until: Instant) -> Vec<Request> {
        match self.rules.insert(origin, Rules::Known { robots, until }) {
            Some(Rules::Asked(parked)) => parked.into_iter().map(|r| Request { ruled: true, ..r }).collect(),
            _ => Vec::new(),
        }
    }

    /// Is there nothing about this origin yet?
    pub(super) fn is_unknown(&self, origin: &str) -> bool {
        !self.rules.contains_key(origin)
    }

    /// The delay that an origin asks for.
    pub(super) fn delay(&self, origin: &str) -> Option<Duration> {
        self.known(origin)?.delay()
    }

    /// The sitemaps that an origin names.
    pub(super) fn sitemaps(&self, origin: &str) -> &[String] {
        self.known(origin).map_or(&[], Robots::sitemaps)
    }

    fn known(&self, origin: &str) -> Option<&Robots> {
        match self.rules.get(origin)? {
            Rules::Known { robots, .. } => Some(robots),
            Rules::Asked(_) => None,
        }
    }

    /// Forgets rules that are known; those still asked for stay.
    pub(super) fn forget(&mut self, origin: &str) {
        if matches!(self.rules.get(origin), Some(Rules::Known { .. })) {
            self.rules.remove(origin);
        }
    }

    /// Everything parked, when the crawl stops.
    pub(super) fn drain(&mut self) -> Vec<Request> {
        let rules = self.rules.drain().map(|(_, rules)| rules);
        rules.flat_map(|rules| if let Rules::Asked(parked) = rules { parked } else { Vec::new() }).collect()
    }
}
