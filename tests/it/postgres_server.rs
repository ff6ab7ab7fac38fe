//! A PostgreSQL server for tests, in a folder of its own and on a free port. It ends with the test program.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// A server that runs.
pub(crate) struct PostgresServer {
    programs: PathBuf,
    dir: PathBuf,
    port: u16,
    guard: Option<Child>,
}

/// Waits for the end of the test program, whatever ends it, then ends the server and deletes its folder.
const GUARD: &str =
    r#"trap '' INT TERM; read -r _; kill -QUIT "$(head -n 1 data/postmaster.pid)"; sleep 0.3; rm -rf "$1""#;

/// The server of this test program, which all its tests share. Without PostgreSQL the tests on it are skipped, unless
/// `POSTGRES=1` asks for them.
pub(crate) fn postgres_server() -> Option<&'static PostgresServer> {
    static SERVER: OnceLock<Option<PostgresServer>> = OnceLock::new();
    SERVER.get_or_init(PostgresServer::start).as_ref()
}

impl PostgresServer {
    /// Starts a server.
    pub(crate) fn start() -> Option<PostgresServer> {
        let is_wanted = std::env::var("POSTGRES").is_ok_and(|wanted| wanted == "1");
        let found = programs().and_then(|programs| PostgresServer::start_with(programs, is_wanted));
        if found.is_none() {
            assert!(
                !is_wanted,
                "POSTGRES=1, but there is no PostgreSQL that can be started (initdb, postgres; for root setpriv and a user postgres)"
            );
            eprintln!("skipped: no PostgreSQL to test on (initdb, postgres; for root setpriv and a user postgres)");
        }
        found
    }

    fn start_with(programs: PathBuf, is_wanted: bool) -> Option<PostgresServer> {
        let dir = tempfile::Builder::new().prefix("dehusk-postgres").tempdir().ok()?.keep();
        if is_root() {
            let owned = Command::new("chown").args(["postgres:postgres"]).arg(&dir).status();
            owned.ok().filter(|status| status.success())?;
        }
        let log = |output: std::process::Output| {
            if is_wanted {
                eprintln!("{}", String::from_utf8_lossy(&output.stderr));
            }
        };
        let made = as_user(&programs.join("initdb"))
            .args(["-D", "data", "-A", "trust", "-U", "dehusk", "-E", "UTF8", "--no-locale", "--no-sync"])
            .current_dir(&dir)
            .output()
            .ok()?;
        if !made.status.success() {
            log(made);
            return None;
        }
        let port = std::net::TcpListener::bind("127.0.0.1:0").ok()?.local_addr().ok()?.port();
        let mut guard = Command::new("sh");
        guard.args(["-c", GUARD, "guard"]).arg(&dir).current_dir(&dir);
        let guard = guard.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()?;
        let server = PostgresServer { programs, dir, port, guard: Some(guard) };
        server.run()?;
        Some(server)
    }

    /// Runs the server of the folder.
    fn run(&self) -> Option<()> {
        let mut command = as_user(&self.programs.join("postgres"));
        command.current_dir(&self.dir).stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(std::fs::File::create(self.dir.join("server.log")).ok()?);
        command.args(["-D", "data", "-k", "", "-h", "127.0.0.1", "-p", &self.port.to_string()]);
        // Nothing of it outlives the tests, so the disk need not keep up.
        command.args(["-c", "fsync=off", "-c", "max_connections=60", "-c", "shared_buffers=64MB"]);
        let mut child = command.spawn().ok()?;
        std::thread::spawn(move || child.wait());
        let until = Instant::now() + Duration::from_secs(30);
        while !self.answers() {
            if Instant::now() > until {
                return None;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Some(())
    }

    fn answers(&self) -> bool {
        let ready = Command::new(self.programs.join("pg_isready"))
            .args(["-q", "-h", "127.0.0.1", "-p", &self.port.to_string()])
            .status();
        ready.is_ok_and(|status| status.success())
    }

    /// Its port on the loopback interface.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Ends the server at once and starts it again.
    pub(crate) fn restart(&self) {
        let pid = std::fs::read_to_string(self.dir.join("data/postmaster.pid")).unwrap();
        let pid = pid.lines().next().unwrap().to_owned();
        let stopped = Command::new("kill").args(["-QUIT", &pid]).status().unwrap();
        assert!(stopped.success());
        while Path::new("/proc").join(&pid).exists() {
            std::thread::sleep(Duration::from_millis(20));
        }
        self.run().unwrap();
    }

    /// Makes a database and returns its address.
    pub(crate) fn database(&self) -> String {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let name = format!("test_{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        self.sql("postgres", &format!("CREATE DATABASE {name}"));
        format!("postgres://dehusk@127.0.0.1:{}/{name}", self.port)
    }

    /// Runs a statement in a database. Returns its rows, values apart by `|`.
    pub(crate) fn sql(&self, database: &str, sql: &str) -> String {
        let output = Command::new(self.programs.join("psql"))
            .args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-U", "dehusk", "-h", "127.0.0.1"])
            .args(["-p", &self.port.to_string(), "-d", database, "-c", sql])
            .output()
            .unwrap();
        assert!(output.status.success(), "{sql}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        if let Some(mut guard) = self.guard.take() {
            drop(guard.stdin.take());
            let _ = guard.wait();
        }
    }
}

/// The folder of the server's programs: that of the path, or the newest of Debian.
fn programs() -> Option<PathBuf> {
    let debian = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut places: Vec<PathBuf> = debian.map(|version| version.path().join("bin")).collect();
    places.sort();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut all: Vec<PathBuf> = std::env::split_paths(&path).collect();
    all.splice(0..0, places.into_iter().rev());
    let has = |dir: &PathBuf| ["initdb", "postgres", "pg_isready", "psql"].iter().all(|name| dir.join(name).is_file());
    all.into_iter().find(has)
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|own| {
        use std::os::unix::fs::MetadataExt;
        own.uid() == 0
    })
}

/// A program of the server, which refuses to run as root.
fn as_user(program: &Path) -> Command {
    if !is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]).arg(program);
    command
}
