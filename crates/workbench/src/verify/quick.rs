//! `verify`, quick: a few samples and one long run. What is on the card is saved to a journal before it is overwritten,
//! put back and compared afterwards, however the probe ended; a card that is gone by then is put right by `restore`.

use super::afford::Afford;
use super::document;
use super::{Outcome, Request};
use crate::consent::{Consent, DataKept};
use crate::error::Failure;
use crate::journal::Journal;
use crate::kept::{self, Returned};
use crate::opening::{self, Opened};
use crate::recording::Recording;
use cardscope_engine::event::Listener;
use cardscope_engine::interrupt::Interrupt;
use cardscope_engine::runner::random::mix;
use cardscope_model::condition::Condition;
use cardscope_model::label;
use cardscope_model::units::{BinarySize, Capacity, MIB, seconds};
use cardscope_model::verify::{Method, Verdict, VerifyReport};
use cardscope_probe::capacity::{self, BLOCK, DEPTH, Options};
use cardscope_probe::card::Card;
use cardscope_probe::keeper::Keeper;
use cardscope_probe::restore::PutBack;
use std::path::Path;
use std::time::Duration;

/// Below this there is nothing that a sample could tell.
const SMALLEST: u64 = MIB;

/// Bytes beside the run that a probe may save: markers, stretches, the search for the boundary.
const BESIDES: u64 = 192 * MIB;

/// Room that a journal is given however short the time is.
const SMALLEST_ROOM: u64 = 32 * MIB;

pub(super) fn run(
    request: &Request,
    consent: &mut dyn Consent,
    interrupt: &Interrupt,
    listener: &mut dyn Listener,
) -> Result<Outcome, Failure> {
    check(request)?;
    let mut stated = Condition::default();
    request.conditions.iter().try_for_each(|text| stated.state(text)).map_err(Failure::refused)?;
    let mut kept = DataKept;
    let consent = if request.erase { consent } else { &mut kept };
    let mut opened = opening::open(&request.target, true, consent, interrupt)?;
    opened.condition.overlay(&stated);
    crate::format::name_state(request.archive.as_deref(), &mut opened);
    on(request, &mut opened, interrupt, listener)
}

/// The same on a card that is open already, for a verb that does more with it.
///
/// # Errors
/// A refusal: the label cannot be read, the card is too small, or there is no room for the journal. Nothing was
/// written.
pub(crate) fn on(
    request: &Request,
    opened: &mut Opened,
    interrupt: &Interrupt,
    listener: &mut dyn Listener,
) -> Result<Outcome, Failure> {
    let printed = request.label.as_deref().map(label::parse).transpose().map_err(Failure::refused)?;
    let bytes = opened.target.info().bytes;
    if bytes < SMALLEST {
        return Err(Failure::Refused(format!(
            "{} has {bytes} bytes; below 1 MiB there is nothing to probe, `verify --full` tests every block",
            request.target
        )));
    }
    let seed = request.seed.unwrap_or_else(crate::bench::fresh_seed);
    let mut options = Options {
        thorough: request.thorough,
        max_write: request.max_write,
        budget: request.budget,
        seed: mix(seed),
    };
    let began = seconds(opened.target.now());
    let look = |budget| Afford::look(opened, budget, !request.erase, interrupt);
    let afford = request.budget.map(look).transpose()?;
    let most = most_saved(&options, bytes, afford.as_ref());
    let mut journal = match request.erase {
        true => None,
        false => Some(Journal::create(&request.target, opened, most)?),
    };
    plan(&options, bytes, afford.as_ref(), journal.as_ref(), listener);
    // Looking at the card before it is written to took some of the time.
    let spent = Duration::from_secs_f64((seconds(opened.target.now()) - began).max(0.0));
    options.budget = options.budget.map(|budget| budget.saturating_sub(spent));
    let mut report = document::empty(request, Method::Quick, opened, seed);
    let recording = Recording::begin(request.archive.as_deref(), "verify", &request.target, seed, opened)?;
    report.header.session = Some(recording.name());
    let failure = probe(opened, journal.as_mut(), &options, interrupt, listener, &mut report).err();
    let waits =
        journal.as_ref().filter(|_| !report.body.moved.data_kept).map(|j| j.path().display().to_string());
    let failure = failure.map(|failure| kept::naming(failure, waits.as_deref()));
    let failure = failure.or(journal.and_then(|journal| {
        kept::settle(journal, report.body.moved.data_kept, &mut report.header.findings).err()
    }));
    document::judge_label(&mut report, printed.as_ref(), opened);
    let failure = recording.close(&mut report, |report| &mut report.header.error, failure);
    Ok(Outcome { report, failure })
}

/// Refuses what goes against itself, before anything is opened.
fn check(request: &Request) -> Result<(), Failure> {
    if request.read_only {
        return Err(Failure::Refused(
            "--read-only reads again what --full or --files wrote: give one of them too".into(),
        ));
    }
    if Path::new(&request.target).is_dir() {
        return Err(Failure::Refused(format!(
            "{0} is a directory: `verify {0} --files` fills its free space, or name the card's device (`cardscope list`)",
            request.target
        )));
    }
    Ok(())
}

/// Bytes that may have to be saved: no more than may be written, or the time is enough for.
fn most_saved(options: &Options, bytes: u64, afford: Option<&Afford>) -> u64 {
    let limit = options.max_write.map_or(u64::MAX, |most| most.saturating_add(MIB));
    let in_time = afford.map_or(u64::MAX, |afford| afford.bytes().saturating_add(SMALLEST_ROOM));
    (options.run_bytes(bytes) + BESIDES).min(bytes).min(limit).min(in_time)
}

/// What it will cost, before it begins.
fn plan(
    options: &Options,
    bytes: u64,
    afford: Option<&Afford>,
    journal: Option<&Journal>,
    listener: &mut dyn Listener,
) {
    let most = options.max_write.unwrap_or(u64::MAX).min(afford.map_or(u64::MAX, Afford::bytes));
    let run = options.run_bytes(bytes).min(most);
    if let Some(remark) = afford.and_then(|afford| afford.remark(bytes)) {
        listener.note(&remark);
    }
    let keeps = match journal {
        Some(journal) => format!("what it overwrites is kept in {} and put back", journal.path().display()),
        None => "what is on the card is lost".to_owned(),
    };
    let text = format!(
        "writes up to {} to a genuine card of {}, on a fake with a cache up to four times that; {keeps}",
        BinarySize(run >> 20 << 20),
        Capacity(bytes)
    );
    listener.note(&text);
}

/// Probes, then puts back whatever was overwritten, also after an interruption or an error.
fn probe(
    opened: &mut Opened,
    mut journal: Option<&mut Journal>,
    options: &Options,
    interrupt: &Interrupt,
    listener: &mut dyn Listener,
    report: &mut VerifyReport,
) -> Result<(), Failure> {
    let announced = opened.target.info().bytes;
    let mut card = Card::new(opened.target.as_mut(), interrupt, BLOCK, DEPTH)?;
    let began = card.seconds();
    if let Some(journal) = journal.as_deref_mut() {
        let salted = journal.wrote_with(capacity::salt(options));
        salted.map_err(|e| Failure::Refused(format!("{e}; nothing was written to the card")))?;
    }
    let keeper = journal.as_deref_mut().map(|journal| journal as &mut dyn Keeper);
    let ended = capacity::probe(&mut card, keeper, options, listener);
    let stop = ended.as_ref().err().cloned();
    if let Ok(outcome) = &ended {
        document::quick(report, outcome, announced);
    }
    let mut failure = stop.clone().map(Failure::from);
    document::count(report, &mut card, began);
    drop(card);
    if let Some(journal) = journal {
        let returned = Returned::after(stop.as_ref(), opened, journal, listener);
        document::add(report, returned.tally, returned.seconds);
        report.body.moved.data_kept = returned.all_is_there();
        if let Some(back) = &returned.back {
            came_back(report, back);
        }
        failure = returned.failure.or(failure);
    }
    report.header.io_path = opened.target.info().io_path.to_owned();
    failure.map_or(Ok(()), Err)
}

/// What putting back showed. Beyond the usable bytes nothing can be kept; what read as one byte repeated there was no
/// data.
fn came_back(report: &mut VerifyReport, back: &PutBack) {
    let usable = report.body.at_most_usable().unwrap_or(report.body.announced_bytes);
    let beyond = back.lost_data.iter().filter(|r| r.offset >= usable);
    let lost: u64 = back.lost.iter().filter(|r| r.offset < usable).chain(beyond).map(|r| r.len).sum();
    let unreadable: u64 = back.unreadable.iter().map(|(r, _)| r.len).sum();
    report.body.moved.data_kept = lost == 0 && unreadable == 0;
    if report.body.moved.data_kept {
        return;
    }
    if report.body.verdict == Verdict::Genuine && lost > 0 {
        (report.body.verdict, report.body.usable_bytes, report.body.confidence) =
            (Verdict::Damaged, None, 0.99);
        report.body.good_bytes = Some(report.body.announced_bytes - lost);
        report.header.findings.retain(|f| f.claim != "capacity" && f.claim != "bound");
    }
    let first = back.lost.iter().chain(back.unreadable.iter().map(|(r, _)| r)).map(|r| r.offset).min();
    report.header.findings.push(kept::not_put_back(lost, unreadable, first));
}
