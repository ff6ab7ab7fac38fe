//! The process of the browser: how it is found and started, and the proxy at which its own requests end.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::TcpListener;
use tokio::process::{Child, ChildStderr, Command};
use tokio::task::JoinHandle;

use crate::connection::Connection;
use crate::{BrowserOptions, RenderError};

/// Programs that are looked for where the settings name none.
const NAMES: [&str; 6] =
    ["chromium", "chromium-browser", "chrome-headless-shell", "google-chrome", "google-chrome-stable", "chrome"];

/// Names of the program outside of `PATH`.
const PLACES: [&str; 2] = [
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
];

/// Chromium speaks the DevTools protocol on files 3 and 4. A shell puts its input and output there.
const PIPES: &str = r#"exec "$@" 3<&0 4>&1 </dev/null >/dev/null"#;

/// What the browser does not do: nothing of its own in the background, nothing that reaches the network beside the
/// requests of pages, nothing that makes a page depend on the machine.
const FLAGS: [&str; 20] = [
    "--headless",
    "--remote-debugging-pipe",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-pings",
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-client-side-phishing-detection",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--mute-audio",
    "--lang=en-US",
    // Addresses of this machine pass the proxy, too.
    "--proxy-bypass-list=<-loopback>",
];

/// How long a browser may take to answer for the first time.
const START: Duration = Duration::from_secs(30);

/// How long its processes may take to end.
const END: Duration = Duration::from_secs(2);

/// Bytes of what the browser says on its way that are kept, for the message where it does not start.
const MOST_SAID: usize = 4096;

/// A browser that runs. It ends when this is dropped.
pub(crate) struct Process {
    pub(crate) connection: Arc<Connection>,
    child: Mutex<Child>,
    proxy: JoinHandle<()>,
    /// Its profile, which is removed with it.
    folder: TempDir,
}

impl Drop for Process {
    fn drop(&mut self) {
        self.proxy.abort();
        self.kill();
        self.remove_profile();
    }
}

impl Process {
    /// Starts the browser and waits until it answers.
    pub(crate) async fn start(options: &BrowserOptions) -> Result<Process, RenderError> {
        let program = find(&options.program)?;
        let wrong = |reason: String| RenderError::Start { program: program.display().to_string(), reason };
        let folder = tempfile::Builder::new().prefix("dehusk-browser").tempdir().map_err(|e| wrong(e.to_string()))?;
        let (proxy, port) = dead_proxy().await.map_err(|e| wrong(e.to_string()))?;
        let mut command = Command::new("/bin/sh");
        command.args(["-c", PIPES, "sh"]).arg(&program).args(FLAGS);
        command.arg(format!("--proxy-server=http://127.0.0.1:{port}"));
        command.arg(format!("--user-data-dir={}", folder.path().display()));
        command.arg(format!("--js-flags=--max-old-space-size={}", (options.memory >> 20).max(64)));
        if !options.sandbox {
            command.arg("--no-sandbox");
        }
        // What it leaves behind when it is ended goes with its profile.
        command.arg("about:blank").env("HOME", folder.path()).env("TMPDIR", folder.path());
        command.env_remove("DBUS_SESSION_BUS_ADDRESS");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        #[cfg(unix)]
        // An interrupt from the keyboard is for the crawl, which ends the browser itself.
        command.process_group(0);
        let mut child = command.spawn().map_err(|e| wrong(e.to_string()))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(wrong("it has no pipes".to_owned()));
        };
        let said = child.stderr.take().map(listen);
        let connection = Connection::start(output, input);
        let process = Process { connection, child: Mutex::new(child), proxy, folder };
        let version = process.connection.call(None, "Browser.getVersion", serde_json::json!({}));
        match tokio::time::timeout(START, version).await {
            Ok(Ok(version)) => {
                tracing::debug!("{} runs", version["product"].as_str().unwrap_or("the browser"));
                Ok(process)
            }
            Ok(Err(_)) => Err(wrong(reason_of(said).await)),
            Err(_) => Err(wrong(format!("no answer within {} s", START.as_secs()))),
        }
    }

    /// Ends the browser and all of its pages at once.
    pub(crate) fn kill(&self) {
        let _ = self.child.lock().unwrap_or_else(PoisonError::into_inner).start_kill();
    }

    /// Removes the profile of a browser that was ended.
    ///
    /// Its processes end one after the other, and may write until then: it is tried again, for a moment.
    fn remove_profile(&self) {
        let until = Instant::now() + END;
        while Instant::now() < until {
            let ended = self.child.lock().unwrap_or_else(PoisonError::into_inner).try_wait();
            if !matches!(ended, Ok(None)) {
                match std::fs::remove_dir_all(self.folder.path()) {
                    Ok(()) => return,
                    Err(e) if e.kind() == ErrorKind::NotFound => return,
                    Err(_) => {}
                }
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        tracing::warn!("the folder {} of the browser cannot be removed", self.folder.path().display());
    }
}

/// The program: the one that the settings name, or the first of those that are usual.
fn find(named: &str) -> Result<PathBuf, RenderError> {
    if !named.is_empty() {
        return Ok(PathBuf::from(named));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let in_path = NAMES.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    let found = in_path.chain(PLACES.iter().map(PathBuf::from)).find(|file| Path::is_file(file));
    found.ok_or_else(|| RenderError::Start {
        program: NAMES[0].to_owned(),
        reason: "no Chromium was found; install it, or name the program (render.browser)".to_owned(),
    })
}

/// A proxy that accepts no request: what the browser sends beside the requests of pages ends here.
async fn dead_proxy() -> std::io::Result<(JoinHandle<()>, u16)> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let port = listener.local_addr()?.port();
    let proxy = tokio::spawn(async move {
        while let Ok((connection, _)) = listener.accept().await {
            drop(connection);
        }
    });
    Ok((proxy, port))
}

/// Reads what the browser says, so that its pipe does not fill. Gives the lines of its beginning.
fn listen(said: ChildStderr) -> JoinHandle<String> {
    tokio::spawn(async move {
        let (mut lines, mut kept) = (BufReader::new(said).split(b'\n'), String::new());
        while let Ok(Some(line)) = lines.next_segment().await {
            if kept.len() < MOST_SAID {
                kept.push_str(&String::from_utf8_lossy(&line));
                kept.push('\n');
            }
        }
        kept
    })
}

/// Why a browser has ended before it answered, as it says itself.
async fn reason_of(said: Option<JoinHandle<String>>) -> String {
    let said = match said {
        Some(said) => said.await.unwrap_or_default(),
        None => String::new(),
    };
    if said.contains("no-sandbox") || said.contains("sandbox") {
        return "its sandbox does not work here (as root, or without user namespaces); run the crawl as another user, \
                or set render.sandbox = false where the machine is a sandbox itself"
            .to_owned();
    }
    let last = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it ended at once");
    last.chars().take(300).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn start(program: &str) -> String {
        let options = BrowserOptions { program: program.to_owned(), ..BrowserOptions::default() };
        Process::start(&options).await.err().map(|e| e.to_string()).unwrap_or_default()
    }

    #[tokio::test]
    async fn a_program_that_is_no_browser_is_named_with_what_it_says() {
        let missing = start("/nowhere/chromium").await;
        assert!(
            missing.contains("`/nowhere/chromium` cannot be started") && missing.contains("not found"),
            "{missing}"
        );
        let ended = start("/bin/true").await;
        assert!(ended.ends_with("it ended at once"), "{ended}");
    }
}
