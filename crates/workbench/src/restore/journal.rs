//! Restoring a journal. Doing it again, or after it was stopped anywhere, does no harm: what was saved last is put back
//! first, and the journal goes only when the card was read again and everything is there.

use super::recognise::{self, Survey};
use super::{Outcome, Request, empty, ended, fill_in, must_be_card};
use crate::consent::{Consent, DataKept, Question, obtain};
use crate::error::Failure;
use crate::event::Listener;
use crate::journal::Journal;
use crate::opening;
use crate::watching::Watching;
use cardscope_engine::interrupt::Interrupt;
use cardscope_model::restore::{RecognisedBy, RestoreReport, RestoreSource};
use cardscope_probe::card::Card;
use cardscope_probe::keeper::Keeper;
use cardscope_probe::restore::put_back;
use cardscope_probe::trouble::Stop;

/// Bytes of an I/O, and how many are in flight: 4 MiB of memory.
const BLOCK: u32 = 1 << 20;
const DEPTH: u32 = 4;

pub(super) fn restore(
    request: &Request,
    consent: &mut dyn Consent,
    interrupt: &Interrupt,
    listener: &mut dyn Listener,
) -> Result<Outcome, Failure> {
    let mut journal = Journal::open(&request.file)?;
    let target = request.target.clone().unwrap_or_else(|| journal.about().target.clone());
    let mut report = empty(&request.file, RestoreSource::Journal, &target, &journal.about().began);
    report.announced_bytes = journal.about().announced_bytes;
    report.saved_bytes = journal.kept().iter().map(|kept| kept.len).sum();
    if journal.restored() {
        report
            .notes
            .push("everything in this journal was put back before; the card was not touched".to_owned());
        return Ok(close(journal, report));
    }
    if journal.kept().is_empty() && !damaged(&journal) {
        report.notes.push("its test ended before it overwrote anything; the card was not touched".to_owned());
        return Ok(close(journal, report));
    }
    must_be_card(&target)?;
    let mut opened = opening::open(&target, true, &mut DataKept, interrupt)?;
    let named = recognise::size_and_identity(&journal, &opened, &target)?;
    let mut card = Card::new(opened.target.as_mut(), interrupt, BLOCK, DEPTH).map_err(failure)?;
    let survey = match recognise::survey(&mut card, &mut journal) {
        Ok(survey) => survey,
        Err(stop) => return Ok(ended(report, Some(failure(stop)))),
    };
    report.recognised_by = Some(recognised(&survey, named, &target, consent)?);
    report.differed_bytes = Some(survey.differing);
    tell(&survey, named, &mut report);
    if survey.differing > 0 {
        match put_back(&mut card, &mut journal, &mut Watching(listener)) {
            Ok(done) => fill_in(&mut report, done),
            Err(stop) => return Ok(ended(report, Some(failure(stop)))),
        }
    } else {
        report.compared = true;
        report.unreadable = unreadable(&mut journal);
        report.notes.push("every place holds what was saved from it already; nothing was written".to_owned());
    }
    drop(card);
    Ok(settle(journal, report))
}

/// A card that does not look like it can be written to all the same, if the user says that it is the one.
fn recognised(
    survey: &Survey,
    named: bool,
    target: &str,
    consent: &mut dyn Consent,
) -> Result<RecognisedBy, Failure> {
    let why = match survey.recognise(named) {
        Ok(by) => return Ok(by),
        Err(why) => why,
    };
    let at_stake = format!("{target}, which does not look like the card of this journal ({why})");
    obtain(consent, &Question { target: target.to_owned(), at_stake })
        .map(|()| RecognisedBy::Consent)
        .map_err(|_| {
            Failure::Refused(format!(
                "{target} does not look like the card of this journal: {why}; nothing was written. If it is the card all the same, say so with --yes-destroy {target}"
            ))
        })
}

fn tell(survey: &Survey, named: bool, report: &mut RestoreReport) {
    if survey.foreign > 0 && (named || survey.differing > 0) {
        report.notes.push(format!(
            "{} sectors held neither what was saved nor what the test wrote: the card changed them, or somebody wrote since",
            survey.foreign
        ));
    }
    if survey.unread > 0 {
        report.notes.push(format!("{} sectors could not be read before", survey.unread));
    }
}

/// What of the journal itself is damaged, where nothing had to be put back.
fn unreadable(journal: &mut Journal) -> Vec<cardscope_model::restore::RestoreRange> {
    let mut original = Vec::new();
    let mut bad = Vec::new();
    for kept in journal.kept() {
        if let Err(error) = journal.original(kept, &mut original) {
            let reason = Some(error.to_string());
            bad.push(cardscope_model::restore::RestoreRange { offset: kept.offset, len: kept.len, reason });
        }
    }
    bad
}

fn damaged(journal: &Journal) -> bool {
    journal.damage().lost_ranges > 0
}

/// The journal goes when nothing is left that it could be needed for, and stays with a reason otherwise.
fn settle(journal: Journal, mut report: RestoreReport) -> Outcome {
    let lost = journal.damage().lost_ranges;
    if lost > 0 {
        report.notes.push(format!(
            "the journal is damaged: {lost} ranges or more that it had are gone, and which ones is not known"
        ));
    }
    if let Some((start, end)) = journal.damage().tail {
        report.notes.push(format!(
            "bytes {start} to {end} of the journal are no record: after a power cut that is normal and means that nothing more was overwritten; if the journal was damaged, what it had there is not restored"
        ));
    }
    let why = if journal.damage().tail.is_some() {
        Some("its end may be damaged")
    } else if report.is_bad() || lost > 0 {
        Some("not everything could be restored")
    } else if report.recognised_by == Some(RecognisedBy::SizeOnly) && report.bytes_restored == 0 {
        Some("nothing tells whether this is its card")
    } else {
        None
    };
    match why {
        Some(why) => {
            report
                .notes
                .push(format!("the journal stays, since {why}; remove it by hand when it is not needed"));
            ended(report, None)
        }
        None => close(journal, report),
    }
}

fn close(journal: Journal, mut report: RestoreReport) -> Outcome {
    match journal.finish() {
        Ok(()) => {
            report.removed = true;
            ended(report, None)
        }
        Err(failure) => ended(report, Some(failure)),
    }
}

fn failure(stop: Stop) -> Failure {
    match stop {
        Stop::Interrupted => Failure::Interrupted,
        other => Failure::Io(format!("{other}; the journal stays, restore it again")),
    }
}
