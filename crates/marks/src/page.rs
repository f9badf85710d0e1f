//! Speed classes on the page of `check`: result of each, the deciding figure, the method, and what other tools print.

use cardscope_model::check::CheckReport;
use cardscope_model::label_check::JudgedSpeed;
use cardscope_model::mark_result::{
    ClaimedBy, JudgedMark, MarkDemand, MarkOutcome, MarksMeasured, MarksReport, OtherTest, TestForm,
};
use cardscope_model::report::NewsTone;
use cardscope_model::units::three_digits as speed;
use cardscope_page::figure::{join_names, pluralize, to_sentence, without_trailing_zeros};
use cardscope_page::tree::table::Table;
use cardscope_page::tree::{Page, PageBlock, PageFact, fact, failed_io_reason};

/// Page of a marks test, which is a document of its own in the archive.
pub fn page(report: &MarksReport) -> Page {
    let claimed = || claimed_marks(&report.body.marks);
    let missed = claimed().filter(|judged| judged.outcome == MarkOutcome::Missed).count();
    let (tone, answer) = match (missed, claimed().count()) {
        (_, 0) => (NewsTone::Plain, "No mark is claimed.".to_owned()),
        (0, _) => (NewsTone::Good, format!("{}.", outcome_lists(&report.body.marks).join("; "))),
        (missed, of) => (NewsTone::Bad, format!("{missed} of {of} marks missed.")),
    };
    let mut page = Page::new(&report.header.target, tone, answer);
    page.reasons.extend(failed_io_reason(&report.body.moved));
    page.add_section("Marks", mark_blocks(Some(&report.body.marks), &[]));
    page.with_frame(&report.header)
}

/// Missed marks, with the shortfall if all share one figure: `U3 and V30 missed (19.5 of 30 MB/s)`.
pub fn missed_answer(report: &CheckReport) -> Option<String> {
    let marks = report.body.marks.as_ref()?;
    let missed = claimed_marks(marks).filter(|judged| judged.outcome == MarkOutcome::Missed);
    let missed: Vec<&JudgedMark> = missed.collect();
    let first = missed.first()?;
    // One figure stands for all of them only if their demands are equal.
    let demanded = |mark: &JudgedMark| mark.deciding_part().map(|part| (part.demanded, part.unit.clone()));
    let alike = missed.iter().all(|judged| demanded(judged) == demanded(first));
    let short = first.deciding_part().filter(|_| alike).and_then(|part| {
        let (measured, demanded) = (speed(part.measured?), without_trailing_zeros(part.demanded, 1));
        Some(format!(" ({measured} of {demanded} {})", part.unit))
    });
    let names: Vec<String> = missed.iter().map(|judged| judged.mark.to_string()).collect();
    let names = match names.len() {
        0..=MOST_NAMED => join_names(&names),
        many => pluralize(many as u64, "mark"),
    };
    Some(format!("{names} missed{}", short.unwrap_or_default()))
}

/// Most marks that the answer names.
const MOST_NAMED: usize = 4;

fn claimed_marks(found: &MarksMeasured) -> impl Iterator<Item = &JudgedMark> {
    found.judged.iter().filter(|judged| judged.is_claimed())
}

/// Claimed marks by outcome: `met: C10 U3`, `missed: V30`.
pub fn outcome_lists(found: &MarksMeasured) -> Vec<String> {
    let lists = [
        (MarkOutcome::Missed, "marks missed:"),
        (MarkOutcome::Met, "marks met:"),
        (MarkOutcome::Borderline, "borderline:"),
        (MarkOutcome::NotTested, "not tested (no time):"),
        (MarkOutcome::NotTestable, "not testable here:"),
    ];
    let lists = lists.into_iter().filter_map(|(outcome, word)| {
        let marks = claimed_marks(found).filter(|judged| judged.outcome == outcome);
        let names: Vec<String> = marks.map(|judged| judged.mark.to_string()).collect();
        (!names.is_empty()).then(|| format!("{word} {}", names.join(" ")))
    });
    let mut lists: Vec<String> = lists.collect();
    if let Some(first) = lists.first_mut() {
        *first = to_sentence(first).trim_end_matches('.').to_owned();
    }
    lists
}

/// Row of the table: a mark, or a speed printed on the card.
struct PromiseRow {
    name: String,
    result: String,
    measured: String,
    demanded: String,
    by: String,
    claimed_by: &'static str,
}

impl From<&JudgedMark> for PromiseRow {
    fn from(judged: &JudgedMark) -> Self {
        let figure = |of: fn(&MarkDemand) -> Option<f64>| {
            let figure = |part: &MarkDemand| Some(format!("{} {}", speed(of(part)?), part.unit));
            judged.deciding_part().and_then(figure).unwrap_or_default()
        };
        let decided = matches!(judged.outcome, MarkOutcome::Met | MarkOutcome::Missed);
        let borderline = if judged.borderline && decided { ", borderline" } else { "" };
        PromiseRow {
            name: judged.mark.to_string(),
            result: format!("{}{borderline}", outcome_word(judged.outcome)),
            measured: figure(|part| part.measured),
            demanded: figure(|part| Some(part.demanded)),
            by: judged.deciding_part().map_or_else(|| untested_reason(judged), |part| part.what.clone()),
            claimed_by: match judged.claimed_by[..] {
                [] => "",
                [ClaimedBy::Card] => "card",
                [ClaimedBy::Label] => "label",
                _ => "card and label",
            },
        }
    }
}

impl From<&JudgedSpeed> for PromiseRow {
    fn from(judged: &JudgedSpeed) -> Self {
        PromiseRow {
            name: judged.printed.clone(),
            result: outcome_word(judged.outcome).to_owned(),
            measured: format!("{} MB/s", speed(judged.measured_mb_s)),
            demanded: format!("{} MB/s", speed(judged.promised_mb_s)),
            by: format!("{}: {}", judged.operation_word(), judged.because),
            claimed_by: "label",
        }
    }
}

fn outcome_word(outcome: MarkOutcome) -> &'static str {
    match outcome {
        MarkOutcome::Met => "met",
        MarkOutcome::Missed => "missed",
        MarkOutcome::Borderline => "borderline",
        MarkOutcome::NotTested => "not tested",
        MarkOutcome::NotTestable => "not testable",
    }
}

/// Table of the promises with their deciding figures, then the measured class, the method, and what other tools print.
pub fn mark_blocks(found: Option<&MarksMeasured>, speeds: &[JudgedSpeed]) -> Vec<PageBlock> {
    let marks = found.into_iter().flat_map(claimed_marks).map(PromiseRow::from);
    let rows: Vec<PromiseRow> = marks.chain(speeds.iter().map(PromiseRow::from)).collect();
    let table = Table::from_items(
        &rows,
        &[
            ("mark", &|row: &PromiseRow| row.name.clone()),
            ("result", &|row| row.result.clone()),
            ("measured", &|row| row.measured.clone()),
            ("demanded", &|row| row.demanded.clone()),
            ("by", &|row| row.by.clone()),
            ("claimed by", &|row| row.claimed_by.to_owned()),
        ],
    )
    .left_aligned(["result", "by", "claimed by"])
    .never_dropped(["result"])
    .least_important(["claimed by"]);
    let facts = found.map_or_else(Vec::new, |found| {
        let tested = !found.judged.is_empty();
        let method = tested.then(|| fact("method", method_text(found.form)));
        let others = found.other_tests.iter().map(|test| fact(&test.tool, other_tool_text(test)));
        measured_class(found).into_iter().chain(method).chain(others).collect()
    });
    vec![PageBlock::Table(table), PageBlock::Facts(facts)]
}

/// Highest mark of each letter that the card reaches, and letters that were not tested.
fn measured_class(found: &MarksMeasured) -> Option<PageFact> {
    let reached: Vec<String> = found.highest.iter().filter_map(|h| h.mark).map(|m| m.to_string()).collect();
    let untested = |letter: char| {
        let mut of_letter = found.judged.iter().filter(|judged| judged.mark.letter() == letter);
        of_letter.all(|judged| judged.outcome == MarkOutcome::NotTested)
    };
    let open = found.highest.iter().map(|h| h.letter).filter(|letter| untested(*letter));
    let open: Vec<String> = open.map(String::from).collect();
    let open = if open.is_empty() { String::new() } else { format!(" ({} not tested)", join_names(&open)) };
    (!reached.is_empty()).then(|| fact("measured class", reached.join(" ") + &open))
}

fn method_text(form: TestForm) -> &'static str {
    match form {
        TestForm::Short => {
            "short form of the specification: data kept, seconds instead of ten minutes, card as found, area not \
             written first"
        }
        TestForm::Volumes => {
            "volumes of the specification (1 GiB, 256 MiB), in seconds instead of ten minutes, card not filled to 75 %"
        }
        TestForm::Specification => {
            "conditions of the specification: card filled to 75 %, 256 MiB, ten minutes of writes and ten of reads"
        }
    }
}

/// Result of another tool, and why it is no contradiction.
fn other_tool_text(test: &OtherTest) -> String {
    let OtherTest { mark, queue_depth, random_write_iops: writes, random_read_iops: reads, .. } = test;
    let verdict = if test.passes { "passes" } else { "fails" };
    format!(
        "{verdict} for {mark}: {writes:.0} IOPS random writes, {reads:.0} reads at queue depth {queue_depth}; \
         {mark} is one I/O at a time"
    )
}

/// Reason why a mark was not tested. Its measured figures are in the details.
fn untested_reason(judged: &JudgedMark) -> String {
    let mut reasons = judged.parts.iter().filter_map(|part| part.because.as_ref());
    reasons.find(|why| judged.because.starts_with(why.as_str())).unwrap_or(&judged.because).clone()
}

/// All figures of each claimed mark, the deciding one first.
pub fn mark_details(found: Option<&MarksMeasured>) -> Vec<PageFact> {
    let claimed = found.into_iter().flat_map(claimed_marks);
    claimed.map(|judged| fact(&judged.mark.to_string(), figures_of(judged))).collect()
}

/// All figures of a mark. Speeds and rates that the reason does not name yet follow it; times of single I/Os have limits
/// that nearly every card meets, so they appear only as the reason.
fn figures_of(judged: &JudgedMark) -> String {
    let new = |part: &&MarkDemand| part.unit != "ms" && !judged.because.contains(&part.what);
    let others = judged.parts.iter().filter(new).filter_map(MarkDemand::figure_text);
    [judged.because.clone()].into_iter().chain(others).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(what: &str, measured: f64, unit: &str, demanded: f64) -> MarkDemand {
        MarkDemand {
            what: what.to_owned(),
            demanded,
            measured: Some(measured),
            at_best: None,
            without_queue: None,
            unit: unit.to_owned(),
            outcome: MarkOutcome::Met,
            margin: None,
            borderline: false,
            confidence: 0.9,
            because: None,
        }
    }

    fn judged(mark: &str, outcome: MarkOutcome, because: &str, parts: Vec<MarkDemand>) -> JudgedMark {
        JudgedMark {
            mark: mark.parse().unwrap(),
            claimed_by: vec![ClaimedBy::Card],
            outcome,
            because: because.to_owned(),
            margin: None,
            borderline: false,
            confidence: 0.9,
            parts,
        }
    }

    #[test]
    fn mark_details_list_each_figure_once_with_unit() {
        let worst = part("writing 512 KiB in order, worst 4 MiB", 8.9, "MB/s", 10.0);
        let read = part("single read of 4 KiB, median", 1.2, "ms", 12.0);
        let because = worst.figure_text().unwrap();
        insta::assert_snapshot!(
            figures_of(&judged("C10", MarkOutcome::Missed, &because, vec![worst, read])),
            @"writing 512 KiB in order, worst 4 MiB: 8.9 MB/s (needs 10.0)"
        );
    }

    #[test]
    fn mark_details_show_rates_with_and_without_queue() {
        let sustained = part("sustained writing over 16 MiB", 41.0, "MB/s", 10.0);
        let reads = MarkDemand {
            without_queue: Some(2130.0),
            ..part("random 4 KiB reads over 256 MiB, queue depth 32", 4510.0, "IOPS", 4000.0)
        };
        let because = reads.figure_text().unwrap();
        insta::assert_snapshot!(
            figures_of(&judged("A2", MarkOutcome::Met, &because, vec![sustained, reads])),
            @"random 4 KiB reads over 256 MiB, queue depth 32: 4510 IOPS (2130 without it) (needs 4000); sustained writing over 16 MiB: 41.0 MB/s (needs 10.0)"
        );
    }
}
