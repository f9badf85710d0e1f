//! The part that measures speed: a short recipe over an area that is saved first and put back.

use super::visit::Visit;
use crate::bench::saved::{self, Pass};
use crate::error::Failure;
use crate::event::{Event, Listener};
use crate::journal::Journal;
use cardscope_engine::interrupt::Interrupt;
use cardscope_engine::runner::random::mix;
use cardscope_model::units::MIB;
use cardscope_probe::keeper::Keeper;
use cardscope_probe::site::salt;

/// Room that it needs in the journal: its area, and some for its frame.
const ROOM: u64 = 80 * MIB;

/// It takes about so many seconds on a slow card, saving and putting back included.
const SECONDS: f64 = 45.0;

impl Visit<'_> {
    pub(super) fn bench(
        &mut self,
        interrupt: &Interrupt,
        listener: &mut dyn Listener,
    ) -> Result<(), Failure> {
        let began = self.now();
        if self.budget.left(began) < 1.0 {
            self.left_out("bench", "no time was left; give a longer --budget");
            return Ok(());
        }
        let no_writes = self.no_writes();
        let in_time = self.budget.left(began) >= SECONDS || self.directory;
        let writes = no_writes.is_none() && in_time;
        let seed = mix(self.report.seed ^ 1);
        let pass =
            Pass { recipe: "short", seed, salt: salt(seed), usable: self.usable(), writes, deadline: None };
        let (measured, failure) = match self.journaled(&pass, interrupt, listener) {
            Ok(both) => both,
            Err(Failure::Refused(why)) => {
                self.left_out("bench", why);
                return Ok(());
            }
            Err(failure) => return Err(failure),
        };
        let reason = match no_writes {
            Some(why) => Some(format!("reads only: {why}")),
            None if !in_time => {
                Some("reads only: saving, writing and putting back takes longer than was left".to_owned())
            }
            None => None,
        };
        self.report.bench = measured.results;
        self.report.not_measured = measured.not_measured;
        self.done("bench", began, reason);
        match measured.failure.or(failure) {
            Some(failure) => Err(failure),
            None => Ok(()),
        }
    }

    /// A pass of the bench with a journal around it, where it writes to a card.
    fn journaled(
        &mut self,
        pass: &Pass<'_>,
        interrupt: &Interrupt,
        listener: &mut dyn Listener,
    ) -> Result<(saved::Measured, Option<Failure>), Failure> {
        if !pass.writes || self.directory {
            return Ok((saved::pass(pass, self.opened, None, interrupt, listener)?, None));
        }
        listener.event(&Event::Phase {
            what: "saving the area of the bench".into(),
            bytes: None,
            seconds: None,
        });
        let mut journal = Journal::create(&self.request.target, self.opened, ROOM)?;
        journal.wrote_with(pass.salt).map_err(Failure::refused)?;
        let keeper: &mut dyn Keeper = &mut journal;
        let measured = saved::pass(pass, self.opened, Some(keeper), interrupt, listener)?;
        let back = self.put_back(journal, None, listener).err();
        Ok((measured, back))
    }
}
