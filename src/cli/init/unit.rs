//! Units of systemd for a folder, made of those in packaging/.

use std::path::Path;

/// The service that crawls in a folder, with this program and as this user.
pub(super) fn service(dir: &Path) -> String {
    let program = std::env::current_exe().unwrap_or_else(|_| "/usr/local/bin/dehusk".into());
    let user = user();
    let dir = escaped(dir);
    let head = "# The nightly crawl of this folder. See docs/nightly.md.\n";
    let lines = include_str!("../../../packaging/dehusk.service").lines().skip_while(|line| line.starts_with('#'));
    let of_folder = lines.filter(|line| !line.starts_with("OnFailure=")).map(|line| match line.split_once('=') {
        Some(("User", _)) => format!("User={user}\n"),
        // That of the user.
        Some(("Group", _)) => String::new(),
        Some(("WorkingDirectory", _)) => format!("WorkingDirectory={dir}\n"),
        Some(("ReadWritePaths", _)) => format!("ReadWritePaths={dir}\n"),
        // The folder and the program may be in a home.
        Some(("ProtectHome", _)) => "ProtectHome=read-only\n".to_owned(),
        Some(("ExecStart", command)) => {
            let (_, arguments) = command.split_once(' ').unwrap_or((command, "crawl"));
            format!("ExecStart={} {arguments}\n", escaped(&program))
        }
        _ => format!("{line}\n"),
    });
    std::iter::once(head.to_owned()).chain(of_folder).collect()
}

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
