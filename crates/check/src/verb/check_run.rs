//! Runs one part after the other on a card that stays open, so that no other program gets in between.

use super::{CheckRequest, next};
use cardscope_capacity::verb::are_errors_of_card;
use cardscope_marks::probe::MarkOptions;
use cardscope_model::check::{CheckPart, CheckReport, CheckResult as Visited, PartState};
use cardscope_model::finding::{AdvisedVerb, Finding};
use cardscope_model::progress::StagePlan;
use cardscope_model::random::mix_bits;
use cardscope_model::report::{IoTotals, Report, ReportBody};
use cardscope_model::units::nanos_to_seconds;
use cardscope_model::verify::Verdict;
use cardscope_session::card_identity::with_findings;
use cardscope_session::error::{Failure, Result};
use cardscope_session::frame::{CommonOptions, Procedure, VerbOutcome, VerbSession, json_safe_seed};
use cardscope_session::open_target::OpenTarget;
use cardscope_statistics::io_errors;
use std::time::Duration;

/// Early end of a part, without results.
pub(super) enum PartEnd {
    /// Skipped; the next part follows.
    Skipped {
        why: String,
        /// True if a longer budget would allow it.
        wants_time: bool,
    },
    /// Failed, which ends the whole test.
    Failed(Failure),
}

impl PartEnd {
    pub(super) fn skipped(why: impl Into<String>) -> Self {
        PartEnd::Skipped { why: why.into(), wants_time: false }
    }

    /// Skips a part because a directory may not be written to.
    pub(super) fn directory_unwritten(why: &str) -> Self {
        PartEnd::skipped(format!("in a directory the test file must be written first, and {why}"))
    }

    pub(super) fn out_of_time(why: &str) -> Self {
        PartEnd::Skipped { why: why.to_owned(), wants_time: true }
    }
}

impl From<Failure> for PartEnd {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Refused(why) => PartEnd::skipped(why.to_string()),
            other => PartEnd::Failed(other),
        }
    }
}

/// Share of `verify`, if data may be lost.
const VERIFY: f64 = 0.5;

/// Share of `verify` if data is preserved. It covers a fake, on which everything must be restored twice; on other cards
/// the reserve remains unused, and half of the budget is spent.
const VERIFY_KEEPING: f64 = 0.85;

/// Budget in seconds of the target's clock: about half for the capacity, the rest for speed and the other parts. Each share
/// includes restoring.
#[derive(Debug, Clone, Copy)]
pub(super) struct TimeBudget {
    began: f64,
    total_s: f64,
}

impl TimeBudget {
    pub(super) fn new(all: Duration, now: f64) -> Self {
        TimeBudget { began: now, total_s: all.as_secs_f64() }
    }

    /// Time for `verify`, restoring included.
    pub(super) fn verify_time(&self, keeps: bool) -> Duration {
        Duration::from_secs_f64(self.total_s * if keeps { VERIFY_KEEPING } else { VERIFY })
    }

    pub(super) fn seconds_left(&self, now: f64) -> f64 {
        (self.began + self.total_s - now).max(0.0)
    }

    /// Share of the remaining time, restoring included.
    pub(super) fn share_of_rest(&self, now: f64, share: f64) -> Duration {
        Duration::from_secs_f64(self.seconds_left(now) * share)
    }
}

/// Name of a part, name of its stage, and the method that runs it.
type NamedPart<V> = (&'static str, &'static str, fn(&mut V) -> Result<(), PartEnd>);

/// Name of the stage in which the card is identified.
const IDENTITY: &str = "identity";

pub(super) struct CheckRun<'a, 's> {
    pub(super) request: &'a CheckRequest,
    pub(super) session: &'a mut VerbSession<'s>,
    pub(super) report: &'a mut CheckReport,
    pub(super) budget: TimeBudget,
    pub(super) directory: bool,
    /// Options of the marks test, once it ran.
    pub(super) marks_options: Option<MarkOptions>,
}

impl<'a, 's> CheckRun<'a, 's> {
    pub(super) fn begin(
        request: &'a CheckRequest,
        session: &'a mut VerbSession<'s>,
        report: &'a mut CheckReport,
    ) -> Self {
        let budget = TimeBudget::new(request.budget(), nanos_to_seconds(session.opened.target.now()));
        let directory = session.opened.is_directory();
        CheckRun { request, session, report, budget, directory, marks_options: None }
    }

    /// Runs all parts. Each is stored before the next begins; a refused one is skipped.
    pub(super) fn run_parts(&mut self) -> Result<()> {
        let parts = self.parts();
        let stages = [IDENTITY].into_iter().chain(parts.iter().map(|(_, stage, _)| *stage));
        let limit = (!self.request.has_no_time_limit()).then(|| self.request.budget());
        let plan = StagePlan::from_stages(stages.map(|stage| (stage, 1.0))).with_budget(limit);
        let line = plan_line(self.request, self.session.opened);
        self.session.events.announce_plan(plan.with_summary(line));
        self.session.events.begin_stage(IDENTITY, None, None);
        self.add_identity();
        for (name, stage, part) in parts {
            self.session.store_report(self.report)?;
            self.session.events.begin_stage(stage, None, None);
            // A reader that returns wrong data makes all further results meaningless.
            if self.report.header.suspect_reader.is_some() {
                self.report_skipped(name, "the reader gives different data for the same place", false);
                continue;
            }
            match part(self) {
                Err(PartEnd::Skipped { why, wants_time }) => self.report_skipped(name, why, wants_time),
                Err(PartEnd::Failed(failure)) => return Err(failure),
                Ok(()) => {}
            }
        }
        Ok(())
    }

    /// Parts in order: claims are tested before anything else.
    fn parts(&self) -> Vec<NamedPart<Self>> {
        let verify: NamedPart<Self> = ("verify", "capacity", Self::run_verify);
        let marks: NamedPart<Self> = ("marks", "speed classes", Self::test_marks);
        if self.request.marks {
            return vec![verify, marks];
        }
        let map: NamedPart<Self> = ("map", "flash geometry", Self::run_map);
        let (third, fourth) = if self.claims_marks() { (marks, map) } else { (map, marks) };
        let sustain: NamedPart<Self> = ("sustain", "sustained use", Self::run_sustain);
        vec![verify, ("bench", "speed", Self::run_bench), third, fourth, sustain]
    }

    /// Adds conclusions from all parts, or from those that ran before an early end.
    pub(super) fn conclude(&mut self, ended: &Result<()>) {
        let now = self.now();
        self.report.body.moved.seconds = now - self.budget.began;
        self.session.collect_target_caveats(&mut self.report.header);
        if are_errors_of_card(ended) {
            self.apply_io_errors();
        }
        self.judge_jobs();
        self.judge_printed_speeds();
        self.report.header.findings.iter_mut().for_each(|finding| finding.drop_advice(AdvisedVerb::Check));
        self.report.header.next = next::next_steps(self.report, self.request, self.directory, ended.is_err());
    }

    /// Seed of a part.
    pub(super) fn seed(&self, part: u64) -> u64 {
        json_safe_seed(mix_bits(self.report.header.seed ^ part))
    }

    /// Common options of a part, with its own seed.
    pub(super) fn common(&self, part: u64) -> CommonOptions {
        CommonOptions { seed: Some(self.seed(part)), ..self.request.common.clone() }
    }

    /// Adds the I/O of a part. The time is that of the whole test.
    fn add_moved(&mut self, part: &IoTotals) {
        let all = &mut self.report.body.moved;
        all.data_kept &= part.data_kept;
        // Once a part has left the card changed, nothing more is written.
        all.may_have_changed = all.may_have_changed.take().or_else(|| part.may_have_changed.clone());
        all.bytes_written += part.bytes_written;
        all.bytes_restored += part.bytes_restored;
        all.bytes_read += part.bytes_read;
        all.add_failed(part.counts, &part.io_errors);
    }

    pub(super) fn now(&mut self) -> f64 {
        nanos_to_seconds(self.session.opened.target.now())
    }

    /// Reports a part that has its figures, and the failure that ended it.
    pub(super) fn end_part(
        &mut self,
        (part, began): (&str, f64),
        reason: Option<String>,
        wants_time: bool,
        failure: Option<Failure>,
    ) -> Result<(), PartEnd> {
        self.report_done(part, began, reason, wants_time);
        failure.map_or(Ok(()), |failure| Err(PartEnd::Failed(failure)))
    }

    /// Reports a part that ran, with the reason if it is incomplete, and whether a longer budget would help.
    fn report_done(&mut self, part: &str, began: f64, reason: Option<String>, wants_time: bool) {
        let state = if reason.is_some() { PartState::Partly } else { PartState::Done };
        let (part, seconds) = (part.to_owned(), self.now() - began);
        self.report.body.parts.push(CheckPart { part, state, seconds, reason, wants_time });
    }

    fn report_skipped(&mut self, part: &str, why: impl Into<String>, wants_time: bool) {
        let (part, state, reason) = (part.to_owned(), PartState::LeftOut, Some(why.into()));
        self.report.body.parts.push(CheckPart { part, state, seconds: 0.0, reason, wants_time });
    }

    /// Runs a verb as a part, and takes over its I/O, its findings and its verdict on a suspect reader.
    pub(super) fn run_part<P: Procedure>(&mut self, procedure: &P) -> Result<VerbOutcome<Report<P::Body>>> {
        let mut outcome = self.session.run_part(procedure)?;
        if let Some(reader) = &outcome.report.header.suspect_reader {
            self.report.header.suspect_reader = Some(reader.clone());
            self.report.body.mark_reader_suspect();
        }
        self.add_results(&mut outcome.report);
        Ok(outcome)
    }

    /// Adds I/O and findings of a part.
    pub(super) fn add_results<B: ReportBody>(&mut self, part: &mut Report<B>) {
        if let Some(moved) = part.body.io_totals() {
            self.add_moved(moved);
        }
        self.add_findings(part.header.findings.iter().cloned());
    }

    /// Adds findings of a part, except those on failed I/Os, which the whole test reports once.
    pub(super) fn add_findings(&mut self, findings: impl IntoIterator<Item = Finding>) {
        let others = findings.into_iter().filter(|finding| !io_errors::is_io_error_finding(finding));
        self.report.header.findings.extend(others);
    }

    /// Lets failed I/Os of all parts count in the verdict. The positions of files on the card are unknown.
    fn apply_io_errors(&mut self) {
        let verify = self.report.body.verify.as_ref();
        let card_bytes = verify.map_or(self.session.card_bytes(), |verify| verify.body.card_bytes());
        let Visited { verdict, confidence, usable_bytes, moved, .. } = &mut self.report.body;
        let before = *verdict;
        (*verdict, *confidence) = before.with_errors(*confidence, moved.error_pattern(card_bytes), false);
        if *verdict != before {
            *usable_bytes = None;
            self.report.drop_capacity_claims();
        }
        let finding = io_errors::io_error_finding(&self.report.body.moved, card_bytes, "during the test");
        self.report.header.findings.extend(finding);
    }

    fn add_identity(&mut self) {
        let began = self.now();
        let Some(identity) = self.session.opened.identity.clone() else {
            return self.report_skipped("info", "the target reports no identity", false);
        };
        let identity = with_findings(identity);
        self.report.header.findings.extend(identity.findings.clone());
        self.report.body.identity = Some(identity);
        self.report_done("info", began, None, false);
    }

    /// Bytes that may still be written, restoring not counted; `None` without a limit.
    pub(super) fn writes_left(&self) -> Option<u64> {
        let written = self.report.body.moved.bytes_written;
        match self.directory {
            true => self.session.opened.limit.bytes_left(),
            false => self.request.limits.max_write().map(|most| most.saturating_sub(written)),
        }
    }

    /// Bytes from 0 on that may be measured. Addresses beyond the real capacity of a fake mean nothing.
    pub(super) fn usable_bytes(&self) -> u64 {
        let there = self.session.opened.target.info().bytes;
        let usable = self.report.body.verify.as_ref().and_then(|report| report.body.max_usable_bytes());
        usable.map_or(there, |usable| usable.min(there))
    }

    /// Reason why nothing more may be written to this card; `None` if writing is allowed.
    pub(super) fn no_write_reason(&self) -> Option<&'static str> {
        match self.report.body.verdict {
            _ if self.request.read_only => Some("--read-only was given"),
            Verdict::Dead | Verdict::ReadOnly => Some("the card loses all data written to it"),
            Verdict::Unstable | Verdict::Damaged => Some("the card may lose data, so no more is written"),
            _ if !self.report.body.moved.data_kept && !self.request.erase => {
                Some("the saved data is not fully restored yet")
            }
            _ => None,
        }
    }
}

/// Line before the start: how much is written to a directory. Empty for cards.
fn plan_line(request: &CheckRequest, opened: &OpenTarget) -> String {
    if !opened.is_directory() {
        return String::new();
    }
    let files = "files of its own, which are removed at the end";
    match opened.limit.warning_text() {
        Some(words) => format!("writes {files}; {words}"),
        None => format!(
            "writes {files}: as much as the card takes in {:.0} s (--max-write limits it)",
            request.budget().as_secs_f64()
        ),
    }
}

/// First item of a list and the number of others. The document has all of them.
pub(super) fn first_and_count(what: &[String]) -> Option<String> {
    let first = what.first()?;
    Some(match what.len() {
        1 => first.clone(),
        more => format!("{first} and {} more", more - 1),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verify_gets_half_or_85_percent_of_the_budget() {
        let budget = TimeBudget::new(Duration::from_secs(180), 1000.0);
        assert_eq!(budget.verify_time(false), Duration::from_secs(90));
        assert_eq!(budget.verify_time(true), Duration::from_secs(153));
        assert_eq!((budget.seconds_left(1100.0), budget.seconds_left(2000.0)), (80.0, 0.0));
        assert_eq!(budget.share_of_rest(1100.0, 0.5), Duration::from_secs(40));
        assert_eq!(budget.share_of_rest(1100.0, 0.6), Duration::from_secs(48));
    }
}
