//! Anomalies between runs: speed levels, hot runs, runs past the cache, and an overheating USB host controller. The
//! controller of a Raspberry Pi 4 slowed an SSD 2 to 3 times without cooling
//! (docs/reference/reports.md#raspberry-pi-comparison). Reads have no cache that could end, so reads that slow down on USB
//! under long load point to the controller, unless the card itself is hot.

use super::test_table::{AnomalyRow, AnomalySession, AnomalyTable, is_large_sequential, speed_list};
use crate::run_levels::{LevelCompanion, RunLevels, find_companion, find_levels, run_states};
use cardscope_model::condition::Condition;
use cardscope_model::finding::{Finding, FindingWeight};
use cardscope_model::series::SeriesBucket;
use cardscope_model::statistics::median;
use cardscope_model::test_name::{IoOrder, TestOp};
use cardscope_model::units::{KIB, SpeedMbS, three_digits};

const MIN_STATE_RUNS: usize = 3;

pub(super) fn level_findings(table: &AnomalyTable<'_>) -> Vec<Finding> {
    let single = table.random_4k(TestOp::Read, 1);
    let finding = |row: &AnomalyRow<'_>| {
        let speeds = row.speeds();
        let found = find_levels(&speeds).filter(RunLevels::has_several)?;
        let start: Vec<Option<f64>> = row.results.iter().map(|r| r.temperature_c.start).collect();
        // Reads of the same test cannot explain its own levels.
        let reads = single.filter(|reads| reads.name != row.name && row.name.op == TestOp::Write);
        let reads: Vec<Option<f64>> = reads.iter().flat_map(|reads| reads.speeds()).map(Some).collect();
        let why = find_companion(&found, &speeds, &start, &reads);
        Some(level_finding(&row.name.to_string(), &found, &speeds, why))
    };
    table.rows.iter().filter_map(finding).collect()
}

fn level_finding(name: &str, found: &RunLevels, speeds: &[f64], why: LevelCompanion) -> Finding {
    let middles: Vec<String> = found.levels.iter().map(|l| three_digits(l.estimate.median)).collect();
    let (levels, runs) = (middles.join(" and "), speeds.len());
    let text =
        format!("{name} alternates between {levels} MB/s, so the mean of its {runs} runs is misleading.");
    let mut finding = Finding::new("bimodal-runs", FindingWeight::Note, 0.95, text);
    for level in &found.levels {
        let interval = level.estimate.ci95.map_or(String::new(), |ends| {
            let [low, high] = ends.map(three_digits);
            format!(", 95 % interval {low} to {high} MB/s")
        });
        let runs: Vec<String> = level.runs.iter().map(|run| (run + 1).to_string()).collect();
        let text = format!("{:.0} % of the runs ({}){interval}", level.share * 100.0, runs.join(" "));
        finding = finding.because(&format!("level at {} MB/s", three_digits(level.estimate.median)), text);
    }
    finding
        .because("runs in MB/s", speed_list(speeds))
        .because("goes along with", companion_text(why))
        .with_advice("Compare fast runs with fast and slow runs with slow.")
}

fn companion_text(why: LevelCompanion) -> &'static str {
    match why {
        LevelCompanion::Order => "data written before: fast runs come first, as with a cache that fills up",
        LevelCompanion::Heat => "temperature: slow runs start hotter",
        LevelCompanion::SlowerCells => "4 KiB read time: slow runs write to slower cells, past a cache",
        LevelCompanion::Unknown => "nothing recorded",
    }
}

pub(super) fn run_state_findings(table: &AnomalyTable<'_>) -> Vec<Finding> {
    let in_order = |op| -> Vec<Vec<f64>> {
        let rows = table.rows_of(op, |n| {
            is_large_sequential(n) || n.pattern.order == IoOrder::Sequential && n.pattern.block >= 512 * KIB
        });
        rows.map(AnomalyRow::speeds).collect()
    };
    let states = run_states(&in_order(TestOp::Read), &in_order(TestOp::Write));
    if states.len() < MIN_STATE_RUNS {
        return Vec::new();
    }
    let named = |wanted: fn(&crate::run_levels::RunState) -> bool| -> Vec<String> {
        (1..).zip(&states).filter(|(_, s)| wanted(s)).map(|(run, _): (usize, _)| run.to_string()).collect()
    };
    let hot = named(|s| s.hot);
    let behind = named(|s| s.behind_cache && !s.hot);
    let read = table.fastest_large_sequential(TestOp::Read).map(AnomalyRow::speeds);
    let write = table.fastest_large_sequential(TestOp::Write).map(AnomalyRow::speeds);
    let all = states.len();
    let mut findings = Vec::new();
    if !hot.is_empty() {
        let count = hot.len();
        let why = "sequential reads stayed below 90 % of the best run";
        let text = format!("{count} of {all} runs were slow from heat: {why}.");
        let finding = Finding::new("hot-runs", FindingWeight::Hint, 0.9, text).because("runs", hot.join(" "));
        findings.push(finding.because_some("reading in MB/s", read.map(|v| speed_list(&v))));
    }
    if !behind.is_empty() {
        let count = behind.len();
        let why = "below 85 % of the best run, with reads at full speed";
        let text = format!("{count} of {all} runs wrote past the cache: {why}.");
        let finding = Finding::new("runs-behind-cache", FindingWeight::Note, 0.85, text);
        let finding = finding.because("runs", behind.join(" "));
        findings.push(finding.because_some("writing in MB/s", write.map(|v| speed_list(&v))));
    }
    findings
}

/// Shortest load that can overheat a host, in seconds.
const MIN_LOAD_S: f64 = 60.0;
/// Share of the initial speed below which a fall is more than noise.
const FALL_RATIO: f64 = 0.7;
/// Least rise of a command without flash access on a slow host, as a share
/// (docs/reference/flash.md#causes-of-a-slow-spell).
const MIN_NULL_RISE: f64 = 0.12;
const MIN_HOST_RISE_K: f64 = 10.0;
/// Card temperature in °C that explains a fall by itself (TMT1 of two SD Express cards is 81 °C,
/// docs/reference/flash.md#heat).
const HOT_CARD_C: f64 = 75.0;

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct UsbLoad {
    pub seconds: f64,
    pub first_mb_s: f64,
    pub last_mb_s: f64,
    /// Rise in the time of a command without flash access, as a share. None if not timed.
    pub null_rise: Option<f64>,
    pub host_rise_k: Option<f64>,
    pub card_c: Option<f64>,
}

pub fn hot_host_finding(load: &UsbLoad) -> Option<Finding> {
    let fell = load.last_mb_s / load.first_mb_s;
    // A fall of speed on a hot card says nothing about the host.
    let card_is_hot = load.card_c.is_some_and(|c| c >= HOT_CARD_C);
    if load.seconds < MIN_LOAD_S || !fell.is_finite() || fell >= FALL_RATIO || card_is_hot {
        return None;
    }
    let null = load.null_rise.is_some_and(|rise| rise > MIN_NULL_RISE);
    let warm = load.host_rise_k.is_some_and(|rise| rise > MIN_HOST_RISE_K);
    let confidence = match (null, warm, load.card_c.is_some()) {
        (true, true, _) => 0.95,
        (true, false, _) | (false, true, _) => 0.85,
        (false, false, true) => 0.7,
        (false, false, false) => 0.5,
    };
    let (first, last) = (SpeedMbS(load.first_mb_s), SpeedMbS(load.last_mb_s));
    let fall = format!("{first} to {last} ({:.1} × slower) within {:.0} s", 1.0 / fell, load.seconds);
    let text = format!("The USB reader or host controller overheats: reads fell from {fall}.");
    let rise = load.null_rise.map(|rise| format!("{:+.0} %", rise * 100.0));
    Some(
        Finding::new("hot-usb-host", FindingWeight::Hint, confidence, text)
            .because("at the start", first)
            .because("at the end", last)
            .because_some("command without flash access", rise)
            .because_some("host", load.host_rise_k.map(|k| format!("{k:+.0} K")))
            .because_some("card", load.card_c.map(|c| format!("{c:.0} °C")))
            .with_advice(
                "Cool the reader and the board (on a Raspberry Pi 4 the VL805 beside the USB 3 ports) \
                     and measure again.",
            ),
    )
}

pub fn is_over_usb(condition: &Condition) -> bool {
    let says = |word| condition.get(word).is_some_and(|value| value.to_uppercase().contains("USB"));
    ["bus_mode", "usb_host", "reader"].into_iter().any(says)
}

pub(super) fn hot_host_in_session(session: &AnomalySession<'_>) -> Option<Finding> {
    if !is_over_usb(session.condition) {
        return None;
    }
    let results = session.runs.iter().filter(|run| run.counted).flat_map(|run| &run.results);
    let results = results.filter(|r| r.op == TestOp::Read && is_large_sequential(&r.name()));
    let results: Vec<_> = results.collect();
    let seconds: f64 = session.runs.iter().flat_map(|run| &run.results).map(|r| r.seconds).sum();
    // A test is compared only with itself: in the first and last run, or at the start and end of its own series.
    let name = results.first()?.name();
    let same: Vec<_> = results.into_iter().filter(|r| r.name() == name).collect();
    let series: Vec<SeriesBucket> = same.iter().flat_map(|r| r.series.iter().copied()).collect();
    // Without a series the first and the last run are compared.
    let ends = start_and_end_speed(&series).or_else(|| Some((same.first()?.mb_s, same.last()?.mb_s)));
    let (first_mb_s, last_mb_s) = ends?;
    let card_c = same.iter().filter_map(|r| r.temperature_c.max).reduce(f64::max);
    hot_host_finding(&UsbLoad { seconds, first_mb_s, last_mb_s, card_c, ..UsbLoad::default() })
}

fn start_and_end_speed(series: &[SeriesBucket]) -> Option<(f64, f64)> {
    let speeds: Vec<f64> = series.iter().map(SeriesBucket::mb_s).collect();
    let part = speeds.len() / 5;
    (part >= 3).then_some(())?;
    Some((median(&speeds[..part])?, median(&speeds[speeds.len() - part..])?))
}
