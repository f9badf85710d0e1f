//! The probe of a map, and putting back after it: also after an interruption or an error.

use super::document;
use super::ground::Ground;
use crate::error::Failure;
use crate::format::CardBytes;
use crate::journal::Journal;
use crate::kept::Returned;
use crate::opening::Opened;
use cardscope_device::contents;
use cardscope_engine::event::Listener;
use cardscope_engine::interrupt::Interrupt;
use cardscope_model::card_map::advice::{AFTER_DISCARD, Facts, Place};
use cardscope_model::card_map::{MapReport, Tried};
use cardscope_probe::capacity::{BLOCK, DEPTH};
use cardscope_probe::card::Card;
use cardscope_probe::keeper::Keeper;
use cardscope_probe::map::{self, Options, discard};
use cardscope_probe::saving::Saving;
use cardscope_probe::site;
use cardscope_probe::trouble::Stop;
use std::cell::RefCell;

/// A run over a card.
pub(super) struct Run<'a> {
    pub(super) ground: &'a Ground,
    pub(super) options: &'a Options,
    pub(super) interrupt: &'a Interrupt,
}

impl Run<'_> {
    /// Measures, then puts back whatever was overwritten.
    pub(super) fn all(
        &self,
        opened: &mut Opened,
        mut journal: Option<&mut Journal>,
        listener: &mut dyn Listener,
        report: &mut MapReport,
        facts: &mut Facts,
    ) -> Result<(), Failure> {
        if let Some(journal) = journal.as_deref_mut() {
            let salted = journal.wrote_with(site::salt(self.options.limits.seed));
            salted.map_err(|e| Failure::Refused(format!("{e}; nothing was written to the card")))?;
        }
        let mut card = Card::new(opened.target.as_mut(), self.interrupt, BLOCK, DEPTH)?;
        let began = card.seconds();
        let stop = self.measure(&mut card, journal.as_deref_mut(), listener, report, facts).err();
        document::count(report, &mut card, began);
        drop(card);
        let mut failure = stop.clone().map(Failure::from);
        report.body.moved.data_kept =
            !matches!(self.ground, Ground::Free(_)) || report.body.moved.bytes_written == 0;
        if let Some(journal) = journal {
            let returned = Returned::after(stop.as_ref(), opened, journal, listener);
            document::add(report, returned.tally, returned.seconds);
            report.body.moved.data_kept = returned.all_is_there();
            report.header.findings.extend(returned.finding());
            failure = returned.failure.or(failure);
        }
        failure.map_or(Ok(()), Err)
    }

    fn measure(
        &self,
        card: &mut Card<'_>,
        journal: Option<&mut Journal>,
        watch: &mut dyn Listener,
        report: &mut MapReport,
        facts: &mut Facts,
    ) -> Result<(), Stop> {
        let began = card.seconds();
        if facts.place == Place::Card {
            facts.layout = contents::present(&CardBytes(RefCell::new(&mut *card)), None);
        }
        let saving = Saving::new(journal.map(|journal| journal as &mut dyn Keeper));
        map::map(card, saving, self.options, watch, &mut report.body.measured)?;
        let mut left = self.options.clone();
        let spent = card.seconds() - began;
        left.limits.budget =
            left.limits.budget.map(|budget| budget.saturating_sub(std::time::Duration::from_secs_f64(spent)));
        let before = report.body.measured.small_writes.take();
        self.try_discard(card, &left, watch, before, facts)
    }

    /// Discard loses what stands there, so it is tried only where that may go.
    fn try_discard(
        &self,
        card: &mut Card<'_>,
        left: &Options,
        watch: &mut dyn Listener,
        before: Option<Tried>,
        facts: &mut Facts,
    ) -> Result<(), Stop> {
        let why_not = match self.ground {
            Ground::Free(_) if left.only.is_empty() => {
                return discard::try_discard(card, left, watch, before, &mut facts.tried);
            }
            Ground::Free(_) => "only other parts were asked for",
            Ground::Nothing(_) => "only reading was asked for",
            Ground::Saved(_) => {
                "what is on the card is kept, and discard would lose it; give --region START+LEN or --erase to have it tried"
            }
            Ground::OwnFile(_) => "in a directory the file system decides what is discarded",
        };
        facts.tried.push(discard::left_out(AFTER_DISCARD, why_not));
        Ok(())
    }
}
