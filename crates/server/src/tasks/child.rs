//! Runs a verb as a child process: events on stderr line by line, the document on stdout. A hanging card blocks only its own
//! process, counters that exist once a process are those of one card, and if the server dies, the verb notices the closed
//! pipe, restores the card and ends.

use cardscope_model::progress::ProgressEvent;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Result};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Limit of a line of events in bytes; longer ones are cut.
const MAX_LINE_BYTES: u64 = 1 << 20;

/// Limit of a document in bytes, some hundred times the largest known.
const MAX_DOCUMENT_BYTES: u64 = 1 << 30;

/// Exit status and document of an ended child.
#[derive(Debug, Clone, Default)]
pub(super) struct ChildEnd {
    /// `None` if a signal ended it.
    pub(super) status: Option<i32>,
    /// Null if it printed none.
    pub(super) document: Value,
}

pub(super) struct RunningChild(Child);

/// Sends SIGINT, as Ctrl-C does.
pub(super) fn send_interrupt(pid: u32) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    // Fails if it has already ended.
    let _ = pid.map(|pid| kill_process(pid, Signal::INT));
}

impl RunningChild {
    pub(super) fn start(program: &Path, arguments: &[OsString], archive: Option<&Path>) -> Result<Self> {
        let mut command = Command::new(program);
        // Ctrl-C at the server's terminal must reach the server alone, which forwards it once: a second signal would end the
        // verb before it has restored the card.
        command.process_group(0);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(archive) = archive {
            command.env("CARDSCOPE_ARCHIVE", archive);
        }
        command.spawn().map(RunningChild)
    }

    pub(super) fn pid(&self) -> u32 {
        self.0.id()
    }

    /// Reads events until the process ends.
    pub(super) fn read_events(mut self, mut handle: impl FnMut(ProgressEvent)) -> ChildEnd {
        let document = self.0.stdout.take().map(|stdout| std::thread::spawn(move || read_document(stdout)));
        if let Some(stderr) = self.0.stderr.take() {
            let mut stderr = BufReader::new(stderr);
            while let Some(line) = next_line(&mut stderr) {
                // A line that is not an event comes from a tool that the verb runs, or is its final error.
                let note = |_| ProgressEvent::Note { text: line.clone() };
                handle(serde_json::from_str(&line).unwrap_or_else(note));
            }
        }
        let status = self.0.wait().ok().and_then(|status| status.code());
        let document = document.and_then(|thread| thread.join().ok()).unwrap_or_default();
        ChildEnd { status, document }
    }
}

fn read_document(stdout: impl Read) -> Value {
    let mut text = Vec::new();
    let _ = stdout.take(MAX_DOCUMENT_BYTES).read_to_end(&mut text);
    serde_json::from_slice(&text).unwrap_or_default()
}

fn next_line(from: &mut impl BufRead) -> Option<String> {
    loop {
        let mut bytes = Vec::new();
        match from.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut bytes) {
            Ok(0) | Err(_) => return None,
            Ok(_) => {}
        }
        let line = String::from_utf8_lossy(&bytes).trim().to_owned();
        if !line.is_empty() {
            return Some(line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start_shell(script: &str) -> RunningChild {
        RunningChild::start(Path::new("/bin/sh"), &["-c".into(), script.into()], None).unwrap()
    }

    fn shell(script: &str) -> ChildEnd {
        start_shell(script).read_events(|_| {})
    }

    #[test]
    fn events_arrive_in_order_with_document_at_end() {
        let script =
            r#"echo '{"event":"note","text":"a"}' >&2; echo plain >&2; printf '{"answer":"x"}'; exit 3"#;
        let mut heard = Vec::new();
        let ended = start_shell(script).read_events(|event| heard.push(event));
        let note = |text: &str| ProgressEvent::Note { text: text.to_owned() };
        assert_eq!(heard, [note("a"), note("plain")]);
        assert_eq!((ended.status, ended.document["answer"].as_str()), (Some(3), Some("x")));
    }

    #[test]
    fn invalid_output_and_kill_give_no_document() {
        assert_eq!(shell("echo '{{{'").document, Value::Null);
        assert_eq!(shell("kill -9 $$").status, None);
    }
}
