//! A program that labels the blocks of a page.

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};

use super::blocks::LabeledBlocks;

/// Bytes that a teacher may write.
const MOST_BYTES: u64 = 64 << 20;

/// A command that the shell runs once for each page.
pub(super) struct Teacher<'a> {
    pub(super) command: &'a str,
    pub(super) timeout: Duration,
}

impl Teacher<'_> {
    /// Writes a page on the command's input, and reads the labels from its output.
    pub(super) fn ask(&self, page: &LabeledBlocks) -> anyhow::Result<LabeledBlocks> {
        let at = || format!("--teacher {:?}: {}", self.command, page.url);
        let answer = self.answer(page).with_context(at)?;
        serde_json::from_slice(&answer).map_err(|e| anyhow!("{}: its answer is no page with blocks: {e}", at()))
    }

    fn answer(&self, page: &LabeledBlocks) -> anyhow::Result<Vec<u8>> {
        let mut child = self.spawn()?;
        let question = serde_json::to_vec(page)?;
        let (mut input, output) = (child.stdin.take(), child.stdout.take());
        // It may answer before it has read all, or not read at all: a broken pipe is no error.
        let asking = thread::spawn(move || input.as_mut().is_some_and(|input| input.write_all(&question).is_ok()));
        let (sender, answers) = channel();
        thread::spawn(move || {
            let mut answer = Vec::new();
            let read = output.map_or(Ok(0), |output| output.take(MOST_BYTES + 1).read_to_end(&mut answer));
            // Nobody listens after the timeout.
            let _ = sender.send(read.map(|_| answer));
        });
        let answer = match answers.recv_timeout(self.timeout) {
            Ok(answer) => answer?,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                end(&mut child);
                bail!("no answer within {} s; --timeout allows more", self.timeout.as_secs());
            }
        };
        if answer.len() as u64 > MOST_BYTES {
            end(&mut child);
            bail!("its answer is longer than {} MB", MOST_BYTES >> 20);
        }
        let status = child.wait()?;
        let _ = asking.join();
        if !status.success() {
            bail!("it failed: {status}");
        }
        Ok(answer)
    }

    fn spawn(&self) -> anyhow::Result<Child> {
        let (shell, option) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
        let mut command = Command::new(shell);
        command.args([option, self.command]).stdin(Stdio::piped()).stdout(Stdio::piped());
        command.spawn().with_context(|| format!("cannot start {shell}"))
    }
}

fn end(child: &mut Child) {
    // It may have ended by itself.
    let _ = child.kill();
    let _ = child.wait();
}
