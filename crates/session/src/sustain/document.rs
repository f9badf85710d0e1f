//! The document of a long run.

use super::Request;
use super::sentences::findings;
use crate::frame::Session;
use cardscope_model::caveat::{self, Caveat};
use cardscope_model::report::Moved;
use cardscope_model::sustain::{LongRun, Measured, Pattern, SustainReport, Work};
use cardscope_probe::sustain::{BLOCK, DEPTH, Options, SMALL};

/// What it holds before anything is known.
pub(super) fn begin(request: &Request, work: Work, options: &Options, announced_bytes: u64) -> LongRun {
    let region = options.limits.region;
    LongRun {
        work,
        pattern: request.pattern,
        block_bytes: u64::from(match request.pattern {
            Pattern::Sequential => BLOCK,
            Pattern::Random => SMALL,
        }),
        queue_depth: DEPTH,
        region_start: region.start,
        region_bytes: region.len,
        measured: Measured { limits: options.card_limits, ..Measured::default() },
        announced_bytes,
        // A file of our own overwrites nothing of anybody's.
        moved: Moved { data_kept: work == Work::Read || options.prepare, ..Moved::default() },
        ..LongRun::default()
    }
}

/// What follows from what was measured, and what speaks against it.
pub(super) fn conclude(report: &mut SustainReport, session: &Session<'_>, thermometers: Vec<String>) {
    let mut doubts: Vec<String> = thermometers;
    let series = &report.body.measured.series;
    let warm =
        |s: &cardscope_model::sustain::Sample| s.temperatures.iter().any(|r| r.place.starts_with("card"));
    if !series.is_empty() && !series.iter().any(warm) {
        doubts.push(
            "the card's temperature is not known: SD cards have no sensor that a host can read, and readers hide those of others; heat is judged by the card's reads alone, --thermometer card=… adds one of yours".to_owned(),
        );
    }
    if !series.is_empty() && series.iter().all(|s| s.ping_us.is_none()) {
        doubts.push(
            "no command that the card answers without its flash could be timed: somebody else on the bus cannot be told from the card's own heat".to_owned(),
        );
    }
    session.hear_target(&mut report.header);
    caveat::add(&mut report.header.caveats, doubts.into_iter().map(|text| Caveat::Other { text }));
    let found = findings(
        &report.body.measured,
        &report.body.moved.io_errors,
        &report.header.condition,
        report.body.moved.bytes_written,
    );
    report.header.findings.extend(found);
}
