//! What every verb that keeps the card's data does around its probe: a journal before, everything put back and
//! compared after, however the probe ended; what could not be put back is said, and where it is.

use crate::error::JournalFailure;
use crate::journal::Journal;
use crate::put_back::{RestoreResult, joined, put_back};
use crate::survey::{CardSurvey, SurveyExtent, survey};
use cardscope_engine::card::{IoDriver, IoTally, ProbeStop};
use cardscope_engine::event::Listener;
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_engine::journal::{JournalWriter as _, SavedRange};
use cardscope_engine::target::{Target, TargetError};
use cardscope_model::finding::{Finding, FindingWeight};
use cardscope_model::shell::quoted;
use cardscope_model::verify::IoCounts;
use cardscope_model::verify::IoError;

/// Places that are read before a card's data is put back, beside those that the test left alone.
const PLACES: usize = 64;

/// Bytes of an I/O while data is put back, and how many are in flight: 8 MiB of memory.
const BLOCK: u32 = 4 << 20;
const DEPTH: u32 = 2;

/// What became of the card's data after a probe.
#[derive(Debug, Default)]
pub struct RestoreOutcome {
    /// What was put back; `None` where nothing could be.
    pub back: Option<RestoreResult>,
    /// Bytes moved for it.
    pub tally: IoTally,
    /// I/Os that it took, and how many of them failed.
    pub counts: IoCounts,
    /// The first of those that failed.
    pub io_errors: Vec<IoError>,
    /// Seconds of the card's clock that it took.
    pub seconds: f64,
    /// Why it was not put back.
    pub failure: Option<JournalFailure>,
    /// What had been overwritten, in order.
    overwritten: Vec<SavedRange>,
}

impl RestoreOutcome {
    /// Puts back what a probe overwrote that ended with `stop`, or without. A card that is gone or changed, or another
    /// card than before, is not written to; after any other error (no memory, one failed flush) it is tried, since the card still
    /// answers.
    pub fn after(
        stop: Option<&ProbeStop>,
        target: &mut dyn Target,
        journal: &mut Journal,
        events: &mut dyn Listener,
    ) -> RestoreOutcome {
        let mut returned =
            RestoreOutcome { overwritten: joined(journal.saved()), ..RestoreOutcome::default() };
        if matches!(stop, Some(ProbeStop::Target(TargetError::Gone { .. } | TargetError::Changed { .. }))) {
            return returned;
        }
        if let Err(failure) = still_in(target, journal) {
            returned.failure = Some(failure);
            return returned;
        }
        if let Err(stop) = returned.put_back(target, journal, events) {
            returned.failure = Some(stop.into());
        }
        returned
    }

    fn put_back(
        &mut self,
        target: &mut dyn Target,
        journal: &mut Journal,
        events: &mut dyn Listener,
    ) -> Result<(), ProbeStop> {
        // Its own interrupt: Ctrl-C ended the probe, and the card's data must come back all the same.
        let own = InterruptFlag::default();
        let mut card = match IoDriver::new(target, &own, BLOCK, DEPTH) {
            Ok(card) => card,
            // Where memory is short, one I/O at a time does as well.
            Err(_) => IoDriver::new(target, &own, BLOCK, 1)?,
        };
        let began = card.seconds();
        let back = put_back(&mut card, journal, events);
        self.tally = card.tally();
        self.counts = card.counts();
        self.io_errors = card.io_errors().to_vec();
        self.seconds = card.seconds() - began;
        self.back = Some(back?);
        Ok(())
    }

    /// What may not hold what it held before the test, in order: all that was overwritten where nothing could be put back.
    /// `usable` is what is left of a fake.
    pub fn may_have_changed(&self, usable: Option<u64>) -> Vec<SavedRange> {
        self.back.as_ref().map_or_else(|| self.overwritten.clone(), |back| back.may_have_changed(usable))
    }

    /// What could not be put back.
    pub fn finding(&self, usable: Option<u64>) -> Option<Finding> {
        let back = self.back.as_ref()?;
        let finding = back.finding(&back.may_have_changed(usable))?;
        Some(finding.advise("Copy your data, then run `cardscope restore` again."))
    }
}

/// Refuses to write to another card than the one that the journal is about. It was held open all the time, so a card that
/// answers is the same one, unless nothing on it is as the test left it.
fn still_in(target: &mut dyn Target, journal: &mut Journal) -> Result<(), JournalFailure> {
    if journal.saved().is_empty() {
        return Ok(());
    }
    // Its own interrupt: Ctrl-C ended the probe, and the card's data must come back all the same.
    let mut card = IoDriver::new(target, &InterruptFlag::default(), 4096, 1)?;
    // One sign is enough: on a slow card each look costs time that the user counts.
    let (CardSurvey { same, ours, foreign, read, .. }, _) =
        survey(&mut card, journal, SurveyExtent::Sign(PLACES), 0)?;
    let why = match (read, same + ours, foreign) {
        (0, ..) => "the card cannot be read, so it may be another one",
        (_, 0, 1..) => "the slot now holds another card",
        _ => return Ok(()),
    };
    Err(JournalFailure::Io(format!("{why}; nothing more was written to it").into()))
}

/// A journal whose content is all on the card again goes; any other stays, and is named.
pub fn settle(
    journal: Journal,
    all_is_there: bool,
    findings: &mut Vec<Finding>,
) -> Result<(), JournalFailure> {
    if all_is_there {
        return journal.finish();
    }
    let path = journal.path().display().to_string();
    findings.push(
        Finding::new("journal-waits", FindingWeight::Hint, 1.0, "The card's data is saved in a journal.")
            .because("journal", &path)
            .advise(format!("Run `cardscope restore {}` to restore it.", quoted(&path))),
    );
    Ok(())
}
