//! Files beside robots.txt in which owners say what their pages may be used for: `/.well-known/tdmrep.json`, `/ai.txt`,
//! and licences of RSL that robots.txt names. They are asked for where `crawl.purpose` is set.

mod ai_txt;
mod rsl;
mod tdmrep;

use serde::{Deserialize, Serialize};

use ai_txt::AiTxt;
use rsl::Licence;
use tdmrep::TdmRule;

use dehusk_core::rights::{Form, Place, Statement};
use dehusk_html::PageUrl;

/// Bytes of such a file that are read.
pub const MAX_FILE_BYTES: usize = 500 * 1024;

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

/// What the files of one origin say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RightsFiles {
    tdmrep: Vec<TdmRule>,
    ai_txt: Option<AiTxt>,
    licences: Vec<(String, Licence)>,
}

impl RightsFiles {
    /// What these files say to our agents.
    pub fn new(files: &[RightsFile], agents: &[String]) -> RightsFiles {
        let mut all = RightsFiles::default();
        for file in files.iter().filter(|file| matches!(file.status, Some(200..=299))) {
            match file.kind {
                FileKind::Tdmrep => all.tdmrep = tdmrep::read(&file.text),
                FileKind::AiTxt => all.ai_txt = AiTxt::read(&file.text, agents),
                FileKind::Licence => all.licences.extend(rsl::read(&file.text).map(|read| (file.url.clone(), read))),
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
        let is_read = |named: &&String| self.licences.iter().any(|(address, _)| address == *named);
        let unread = named.iter().filter(|named| !is_read(named));
        all.extend(unread.map(|named| Statement::new(Form::Rsl, Place::Robots, named.clone(), Vec::new())));
    }
}
