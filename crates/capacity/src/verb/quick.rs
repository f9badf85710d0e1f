//! Quick `verify`: samples and one long run. Data is saved to a journal before it is overwritten, then restored and
//! compared, however the probe ended. A card that was removed is restored later by `restore`.
//!
//! With a time budget a few reads are timed before anything is written, so that an insufficient budget is refused
//! or reported at the start.

use super::VerifyRequest;
use crate::probe::quick as capacity;
use crate::probe::quick::{MIN_IOS, MIN_RUN, QuickOptions, QuickOutcome, min_ios_for_verdict};
use cardscope_engine::content::IoContent;
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_engine::io_driver::{CardExtent, IoDriver};
use cardscope_engine::target::{IoDirection, TargetRegion};
use cardscope_journal::restoring::{RESTORING, RestoreResult};
use cardscope_journal::survey::MAX_FINGERPRINTS;
use cardscope_model::finding::{Finding, FindingWeight};
use cardscope_model::progress::StagePlan;
use cardscope_model::random::mix_bits;
use cardscope_model::report::{IoTotals, ReportBody as _};
use cardscope_model::units::{DecimalSize, MIB, nanos_to_seconds};
use cardscope_model::verify::{Verdict, Verification, VerifyReport};
use cardscope_probing::context::{self, ProbeLimits};
use cardscope_probing::io_size::{PROBE_BLOCK, PROBE_DEPTH};
use cardscope_session::error::{Failure, Result};
use cardscope_session::frame::{NOT_RESTORED, VerbSession, as_probe_journal};
use cardscope_session::open_target::{OpenTarget, TargetType};
use std::time::Duration;

const MIN_TARGET_BYTES: u64 = MIB;

/// Bytes besides the run that a probe may save: markers, ranges, search of the boundary.
const OTHER_BYTES: u64 = 192 * MIB;

/// Least room of a journal, however short the time is.
const MIN_JOURNAL_BYTES: u64 = 32 * MIB;

impl VerifyRequest {
    /// Probes, then restores overwritten data, also after an interruption or error.
    pub(super) fn run_quick(&self, session: &mut VerbSession<'_>, report: &mut VerifyReport) -> Result<()> {
        let bytes = session.bytes();
        if bytes < MIN_TARGET_BYTES {
            let why = format!("has only {bytes} bytes, too few for the quick test; use `verify --full`");
            return Err(Failure::refused(format!("{} {why}", self.common.target)));
        }
        let limits = ProbeLimits {
            seed: mix_bits(report.header.seed),
            region: TargetRegion { start: 0, len: bytes },
            max_write: self.limits.max_write(),
            budget: self.limits.budget,
        };
        let mut options = QuickOptions { thorough: self.thorough, limits };
        let began = nanos_to_seconds(session.opened.target.now());
        let moved = &mut report.body.moved;
        let keeps = !self.erase;
        let cost = |budget| ReadCost::measure(session.opened, budget, keeps, session.interrupt, moved);
        let afford = options.limits.budget.map(cost).transpose()?;
        if keeps {
            let room = max_saved(&options, bytes, afford.as_ref());
            session.begin_journal(room, context::stamp_salt(options.limits.seed))?;
        }
        if let Some(remark) = afford.as_ref().and_then(|afford| afford.budget_remark(bytes)) {
            session.events.report_note(&remark);
        }
        let line = plan_line(&options, bytes, afford.as_ref(), session);
        // The timed reads have used part of the budget.
        let spent = Duration::from_secs_f64((nanos_to_seconds(session.opened.target.now()) - began).max(0.0));
        options.limits.budget = options.limits.budget.map(|budget| budget.saturating_sub(spent));
        session.begin_row(report)?;
        // The restoration reads all data anyway, so the probe reads little of it back.
        let stages: &[_] = match self.erase {
            true => &[(capacity::WRITING, 0.6), (capacity::READING_BACK, 0.4)],
            false => &[(capacity::WRITING, 0.5), (capacity::READING_BACK, 0.05), (RESTORING, 0.45)],
        };
        let plan = StagePlan::from_stages(stages.iter().copied()).with_budget(self.limits.budget);
        session.events.announce_plan(plan.with_summary(line));
        let ended =
            session.run_probe((PROBE_BLOCK, PROBE_DEPTH), &mut report.body.moved, |card, journal, events| {
                capacity::probe_card(card, as_probe_journal(journal), &options, events)
            });
        let ended = ended.map(|outcome| fill_report(report, outcome, bytes)).err();
        let usable = report.body.max_usable_bytes();
        let (returned, ended) = session.restore_after_probe(ended, usable, &mut report.body.moved);
        let not_back = returned.as_ref().and_then(|returned| returned.finding(usable));
        if let Some(back) = returned.and_then(|returned| returned.result) {
            judge_restoration(report, &back, usable);
        }
        if let Some(not_back) = not_back {
            report.withdraw_verdict(NOT_RESTORED);
            report.header.findings.push(not_back);
        }
        session.collect_target_caveats(&mut report.header);
        ended
    }
}

impl VerifyRequest {
    /// Refuses contradictory options before anything is opened.
    pub(super) fn check_quick(&self, target: TargetType) -> Result<()> {
        if self.read_only {
            return Err(Failure::refused("--read-only needs --full or --files, whose data it rereads"));
        }
        if target == TargetType::Directory {
            return Err(Failure::refused(format!(
                "{0} is a directory; test its free space with `verify {0} --files`, or name the card's device \
             (`cardscope list`)",
                self.common.target
            )));
        }
        Ok(())
    }
}

/// Most bytes to save, within the write limit and the time budget.
fn max_saved(options: &QuickOptions, bytes: u64, afford: Option<&ReadCost>) -> u64 {
    let limit = options.limits.max_write.map(|most| most.saturating_add(MIB));
    let in_time = afford.map(|cost| cost.affordable_bytes().saturating_add(MIN_JOURNAL_BYTES));
    let most = (options.run_bytes(bytes) + OTHER_BYTES).min(bytes);
    limit.into_iter().chain(in_time).fold(most, u64::min)
}

fn plan_line(options: &QuickOptions, bytes: u64, afford: Option<&ReadCost>, session: &VerbSession) -> String {
    let limits = options.limits.max_write.into_iter().chain(afford.map(ReadCost::affordable_bytes));
    let run = limits.fold(options.run_bytes(bytes), u64::min);
    let keeps = match &session.journal {
        Some(journal) => format!("overwritten data is saved in {} and restored", journal.path().display()),
        None => "all data on the card is lost".to_owned(),
    };
    format!("writes up to {} (to a fake with a cache up to four times that); {keeps}", DecimalSize(run))
}

fn fill_report(report: &mut VerifyReport, outcome: QuickOutcome, announced: u64) {
    report.header.findings.extend(outcome.findings(announced));
    let Verification { method, announced_bytes, moved, .. } = std::mem::take(&mut report.body);
    report.body = Verification { method, announced_bytes, moved, ..outcome.body };
}

/// Adjusts the verdict by losses that the restoration found.
fn judge_restoration(report: &mut VerifyReport, back: &RestoreResult, usable: Option<u64>) {
    let usable = usable.unwrap_or(u64::MAX);
    let lost = back.lost.iter().filter(|range| range.offset < usable).map(|range| range.len);
    let lost = lost.sum::<u64>().max(back.lost_at_first);
    if report.body.verdict == Verdict::Genuine && lost > 0 {
        report.body.record_lost_bytes(lost);
        report.drop_capacity_claims();
        report.header.findings.extend(restoration_loss_finding(back));
    }
}

/// Reports data that was lost and kept after a second restoration.
fn restoration_loss_finding(back: &RestoreResult) -> Option<Finding> {
    let lost = back.lost_at_first;
    (lost > 0 && back.lost.is_empty()).then(|| {
        let size = DecimalSize(lost);
        let text = format!("The card lost {size} of restored data; restored again, all of it is there.");
        Finding::new("blocks-not-as-written", FindingWeight::Bad, 0.99, text)
            .because("lost bytes", lost)
            .with_advice("Copy the data and do not keep any on this card.")
    })
}

/// Small reads that are timed; on some cards the first one is slower.
const TIMED_READS: u64 = 3;

const SMALL_BYTES: u32 = 4096;

/// Bytes of a large read, which shows the speed.
const LARGE_BYTES: u64 = MIB;

/// Share of the budget after which the timed reads end.
const MAX_TIMING_SHARE: f64 = 0.05;

/// Transfers per overwritten byte: read twice and saved, written, restored and compared, the last two twice if the
/// card loses data.
const TRANSFERS_PER_BYTE: f64 = 9.0;

/// I/Os per MiB for saving, restoring and comparing.
const IOS_PER_MIB: f64 = 7.0;

/// Cost of I/O on this card, estimated before the test.
#[derive(Debug, Clone, Copy)]
struct ReadCost {
    budget: f64,
    /// Seconds per I/O.
    io_s: f64,
    /// Seconds per byte.
    byte_s: f64,
    /// I/Os before and after the probe.
    other_ios: u64,
}

impl ReadCost {
    /// Times a few reads. Refuses a budget that is too short for the shortest test.
    fn measure(
        opened: &mut OpenTarget,
        budget: Duration,
        keeps: bool,
        interrupt: &InterruptFlag,
        moved: &mut IoTotals,
    ) -> Result<ReadCost> {
        let mut card = IoDriver::new(opened.target.as_mut(), interrupt, LARGE_BYTES as u32, 1)?;
        let found = ReadCost::time_reads(&mut card, budget.as_secs_f64(), keeps);
        moved.add_failed(card.counts(), card.io_errors());
        found
    }

    fn time_reads(card: &mut IoDriver<'_>, budget: f64, keeps: bool) -> Result<ReadCost> {
        let (began, all) = (card.seconds(), card.bytes());
        let mut each = f64::INFINITY;
        for n in 0..TIMED_READS {
            let offset = all / (TIMED_READS + 1) * (n + 1) / LARGE_BYTES * LARGE_BYTES;
            let extent = CardExtent { offset, len: SMALL_BYTES };
            let took = card.time_io(IoDirection::Read, IoContent::Buffer, extent)?;
            each = took.unwrap_or(each).min(each);
            if card.seconds() - began > budget * MAX_TIMING_SHARE {
                break;
            }
        }
        let io_s = if each.is_finite() { each } else { 0.0 };
        let other_ios = if keeps { MAX_FINGERPRINTS } else { 0 };
        let mut found = ReadCost { budget, io_s, byte_s: 0.0, other_ios };
        found.refuse_too_little()?;
        let offset = all / 2 / LARGE_BYTES * LARGE_BYTES;
        let large = CardExtent { offset, len: LARGE_BYTES.min(all / 2) as u32 };
        let took = card.time_io(IoDirection::Read, IoContent::Buffer, large)?.unwrap_or_default();
        found.byte_s = (took - io_s).max(0.0) / f64::from(large.len);
        Ok(found)
    }

    fn refuse_too_little(&self) -> Result<()> {
        let ios = self.other_ios + MIN_IOS;
        let least = ios as f64 * self.io_s;
        if least <= self.budget {
            return Ok(());
        }
        let (ReadCost { budget, io_s, .. }, enough) = (self, (2.0 * least).ceil());
        Err(Failure::refused(format!(
            "{budget:.0} s is too short for this card: the test needs at least {ios} I/Os of {io_s:.2} s. Nothing was \
             written; give at least --budget {enough:.0}s"
        )))
    }

    /// Most bytes that can be overwritten and restored in the time.
    fn affordable_bytes(&self) -> u64 {
        let each = TRANSFERS_PER_BYTE * self.byte_s + IOS_PER_MIB * self.io_s / MIB as f64;
        (self.budget / each).min(u64::MAX as f64) as u64
    }

    /// Warning if the time is too short to prove a genuine card.
    fn budget_remark(&self, card_bytes: u64) -> Option<String> {
        let ios = (self.other_ios + min_ios_for_verdict(card_bytes)) as f64;
        let needed = ios * self.io_s + TRANSFERS_PER_BYTE * MIN_RUN as f64 * self.byte_s;
        (needed > self.budget).then(|| {
            format!(
                "{:.0} s is too short to prove this card genuine: at {:.2} s per I/O it takes about {:.0} s",
                self.budget, self.io_s, needed
            )
        })
    }
}
