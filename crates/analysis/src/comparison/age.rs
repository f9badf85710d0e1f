//! Whether a piece became slower over the months: what `--by age` says in sentences, in the statistics of
//! [`crate::comparing::age`].

use super::columns::{Column, TestKey};
use crate::comparing::{self, Age, REAL};
use cardscope_model::finding::{Finding, Weight};
use jiff::civil::{Date, DateTime};

/// One finding for each piece under one setting that was measured often enough, with its tests as evidence.
pub(super) fn findings(columns: &[Column]) -> Vec<Finding> {
    let mut rest: Vec<&Column> = columns.iter().collect();
    let mut found = Vec::new();
    while let Some(first) = rest.first().copied() {
        let (same, others): (Vec<_>, Vec<_>) = rest.into_iter().partition(|column| column.ages_as(first));
        found.extend(finding(first, &same));
        rest = others;
    }
    found
}

fn finding(first: &Column, same: &[&Column]) -> Option<Finding> {
    let ages: Vec<(&TestKey, Age)> =
        keys(same).into_iter().filter_map(|key| Some((key, comparing::age(&points(same, key))?))).collect();
    // Who asks for the age asks of all tests at once.
    let corrected = comparing::holm(&ages.iter().map(|(_, age)| age.p).collect::<Vec<_>>());
    let real: Vec<&(&TestKey, Age)> = ages
        .iter()
        .zip(corrected)
        .filter(|((_, age), p)| age.real && *p < REAL)
        .map(|(known, _)| known)
        .collect();
    let (sessions, years) = ages
        .iter()
        .map(|(_, age)| (age.sessions, age.years))
        .max_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)))?;
    let watched = format!("over {sessions} sessions in {years:.1} years");
    let name = &first.series;
    if real.is_empty() {
        let claim = format!("{name}: no test became faster or slower for sure {watched}");
        return Some(Finding::new("age", Weight::Note, 0.9, claim));
    }
    let slower = real.iter().filter(|(_, age)| age.per_year < 0.0).count();
    let claim = match (slower, real.len() - slower) {
        (n, 0) => format!("{name}: {} slower {watched}", became(n)),
        (0, n) => format!("{name}: {} faster {watched}", became(n)),
        (n, m) => format!("{name}: {} slower and {m} faster {watched}", became(n)),
    };
    let weight = if slower > 0 { Weight::Hint } else { Weight::Note };
    let advice = "a full card writes slower than an erased one: before it is given up, save what is on it, erase it whole and measure once more";
    let mut finding = Finding::new("age", weight, 0.9, claim);
    finding.evidence = real.iter().map(|((test, step), age)| evidence(test, step.as_deref(), age)).collect();
    Some(if slower > 0 { finding.advise(advice) } else { finding })
}

fn became(tests: usize) -> String {
    if tests == 1 { "one test became".to_owned() } else { format!("{tests} tests became") }
}

fn evidence(test: &cardscope_model::test_name::TestName, step: Option<&str>, age: &Age) -> (String, String) {
    let name = step.map_or_else(|| test.to_string(), |step| format!("{test} {step}"));
    let [low, high] = age.ci95;
    let share = age.percent_per_year.map_or(String::new(), |percent| format!(", {percent:+.1} %"));
    (name, format!("{:+.3} MB/s a year ({low:+.3} … {high:+.3}){share}", age.per_year))
}

fn keys<'a>(columns: &[&'a Column]) -> Vec<&'a TestKey> {
    let mut keys: Vec<&TestKey> = Vec::new();
    for (key, _) in columns.iter().flat_map(|column| &column.tests) {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys
}

/// Day and figure of each run whose day is known.
fn points(columns: &[&Column], key: &TestKey) -> Vec<(f64, f64)> {
    let of = columns.iter().flat_map(|column| &column.tests).filter(|(k, _)| k == key);
    of.flat_map(|(_, values)| values.at.iter().zip(&values.mb_s))
        .filter_map(|(at, mb_s)| Some((day(at.as_deref()?)?, *mb_s)))
        .collect()
}

/// Days since 1970 with the time of day as their fraction; `None` for less than a day's precision.
pub(super) fn day(at: &str) -> Option<f64> {
    let date: Date = at.get(..10)?.parse().ok()?;
    let seconds = at.trim_end_matches('Z').parse::<DateTime>().map_or(0.0, |time| {
        f64::from(time.hour()) * 3600.0 + f64::from(time.minute()) * 60.0 + f64::from(time.second())
    });
    let since = date.since(jiff::civil::date(1970, 1, 1)).ok()?;
    Some(f64::from(since.get_days()) + seconds / 86_400.0)
}
