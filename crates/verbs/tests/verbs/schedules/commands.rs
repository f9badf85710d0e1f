//! The commands of the schedules, as a user types them, and what each has said that it writes.

use super::cards::NAME;
use super::table::SECTOR;
use cardscope_bench::verb as bench;
use cardscope_capacity::verb as verify;
use cardscope_check::verb as check;
use cardscope_endurance::verb::endure;
use cardscope_endurance::verb::sustain;
use cardscope_endurance::verb::sustain::NoManualReading;
use cardscope_engine::event::Listener;
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_flash::verb as map;
use cardscope_format::verb::format;
use cardscope_model::report::{ExitStatus, ReportDocument};
use cardscope_restore::verb as restore;
use cardscope_session::consent::GivenBeforehand;
use cardscope_session::error::{Failure, Result};
use cardscope_session::frame::{Procedure, VerbOutcome, execute};
use clap::{Args, Parser};
use serde::Serialize;
use serde_json::Value;
use std::ops::Range;

/// What a command may do to the card.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum DataPromise {
    /// It writes nothing.
    ReadsOnly,
    /// Whatever it writes to holds at the end what it held.
    Keeps,
    /// The same, by an image that it saves before.
    KeepsByImage,
    /// It overwrites so many MiB from this one on, and nothing outside of them.
    Overwrites(u64, u64),
    OverwritesAll,
}

/// A command line without the verb's target, and what it says that it does. `IMAGE` stands for a file, `RECIPE` for a short
/// one of the tests' own.
pub(super) const COMMANDS: &[(&str, DataPromise)] = &[
    ("verify", DataPromise::Keeps),
    ("verify", DataPromise::Keeps),
    ("verify --budget 6s", DataPromise::Keeps),
    ("verify --max-write 3M", DataPromise::Keeps),
    ("verify --thorough", DataPromise::Keeps),
    ("verify --erase", DataPromise::OverwritesAll),
    ("verify --full", DataPromise::OverwritesAll),
    ("verify --full --two-passes", DataPromise::OverwritesAll),
    ("verify --full --max-write 8M", DataPromise::OverwritesAll),
    ("verify --full --backup IMAGE", DataPromise::KeepsByImage),
    ("bench --recipe RECIPE --size 4M", DataPromise::Overwrites(0, 4)),
    ("bench --recipe RECIPE --size 4M --max-write 16M", DataPromise::Overwrites(0, 4)),
    ("bench --recipe RECIPE --size 4M --backup IMAGE", DataPromise::KeepsByImage),
    ("bench --recipe RECIPE --size 4M --runs 2 --budget 12s", DataPromise::Overwrites(0, 4)),
    ("map --budget 8s", DataPromise::Keeps),
    ("map --only page-writes", DataPromise::Keeps),
    ("map --only cache --cache 6M", DataPromise::Keeps),
    ("map --fat --only fat --max-write 8M", DataPromise::Keeps),
    ("map --read-only --budget 4s", DataPromise::ReadsOnly),
    ("map --region 4M+8M --budget 6s", DataPromise::Overwrites(4, 8)),
    ("sustain --duration 3s", DataPromise::OverwritesAll),
    ("sustain --mixed --region 4M+16M --duration 3s", DataPromise::Overwrites(4, 16)),
    ("sustain --read --duration 3s", DataPromise::ReadsOnly),
    ("sustain --pattern rnd --region 4M+16M --bytes 2M", DataPromise::Overwrites(4, 16)),
    ("endure --rounds 2 --wait 1s", DataPromise::OverwritesAll),
    ("endure --rounds 2 --wait 1s --span 4M --backup IMAGE", DataPromise::KeepsByImage),
    ("check --budget 12s", DataPromise::Keeps),
    ("check --budget 12s --label C10_U1_V10", DataPromise::Keeps),
    ("check --marks --budget 12s --label C10_U1", DataPromise::Keeps),
    ("check --read-only --budget 6s", DataPromise::ReadsOnly),
    ("check --erase --budget 8s --label C10", DataPromise::OverwritesAll),
    ("format", DataPromise::OverwritesAll),
    ("format --backup IMAGE", DataPromise::OverwritesAll),
];

/// What a command came to.
#[derive(Debug, Default)]
pub(super) struct CommandResult {
    /// Null where it was refused.
    pub(super) document: Value,
    pub(super) failure: Option<Failure>,
    /// What its exit status says of the card.
    pub(super) exit: ExitStatus,
    /// Reads until then that brought what a lost write should have replaced.
    pub(super) stale_reads: u64,
    /// Whether the card had lost a sector by then.
    pub(super) is_lossy: bool,
    /// Reads until then that brought other data than the card's, and were compared with what was written.
    pub(super) misread_stamps: u64,
    /// Whether an I/O had failed where one had failed before.
    pub(super) failed_again: bool,
    /// Sectors that it listed as such that may have changed.
    pub(super) listed: Vec<Range<u64>>,
}

/// A command line of a verb.
#[derive(Debug, Parser)]
struct CommandArguments<R: Args> {
    #[command(flatten)]
    request: R,
}

fn typed<R: Args>(words: &[String]) -> R {
    CommandArguments::try_parse_from(words).unwrap_or_else(|error| panic!("{words:?}: {error}")).request
}

/// Carries a command out on what is in the slot.
pub(super) fn run(words: &[String], interrupt: &InterruptFlag, events: &mut dyn Listener) -> CommandResult {
    match words[0].as_str() {
        "verify" => verb::<verify::VerifyRequest>(words, interrupt, events),
        "bench" => verb::<bench::BenchRequest>(words, interrupt, events),
        "map" => verb::<map::MapRequest>(words, interrupt, events),
        "endure" => verb::<endure::EndureRequest>(words, interrupt, events),
        "check" => verb::<check::CheckRequest>(words, interrupt, events),
        "format" => verb::<format::FormatRequest>(words, interrupt, events),
        "restore" => {
            let request: restore::RestoreRequest = typed(words);
            let mut consent = GivenBeforehand(request.consent.yes_destroy.clone());
            ended(restore::restore(&request, &mut consent, interrupt, events))
        }
        "sustain" => {
            let request: sustain::SustainRequest = typed(words);
            let mut nobody = NoManualReading;
            performed(&request.attended(&mut nobody).unwrap(), interrupt, events)
        }
        other => panic!("{other} is not a verb of the schedules"),
    }
}

fn verb<R: Args + Procedure>(
    words: &[String],
    interrupt: &InterruptFlag,
    events: &mut dyn Listener,
) -> CommandResult {
    performed(&typed::<R>(words), interrupt, events)
}

fn performed<P: Procedure>(
    procedure: &P,
    interrupt: &InterruptFlag,
    events: &mut dyn Listener,
) -> CommandResult {
    let mut consent = GivenBeforehand(Some(NAME.to_owned()));
    ended(execute(procedure, &mut consent, interrupt, events))
}

fn ended<D: ReportDocument + Serialize>(outcome: Result<VerbOutcome<D>>) -> CommandResult {
    match outcome {
        Ok(VerbOutcome { report, failure }) => {
            let exit = report.exit_status();
            let document = serde_json::to_value(&report).unwrap();
            let listed = listed(&document);
            CommandResult { document, failure, exit, listed, ..CommandResult::default() }
        }
        Err(refusal) => CommandResult { failure: Some(refusal), ..CommandResult::default() },
    }
}

/// What the file lists that a document names for what may have changed, in sectors.
fn listed(document: &Value) -> Vec<Range<u64>> {
    let file = document.pointer("/may_have_changed/file").and_then(Value::as_str);
    let text = file.map(|file| std::fs::read_to_string(file).unwrap()).unwrap_or_default();
    let range = |line: &str| {
        let (start, len) = line.split_once(' ').unwrap();
        let (start, len): (u64, u64) = (start.parse().unwrap(), len.parse().unwrap());
        start / SECTOR..(start + len).div_ceil(SECTOR)
    };
    text.lines().filter(|line| !line.starts_with('#')).map(range).collect()
}
