//! The visit itself: one part after the other on a card that stays open, so that nobody else gets between them.

use super::budget::TimeBudget;
use super::{CheckRequest, next};
use cardscope_capacity::verb::says_errors_of_card;
use cardscope_marks::probe::MarkOptions;
use cardscope_model::check::{CheckPart, CheckReport, CheckResult as Visited, PartState};
use cardscope_model::finding::{AdvisedVerb, Finding};
use cardscope_model::progress::StagePlan;
use cardscope_model::random::mix;
use cardscope_model::report::{IoTotals, Report, ReportBody as _};
use cardscope_model::units::seconds;
use cardscope_model::verify::Verdict;
use cardscope_session::card_identity::judged;
use cardscope_session::error::{Failure, Result};
use cardscope_session::frame::{CommonOptions, Procedure, VerbOutcome, VerbSession, in_json};
use cardscope_session::opened::OpenTarget;
use cardscope_statistics::io_errors;

/// How a part ends before it has its figures.
pub(super) enum PartEnd {
    /// It is left out, and the visit goes on.
    LeftOut {
        /// Why.
        why: String,
        /// Whether a longer budget would bring it.
        wants_time: bool,
    },
    /// It ends the visit.
    Failed(Failure),
}

impl PartEnd {
    pub(super) fn left_out(why: impl Into<String>) -> Self {
        PartEnd::LeftOut { why: why.into(), wants_time: false }
    }

    /// In a directory that may not be written to.
    pub(super) fn unwritten(why: &str) -> Self {
        PartEnd::left_out(format!("in a directory the test file must be written first, and {why}"))
    }

    pub(super) fn no_time(why: &str) -> Self {
        PartEnd::LeftOut { why: why.to_owned(), wants_time: true }
    }

    /// What a part that has its figures ended with, if with anything.
    pub(super) fn with(failure: Option<Failure>) -> Result<(), PartEnd> {
        failure.map_or(Ok(()), |failure| Err(PartEnd::Failed(failure)))
    }
}

impl From<Failure> for PartEnd {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Refused(why) => PartEnd::left_out(why.to_string()),
            other => PartEnd::Failed(other),
        }
    }
}

/// A part by its name and that of its stage.
type NamedPart<V> = (&'static str, &'static str, fn(&mut V) -> Result<(), PartEnd>);

/// The stage in which the card is asked what it is.
const IDENTITY: &str = "identity";

/// A visit under way.
pub(super) struct CheckRun<'a, 's> {
    pub(super) request: &'a CheckRequest,
    pub(super) session: &'a mut VerbSession<'s>,
    pub(super) report: &'a mut CheckReport,
    pub(super) budget: TimeBudget,
    pub(super) directory: bool,
    /// How the marks were judged, once they were.
    pub(super) judging: Option<MarkOptions>,
}

impl<'a, 's> CheckRun<'a, 's> {
    pub(super) fn begin(
        request: &'a CheckRequest,
        session: &'a mut VerbSession<'s>,
        report: &'a mut CheckReport,
    ) -> Self {
        let budget = TimeBudget::new(request.budget(), seconds(session.opened.target.now()));
        let directory = session.opened.is_directory();
        CheckRun { request, session, report, budget, directory, judging: None }
    }

    /// Every part in turn; each is on disk before the next begins. One that is refused is left out.
    pub(super) fn all(&mut self) -> Result<()> {
        let parts = self.parts();
        let stages = [IDENTITY].into_iter().chain(parts.iter().map(|(_, stage, _)| *stage));
        let limit = (!self.request.takes_its_time()).then(|| self.request.budget());
        let plan = StagePlan::from_stages(stages.map(|stage| (stage, 1.0))).with_budget(limit);
        let line = plan_line(self.request, self.session.opened);
        self.session.events.plan(plan.with_summary(line));
        self.session.events.stage(IDENTITY, None, None);
        self.info();
        for (name, stage, part) in parts {
            self.session.store(self.report)?;
            self.session.events.stage(stage, None, None);
            if self.report.header.suspect_reader.is_some() {
                self.left_out(name, "the reader gives different data for the same place".to_owned(), false);
                continue;
            }
            match part(self) {
                Err(PartEnd::LeftOut { why, wants_time }) => self.left_out(name, why, wants_time),
                Err(PartEnd::Failed(failure)) => return Err(failure),
                Ok(()) => {}
            }
        }
        Ok(())
    }

    /// The parts in their order: what is claimed is tested before what nobody asked for.
    fn parts(&self) -> Vec<NamedPart<Self>> {
        let verify: NamedPart<Self> = ("verify", "capacity", Self::verify);
        let marks: NamedPart<Self> = ("marks", "speed classes", Self::marks);
        if self.request.marks {
            return vec![verify, marks];
        }
        let map: NamedPart<Self> = ("map", "flash geometry", Self::map);
        let (third, fourth) = if self.claims_marks() { (marks, map) } else { (map, marks) };
        let sustain: NamedPart<Self> = ("sustain", "sustained use", Self::sustain);
        vec![verify, ("bench", "speed", Self::bench), third, fourth, sustain]
    }

    /// What follows from all of it, or from what there is of it where it was cut short.
    pub(super) fn conclude(&mut self, ended: &Result<()>) {
        let now = self.now();
        self.report.body.moved.seconds = self.budget.spent(now);
        self.session.hear_target(&mut self.report.header);
        if says_errors_of_card(ended) {
            self.weigh_errors();
        }
        self.judge_jobs();
        self.judge_printed_speeds();
        self.report.header.findings.iter_mut().for_each(|finding| finding.drop_advice(AdvisedVerb::Check));
        self.report.header.next = next::next(self.report, self.request, self.directory, ended.is_err());
    }

    /// The seed of a part.
    pub(super) fn seed(&self, part: u64) -> u64 {
        in_json(mix(self.report.header.seed ^ part))
    }

    /// What a part has in common with the visit, with a seed of its own.
    pub(super) fn common(&self, part: u64) -> CommonOptions {
        CommonOptions { seed: Some(self.seed(part)), ..self.request.common.clone() }
    }

    /// Adds what a part moved; the time is that of the whole visit.
    pub(super) fn add(&mut self, part: &IoTotals) {
        let all = &mut self.report.body.moved;
        all.data_kept &= part.data_kept;
        // Nothing more is written once a part has left the card changed.
        all.may_have_changed = all.may_have_changed.take().or_else(|| part.may_have_changed.clone());
        all.bytes_written += part.bytes_written;
        all.bytes_restored += part.bytes_restored;
        all.bytes_read += part.bytes_read;
        all.add_failed(part.counts, &part.io_errors);
    }

    pub(super) fn now(&mut self) -> f64 {
        seconds(self.session.opened.target.now())
    }

    /// Notes a part that was carried out, with what it lacks, and whether a longer budget would bring that.
    pub(super) fn done(&mut self, part: &str, began: f64, reason: Option<String>, wants_time: bool) {
        let state = if reason.is_some() { PartState::Partly } else { PartState::Done };
        let (part, seconds) = (part.to_owned(), self.now() - began);
        self.report.body.parts.push(CheckPart { part, state, seconds, reason, wants_time });
    }

    fn left_out(&mut self, part: &str, why: String, wants_time: bool) {
        let (part, state) = (part.to_owned(), PartState::LeftOut);
        self.report.body.parts.push(CheckPart { part, state, seconds: 0.0, reason: Some(why), wants_time });
    }

    /// Runs a verb as a part; a reader that turns out to be suspect ends the visit with it.
    pub(super) fn part<P: Procedure>(&mut self, procedure: &P) -> Result<VerbOutcome<Report<P::Body>>> {
        let outcome = self.session.part(procedure)?;
        if let Some(reader) = &outcome.report.header.suspect_reader {
            self.report.header.suspect_reader = Some(reader.clone());
            self.report.body.reader_is_suspect();
        }
        Ok(outcome)
    }

    /// Adds conclusions of a part. What failed I/Os say is said once, of the whole visit.
    pub(super) fn found(&mut self, findings: impl IntoIterator<Item = Finding>) {
        let others = findings.into_iter().filter(|finding| !io_errors::is_of_errors(finding));
        self.report.header.findings.extend(others);
    }

    /// Weighs the I/Os that failed in any part beside what the card kept. Of files the places on the card are unknown.
    fn weigh_errors(&mut self) {
        let verify = self.report.body.verify.as_ref();
        let card_bytes = verify.map_or(self.session.card_bytes(), |verify| verify.body.card_bytes());
        let Visited { verdict, confidence, usable_bytes, moved, .. } = &mut self.report.body;
        let before = *verdict;
        (*verdict, *confidence) = before.with_errors(*confidence, moved.error_pattern(card_bytes), false);
        if *verdict != before {
            *usable_bytes = None;
            self.report.drop_capacity_claims();
        }
        let finding = io_errors::finding(&self.report.body.moved, card_bytes, "during the test");
        self.report.header.findings.extend(finding);
    }

    fn info(&mut self) {
        let began = self.now();
        let Some(identity) = self.session.opened.identity.clone() else {
            return self.left_out("info", "the target reports no identity".to_owned(), false);
        };
        let identity = judged(identity);
        self.report.header.findings.extend(identity.findings.clone());
        self.report.body.identity = Some(identity);
        self.done("info", began, None, false);
    }

    /// Bytes that may still be written, putting back not counted; `None` without a limit.
    pub(super) fn left_to_write(&self) -> Option<u64> {
        let written = self.report.body.moved.bytes_written;
        match self.directory {
            true => self.session.opened.limit.left(),
            false => self.request.limits.max_write().map(|most| most.saturating_sub(written)),
        }
    }

    /// Bytes from 0 on that may be measured on: what lies beyond on a fake answers for nothing.
    pub(super) fn usable(&self) -> u64 {
        let there = self.session.opened.target.info().bytes;
        let usable = self.report.body.verify.as_ref().and_then(|report| report.body.at_most_usable());
        usable.map_or(there, |usable| usable.min(there))
    }

    /// Why nothing more is written to this card, if so.
    pub(super) fn no_writes(&self) -> Option<&'static str> {
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

/// What a visit writes in a directory, before it begins; nothing else is of interest before.
fn plan_line(request: &CheckRequest, opened: &OpenTarget) -> String {
    if !opened.is_directory() {
        return String::new();
    }
    let files = "files of its own, which are removed at the end";
    match opened.limit.words() {
        Some(words) => format!("writes {files}; {words}"),
        None => format!(
            "writes {files}: as much as the card takes in {:.0} s (--max-write limits it)",
            request.budget().as_secs_f64()
        ),
    }
}

/// What was left out, in a line; the document has all of it.
pub(super) fn in_a_line(what: &[String]) -> Option<String> {
    let first = what.first()?;
    Some(match what.len() {
        1 => first.clone(),
        more => format!("{first} and {} more", more - 1),
    })
}
