//! The document of `verify --full`.

use crate::error::Failure;
use crate::opening::Opened;
use cardscope_model::caveat::{self, Caveat};
use cardscope_model::finding::{Finding, Weight};
use cardscope_model::units::Capacity;
use cardscope_model::verify::{Trouble, Verdict, VerifyReport};
use cardscope_probe::card::Tally;
use cardscope_probe::full::Findings;
use std::path::Path;

/// What the card was put through.
pub(super) struct Counts {
    pub(super) tally: Tally,
    pub(super) seconds: f64,
    pub(super) troubles: Vec<Trouble>,
    pub(super) trouble_count: u64,
}

/// So many failed I/Os are listed; the rest is counted.
const MOST_TROUBLES: usize = 100;

/// Fills in what was found.
pub(super) fn fill(report: &mut VerifyReport, found: &Findings, counts: &Counts, opened: &Opened) {
    report.body.verdict = found.verdict;
    report.body.usable_bytes = found.usable_bytes;
    report.body.good_bytes = found.good_bytes;
    report.body.proven_bytes = found.proven_bytes;
    report.body.wrap_bytes = found.wrap_bytes;
    report.body.cache_bytes = found.cache_bytes;
    report.body.confidence = found.confidence;
    report.body.disproofs.clone_from(&found.disproofs);
    report.body.map = Some(found.map.clone());
    report.body.moved.bytes_written = counts.tally.written;
    report.body.moved.bytes_read = counts.tally.read;
    report.body.moved.seconds = counts.seconds;
    report.body.moved.troubles = counts.troubles.iter().take(MOST_TROUBLES).cloned().collect();
    report.header.io_path = opened.target.info().io_path.to_owned();
    caveat::add(&mut report.header.caveats, opened.target.caveats());
    let remark = |text: &String| Caveat::Other { text: text.clone() };
    report.header.caveats.extend(found.remarks.iter().map(remark));
    report.header.findings.extend(findings(report.body.verdict, found, counts));
}

fn findings(verdict: Verdict, found: &Findings, counts: &Counts) -> Vec<Finding> {
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
    if bad.passing_sectors > 0 || counts.trouble_count > 0 {
        list.push(
            Finding::new(
                "answers-change",
                Weight::Hint,
                0.9,
                "some reads or writes failed or gave other data than the next try",
            )
            .because("sectors that were bad in one reading only", bad.passing_sectors)
            .because("I/Os that failed", counts.trouble_count)
            .advise("Clean the contacts and try another reader before you blame the card."),
        );
    }
    list
}

fn all(found: &Findings) -> u64 {
    found.bad.lost + found.bad.alias + found.bad.flipped + found.bad.failed
}

/// Where the card's data is that was not put back.
pub(super) fn still_in(file: Option<&Path>, error: &Failure) -> Caveat {
    let file = file.unwrap_or(Path::new("the image")).display();
    Caveat::Other {
        text: format!(
            "the card's data was not put back ({error}); it is in {file}: `cardscope restore {file} TARGET` puts it back"
        ),
    }
}
