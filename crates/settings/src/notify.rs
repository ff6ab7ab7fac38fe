//! Who is told about a run when it ends.

use std::time::Duration;

use crate::sites::SiteNames;

/// `[notify]`
#[derive(Clone, Debug, PartialEq)]
pub struct Notify {
    /// When somebody is told.
    pub when: NotifyWhen,
    /// What one notice is about.
    pub each: NotifyEach,
    /// Hosts that notices are about, as in `[[site]]` tables; none = all.
    pub sites: Vec<String>,
    /// What a page must have become for a notice to have it; none = anything.
    pub changes: Vec<String>,
    /// Words that must differ in a changed page for a notice to have it.
    pub min_words: usize,
    /// A command that the shell runs, with the report as JSON on its input; empty = none.
    pub command: String,
    /// A URL to which the report is posted as JSON; empty = none.
    pub webhook: String,
    /// The key of the signature of a webhook; empty = not signed.
    pub secret: String,
    /// Addresses to which the report is mailed.
    pub mail: Vec<String>,
    /// The program that takes a mail on its input.
    pub sendmail: String,
    /// The server that takes a mail instead of the program: `smtps://user:password@host`; empty = the program.
    pub smtp: String,
    /// The sender of mail; empty = what the program puts there.
    pub from: String,
    /// An Atom feed that gets an entry for each run; empty = none.
    pub atom: String,
    /// Time that each of them may take.
    pub timeout: Duration,
}

/// When somebody is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotifyWhen {
    /// After each run.
    Always,
    /// When a page differs, or a site fails or works again.
    News,
    /// When a site fails that did not before.
    Failures,
}

/// What one notice is about. Mail is about a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotifyEach {
    /// A run: its report.
    Run,
    /// A page that differs.
    Page,
}

impl Notify {
    /// Whether notices are about a host.
    pub fn is_about(&self, host: &str) -> bool {
        let host = host.rsplit_once(':').map_or(host, |(name, _)| name);
        self.sites.is_empty() || !SiteNames::of(std::iter::once(self.sites.as_slice())).matching(host).is_empty()
    }

    /// Whether a notice has a page that became this.
    pub fn has_change(&self, change: &str) -> bool {
        self.changes.is_empty() || self.changes.iter().any(|wanted| wanted == change)
    }
}

impl Default for Notify {
    fn default() -> Notify {
        Notify {
            when: NotifyWhen::News,
            each: NotifyEach::Run,
            sites: Vec::new(),
            changes: Vec::new(),
            min_words: 0,
            command: String::new(),
            webhook: String::new(),
            secret: String::new(),
            mail: Vec::new(),
            sendmail: "sendmail -t -oi".to_owned(),
            smtp: String::new(),
            from: String::new(),
            atom: String::new(),
            timeout: Duration::from_secs(30),
        }
    }
}
