//! The document of `endure`, and its lines while it runs.

use super::Request;
use crate::frame::Session;
use cardscope_model::endure::EndureReport;
use cardscope_model::finding::{Finding, Weight};
use cardscope_model::units::Capacity;
use cardscope_probe::endure::{Ended, projection};

pub(super) fn plan_line(report: &EndureReport, request: &Request) -> String {
    let rounds = request.rounds.map_or_else(|| "rounds".to_owned(), |n| format!("{n} rounds at most"));
    let before = match report.body.rounds.len() {
        0 => String::new(),
        n => format!(", going on after round {n}"),
    };
    format!(
        "{rounds} over {} until {} % of the sectors are bad{before}; the card is worn out by it",
        Capacity(report.body.span_bytes),
        request.until * 100.0
    )
}

/// What follows from the rounds so far.
pub(super) fn sum_up(report: &mut EndureReport) {
    report.body.cycles = report.body.moved.bytes_written as f64 / report.body.span_bytes.max(1) as f64;
    match projection::project(&report.body.rounds, report.body.span_bytes) {
        Ok(found) => (report.body.projection, report.body.projection_reason) = (Some(found), None),
        Err(reason) => (report.body.projection, report.body.projection_reason) = (None, Some(reason)),
    }
}

/// A card that takes no more writes ends the run.
pub(super) fn remark_end(report: &mut EndureReport, ended: Option<Ended>) {
    let (claim, text) = match ended {
        None => return,
        Some(Ended::RefusesWrites) => {
            ("refuses-writes", "The card takes no more writes, but can still be read.")
        }
        Some(Ended::SwallowsWrites) => {
            ("swallows-writes", "The card accepts writes and drops them; the old data stays.")
        }
    };
    report.body.ended_by = text.to_owned();
    let rounds = report.body.rounds.len();
    report.header.findings.push(
        Finding::new(claim, Weight::Bad, 0.99, text)
            .because("round", rounds)
            .because("bytes written", report.body.moved.bytes_written)
            .because("cycles", format!("{:.1}", report.body.cycles)),
    );
}

/// One line after each round.
pub(super) fn round_line(report: &EndureReport) -> String {
    let Some(round) = report.body.rounds.last() else { return String::new() };
    let next = match report.body.next_milestone_percent() {
        Some(0.0) => ", next the first error".to_owned(),
        Some(percent) => format!(", next {percent} %"),
        None => String::new(),
    };
    let projection = report.body.projection.map_or_else(String::new, |p| {
        format!(
            ", half bad after about {:.0} cycles ({:.0} to {:.0}), {} from now",
            p.cycles,
            p.interval[0],
            p.interval[1],
            lasting((p.cycles - report.body.cycles).max(0.0) * seconds_per_cycle(report))
        )
    });
    format!(
        "round {}: write {:.1} MB/s, read {:.1} MB/s, bad {:.4} %{next}, {:.1} GB written in all, {:.1} cycles{projection}",
        round.round,
        round.write_mb_s,
        round.read_mb_s,
        round.bad_share * 100.0,
        report.body.moved.bytes_written as f64 / 1e9,
        report.body.cycles
    )
}

/// Rounds after which it is said that nothing shows yet: soon, and then ever more seldom.
const SAID_AFTER: [usize; 5] = [3, 10, 100, 1000, 10_000];

/// What a run that shows no wear should be told after so many rounds: how long the next milestones take at this speed,
/// and that some targets never reach one.
pub(super) fn no_wear_line(report: &EndureReport) -> Option<String> {
    if !SAID_AFTER.contains(&report.body.rounds.len()) || !report.body.milestones.is_empty() {
        return None;
    }
    Some(format!("{} End the run with Ctrl-C, or set --rounds, --budget or --max-write", no_wear(report)))
}

/// That no sector was lost, and what that means.
fn no_wear(report: &EndureReport) -> String {
    let each = seconds_per_cycle(report);
    let at = |cycles: f64| format!("{cycles:.0} cycles take {}", lasting(cycles * each));
    format!(
        "No sector was lost in {} rounds ({:.1} cycles). At this speed {}, {} and {}. A plain file or a simulated card without wear never loses a sector.",
        report.body.rounds.len(),
        report.body.cycles,
        at(100.0),
        at(1000.0),
        at(10_000.0)
    )
}

/// Seconds in which as many bytes are written as are worn.
fn seconds_per_cycle(report: &EndureReport) -> f64 {
    if report.body.cycles > 0.0 { report.body.moved.seconds / report.body.cycles } else { 0.0 }
}

/// A long time with two digits that matter: `40 min`, `3.5 days`.
fn lasting(seconds: f64) -> String {
    const UNITS: [(f64, &str); 5] =
        [(31_557_600.0, "years"), (86_400.0, "days"), (3600.0, "h"), (60.0, "min"), (0.0, "s")];
    let (unit, name) = UNITS.into_iter().find(|(unit, _)| seconds >= 2.0 * unit).unwrap_or((1.0, "s"));
    let number = seconds / f64::max(unit, 1.0);
    if number < 10.0 { format!("{number:.1} {name}") } else { format!("{number:.0} {name}") }
}

pub(super) fn conclude(report: &mut EndureReport, session: &Session<'_>) {
    sum_up(report);
    session.hear_target(&mut report.header);
    if report.body.milestones.is_empty() && report.body.rounds.len() >= SAID_AFTER[0] {
        report.header.findings.push(Finding::new("no-wear-seen", Weight::Note, 0.99, no_wear(report)));
    }
    if let Some(first) = report.body.milestones.first() {
        let text = format!(
            "The first sector was lost in round {}, after {}.",
            first.round,
            Capacity(first.bytes_written)
        );
        let known = report.header.findings.iter().any(|f| f.claim == "sectors-lost");
        if !known {
            let share = format!("{:.4} %", report.body.bad_share * 100.0);
            report.header.findings.push(
                Finding::new("sectors-lost", Weight::Bad, 0.99, text).because("bad in the last round", share),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::lasting;

    #[test]
    fn a_long_time_is_said_in_the_largest_unit_that_it_has_two_of() {
        let said: Vec<String> = [0.0, 1.25, 90.0, 3600.0, 90_000.0, 400_000.0, 1e9].map(lasting).to_vec();
        assert_eq!(said, ["0.0 s", "1.2 s", "90 s", "60 min", "25 h", "4.6 days", "32 years"]);
    }
}
