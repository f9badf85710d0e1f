//! What goes to stdout and stderr: documents, texts, failures. A reader that closes the pipe is no error.
//!
//! Everything that the program says leaves through here, and nothing in it that steers a terminal: text from outside is
//! shown as `model::outside` has it, whichever verb brings it.

use cardscope_model::outside;
use cardscope_session::frame::{Document, Outcome};
use cardscope_session::pending::{Owing, owing};
use cardscope_session::{Failure, Result};
use clap::Args;
use clap::error::{ContextValue, Error as UsageError};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::io::{ErrorKind, Write};
use std::sync::atomic::{AtomicBool, Ordering};

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

/// True once a verb looks at the interrupt and ends by itself, with a result.
static ENDS_BY_ITSELF: AtomicBool = AtomicBool::new(false);

/// From now on the verb ends by itself when it is interrupted, and prints what it has.
pub(crate) fn a_verb_ends_by_itself() {
    ENDS_BY_ITSELF.store(true, Ordering::Relaxed);
}

/// Whether it does.
pub(crate) fn verb_ends_by_itself() -> bool {
    ENDS_BY_ITSELF.load(Ordering::Relaxed)
}

/// Prints what a verb came to, and why it ended early if it did; gives the exit status.
pub(crate) fn outcome<D: Document + Serialize + DeserializeOwned>(
    options: &Options,
    outcome: &Outcome<D>,
    text: impl FnOnce(&D) -> String,
) -> Result<u8> {
    document(options, &outcome.report, text)?;
    Ok(match &outcome.failure {
        Some(failure) => {
            say(failure);
            failure.exit_status()
        }
        None => u8::from(outcome.report.is_bad()),
    })
}

/// Prints a document in which nothing can be bad: as JSON where asked for, else as its text, in which nothing that stands
/// in the document begins a line of its own. Gives the exit status.
///
/// # Errors
/// If stdout cannot be written (a full disk behind a redirection).
pub(crate) fn document<T: Serialize + DeserializeOwned>(
    options: &Options,
    document: &T,
    text: impl FnOnce(&T) -> String,
) -> Result<u8> {
    match options.json {
        true => json(document),
        false => as_text(document, text),
    }
    .map(|()| 0)
}

/// Prints a list: as JSON under its name where asked for, else as its text. Gives the exit status.
pub(crate) fn list<T: Serialize + DeserializeOwned>(
    options: &Options,
    name: &str,
    list: &T,
    text: impl FnOnce(&T) -> String,
) -> Result<u8> {
    match options.json {
        true => json(&BTreeMap::from([(name, list)])),
        false => as_text(list, text),
    }
    .map(|()| 0)
}

/// Prints a document as JSON.
pub(crate) fn json(document: &impl Serialize) -> Result<()> {
    let _owing = printing();
    let body = serde_json::to_string_pretty(document)
        .map_err(|e| Failure::io_for(format!("the document cannot be written as JSON: {e}"), e))?;
    print(&outside::json(&body))
}

fn as_text<T: Serialize + DeserializeOwned>(document: &T, text: impl FnOnce(&T) -> String) -> Result<()> {
    let _owing = printing();
    let within = outside::within_lines(document);
    print(&outside::page(&text(within.as_ref().unwrap_or(document))))
}

/// A verb that heeds a signal still prints what it has.
fn printing() -> Option<Owing> {
    verb_ends_by_itself().then(|| owing("the result is printed", ""))
}

fn print(body: &str) -> Result<()> {
    bytes(format!("{}\n", body.trim_end()).as_bytes())
}

/// Writes bytes to stdout as they are: a file that is made for stdout.
pub(crate) fn bytes(body: &[u8]) -> Result<()> {
    let mut out = std::io::stdout().lock();
    let written = out.write_all(body).and_then(|()| out.flush());
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::io_for(format!("stdout cannot be written: {error}"), error))
        }
        _ => Ok(()),
    }
}

/// Says why it ended: on stderr, and with `--json` as a document, since that is where scripts look.
pub(crate) fn failure(failure: &Failure, options: &Options) {
    say(failure);
    if options.json {
        let document = serde_json::json!({ "error": failure.to_string() }).to_string();
        let _ = print(&outside::json(&document));
    }
}

/// Where what is said goes, for who may not wait for it.
pub(crate) fn stderr() -> std::io::Stderr {
    std::io::stderr()
}

/// Says on stderr why something ended early.
pub(crate) fn say(failure: &Failure) {
    note(&format!("cardscope: {failure}"));
}

/// Says something on stderr, in one line.
pub(crate) fn note(line: &str) {
    let _ = writeln!(std::io::stderr(), "{}", outside::line(line));
}

/// Asks on stderr; the answer stands behind it.
pub(crate) fn ask(question: &str) {
    let mut err = std::io::stderr();
    let _ = write!(err, "{}", outside::line(question));
    let _ = err.flush();
}

/// Says what is wrong with the arguments: as the parser lays it out, but for what was typed.
pub(crate) fn usage(mut error: UsageError) {
    let typed: Vec<_> = error.context().map(|(kind, value)| (kind, value.clone())).collect();
    for (kind, value) in typed {
        let shown = match value {
            ContextValue::String(text) => ContextValue::String(outside::line(&text).into_owned()),
            ContextValue::Strings(all) => {
                ContextValue::Strings(all.iter().map(|text| outside::line(text).into_owned()).collect())
            }
            ContextValue::StyledStrs(all) => ContextValue::StyledStrs(
                all.iter().map(|text| outside::line(&text.to_string()).into_owned().into()).collect(),
            ),
            _ => continue,
        };
        error.insert(kind, shown);
    }
    let _ = write!(std::io::stderr(), "{}", outside::page(&error.render().to_string()));
}
