//! What `dehusk export` and `dehusk clean --out` have in common: which rows a corpus has, and what becomes of repeats.

use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use anyhow::anyhow;

use super::Failure;
use super::table::count;
use dehusk_core::corpus::OptionalColumns;
use dehusk_core::pii::Pii;
use dehusk_core::rights::Use;
use dehusk_corpus::export::{Duplicates, ExportError, Form, Manifest};

/// Time after a signal in which the open part is completed. After it, the part is made again by the next call.
pub(super) const STOP_WITHIN: Duration = Duration::from_millis(1500);

/// The same where a part has to be sent to an object store.
pub(super) const STOP_WITHIN_REMOTE: Duration = Duration::from_secs(60);

/// Which rows a corpus has.
#[derive(Clone, clap::Args)]
pub(super) struct CorpusArgs {
    /// Only rows for which this expression is true: SQL over the columns.
    #[arg(long, value_name = "EXPR", requires = "out")]
    r#where: Option<String>,
    /// Leave out pages whose owners deny this use (columns rights_search, rights_input, rights_train).
    #[arg(hide_short_help = true, long, value_enum, value_name = "USE", requires = "out")]
    rights: Option<UseName>,
    /// Pages with the text of an earlier one: mark (column duplicate_of), drop.
    ///
    /// Without it they are treated as near-duplicates are, or marked.
    #[arg(long, value_enum, requires = "out")]
    duplicates: Option<DuplicatesName>,
    /// Pages with nearly the text of an earlier page, by MinHash: off, mark (column near_duplicate_of), drop.
    #[arg(hide_short_help = true, long, value_enum, default_value_t = NearName::Off, requires = "out")]
    near_duplicates: NearName,
    /// Paragraphs that earlier pages have: off, mark (columns repeated_in_site and repeated_elsewhere), drop (from the
    /// column text).
    #[arg(hide_short_help = true, long, value_enum, default_value_t = NearName::Off, requires = "out")]
    paragraphs: NearName,
    /// Fill the column html.
    #[arg(hide_short_help = true, long)]
    html: bool,
    /// Fill the column comments.
    #[arg(hide_short_help = true, long)]
    comments: bool,
    /// Fill the column posts: author, day and text of each post of a thread, and of each comment with --comments.
    #[arg(hide_short_help = true, long)]
    posts: bool,
    /// Personal data (mail and IP addresses, phone numbers, IBAN): mark lists it in the column pii, mask replaces it
    /// by its kind in brackets in text, Markdown, HTML, comments, posts, title and description.
    #[arg(hide_short_help = true, long, value_enum)]
    pii: Option<PiiName>,
    /// Megabytes of rows at which a part is closed.
    #[arg(long, value_name = "MB", default_value_t = 512, value_parser = clap::value_parser!(u64).range(1..1_000_000))]
    #[arg(hide_short_help = true, requires = "out")]
    part_size: u64,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum DuplicatesName {
    Mark,
    Drop,
}

/// A use that owners can deny.
#[derive(Clone, Copy, clap::ValueEnum)]
enum UseName {
    Search,
    Input,
    Train,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum PiiName {
    Mark,
    Mask,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum NearName {
    Off,
    Mark,
    Drop,
}

impl NearName {
    fn how(self) -> Option<Duplicates> {
        match self {
            NearName::Off => None,
            NearName::Mark => Some(Duplicates::Mark),
            NearName::Drop => Some(Duplicates::Drop),
        }
    }
}

impl CorpusArgs {
    /// The first of the options that only a corpus follows.
    pub(super) fn only_with_out(&self) -> Option<&'static str> {
        let asked = [
            (self.r#where.is_some(), "--where"),
            (self.rights.is_some(), "--rights"),
            (self.duplicates.is_some(), "--duplicates"),
            (!matches!(self.near_duplicates, NearName::Off), "--near-duplicates"),
            (!matches!(self.paragraphs, NearName::Off), "--paragraphs"),
        ];
        asked.into_iter().find_map(|(is_asked, name)| is_asked.then_some(name))
    }

    /// Refuses what a form cannot do.
    pub(super) fn check(&self, form: Form) -> Result<(), Failure> {
        if self.pii() == Some(Pii::Mask) && form.holds_pages() {
            return Err(Failure::Usage(anyhow!(
                "--pii mask: warc and wacz hold the pages as they are; jsonl, parquet, wet, md and site are masked"
            )));
        }
        Ok(())
    }

    pub(super) fn filter(&self) -> Option<String> {
        self.r#where.clone()
    }

    pub(super) fn rights(&self) -> Option<Use> {
        self.rights.map(|name| match name {
            UseName::Search => Use::Search,
            UseName::Input => Use::Input,
            UseName::Train => Use::Train,
        })
    }

    pub(super) fn duplicates(&self) -> Duplicates {
        match self.duplicates {
            Some(DuplicatesName::Mark) => Duplicates::Mark,
            Some(DuplicatesName::Drop) => Duplicates::Drop,
            // Whoever drops what is nearly the same does not want what is the same.
            None => self.near_duplicates().unwrap_or(Duplicates::Mark),
        }
    }

    pub(super) fn near_duplicates(&self) -> Option<Duplicates> {
        self.near_duplicates.how()
    }

    pub(super) fn paragraphs(&self) -> Option<Duplicates> {
        self.paragraphs.how()
    }

    pub(super) fn optional(&self) -> OptionalColumns {
        OptionalColumns { html: self.html, comments: self.comments, posts: self.posts }
    }

    pub(super) fn pii(&self) -> Option<Pii> {
        self.pii.map(|name| match name {
            PiiName::Mark => Pii::Mark,
            PiiName::Mask => Pii::Mask,
        })
    }

    pub(super) fn part_bytes(&self) -> u64 {
        self.part_size * 1_000_000
    }
}

/// What an error of an export means for the command.
pub(super) fn failure(error: ExportError) -> Failure {
    match error {
        ExportError::Filter { .. } => Failure::Usage(anyhow!("{error}; `dehusk export --columns` lists the columns")),
        ExportError::Folder { .. }
        | ExportError::LanguageModel(_)
        | ExportError::Tokenizer(_)
        | ExportError::NoTokenizer => Failure::Usage(error.into()),
        ExportError::Io { ref reason, .. } if reason.kind() == io::ErrorKind::StorageFull => {
            Failure::Work(anyhow!("{error}; make room, and the same command goes on where it was"))
        }
        error => Failure::Work(error.into()),
    }
}

/// Prints what is in the folder: a line, or the manifest as JSON.
pub(super) fn tell(out: &Path, manifest: &Manifest, seconds: f64, as_json: bool) -> io::Result<()> {
    if as_json {
        return writeln!(io::stdout(), "{}", serde_json::to_string_pretty(&manifest).map_err(io::Error::other)?);
    }
    let bytes: u64 = manifest.parts.iter().map(|part| part.bytes).sum();
    let (n_rows, n_parts) = (manifest.rows as usize, manifest.parts.len());
    let plural = |n: usize| if n == 1 { "" } else { "s" };
    let mut line =
        format!("{}: {} row{} in {n_parts} part{}", out.display(), count(n_rows), plural(n_rows), plural(n_parts));
    if bytes > 0 {
        line += &format!(", {:.2} MB", bytes as f64 / 1e6);
    }
    for (why, n) in &manifest.left_out {
        line += &format!(", {} left out ({why})", count(*n as usize));
    }
    writeln!(io::stdout(), "{line}, {seconds:.1} s")?;
    if !manifest.complete {
        writeln!(io::stderr(), "stopped; the same command goes on with the pages that are left")?;
    }
    Ok(())
}
