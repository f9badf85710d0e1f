//! `verify`: is the capacity real, is every block whole. Three methods, one document.

mod afford;
mod document;
pub mod files;
pub mod full;
pub mod quick;

use crate::consent::Consent;
use crate::error::Failure;
use cardscope_engine::event::Listener;
use cardscope_engine::interrupt::Interrupt;
use cardscope_model::verify::{Method, VerifyReport};
use std::path::PathBuf;
use std::time::Duration;

/// A verification as asked for.
#[derive(Debug, Clone)]
pub struct Request {
    /// Device, directory, file or `sim:NAME`.
    pub target: String,
    /// Quick, full or by files.
    pub method: Method,
    /// Quick: also finds out caches of up to 2 GiB.
    pub thorough: bool,
    /// Quick: what is on the card may go, so nothing is saved and put back.
    pub erase: bool,
    /// Full: an image of the card is saved to this file first and put back after.
    pub backup: Option<PathBuf>,
    /// Full and files: nothing is written, what an earlier pass wrote is read again.
    pub read_only: bool,
    /// Full: goes on where an earlier pass stopped.
    pub resume: bool,
    /// Full: writes all before reading, instead of reading each stretch soon after it was written.
    pub two_passes: bool,
    /// Files: leaves the files there.
    pub keep_files: bool,
    /// Time in which all must be over, putting back included.
    pub budget: Option<Duration>,
    /// Bytes that may be written, putting back not counted.
    pub max_write: Option<u64>,
    /// What is printed on the card.
    pub label: Option<String>,
    /// `KEY=VALUE` each.
    pub conditions: Vec<String>,
    /// Seed; `None` draws one.
    pub seed: Option<u64>,
    /// The archive's file; `None` is the user's own.
    pub archive: Option<PathBuf>,
}

/// What became of it: always a document, and what ended it early.
#[derive(Debug)]
pub struct Outcome {
    /// The document, partial where `failure` is set.
    pub report: VerifyReport,
    /// What ended it early.
    pub failure: Option<Failure>,
}

/// Verifies a card.
///
/// # Errors
/// A refusal: the request is wrong, the target is not safe to test, or consent was not given. Nothing was written.
pub fn verify(
    request: &Request,
    consent: &mut dyn Consent,
    interrupt: &Interrupt,
    listener: &mut dyn Listener,
) -> Result<Outcome, Failure> {
    if let Some(odd) = misplaced(request) {
        return Err(Failure::Refused(odd.to_owned()));
    }
    match request.method {
        Method::Quick => quick::run(request, consent, interrupt, listener),
        Method::Full => full::run(request, consent, interrupt, listener),
        Method::Files => files::run(request, None, interrupt, listener),
    }
}

/// An option that the method does not know must not be passed over in silence, least of all one that saves data.
fn misplaced(request: &Request) -> Option<&'static str> {
    let method = request.method;
    [
        (
            request.backup.is_some() && method != Method::Full,
            "--backup goes with --full; quick `verify` keeps the data by itself, leave --erase out",
        ),
        (request.resume && method != Method::Full, "--resume goes with --full"),
        (request.two_passes && method != Method::Full, "--two-passes goes with --full"),
        (request.keep_files && method != Method::Files, "--keep-files goes with --files"),
        (
            (request.thorough || request.erase) && method != Method::Quick,
            "--thorough and --erase go with quick `verify`",
        ),
    ]
    .into_iter()
    .find_map(|(wrong, why)| wrong.then_some(why))
}
