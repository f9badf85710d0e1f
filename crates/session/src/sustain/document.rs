//! The document of a long run.

use super::Request;
use crate::frame::Session;
use cardscope_analysis::long_run;
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
    let doubts = thermometers.into_iter().chain(long_run::doubts(&report.body.measured.series));
    session.hear_target(&mut report.header);
    caveat::add(&mut report.header.caveats, doubts.map(|text| Caveat::Other { text }));
    let found = long_run::findings(
        &report.body.measured,
        &report.body.moved.io_errors,
        &report.header.condition,
        report.body.moved.bytes_written,
    );
    report.header.findings.extend(found);
}
