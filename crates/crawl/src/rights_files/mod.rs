//! Files beside robots.txt in which owners say what their pages may be used for: `/.well-known/tdmrep.json`, `/ai.txt`,
//! and licences of RSL that robots.txt names. They are asked for where `crawl.purpose` is set.

mod ai_txt;
mod rsl;
mod tdmrep;

use serde::{Deserialize, Serialize};

use ai_txt::AiTxt;
use rsl::Licence;
use tdmrep::TdmRule;

use crate::fetch::Response;
use crate::robots::Robots;
use crate::xml::decoded;
use dehusk_core::rights::{Form, Place, Statement};
use dehusk_html::PageUrl;

/// Files of an origin that are asked for.
const MAX_FILES: usize = 12;

/// A file as it was answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RightsFile {
    /// Which.
    pub kind: FileKind,
    /// Its address.
    pub url: String,
    /// HTTP status; `None` where it could not be reached.
    pub status: Option<u16>,
    /// Its text; empty unless the status is a success.
    pub text: String,
}

impl RightsFile {
    /// A file by the answer to the request for it; `None`: there was none.
    pub(crate) fn new(kind: FileKind, url: &PageUrl, response: Option<&Response>) -> RightsFile {
        let is_success = |response: &&Response| (200..300).contains(&response.status);
        let text = response.filter(is_success).map(|response| decoded(&response.body).into_owned());
        // Many servers give a page for an address that they do not have.
        let is_page = |text: &String| kind != FileKind::Licence && text.trim_start().starts_with('<');
        let text = text.filter(|text| !is_page(text)).unwrap_or_default();
        RightsFile { kind, url: url.to_string(), status: response.map(|response| response.status), text }
    }
}

/// Which file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileKind {
    /// `/.well-known/tdmrep.json`.
    Tdmrep,
    /// `/ai.txt`.
    AiTxt,
    /// A licence that robots.txt names.
    Licence,
}

impl FileKind {
    fn form(self) -> (Form, Place) {
        match self {
            FileKind::Tdmrep => (Form::Tdmrep, Place::File),
            FileKind::AiTxt => (Form::AiTxt, Place::File),
            FileKind::Licence => (Form::Rsl, Place::Robots),
        }
    }
}

/// Addresses of the files of an origin that are asked for: its own two, and licences of it that robots.txt names. Only
/// those that robots.txt allows.
pub(crate) fn addresses(origin: &str, robots: &Robots) -> Vec<(FileKind, PageUrl)> {
    let at = |kind, path: &str| Some((kind, PageUrl::parse(&format!("{origin}/")).ok()?.join(path)?));
    let own = [at(FileKind::Tdmrep, "/.well-known/tdmrep.json"), at(FileKind::AiTxt, "/ai.txt")];
    let licences = robots.licences().iter().map(|address| at(FileKind::Licence, address));
    let is_asked = |(_, url): &(FileKind, PageUrl)| url.origin() == origin && robots.allows(url);
    let mut all: Vec<(FileKind, PageUrl)> = Vec::new();
    for file in own.into_iter().chain(licences).flatten().filter(is_asked) {
        if all.len() < MAX_FILES && !all.contains(&file) {
            all.push(file);
        }
    }
    all
}

/// What the files of one origin say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RightsFiles {
    tdmrep: Vec<TdmRule>,
    ai_txt: Option<AiTxt>,
    licences: Vec<(String, Licence)>,
    /// Files that should say something, and cannot be read.
    unread: Vec<Statement>,
}

impl RightsFiles {
    /// What these files say to our agents.
    pub fn new(files: &[RightsFile], agents: &[String]) -> RightsFiles {
        let mut all = RightsFiles::default();
        for file in files {
            let why = match (file.kind, file.status) {
                (_, None) => Some("no answer".to_owned()),
                (_, Some(status @ (429 | 500..))) => Some(format!("answers {status}")),
                (FileKind::Licence, Some(status)) if !(200..300).contains(&status) => Some(format!("answers {status}")),
                (_, Some(status)) if !(200..300).contains(&status) => None,
                (FileKind::Tdmrep, _) => match tdmrep::read(&file.text) {
                    Some(rules) => {
                        all.tdmrep = rules;
                        None
                    }
                    None => (!file.text.is_empty()).then(|| "is no list of rules".to_owned()),
                },
                (FileKind::AiTxt, _) => {
                    all.ai_txt = AiTxt::read(&file.text, agents);
                    None
                }
                (FileKind::Licence, _) => match rsl::read(&file.text) {
                    Some(licence) => {
                        all.licences.push((file.url.clone(), licence));
                        None
                    }
                    None => Some("is no licence".to_owned()),
                },
            };
            if let Some(why) = why {
                let (form, place) = file.kind.form();
                let words = format!("{}: cannot be read: {why}", file.url);
                all.unread.push(Statement::new(form, place, words, Vec::new()));
            }
        }
        all
    }

    /// Adds what they say about a page. `named` are the licences that robots.txt names.
    pub(crate) fn add_statements(&self, url: &PageUrl, named: &[String], all: &mut Vec<Statement>) {
        all.extend(tdmrep::statement(&self.tdmrep, url));
        all.extend(self.ai_txt.as_ref().and_then(|rules| rules.statement(url)));
        for (address, licence) in &self.licences {
            all.extend(licence.statement(address, url));
        }
        all.extend(self.unread.iter().cloned());
        let address = |named: &str| url.join(named).map_or_else(|| named.to_owned(), |url| url.to_string());
        let is_told = |named: &&String| {
            let address = address(named);
            self.licences.iter().any(|(read, _)| *read == address)
                || self.unread.iter().any(|statement| statement.words.starts_with(&format!("{address}: ")))
        };
        let others = named.iter().filter(|named| !is_told(named));
        all.extend(others.map(|named| Statement::new(Form::Rsl, Place::Robots, named.clone(), Vec::new())));
    }
}
