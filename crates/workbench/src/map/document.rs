//! The document of `map`: begun empty, filled from the probe, and what follows from it.

use super::Request;
use crate::opening::Opened;
use crate::troubles;
use cardscope_model::card_map::CardMap;
use cardscope_model::card_map::MapReport;
use cardscope_model::card_map::advice::{Facts, Place};
use cardscope_model::caveat;
use cardscope_model::report::{Moved, Report};
use cardscope_probe::card::{Card, Tally};

/// The document before anything is known.
pub(super) fn empty(request: &Request, opened: &Opened, seed: u64) -> MapReport {
    let info = opened.target.info();
    Report {
        header: opened.header(&request.target, seed),
        body: CardMap {
            announced_bytes: info.bytes, // Until the first byte is written.
            moved: Moved { data_kept: true, ..Moved::default() },
            ..CardMap::default()
        },
    }
}

/// Adds what was moved since the card's clock stood at `began`.
pub(super) fn count(report: &mut MapReport, card: &mut Card<'_>, began: f64) {
    let seconds = card.seconds() - began;
    add(report, card.tally(), seconds);
    troubles::list(&mut report.body.moved.troubles, card);
}

/// Adds bytes moved, and the seconds that it took.
pub(super) fn add(report: &mut MapReport, tally: Tally, seconds: f64) {
    report.body.moved.bytes_written += tally.written;
    report.body.moved.bytes_restored += tally.restored;
    report.body.moved.bytes_read += tally.read;
    report.body.moved.seconds += seconds;
}

/// What is known of the target beside what is measured.
pub(super) fn facts(request: &Request, opened: &Opened) -> Facts {
    let claimed = opened.identity.as_ref().and_then(|identity| identity.allocation_unit());
    Facts {
        target: request.target.clone(),
        bytes: opened.target.info().bytes,
        place: place(opened),
        claimed_unit: claimed.map(|unit| unit.bytes),
        ..Facts::default()
    }
}

fn place(opened: &Opened) -> Place {
    let seen = opened.device().and_then(|device| device.clearance.as_ref());
    match seen {
        _ if opened.is_directory() => Place::Directory,
        Some(seen) if seen.partition_of.is_some() => Place::Partition,
        _ => Place::Card,
    }
}

/// What is true of it now that it ended.
pub(super) fn conclude(report: &mut MapReport, opened: &Opened) {
    let measured = std::mem::take(&mut report.body.measured.findings);
    report.header.findings.splice(0..0, measured);
    report.header.io_path = opened.target.info().io_path.to_owned();
    caveat::add(&mut report.header.caveats, opened.target.caveats());
    report.header.findings.extend(troubles::finding(&report.body.moved.troubles, "while it was looked into"));
}
