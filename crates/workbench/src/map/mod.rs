//! `map`: what is inside a card, as far as timing shows it, and what follows from that for whoever formats it.
//!
//! Unless the user names a part whose content may go, everything that is overwritten is saved to a journal before and
//! put back after, as quick `verify` does.

mod document;
mod file_systems;
mod findings;
mod ground;
mod run;

use crate::consent::Consent;
use crate::error::Failure;
use crate::kept;
use crate::opening::{self, Opened};
use crate::recording::Recording;
use crate::scratch::Asking;
use cardscope_engine::event::Listener;
use cardscope_engine::interrupt::Interrupt;
use cardscope_model::card_map::MapReport;
use cardscope_model::card_map::advice::{Facts, advise};
use cardscope_model::card_map::profile::profile;
use cardscope_model::condition::Condition;
pub(crate) use ground::NOTHING_TO_READ;

use ground::Ground;
use run::Run;
use std::path::PathBuf;
use std::time::Duration;

pub use cardscope_engine::target::Region;
pub use cardscope_probe::map::Part;

/// A map as asked for.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Device, directory, file or `sim:NAME`.
    pub target: String,
    /// Time after which nothing new begins.
    pub budget: Option<Duration>,
    /// Nothing is written, only reading parts are made.
    pub read_only: bool,
    /// The region at the start of the card is written to as well.
    pub fat: bool,
    /// What stands in this region may go.
    pub region: Option<Region>,
    /// What stands on the whole card may go.
    pub erase: bool,
    /// Bytes that may be written, putting back not counted.
    pub max_write: Option<u64>,
    /// Bytes after which the search for the end of the cache is given up.
    pub cache: Option<u64>,
    /// The tables of flashbench are measured too.
    pub flashbench: bool,
    /// Only these parts; all of them where it is empty.
    pub only: Vec<Part>,
    /// File systems are made on the card and small writes on them measured.
    pub try_file_systems: bool,
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
    pub report: MapReport,
    /// What ended it early.
    pub failure: Option<Failure>,
}

/// Makes the map of a card.
///
/// # Errors
/// A refusal: the request is wrong, the target is not safe to test, there is no room for the journal, or consent was
/// not given. Nothing was written.
pub fn map(
    request: &Request,
    consent: &mut dyn Consent,
    interrupt: &Interrupt,
    listener: &mut dyn Listener,
) -> Result<Outcome, Failure> {
    ground::check(request)?;
    let data_kept = !request.erase && request.region.is_none();
    let mut asking = Asking::new(request.region, data_kept, consent);
    let mut opened = opening::open(&request.target, !request.read_only, &mut asking, interrupt)?;
    opened.condition.overlay(&stated(request)?);
    crate::format::name_state(request.archive.as_deref(), &mut opened);
    if opened.is_directory() {
        opened.limit_writes(request.max_write);
    }
    let mut made = Made::on(request, &mut opened, interrupt, listener)?;
    made.conclude(&opened);
    if request.try_file_systems && made.failure.is_none() {
        made.failure = made.recording.update(&made.report).err();
        if made.failure.is_none() {
            file_systems::try_all(request, opened, interrupt, listener, &mut made);
            made.advise();
        }
    }
    Ok(made.finish())
}

/// The same on a card that is open already, for a verb that does more with it; file systems are not tried.
///
/// # Errors
/// A refusal: the request is wrong, the card is too small, or there is no room for the journal. Nothing was written.
pub(crate) fn on(
    request: &Request,
    opened: &mut Opened,
    interrupt: &Interrupt,
    listener: &mut dyn Listener,
) -> Result<Outcome, Failure> {
    ground::check(request)?;
    let mut made = Made::on(request, opened, interrupt, listener)?;
    made.conclude(opened);
    Ok(made.finish())
}

fn stated(request: &Request) -> Result<Condition, Failure> {
    let mut stated = Condition::default();
    request.conditions.iter().try_for_each(|text| stated.state(text)).map_err(Failure::refused)?;
    Ok(stated)
}

/// A map in the making.
struct Made {
    report: MapReport,
    facts: Facts,
    recording: Recording,
    failure: Option<Failure>,
}

impl Made {
    /// Measures, and settles what became of the card's data.
    fn on(
        request: &Request,
        opened: &mut Opened,
        interrupt: &Interrupt,
        listener: &mut dyn Listener,
    ) -> Result<Made, Failure> {
        let seed = request.seed.unwrap_or_else(crate::bench::fresh_seed);
        let (ground, mut journal) = Ground::prepare(request, opened)?;
        let options = ground.options(request, opened, seed);
        listener.note(&ground.plan_line(&options, journal.as_ref(), opened));
        let mut report = document::empty(request, opened, seed);
        let recording = Recording::begin(request.archive.as_deref(), "map", &request.target, seed, opened)?;
        report.header.session = Some(recording.name());
        let mut facts = document::facts(request, opened);
        let run = Run { ground: &ground, options: &options, interrupt };
        let failure = run.all(opened, journal.as_mut(), listener, &mut report, &mut facts).err();
        let waits =
            journal.as_ref().filter(|_| !report.body.moved.data_kept).map(|j| j.path().display().to_string());
        let failure = failure.map(|failure| kept::naming(failure, waits.as_deref()));
        let unsettled = journal.and_then(|journal| {
            kept::settle(journal, report.body.moved.data_kept, &mut report.header.findings).err()
        });
        Ok(Made { report, facts, recording, failure: failure.or(unsettled) })
    }

    /// What follows from the measurements, and from what was known before.
    fn conclude(&mut self, opened: &Opened) {
        document::conclude(&mut self.report, opened);
        let found = findings::findings(&self.report.body.measured, &self.facts);
        self.report.header.findings.extend(found);
        self.advise();
    }

    fn advise(&mut self) {
        self.report.body.advice = advise(&self.report.body.measured, &self.facts);
        self.report.body.profile = profile(&self.report.body.measured);
    }

    fn finish(mut self) -> Outcome {
        let failure = self.recording.close(&mut self.report, |report| &mut report.header.error, self.failure);
        Outcome { report: self.report, failure }
    }
}
