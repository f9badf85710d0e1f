//! A verb in a process of its own: its events come line by line, its document at the end. A card that hangs takes its process
//! with it and nothing else; speed and waits, which a process counts as a whole, are those of one card; and where the server
//! dies, the verb finds its reader gone, puts the card's data back and ends.

use cardscope_model::progress::ProgressEvent;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Longest line of events that is read; a longer one is cut.
const LONGEST_LINE: u64 = 1 << 20;

/// Longest document that is read: some hundred times the largest there is.
const LONGEST_DOCUMENT: u64 = 1 << 30;

/// What is started.
#[derive(Debug, Clone)]
pub(super) struct ChildLaunch<'a> {
    pub(super) program: &'a Path,
    pub(super) arguments: Vec<OsString>,
    pub(super) archive: Option<&'a Path>,
}

/// What it came to.
#[derive(Debug, Clone, Default)]
pub(super) struct ChildEnd {
    /// Its exit status; `None` where a signal ended it.
    pub(super) status: Option<i32>,
    /// Its document, where it printed one.
    pub(super) document: Value,
}

/// A process that runs.
pub(super) struct RunningChild(Child);

impl ChildLaunch<'_> {
    pub(super) fn start(&self) -> std::io::Result<RunningChild> {
        let mut command = Command::new(self.program);
        // Ctrl-C at the server's terminal reaches the server alone, which asks once: a second signal would end the verb before
        // the card's data are back.
        command.process_group(0);
        command.args(&self.arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(archive) = self.archive {
            command.env("CARDSCOPE_ARCHIVE", archive);
        }
        Ok(RunningChild(command.spawn()?))
    }
}

/// Asks a process to end: as Ctrl-C at a terminal does.
pub(super) fn interrupt(pid: u32) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    // It may have ended by itself.
    let _ = pid.map(|pid| kill_process(pid, Signal::INT));
}

impl RunningChild {
    pub(super) fn pid(&self) -> u32 {
        self.0.id()
    }

    /// Hears it to its end.
    pub(super) fn hear(mut self, mut told: impl FnMut(ProgressEvent)) -> ChildEnd {
        let document = self.0.stdout.take().map(|stdout| std::thread::spawn(move || document(stdout)));
        if let Some(stderr) = self.0.stderr.take() {
            let mut stderr = BufReader::new(stderr);
            while let Some(line) = line(&mut stderr) {
                // What is no event was said by whatever the verb started, or is its last word.
                let note = |_| ProgressEvent::Note { text: line.clone() };
                told(serde_json::from_str(&line).unwrap_or_else(note));
            }
        }
        let status = self.0.wait().ok().and_then(|status| status.code());
        let document = document.and_then(|thread| thread.join().ok()).unwrap_or_default();
        ChildEnd { status, document }
    }
}

fn document(stdout: impl Read) -> Value {
    let mut text = Vec::new();
    let _ = stdout.take(LONGEST_DOCUMENT).read_to_end(&mut text);
    serde_json::from_slice(&text).unwrap_or_default()
}

/// The next line that says something.
fn line(from: &mut impl BufRead) -> Option<String> {
    loop {
        let mut bytes = Vec::new();
        match from.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut bytes) {
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

    fn shell(script: &str) -> ChildEnd {
        let arguments = vec!["-c".into(), script.into()];
        let launch = ChildLaunch { program: Path::new("/bin/sh"), arguments, archive: None };
        launch.start().unwrap().hear(|_| {})
    }

    #[test]
    fn events_and_words_are_heard_in_order_and_the_document_at_the_end() {
        let script =
            r#"echo '{"event":"note","text":"a"}' >&2; echo plain >&2; printf '{"answer":"x"}'; exit 3"#;
        let arguments = vec!["-c".into(), script.into()];
        let launch = ChildLaunch { program: Path::new("/bin/sh"), arguments, archive: None };
        let mut heard = Vec::new();
        let ended = launch.start().unwrap().hear(|told| heard.push(told));
        let note = |text: &str| ProgressEvent::Note { text: text.to_owned() };
        assert_eq!(heard, [note("a"), note("plain")]);
        assert_eq!((ended.status, ended.document["answer"].as_str()), (Some(3), Some("x")));
    }

    #[test]
    fn what_prints_nonsense_or_is_killed_has_no_document() {
        assert_eq!(shell("echo '{{{'").document, Value::Null);
        assert_eq!(shell("kill -9 $$").status, None);
    }
}
