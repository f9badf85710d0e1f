//! Restores the card after a probe, however the probe ended, and reports what could not be restored.

use crate::journal::Journal;
use crate::restoring::{RestoreResult, merged_ranges, restore_from_journal};
use crate::survey::{SurveyExtent, survey_card};
use crate::{JournalFailure, Result};
use cardscope_engine::event::Listener;
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_engine::io_driver::{IoDriver, IoTally, ProbeStop};
use cardscope_engine::journal::{JournalWriter as _, SavedRange};
use cardscope_engine::target::{Target, TargetError};
use cardscope_model::finding::{Finding, FindingWeight};
use cardscope_model::shell::shell_quote;
use cardscope_model::verify::{IoCounts, IoError};

/// Blocks of the journal that are compared before restoring, in addition to the fingerprints.
const COMPARED_PLACES: usize = 64;

/// Bytes of an I/O and I/Os in flight: 8 MiB of memory.
const BLOCK: u32 = 4 << 20;
const DEPTH: u32 = 2;

#[derive(Debug, Default)]
pub struct RestoreOutcome {
    /// Result of restoring; `None` if it did not run to its end.
    pub result: Option<RestoreResult>,
    pub tally: IoTally,
    pub counts: IoCounts,
    pub io_errors: Vec<IoError>,
    /// Seconds by the card's clock.
    pub seconds: f64,
    /// Reason why the card was not restored.
    pub failure: Option<JournalFailure>,
    /// Ranges that the probe overwrote, in order.
    overwritten: Vec<SavedRange>,
}

impl RestoreOutcome {
    /// Restores what a probe overwrote that ended with `stop`. A card that is gone, changed or another one is not
    /// written to. After other errors (no memory, one failed flush) restoring is tried, because the card still
    /// answers.
    pub fn restore_after_probe(
        stop: Option<&ProbeStop>,
        target: &mut dyn Target,
        journal: &mut Journal,
        events: &mut dyn Listener,
    ) -> RestoreOutcome {
        let overwritten = merged_ranges(journal.saved_ranges());
        let mut outcome = RestoreOutcome { overwritten, ..RestoreOutcome::default() };
        if matches!(stop, Some(ProbeStop::Target(TargetError::Gone { .. } | TargetError::Changed { .. }))) {
            return outcome;
        }
        let checked = check_same_card(target, journal);
        let restored = checked.and_then(|()| Ok(outcome.restore(target, journal, events)?));
        outcome.failure = restored.err();
        outcome
    }

    fn restore(
        &mut self,
        target: &mut dyn Target,
        journal: &mut Journal,
        events: &mut dyn Listener,
    ) -> Result<(), ProbeStop> {
        // Ctrl-C has ended the probe, but the data must be restored all the same, so this has its own interrupt.
        let own = InterruptFlag::default();
        let mut card = match IoDriver::new(target, &own, BLOCK, DEPTH) {
            Ok(card) => card,
            Err(_) => IoDriver::new(target, &own, BLOCK, 1)?,
        };
        let began = card.seconds();
        let back = restore_from_journal(&mut card, journal, events);
        self.tally = card.tally();
        self.counts = card.counts();
        self.io_errors = card.io_errors().to_vec();
        self.seconds = card.seconds() - began;
        self.result = Some(back?);
        Ok(())
    }

    /// Ranges that may differ from before the test: everything overwritten if nothing was restored. `usable` is the
    /// real size of a fake.
    pub fn may_have_changed(&self, usable: Option<u64>) -> Vec<SavedRange> {
        self.result.as_ref().map_or_else(|| self.overwritten.clone(), |back| back.may_have_changed(usable))
    }

    pub fn finding(&self, usable: Option<u64>) -> Option<Finding> {
        let back = self.result.as_ref()?;
        let finding = back.finding(&back.may_have_changed(usable))?;
        Some(finding.with_advice("Copy your data, then run `cardscope restore` again."))
    }
}

/// Refuses to write to another card than the journal's. The device stayed open, so a card that answers is the same one,
/// unless none of its content is as the test left it.
fn check_same_card(target: &mut dyn Target, journal: &mut Journal) -> Result<()> {
    if journal.saved_ranges().is_empty() {
        return Ok(());
    }
    let mut card = IoDriver::new(target, &InterruptFlag::default(), 4096, 1)?;
    // One match is enough: on a slow card each read costs time of the user's budget.
    let (survey, _) = survey_card(&mut card, journal, SurveyExtent::FirstMatch(COMPARED_PLACES), 0)?;
    let why = match (survey.read, survey.original + survey.stamped, survey.foreign) {
        (0, ..) => "the card cannot be read, so it may be another one",
        (_, 0, 1..) => "the slot now holds another card",
        _ => return Ok(()),
    };
    Err(JournalFailure::Io(format!("{why}; nothing more was written to it").into()))
}

/// Removes the journal if everything is restored; otherwise keeps it and adds a finding that names it.
pub fn close_journal(journal: Journal, done: bool, notes: &mut Vec<Finding>) -> Result<()> {
    if done {
        return journal.finish();
    }
    let path = journal.path().display().to_string();
    notes.push(
        Finding::new("journal-waits", FindingWeight::Hint, 1.0, "The card's data is saved in a journal.")
            .because("journal", &path)
            .with_advice(format!("Run `cardscope restore {}` to restore it.", shell_quote(&path))),
    );
    Ok(())
}
