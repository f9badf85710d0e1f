//! The visit itself: one part after the other on a card that stays open, so that nobody else gets between them.

use super::budget::Budget;
use super::{Request, next};
use crate::error::Failure;
use crate::identify::judged;
use crate::opening::Opened;
use crate::recording::Recording;
use crate::troubles;
use cardscope_engine::event::Listener;
use cardscope_engine::interrupt::Interrupt;
use cardscope_model::caveat;
use cardscope_model::check::Visit as Body;
use cardscope_model::check::{CheckReport, Part, PartState};
use cardscope_model::finding::Finding;
use cardscope_model::report::{Moved, Report};
use cardscope_model::units::seconds;
use cardscope_model::verify::Verdict;

/// A visit under way.
pub(super) struct Visit<'a> {
    pub(super) request: &'a Request,
    pub(super) opened: &'a mut Opened,
    pub(super) budget: Budget,
    pub(super) directory: bool,
    pub(super) report: CheckReport,
    /// The journal that has what is not back on the card.
    pub(super) waits: Option<String>,
}

impl<'a> Visit<'a> {
    pub(super) fn new(request: &'a Request, opened: &'a mut Opened, seed: u64) -> Self {
        let now = seconds(opened.target.now());
        let info = opened.target.info();
        let report = Report {
            header: opened.header(&request.target, seed),
            body: Body {
                announced_bytes: info.bytes,
                budget_s: request.budget.as_secs_f64(),
                moved: Moved { data_kept: true, ..Moved::default() },
                ..Body::default()
            },
        };
        let directory = opened.is_directory();
        Visit { request, opened, budget: Budget::new(request.budget, now), directory, report, waits: None }
    }

    /// Every part in turn; each is on disk before the next begins.
    pub(super) fn all(
        &mut self,
        interrupt: &Interrupt,
        listener: &mut dyn Listener,
        recording: &mut Recording,
    ) -> Result<(), Failure> {
        self.info();
        recording.update(&self.report)?;
        self.verify(interrupt, listener)?;
        recording.update(&self.report)?;
        self.bench(interrupt, listener)?;
        recording.update(&self.report)?;
        self.map(interrupt, listener)?;
        recording.update(&self.report)?;
        self.marks(interrupt, listener)?;
        recording.update(&self.report)?;
        self.sustain(interrupt, listener)?;
        recording.update(&self.report)
    }

    /// The document as it is now.
    pub(super) fn close(mut self) -> CheckReport {
        let now = self.now();
        self.report.body.moved.seconds = self.budget.spent(now);
        self.report.header.io_path = self.opened.target.info().io_path.to_owned();
        caveat::add(&mut self.report.header.caveats, self.opened.target.caveats());
        self.judge_jobs();
        self.report.body.next = next::next(&self.report, self.request, self.directory);
        self.report
    }

    pub(super) fn now(&mut self) -> f64 {
        seconds(self.opened.target.now())
    }

    pub(super) fn done(&mut self, part: &str, began: f64, reason: Option<String>) {
        let state = if reason.is_some() { PartState::Partly } else { PartState::Done };
        let seconds = self.now() - began;
        self.report.body.parts.push(Part {
            part: part.to_owned(),
            state,
            seconds,
            reason,
            wants_time: false,
        });
    }

    pub(super) fn left_out(&mut self, part: &str, why: impl Into<String>) {
        let reason = Some(why.into());
        let (part, state) = (part.to_owned(), PartState::LeftOut);
        self.report.body.parts.push(Part { part, state, seconds: 0.0, reason, wants_time: false });
    }

    /// Adds conclusions of a part. That the card fails I/Os is said once.
    pub(super) fn found(&mut self, findings: impl IntoIterator<Item = Finding>) {
        for finding in findings {
            let again = self.report.header.findings.iter().any(|known| known.claim == finding.claim);
            if !(again && finding.claim == troubles::CLAIM) {
                self.report.header.findings.push(finding);
            }
        }
    }

    /// Says of the last part that a longer budget would bring what is missing.
    pub(super) fn wants_time(&mut self) {
        if let Some(part) = self.report.body.parts.last_mut() {
            part.wants_time = true;
        }
    }

    fn info(&mut self) {
        let began = self.now();
        let Some(identity) = self.opened.identity.clone() else {
            return self.left_out("info", "this target says nothing of itself");
        };
        let identity = judged(identity);
        self.report.header.findings.extend(identity.findings.clone());
        self.report.body.identity = Some(identity);
        self.done("info", began, None);
    }

    /// Bytes that may still be written, putting back not counted; `None` without a limit.
    pub(super) fn left_to_write(&self) -> Option<u64> {
        let written = self.report.body.moved.bytes_written;
        match self.directory {
            true => self.opened.limit.left(),
            false => self.request.max_write.map(|most| most.saturating_sub(written)),
        }
    }

    /// Bytes from 0 on that may be measured on: what lies beyond on a fake answers for nothing.
    pub(super) fn usable(&self) -> u64 {
        let there = self.opened.target.info().bytes;
        let usable = self.report.body.verify.as_ref().and_then(|report| report.body.at_most_usable());
        usable.map_or(there, |usable| usable.min(there))
    }

    /// Why nothing more is written to this card, if so.
    pub(super) fn no_writes(&self) -> Option<&'static str> {
        match self.report.body.verdict {
            _ if self.request.read_only => Some("--read-only was given"),
            Verdict::Dead | Verdict::ReadOnly => Some("the card keeps nothing that is written to it"),
            Verdict::Unstable | Verdict::Damaged => {
                Some("the card does not keep what is written to it for sure, so nothing more is risked")
            }
            _ if self.waits.is_some() || !self.report.body.moved.data_kept && !self.request.erase => {
                Some("what was overwritten is not all back yet")
            }
            _ => None,
        }
    }
}

/// What was left out, in a line; the document has all of it.
pub(super) fn in_a_line(what: &[String]) -> Option<String> {
    let first = what.first()?;
    Some(match what.len() {
        1 => first.clone(),
        more => format!("{first}, and {} more", more - 1),
    })
}
