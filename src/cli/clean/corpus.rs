//! `dehusk clean --out DIR`: a corpus from the sources, in the forms of `dehusk export`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use anyhow::anyhow;

use super::by::{By, choose};
use super::format::CleanFormat;
use super::written::{applied, row, warn_of_cuts};
use super::{Clean, Run, is_url};
use crate::cli::corpus_args::{STOP_WITHIN, STOP_WITHIN_REMOTE, failure, tell};
use crate::cli::documents::{FoundDocument, Reading, SourceError, byte_bar, size_of};
use crate::cli::loaded_page::{leaves_out, of_found};
use crate::cli::objects::{is_object, read_failure};
use crate::cli::signals::StopFlag;
use crate::cli::table::count;
use crate::cli::{Failure, Outcome, exit};
use dehusk_core::cleaning_number;
use dehusk_corpus::export::{CorpusOptions, CorpusPage, CorpusWriter, Form, Manifest, digest_with};
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
    /// A source cannot be read. Nothing of it is counted.
    Source(anyhow::Error),
    Failed(Failure),
}

impl Clean {
    /// The folder and the options of the corpus, if one is asked for.
    pub(super) fn corpus_asked(&self) -> Result<Option<(&Path, CorpusOptions)>, Failure> {
        let form = self.format.and_then(CleanFormat::form);
        let Some(out) = &self.out else {
            // clap does not ask for --out beside --rows, which it conflicts with.
            if let Some(option) = self.corpus.only_with_out() {
                return Err(Failure::Usage(anyhow!(
                    "{option} chooses among the rows of a corpus: name its folder with --out"
                )));
            }
            if self.corpus.pii().is_some() && !self.gives_rows() {
                return Err(Failure::Usage(anyhow!("--pii is for rows: give --rows, or a folder with --out")));
            }
            return match form {
                Some(Form::Chunks) => Ok(None),
                Some(_) => Err(Failure::Usage(anyhow!("this --format is written to a folder: name it with --out DIR"))),
                None => Ok(None),
            };
        };
        if form.is_none() && self.format.is_some() {
            return Err(Failure::Usage(anyhow!(
                "--out takes --format jsonl, parquet, warc, wacz, wet, md or site; text, html and markdown go to \
                 standard output"
            )));
        }
        let form = form.unwrap_or(Form::Jsonl);
        self.corpus.check(form)?;
        let name = out.to_string_lossy();
        if name.contains("://") && !is_object(&name) {
            return Err(Failure::Usage(anyhow!(
                "--out {name}: no such kind of folder; s3://, gs://, az:// and file:// are"
            )));
        }
        if let Some(source) = self.pages.iter().find(|source| is_below(out, source)) {
            return Err(Failure::Usage(anyhow!("--out {name}: it is in the source {source}, whose files are read")));
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
            rights: self.corpus.rights(),
            duplicates: self.corpus.duplicates(),
            near_duplicates: self.corpus.near_duplicates(),
            paragraphs: self.corpus.paragraphs(),
            optional: self.corpus.optional(),
            pii: self.corpus.pii(),
            part_bytes: self.corpus.part_bytes(),
        };
        Ok(Some((out, options)))
    }

    /// Everything that the rows depend on beside the options: the sources, and how they are cleaned.
    fn asked(&self, sources: &[String], settings: &Settings) -> Result<String, Failure> {
        let about = |source: &str| Ok((source.to_owned(), size_of(source)?));
        let sources: Vec<(String, u64)> = sources.iter().map(|source| about(source)).collect::<Result<_, Failure>>()?;
        let like: Vec<(String, u64)> =
            self.like.iter().map(|like| about(&like.to_string_lossy())).collect::<Result<_, Failure>>()?;
        let named: Vec<String> = self.fields.iter().map(ToString::to_string).collect();
        let how =
            (&self.method, &self.site, self.alone, self.learn, &self.models, like, &self.collection, &self.pass, named);
        let core = &settings.core;
        let learned = format!("{:?} {:?} {:?}", core.learn, settings.papers, settings.agents());
        let cleaned = (&core.clean, &core.markdown, cleaning_number(core), &settings.store.noindex, learned);
        serde_json::to_string(&(sources, how, cleaned, &settings.store.path)).map_err(|e| Failure::Work(e.into()))
    }

    /// Writes the corpus. `pages` are the sources as they are opened.
    pub(super) fn write_corpus(
        &self,
        (out, options): (&Path, &CorpusOptions),
        (named, pages): (&[String], &[String]),
        by: impl FnOnce() -> Result<By, Failure>,
        run: &Run<'_>,
    ) -> Outcome {
        let began = Instant::now();
        let settings = run.settings;
        // Before anything is learned: a folder that cannot be used is told at once.
        let mut writer = CorpusWriter::open(out, options, &self.asked(named, settings)?, settings).map_err(failure)?;
        let by = &by()?;
        let is_remote = is_object(&out.to_string_lossy());
        let stop = StopFlag::listen(if is_remote { STOP_WITHIN_REMOTE } else { STOP_WITHIN })?;
        let sources: Vec<PathBuf> = pages.iter().map(PathBuf::from).collect();
        let bar = byte_bar(&sources, "cleaned");
        let (n_done, names_done, has_changed) = (writer.n_done(), writer.names_done(), AtomicBool::new(false));
        let read = |put: &mut dyn FnMut(anyhow::Result<FoundDocument>) -> bool| {
            let reading = Reading {
                all_pages: true,
                pass: &self.pass,
                named: &self.fields,
                tells_left_out: true,
                bar: bar.clone(),
                ..Reading::new(settings)
            };
            let mut found = reading.all(&sources);
            let done: Vec<u64> = found
                .by_ref()
                .take(n_done as usize)
                .scan(0, |digest, found| {
                    *digest = digest_with(*digest, &name_of(&found));
                    Some(*digest)
                })
                .collect();
            if done.len() as u64 != n_done || done.last().copied().unwrap_or(0) != names_done {
                has_changed.store(true, Ordering::Relaxed);
                return;
            }
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
            if let Some(failure) = read_failure() {
                return Err(End::Source(anyhow!(failure)));
            }
            let taken = match made {
                Made::Page(page) => writer.push(*page),
                Made::LeftOut(name, why) => writer.leave_out(&name, why, None),
                Made::Failed(error) if error.is::<SourceError>() => return Err(End::Source(error)),
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
        if has_changed.into_inner() {
            return Err(Failure::Usage(anyhow!(
                "{}: the sources have other documents than when this corpus was begun; name another folder",
                out.display()
            )));
        }
        let manifest = match ended {
            Err(End::Source(error)) => {
                let n_rows = writer.pause().map_err(failure)?.rows;
                return Err(Failure::Work(match n_rows {
                    0 => error,
                    n => anyhow!("{error:#}; {} rows are written, and the same command goes on", count(n as usize)),
                }));
            }
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
        let name = document_name(&found);
        if let Some(why) = found.left_out {
            return Ok(Made::LeftOut(name, why));
        }
        if !found.is_page {
            return Ok(Made::LeftOut(name, "text"));
        }
        if found.n_bytes() == 0 {
            return Ok(Made::LeftOut(name, "empty"));
        }
        let raw = options.form.holds_pages().then(|| {
            let (bytes, content_type) = found.bytes();
            (content_type.or_else(|| Some("text/html".to_owned())), bytes.to_vec())
        });
        let page = of_found(found, run.settings, agents);
        if leaves_out(&page, run.settings) {
            return Ok(Made::LeftOut(name, "noindex"));
        }
        warn_of_cuts(&page);
        let method = match by {
            By::Method(method, model) => Some((*method, model.as_ref())),
            _ => None,
        };
        let applied = applied(&page, &choose(&page, by)?, method, run.settings);
        let mut optional = options.optional;
        optional.html |= options.form == Form::Site;
        let mut record = row(&page, &applied, optional, self.corpus.pii(), run);
        // Forms other than tables find a page by its address.
        if page.url.is_none() && !matches!(options.form, Form::Jsonl | Form::Chunks | Form::Parquet) {
            record.set_text("url", &local_address(page.source.as_deref(), &page.name));
        }
        Ok(Made::Page(Box::new(CorpusPage::new(name, record, raw, options, run.settings))))
    }

    /// The exit code: documents that cannot be read are listed, and fail the command only above a share.
    fn verdict(&self, manifest: &Manifest) -> ExitCode {
        let unreadable: u64 = UNREADABLE.iter().filter_map(|why| manifest.left_out.get(*why)).sum();
        let n_documents = manifest.upto.max(1) as u64;
        if let Some(most) = self.fail_above.filter(|most| unreadable as f64 > most * n_documents as f64) {
            tracing::error!(
                "{} of {} documents cannot be read, more than --fail-above {most}; left-out-*.jsonl lists them",
                count(unreadable as usize),
                count(n_documents as usize)
            );
        } else if unreadable == n_documents {
            tracing::error!(
                "no document can be read; left-out-*.jsonl says why, and --fields names other fields than html"
            );
        } else {
            return ExitCode::SUCCESS;
        }
        ExitCode::from(exit::FAILED)
    }
}

/// The name of a document: its address, or how its source names it.
fn document_name(found: &FoundDocument) -> String {
    found.url.as_ref().map_or_else(|| found.name.clone(), |url| url.as_str().to_owned())
}

/// The same of one that could not be read: the first message of the error names it.
fn name_of(found: &anyhow::Result<FoundDocument>) -> String {
    found.as_ref().map_or_else(ToString::to_string, document_name)
}

/// An address for a page that has none, for forms that need one.
fn local_address(source: Option<&str>, name: &str) -> String {
    let source = source.filter(|source| *source != name).unwrap_or_default();
    let mut address = String::from("file://local");
    for part in [source, name].into_iter().filter(|part| !part.is_empty()) {
        address.push('/');
        for byte in part.trim_start_matches('/').bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => address.push(byte.into()),
                byte => address.push_str(&format!("%{byte:02X}")),
            }
        }
    }
    address
}

/// Whether a folder is a source, or in one.
fn is_below(folder: &Path, source: &str) -> bool {
    let name = folder.to_string_lossy();
    if is_object(&name) || is_object(source) {
        return source.ends_with('/') && format!("{}/", name.trim_end_matches('/')).starts_with(source);
    }
    let Ok(source) = Path::new(source).canonicalize() else { return false };
    let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let known = absolute.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?)));
    known.is_some_and(|(above, real)| {
        source.is_dir() && real.join(absolute.strip_prefix(above).unwrap_or(Path::new(""))).starts_with(source)
    })
}
