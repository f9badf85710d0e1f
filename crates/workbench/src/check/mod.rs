//! `check`: the whole visit in a time budget. What the card says, whether its capacity is real, how fast it is, what is
//! inside, what it is good for; everything that was on it is there again afterwards.

mod benching;
mod budget;
mod jobs;
mod mapping;
mod marking;
mod next;
mod sustaining;
mod verifying;
mod visit;

use crate::consent::{Consent, DataKept};
use crate::error::Failure;
use crate::kept;
use crate::map::NOTHING_TO_READ;
use crate::opening::{self, Opened};
use crate::recording::Recording;
use cardscope_engine::event::Listener;
use cardscope_engine::interrupt::Interrupt;
use cardscope_model::check::CheckReport;
use cardscope_model::condition::Condition;
use cardscope_model::label;
use std::path::{Path, PathBuf};
use std::time::Duration;
use visit::Visit;

/// A visit as asked for.
#[derive(Debug, Clone)]
pub struct Request {
    /// Device, directory, file or `sim:NAME`.
    pub target: String,
    /// Time for all of it.
    pub budget: Duration,
    /// True where nothing may be written.
    pub read_only: bool,
    /// True where what is on the card may go, which makes time for more.
    pub erase: bool,
    /// Bytes that may be written in all, putting back not counted.
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
    pub report: CheckReport,
    /// What ended it early.
    pub failure: Option<Failure>,
}

/// Below this nothing can be said of a card.
const LEAST: Duration = Duration::from_secs(1);

/// Visits a card.
///
/// # Errors
/// A refusal: the request is wrong, the target is not safe to test, or consent was not given. Nothing was written.
pub fn check(
    request: &Request,
    consent: &mut dyn Consent,
    interrupt: &Interrupt,
    listener: &mut dyn Listener,
) -> Result<Outcome, Failure> {
    if request.budget < LEAST {
        return Err(Failure::refused("--budget must be at least 1 s; 3m is what it is made for"));
    }
    // What cannot be read must not be found out after three minutes.
    request.label.as_deref().map(label::parse).transpose().map_err(Failure::refused)?;
    let mut stated = Condition::default();
    request.conditions.iter().try_for_each(|text| stated.state(text)).map_err(Failure::refused)?;
    if request.erase && (request.read_only || Path::new(&request.target).is_dir()) {
        return Err(Failure::refused(
            "--erase gives up what is on a card or in a file: leave out --read-only, and name no directory",
        ));
    }
    if request.read_only && Path::new(&request.target).is_dir() {
        return Err(Failure::refused(NOTHING_TO_READ));
    }
    let mut kept = DataKept;
    let consent = if request.erase { consent } else { &mut kept };
    let mut opened = opening::open(&request.target, !request.read_only, consent, interrupt)?;
    opened.condition.overlay(&stated);
    crate::format::name_state(request.archive.as_deref(), &mut opened);
    if opened.is_directory() {
        opened.limit_writes(request.max_write);
        listener.note(&plan_line(request, &opened));
    }
    let seed = request.seed.unwrap_or_else(crate::bench::fresh_seed);
    let mut recording =
        Recording::begin(request.archive.as_deref(), "check", &request.target, seed, &opened)?;
    let mut visit = Visit::new(request, &mut opened, seed);
    visit.report.header.session = Some(recording.name());
    let failure = visit.all(interrupt, listener, &mut recording).err();
    let failure = failure.map(|failure| kept::naming(failure, visit.waits.as_deref()));
    let mut report = visit.close();
    let failure = recording.close(&mut report, |report| &mut report.header.error, failure);
    Ok(Outcome { report, failure })
}

/// What a visit writes in a directory, before it begins.
fn plan_line(request: &Request, opened: &Opened) -> String {
    let files = "files of its own, which are removed at the end";
    match opened.limit.words() {
        Some(words) => format!("writes {files}; {words}"),
        None => format!(
            "writes {files}: as much as the card takes in {:.0} s (--max-write limits it)",
            request.budget.as_secs_f64()
        ),
    }
}
