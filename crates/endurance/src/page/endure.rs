//! Result page of `endure`.

use cardscope_model::answer::Answer;
use cardscope_model::endure::{EndureReport, EndureRound, WearMilestone};
use cardscope_model::report::{NewsTone, ReportBody as _};
use cardscope_model::units::{DecimalSize, three_digits as speed};
use cardscope_page::figure::{duration, percent, pluralize, without_trailing_zeros};
use cardscope_page::tree::table::Table;
use cardscope_page::tree::{self, Page, PageBlock, PageFact, fact};

/// Rounds that are listed. If there are more, the first and the last ones.
const LISTED_ROUNDS: usize = 12;

pub fn endure_page(report: &EndureReport) -> Page {
    let body = &report.body;
    let unfinished = body.rounds.is_empty() && !body.ended_by.is_empty();
    let tone = tree::tone_of_figures(body.exit_status());
    let mut page = Page::new(&report.header.target, tone, endure_answer(report));
    page.reasons.extend(tree::failed_io_reason(&body.moved));
    let passing = Some(body.passing_sectors()).filter(|sectors| *sectors > 0);
    let text = |sectors| format!("Bad in one of two readings: {}.", pluralize(sectors, "sector"));
    page.add_reasons(NewsTone::Warning, passing.map(text));
    page.add_section("", [PageBlock::Facts(endure_facts(report))]);
    if unfinished {
        page.add_step(format!("Run it again without {}, or with more.", body.ended_by), None);
    }
    page.add_section("Milestones", [PageBlock::Table(milestone_table(&body.milestones))]);
    page.add_detail("Rounds", [PageBlock::Table(round_table(&body.rounds))]);
    page.add_detail("Failed I/Os", [tree::io_error_list(&body.moved.io_errors)]);
    page.with_frame(&report.header)
}

fn endure_answer(report: &EndureReport) -> Answer {
    let body = &report.body;
    if body.rounds.is_empty() {
        return Answer::with_verdict("NOT TESTED", ": it ended before its first round.");
    }
    let decimals = usize::from(body.cycles < 100.0);
    let cycles = format!("{} write cycles", without_trailing_zeros(body.cycles, decimals));
    let worst = body.rounds.iter().map(|round| round.bad_share).fold(body.bad_share, f64::max);
    match worst {
        share if share > 0.0 => {
            let share = format!("{} of {}", percent(share), DecimalSize(body.span_bytes));
            Answer::with_verdict("WORN", &format!(": {share} bad after {cycles}."))
        }
        _ if body.is_bad() => Answer::with_verdict("WORN", &format!(": writes fail after {cycles}.")),
        _ if body.passing_sectors() > 0 => {
            let rest = format!(": no loss after {cycles}, but answers differ from read to read.");
            Answer::with_verdict("UNSTABLE", &rest).with_advice("Try another reader.")
        }
        _ => format!("No loss after {cycles} ({} written).", DecimalSize(body.moved.bytes_written)).into(),
    }
}

fn endure_facts(report: &EndureReport) -> Vec<PageFact> {
    let body = &report.body;
    let written = DecimalSize(body.moved.bytes_written);
    let ran = !body.rounds.is_empty();
    let projection = body.projection.as_ref().map(|p| {
        let [low, high] = p.interval;
        let about = format!("about {:.0} cycles (95 %: {low:.0} to {high:.0})", p.cycles);
        format!("{about}, from {} rounds with losses", p.rounds)
    });
    let reason = body.projection_reason.clone().filter(|_| projection.is_none() && ran);
    let facts = [
        ("rounds", Some(format!("{} over {}", body.rounds.len(), DecimalSize(body.span_bytes)))),
        ("written", Some(format!("{written} in {}", duration(body.moved.seconds)))),
        ("bad in the last round", ran.then(|| format!("{} of the sectors", bad_share_text(body.bad_share)))),
        ("ended by", Some(body.ended_by.clone()).filter(|reason| !reason.is_empty())),
        ("went away and came back", (body.returns > 0).then(|| pluralize(body.returns as u64, "time"))),
        ("half of it bad after", projection),
        ("no projection", reason),
    ];
    facts.into_iter().filter_map(|(name, value)| Some(fact(name, value?))).collect()
}

/// Share of bad sectors, with digits down to a millionth: `none`, `0.0031 %`.
fn bad_share_text(share: f64) -> String {
    if share == 0.0 { "none".to_owned() } else { format!("{:.4} %", share * 100.0) }
}

fn round_table(rounds: &[EndureRound]) -> Table {
    let (half, all) = (LISTED_ROUNDS / 2, rounds.len());
    let listed = |n: &usize| all <= LISTED_ROUNDS || *n < half || *n + half >= all;
    let listed = (0..all).filter(listed).map(|n| &rounds[n]);
    let some = |n: u64| if n > 0 { n.to_string() } else { String::new() };
    let gap = rounds.get(all.saturating_sub(half)).filter(|_| all > LISTED_ROUNDS).map(|r| r.round);
    let mark = |r: &EndureRound| if gap == Some(r.round) { "… " } else { "" };
    Table::from_items(
        listed,
        &[
            ("round", &|r| format!("{}{}", mark(r), r.round)),
            ("write MB/s", &|r| speed(r.write_mb_s)),
            ("read MB/s", &|r| speed(r.read_mb_s)),
            ("bad %", &|r| format!("{:.4}", r.bad_share * 100.0)),
            ("misdirected", &|r| some(r.bad.misdirected)),
            ("stale", &|r| some(r.bad.stale)),
            ("other run's", &|r| some(r.bad.foreign)),
            ("flipped", &|r| some(r.bad.flipped)),
            ("lost", &|r| some(r.bad.lost)),
            ("unreadable", &|r| some(r.bad.unreadable)),
            ("bad in one reading", &|r| some(r.passing_sectors)),
        ],
    )
}

fn milestone_table(milestones: &[WearMilestone]) -> Table {
    Table::from_items(
        milestones,
        &[
            ("milestone", &|m| m.milestone.clone()),
            ("round", &|m| m.round.to_string()),
            ("written", &|m| DecimalSize(m.bytes_written).in_table()),
            ("after", &|m| duration(m.seconds)),
        ],
    )
}
