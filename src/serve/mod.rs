//! The inspector: what a database holds, in a browser.
//!
//! It only reads the store, beside a running crawl too; labels by users are in a file of their own (`gold.rs`). Each
//! view is a module: it loads what it shows (`load`), which the API gives as JSON, and renders it (`render`).
//! `guard.rs` decides which requests are answered, `readers.rs` has the connections. Crawled pages are untrusted:
//! `frame.rs` serves them alone, in a document without scripts and requests.

mod api;
mod chart;
mod connections;
mod ended_runs;
mod design;
mod frame;
mod gold;
mod guard;
mod in_force;
mod label;
mod layout;
mod mcp;
mod memento;
mod near;
mod page;
mod page_text;
mod programs;
mod readers;
mod refusal;
mod routes;
mod runs;
mod search;
mod site;
mod sites;
mod try_it;
mod view;
mod words;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::{Semaphore, watch};

use dehusk_crawl::fetch::ClientError;
use dehusk_settings::Settings;
use ended_runs::EndedRuns;
use gold::GoldFile;
pub use mcp::serve_assistant;
use programs::Programs;
use readers::Readers;
use refusal::Refusal;

/// Where the inspector listens, and who may ask it.
#[derive(Clone, Debug)]
pub struct Access {
    /// The address.
    pub address: SocketAddr,
    /// Names under which it may be called, beside the address and `localhost`.
    pub names: Vec<String>,
    /// What a browser must show once, unless the address is one of this machine alone.
    pub token: Option<String>,
}

/// Why nobody is answered.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The HTTP client cannot be made.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The session with an assistant has failed.
    #[error("the session: {0}")]
    Session(String),
}

/// What all requests share.
struct Inspector {
    readers: Readers,
    settings: Settings,
    access: Access,
    /// The search index, if the store has one.
    index_file: Option<PathBuf>,
    /// Runs that were read.
    ended: EndedRuns,
    /// The pages that a user has labeled.
    gold: GoldFile,
    /// Views that may be loaded at once: each takes a connection and a page.
    places: Arc<Semaphore>,
    /// What programs ask for, if they may.
    programs: Option<Arc<Programs>>,
    /// Whether the program ends. A live run is watched until then.
    ending: watch::Receiver<bool>,
}

impl Inspector {
    fn new(
        access: Access,
        settings: Settings,
        files: Files,
        ending: watch::Receiver<bool>,
    ) -> Result<Inspector, ServeError> {
        let programs = if files.for_programs { Some(Arc::new(Programs::new(&settings)?)) } else { None };
        Ok(Inspector {
            readers: Readers::new(PathBuf::from(&settings.store.path)),
            settings,
            access,
            index_file: files.index,
            ended: EndedRuns::default(),
            gold: GoldFile::at(files.gold),
            places: Arc::new(Semaphore::new(MOST_AT_ONCE)),
            programs,
            ending,
        })
    }

    /// One that listens at no address.
    fn alone(settings: Settings, files: Files) -> Result<Arc<Inspector>, ServeError> {
        let access = Access { address: ([127, 0, 0, 1], 0).into(), names: Vec::new(), token: None };
        let (_, ending) = watch::channel(false);
        Ok(Arc::new(Inspector::new(access, settings, Files { for_programs: true, ..files }, ending)?))
    }
}

/// Views that are loaded at once.
const MOST_AT_ONCE: usize = 8;

/// Files beside the store, and what else is served.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// The search index, which may come later.
    pub index: Option<PathBuf>,
    /// Where labels are saved.
    pub gold: Option<PathBuf>,
    /// Whether `/v1` is answered: pages are cleaned and fetched for programs.
    pub for_programs: bool,
}

/// Answers requests until the future `stop` ends.
pub async fn serve(
    listener: tokio::net::TcpListener,
    access: Access,
    settings: Settings,
    files: Files,
    stop: impl Future<Output = ()> + Send + 'static,
) -> Result<(), ServeError> {
    let (end, ending) = watch::channel(false);
    let stopped = async move {
        stop.await;
        // Nobody listens any more where no run is watched.
        let _ = end.send(true);
    };
    let inspector = Arc::new(Inspector::new(access, settings, files, ending)?);
    // The first browser does not wait for the counts of all nights.
    let warmed = Arc::clone(&inspector);
    tokio::task::spawn_blocking(move || drop(warmed.readers.with(|store| runs::Runs::load(&warmed, store))));
    connections::accept(listener, routes::routes(inspector), stopped).await;
    Ok(())
}
