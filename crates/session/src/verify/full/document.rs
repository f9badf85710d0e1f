//! The document of `verify --full`.

use cardscope_model::caveat::Caveat;
use cardscope_model::finding::{Finding, Weight};
use cardscope_model::units::Capacity;
use cardscope_model::verify::{Verdict, VerifyReport};
use cardscope_probe::full::Findings;

/// Fills in what was found.
pub(super) fn fill(report: &mut VerifyReport, found: &Findings, failed_ios: u64) {
    report.body.verdict = found.verdict;
    report.body.usable_bytes = found.usable_bytes;
    report.body.good_bytes = found.good_bytes;
    report.body.proven_bytes = found.proven_bytes;
    report.body.wrap_bytes = found.wrap_bytes;
    report.body.cache_bytes = found.cache_bytes;
    report.body.confidence = found.confidence;
    report.body.disproofs.clone_from(&found.disproofs);
    report.body.map = Some(found.map.clone());
    let remark = |text: &String| Caveat::Other { text: text.clone() };
    report.header.caveats.extend(found.remarks.iter().map(remark));
    report.header.findings.extend(findings(report.body.verdict, found, failed_ios));
}

fn findings(verdict: Verdict, found: &Findings, failed_ios: u64) -> Vec<Finding> {
    let mut list = Vec::new();
    let bad = &found.bad;
    if bad.lost + bad.alias + bad.flipped + bad.failed > 0 {
        let weight = if verdict.is_bad() { Weight::Bad } else { Weight::Hint };
        let text =
            format!("{} of {} read back were not as written", Capacity(all(found)), Capacity(found.read_to));
        let rows = [
            ("lost, in bytes", bad.lost),
            ("of those with other data, in bytes", bad.foreign),
            ("with the data of other addresses, in bytes", bad.alias),
            ("with wrong bits, in bytes", bad.flipped),
            ("unreadable, in bytes", bad.failed),
        ];
        let finding = Finding::new("blocks-not-as-written", weight, found.confidence, text);
        let seen = rows.iter().filter(|(_, n)| *n > 0);
        list.push(seen.fold(finding, |finding, (what, n)| finding.because(what, n)));
    }
    if bad.passing_sectors > 0 || failed_ios > 0 {
        list.push(
            Finding::new(
                "answers-change",
                Weight::Hint,
                0.9,
                "some reads or writes failed or gave other data than the next try",
            )
            .because("sectors that were bad in one reading only", bad.passing_sectors)
            .because("I/Os that failed", failed_ios)
            .advise("Clean the contacts and try another reader before you blame the card."),
        );
    }
    list
}

fn all(found: &Findings) -> u64 {
    found.bad.lost + found.bad.alias + found.bad.flipped + found.bad.failed
}
