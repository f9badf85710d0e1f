//! Parts that measure speed: a short recipe over an area that is saved and restored; and sustained use, which reads (or
//! writes, if data may be lost) as long as time allows, with small reads, null commands and temperatures in between, to
//! show heat, stalls and a busy host.

use super::check_run::{CheckRun, PartEnd, first_and_count};
use cardscope_bench::verb as bench;
use cardscope_endurance::probe::sustain::SEQUENTIAL_BLOCK;
use cardscope_endurance::verb::sustain::{self, NoManualReading};
use cardscope_engine::target::TargetRegion;
use cardscope_model::identity::Identity;
use cardscope_model::label_check::{self, JudgedSpeed, MeasuredSpeeds};
use cardscope_model::result::{NotMeasured, RunResult, TestResult};
use cardscope_model::test_name::{IoOrder, TestOp};
use cardscope_model::units::{MIB, NANOS_PER_S, Nanos};
use cardscope_sd::label;
use cardscope_session::frame::VerbOutcome;
use std::time::Duration;

/// Seconds for restoring on a slow card.
const RESTORE_S: f64 = 16.0;

/// Seconds that the recipe takes on a slow card, with saving and restoring.
const SECONDS: f64 = 45.0;

impl CheckRun<'_, '_> {
    pub(super) fn run_bench(&mut self) -> Result<(), PartEnd> {
        let began = self.now();
        if self.budget.seconds_left(began) < 1.0 {
            return Err(PartEnd::out_of_time("no time left (`--budget`)"));
        }
        let no_writes = self.no_write_reason();
        if let Some(why) = no_writes.filter(|_| self.directory) {
            return Err(PartEnd::directory_unwritten(why));
        }
        let in_time = self.budget.seconds_left(began) >= SECONDS || self.directory || self.request.erase;
        // The amount written to a card depends on its speed. In a directory the target enforces the limit.
        let limited = self.request.limits.max_write().is_some() && !self.directory;
        let writes = no_writes.is_none() && in_time && !limited;
        let short = bench::BenchPart {
            request: bench::BenchRequest {
                common: self.common(1),
                recipe: "short".to_owned(),
                ..bench::BenchRequest::default()
            },
            usable: self.usable_bytes(),
            writes,
            may_lose_data: self.request.erase || self.directory,
            deadline: self.pass_deadline(began, writes),
        };
        // The other half of the write limit is for later parts.
        self.session.opened.limit.reserve_shares(2);
        let ended = self.run_part(&short);
        self.session.opened.limit.reserve_shares(1);
        let VerbOutcome { report: found, failure } = ended?;
        let measured = found.body.runs.into_iter().next();
        let RunResult { results, not_measured, .. } = measured.unwrap_or_default();
        let without_writes = match no_writes {
            None if !in_time => Some("no time left for writes"),
            None if limited => Some("write tests cannot be limited by --max-write"),
            no_writes => no_writes,
        };
        let reason = without_writes.map(|why| format!("read tests only: {why}"));
        let lacks = |n: &NotMeasured| format!("{} {} was not measured: {}", n.test, n.op, n.reason);
        let lacking: Vec<String> = not_measured.iter().map(lacks).collect();
        let reasons: Vec<String> = reason.into_iter().chain(first_and_count(&lacking)).collect();
        let reason = (!reasons.is_empty()).then(|| reasons.join("; "));
        let lacks_time = no_writes.is_none() && (!in_time || !not_measured.is_empty());
        self.report.body.bench = results;
        self.report.body.not_measured = not_measured;
        self.end_part(("bench", began), reason, lacks_time, failure)
    }

    /// Judges the printed speeds by the sequential results. In a directory `verify` has done so with its files.
    pub(super) fn judge_printed_speeds(&mut self) {
        let label = self.request.label.as_deref().and_then(|text| label::parse(text).ok());
        let Some(label) = label.filter(|_| !self.directory) else { return };
        let body = &self.report.body;
        let runs = |op: TestOp, more: Option<f64>| {
            let pattern = |r: &TestResult| r.name().pattern.order;
            let in_order = body.bench.iter().filter(|r| r.op == op && pattern(r) == IoOrder::Sequential);
            in_order.map(|r| r.mb_s).chain(more).collect::<Vec<f64>>()
        };
        let marks = body.marks.as_ref();
        let written = marks.and_then(|marks| marks.writing.first()).map(|writing| writing.mb_s);
        let measured = MeasuredSpeeds {
            read_mb_s: runs(TestOp::Read, marks.and_then(|marks| marks.read_mb_s)),
            write_mb_s: runs(TestOp::Write, written),
            bus: self.session.opened.identity.as_ref().and_then(Identity::bus_mode),
            ceiling_mb_s: self.session.opened.ceiling_mb_s,
        };
        let judged = label_check::judge_speeds(&label, &measured);
        self.add_findings(judged.iter().map(JudgedSpeed::finding));
        self.report.body.printed_speeds = judged;
    }

    /// Deadline of the pass by the target's clock, early enough to restore what it wrote.
    fn pass_deadline(&self, began: f64, writes: bool) -> Nanos {
        let left = self.budget.seconds_left(began);
        let restores = writes && !self.directory && !self.request.erase;
        let reserve = if restores { RESTORE_S.min(left / 2.0) } else { 0.0 };
        ((began + left - reserve) * NANOS_PER_S as f64) as Nanos
    }
}

/// Shortest useful duration in seconds.
const LEAST_S: f64 = 10.0;

/// Longest duration in seconds. Longer tests belong to `sustain`.
const MOST_S: f64 = 60.0;

const OWN_FILE: u64 = 64 * MIB;

impl CheckRun<'_, '_> {
    pub(super) fn run_sustain(&mut self) -> Result<(), PartEnd> {
        let began = self.now();
        let left = self.budget.seconds_left(began);
        if left < LEAST_S {
            return Err(PartEnd::out_of_time("no time left (`cardscope sustain`)"));
        }
        if let Some(why) = self.no_write_reason().filter(|_| self.directory) {
            return Err(PartEnd::directory_unwritten(why));
        }
        let request = self.sustain_request(left.min(MOST_S));
        let mut readings = NoManualReading;
        let part = request.with_manual_readings(&mut readings)?;
        let VerbOutcome { report: found, failure } = self.run_part(&part)?;
        self.report.body.sustain = Some(found.body.measured);
        let writes =
            if self.directory { "`cardscope sustain` also writes" } else { "`--erase` allows writes" };
        let reason = format!("read test only, to preserve the data on the card; {writes}");
        self.end_part(("sustain", began), request.read.then_some(reason), false, failure)
    }

    fn sustain_request(&self, seconds: f64) -> sustain::SustainRequest {
        let writes = self.request.erase && self.no_write_reason().is_none();
        let whole_blocks = TargetRegion { start: 0, len: self.usable_bytes() / BLOCK_BYTES * BLOCK_BYTES };
        sustain::SustainRequest {
            common: self.common(4),
            read: !writes,
            write: writes,
            duration: Duration::from_secs_f64(seconds),
            bytes: self.writes_left().filter(|_| writes),
            region: (!self.directory).then_some(whole_blocks),
            size: self.directory.then_some(OWN_FILE),
            ..sustain::SustainRequest::default()
        }
    }
}

const BLOCK_BYTES: u64 = SEQUENTIAL_BLOCK as u64;
