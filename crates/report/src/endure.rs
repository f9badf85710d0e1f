//! `endure` as text.

use crate::figure::{duration, speed};
use crate::table::Table;
use cardscope_model::endure::{EndureReport, EndureRound};
use cardscope_model::units::Capacity;
use std::fmt::Write;

/// Rounds that are listed: the first and the last of them.
const LISTED: usize = 12;

/// The report as people read it.
#[must_use]
pub fn text(report: &EndureReport) -> String {
    let mut out = format!(
        "{}: {} rounds over {}, {} written ({:.1} cycles) in {}\n",
        report.header.target,
        report.body.rounds.len(),
        Capacity(report.body.span_bytes),
        Capacity(report.body.moved.bytes_written),
        report.body.cycles,
        duration(report.body.moved.seconds)
    );
    let _ = writeln!(out, "bad in the last round: {:.4} % of the sectors", report.body.bad_share * 100.0);
    if !report.body.ended_by.is_empty() {
        let _ = writeln!(out, "ended by: {}", report.body.ended_by);
    }
    if report.body.returns > 0 {
        let _ = writeln!(out, "the card went away and came back {} times", report.body.returns);
    }
    match (&report.body.projection, &report.body.projection_reason) {
        (Some(p), _) => {
            let _ = writeln!(
                out,
                "half of it will be bad after about {:.0} cycles, {:.0} to {:.0} with 95 % ({} rounds with losses)",
                p.cycles, p.interval[0], p.interval[1], p.rounds
            );
        }
        (None, Some(reason)) => {
            let _ = writeln!(out, "no projection: {reason}");
        }
        (None, None) => {}
    }
    let _ = write!(out, "\n{}", rounds(&report.body.rounds));
    if !report.body.milestones.is_empty() {
        let _ = write!(out, "\n{}", milestones(report));
    }
    for finding in &report.header.findings {
        let _ = writeln!(out, "\n{}", finding.verdict);
    }
    if let Some(error) = &report.header.error {
        let _ = writeln!(out, "\nended early: {error}");
    }
    out
}

fn rounds(rounds: &[EndureRound]) -> Table {
    let head = [
        "round",
        "write MB/s",
        "read MB/s",
        "bad %",
        "misdirected",
        "stale",
        "foreign",
        "flipped",
        "lost",
        "unreadable",
    ];
    let mut table = Table::new(head);
    let half = LISTED / 2;
    for (n, round) in rounds.iter().enumerate() {
        if rounds.len() > LISTED && n >= half && n + half < rounds.len() {
            if n == half {
                table.row(["…"]);
            }
            continue;
        }
        let bad = &round.bad;
        let count = |n: u64| if n > 0 { n.to_string() } else { String::new() };
        table.row([
            round.round.to_string(),
            speed(round.write_mb_s),
            speed(round.read_mb_s),
            format!("{:.4}", round.bad_share * 100.0),
            count(bad.misdirected),
            count(bad.stale),
            count(bad.foreign),
            count(bad.flipped),
            count(bad.lost),
            count(bad.unreadable),
        ]);
    }
    table.drop_blank_columns();
    table
}

fn milestones(report: &EndureReport) -> Table {
    let mut table = Table::new(["milestone", "round", "GB written", "after"]);
    for milestone in &report.body.milestones {
        table.row([
            milestone.milestone.clone(),
            milestone.round.to_string(),
            format!("{:.2}", milestone.bytes_written as f64 / 1e9),
            duration(milestone.seconds),
        ]);
    }
    table
}
