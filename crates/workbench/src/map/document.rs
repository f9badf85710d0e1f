//! The document of `map`: begun empty, filled from the probe, and what follows from it.

use super::Request;
use crate::opening::Opened;
use crate::troubles;
use cardscope_model::card_map::advice::{Facts, Place};
use cardscope_model::card_map::{Advice, MapReport, Measured};
use cardscope_model::caveat;
use cardscope_probe::card::{Card, Tally};

/// The document before anything is known.
pub(super) fn empty(request: &Request, opened: &Opened, seed: u64) -> MapReport {
    let info = opened.target.info();
    MapReport {
        target: request.target.clone(),
        measured: Measured::default(),
        advice: Advice::default(),
        profile: Vec::new(),
        announced_bytes: info.bytes,
        // Until the first byte is written.
        data_kept: true,
        bytes_written: 0,
        bytes_restored: 0,
        bytes_read: 0,
        seconds: 0.0,
        troubles: Vec::new(),
        condition: opened.condition.clone(),
        io_path: info.io_path.to_owned(),
        seed,
        caveats: opened.caveats.clone(),
        findings: Vec::new(),
        session: None,
        error: None,
    }
}

/// Adds what was moved since the card's clock stood at `began`.
pub(super) fn count(report: &mut MapReport, card: &mut Card<'_>, began: f64) {
    let seconds = card.seconds() - began;
    add(report, card.tally(), seconds);
    troubles::list(&mut report.troubles, card);
}

/// Adds bytes moved, and the seconds that it took.
pub(super) fn add(report: &mut MapReport, tally: Tally, seconds: f64) {
    report.bytes_written += tally.written;
    report.bytes_restored += tally.restored;
    report.bytes_read += tally.read;
    report.seconds += seconds;
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
    report.io_path = opened.target.info().io_path.to_owned();
    caveat::add(&mut report.caveats, opened.target.caveats());
    report.findings.extend(troubles::finding(&report.troubles, "while it was looked into"));
}
