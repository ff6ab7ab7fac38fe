//! Units of systemd for a folder, made of those in packaging/.

use std::path::Path;

/// The service that crawls in a folder, with this program and as this user.
pub(super) fn service(dir: &Path) -> String {
    let head = "# The nightly crawl of this folder. See docs/nightly.md.\n";
    head.to_owned() + &of_folder(include_str!("../../../packaging/dehusk.service"), dir)
}

/// The service that mails this user why the other one has failed.
pub(super) fn failed(dir: &Path) -> String {
    let unit = include_str!("../../../packaging/dehusk-failed@.service");
    let to_user = format!("has failed\" {}'", user());
    let head = "# Mails why a night of this folder has failed. See docs/nightly.md.\n";
    head.to_owned() + &of_folder(unit, dir).replace("has failed\" root'", &to_user)
}

/// A unit of packaging/ for a folder, without the comment that it begins with.
fn of_folder(unit: &str, dir: &Path) -> String {
    let program = escaped(&std::env::current_exe().unwrap_or_else(|_| PROGRAM.into()));
    // No quotes are read there, and none are needed.
    let working = dir.display().to_string().replace('%', "%%");
    let (user, dir) = (user(), escaped(dir));
    let lines = unit.lines().skip_while(|line| line.starts_with('#')).map(|line| match line.split_once('=') {
        Some(("User", _)) => format!("User={user}\n"),
        // That of the user.
        Some(("Group", _)) => String::new(),
        Some(("WorkingDirectory", _)) => format!("WorkingDirectory={working}\n"),
        Some(("ReadWritePaths", _)) => format!("ReadWritePaths={dir}\n"),
        // The folder and the program may be in a home.
        Some(("ProtectHome", _)) => "ProtectHome=read-only\n".to_owned(),
        _ => format!("{}\n", line.replace(PROGRAM, &program)),
    });
    lines.collect()
}

/// Where the units of packaging/ have the program.
const PROGRAM: &str = "/usr/local/bin/dehusk";

/// Who runs this program, and the service.
pub(super) fn user() -> String {
    std::env::var("USER").or_else(|_| std::env::var("LOGNAME")).unwrap_or_else(|_| "root".to_owned())
}

/// The timer that starts it each night.
pub(super) fn timer(at: &str) -> String {
    let lines = include_str!("../../../packaging/dehusk.timer").lines();
    let at_time = lines.map(|line| match line.split_once('=') {
        Some(("OnCalendar", _)) => format!("OnCalendar=*-*-* {at}:00\n"),
        _ => format!("{line}\n"),
    });
    at_time.collect()
}

/// A path as systemd reads it: `%` begins a specifier, blanks end a word.
fn escaped(path: &Path) -> String {
    let text = path.display().to_string().replace('\\', "\\\\").replace('%', "%%");
    if text.contains(|c: char| c.is_whitespace() || c == '"') {
        format!("\"{}\"", text.replace('"', "\\\""))
    } else {
        text
    }
}
