//! The part that uses the card for a while: it reads (with consent to lose what is there it writes) as long as the time
//! allows, with small reads, a null command and temperatures beside, so that heat, stalls and a busy host show.

use super::visit::{Ended, Visit};
use crate::error::Failure;
use crate::sustain::card_limits;
use cardscope_analysis::long_run;
use cardscope_engine::card::Stop;
use cardscope_engine::target::Region;
use cardscope_model::random::mix;
use cardscope_model::report::Moved;
use cardscope_model::sustain::{Measured, Pattern, Sample, Work};
use cardscope_model::units::MIB;
use cardscope_probe::context::Limits;
use cardscope_probe::sustain::{BLOCK, DEPTH, LEAST_REGION, Log, Options, sustain};
use cardscope_probe::write_scope::WriteScope;
use std::time::Duration;

/// Below this nothing would have time to happen.
const LEAST_S: f64 = 10.0;

/// Longer than this belongs to `sustain`.
const MOST_S: f64 = 60.0;

/// The test file in a directory.
const OWN_FILE: u64 = 64 * MIB;

/// The visit keeps the part as a whole when it is over.
struct NoLog;

impl Log for NoLog {
    fn sample(&mut self, _sample: &Sample) -> Result<(), Stop> {
        Ok(())
    }
}

impl Visit<'_, '_> {
    pub(super) fn sustain(&mut self) -> Result<(), Ended> {
        let began = self.now();
        let left = self.budget.left(began);
        if left < LEAST_S {
            return Err(Ended::no_time("no time was left; `cardscope sustain` takes the time it needs"));
        }
        if let Some(why) = self.no_writes().filter(|_| self.directory) {
            return Err(Ended::unwritten(why));
        }
        let options = self.sustain_options(left.min(MOST_S))?;
        let mut measured = Measured { limits: options.card_limits, ..Measured::default() };
        let mut moved = Moved::default();
        let ended = self.session.drive((BLOCK, DEPTH), &mut moved, |card, _, events| {
            sustain(card, WriteScope::new(None), &options, events, &mut NoLog, &mut measured)
        });
        moved.data_kept = moved.bytes_written == 0 || self.directory;
        let reading = (options.work == Work::Read).then(|| {
            let how =
                if self.directory { "`cardscope sustain` writes, too" } else { "`--erase` lets it write" };
            format!("read test only, so that what is on the card is kept; {how}")
        });
        self.found(long_run::findings(
            &measured,
            &moved.io_errors,
            &self.report.header.condition,
            moved.bytes_written,
        ));
        self.report.body.sustain = Some(measured);
        self.done("sustain", began, reading);
        Ended::with(self.settle(ended.err(), moved))
    }

    fn sustain_options(&mut self, seconds: f64) -> Result<Options, Failure> {
        let writes = self.request.erase && self.no_writes().is_none();
        if self.session.opened.limit.left().is_some_and(|left| left < OWN_FILE) {
            return Err(self.session.opened.limit.refuse("a long run", OWN_FILE));
        }
        let region = match self.directory {
            true => self.session.opened.target.area(OWN_FILE).map_err(Failure::refused)?,
            false => Region { start: 0, len: self.usable() / BLOCK_BYTES * BLOCK_BYTES },
        };
        if region.len < LEAST_REGION {
            return Err(Failure::refused("the card is too small for it"));
        }
        let whole = self.session.opened.target.info().whole_card;
        let limits = Limits { seed: mix(self.report.header.seed ^ 4), region, max_write: None, budget: None };
        Ok(Options {
            limits,
            work: if writes { Work::Write } else { Work::Read },
            pattern: Pattern::Sequential,
            duration: Duration::from_secs_f64(seconds),
            bytes: self.left_to_write().filter(|_| writes),
            max_celsius: None,
            card_limits: card_limits(self.session.opened),
            card_bytes: whole.then_some(self.report.body.announced_bytes),
            prepare: self.directory,
        })
    }
}

const BLOCK_BYTES: u64 = BLOCK as u64;
