//! Table of a card's tests: speed over time as a sparkline, temperatures, latencies. The test whose speed falls most also has
//! a chart.

use super::charts::group_by_test;
use crate::page::time_chart::{CombinedRuns, combine_runs, test_chart};
use cardscope_model::publication::{CardPart, TestLatencies, TestSeries};
use cardscope_model::test_name::TestName;
use cardscope_model::units::three_digits as speed;
use cardscope_page::chart::Chart;
use cardscope_page::figure::{test_with_step, time_us};
use cardscope_page::text_chart;
use cardscope_page::tree::PageBlock;
use cardscope_page::tree::table::Table;

/// Points of a sparkline.
const SPARKLINE_POINTS: usize = 20;

/// Test, step and entry.
type Key<'a> = (TestName, Option<&'a str>, &'a str);

fn series_key(series: &TestSeries) -> Key<'_> {
    (series.test, series.step.as_deref(), &series.entry)
}

fn latency_key(latencies: &TestLatencies) -> Key<'_> {
    (latencies.test, latencies.step.as_deref(), &latencies.entry)
}

/// Tests of a card with a series or latencies, in order, each with its condition.
fn card_tests(part: &CardPart) -> Vec<(Key<'_>, &str)> {
    let mut all: Vec<(Key<'_>, &str)> = Vec::new();
    let series = part.courses.iter().map(|s| (series_key(s), s.condition.as_str()));
    let latencies = part.latencies.iter().map(|l| (latency_key(l), l.condition.as_str()));
    for (key, condition) in series.chain(latencies) {
        if all.iter().all(|(known, _)| *known != key) {
            all.push((key, condition));
        }
    }
    all
}

/// Chart of the test whose speed falls most.
pub(super) fn steepest_test_chart(part: &CardPart) -> Option<Chart> {
    let fall = |series: &Vec<&TestSeries>| combine_runs(series, SPARKLINE_POINTS).fastest_to_slowest();
    let all = group_by_test(&part.courses);
    test_chart(all.iter().max_by(|a, b| fall(a).total_cmp(&fall(b)))?)
}

/// Table of the tests; empty without series and latencies. Tests name their conditions if these differ.
pub(super) fn test_blocks(part: &CardPart) -> Vec<PageBlock> {
    let tests = card_tests(part);
    let Some((_, first)) = tests.first() else { return Vec::new() };
    let alike = tests.iter().all(|(_, condition)| condition == first);
    let (slowest, fastest) = ("slowest s, MB/s", "fastest s, MB/s");
    let speeds = ["test", "speed over time", "runs", slowest, fastest, "max °C"];
    let heads = speeds.into_iter().chain(["median", "p99", "p99.9", "longest"]);
    let mut table = Table::new(heads).least_important(["runs", "p99.9", slowest, fastest, "p99"]);
    for (key, condition) in &tests {
        table.add_row(test_row(part, key, if alike { "" } else { condition }));
    }
    table.drop_blank_columns();
    let condition = if alike && !first.is_empty() { format!("; {first}") } else { String::new() };
    let caption =
        format!("Speed over time: median of the runs, from 0 MB/s up. Latencies over all runs{condition}.");
    vec![PageBlock::Table(table), PageBlock::Words(caption)]
}

fn test_row(part: &CardPart, key: &Key<'_>, condition: &str) -> Vec<String> {
    let series: Vec<&TestSeries> = part.courses.iter().filter(|s| series_key(s) == *key).collect();
    let latencies = part.latencies.iter().find(|l| latency_key(l) == *key);
    let runs = combine_runs(&series, SPARKLINE_POINTS);
    let hottest = runs.celsius.iter().map(|(_, celsius)| *celsius).reduce(f64::max);
    let under = if condition.is_empty() { String::new() } else { format!(" · {condition}") };
    let histogram = latencies.map(|l| &l.histogram);
    let quantile = |q: f64| histogram.filter(|h| h.count() > 0).map(|h| time_us(h.quantile(q) as f64 / 1e3));
    let mut cells = vec![
        format!("{}{under}", test_with_step(key.0, key.1)),
        runs.fastest_second().map(|most| sparkline(&runs, most)).unwrap_or_default(),
        latencies.map_or(runs.runs, |l| l.runs).to_string(),
        runs.slowest_second().map(speed).unwrap_or_default(),
        runs.fastest_second().map(speed).unwrap_or_default(),
        hottest.map(|celsius| format!("{celsius:.0}")).unwrap_or_default(),
    ];
    cells.extend([0.5, 0.99, 0.999, 1.0].map(|q| quantile(q).unwrap_or_default()));
    cells
}

/// Sparkline of the speed over time, from 0 to its fastest second.
fn sparkline(runs: &CombinedRuns, most: f64) -> String {
    let step = |(_, mb_s): &(f64, f64)| text_chart::block_character(mb_s / most);
    if most > 0.0 { runs.median.iter().map(step).collect() } else { String::new() }
}
