//! Why a site has no template, or a URL gave no page: a code for machines and a sentence for people. Neither names the
//! host, so that reasons can be grouped.

use std::fmt;

use serde::Serialize;

/// A code with a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// For machines; the table in docs/nightly.md lists them.
    pub code: ReasonCode,
    /// For people.
    pub text: String,
}

impl Reason {
    /// A reason.
    pub fn new(code: ReasonCode, text: impl Into<String>) -> Reason {
        Reason { code, text: bounded(text.into()) }
    }
}

/// Longest reason in bytes. Parts of it come from servers.
const MOST_BYTES: usize = 400;

/// The text of a reason, cut where it is longer than one may be.
pub fn bounded(mut text: String) -> String {
    if text.len() > MOST_BYTES {
        text.truncate(text.floor_char_boundary(MOST_BYTES));
        text.push('…');
    }
    text
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

macro_rules! codes {
    ($($(#[$doc:meta])* $code:ident = $word:literal,)*) => {
        /// What kind of reason it is.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
        pub enum ReasonCode {
            $($(#[$doc])* #[serde(rename = $word)] $code,)*
        }

        impl ReasonCode {
            /// Every code.
            pub const ALL: &[ReasonCode] = &[$(ReasonCode::$code,)*];

            /// The word in the store, in JSON and in logs.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(ReasonCode::$code => $word,)*
                }
            }
        }
    };
}

codes! {
    /// The name has no address.
    Dns = "dns",
    /// The address is private.
    PrivateAddress = "private_address",
    /// The connection failed or broke.
    Connection = "connection",
    /// The answer took too long, or came too slowly.
    Timeout = "timeout",
    /// The body is larger than a limit.
    TooLarge = "too_large",
    /// Memory was short.
    Memory = "memory",
    /// The body cannot be decompressed.
    Encoding = "encoding",
    /// The body is not HTML.
    NotHtml = "not_html",
    /// The body is empty.
    Empty = "empty",
    /// Status 401: it asks for a name and a password.
    Http401 = "http_401",
    /// Status 403: it is forbidden, perhaps for crawlers only.
    Http403 = "http_403",
    /// Status 404: it is not there.
    Http404 = "http_404",
    /// Status 410: it was removed.
    Http410 = "http_410",
    /// Status 429: too many requests.
    Http429 = "http_429",
    /// A status from 500 on: the server failed.
    Http5xx = "http_5xx",
    /// Any other HTTP status that gives no page.
    HttpStatus = "http_status",
    /// The answer checks that a person looks at it, with status 200.
    Challenge = "challenge",
    /// There is no text without scripts.
    NeedsScripts = "needs_scripts",
    /// There is no text without scripts, and a browser gave none.
    RenderFailed = "render_failed",
    /// The answer asks to log in, with status 200.
    LoginWall = "login_wall",
    /// A redirect leads back as long as the cookie that it sets is not sent.
    CookieWall = "cookie_wall",
    /// The answer says that the page was not found, with status 200.
    SoftNotFound = "soft_404",
    /// The domain is for sale, or has no site yet.
    Parked = "parked",
    /// Next to nothing is left of the text of a page, for the first time.
    Shrunk = "shrunk",
    /// Several pages of the site that had their own texts have one and the same.
    OneText = "one_text",
    /// Too many redirects.
    Redirects = "redirects",
    /// A redirect leaves the site.
    OtherSite = "other_site",
    /// robots.txt forbids it.
    RobotsDisallowed = "robots_disallowed",
    /// Its owner denies the use that `crawl.purpose` names.
    RightsDenied = "rights_denied",
    /// robots.txt could not be had.
    RobotsUnavailable = "robots_unavailable",
    /// The settings of the crawl forbid it: crawl.never, crawl.exclude, crawl.include, the limits of URLs.
    Refused = "refused",
    /// `crawl.site.max_requests` is reached.
    SiteMaxRequests = "site_max_requests",
    /// `crawl.site.max_failures` is reached.
    SiteMaxFailures = "site_max_failures",
    /// `crawl.site.max_bytes` is reached.
    SiteMaxBytes = "site_max_bytes",
    /// `crawl.site.max_seconds` is reached.
    SiteMaxSeconds = "site_max_seconds",
    /// `crawl.max_requests` is reached.
    MaxRequests = "max_requests",
    /// `crawl.max_failures` is reached.
    MaxFailures = "max_failures",
    /// `crawl.max_bytes` is reached.
    MaxBytes = "max_bytes",
    /// `crawl.max_seconds` is reached.
    MaxSeconds = "max_seconds",
    /// The host is left alone for this run.
    HostDeferred = "host_deferred",
    /// The key page wants none of its links followed.
    Nofollow = "nofollow",
    /// The key page has no links to pages of its site.
    NoLinks = "no_links",
    /// No link of the key page gave a page.
    NoPages = "no_pages",
    /// The pages behind the links are copies of the key page.
    Copies = "copies",
    /// The pages behind the links share nothing with the key page.
    NothingShared = "nothing_shared",
    /// A defect of this program.
    Internal = "internal",
    /// Anything else.
    Other = "other",
}

impl ReasonCode {
    /// The code of a status that gives no page.
    pub fn of_status(status: u16) -> ReasonCode {
        match status {
            401 => ReasonCode::Http401,
            403 => ReasonCode::Http403,
            404 => ReasonCode::Http404,
            410 => ReasonCode::Http410,
            429 => ReasonCode::Http429,
            500.. => ReasonCode::Http5xx,
            _ => ReasonCode::HttpStatus,
        }
    }

    /// The code of a word in the store.
    pub fn from_word(word: &str) -> ReasonCode {
        ReasonCode::ALL.iter().copied().find(|code| code.as_str() == word).unwrap_or(ReasonCode::Other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_has_a_length() {
        let reason = Reason::new(ReasonCode::Other, "é".repeat(30_000));
        assert!(reason.text.len() <= MOST_BYTES + 3 && reason.text.ends_with("é…"));
        assert_eq!(bounded("short".to_owned()), "short");
    }

    #[test]
    fn every_code_has_its_word() {
        for code in ReasonCode::ALL {
            assert_eq!(ReasonCode::from_word(code.as_str()), *code);
            assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
        }
        assert_eq!(ReasonCode::from_word("unheard of"), ReasonCode::Other);
        let of = |status| ReasonCode::of_status(status).as_str();
        assert_eq!([401, 403, 404, 410].map(of), ["http_401", "http_403", "http_404", "http_410"]);
        assert_eq!([429, 418, 500, 599].map(of), ["http_429", "http_status", "http_5xx", "http_5xx"]);
    }
}
