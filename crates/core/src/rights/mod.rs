//! What owners say about the use of their pages, in machine-readable form: whether a page may be searched, fed to an
//! assistant, or used for training.
//!
//! Every place where an owner says something gives a [`Statement`] with the owner's words. [`Rights`] holds the
//! statements about one page, and combines them as the AIPREF vocabulary does (draft-ietf-aipref-vocab-08, 5.1): what
//! one statement denies is denied, else what one allows is allowed, else it is unknown. None of this loosens robots.txt
//! (RFC 9309): whether a page may be fetched is decided before.

mod forms;
mod headers;
mod page;
mod values;

use serde::{Deserialize, Serialize};

pub use forms::{FORMS, Form, FormAbout};
pub use headers::RightsHeaders;
pub use page::page_statements;
pub use values::{content_signal, content_usage, tdm_reservation};

/// A use of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Use {
    /// It is found, shown as a link with a short excerpt.
    Search,
    /// It is given to a model that writes an answer.
    Input,
    /// Models are trained on it.
    Train,
    /// A copy is kept and shown.
    Archive,
}

impl Use {
    /// All uses.
    pub const ALL: [Use; 4] = [Use::Search, Use::Input, Use::Train, Use::Archive];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Use::Search => "search",
            Use::Input => "input",
            Use::Train => "train",
            Use::Archive => "archive",
        }
    }
}

/// What is said about a use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It is allowed.
    Allow,
    /// It is denied.
    Deny,
}

impl Verdict {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Allow => "allow",
            Verdict::Deny => "deny",
        }
    }
}

/// Where an owner says something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// robots.txt, or a file that it names.
    Robots,
    /// A file of its own at a well-known address.
    File,
    /// A header of the response.
    Header,
    /// The page itself.
    Page,
}

impl Place {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Place::Robots => "robots.txt",
            Place::File => "file",
            Place::Header => "header",
            Place::Page => "page",
        }
    }

    /// Whether it concerns the site, so that it may change while the page does not.
    pub fn is_of_site(self) -> bool {
        matches!(self, Place::Robots | Place::File)
    }
}

/// What an owner says in one place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statement {
    /// The form in which it is said.
    pub form: Form,
    /// Where it is said.
    pub place: Place,
    /// The words, as written.
    pub words: String,
    /// What follows for each use. Uses that are not there are unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uses: Vec<(Use, Verdict)>,
}

impl Statement {
    /// A statement with these words.
    pub fn new(form: Form, place: Place, words: impl Into<String>, uses: Vec<(Use, Verdict)>) -> Statement {
        Statement { form, place, words: bounded(words.into()), uses }
    }
}

/// Bytes of the words of a statement that are kept.
const MAX_WORDS: usize = 1000;

/// Statements about a page that are kept.
const MAX_STATEMENTS: usize = 50;

fn bounded(mut words: String) -> String {
    if words.len() > MAX_WORDS {
        let at = (0..=MAX_WORDS).rev().find(|at| words.is_char_boundary(*at)).unwrap_or(0);
        words.truncate(at);
    }
    words
}

/// All that is said about a page.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Rights {
    /// The statements, in the order in which they were found.
    pub statements: Vec<Statement>,
}

impl Rights {
    /// The rights that these statements make. The same statement twice counts once.
    pub fn new(all: impl IntoIterator<Item = Statement>) -> Rights {
        let mut rights = Rights::default();
        for statement in all {
            // Beyond the limit only what denies something new counts.
            let denies = |(of, verdict): &(Use, Verdict)| *verdict == Verdict::Deny && rights.denial(*of).is_none();
            let has_room = rights.statements.len() < MAX_STATEMENTS || statement.uses.iter().any(denies);
            if has_room && !rights.statements.contains(&statement) {
                rights.statements.push(statement);
            }
        }
        rights
    }

    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        self.statements.is_empty()
    }

    /// What follows for a use; `None` where it is unknown.
    pub fn verdict(&self, of: Use) -> Option<Verdict> {
        let mut verdicts = self.verdicts(of);
        let first = verdicts.next()?;
        Some(if verdicts.any(|verdict| verdict == Verdict::Deny) { Verdict::Deny } else { first })
    }

    fn verdicts(&self, of: Use) -> impl Iterator<Item = Verdict> {
        let uses = self.counted().flat_map(|statement| &statement.uses);
        uses.filter(move |(one, _)| *one == of).map(|(_, verdict)| *verdict)
    }

    /// The statements that count: of TDMRep only those in the most specific place, as headers override its file, and
    /// the page overrides both.
    fn counted(&self) -> impl Iterator<Item = &Statement> {
        let is_tdmrep = |one: &&Statement| one.form == Form::Tdmrep && !one.uses.is_empty();
        let place = self.statements.iter().filter(is_tdmrep).map(|one| one.place).max();
        self.statements.iter().filter(move |one| one.form != Form::Tdmrep || Some(one.place) == place)
    }

    /// The first statement that denies a use.
    pub fn denial(&self, of: Use) -> Option<&Statement> {
        self.counted().find(|statement| statement.uses.contains(&(of, Verdict::Deny)))
    }

    /// Uses that one statement allows and another denies.
    pub fn conflicts(&self) -> Vec<Use> {
        let has = |of, verdict| self.verdicts(of).any(|one| one == verdict);
        Use::ALL.into_iter().filter(|of| has(*of, Verdict::Allow) && has(*of, Verdict::Deny)).collect()
    }

    /// The `X-Robots-Tag` lines, as sent.
    pub fn robots_tags(&self) -> Vec<String> {
        let is_tag = |one: &&Statement| one.form == Form::RobotsTag && one.place == Place::Header;
        self.statements.iter().filter(is_tag).map(|statement| statement.words.clone()).collect()
    }

    /// The same page at a later visit on which it was not sent again: what the site says is replaced.
    pub fn revisited(&self, site: Rights) -> Rights {
        let of_page = self.statements.iter().filter(|statement| !statement.place.is_of_site()).cloned();
        Rights::new(of_page.chain(site.statements.into_iter().filter(|statement| statement.place.is_of_site())))
    }

    /// Each statement as a line: form, place and words.
    pub fn lines(&self) -> Vec<String> {
        let line = |one: &Statement| format!("{} ({}): {}", one.form.name(), one.place.name(), one.words);
        self.statements.iter().map(line).collect()
    }

    /// As it is stored; `None` where nothing is said.
    pub fn to_text(&self) -> Option<String> {
        if self.is_empty() { None } else { serde_json::to_string(self).ok() }
    }

    /// From what is stored. What cannot be read says nothing.
    pub fn from_text(text: Option<&str>) -> Rights {
        text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(place: Place, words: &str, uses: &[(Use, Verdict)]) -> Statement {
        Statement::new(Form::ContentUsage, place, words, uses.to_vec())
    }

    #[test]
    fn what_one_statement_denies_is_denied() {
        let allows = said(Place::Robots, "train-ai=y", &[(Use::Train, Verdict::Allow)]);
        let denies = said(Place::Header, "train-ai=n", &[(Use::Train, Verdict::Deny)]);
        for both in [[allows.clone(), denies.clone()], [denies.clone(), allows.clone()]] {
            let rights = Rights::new(both);
            assert_eq!(rights.verdict(Use::Train), Some(Verdict::Deny));
            assert_eq!((rights.verdict(Use::Search), rights.conflicts()), (None, vec![Use::Train]));
            assert_eq!(rights.denial(Use::Train), Some(&denies));
        }
        assert_eq!(Rights::new([allows.clone(), allows]).statements.len(), 1);
    }

    #[test]
    fn the_most_specific_reservation_counts() {
        let said = |place, words: &str| Statement::new(Form::Tdmrep, place, words, tdm_reservation(words));
        let of = |all: &[(Place, &str)]| Rights::new(all.iter().map(|(place, words)| said(*place, words)));
        let file = (Place::File, "1");
        for (all, verdict) in [
            (vec![file], Some(Verdict::Deny)),
            (vec![file, (Place::Header, "0")], Some(Verdict::Allow)),
            (vec![(Place::Header, "0"), (Place::Page, "1")], Some(Verdict::Deny)),
            (vec![file, (Place::Page, "yes")], Some(Verdict::Deny)),
        ] {
            let rights = of(&all);
            assert_eq!((rights.verdict(Use::Train), rights.conflicts()), (verdict, vec![]), "{all:?}");
        }
    }

    #[test]
    fn a_later_visit_replaces_what_the_site_says() {
        let page = said(Place::Page, "train-ai=y", &[(Use::Train, Verdict::Allow)]);
        let before = Rights::new([said(Place::Robots, "search=n", &[(Use::Search, Verdict::Deny)]), page]);
        let after = before.revisited(Rights::new([said(Place::Robots, "train-ai=n", &[(Use::Train, Verdict::Deny)])]));
        assert_eq!((after.verdict(Use::Train), after.verdict(Use::Search)), (Some(Verdict::Deny), None));
        assert_eq!(after.lines(), ["content-usage (page): train-ai=y", "content-usage (robots.txt): train-ai=n"]);
        assert_eq!(Rights::from_text(after.to_text().as_deref()), after);
        assert_eq!((Rights::default().to_text(), Rights::from_text(Some("{"))), (None, Rights::default()));
    }

    #[test]
    fn hostile_owners_do_not_fill_the_store() {
        let long = said(Place::Page, &"é".repeat(5000), &[]);
        assert_eq!(long.words.len(), MAX_WORDS);
        let many = (0..1000).map(|n| said(Place::Page, &n.to_string(), &[]));
        let denial = said(Place::Page, "train-ai=n", &[(Use::Train, Verdict::Deny)]);
        let rights = Rights::new(many.chain([denial.clone(), denial]));
        assert_eq!(rights.statements.len(), MAX_STATEMENTS + 1, "no denial is lost to the limit");
        assert_eq!(rights.verdict(Use::Train), Some(Verdict::Deny));
    }
}
