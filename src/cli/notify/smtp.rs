//! A mail given to a server by SMTP.

use std::io::{self, ErrorKind};
use std::time::Duration;

use anyhow::Context;
use lettre::address::{Address, Envelope};
use lettre::transport::smtp::Error;
use lettre::{SmtpTransport, Transport};

/// Sends a mail through the server at this URL. The URL may hold a password, and is not in the errors.
pub(super) fn send(url: &str, from: &str, to: &[String], mail: &str, timeout: Duration) -> anyhow::Result<()> {
    let address = |text: &str| text.parse::<Address>().with_context(|| format!("{text}: not an address of mail"));
    let to = to.iter().map(|to| address(to)).collect::<Result<Vec<_>, _>>()?;
    let envelope = Envelope::new(Some(address(from)?), to)?;
    let builder = SmtpTransport::from_url(url).context("notify.smtp: not the address of a server")?;
    let host = url.rsplit('@').next().unwrap_or_default().trim_start_matches("smtps://").trim_start_matches("smtp://");
    let failed = |e: Error| {
        // It names its cause itself.
        let cause = if is_silent(&e) { format!("no answer within {} s", timeout.as_secs()) } else { e.to_string() };
        anyhow::anyhow!("{host}: {cause}")
    };
    builder.timeout(Some(timeout)).build().send_raw(&envelope, mail.as_bytes()).map(drop).map_err(failed)
}

/// Whether the server did not answer in time.
fn is_silent(error: &Error) -> bool {
    let causes = std::iter::successors(std::error::Error::source(error), |cause| cause.source());
    let mut kinds = causes.filter_map(|cause| cause.downcast_ref::<io::Error>()).map(io::Error::kind);
    kinds.any(|kind| matches!(kind, ErrorKind::TimedOut | ErrorKind::WouldBlock))
}
