//! The document of a long run.

use super::Request;
use crate::opening::Opened;
use crate::troubles;
use cardscope_model::caveat::{self, Caveat};
use cardscope_model::report::{Moved, Report};
use cardscope_model::sustain::LongRun;
use cardscope_model::sustain::{Measured, SustainReport, Work};
use cardscope_probe::card::Card;
use cardscope_probe::sustain::{BLOCK, DEPTH, Options, SMALL};

/// The document before anything is known.
pub(super) fn empty(
    request: &Request,
    work: Work,
    options: &Options,
    opened: &Opened,
    seed: u64,
) -> SustainReport {
    let info = opened.target.info();
    let region = options.limits.region;
    Report {
        header: opened.header(&request.target, seed),
        body: LongRun {
            work,
            pattern: request.pattern,
            block_bytes: u64::from(match request.pattern {
                cardscope_model::sustain::Pattern::Sequential => BLOCK,
                cardscope_model::sustain::Pattern::Random => SMALL,
            }),
            queue_depth: DEPTH,
            region_start: region.start,
            region_bytes: region.len,
            measured: Measured { limits: options.card_limits, ..Measured::default() },
            announced_bytes: info.bytes, // A file of our own overwrites nothing of anybody's.
            moved: Moved { data_kept: work == Work::Read || options.prepare, ..Moved::default() },
            ..LongRun::default()
        },
    }
}

/// What was moved since the card's clock stood at `began`.
pub(super) fn count(report: &mut SustainReport, card: &mut Card<'_>, began: f64) {
    report.body.moved.seconds = card.seconds() - began;
    let tally = card.tally();
    (report.body.moved.bytes_written, report.body.moved.bytes_read) = (tally.written, tally.read);
    troubles::list(&mut report.body.moved.troubles, card);
}

/// What follows from what was measured, and what speaks against it.
pub(super) fn conclude(report: &mut SustainReport, opened: &Opened, thermometers: Vec<String>) {
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
    caveat::add(&mut report.header.caveats, opened.target.caveats());
    caveat::add(&mut report.header.caveats, doubts.into_iter().map(|text| Caveat::Other { text }));
    let found = super::findings(
        &report.body.measured,
        &report.body.moved.troubles,
        &report.header.condition,
        report.body.moved.bytes_written,
    );
    report.header.findings.extend(found);
}
