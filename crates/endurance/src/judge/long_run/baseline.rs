//! Comparison of a long run with an earlier one of the same card, such as with and without a fan
//! (docs/reference/reports.md#microsd-express-benchmarks). Differences are reported only if the intervals support them
//! (docs/reference/flash.md#comparing-two-cards).

use cardscope_model::sustain::{ComparedLine, ConditionComparison, MeasuredRun, SpeedLevel, SustainReport};
use std::collections::BTreeSet;

/// Least difference that is reported, because readers and hosts cause smaller ones
/// (docs/reference/flash.md#comparing-two-cards).
const MIN_DIFFERENCE: f64 = 0.03;

/// Range of ratios that counts as equal.
const SAME_RANGE: [f64; 2] = [0.95, 1.05];

/// States of a level without any slowdown. Older documents use `fast`.
const UNSLOWED_STATES: [&str; 4] = ["full speed", "steady", "varies", "fast"];

/// Compares `here` with the earlier run `there`, which is called `name`.
pub fn compare_runs(here: &SustainReport, name: &str, there: &SustainReport) -> ConditionComparison {
    let level = |what: &str, pick: fn(&MeasuredRun) -> Option<&SpeedLevel>| {
        compare_levels(what, pick(&here.body.measured), pick(&there.body.measured))
    };
    let figure = |what: &str, unit: &str, of: fn(&MeasuredRun) -> Option<f64>| {
        compare_figures(what, unit, of(&here.body.measured), of(&there.body.measured))
    };
    let mut lines = vec![
        level("full speed", |m| m.levels.iter().find(|l| UNSLOWED_STATES.contains(&l.state.as_str()))),
        level("with the cache full", |m| m.levels.iter().find(|l| l.state == "cache full")),
        level("slowest level", |m| m.levels.iter().min_by(|a, b| a.mb_s.total_cmp(&b.mb_s))),
        figure("steady state", "MB/s", |m| m.steady_state.filter(|s| s.reached).map(|s| s.mb_s)),
        figure("cache", "GB", |m| m.cache_bytes.value.map(|b| b as f64 / 1e9)),
        figure("heat slows it after", "s", |m| m.throttling.as_ref().map(|t| t.after_s)),
        figure("time slowed by heat", "%", |m| {
            (!m.series.is_empty()).then(|| m.throttling.as_ref().map_or(0.0, |t| t.share * 100.0))
        }),
        figure("warmest", "°C", |m| m.max_celsius),
    ];
    lines.retain(|line| line.here.is_some() || line.there.is_some());
    let (conditions, doubts) = (differing_conditions(here, there), comparison_caveats(here, there));
    ConditionComparison { other: name.to_owned(), conditions, lines, doubts }
}

/// Conditions that differ: key, value here, value there.
fn differing_conditions(here: &SustainReport, there: &SustainReport) -> Vec<(String, String, String)> {
    let words: BTreeSet<&str> =
        [here, there].into_iter().flat_map(|r| r.header.condition.iter()).map(|(w, _)| w).collect();
    let value = |r: &SustainReport, w: &str| r.header.condition.get(w).unwrap_or("unknown").to_owned();
    let all = words.into_iter().map(|w| (w.to_owned(), value(here, w), value(there, w)));
    all.filter(|(_, a, b)| a != b).collect()
}

/// Reasons why the runs are not fully comparable.
fn comparison_caveats(here: &SustainReport, there: &SustainReport) -> Vec<String> {
    let (a, b) = (&here.body, &there.body);
    let several = differing_conditions(here, there).len() > 1;
    let all = [
        (a.announced_bytes != b.announced_bytes, "the cards announce different capacities"),
        ((a.work, a.pattern, a.region_bytes) != (b.work, b.pattern, b.region_bytes), "the workloads differ"),
        (several, "several conditions differ, so a difference has no single cause"),
        (here.header.error.is_some() || there.header.error.is_some(), "one of the runs ended early"),
        (true, "one run each: another day may give other speeds"),
    ];
    all.into_iter().filter(|(is_so, _)| *is_so).map(|(_, text)| text.to_owned()).collect()
}

fn compare_levels(what: &str, here: Option<&SpeedLevel>, there: Option<&SpeedLevel>) -> ComparedLine {
    let mut line = compare_figures(what, "MB/s", here.map(|l| l.mb_s), there.map(|l| l.mb_s));
    let (Some(a), Some(b)) = (here, there) else { return line };
    if b.ci95[0] > 0.0 {
        // Dividing opposite ends gives an interval that is wider than necessary, but never too narrow.
        let interval = [a.ci95[0] / b.ci95[1], a.ci95[1] / b.ci95[0]];
        line.says = difference_text(a.mb_s / b.mb_s, interval).to_owned();
        line.ratio_ci95 = Some(interval);
    }
    line
}

fn difference_text(ratio: f64, [low, high]: [f64; 2]) -> &'static str {
    let excludes_one = low > 1.0 || high < 1.0;
    match () {
        () if low >= SAME_RANGE[0] && high <= SAME_RANGE[1] => "same within ±5 %",
        () if excludes_one && ratio > 1.0 + MIN_DIFFERENCE => "faster",
        () if excludes_one && ratio < 1.0 - MIN_DIFFERENCE => "slower",
        () => "no difference shown",
    }
}

fn compare_figures(what: &str, unit: &str, here: Option<f64>, there: Option<f64>) -> ComparedLine {
    let ratio = here.zip(there).filter(|(_, b)| *b != 0.0 && unit != "°C").map(|(a, b)| a / b);
    let (what, unit) = (what.to_owned(), unit.to_owned());
    ComparedLine { what, unit, here, there, ratio, ..ComparedLine::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn difference_is_reported_only_beyond_the_interval() {
        assert_eq!(difference_text(1.35, [1.30, 1.41]), "faster");
        assert_eq!(difference_text(0.72, [0.70, 0.75]), "slower");
        assert_eq!(difference_text(1.01, [0.97, 1.04]), "same within ±5 %");
        assert_eq!(difference_text(1.12, [0.85, 1.47]), "no difference shown");
        // ADATA and Lexar, fast writes (docs/reference/flash.md#comparing-two-cards): a real and a tiny difference.
        assert_eq!(difference_text(1.02, [1.01, 1.06]), "no difference shown");
    }

    #[test]
    fn level_ratio_uses_opposite_interval_ends() {
        let level =
            |mb_s: f64| SpeedLevel { mb_s, ci95: [mb_s * 0.99, mb_s * 1.01], ..SpeedLevel::default() };
        let line = compare_levels("full speed", Some(&level(750.0)), Some(&level(540.0)));
        let [low, high] = line.ratio_ci95.unwrap();
        assert!((low - 750.0 * 0.99 / (540.0 * 1.01)).abs() < 1e-9 && high > line.ratio.unwrap());
        assert_eq!(line.says, "faster");
        assert_eq!(compare_levels("full speed", Some(&level(1.0)), None).ratio, None);
    }
}
