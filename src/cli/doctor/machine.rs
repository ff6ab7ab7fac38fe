//! What a crawl finds on this machine: settings, database, disk, clock, limits, certificates.

use std::path::{Path, PathBuf};

use super::Check;
use crate::cli::table::{count, time};
use dehusk_crawl::fetch::Authorities;
use dehusk_settings::Settings;
use dehusk_store::{Store, StoreError, may_exist, shown, unix_ms};

/// Free space below which a crawl may fill the disk in one night.
const LITTLE_SPACE: u64 = 2 << 30;

pub(super) fn checks(settings: &Settings, settings_file: Option<&Path>) -> Vec<Check> {
    let mut checks = vec![program(), settings_check(settings_file), agent(settings)];
    checks.extend(database(settings));
    checks.extend([disk("disk", &folder_of(settings)), disk("temporary files", &std::env::temp_dir())]);
    checks.extend([open_files(settings), certificates(settings)]);
    checks.extend(owner(&folder_of(settings)));
    checks.extend(notices(settings));
    checks.extend(browser(settings));
    checks
}

/// Whether files that this user makes would be another's to use: a database that root makes in the folder of a service
/// user cannot be opened by the service.
#[cfg(unix)]
fn owner(folder: &Path) -> Option<Check> {
    use std::os::unix::fs::MetadataExt;
    // A file of one's own says who one is.
    let own = tempfile::tempfile_in(folder).ok()?.metadata().ok()?.uid();
    let of_folder = folder.metadata().ok()?.uid();
    (own == 0 && of_folder != 0).then(|| {
        let text = format!("this is root, and the folder of the database belongs to user {of_folder}");
        Check::problem("user", text, "run it as that user (sudo -u USER), or the database will not be theirs")
    })
}

#[cfg(not(unix))]
fn owner(_: &Path) -> Option<Check> {
    None
}

/// Whether the browser starts, where pages are to be rendered.
fn browser(settings: &Settings) -> Option<Check> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let checked = runtime.ok().filter(|_| settings.renders_any())?.block_on(dehusk_crawl::check_rendering(settings));
    Some(match checked {
        Ok(()) => Check::ok("browser", "it starts, and pages can be rendered"),
        Err(error) => Check::problem("browser", error.to_string(), "mend that, or set fetch.render = \"never\""),
    })
}

/// Whether reports can be sent, as far as that can be seen without sending one.
fn notices(settings: &Settings) -> Vec<Check> {
    let notify = &settings.notify;
    let mut checks = Vec::new();
    if !notify.mail.is_empty() && notify.smtp.is_empty() {
        let program = notify.sendmail.split_whitespace().next().unwrap_or_default();
        let paths = std::env::var_os("PATH").unwrap_or_default();
        let is_there =
            Path::new(program).is_file() || std::env::split_paths(&paths).any(|folder| folder.join(program).is_file());
        checks.push(if is_there {
            Check::ok("mail", format!("reports go by {program}"))
        } else {
            let next = "install a program that sends mail, or set notify.smtp";
            Check::problem("mail", format!("there is no program {program} (notify.sendmail)"), next)
        });
    }
    let folder = Path::new(&notify.atom).parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|folder| !notify.atom.is_empty() && !folder.is_dir()) {
        checks.push(Check::problem(
            "feed",
            format!("there is no folder {} (notify.atom)", folder.display()),
            "make it",
        ));
    }
    checks
}

fn program() -> Check {
    let features = [
        ("fasttext", cfg!(feature = "fasttext")),
        ("objects", cfg!(feature = "objects")),
        ("parquet", cfg!(feature = "parquet")),
        ("postgres", cfg!(feature = "postgres")),
        ("render", cfg!(feature = "render")),
        ("serve", cfg!(feature = "serve")),
        ("tokens", cfg!(feature = "tokens")),
    ];
    let named = |is_on| features.iter().filter(|of| of.1 == is_on).map(|of| of.0).collect::<Vec<_>>().join(", ");
    let without = match named(false) {
        names if names.is_empty() => String::new(),
        names => format!("; without {names}"),
    };
    Check::ok("program", format!("dehusk {} with {}{without}", env!("CARGO_PKG_VERSION"), named(true)))
}

fn settings_check(file: Option<&Path>) -> Check {
    match file {
        Some(file) => Check::ok("settings", format!("{} is read; all its keys are valid", file.display())),
        None => Check::note(
            "settings",
            "there is no crawl.toml in the current folder, so that all keys have their defaults",
            "`dehusk init` writes one",
        ),
    }
}

fn agent(settings: &Settings) -> Check {
    let agent = &settings.fetch.user_agent;
    let own = "set fetch.user_agent to your own name and an address: \"mybot/1.0 (+https://my.org/bot)\"";
    if settings.agent_without_a_name().is_some() {
        return Check::problem(
            "user agent",
            format!("`{agent}` names only browsers, so robots.txt files cannot name this crawler"),
            own,
        );
    }
    if *agent == Settings::default().fetch.user_agent {
        return Check::problem("user agent", "it is the default, which nobody can complain to", own);
    }
    if !agent.contains("http://") && !agent.contains("https://") && !agent.contains('@') {
        return Check::note("user agent", format!("`{agent}` has neither a URL nor a mail address"), own);
    }
    Check::ok("user agent", agent)
}

fn database(settings: &Settings) -> Vec<Check> {
    let place = &settings.store.path;
    if !may_exist(place) {
        let folder = Path::new(place).parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir());
        return vec![match folder {
            Some(folder) => Check::problem("database", format!("there is no folder {}", folder.display()), "make it"),
            None => Check::ok("database", format!("{} is not there yet; a crawl makes it", shown(place))),
        }];
    }
    let opened = Store::open(Path::new(place)).and_then(|store| {
        let n_sites: i64 = store.count_sites()?.iter().map(|(_, n)| n).sum();
        Ok((n_sites, store.list_runs(1)?.into_iter().next()))
    });
    let (n_sites, newest) = match opened {
        Ok(found) => found,
        Err(error) => {
            let next = "see that this user may read the file and its folder, or name another database with --db";
            return vec![Check::problem("database", error.to_string().replace("?immutable=1", ""), next)];
        }
    };
    let last = newest
        .as_ref()
        .map_or("no run".to_owned(), |run| format!("last run {} of {} UTC", run.id, time(run.started_at)));
    let text = format!("{}: {} sites, {last}", shown(place), count(n_sites.max(0) as usize));
    let is_unfinished =
        newest.as_ref().is_some_and(|run| run.ended_at.is_none() || run.outcome.as_deref() == Some("interrupted"));
    let mut checks = vec![match is_in_use(place) {
        Ok(false) if is_unfinished => {
            let next = "the same `dehusk crawl` goes on with it within crawl.resume_within; --new begins another";
            Check::note("database", format!("{text}, which is unfinished"), next)
        }
        Ok(false) => Check::ok("database", text),
        Ok(true) => {
            Check::note("database", format!("{text}; a crawl is at work on it"), "a second one has to wait for it")
        }
        Err(error) => Check::problem("database", error.to_string(), "a crawl needs to write it and its folder"),
    }];
    checks.extend(newest.map(|run| clock(run.started_at.max(run.ended_at.unwrap_or(0)))));
    checks
}

/// Whether a crawl holds the lock of a database. It is free again when this returns.
fn is_in_use(place: &str) -> Result<bool, StoreError> {
    match Store::open_to_edit(Path::new(place)).and_then(|store| store.lock()) {
        Ok(()) => Ok(false),
        Err(StoreError::Locked { .. }) => Ok(true),
        Err(error) => Err(error),
    }
}

/// Whether this machine's clock is behind the last thing that it wrote.
fn clock(last: i64) -> Check {
    let now = unix_ms();
    if last > now + 60_000 {
        let text = format!("it is {} UTC, and the last run was at {}", time(now), time(last));
        return Check::problem(
            "clock",
            text,
            "set the clock of this machine; pages that were visited later are due at once",
        );
    }
    Check::ok("clock", format!("it is {} UTC, after the last run", time(now)))
}

/// The folder that the database is in or will be in.
fn folder_of(settings: &Settings) -> PathBuf {
    let place = Path::new(&settings.store.path);
    let folder = place.parent().filter(|folder| !folder.as_os_str().is_empty() && folder.is_dir());
    folder.unwrap_or(Path::new(".")).to_owned()
}

fn disk(topic: &'static str, folder: &Path) -> Check {
    let shown = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    if let Err(error) = tempfile::tempfile_in(folder) {
        return Check::problem(topic, format!("{}: {error}", shown.display()), "a crawl needs to write there");
    }
    match fs4::available_space(folder) {
        Err(error) => Check::note(topic, format!("{}: {error}", shown.display()), "see that there is space"),
        Ok(free) => {
            let text = format!("{}: {:.1} GB are free", shown.display(), free as f64 / 1e9);
            if free < LITTLE_SPACE {
                Check::problem(topic, text, "make space, or set store.keep_bytes or crawl.max_bytes")
            } else {
                Check::ok(topic, text)
            }
        }
    }
}

fn open_files(settings: &Settings) -> Check {
    let wanted = crate::cli::crawl::wanted_files(settings);
    match rlimit::increase_nofile_limit(u64::MAX) {
        Ok(limit) if limit < wanted => Check::note(
            "open files",
            format!("at most {limit}, but {wanted} are recommended"),
            "raise the hard limit (ulimit -Hn, LimitNOFILE=), or lower fetch.in_flight and crawl.sites_at_once",
        ),
        Ok(limit) => Check::ok("open files", format!("at most {limit}; {wanted} are recommended")),
        Err(error) => Check::note("open files", format!("the limit cannot be raised: {error}"), "see ulimit -n"),
    }
}

fn certificates(settings: &Settings) -> Check {
    match Authorities::count(&settings.fetch) {
        Ok(Authorities { built_in, system, own }) => Check::ok(
            "certificates",
            format!(
                "authorities that are trusted: {built_in} built in, {system} of the system, {own} of fetch.ca_file"
            ),
        ),
        Err(error) => Check::problem("certificates", error.to_string(), "correct fetch.ca_file"),
    }
}
