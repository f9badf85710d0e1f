//! The document of `verify`, whatever the method.

use super::Request;
use crate::opening::Opened;
use crate::troubles;
use cardscope_model::label::{self, Label, Measured, Seen};
use cardscope_model::verify::{MapSpeed, Method, Verdict, VerifyReport};
use cardscope_probe::capacity::{self, Outcome};
use cardscope_probe::card::{Card, Tally};

/// The document before anything is known.
pub(super) fn empty(request: &Request, method: Method, opened: &Opened, seed: u64) -> VerifyReport {
    let info = opened.target.info();
    VerifyReport {
        target: request.target.clone(),
        method,
        verdict: Verdict::Inconclusive,
        announced_bytes: info.bytes,
        usable_bytes: None,
        good_bytes: None,
        proven_bytes: 0,
        bytes_written: 0,
        bytes_restored: 0,
        bytes_read: 0,
        seconds: 0.0,
        data_kept: false,
        confidence: 0.0,
        share: None,
        wrap_bytes: None,
        dead_address_line: false,
        cache_bytes: None,
        disproofs: Vec::new(),
        files: None,
        troubles: Vec::new(),
        map: None,
        condition: opened.condition.clone(),
        io_path: info.io_path.to_owned(),
        seed,
        caveats: opened.caveats.clone(),
        findings: Vec::new(),
        session: None,
        error: None,
    }
}

/// What a quick probe found out.
pub(super) fn quick(report: &mut VerifyReport, outcome: &Outcome, announced: u64) {
    report.verdict = outcome.verdict;
    report.usable_bytes = outcome.usable_bytes;
    report.good_bytes = outcome.good_bytes;
    report.proven_bytes = outcome.proven_bytes;
    report.confidence = outcome.confidence;
    report.share = outcome.share;
    (report.wrap_bytes, report.dead_address_line) = (outcome.wrap_bytes, outcome.line);
    report.cache_bytes = outcome.cache_bytes;
    report.disproofs.clone_from(&outcome.disproofs);
    report.findings.extend(capacity::findings(outcome, announced));
}

/// Adds what was moved since the card's clock stood at `began`.
pub(super) fn count(report: &mut VerifyReport, card: &mut Card<'_>, began: f64) {
    let seconds = card.seconds() - began;
    add(report, card.tally(), seconds);
    troubles::list(&mut report.troubles, card);
}

/// Adds bytes moved, and the seconds that it took.
pub(super) fn add(report: &mut VerifyReport, tally: Tally, seconds: f64) {
    report.bytes_written += tally.written;
    report.bytes_restored += tally.restored;
    report.bytes_read += tally.read;
    report.seconds += seconds;
}

/// Holds what is printed on the card against what was found out.
pub(super) fn judge_label(report: &mut VerifyReport, printed: Option<&Label>, opened: &Opened) {
    let Some(printed) = printed else { return };
    let mean = |speed: Option<MapSpeed>| speed.map(|s| s.mean_mb_s).into_iter().collect();
    let map = report.map.as_ref();
    let seen = Seen {
        announced_bytes: Some(report.announced_bytes),
        // What a reader may hide, or lies scattered, is not held against the print.
        usable_bytes: report.usable_bytes.filter(|_| report.verdict.lacks_capacity()),
        usable_confidence: report.confidence,
        identity: opened.identity.as_ref(),
        measured: Measured {
            read_mb_s: mean(map.and_then(|m| m.read)),
            write_mb_s: mean(map.and_then(|m| m.write)),
            ceiling_mb_s: opened.ceiling_mb_s,
        },
    };
    report.findings.extend(label::judge(printed, &seen));
}
