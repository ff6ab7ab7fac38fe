//! `dehusk clean --out DIR`: a corpus from the sources, in the forms of `dehusk export`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::anyhow;

use super::by::{By, choose};
use super::written::{applied, row, warn_of_cuts};
use super::{Clean, Run, is_url};
use crate::cli::corpus_args::{STOP_WITHIN, failure, tell};
use crate::cli::documents::{FoundDocument, Reading, byte_bar};
use crate::cli::loaded_page::{leaves_out, of_found};
use crate::cli::signals::StopFlag;
use crate::cli::table::count;
use crate::cli::{Failure, Outcome, exit};
use dehusk_core::cleaning_number;
use dehusk_corpus::export::{CorpusOptions, CorpusPage, CorpusWriter, Form, Manifest};
use dehusk_settings::Settings;

/// Reasons for which a document gives no row although its owner and the user would have one.
const UNREADABLE: [&str; 2] = ["unreadable", "text"];

/// What became of a document.
enum Made {
    Page(Box<CorpusPage>),
    LeftOut(String, &'static str),
    /// It could not be read.
    Failed(anyhow::Error),
}

/// Why the pipeline ended early.
enum End {
    Stopped,
    Failed(Failure),
}

impl Clean {
    /// The folder and the options of the corpus, if one is asked for.
    pub(super) fn corpus_asked(&self) -> Result<Option<(&Path, CorpusOptions)>, Failure> {
        let Some(out) = &self.out else {
            return match self.format.form() {
                Some(_) => Err(Failure::Usage(anyhow!("this --format is written to a folder: name it with --out DIR"))),
                None => Ok(None),
            };
        };
        let form = self.format.form().unwrap_or(Form::Jsonl);
        if self.format.text().is_some() && !self.format.is_default() {
            return Err(Failure::Usage(anyhow!(
                "--out takes --format jsonl, parquet, warc, wacz, wet, md or site; text, html and markdown go to \
                 standard output"
            )));
        }
        if let Some(url) = self.pages.iter().find(|page| is_url(page)) {
            return Err(Failure::Usage(anyhow!(
                "{url}: --out takes files, folders, archives and standard input; `dehusk crawl` and `dehusk export` \
                 make a corpus of sites"
            )));
        }
        let options = CorpusOptions {
            form,
            filter: self.corpus.filter(),
            duplicates: self.corpus.duplicates(),
            near_duplicates: self.corpus.near_duplicates(),
            paragraphs: self.corpus.paragraphs(),
            optional: self.corpus.optional(),
            part_bytes: self.corpus.part_bytes(),
        };
        Ok(Some((out, options)))
    }

    /// Everything that the rows depend on beside the options: the sources, and how they are cleaned.
    fn asked(&self, settings: &Settings) -> String {
        let sources: Vec<(&String, u64)> = self.pages.iter().map(|source| (source, bytes_of(source))).collect();
        let how = (&self.method, &self.site, self.alone, self.learn, &self.like, &self.collection, &self.pass);
        let core = &settings.core;
        let cleaned = (&core.clean, &core.markdown, cleaning_number(core), &settings.store.noindex);
        serde_json::to_string(&(sources, how, cleaned, &settings.store.path)).unwrap_or_default()
    }

    /// Writes the corpus. `pages` are the sources as they are opened.
    pub(super) fn write_corpus(
        &self,
        (out, options): (&Path, &CorpusOptions),
        pages: &[String],
        by: impl FnOnce() -> Result<By, Failure>,
        run: &Run<'_>,
    ) -> Outcome {
        let began = Instant::now();
        let settings = run.settings;
        // Before anything is learned: a folder that cannot be used is told at once.
        let mut writer = CorpusWriter::open(out, options, &self.asked(settings), settings).map_err(failure)?;
        let by = &by()?;
        let stop = StopFlag::listen(STOP_WITHIN)?;
        let sources: Vec<PathBuf> = pages.iter().map(PathBuf::from).collect();
        let bar = byte_bar(&sources, "cleaned");
        let n_done = writer.n_done();
        let read = |put: &mut dyn FnMut(anyhow::Result<FoundDocument>) -> bool| {
            let reading = Reading::new(false, None, settings.core.parse.max_bytes);
            let reading =
                Reading { all_pages: true, pass: &self.pass, tells_left_out: true, bar: bar.clone(), ..reading };
            let mut found = reading.all(&sources).skip(n_done as usize);
            while found.next().is_some_and(&mut *put) {}
            drop(found);
            reading.warn_of_skipped();
        };
        let size = |found: &anyhow::Result<FoundDocument>| found.as_ref().map_or(0, FoundDocument::n_bytes);
        let agents = settings.agents();
        let make = |found: anyhow::Result<FoundDocument>| {
            found.and_then(|found| self.made(found, by, run, options, &agents)).unwrap_or_else(Made::Failed)
        };
        let mut n = 0_u64;
        let ended = dehusk_corpus::pipeline::run(read, size, make, |made| {
            let taken = match made {
                Made::Page(page) => writer.push(*page),
                Made::LeftOut(name, why) => writer.leave_out(&name, why, None),
                Made::Failed(error) => {
                    tracing::debug!("{error:#}");
                    // The first message of the chain names the document.
                    let what: Vec<String> = error.chain().skip(1).map(ToString::to_string).collect();
                    writer.leave_out(&error.to_string(), "unreadable", Some(&what.join(": ")))
                }
            };
            taken.map_err(|error| End::Failed(failure(error)))?;
            n += 1;
            if n.is_multiple_of(64) {
                bar.set_message(format!("{} rows", count(writer.n_rows() as usize)));
            }
            if stop.is_set() { Err(End::Stopped) } else { Ok(()) }
        });
        bar.finish_and_clear();
        let manifest = match ended {
            Ok(()) => writer.finish().map_err(failure)?,
            Err(End::Stopped) => writer.pause().map_err(failure)?,
            Err(End::Failed(error)) => return Err(error),
        };
        tell(out, &manifest, began.elapsed().as_secs_f64(), self.json)?;
        if !manifest.complete {
            return Ok(exit::INTERRUPTED.into());
        }
        Ok(self.verdict(&manifest))
    }

    /// Makes the row of a document.
    fn made(
        &self,
        found: FoundDocument,
        by: &By,
        run: &Run<'_>,
        options: &CorpusOptions,
        agents: &[String],
    ) -> anyhow::Result<Made> {
        if let Some(why) = found.left_out {
            return Ok(Made::LeftOut(found.name, why));
        }
        if !found.is_page {
            return Ok(Made::LeftOut(found.name, "text"));
        }
        let raw = options.form.holds_pages().then(|| {
            let (bytes, content_type) = found.bytes();
            (content_type.or_else(|| Some("text/html".to_owned())), bytes.to_vec())
        });
        let page = of_found(found, run.settings, agents);
        if leaves_out(&page, run.settings) {
            return Ok(Made::LeftOut(page.name, "noindex"));
        }
        warn_of_cuts(&page);
        let method = match by {
            By::Method(method, model) => Some((*method, model.as_ref())),
            _ => None,
        };
        let applied = applied(&page, &choose(&page, by)?, method, run.settings);
        let mut optional = options.optional;
        optional.html |= options.form == Form::Site;
        let mut record = row(&page, &applied, optional, run);
        // Forms other than tables find a page by its address.
        if page.url.is_none() && !matches!(options.form, Form::Jsonl | Form::Parquet) {
            record.set_text("url", &format!("file://{}", page.name));
        }
        let name = page.url.as_ref().map_or(page.name, |url| url.as_str().to_owned());
        Ok(Made::Page(Box::new(CorpusPage::new(name, record, raw, options, run.settings))))
    }

    /// The exit code: documents that cannot be read are listed, and fail the command only above a share.
    fn verdict(&self, manifest: &Manifest) -> ExitCode {
        let unreadable: u64 = UNREADABLE.iter().filter_map(|why| manifest.left_out.get(*why)).sum();
        let all = manifest.upto.max(1) as f64;
        let Some(most) = self.fail_above.filter(|most| unreadable as f64 > most * all) else {
            return ExitCode::SUCCESS;
        };
        tracing::error!(
            "{} of {} documents cannot be read, more than --fail-above {most}; left-out-*.jsonl lists them",
            count(unreadable as usize),
            count(manifest.upto as usize)
        );
        ExitCode::from(exit::FAILED)
    }
}

/// Bytes of a file, or number of entries of a folder: what tells that a source is another one.
fn bytes_of(source: &str) -> u64 {
    match fs::metadata(source) {
        Ok(found) if found.is_file() => found.len(),
        Ok(found) if found.is_dir() => fs::read_dir(source).map_or(0, |entries| entries.count() as u64),
        _ => 0,
    }
}
