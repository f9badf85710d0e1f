//! The document of `endure`, and its lines while it runs.

use super::Request;
use crate::opening::Opened;
use cardscope_model::caveat;
use cardscope_model::endure::EndureReport;
use cardscope_model::finding::{Finding, Weight};
use cardscope_model::units::Capacity;
use cardscope_probe::endure::{Ended, projection};

pub(super) fn empty(request: &Request, opened: &Opened, span: u64, seed: u64) -> EndureReport {
    let info = opened.target.info();
    EndureReport {
        target: request.target.clone(),
        announced_bytes: info.bytes,
        span_bytes: span,
        rounds: Vec::new(),
        milestones: Vec::new(),
        bytes_written: 0,
        bytes_read: 0,
        cycles: 0.0,
        bad_share: 0.0,
        projection: None,
        projection_reason: None,
        seconds: 0.0,
        returns: 0,
        ended_by: String::new(),
        condition: opened.condition.clone(),
        io_path: info.io_path.to_owned(),
        seed,
        caveats: opened.caveats.clone(),
        findings: Vec::new(),
        session: None,
        error: None,
    }
}

pub(super) fn plan_line(report: &EndureReport, request: &Request) -> String {
    let rounds = request.rounds.map_or_else(|| "rounds".to_owned(), |n| format!("{n} rounds at most"));
    let before = match report.rounds.len() {
        0 => String::new(),
        n => format!(", going on after round {n}"),
    };
    format!(
        "{rounds} over {} until {} % of the sectors are bad{before}; the card is worn out by it",
        Capacity(report.span_bytes),
        request.until * 100.0
    )
}

/// What follows from the rounds so far.
pub(super) fn sum_up(report: &mut EndureReport) {
    report.cycles = report.bytes_written as f64 / report.span_bytes.max(1) as f64;
    match projection::project(&report.rounds, report.span_bytes) {
        Ok(found) => (report.projection, report.projection_reason) = (Some(found), None),
        Err(reason) => (report.projection, report.projection_reason) = (None, Some(reason)),
    }
}

/// A card that takes no more writes ends the run.
pub(super) fn remark_end(report: &mut EndureReport, ended: Option<Ended>) {
    let (claim, text) = match ended {
        None => return,
        Some(Ended::RefusesWrites) => {
            ("refuses-writes", "the card takes no more writes; what stands on it can be read")
        }
        Some(Ended::SwallowsWrites) => {
            ("swallows-writes", "the card accepts writes and drops them: what stood there stays")
        }
    };
    report.ended_by = text.to_owned();
    let rounds = report.rounds.len();
    report.findings.push(
        Finding::new(claim, Weight::Bad, 0.99, text)
            .because("round", rounds)
            .because("bytes written", report.bytes_written)
            .because("cycles", format!("{:.1}", report.cycles)),
    );
}

/// One line after each round.
pub(super) fn round_line(report: &EndureReport) -> String {
    let Some(round) = report.rounds.last() else { return String::new() };
    let next = match report.next_milestone_percent() {
        Some(0.0) => ", next the first error".to_owned(),
        Some(percent) => format!(", next {percent} %"),
        None => String::new(),
    };
    let projection = report.projection.map_or_else(String::new, |p| {
        format!(
            ", half bad after about {:.0} cycles ({:.0} to {:.0})",
            p.cycles, p.interval[0], p.interval[1]
        )
    });
    format!(
        "round {}: write {:.1} MB/s, read {:.1} MB/s, bad {:.4} %{next}, {:.1} GB written in all, {:.1} cycles{projection}",
        round.round,
        round.write_mb_s,
        round.read_mb_s,
        round.bad_share * 100.0,
        report.bytes_written as f64 / 1e9,
        report.cycles
    )
}

pub(super) fn conclude(report: &mut EndureReport, opened: &Opened) {
    sum_up(report);
    report.io_path = opened.target.info().io_path.to_owned();
    caveat::add(&mut report.caveats, opened.target.caveats());
    if let Some(first) = report.milestones.first() {
        let text = format!(
            "the first sector was lost in round {}, after {}",
            first.round,
            Capacity(first.bytes_written)
        );
        let known = report.findings.iter().any(|f| f.claim == "sectors-lost");
        if !known {
            let share = format!("{:.4} %", report.bad_share * 100.0);
            report.findings.push(
                Finding::new("sectors-lost", Weight::Bad, 0.99, text).because("bad in the last round", share),
            );
        }
    }
}
