//! `sustain`: a card used for long, with thermometers; what becomes of it, and why. A sample a second is on disk before
//! the run goes on for another few.

mod against;
mod document;
mod ground;
mod hot_host;
mod keeping;
mod sentences;
mod thermometers;

use crate::consent::Consent;
use crate::error::Failure;
use crate::opening;
use crate::recording::Recording;
use crate::scratch::Asking;
use cardscope_engine::event::Listener;
use cardscope_engine::interrupt::Interrupt;
use cardscope_model::condition::{Condition, Origin};
use cardscope_model::finding::Finding;
use cardscope_model::sustain::{Measured, Pattern, SustainReport, Work};
use cardscope_model::verify::Trouble;
use cardscope_probe::card::Card;
use cardscope_probe::saving::Saving;
use cardscope_probe::sustain::{BLOCK, DEPTH, sustain as run};
use ground::Ground;
use keeping::Keeping;
use std::path::PathBuf;
use std::time::Duration;
use thermometers::{Shared, Thermometers, Tracks};

pub(crate) use ground::limits as card_limits;

pub use cardscope_engine::target::Region;
pub use thermometers::{Typed, Typist};

/// A long run as asked for.
#[derive(Debug, Clone)]
pub struct Request {
    /// Device, directory, file or `sim:NAME`.
    pub target: String,
    /// What the workload does; `None` writes where nothing can be lost or what is there may go, and reads elsewhere.
    pub work: Option<Work>,
    /// Where it goes.
    pub pattern: Pattern,
    /// How long it may take.
    pub duration: Duration,
    /// Bytes that the workload may move.
    pub bytes: Option<u64>,
    /// Bytes that may be written in all.
    pub max_write: Option<u64>,
    /// What stands in this region may go.
    pub region: Option<Region>,
    /// What stands on the whole card may go.
    pub erase: bool,
    /// Size of the file in a directory.
    pub size: Option<u64>,
    /// `active`, `passive` …
    pub cooling: Option<String>,
    /// What is cooled.
    pub cooling_of: Option<String>,
    /// Thermometers that the user brings, as typed: `PLACE=cmd:COMMAND`, `PLACE=csv:FILE`, `PLACE=ask`.
    pub thermometers: Vec<String>,
    /// Temperature of the card at which the run ends, in °C.
    pub max_celsius: Option<f64>,
    /// An earlier run to hold this one against: its session, or a file with its document.
    pub against: Option<String>,
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
    pub report: SustainReport,
    /// What ended it early.
    pub failure: Option<Failure>,
}

/// Uses a card for long.
///
/// # Errors
/// A refusal: the request is wrong, the target is not safe to test or too small, a thermometer cannot work, or consent
/// was not given. Nothing was written.
pub fn sustain(
    request: &Request,
    consent: &mut dyn Consent,
    interrupt: &Interrupt,
    listener: &mut dyn Listener,
    typist: &mut dyn Typist,
) -> Result<Outcome, Failure> {
    let work = ground::work(request)?;
    let other =
        request.against.as_deref().map(|name| against::load(name, request.archive.as_deref())).transpose()?;
    let stated = stated(request)?;
    let thermometers = Thermometers::parse(request)?;
    let mut asking = Asking::new(request.region, false, consent);
    let mut opened = opening::open(&request.target, ground::writes(request, work), &mut asking, interrupt)?;
    opened.condition.overlay(&stated);
    crate::format::name_state(request.archive.as_deref(), &mut opened);
    opened.limit_writes(request.max_write);
    let ground = Ground::prepare(request, work, &mut opened)?;
    let mut thermometers = thermometers.open(request)?;
    let seed = request.seed.unwrap_or_else(crate::bench::fresh_seed);
    let options = ground.options(request, work, &opened, seed);
    let mut report = document::empty(request, work, &options, &opened, seed);
    listener.note(&ground.plan_line(request, work, &opened));
    let recording = Recording::begin(request.archive.as_deref(), "sustain", &request.target, seed, &opened)?;
    report.header.session = Some(recording.name());
    let mut keeping = Keeping::start(recording, &report)?;
    thermometers.ask(typist);
    let shared = Shared::new(listener);
    let mut tracks = Tracks { keeping: &mut keeping, thermometers: &mut thermometers, listener: &shared };
    // The record is begun: whatever fails from here on ends in the document.
    let ended = Card::new(opened.target.as_mut(), interrupt, BLOCK, DEPTH).and_then(|mut card| {
        let began = card.seconds();
        let into = &mut report.body.measured;
        let ended = run(&mut card, Saving::new(None), &options, &mut &shared, &mut tracks, into);
        document::count(&mut report, &mut card, began);
        ended
    });
    let failure = ended.err().map(Failure::from);
    document::conclude(&mut report, &opened, thermometers.troubles());
    report.body.against = other.map(|other| against::compare(&report, &other));
    let failure = match keeping.finish() {
        Ok(recording) => recording.close(&mut report, |report| &mut report.header.error, failure),
        Err(broken) => {
            let failure = failure.unwrap_or(broken);
            report.header.error = Some(failure.to_string());
            Some(failure)
        }
    };
    Ok(Outcome { report, failure })
}

/// What a long run says of the card, its reader and its host; also for a verb of which it is a part.
pub(crate) fn findings(
    measured: &Measured,
    troubles: &[Trouble],
    condition: &Condition,
    bytes_written: u64,
) -> Vec<Finding> {
    let mut found = sentences::findings(measured, troubles, bytes_written);
    found.extend(hot_host::finding(condition, &measured.series));
    found
}

/// What the user says of card and rig; `--cooling` is the short way for two words.
fn stated(request: &Request) -> Result<Condition, Failure> {
    let mut stated = Condition::default();
    request.conditions.iter().try_for_each(|text| stated.state(text)).map_err(Failure::refused)?;
    for (word, value) in [("cooling", &request.cooling), ("cooling_of", &request.cooling_of)] {
        if let Some(value) = value {
            stated.set(word, value, Origin::Stated);
        }
    }
    if request.target.starts_with("sim:") && request.cooling.is_some() {
        return Err(Failure::refused(
            "the cooling of a simulated card is set in its name, e.g. sim:NAME?cooling=passive; leave --cooling out",
        ));
    }
    Ok(stated)
}
