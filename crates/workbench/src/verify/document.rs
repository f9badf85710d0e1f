//! The document of `verify`, whatever the method.

use super::Request;
use crate::opening::Opened;
use crate::troubles;
use cardscope_model::label::{self, Label, Measured, Seen};
use cardscope_model::report::Report;
use cardscope_model::verify::Verification;
use cardscope_model::verify::{MapSpeed, Method, VerifyReport};
use cardscope_probe::capacity::{self, Outcome};
use cardscope_probe::card::{Card, Tally};

/// The document before anything is known.
pub(super) fn empty(request: &Request, method: Method, opened: &Opened, seed: u64) -> VerifyReport {
    let info = opened.target.info();
    Report {
        header: opened.header(&request.target, seed),
        body: Verification { method, announced_bytes: info.bytes, ..Verification::default() },
    }
}

/// What a quick probe found out.
pub(super) fn quick(report: &mut VerifyReport, outcome: &Outcome, announced: u64) {
    report.body.verdict = outcome.verdict;
    report.body.usable_bytes = outcome.usable_bytes;
    report.body.good_bytes = outcome.good_bytes;
    report.body.proven_bytes = outcome.proven_bytes;
    report.body.confidence = outcome.confidence;
    report.body.share = outcome.share;
    (report.body.wrap_bytes, report.body.dead_address_line) = (outcome.wrap_bytes, outcome.line);
    report.body.cache_bytes = outcome.cache_bytes;
    report.body.disproofs.clone_from(&outcome.disproofs);
    report.header.findings.extend(capacity::findings(outcome, announced));
}

/// Adds what was moved since the card's clock stood at `began`.
pub(super) fn count(report: &mut VerifyReport, card: &mut Card<'_>, began: f64) {
    let seconds = card.seconds() - began;
    add(report, card.tally(), seconds);
    troubles::list(&mut report.body.moved.troubles, card);
}

/// Adds bytes moved, and the seconds that it took.
pub(super) fn add(report: &mut VerifyReport, tally: Tally, seconds: f64) {
    report.body.moved.bytes_written += tally.written;
    report.body.moved.bytes_restored += tally.restored;
    report.body.moved.bytes_read += tally.read;
    report.body.moved.seconds += seconds;
}

/// Holds what is printed on the card against what was found out.
pub(super) fn judge_label(report: &mut VerifyReport, printed: Option<&Label>, opened: &Opened) {
    let Some(printed) = printed else { return };
    let mean = |speed: Option<MapSpeed>| speed.map(|s| s.mean_mb_s).into_iter().collect();
    let map = report.body.map.as_ref();
    let seen = Seen {
        announced_bytes: Some(report.body.announced_bytes),
        // What a reader may hide, or lies scattered, is not held against the print.
        usable_bytes: report.body.usable_bytes.filter(|_| report.body.verdict.lacks_capacity()),
        usable_confidence: report.body.confidence,
        identity: opened.identity.as_ref(),
        measured: Measured {
            read_mb_s: mean(map.and_then(|m| m.read)),
            write_mb_s: mean(map.and_then(|m| m.write)),
            ceiling_mb_s: opened.ceiling_mb_s,
        },
    };
    report.header.findings.extend(label::judge(printed, &seen));
}
