//! A mail given to a server by SMTP.

use std::time::Duration;

use anyhow::Context;
use lettre::address::{Address, Envelope};
use lettre::{SmtpTransport, Transport};

/// Sends a mail through the server at this URL. The URL may hold a password, and is not in the errors.
pub(super) fn send(url: &str, from: &str, to: &[String], mail: &str, timeout: Duration) -> anyhow::Result<()> {
    let address = |text: &str| text.parse::<Address>().with_context(|| format!("{text}: not an address of mail"));
    let to = to.iter().map(|to| address(to)).collect::<Result<Vec<_>, _>>()?;
    let envelope = Envelope::new(Some(address(from)?), to)?;
    let builder = SmtpTransport::from_url(url).context("notify.smtp: not the address of a server")?;
    let host = url.rsplit('@').next().unwrap_or_default().trim_start_matches("smtps://").trim_start_matches("smtp://");
    let sent = builder.timeout(Some(timeout)).build().send_raw(&envelope, mail.as_bytes());
    sent.map(drop).with_context(|| host.to_owned())
}
