//! The document of `map`: begun empty, filled from the probe, and what follows from it.

use super::Request;
use crate::frame::Session;
use crate::opening::Opened;
use cardscope_analysis::{card_map, io_errors};
use cardscope_model::card_map::MapReport;
use cardscope_model::card_map::advice::{self, Facts, TargetKind};
use cardscope_model::card_map::profile::profile;

/// What is known of the target beside what is measured.
pub(super) fn facts(request: &Request, opened: &Opened) -> Facts {
    let claimed = opened.identity.as_ref().and_then(|identity| identity.allocation_unit());
    Facts {
        target: request.common.target.clone(),
        bytes: opened.target.info().bytes,
        target_kind: target_kind(opened),
        claimed_unit: claimed.map(|unit| unit.bytes),
        ..Facts::default()
    }
}

fn target_kind(opened: &Opened) -> TargetKind {
    let seen = opened.device().and_then(|device| device.clearance.as_ref());
    match seen {
        _ if opened.is_directory() => TargetKind::Directory,
        Some(seen) if seen.partition_of.is_some() => TargetKind::Partition,
        _ => TargetKind::Card,
    }
}

/// What follows from the measurements, and from what was known before.
pub(super) fn conclude(report: &mut MapReport, session: &Session<'_>, facts: &Facts) {
    let measured = std::mem::take(&mut report.body.measured.findings);
    report.header.findings.splice(0..0, measured);
    session.hear_target(&mut report.header);
    report
        .header
        .findings
        .extend(io_errors::finding(&report.body.moved.io_errors, "while it was looked into"));
    report.header.findings.extend(card_map::findings(&report.body.measured, facts));
    advise(report, facts);
}

/// What whoever formats the card should do.
pub(super) fn advise(report: &mut MapReport, facts: &Facts) {
    report.body.advice = advice::advise(&report.body.measured, facts);
    report.body.profile = profile(&report.body.measured);
}
