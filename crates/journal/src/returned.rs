//! What every verb that keeps the card's data does around its probe: a journal before, everything put back and
//! compared after, however the probe ended; what could not be put back is said, and where it is.

use crate::error::Error;
use crate::journal::Journal;
use crate::put_back::{PutBack, joined, put_back};
use crate::survey::{Extent, Survey, survey};
use cardscope_engine::card::{Card, Stop, Tally};
use cardscope_engine::event::Listener;
use cardscope_engine::interrupt::Interrupt;
use cardscope_engine::journal::{Journal as _, SavedRange};
use cardscope_engine::target::{Target, TargetError};
use cardscope_model::finding::{Finding, Weight};
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
pub struct Returned {
    /// What was put back; `None` where nothing could be.
    pub back: Option<PutBack>,
    /// Bytes moved for it.
    pub tally: Tally,
    /// I/Os that it took, and how many of them failed.
    pub counts: IoCounts,
    /// The first of those that failed.
    pub io_errors: Vec<IoError>,
    /// Seconds of the card's clock that it took.
    pub seconds: f64,
    /// Why it was not put back.
    pub failure: Option<Error>,
    /// What had been overwritten, in order.
    overwritten: Vec<SavedRange>,
}

impl Returned {
    /// Puts back what a probe overwrote that ended with `stop`, or without. A card that is gone or changed, or another
    /// card than before, is not written to; after any other error (no memory, one failed flush) it is tried, since the card still
    /// answers.
    pub fn after(
        stop: Option<&Stop>,
        target: &mut dyn Target,
        journal: &mut Journal,
        events: &mut dyn Listener,
    ) -> Returned {
        let mut returned = Returned { overwritten: joined(journal.saved()), ..Returned::default() };
        if matches!(stop, Some(Stop::Target(TargetError::Gone { .. } | TargetError::Changed { .. }))) {
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
    ) -> Result<(), Stop> {
        // Its own interrupt: Ctrl-C ended the probe, and the card's data must come back all the same.
        let own = Interrupt::default();
        let mut card = match Card::new(target, &own, BLOCK, DEPTH) {
            Ok(card) => card,
            // Where memory is short, one I/O at a time does as well.
            Err(_) => Card::new(target, &own, BLOCK, 1)?,
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
fn still_in(target: &mut dyn Target, journal: &mut Journal) -> Result<(), Error> {
    if journal.saved().is_empty() {
        return Ok(());
    }
    // Its own interrupt: Ctrl-C ended the probe, and the card's data must come back all the same.
    let mut card = Card::new(target, &Interrupt::default(), 4096, 1)?;
    // One sign is enough: on a slow card each look costs time that the user counts.
    let (Survey { same, ours, foreign, read, .. }, _) = survey(&mut card, journal, Extent::Sign(PLACES), 0)?;
    let why = match (read, same + ours, foreign) {
        (0, ..) => "the card cannot be read, so it may be another one",
        (_, 0, 1..) => "the slot now holds another card",
        _ => return Ok(()),
    };
    Err(Error::Io(format!("{why}; nothing more was written to it").into()))
}

/// A journal whose content is all on the card again goes; any other stays, and is named.
pub fn settle(journal: Journal, all_is_there: bool, findings: &mut Vec<Finding>) -> Result<(), Error> {
    if all_is_there {
        return journal.finish();
    }
    let path = journal.path().display().to_string();
    findings.push(
        Finding::new("journal-waits", Weight::Hint, 1.0, "The card's data is saved in a journal.")
            .because("journal", &path)
            .advise(format!("Run `cardscope restore {}` to restore it.", quoted(&path))),
    );
    Ok(())
}
