//! The part that measures speed: a short recipe over an area that is saved first and put back.

use super::visit::{Ended, Visit, in_a_line};
use crate::bench::journaled::{self, Pass};
use crate::error::Failure;
use cardscope_analysis::anomaly;
use cardscope_model::finding::Finding;
use cardscope_model::random::mix;
use cardscope_model::report::Moved;
use cardscope_model::result::{NotMeasured, Run, TestResult};
use cardscope_model::units::{MIB, NANOS_PER_S, Nanos};
use cardscope_probe::context::salt;

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
        let limited = self.request.limits.max_write.is_some() && !self.directory;
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
        self.done("bench", began, reason);
        if no_writes.is_none() && (!in_time || !self.report.body.not_measured.is_empty()) {
            self.wants_time();
        }
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
    fn journaled(&mut self, pass: &Pass<'_>) -> Result<(journaled::Measured, Option<Failure>), Failure> {
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
