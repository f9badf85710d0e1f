//! Runs of one card under two coolings, and the content of series.

use super::*;
use crate::judge::comparison::{RunDivision, divide_runs};
use cardscope_model::histogram::LatencyHistogram;
use cardscope_model::result::TemperatureC;
use cardscope_model::run::{CardRun, Run};
use cardscope_testkit::cards::{one_test_run, stored_card};

const READ: &str = "SEQ1M Q8T1 read";

fn second(at_s: u32, bytes: u64) -> SeriesBucket {
    SeriesBucket { at_s, bytes, ios: 20, max_us: 100.0, temperature_c: Some(40.0), ..SeriesBucket::default() }
}

/// Sample of two and a half seconds.
fn sample(latency: u64) -> LoopSample {
    let mut histogram = LatencyHistogram::default();
    histogram.record(latency);
    LoopSample {
        bytes: 50_000_000,
        ios: 50,
        nanos: 2_500_000_000,
        histogram,
        series: [second(0, 20_000_000), second(1, 20_000_000), second(2, 10_000_000)].into_iter().collect(),
        temperature_c: TemperatureC::default(),
        counted: true,
    }
}

fn record(latency: u64) -> SampleRecord {
    SampleRecord {
        test_key: READ.into(),
        test: READ.parse().unwrap(),
        step: None,
        loop_index: 0,
        sample: sample(latency),
        caveats: Vec::new(),
    }
}

/// Columns of runs 1 and 2 with a fan, and run 3 without.
fn columns_of_two_coolings() -> Vec<ComparedColumn> {
    let measured = |number: u32, cooling: &str| {
        let one = one_test_run(cooling, 20.0);
        CardRun { run: Run { run: number, ..one.run }, ..one }
    };
    let runs =
        vec![measured(1, "cooling=active"), measured(2, "cooling=active"), measured(3, "cooling=passive")];
    divide_runs(&stored_card("A"), runs, &RunDivision::BySetting)
}

#[test]
fn incomplete_last_second_is_omitted() {
    let seconds = complete_seconds(&sample(1000));
    assert_eq!(seconds.iter().map(|s| s.bytes).collect::<Vec<_>>(), [20_000_000; 2]);
    // A second that ends with the test is complete.
    let whole = LoopSample { nanos: 3 * NANOS_PER_S, ..sample(1000) };
    assert_eq!(complete_seconds(&whole).len(), 3);
}

#[test]
fn coolings_stay_separate_and_each_run_counts_once() {
    let columns = columns_of_two_coolings();
    let mut found = OverTime::new(&columns.iter().collect::<Vec<_>>(), &[]);
    // The first run has two loops.
    for (column, number, latency) in [(0, 1, 1_000), (0, 1, 2_000), (0, 2, 3_000), (1, 1, 9_000)] {
        found.add_sample(column, number, &record(latency));
    }
    let (series, latencies) = found.into_parts();
    let of = |entry: &str| series.iter().filter(|c| c.entry == entry).map(|c| c.run).collect::<Vec<_>>();
    assert_eq!(of("A · cooling active"), [1, 1, 2]);
    assert_eq!(of("A · cooling passive"), [1]);
    let told: Vec<_> = latencies
        .iter()
        .map(|l| (l.entry.as_str(), l.condition.as_str(), l.runs, l.histogram.count(), l.histogram.max()))
        .collect();
    assert_eq!(
        told,
        [
            ("A · cooling active", "cooling active", 2, 3, 3_000),
            ("A · cooling passive", "cooling passive", 1, 1, 9_000)
        ]
    );
}

#[test]
fn runs_are_numbered_by_column() {
    let columns = columns_of_two_coolings();
    let found = OverTime::new(&columns.iter().collect::<Vec<_>>(), &[]);
    let session = one_test_run("cooling=active", 1.0).session;
    assert_eq!(found.runs[&(session.clone(), 2)], [(0, 2)]);
    assert_eq!(found.runs[&(session.clone(), 3)], [(1, 1)]);
    assert_eq!(found.runs.get(&(session, 4)), None, "what is not compared is not shown");
}

#[test]
fn thinned_series_keeps_speed_and_longest_stall() {
    let stall = |at_s: u32| SeriesBucket {
        max_us: if at_s == 3601 { 9e5 } else { 100.0 },
        ..second(at_s, 20_000_000)
    };
    let thin = thin_series(&(0..7200).map(stall).collect::<Vec<_>>());
    assert_eq!(thin.len(), MOST_SECONDS);
    assert!(thin.iter().all(|s| s.mb_s() == 20.0 && s.seconds == 12));
    assert!(thin.iter().any(|s| s.max_us == 9e5));
}
