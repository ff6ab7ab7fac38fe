//! Ends processes of pages that need too much memory.
//!
//! The heap of scripts has a limit of its own (`--max-old-space-size`). Buffers and trees are outside of it: Linux tells
//! what a process has. Elsewhere the heap alone is bounded.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::process::Command;

use crate::process::Process;

/// How often the processes are looked at.
const PAUSE: Duration = Duration::from_millis(500);

/// Watches the processes of the pages as long as the browser runs.
pub(crate) fn watch(process: &Arc<Process>, limit: u64) {
    if !cfg!(target_os = "linux") {
        return;
    }
    let process = Arc::downgrade(process);
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(PAUSE).await;
            let Some(process) = process.upgrade() else { return };
            let Ok(found) = process.connection.call(None, "SystemInfo.getProcessInfo", json!({})).await else { return };
            for renderer in found["processInfo"].as_array().into_iter().flatten() {
                let Some(id) = renderer["id"].as_u64().filter(|_| renderer["type"] == "renderer") else { continue };
                if resident(id).is_some_and(|bytes| bytes > limit) {
                    tracing::warn!("a page needs more than {} MB (render.memory): it is given up", limit >> 20);
                    let _ = Command::new("kill").args(["-9", &id.to_string()]).status().await;
                }
            }
        }
    });
}

/// Bytes of memory that a process has, where Linux says it.
fn resident(id: u64) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes << 10)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn linux_says_what_a_process_has() {
        assert!(resident(u64::from(std::process::id())).is_some_and(|bytes| bytes > 1 << 20));
        assert_eq!(resident(0), None);
    }
}
