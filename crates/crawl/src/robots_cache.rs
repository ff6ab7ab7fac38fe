//! The robots rules of each origin that is worked on.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;

use super::request::{Request, RequestKind};
use crate::robots::Robots;
use dehusk_core::rights::{Statement, Use, Verdict};
use dehusk_store::StoredRobots;
use dehusk_store::reason::{Reason, ReasonCode};
use dehusk_store::validators::Validators;

/// The rules by origin. Requests that came before their rules wait here.
#[derive(Default)]
pub(super) struct RobotsCache {
    rules: FxHashMap<String, Rules>,
    /// Files of earlier runs whose time is over, by origin. They are asked for conditionally.
    expired: FxHashMap<String, Arc<StoredRobots>>,
}

enum Rules {
    /// They are being fetched; these requests wait for them.
    Requested(Vec<Request>),
    Known {
        robots: Robots,
        until: Instant,
    },
}

/// What the rules say about a request.
pub(super) enum Permission {
    /// It may be sent.
    Allowed(Request),
    /// They disallow its URL, or the owner denies the purpose of the crawl.
    Disallowed(Request, Reason),
    /// Nothing of its origin may be requested now, for this reason.
    Unavailable(Request, Reason),
    /// Its rules are being fetched; the request waits for them in the cache.
    WaitsForRules,
    /// The rules of this origin must be fetched first; the request waits for them in the cache.
    FetchRulesFirst(String),
}

impl RobotsCache {
    /// `max_delay` is the longest `Crawl-delay` that is followed, `purpose` what pages are for.
    pub(super) fn permission(
        &mut self,
        request: Request,
        now: Instant,
        max_delay: Duration,
        purpose: Option<Use>,
    ) -> Permission {
        let origin = request.url.origin();
        match self.rules.get_mut(&origin) {
            Some(Rules::Known { robots, until }) if *until > now || request.has_rules => {
                let too_slow = robots.delay().filter(|delay| *delay > max_delay);
                match (robots.unreachable(), too_slow) {
                    (Some(reason), _) => Permission::Unavailable(request, reason.clone()),
                    (None, _) if !robots.allows(&request.url) => Permission::Disallowed(
                        request,
                        Reason::new(ReasonCode::RobotsDisallowed, "robots.txt forbids it"),
                    ),
                    (None, Some(delay)) => {
                        let seconds = delay.as_secs();
                        let text = format!(
                            "robots.txt asks for a Crawl-delay of {seconds} s, longer than politeness.max_crawl_delay"
                        );
                        Permission::Unavailable(request, Reason::new(ReasonCode::RobotsUnavailable, text))
                    }
                    (None, None) => allowed(Request { rights: robots.statements(&request.url), ..request }, purpose),
                }
            }
            Some(Rules::Requested(waiting)) => {
                waiting.push(request);
                Permission::WaitsForRules
            }
            _ => {
                self.rules.insert(origin.clone(), Rules::Requested(vec![request]));
                Permission::FetchRulesFirst(origin)
            }
        }
    }

    /// Adds rules. Returns the requests that waited for them.
    pub(super) fn insert(&mut self, origin: String, robots: Robots, until: Instant) -> Vec<Request> {
        match self.rules.insert(origin, Rules::Known { robots, until }) {
            Some(Rules::Requested(waiting)) => {
                waiting.into_iter().map(|request| Request { has_rules: true, ..request }).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Adds a file whose time is over and that has validators.
    pub(super) fn insert_expired(&mut self, robots: StoredRobots) {
        self.expired.insert(robots.origin.clone(), Arc::new(robots));
    }

    /// The validators of the file of this origin whose time is over.
    pub(super) fn validators(&self, origin: &str) -> Validators {
        self.expired.get(origin).map(|expired| expired.validators.clone()).unwrap_or_default()
    }

    /// The file that this request for a robots.txt is conditional on.
    pub(super) fn expired(&self, request: &Request) -> Option<&Arc<StoredRobots>> {
        match &request.kind {
            RequestKind::Robots { origin } if !request.known.is_empty() => self.expired.get(origin),
            _ => None,
        }
    }

    /// Whether nothing is known about this origin.
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
            Rules::Requested(_) => None,
        }
    }

    /// Drops rules that are known. Those that are being fetched stay.
    pub(super) fn remove(&mut self, origin: &str) {
        self.expired.remove(origin);
        if matches!(self.rules.get(origin), Some(Rules::Known { .. })) {
            self.rules.remove(origin);
        }
    }

    /// All requests that wait for rules, when the crawl stops.
    pub(super) fn drain(&mut self) -> Vec<Request> {
        let rules = self.rules.drain().map(|(_, rules)| rules);
        rules.flat_map(|rules| if let Rules::Requested(waiting) = rules { waiting } else { Vec::new() }).collect()
    }
}

/// A request that robots.txt allows, as far as its owner does not deny what its page is for.
fn allowed(request: Request, purpose: Option<Use>) -> Permission {
    let is_page = matches!(request.kind, RequestKind::Page { .. });
    match purpose.filter(|_| is_page).and_then(|of| denied_by(of, &request.rights)) {
        Some(reason) => Permission::Disallowed(request, reason),
        None => Permission::Allowed(request),
    }
}

/// Why a page is not fetched for a purpose, by what its site says; `None` where it may be.
pub(super) fn denied_by(of: Use, said: &[Statement]) -> Option<Reason> {
    let denies = |statement: &&Statement| statement.uses.contains(&(of, Verdict::Deny));
    said.iter().find(denies).map(|statement| denied(of, statement))
}

/// Why a page is not fetched, or not stored.
pub(super) fn denied(of: Use, by: &Statement) -> Reason {
    let text = format!("its owner denies {}: {} ({}): {}", of.name(), by.form.name(), by.place.name(), by.words);
    Reason::new(ReasonCode::RightsDenied, text)
}
