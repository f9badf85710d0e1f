//! The parts that measure speed: a short recipe over an area that is saved first and put back; and the card used for a
//! while: it reads (with consent to lose what is there it writes) as long as the time allows, with small reads, a null
//! command and temperatures beside, so that heat, stalls and a busy host show.

use super::visit::{Ended, Visit, in_a_line};
use crate::bench::journaled::{self, Pass};
use crate::error::{Failure, Result};
use crate::sustain::card_limits;
use cardscope_analysis::{anomaly, long_run};
use cardscope_engine::card::Stop;
use cardscope_engine::target::Region;
use cardscope_model::finding::Finding;
use cardscope_model::random::mix;
use cardscope_model::report::Moved;
use cardscope_model::result::{NotMeasured, Run, TestResult};
use cardscope_model::sustain::{Measured, Pattern, Sample, Work};
use cardscope_model::units::{MIB, NANOS_PER_S, Nanos};
use cardscope_probe::context::{Limits, salt};
use cardscope_probe::sustain::{BLOCK, DEPTH, LEAST_REGION, Log, Options, sustain};
use cardscope_probe::write_scope::WriteScope;
use std::time::Duration;

/// Room that it needs in the journal: its area, and some for its frame.
const ROOM: u64 = 80 * MIB;

/// Seconds that putting back takes on a slow card.
const PUT_BACK: f64 = 16.0;

/// It takes about so many seconds on a slow card, saving and putting back included.
const SECONDS: f64 = 45.0;

impl Visit<'_, '_> {
    pub(super) fn bench(&mut self) -> Result<(), Ended> {
        let began = self.now();
        if self.budget.left(began) < 1.0 {
            return Err(Ended::no_time("no time was left; give a longer --budget"));
        }
        let no_writes = self.no_writes();
        if let Some(why) = no_writes.filter(|_| self.directory) {
            return Err(Ended::unwritten(why));
        }
        let in_time = self.budget.left(began) >= SECONDS || self.directory || self.request.erase;
        // What it writes to a card depends on the card; in a directory the target itself keeps to the limit.
        let limited = self.request.limits.max_write().is_some() && !self.directory;
        let writes = no_writes.is_none() && in_time && !limited;
        let seed = mix(self.report.header.seed ^ 1);
        let pass = Pass {
            recipe: "short",
            seed,
            salt: salt(seed),
            usable: self.usable(),
            writes,
            content_may_go: self.request.erase || self.directory,
            deadline: Some(self.end(began, writes)),
        };
        // Half of what may be written is for the parts to come.
        self.session.opened.limit.share_out(2);
        let measured = self.journaled(&pass);
        self.session.opened.limit.share_out(1);
        let (measured, failure) = measured?;
        let reason = match no_writes {
            Some(why) => Some(format!("read tests only: {why}")),
            None if !in_time => {
                Some("read tests only: there was no time left to save, write and restore".to_owned())
            }
            None if limited => {
                Some("read tests only: the write tests cannot be held to --max-write".to_owned())
            }
            None => None,
        };
        let lacks = |n: &NotMeasured| format!("{} {} was not measured: {}", n.test, n.op, n.reason);
        let lacking: Vec<String> = measured.not_measured.iter().map(lacks).collect();
        let reasons: Vec<String> = reason.into_iter().chain(in_a_line(&lacking)).collect();
        let reason = (!reasons.is_empty()).then(|| reasons.join("; "));
        let odd = self.odd(&measured.results, seed);
        self.report.header.findings.extend(odd);
        self.report.body.bench = measured.results;
        self.report.body.not_measured = measured.not_measured;
        let lacks_time = no_writes.is_none() && (!in_time || !self.report.body.not_measured.is_empty());
        self.done("bench", began, reason, lacks_time);
        Ended::with(failure)
    }

    /// What a person would stumble over in the figures.
    fn odd(&self, results: &[TestResult], seed: u64) -> Vec<Finding> {
        let run = Run {
            run: 1,
            counted: true,
            seed,
            results: results.to_vec(),
            not_measured: Vec::new(),
            scores: Vec::new(),
            passed: None,
        };
        anomaly::findings(&anomaly::Session {
            runs: &[run],
            condition: &self.report.header.condition,
            ceiling_mb_s: self.session.opened.ceiling_mb_s,
        })
    }

    /// When the pass must end, by the target's clock: what it writes must be put back in time, too.
    fn end(&self, began: f64, writes: bool) -> Nanos {
        let left = self.budget.left(began);
        let reserve =
            if writes && !self.directory && !self.request.erase { PUT_BACK.min(left / 2.0) } else { 0.0 };
        ((began + left - reserve) * NANOS_PER_S as f64) as Nanos
    }

    /// A pass of the bench with a journal around it, where it writes to a card.
    fn journaled(&mut self, pass: &Pass<'_>) -> Result<(journaled::Measured, Option<Failure>)> {
        let saves = pass.writes && !pass.content_may_go;
        if saves {
            self.session.events.phase("saving the area of the bench", None, None);
            self.session.begin_journal(ROOM, pass.salt)?;
        }
        let measured = journaled::pass(pass, self.session);
        let data_kept = !(pass.writes && self.request.erase);
        let stop = measured.as_ref().ok().and_then(|measured| measured.stop.clone());
        let failure = self.settle(stop, Moved { data_kept, ..Moved::default() });
        Ok((measured?, failure))
    }
}

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
        self.done("sustain", began, reading, false);
        Ended::with(self.settle(ended.err(), moved))
    }

    fn sustain_options(&mut self, seconds: f64) -> Result<Options> {
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
