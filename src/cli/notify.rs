//! Tells people and programs about a run when it has ended: a command, a webhook, mail, an Atom feed.
//!
//! It runs after the crawl, so that it slows nothing. What fails is tried again, and then a warning.

mod atom;
mod mail;
mod pages;
mod smtp;

use std::time::Duration;

use anyhow::{Context, bail};
use hmac::{Hmac, Mac};
use sha2::Sha256;

use super::open_store;
use super::report::{MOST_WITH_WORDS, Night};
use super::shell_command::ShellCommand;
use dehusk_crawl::fetch::post;
use dehusk_settings::{NotifyEach, NotifyWhen, Settings};

/// Pauses before the second and the third try.
const PAUSES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(5)];

/// Changed pages whose differing words are counted for `notify.min_words`.
const MOST_COMPARED: usize = 1_000;

/// Tells about a run, if the settings name somebody and there is something to tell.
pub(super) fn notify(settings: &Settings, run: i64) {
    let wanted = &settings.notify;
    let is_anybody = [&wanted.command, &wanted.webhook, &wanted.atom].iter().any(|named| !named.is_empty())
        || !wanted.mail.is_empty();
    if !is_anybody {
        return;
    }
    match read(settings, run).map(|night| night.for_notices(wanted)) {
        Ok(night) if !night.has_ended() => {
            tracing::info!("run {run} goes on with other workers; the last one tells about it");
        }
        Ok(night) if is_wanted(&night, wanted.when) => tell(settings, &night),
        Ok(_) => tracing::info!("nobody is told about run {run}: nothing that notify.when asks for"),
        Err(error) => tracing::warn!("nobody is told about run {run}: {error:#}"),
    }
}

fn read(settings: &Settings, run: i64) -> anyhow::Result<Night> {
    let needs_words = settings.notify.min_words > 0 || settings.notify.each == NotifyEach::Page;
    let most_compared = if needs_words { MOST_COMPARED } else { MOST_WITH_WORDS };
    let night = open_store(settings).and_then(|store| Night::load(&store, run, settings, most_compared));
    night.map_err(anyhow::Error::from)
}

fn is_wanted(night: &Night, when: NotifyWhen) -> bool {
    match when {
        NotifyWhen::Always => true,
        NotifyWhen::News => night.has_news(),
        NotifyWhen::Failures => night.has_new_failures(),
    }
}

fn tell(settings: &Settings, night: &Night) {
    let wanted = &settings.notify;
    let (document, subject) = (night.document(), night.subject());
    let json = match serde_json::to_string(night) {
        Ok(json) => json,
        Err(error) => return tracing::warn!("nobody is told about run {}: {error}", night.number()),
    };
    if wanted.each == NotifyEach::Page {
        pages::tell(settings, night);
    } else {
        if !wanted.command.is_empty() {
            try_thrice("notify.command", || run(settings, night.number(), &wanted.command, &json));
        }
        if !wanted.webhook.is_empty() {
            try_thrice("notify.webhook", || send(settings, &json));
        }
        if !wanted.atom.is_empty() {
            let entry = atom::Entry::of_run(night.number(), night.ended_at(), &subject, &document.html());
            try_thrice("notify.atom", || {
                atom::add(wanted.atom.as_ref(), std::slice::from_ref(&entry)).with_context(|| wanted.atom.clone())
            });
        }
    }
    if !wanted.mail.is_empty() {
        let head = mail::Head { from: &wanted.from, to: &wanted.mail, subject: &subject, at: night.ended_at() };
        let mail = mail::message(&head, &document.text(None), &document.html());
        try_thrice("notify.mail", || match wanted.smtp.as_str() {
            "" => run(settings, night.number(), &wanted.sendmail, &mail),
            server => smtp::send(server, &wanted.from, &wanted.mail, &mail, wanted.timeout),
        });
    }
}

/// Runs a command with this on its input.
fn run(settings: &Settings, run: i64, command: &str, input: &str) -> anyhow::Result<()> {
    let variables = vec![("DEHUSK_RUN", run.to_string())];
    let command = ShellCommand { command, timeout: settings.notify.timeout, variables };
    command.answer(input.as_bytes().to_vec()).map(drop)
}

/// Tries it three times; the last failure is a warning. Returns whether it went well.
fn try_thrice(key: &str, mut attempt: impl FnMut() -> anyhow::Result<()>) -> bool {
    for pause in PAUSES {
        match attempt() {
            Ok(()) => return true,
            Err(error) => tracing::debug!("{key}: {error:#}; it is tried again"),
        }
        std::thread::sleep(pause);
    }
    attempt().inspect_err(|error| tracing::warn!("{key}: {error:#}")).is_ok()
}

fn send(settings: &Settings, json: &str) -> anyhow::Result<()> {
    let wanted = &settings.notify;
    let signature = (!wanted.secret.is_empty()).then(|| signature(&wanted.secret, json)).transpose()?;
    let headers = signature.map(|signature| ("x-dehusk-signature", signature));
    let runtime = super::runtime(1)?;
    let sent = post(&wanted.webhook, json.to_owned(), headers.as_slice(), wanted.timeout, &settings.fetch);
    match runtime.block_on(sent)? {
        200..=299 => Ok(()),
        status => bail!("{} answers {status}", wanted.webhook),
    }
}

/// The value of `X-Dehusk-Signature`.
fn signature(secret: &str, body: &str) -> anyhow::Result<String> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes())?;
    mac.update(body.as_bytes());
    let digits: String = mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("sha256={digits}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 4231, test case 2.
    #[test]
    fn signatures_are_those_of_the_standard() {
        let expected = "sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        assert_eq!(signature("Jefe", "what do ya want for nothing?").unwrap(), expected);
    }
}
