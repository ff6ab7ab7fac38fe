//! A command of the user that the shell runs, with bytes on its input and a limit of time.

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use anyhow::{Context, bail};

/// Bytes that a command may write.
const MOST_BYTES: u64 = 64 << 20;

/// A command.
pub(super) struct ShellCommand<'a> {
    pub(super) command: &'a str,
    pub(super) timeout: Duration,
    /// Variables of its environment.
    pub(super) variables: Vec<(&'static str, String)>,
}

impl ShellCommand<'_> {
    /// Runs the command with these bytes on its input. Returns what it writes.
    pub(super) fn answer(&self, input: Vec<u8>) -> anyhow::Result<Vec<u8>> {
        let mut child = self.spawn()?;
        let (mut stdin, output) = (child.stdin.take(), child.stdout.take());
        // It may answer before it has read all, or not read at all: a broken pipe is no error.
        let writing = thread::spawn(move || stdin.as_mut().is_some_and(|stdin| stdin.write_all(&input).is_ok()));
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
                bail!("no answer within {} s", self.timeout.as_secs());
            }
        };
        if answer.len() as u64 > MOST_BYTES {
            end(&mut child);
            bail!("its answer is longer than {} MB", MOST_BYTES >> 20);
        }
        let status = child.wait()?;
        let _ = writing.join();
        if !status.success() {
            bail!("it failed: {status}");
        }
        Ok(answer)
    }

    fn spawn(&self) -> anyhow::Result<Child> {
        let (shell, option) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
        let mut command = Command::new(shell);
        command.args([option, self.command]).stdin(Stdio::piped()).stdout(Stdio::piped());
        command.envs(self.variables.iter().map(|(name, value)| (*name, value)));
        command.spawn().with_context(|| format!("cannot start {shell}"))
    }
}

fn end(child: &mut Child) {
    // It may have ended by itself.
    let _ = child.kill();
    let _ = child.wait();
}
