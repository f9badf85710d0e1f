//! Causes of a wrong capacity other than the card: compares CSD, label, partition table and earlier tests with the
//! reader's size.

use super::VerifyRequest;
use cardscope_device::contents;
use cardscope_engine::io_driver::IoDriver;
use cardscope_model::finding::{Finding, FindingWeight};
use cardscope_model::present_layout::PresentLayout;
use cardscope_model::verify::{CapacityCause, StatedSizes, TestMethod, Verdict, Verification, VerifyReport};
use cardscope_sd::label::CardLabel;
use cardscope_sd::registers::CrcStatus;
use cardscope_session::archive_access::open_existing;
use cardscope_session::card_bytes::CardBytes;
use cardscope_session::card_key::card_key;
use cardscope_session::frame::VerbSession;
use serde::Deserialize as _;
use std::path::Path;

/// Findings that accuse the card and are dropped if a cause explains the capacity.
const EXPLAINED_FINDINGS: [&str; 3] = ["capacity", "bound", "label-capacity"];

/// Determines the cause of a wrong capacity and adjusts the verdict.
pub(super) fn explain_capacity(
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
pub(super) fn read_layout(session: &mut VerbSession<'_>, body: &mut Verification) -> Option<PresentLayout> {
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
