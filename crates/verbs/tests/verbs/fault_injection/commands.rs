//! Commands of the schedules as a user types them, each with its promise about the card's data.

use super::cards::NAME;
use super::scenario::SECTOR;
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
use cardscope_session::frame::{Procedure, VerbOutcome, execute_verb};
use clap::{Args, Parser};
use serde::Serialize;
use serde_json::Value;
use std::ops::Range;

/// Permitted effect of a command on the card.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum DataPromise {
    /// Writes nothing.
    ReadsOnly,
    /// Restores everything that it overwrites.
    Keeps,
    /// Overwrites, after saving an image.
    KeepsByImage,
    /// Overwrites only this range: start and length in MiB.
    Overwrites(u64, u64),
    OverwritesAll,
}

/// Command lines without the target, and their promises. `IMAGE` stands for a file, `RECIPE` for a short recipe of these
/// tests.
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

/// Result of a command.
#[derive(Debug, Default)]
pub(super) struct CommandResult {
    /// Null if the command was refused.
    pub(super) document: Value,
    pub(super) failure: Option<Failure>,
    /// Verdict of the exit status.
    pub(super) exit: ExitStatus,
    /// Reads so far that returned data older than a lost write.
    pub(super) stale_reads: u64,
    /// True if the card had lost a sector by the end.
    pub(super) is_lossy: bool,
    /// Reads so far that a lasting fault misread, and that were compared with written data.
    pub(super) misread_stamps: u64,
    /// True if an I/O failed in a place that had failed before.
    pub(super) failed_again: bool,
    /// Sectors that the command listed as possibly changed.
    pub(super) listed: Vec<Range<u64>>,
}

/// A command line of a verb.
#[derive(Debug, Parser)]
struct CommandArguments<R: Args> {
    #[command(flatten)]
    request: R,
}

fn parse_words<R: Args>(words: &[String]) -> R {
    CommandArguments::try_parse_from(words).unwrap_or_else(|error| panic!("{words:?}: {error}")).request
}

/// Runs a command on the card in the slot.
pub(super) fn run(words: &[String], interrupt: &InterruptFlag, events: &mut dyn Listener) -> CommandResult {
    match words[0].as_str() {
        "verify" => run_verb::<verify::VerifyRequest>(words, interrupt, events),
        "bench" => run_verb::<bench::BenchRequest>(words, interrupt, events),
        "map" => run_verb::<map::MapRequest>(words, interrupt, events),
        "endure" => run_verb::<endure::EndureRequest>(words, interrupt, events),
        "check" => run_verb::<check::CheckRequest>(words, interrupt, events),
        "format" => run_verb::<format::FormatRequest>(words, interrupt, events),
        "restore" => {
            let request: restore::RestoreRequest = parse_words(words);
            let mut consent = GivenBeforehand(request.consent.yes_destroy.clone());
            command_result(restore::restore(&request, &mut consent, interrupt, events))
        }
        "sustain" => {
            let request: sustain::SustainRequest = parse_words(words);
            let mut nobody = NoManualReading;
            run_procedure(&request.with_manual_readings(&mut nobody).unwrap(), interrupt, events)
        }
        other => panic!("{other} is not a verb of the schedules"),
    }
}

fn run_verb<R: Args + Procedure>(
    words: &[String],
    interrupt: &InterruptFlag,
    events: &mut dyn Listener,
) -> CommandResult {
    run_procedure(&parse_words::<R>(words), interrupt, events)
}

fn run_procedure<P: Procedure>(
    procedure: &P,
    interrupt: &InterruptFlag,
    events: &mut dyn Listener,
) -> CommandResult {
    let mut consent = GivenBeforehand(Some(NAME.to_owned()));
    command_result(execute_verb(procedure, &mut consent, interrupt, events))
}

fn command_result<D: ReportDocument + Serialize>(outcome: Result<VerbOutcome<D>>) -> CommandResult {
    match outcome {
        Ok(VerbOutcome { report, failure }) => {
            let exit = report.exit_status();
            let document = serde_json::to_value(&report).unwrap();
            let listed = listed_sectors(&document);
            CommandResult { document, failure, exit, listed, ..CommandResult::default() }
        }
        Err(refusal) => CommandResult { failure: Some(refusal), ..CommandResult::default() },
    }
}

/// Sector ranges in the file that a document names as possibly changed.
fn listed_sectors(document: &Value) -> Vec<Range<u64>> {
    let file = document.pointer("/may_have_changed/file").and_then(Value::as_str);
    let text = file.map(|file| std::fs::read_to_string(file).unwrap()).unwrap_or_default();
    let range = |line: &str| {
        let (start, len) = line.split_once(' ').unwrap();
        let (start, len): (u64, u64) = (start.parse().unwrap(), len.parse().unwrap());
        start / SECTOR..(start + len).div_ceil(SECTOR)
    };
    text.lines().filter(|line| !line.starts_with('#')).map(range).collect()
}
