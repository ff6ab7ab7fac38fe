//! What hosts say: their addresses, robots.txt and clocks.

use std::time::{Duration, SystemTime};

use super::{Check, duration};
use crate::cli::Failure;
use dehusk_crawl::{Allowed, Single, SingleError};
use dehusk_html::PageUrl;
use dehusk_settings::Settings;

/// Difference of two clocks that matters to nobody.
const SMALL_OFFSET: Duration = Duration::from_secs(120);

pub(super) fn checks(urls: &[PageUrl], settings: &Settings) -> Result<Vec<Check>, Failure> {
    let mut asked = match Single::new(settings) {
        Ok(asked) => asked,
        Err(error) => return Ok(vec![Check::problem("network", error.to_string(), "correct the settings of fetch")]),
    };
    let runtime = crate::cli::runtime(1)?;
    let mut checks = Vec::new();
    runtime.block_on(async {
        for url in urls {
            if settings.fetch.proxy.is_empty() && settings.fetch.resolve.is_empty() {
                checks.push(addresses(url).await);
            }
            let answer = asked.may_request(url).await;
            checks.push(robots(url, &answer, settings));
            checks.extend(asked.server_time().filter(|_| answer.is_ok()).and_then(|time| clock(url, time)));
        }
    });
    // A look-up that hangs is not waited for.
    runtime.shutdown_background();
    Ok(checks)
}

async fn addresses(url: &PageUrl) -> Check {
    let host = url.host().to_owned();
    let port = url.port();
    let found = tokio::time::timeout(Duration::from_secs(10), tokio::net::lookup_host((host.as_str(), port))).await;
    let next = "see that the name is right, and /etc/resolv.conf";
    match found {
        Err(_) => Check::problem("address", format!("{host}: no answer from DNS in 10 s"), next),
        Ok(Err(error)) => Check::problem("address", format!("{host}: {error}"), next),
        Ok(Ok(found)) => {
            let mut found: Vec<String> = found.map(|at| at.ip().to_string()).collect();
            found.dedup();
            Check::ok("address", format!("{host} is at {}", found.join(", ")))
        }
    }
}

fn robots(url: &PageUrl, answer: &Result<Allowed, SingleError>, settings: &Settings) -> Check {
    match answer {
        Ok(Allowed { delay: Some(delay), .. }) if *delay > settings.politeness.max_crawl_delay => Check::problem(
            "robots.txt",
            format!("{url}: asks for {} s between requests, more than is waited", delay.as_secs_f64()),
            "raise politeness.max_crawl_delay, or leave the site out",
        ),
        Ok(Allowed { delay, said }) => {
            let delay = delay.map_or(settings.politeness.delay, |delay| delay.max(settings.politeness.delay));
            let said = match said.len() {
                0 => String::new(),
                n => format!("; {n} statements about use (`dehusk rights list` after a crawl)"),
            };
            Check::ok("robots.txt", format!("{url}: may be requested, {} s apart{said}", delay.as_secs_f64()))
        }
        Err(SingleError::Forbidden { reason, .. }) => {
            Check::problem("robots.txt", format!("{url}: {reason}"), "leave it out, or ask its owner")
        }
        Err(error) => Check::problem("robots.txt", error.to_string(), "a crawl would try again later"),
    }
}

/// Where the clocks of a server and of this machine differ. Which one is wrong nobody can tell from one server.
fn clock(url: &PageUrl, server: SystemTime) -> Option<Check> {
    let now = SystemTime::now();
    let ahead = server.duration_since(now).unwrap_or_default();
    let behind = now.duration_since(server).unwrap_or_default();
    let offset = ahead.max(behind);
    let word = if ahead > behind { "ahead of" } else { "behind" };
    (offset > SMALL_OFFSET).then(|| {
        let text = format!("that of {} is {} {word} this machine's", url.host(), duration(offset.as_secs_f64()));
        Check::note("clock", text, "set the clock of this machine if it is the wrong one")
    })
}
