//! The part that judges marks: those that the card or its label claims, and the highest it would meet.

use super::visit::Visit;
use crate::error::Failure;
use crate::event::Listener;
use crate::journal::Journal;
use crate::kept::{self, Returned};
use crate::watching::Watching;
use cardscope_engine::interrupt::Interrupt;
use cardscope_engine::runner::random::mix;
use cardscope_engine::target::Region;
use cardscope_model::judged_mark::MarksMeasured;
use cardscope_model::label;
use cardscope_model::units::MIB;
use cardscope_probe::capacity::{BLOCK, DEPTH};
use cardscope_probe::card::Card;
use cardscope_probe::keeper::Keeper;
use cardscope_probe::marks::{self, Options};
use cardscope_probe::saving::Saving;
use cardscope_probe::site::{Limits, salt};
use cardscope_probe::trouble::Stop;

/// Bytes that it may save and write: some allocation units of 4 to 16 MiB.
const MOST: u64 = 256 * MIB;

/// Share of what is left of the time; the rest is for the map.
const SHARE: f64 = 0.4;

/// Below this not even one allocation unit is written.
const LEAST_S: f64 = 4.0;

/// The test file in a directory.
const OWN_FILE: u64 = 256 * MIB;

impl Visit<'_> {
    pub(super) fn marks(
        &mut self,
        interrupt: &Interrupt,
        listener: &mut dyn Listener,
    ) -> Result<(), Failure> {
        let began = self.now();
        let why_not = match self.no_writes() {
            Some(why) => Some(why.to_owned()),
            None if self.report.verdict.is_bad() => Some("a card that lies has earned none".to_owned()),
            None if self.budget.left(began) < LEAST_S => Some("no time was left".to_owned()),
            None => None,
        };
        if let Some(why) = why_not {
            self.left_out("marks", why);
            return Ok(());
        }
        let options = self.marks_options(began)?;
        let mut measured = MarksMeasured::default();
        let failure = match self.judged_with_journal(&options, interrupt, listener, &mut measured) {
            Err(Failure::Refused(why)) => {
                self.left_out("marks", why);
                return Ok(());
            }
            ended => ended.err(),
        };
        self.report.findings.extend(measured.findings.iter().cloned());
        let reason = left_out(&measured.left_out);
        self.report.marks = Some(measured);
        self.done("marks", began, reason);
        failure.map_or(Ok(()), Err)
    }

    fn marks_options(&mut self, now: f64) -> Result<Options, Failure> {
        let region = match self.directory {
            true => self.opened.target.area(OWN_FILE).map_err(Failure::refused)?,
            false => Region { start: 0, len: self.usable() },
        };
        let limits = Limits {
            seed: mix(self.report.seed ^ 3),
            region,
            max_write: Some(MOST),
            budget: Some(self.budget.keeping(now, SHARE)),
        };
        let printed = self.request.label.as_deref().map(label::parse).transpose();
        let printed = printed.map_err(Failure::refused)?;
        let identity = self.opened.identity.as_ref();
        let ceiling = self.opened.ceiling_mb_s;
        let options = Options::of(limits, identity, printed.as_ref(), ceiling);
        Ok(Options { card_addresses: !self.directory, ..options })
    }

    /// Judges, then puts back whatever was overwritten.
    fn judged_with_journal(
        &mut self,
        options: &Options,
        interrupt: &Interrupt,
        listener: &mut dyn Listener,
        into: &mut MarksMeasured,
    ) -> Result<(), Failure> {
        let mut journal = match self.directory {
            true => None,
            false => Some(Journal::create(&self.request.target, self.opened, MOST)?),
        };
        if let Some(journal) = &mut journal {
            journal.wrote_with(salt(options.limits.seed)).map_err(Failure::refused)?;
        }
        let stop = {
            let mut card = Card::new(self.opened.target.as_mut(), interrupt, BLOCK, DEPTH)?;
            let saving = Saving::new(journal.as_mut().map(|journal| journal as &mut dyn Keeper));
            let stop = marks::judge(&mut card, saving, options, &mut Watching(listener), into).err();
            self.report.bytes_written += card.tally().written;
            self.report.bytes_read += card.tally().read;
            stop
        };
        let back = journal.map(|journal| self.put_back(journal, stop.as_ref(), listener));
        stop.map(Failure::from).or(back.and_then(Result::err)).map_or(Ok(()), Err)
    }

    /// Puts back what a journal has, and ends it where all is there again.
    pub(super) fn put_back(
        &mut self,
        mut journal: Journal,
        stop: Option<&Stop>,
        listener: &mut dyn Listener,
    ) -> Result<(), Failure> {
        let returned = Returned::after(stop, self.opened, &mut journal, &mut Watching(listener));
        self.report.bytes_restored += returned.tally.restored;
        self.report.bytes_read += returned.tally.read;
        self.report.findings.extend(returned.finding());
        let back = returned.all_is_there();
        self.report.data_kept &= back;
        let settled = kept::settle(journal, back, &mut self.report.findings);
        returned.failure.map_or(settled, Err)
    }
}

/// What was left out, in a line; the document has all of it.
fn left_out(what: &[String]) -> Option<String> {
    let first = what.first()?;
    Some(match what.len() {
        1 => first.clone(),
        more => format!("{first}, and {} more", more - 1),
    })
}
