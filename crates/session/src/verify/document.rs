//! The document of `verify`, whatever the method.

use crate::opening::Opened;
use cardscope_model::caveat::Caveat;
use cardscope_model::finding::{Finding, Weight};
use cardscope_model::judged_label::{self, Measured, Seen};
use cardscope_model::units::Capacity;
use cardscope_model::verify::{FilesReport, MapSpeed, Method, Pace, SpeedMap, Verification, VerifyReport};
use cardscope_probe::capacity::{self, Outcome};
use cardscope_probe::full::Findings;
use cardscope_sd::label::Label;

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

/// Holds what is printed on the card against what was found out.
pub(super) fn judge_label(report: &mut VerifyReport, printed: &Label, opened: &Opened) {
    let body = &report.body;
    let whole_card = body.method != Method::Files;
    let speed = |of_map: fn(&SpeedMap) -> Option<MapSpeed>, of_files: fn(&FilesReport) -> Option<Pace>| {
        let by_map = body.map.as_ref().and_then(of_map).map(|speed| speed.mean_mb_s);
        by_map.or(body.files.as_ref().and_then(of_files).map(|pace| pace.mb_s)).into_iter().collect()
    };
    let seen = Seen {
        announced_bytes: match whole_card {
            true => Some(body.announced_bytes),
            false => opened.identity.as_ref().and_then(|identity| identity.capacity_bytes),
        },
        // What a reader may hide, or lies scattered, is not held against the print.
        usable_bytes: body.usable_bytes.filter(|_| whole_card && body.verdict.lacks_capacity()),
        usable_confidence: if whole_card { body.confidence } else { 0.0 },
        identity: opened.identity.as_ref(),
        measured: Measured {
            read_mb_s: speed(|map| map.read, |files| files.read),
            write_mb_s: speed(|map| map.write, |files| files.write),
            ceiling_mb_s: opened.ceiling_mb_s,
        },
    };
    report.header.findings.extend(judged_label::judge(printed, &seen));
}

/// What a pass over every block found out.
pub(super) fn full(report: &mut VerifyReport, found: &Findings, failed_ios: u64) {
    let Verification { method, announced_bytes, moved, .. } = std::mem::take(&mut report.body);
    report.body = Verification { method, announced_bytes, moved, ..found.body.clone() };
    let remark = |text: &String| Caveat::Other { text: text.clone() };
    report.header.caveats.extend(found.remarks.iter().map(remark));
    report.header.findings.extend(findings(found, failed_ios));
}

fn findings(found: &Findings, failed_ios: u64) -> Vec<Finding> {
    let mut list = Vec::new();
    let bad = &found.bad;
    if bad.all() > 0 {
        let weight = if found.body.verdict.is_bad() { Weight::Bad } else { Weight::Hint };
        let text =
            format!("{} of {} read back were not as written.", Capacity(bad.all()), Capacity(found.read_to));
        let rows = [
            ("lost, in bytes", bad.lost),
            ("of those with other data, in bytes", bad.foreign),
            ("with the data of other addresses, in bytes", bad.alias),
            ("with wrong bits, in bytes", bad.flipped),
            ("unreadable, in bytes", bad.failed),
        ];
        let finding = Finding::new("blocks-not-as-written", weight, found.body.confidence, text);
        let seen = rows.iter().filter(|(_, n)| *n > 0);
        list.push(seen.fold(finding, |finding, (what, n)| finding.because(what, n)));
    }
    if bad.passing_sectors > 0 || failed_ios > 0 {
        list.push(
            Finding::new(
                "answers-change",
                Weight::Hint,
                0.9,
                "Some reads or writes failed, or gave other data than the next try.",
            )
            .because("sectors that were bad in one reading only", bad.passing_sectors)
            .because("I/Os that failed", failed_ios)
            .advise("Clean the contacts and try another reader before you blame the card."),
        );
    }
    list
}
