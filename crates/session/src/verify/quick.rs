//! `verify`, quick: a few samples and one long run. What is on the card is saved to a journal before it is overwritten,
//! put back and compared afterwards, however the probe ended; a card that is gone by then is put right by `restore`.

use super::afford::Afford;
use super::{Request, document};
use crate::error::Failure;
use crate::frame::{Session, as_probes_know};
use cardscope_journal::put_back::PutBack;
use cardscope_journal::returned;
use cardscope_model::random::mix;
use cardscope_model::units::{BinarySize, Capacity, MIB, seconds};
use cardscope_model::verify::{Verdict, VerifyReport};
use cardscope_probe::capacity::{self, BLOCK, DEPTH, Options};
use std::time::Duration;

/// Below this there is nothing that a sample could tell.
const SMALLEST: u64 = MIB;

/// Bytes beside the run that a probe may save: markers, stretches, the search for the boundary.
const BESIDES: u64 = 192 * MIB;

/// Room that a journal is given however short the time is.
const SMALLEST_ROOM: u64 = 32 * MIB;

/// Probes, then puts back whatever was overwritten, also after an interruption or an error.
pub(super) fn run(
    request: &Request,
    session: &mut Session<'_>,
    report: &mut VerifyReport,
) -> Result<(), Failure> {
    let bytes = session.bytes();
    if bytes < SMALLEST {
        return Err(Failure::refused(format!(
            "{} has {bytes} bytes; below 1 MiB there is nothing to probe, `verify --full` tests every block",
            request.common.target
        )));
    }
    let mut options = Options {
        thorough: request.thorough,
        max_write: request.limits.max_write,
        budget: request.limits.budget,
        seed: mix(report.header.seed),
    };
    let began = seconds(session.opened.target.now());
    let look = |budget| Afford::look(session.opened, budget, !request.erase, session.interrupt);
    let afford = options.budget.map(look).transpose()?;
    if !request.erase {
        session.begin_journal(most_saved(&options, bytes, afford.as_ref()), capacity::salt(&options))?;
    }
    plan(&options, bytes, afford.as_ref(), session);
    // Looking at the card before it is written to took some of the time.
    let spent = Duration::from_secs_f64((seconds(session.opened.target.now()) - began).max(0.0));
    options.budget = options.budget.map(|budget| budget.saturating_sub(spent));
    session.begin_row(report)?;
    let ended = session.drive((BLOCK, DEPTH), &mut report.body.moved, |card, journal, events| {
        capacity::probe(card, as_probes_know(journal), &options, events)
    });
    if let Ok(outcome) = &ended {
        document::quick(report, outcome, bytes);
    }
    let (returned, ended) = session.put_back_after(ended.err(), &mut report.body.moved);
    if let Some(back) = returned.and_then(|returned| returned.back) {
        came_back(report, &back);
    }
    session.hear_target(&mut report.header);
    ended
}

/// Refuses what goes against itself, before anything is opened.
pub(super) fn check(request: &Request) -> Result<(), Failure> {
    if request.read_only {
        return Err(Failure::refused(
            "--read-only reads again what --full or --files wrote: give one of them too",
        ));
    }
    if request.common.names_directory() {
        return Err(Failure::refused(format!(
            "{0} is a directory: `verify {0} --files` fills its free space, or name the card's device (`cardscope list`)",
            request.common.target
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
fn plan(options: &Options, bytes: u64, afford: Option<&Afford>, session: &mut Session<'_>) {
    let most = options.max_write.unwrap_or(u64::MAX).min(afford.map_or(u64::MAX, Afford::bytes));
    let run = options.run_bytes(bytes).min(most);
    if let Some(remark) = afford.and_then(|afford| afford.remark(bytes)) {
        session.events.note(&remark);
    }
    let keeps = match &session.journal {
        Some(journal) => format!("what it overwrites is kept in {} and put back", journal.path().display()),
        None => "what is on the card is lost".to_owned(),
    };
    session.events.note(&format!(
        "writes up to {} to a genuine card of {}, on a fake with a cache up to four times that; {keeps}",
        BinarySize(run >> 20 << 20),
        Capacity(bytes)
    ));
}

/// What putting back showed. Beyond the usable bytes nothing can be kept; what read as one byte repeated there was no
/// data.
fn came_back(report: &mut VerifyReport, back: &PutBack) {
    let usable = report.body.at_most_usable().unwrap_or(report.body.announced_bytes);
    let beyond = back.lost_data.iter().filter(|r| r.offset >= usable);
    let lost: u64 = back.lost.iter().filter(|r| r.offset < usable).chain(beyond).map(|r| r.len).sum();
    let unreadable = back.unreadable_bytes();
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
    report.header.findings.push(returned::not_put_back(lost, unreadable, back.first_missing()));
}
