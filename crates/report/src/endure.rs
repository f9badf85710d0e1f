//! `endure` as text.

use crate::figure::{duration, speed};
use crate::page::{Block, Fact, Page, fact, io_errors};
use crate::table::Table;
use cardscope_model::endure::{EndureReport, EndureRound, Milestone};
use cardscope_model::units::Capacity;

/// Rounds that are listed: the first and the last of them.
const LISTED: usize = 12;

/// The report as people read it.
pub fn text(report: &EndureReport) -> String {
    let body = &report.body;
    let answer = format!(
        "{} rounds over {}, {} written ({:.1} cycles) in {}",
        body.rounds.len(),
        Capacity(body.span_bytes),
        Capacity(body.moved.bytes_written),
        body.cycles,
        duration(body.moved.seconds)
    );
    let mut page = Page::new(&report.header.target, answer);
    page.add("", [Block::Facts(facts(report))]);
    page.add("Rounds", [Block::Table(rounds(&body.rounds))]);
    page.add("Milestones", [Block::Table(milestones(&body.milestones))]);
    page.add("Failed I/Os", [io_errors(&body.moved.io_errors)]);
    page.framed(&report.header)
}

fn facts(report: &EndureReport) -> Vec<Fact> {
    let body = &report.body;
    let mut facts =
        vec![fact("bad in the last round", format!("{:.4} % of the sectors", body.bad_share * 100.0))];
    if !body.ended_by.is_empty() {
        facts.push(fact("ended by", &body.ended_by));
    }
    if body.returns > 0 {
        facts.push(fact("went away and came back", format!("{} times", body.returns)));
    }
    facts.extend(body.projection.as_ref().map(|p| {
        let [low, high] = p.interval;
        let about = format!("about {:.0} cycles, {low:.0} to {high:.0} with 95 %", p.cycles);
        fact("half of it bad after", format!("{about} ({} rounds with losses)", p.rounds))
    }));
    let reason = body.projection_reason.as_ref().filter(|_| body.projection.is_none());
    facts.extend(reason.map(|reason| fact("no projection", reason)));
    facts
}

fn rounds(rounds: &[EndureRound]) -> Table {
    let (half, all) = (LISTED / 2, rounds.len());
    let shown = |n: &usize| all <= LISTED || *n < half || *n + half >= all;
    let listed = (0..all).filter(shown).map(|n| &rounds[n]);
    let count = |n: u64| if n > 0 { n.to_string() } else { String::new() };
    let gap = if all > LISTED { rounds.get(all - half).map(|round| round.round) } else { None };
    Table::of(
        listed,
        &[
            ("round", &|r| {
                if gap == Some(r.round) { format!("… {}", r.round) } else { r.round.to_string() }
            }),
            ("write MB/s", &|r| speed(r.write_mb_s)),
            ("read MB/s", &|r| speed(r.read_mb_s)),
            ("bad %", &|r| format!("{:.4}", r.bad_share * 100.0)),
            ("misdirected", &|r| count(r.bad.misdirected)),
            ("stale", &|r| count(r.bad.stale)),
            ("another run's", &|r| count(r.bad.foreign)),
            ("flipped", &|r| count(r.bad.flipped)),
            ("lost", &|r| count(r.bad.lost)),
            ("unreadable", &|r| count(r.bad.unreadable)),
        ],
    )
}

fn milestones(milestones: &[Milestone]) -> Table {
    Table::of(
        milestones,
        &[
            ("milestone", &|m| m.milestone.clone()),
            ("round", &|m| m.round.to_string()),
            ("GB written", &|m| format!("{:.2}", m.bytes_written as f64 / 1e9)),
            ("after", &|m| duration(m.seconds)),
        ],
    )
}
