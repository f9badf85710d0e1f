//! Findings of a comparison as sentences: doubts, and what would settle them; with `--by age` also slowdown of a unit over the
//! months, by the statistics of [`cardscope_statistics::significance::age`].

use super::columns::{ComparedColumn, TestKey, is_blamed, test_keys};
use cardscope_model::comparison::{ChanceGrade, ComparedPair, ComparedTest, PairVerdict, SettingDifference};
use cardscope_model::condition::word_in_sentence;
use cardscope_model::finding::{Finding, FindingWeight};
use cardscope_model::units::{SpeedMbS, three_digits};
use cardscope_statistics::significance::{self, AgeEffect, MIN_RUNS, SIGNIFICANCE_LEVEL};
use jiff::civil::{Date, DateTime};

pub(super) fn comparison_findings(
    columns: &[ComparedColumn],
    tests: &[ComparedTest],
    differs: &[SettingDifference],
    by: &[&str],
) -> Vec<Finding> {
    let of = |(place, column)| few_runs(column, place, tests);
    let mut found: Vec<Finding> = columns.iter().enumerate().filter_map(of).collect();
    found.extend(two_level_findings(columns, tests));
    found.extend(other_conditions(differs, by));
    found.extend(undecided_pairs(tests));
    found.extend(single_units(columns));
    found
}

/// Few runs of a test. A column with ten runs may have two of one test, so each test is counted.
fn few_runs(column: &ComparedColumn, place: usize, tests: &[ComparedTest]) -> Option<Finding> {
    let counts: Vec<u32> = tests.iter().filter_map(|test| Some(test.spreads[place].as_ref()?.n)).collect();
    let few = counts.iter().filter(|n| **n < MIN_RUNS).count();
    let least = counts.iter().copied().min().filter(|_| few > 0)?;
    let which = match few == counts.len() {
        true => String::new(),
        false => format!(" in {few} of its {} tests", counts.len()),
    };
    let (count, were) =
        if least == 1 { ("one run".to_owned(), "was") } else { (format!("{least} runs"), "were") };
    let name = &column.entry.name;
    let basis = "intervals rest on how much such tests usually vary";
    let claim = format!("Only {count} of {name} {were} measured{which}: {basis}.");
    let advice = "Measure at least five runs; ten show whether the speed has two levels.";
    Some(Finding::new("few-runs", FindingWeight::Note, 1.0, claim).because("runs", least).with_advice(advice))
}

/// Columns whose speed alternates between two levels, each with its tests.
fn two_level_findings(columns: &[ComparedColumn], tests: &[ComparedTest]) -> Vec<Finding> {
    let of = |(place, column): (usize, &ComparedColumn)| {
        let jumping = tests.iter().filter_map(|test| {
            let levels = test.spreads[place].as_ref()?.levels?;
            let both = format!("{} and {}", three_digits(levels.low), SpeedMbS(levels.high));
            Some((test.test.to_string(), both))
        });
        let evidence: Vec<(String, String)> = jumping.collect();
        let verdict = format!(
            "The speed of {} alternates between two levels in {} of its tests, so the mean is misleading.",
            column.entry.name,
            evidence.len()
        );
        (!evidence.is_empty()).then(|| {
            Finding::new("two-levels", FindingWeight::Hint, 0.9, verdict)
                .because_all(&evidence)
                .with_advice("Run `cardscope sustain` to see whether a full cache or heat is the reason.")
        })
    };
    columns.iter().enumerate().filter_map(of).collect()
}

fn other_conditions(differs: &[SettingDifference], by: &[&str]) -> Option<Finding> {
    let words: Vec<String> =
        differs.iter().filter(|d| is_blamed(d, by)).map(|d| word_in_sentence(&d.what)).collect();
    let verdict = format!("Besides the card, other conditions differ too: {}.", words.join(", "));
    (!words.is_empty()).then(|| Finding::new("not-the-card-alone", FindingWeight::Hint, 1.0, verdict))
}

/// Undecided pairs, and the runs that would decide them.
fn undecided_pairs(tests: &[ComparedTest]) -> Option<Finding> {
    let all: Vec<&ComparedPair> = tests.iter().flat_map(|t| &t.pairs).collect();
    let open = |p: &&&ComparedPair| p.verdict == PairVerdict::CannotTell && p.grade < ChanceGrade::Likely;
    let open: Vec<&&ComparedPair> = all.iter().filter(open).collect();
    if open.is_empty() {
        return None;
    }
    let more = open.iter().filter_map(|p| p.more_runs).max();
    let advice = more.map(|more| format!("Measure about {more} more runs of each card."));
    let verdict = format!("{} of {} comparisons do not show which card is faster.", open.len(), all.len());
    Some(Finding { advice, ..Finding::new("cannot-tell", FindingWeight::Note, 1.0, verdict) })
}

/// Single units: a difference between two models needs more than one unit of each.
fn single_units(columns: &[ComparedColumn]) -> Option<Finding> {
    let cards = columns.iter().map(|c| &c.entry.card_id).collect::<std::collections::BTreeSet<_>>().len();
    let verdict = "One unit per model was tested; other units may differ.";
    (cards > 1 && columns.iter().all(|c| c.entry.specimens == 1))
        .then(|| Finding::new("one-piece-each", FindingWeight::Note, 1.0, verdict))
}

/// Ageing of each unit under one setting that was measured often enough, with its tests as evidence.
pub(super) fn ageing_findings(columns: &[ComparedColumn]) -> Vec<Finding> {
    let mut rest: Vec<&ComparedColumn> = columns.iter().collect();
    let mut found = Vec::new();
    while let Some(first) = rest.first().copied() {
        let (same, others): (Vec<_>, Vec<_>) = rest.into_iter().partition(|c| c.is_same_series(first));
        found.extend(ageing_finding(first, &same));
        rest = others;
    }
    found
}

fn ageing_finding(first: &ComparedColumn, same: &[&ComparedColumn]) -> Option<Finding> {
    let keys = test_keys(same.iter().copied()).into_iter();
    let ages = keys.filter_map(|key| Some((key, significance::age_trend(&dated_speeds(same, key))?)));
    let ages: Vec<(&TestKey, AgeEffect)> = ages.collect();
    // All tests are examined at once, so their p values are corrected together.
    let corrected = significance::correct_by_holm(&ages.iter().map(|(_, age)| age.p).collect::<Vec<_>>());
    let real = ages.iter().zip(corrected).filter(|((_, age), p)| age.real && *p < SIGNIFICANCE_LEVEL);
    let real: Vec<&(&TestKey, AgeEffect)> = real.map(|(known, _)| known).collect();
    let spans = ages.iter().map(|(_, age)| (age.sessions, age.years));
    let (sessions, years) = spans.max_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)))?;
    let watched = format!("over {sessions} sessions in {years:.1} years");
    let name = &first.series;
    if real.is_empty() {
        let claim = format!("Every test of {name} kept its speed {watched}.");
        return Some(Finding::new("age", FindingWeight::Note, 0.9, claim));
    }
    let slower = real.iter().filter(|(_, age)| age.per_year < 0.0).count();
    let claim = match (slower, real.len() - slower) {
        (n, 0) => format!("{} slower {watched}.", became_phrase(n, name)),
        (0, n) => format!("{} faster {watched}.", became_phrase(n, name)),
        (n, m) => format!("{} slower and {m} faster {watched}.", became_phrase(n, name)),
    };
    let weight = if slower > 0 { FindingWeight::Hint } else { FindingWeight::Note };
    let advice = "Save the data, erase the card and measure again: a full card writes slower.";
    let evidence = real.into_iter().map(ageing_evidence).collect();
    let finding = Finding { evidence, ..Finding::new("age", weight, 0.9, claim) };
    Some(if slower > 0 { finding.with_advice(advice) } else { finding })
}

fn became_phrase(tests: usize, name: &str) -> String {
    if tests == 1 { format!("One test of {name} became") } else { format!("{tests} tests of {name} became") }
}

fn ageing_evidence(((test, step), age): &(&TestKey, AgeEffect)) -> (String, String) {
    let name = step.as_ref().map_or_else(|| test.to_string(), |step| format!("{test} {step}"));
    let [low, high] = age.ci95;
    let share = age.percent_per_year.map_or(String::new(), |percent| format!(", {percent:+.1} %"));
    (name, format!("{:+.3} MB/s a year ({low:+.3} … {high:+.3}){share}", age.per_year))
}

/// Day and speed of each run with a known day.
fn dated_speeds(columns: &[&ComparedColumn], key: &TestKey) -> Vec<(f64, f64)> {
    let runs = columns.iter().filter_map(|column| column.test_runs(key));
    let dated = runs.flat_map(|runs| runs.at.iter().zip(&runs.mb_s));
    dated.filter_map(|(at, mb_s)| Some((days_since_1970(at.as_deref()?)?, *mb_s))).collect()
}

/// Days since 1970 with the time of day as their fraction; `None` without a day.
pub(super) fn days_since_1970(at: &str) -> Option<f64> {
    let date: Date = at.get(..10)?.parse().ok()?;
    let time = at.trim_end_matches('Z').parse::<DateTime>().unwrap_or(date.into());
    let seconds = time.hour() as i32 * 3600 + time.minute() as i32 * 60 + time.second() as i32;
    let since = date.since(jiff::civil::date(1970, 1, 1)).ok()?;
    Some(f64::from(since.get_days()) + f64::from(seconds) / 86_400.0)
}
