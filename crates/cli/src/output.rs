//! What goes to stdout and stderr: documents, texts, failures. A reader that closes the pipe is no error.

use crate::signals;
use cardscope_workbench::Failure;
use cardscope_workbench::pending::owing;
use clap::Args;
use serde_json::{Value, json};
use std::io::{ErrorKind, Write};

/// Options of every verb.
#[derive(Debug, Clone, Args)]
pub(crate) struct Options {
    /// Print one JSON document on stdout and nothing else
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// No progress on stderr
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
}

/// Prints a document: as JSON where asked for, else as its text.
///
/// # Errors
/// If stdout cannot be written (a full disk behind a redirection).
pub(crate) fn document(
    options: &Options,
    value: &impl serde::Serialize,
    text: impl FnOnce() -> String,
) -> Result<(), Failure> {
    let _owing = signals::heeded().then(|| owing("the result is printed", ""));
    let body = match options.json {
        true => serde_json::to_string_pretty(value)
            .map_err(|e| Failure::io(format!("the document cannot be written as JSON: {e}")))?,
        false => text(),
    };
    print(&body)
}

fn print(body: &str) -> Result<(), Failure> {
    bytes(format!("{}\n", body.trim_end()).as_bytes())
}

/// Writes bytes to stdout as they are.
///
/// # Errors
/// If stdout cannot be written.
pub(crate) fn bytes(body: &[u8]) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    let written = out.write_all(body).and_then(|()| out.flush());
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::io(format!("stdout cannot be written: {error}")))
        }
        _ => Ok(()),
    }
}

/// Says why it ended: on stderr, and with `--json` as a document, since that is where scripts look.
pub(crate) fn failure(failure: &Failure, options: &Options) {
    say(failure);
    if options.json {
        let document: Value = json!({ "error": failure.to_string() });
        let _ = print(&document.to_string());
    }
}

/// Says on stderr why something ended early.
pub(crate) fn say(failure: &Failure) {
    let _ = writeln!(std::io::stderr(), "cardscope: {failure}");
}

/// Says something on stderr that is no failure.
pub(crate) fn note(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
