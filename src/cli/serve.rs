//! `dehusk serve` and `dehusk open`: the inspector in a browser.

use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, anyhow};

use super::index::index_file;
use super::names::find_page;
use super::signals::Signals;
use super::{Failure, Outcome, open_store, runtime};
use crate::serve::{Access, Files, serve};
use dehusk_settings::Settings;

/// Show runs, sites and pages of the database in a browser. It only reads, beside a running crawl too.
///
/// It answers on this machine only. Another address needs a token, which is part of the address that is printed.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  dehusk serve
  dehusk serve --db dehusk-demo/dehusk.db
  dehusk serve --listen 0.0.0.0:7777 --name crawl.example.org
  curl http://127.0.0.1:7777/api/runs
  dehusk serve --api
  curl --data-binary @page.html 'http://127.0.0.1:7777/v1/clean?url=https://docs.example.org/a'

Pages: runs, sites, a site, a page (keys 1 to 4 for its views, j and k for the next one and the one before). The API is \
described at /api/openapi.json; /metrics and /healthz are for monitoring. Crawled pages are shown without their scripts, \
and nothing is asked of their sites.")]
pub(super) struct Serve {
    /// Address and port.
    #[arg(long, default_value = "127.0.0.1:7777", value_name = "ADDRESS:PORT")]
    listen: SocketAddr,
    /// Also answer programs at /v1: clean pages that they send, and pages that they name, which are fetched politely.
    #[arg(long)]
    api: bool,
    /// The file of the search index [default: beside the database, with .search added].
    #[arg(long, value_name = "FILE")]
    index: Option<PathBuf>,
    /// The file in which labels by click are saved [default: beside the database, with .gold.jsonl added].
    #[arg(long, value_name = "FILE")]
    gold: Option<PathBuf>,
    /// A name under which browsers may call it, beside its address.
    #[arg(long, value_name = "NAME")]
    name: Vec<String>,
    /// The token of any address that is not of this machine alone [default: a new one].
    #[arg(long, env = "DEHUSK_TOKEN", hide_env_values = true, value_name = "TOKEN")]
    token: Option<String>,
}

/// Print the address of a stored page in the inspector.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  dehusk open docs.example.org/a.html
  xdg-open \"$(dehusk open docs.example.org/a.html)\"")]
pub(super) struct Open {
    /// URL, as `pages list` prints it.
    url: String,
    /// Address of the inspector.
    #[arg(long, default_value = "127.0.0.1:7777", value_name = "ADDRESS:PORT")]
    at: SocketAddr,
}

impl Serve {
    pub(super) fn run(&self, settings: &Settings) -> Outcome {
        // A missing database is said at once, and not to the first browser.
        drop(open_store(settings)?);
        let token = self.token()?;
        let runtime = runtime(dehusk_corpus::pipeline::cores())?;
        let ended = runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind(self.listen).await;
            let listener = listener.with_context(|| self.not_free()).map_err(Failure::Work)?;
            let address = listener.local_addr().context("no address").map_err(Failure::Work)?;
            let shown = token.as_ref().map_or_else(String::new, |token| format!("?token={token}"));
            writeln!(std::io::stdout(), "http://{address}/{shown}")?;
            tracing::info!("the inspector of {}; Ctrl-C ends it", dehusk_store::shown(&settings.store.path));
            let access = Access { address, names: self.name.clone(), token: token.clone() };
            serve(listener, access, settings.clone(), self.files(settings), async { Signals::listen().next().await })
                .await
                .map_err(|e| Failure::Work(e.into()))
        });
        // Views that are being made are not waited for.
        runtime.shutdown_background();
        ended.map(|()| ExitCode::SUCCESS)
    }

    fn files(&self, settings: &Settings) -> Files {
        let store = &settings.store.path;
        let beside = || (!store.contains("://")).then(|| PathBuf::from(format!("{store}.gold.jsonl")));
        Files {
            index: index_file(self.index.as_deref(), settings),
            gold: self.gold.clone().or_else(beside),
            for_programs: self.api,
        }
    }

    /// The token; none for an address that only this machine reaches.
    fn token(&self) -> Result<Option<String>, Failure> {
        match &self.token {
            Some(token) if token.len() < 16 || !token.bytes().all(|c| c.is_ascii_alphanumeric()) => {
                Err(Failure::Usage(anyhow!("--token: at least 16 letters and digits are needed")))
            }
            Some(token) => Ok(Some(token.clone())),
            None if self.listen.ip().is_loopback() => Ok(None),
            None => new_token().map(Some),
        }
    }

    fn not_free(&self) -> String {
        let port = self.listen.port();
        format!(
            "--listen {}: it may be in use; try --listen {}:{}",
            self.listen,
            self.listen.ip(),
            port.wrapping_add(1)
        )
    }
}

/// 128 random bits of the system, as hexadecimal digits.
fn new_token() -> Result<String, Failure> {
    let mut bits = [0_u8; 16];
    let filled = getrandom::fill(&mut bits).map_err(anyhow::Error::msg);
    filled.context("no random numbers; name a token with --token").map_err(Failure::Work)?;
    Ok(bits.iter().map(|byte| format!("{byte:02x}")).collect())
}

impl Open {
    pub(super) fn run(&self, settings: &Settings) -> Outcome {
        let page = find_page(&open_store(settings)?, &self.url)?;
        let query = url::form_urlencoded::Serializer::new(String::new()).append_pair("url", &page.url).finish();
        writeln!(std::io::stdout(), "http://{}/page?{query}", self.at)?;
        Ok(ExitCode::SUCCESS)
    }
}
