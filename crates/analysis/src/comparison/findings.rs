//! What a comparison says in sentences: what is doubtful about it, and what would settle it.

use super::columns::Column;
use super::differs::is_blamed;
use crate::comparing::LEAST_RUNS;
use cardscope_model::comparison::{ComparedTest, Differs, Pair, Verdict};
use cardscope_model::finding::{Finding, Weight};

/// Everything worth saying.
pub(super) fn findings(
    columns: &[Column],
    tests: &[ComparedTest],
    differs: &[Differs],
    by: Option<&str>,
) -> Vec<Finding> {
    let of = |(place, column)| few_runs(column, place, tests);
    let mut found: Vec<Finding> = columns.iter().enumerate().filter_map(of).collect();
    found.extend(jumps(columns, tests));
    found.extend(besides(differs, by));
    found.extend(unsettled(tests));
    found.extend(pieces(columns));
    found
}

/// Runs count test by test: a column of ten runs may have two of one test.
fn few_runs(column: &Column, place: usize, tests: &[ComparedTest]) -> Option<Finding> {
    let counts: Vec<u32> = tests.iter().filter_map(|test| Some(test.spreads[place].as_ref()?.n)).collect();
    let few = counts.iter().filter(|n| (**n as usize) < LEAST_RUNS).count();
    let least = counts.iter().copied().min().filter(|_| few > 0)?;
    let (which, there) = match few == counts.len() {
        true => (String::new(), ""),
        false => (format!("in {few} of its {} tests ", counts.len()), " there"),
    };
    let verdict = format!(
        "{}: {which}{} cannot show how far it varies; no difference to others is called real{there}",
        column.entry.name,
        runs(least)
    );
    Some(
        Finding::new("few-runs", Weight::Note, 1.0, verdict)
            .because("runs", least)
            .advise("measure it five times or more; ten show whether it jumps between two levels"),
    )
}

fn runs(n: u32) -> String {
    if n == 1 { "one run".to_owned() } else { format!("{n} runs") }
}

/// One finding an entry, with its tests.
fn jumps(columns: &[Column], tests: &[ComparedTest]) -> Vec<Finding> {
    let of = |(place, column): (usize, &Column)| {
        let jumping = tests.iter().filter_map(|test| {
            let levels = test.spreads[place].as_ref()?.levels?;
            Some((test.test.to_string(), format!("{:.0} and {:.0} MB/s", levels.low, levels.high)))
        });
        let evidence: Vec<(String, String)> = jumping.collect();
        let tests = evidence.len();
        (tests > 0).then(|| Finding {
            evidence,
            ..Finding::new(
                "two-levels",
                Weight::Hint,
                0.9,
                format!(
                    "{}: in {tests} of its tests the runs jump between two speeds; a mean between them is none that anybody sees",
                    column.entry.name
                ),
            )
            .advise("a cache that is full in some runs, or heat: `cardscope sustain` tells them apart")
        })
    };
    columns.iter().enumerate().filter_map(of).collect()
}

fn besides(differs: &[Differs], by: Option<&str>) -> Option<Finding> {
    let words: Vec<&str> = differs.iter().filter(|d| is_blamed(d, by)).map(|d| d.what.as_str()).collect();
    (!words.is_empty()).then(|| {
        Finding::new(
            "not-the-card-alone",
            Weight::Hint,
            1.0,
            format!(
                "besides the card these differ: {}; a difference in speed may be theirs",
                words.join(", ")
            ),
        )
    })
}

fn unsettled(tests: &[ComparedTest]) -> Option<Finding> {
    let all: Vec<&Pair> = tests.iter().flat_map(|t| &t.pairs).collect();
    let open: Vec<&&Pair> = all.iter().filter(|p| p.verdict == Verdict::CannotTell).collect();
    if open.is_empty() {
        return None;
    }
    let more = open.iter().filter_map(|p| p.more_runs).max();
    let finding = Finding::new(
        "cannot-tell",
        Weight::Note,
        1.0,
        format!("{} of {} differences cannot be told from chance", open.len(), all.len()),
    );
    Some(match more {
        Some(more) => {
            finding.advise(format!("{more} more runs of each card would probably settle those that can be"))
        }
        None => finding,
    })
}

/// A difference between two models needs more than one piece of each.
fn pieces(columns: &[Column]) -> Option<Finding> {
    let cards = columns.iter().map(|c| &c.entry.card_id).collect::<std::collections::BTreeSet<_>>().len();
    (cards > 1 && columns.iter().all(|c| c.entry.specimens == 1)).then(|| {
        Finding::new(
            "one-piece-each",
            Weight::Note,
            1.0,
            "one piece of each card was measured: these pieces differ so, their models need not",
        )
    })
}
