//! `verify`: tests the capacity with one of three methods, which share one document.

pub mod files;
pub mod full;
pub mod quick;

pub use crate::request::VerifyRequest;

use cardscope_device::contents;
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_engine::io_driver::IoDriver;
use cardscope_model::finding::{Finding, FindingWeight};
use cardscope_model::identity::Identity;
use cardscope_model::label_check::{self, LabelEvidence, MeasuredSpeeds};
use cardscope_model::present_layout::PresentLayout;
use cardscope_model::verify::{
    CapacityCause, FilesReport, MapSpeed, SpeedMap, StatedSizes, TestMethod, TransferPace, Verdict,
    Verification, VerifyReport,
};
use cardscope_sd::label::CardLabel;
use cardscope_sd::registers::CrcStatus;
use cardscope_session::after_verdict::{TestedCard, steps_after_verdict};
use cardscope_session::archive_access::open_existing;
use cardscope_session::card_bytes::CardBytes;
use cardscope_session::card_key::card_key;
use cardscope_session::consent::ConsentSource;
use cardscope_session::error::{Failure, Result};
use cardscope_session::frame::{CardNeeds, CommonOptions, Procedure, VerbSession, withdraw_good_verdict};
use cardscope_session::open_target::{OpenTarget, TargetType};
use cardscope_session::opening::ResolvedTarget;
use cardscope_statistics::io_errors;
use serde::Deserialize as _;
use std::path::Path;

impl Procedure for VerifyRequest {
    const VERB: &'static str = "verify";
    type Body = Verification;

    fn common(&self) -> &CommonOptions {
        &self.common
    }

    fn needs(&self) -> CardNeeds {
        match self.method() {
            _ if self.read_only => CardNeeds::Read,
            TestMethod::Quick if !self.erase => CardNeeds::WriteAndRestore,
            // Only the test's own files are written, so no data is lost.
            TestMethod::Files => CardNeeds::WriteAndRestore,
            _ => CardNeeds::Overwrite(None),
        }
    }

    fn check(&self, target: TargetType) -> Result<()> {
        refuse_misplaced_options(self)?;
        // An unreadable label must be refused before the test, not after it.
        self.printed_label()?;
        match self.method() {
            TestMethod::Quick => self.check_quick(target),
            TestMethod::Full => self.check_full(target),
            TestMethod::Files => Ok(()),
        }
    }

    fn open(
        &self,
        target: ResolvedTarget,
        consent: &mut dyn ConsentSource,
        interrupt: &InterruptFlag,
    ) -> Result<OpenTarget> {
        match self.method() {
            TestMethod::Files => files::open_directory(self, None, interrupt),
            _ => cardscope_session::frame::open_for_verb(self, target, consent, interrupt),
        }
    }

    fn run(&self, session: &mut VerbSession<'_>, report: &mut VerifyReport) -> Result<()> {
        report.body.method = self.method();
        report.body.announced_bytes = session.bytes();
        let ended = match self.method() {
            TestMethod::Quick => self.run_quick(session, report),
            TestMethod::Full => self.run_full(session, report),
            TestMethod::Files => self.run_files(session, report),
        };
        withdraw_good_verdict(report, ended.as_ref().err());
        let layout = ended.is_ok().then(|| read_layout(session, &mut report.body)).flatten();
        let weighed = are_errors_of_card(&ended);
        if weighed && report.body.weigh_errors() {
            report.drop_capacity_claims();
        }
        let printed = self.printed_label()?;
        if let Some(printed) = &printed {
            judge_label(report, printed, session.opened);
        }
        if ended.is_ok() {
            explain_capacity(self, session, report, printed.as_ref(), layout);
        }
        if weighed {
            let found = &report.body;
            let failed = io_errors::io_error_finding(&found.moved, found.card_bytes(), "during the test");
            report.header.findings.extend(failed);
        }
        if report.body.verdict == Verdict::Inconclusive && report.body.reason.is_none() {
            report.body.reason =
                Some(inconclusive_reason(self, session.opened, report.body.moved.seconds, &ended));
        }
        let (label, options) = (self.label.as_deref(), self.repeat_options());
        let tested = TestedCard { common: &self.common, label, options };
        let next = steps_after_verdict(&tested, &report.body, &report.header.findings);
        report.header.next.extend(next);
        ended
    }
}

/// Reason of an inconclusive test, as the end of a sentence.
fn inconclusive_reason(request: &VerifyRequest, open: &OpenTarget, spent: f64, ended: &Result<()>) -> String {
    let budget = request.limits.budget;
    let time_is_up = budget.is_some_and(|budget| spent >= SPENT_SHARE * budget.as_secs_f64());
    let limit = request.limits.max_write().map(|_| "write limit reached".to_owned());
    let limit = limit.or_else(|| open.limit.reason()).filter(|_| !time_is_up);
    match ended {
        Err(Failure::Interrupted) => "interrupted".to_owned(),
        Err(_) => "an error ended the test".to_owned(),
        Ok(()) => limit.unwrap_or_else(|| match budget {
            Some(_) => "time limit reached".to_owned(),
            None => "too little for a verdict".to_owned(),
        }),
    }
}

/// Least used share of the time budget at which it counts as the cause of an early end.
const SPENT_SHARE: f64 = 0.8;

/// True if failed I/Os indicate faults of the card. They do not if it was removed during the test.
pub fn are_errors_of_card(ended: &Result<()>) -> bool {
    !matches!(ended, Err(Failure::Io(_) | Failure::Refused(_)))
}

/// Refuses options of another method, so that none is ignored silently, in particular none that saves data.
fn refuse_misplaced_options(request: &VerifyRequest) -> Result<()> {
    let is_for = |method| request.method() == method;
    let (quick, full) = (is_for(TestMethod::Quick), is_for(TestMethod::Full));
    let backup = "--backup needs --full; quick `verify` preserves the data without --erase";
    let quick_only = "--thorough and --erase are for quick `verify` only";
    Failure::refuse_first(&[
        (request.backup.is_some() && !full, backup),
        (request.resume && !full, "--resume needs --full"),
        (request.two_passes && !full, "--two-passes needs --full"),
        (request.keep_files && !is_for(TestMethod::Files), "--keep-files needs --files"),
        ((request.thorough || request.erase) && !quick, quick_only),
    ])
}

fn judge_label(report: &mut VerifyReport, printed: &CardLabel, opened: &OpenTarget) {
    let body = &report.body;
    let whole_card = body.method != TestMethod::Files;
    let speed = |of_map: fn(&SpeedMap) -> Option<MapSpeed>,
                 of_files: fn(&FilesReport) -> Option<TransferPace>| {
        let by_map = body.map.as_ref().and_then(of_map).map(|speed| speed.mean_mb_s);
        by_map.or(body.files.as_ref().and_then(of_files).map(|pace| pace.mb_s)).into_iter().collect()
    };
    let seen = LabelEvidence {
        announced_bytes: match whole_card {
            // A partition or image does not show the size that its card announces.
            true if opened.is_whole_card() => Some(body.announced_bytes),
            _ => opened.identity.as_ref().and_then(|identity| identity.capacity_bytes),
        },
        // Losses that a reader may cause, or that are scattered, do not contradict the print.
        usable_bytes: body.usable_bytes.filter(|_| whole_card && body.verdict.lacks_capacity()),
        usable_confidence: if whole_card { body.confidence } else { 0.0 },
        identity: opened.identity.as_ref(),
        measured: MeasuredSpeeds {
            read_mb_s: speed(|map| map.read, |files| files.read),
            write_mb_s: speed(|map| map.write, |files| files.write),
            bus: opened.identity.as_ref().and_then(Identity::bus_mode),
            ceiling_mb_s: opened.ceiling_mb_s,
        },
    };
    report.header.findings.extend(label_check::judge_label(printed, &seen));
}

/// Findings that accuse the card and are dropped if a cause explains the capacity.
const EXPLAINED_FINDINGS: [&str; 3] = ["capacity", "bound", "label-capacity"];

/// Determines the cause of a wrong capacity and adjusts the verdict.
fn explain_capacity(
    request: &VerifyRequest,
    session: &mut VerbSession<'_>,
    report: &mut VerifyReport,
    printed: Option<&CardLabel>,
    layout: Option<PresentLayout>,
) {
    let mut stated = stated_sizes(request.common.archive.named_path(), session, report, printed);
    let cause = report.body.capacity_cause(&stated);
    report.header.findings.extend(layout.iter().flat_map(PresentLayout::contradictions));
    if cause.is_some() || report.body.verdict.lacks_capacity() {
        stated.partitions_end_bytes = layout.and_then(|layout| layout.partitions_end_bytes);
        report.body.stated = Some(stated);
    }
    report.body.cause = cause;
    let Some(cause) = cause else {
        report.header.findings.extend(stated.controller_size_hint());
        return;
    };
    let body = &mut report.body;
    (body.verdict, body.confidence) = (cause.verdict(), body.confidence.max(CapacityCause::CONFIDENCE));
    if cause.verdict() == Verdict::Dead {
        (body.usable_bytes, body.good_bytes) = (Some(0), Some(0));
    }
    let findings = &mut report.header.findings;
    findings.retain(|finding| !EXPLAINED_FINDINGS.contains(&finding.claim.as_str()));
    if !cause.verdict().is_bad() {
        let losses = |finding: &&mut Finding| finding.claim == "blocks-not-as-written";
        findings.iter_mut().filter(losses).for_each(|finding| finding.weight = FindingWeight::Hint);
    }
    findings.insert(0, cause.finding(&stated));
}

/// All sources that state the capacity of this card.
fn stated_sizes(
    archive: Option<&Path>,
    session: &VerbSession<'_>,
    report: &VerifyReport,
    printed: Option<&CardLabel>,
) -> StatedSizes {
    let opened = &*session.opened;
    let identity = opened.identity.as_ref();
    let csd = identity.and_then(|identity| identity.csd.as_ref());
    let addressed = report.body.method != TestMethod::Files && opened.is_whole_card();
    StatedSizes {
        host_bytes: match addressed {
            true => Some(report.body.announced_bytes),
            false => identity.and_then(|identity| identity.capacity_bytes),
        },
        csd_bytes: csd.filter(|csd| csd.crc != CrcStatus::Mismatch).and_then(|csd| csd.capacity_bytes),
        earlier_bytes: card_key(opened).and_then(|key| largest_genuine_bytes(archive, &key)),
        printed_bytes: printed.and_then(|label| label.capacity.as_ref()).map(|capacity| capacity.bytes),
        partitions_end_bytes: None,
    }
}

/// Largest capacity that an earlier test of this card found genuine. An unreadable archive counts as none.
fn largest_genuine_bytes(archive: Option<&Path>, card_key: &str) -> Option<u64> {
    let mut archive = open_existing(archive).ok()??;
    let sessions = archive.unit_sessions(card_key).ok()?;
    let verified = sessions.into_iter().filter(|session| session.kind == "verify");
    let genuine = verified.filter_map(|session| {
        let document = archive.session(session.id).ok()?.file.document?;
        let body = VerifyReport::deserialize(document).ok()?.body;
        body.usable_bytes.filter(|_| body.verdict == Verdict::Genuine && body.method != TestMethod::Files)
    });
    genuine.max()
}

/// Layout of the card if its data is preserved. Failed I/Os count as those of the test.
fn read_layout(session: &mut VerbSession<'_>, body: &mut Verification) -> Option<PresentLayout> {
    let there = body.moved.data_kept && body.method == TestMethod::Quick;
    if !there || !session.opened.is_whole_card() {
        return None;
    }
    let mut card = IoDriver::new(session.opened.target.as_mut(), session.interrupt, READ_BYTES, 1).ok()?;
    let layout = contents::read_layout(&CardBytes::new(&mut card), None);
    body.moved.add_failed(card.counts(), card.io_errors());
    layout
}

const READ_BYTES: u32 = 64 << 10;
