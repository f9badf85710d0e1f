//! Anomalies in the ten-run logs of SD Express cards (`cdm_fio` in the data folder, and the Lexar with a fan of
//! docs/reference/reports.md#microsd-express-benchmarks, whose log is missing there), compared with the judgement of a
//! person. Speeds are in the logs' MiB/s, since only ratios matter.

use cardscope_model::condition::Condition;
use cardscope_model::result::{RunResult, TestResult};
use cardscope_model::test_name::TestName;
use cardscope_statistics::anomaly::{AnomalySession, session_anomalies};
use cardscope_statistics::run_levels::{find_levels, run_states};
use std::path::PathBuf;

/// Names in the log and names of the tests.
const LINES: [(&str, &str); 6] = [
    ("Sequential", "SEQ1G Q1T1"),
    ("512KB", "SEQ512K Q1T1"),
    ("Sequential Q32T1", "SEQ32M Q32T1"),
    ("4KB", "RND4K Q1T1"),
    ("4KB Q32T1", "RND4K Q32T1"),
    ("4KB Q8T8", "RND4K Q8T8"),
];

fn log(name: &str) -> Option<String> {
    let data = std::env::var_os("CARDSCOPE_DATA").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data")),
        PathBuf::from,
    );
    let text = std::fs::read_to_string(data.join("cdm_fio").join(name)).ok();
    if text.is_none() {
        eprintln!("cdm_fio/{name} is not there: this test looked at nothing");
    }
    text
}

fn result(name: TestName, mb_s: f64) -> TestResult {
    TestResult { seconds: 60.0, ..TestResult::from_speed(name, mb_s) }
}

/// Runs with an area of 1024m, each of which begins with `Results:`.
fn runs(text: &str) -> Vec<RunResult> {
    let blocks = text.split("Configuration:").skip(1).filter(|block| block.contains("Size = 1024m"));
    let parsed = blocks.map(|block| block.lines().filter_map(line).collect::<Vec<_>>());
    parsed.filter(|results| results.len() == 12).zip(1..).map(|(results, run)| run_of(run, results)).collect()
}

fn run_of(run: u32, results: Vec<TestResult>) -> RunResult {
    RunResult {
        run,
        counted: true,
        seed: 0,
        results,
        not_measured: Vec::new(),
        scores: Vec::new(),
        passed: None,
    }
}

/// `512KB Q32T1 Read: 455MB/s IOPS=910`.
fn line(line: &str) -> Option<TestResult> {
    let (name, rest) = line.split_once(": ")?;
    let (test, op) = name.rsplit_once(' ')?;
    let (_, pattern) = LINES.iter().find(|(line, _)| *line == test)?;
    let mb_s = rest.split("MB/s").next()?.parse().ok()?;
    Some(result(format!("{pattern} {}", op.to_lowercase()).parse().ok()?, mb_s))
}

/// docs/reference/reports.md#microsd-express-benchmarks, Lexar with a fan, Test 1 to Test 10, with the tests in the order of
/// the report.
const LEXAR_ACTIVE: [[f64; 12]; 10] = [
    [534., 428., 534., 463., 157., 33., 627., 713., 430., 491., 597., 745.],
    [339., 426., 536., 467., 158., 37., 625., 711., 437., 485., 595., 718.],
    [300., 356., 311., 463., 148., 30., 398., 758., 299., 492., 392., 736.],
    [284., 319., 278., 466., 149., 24., 348., 749., 273., 485., 362., 742.],
    [261., 436., 403., 466., 155., 21., 328., 750., 253., 454., 322., 747.],
    [233., 325., 223., 397., 140., 24., 286., 755., 225., 488., 280., 763.],
    [514., 299., 225., 402., 139., 21., 285., 760., 225., 485., 281., 755.],
    [383., 426., 533., 466., 159., 36., 627., 751., 416., 491., 605., 743.],
    [256., 330., 248., 438., 144., 24., 288., 764., 260., 483., 323., 752.],
    [266., 332., 226., 398., 140., 20., 285., 745., 223., 482., 280., 737.],
];

fn lexar_active() -> Vec<RunResult> {
    let names = LINES.iter().rev().flat_map(|(_, p)| [format!("{p} write"), format!("{p} read")]);
    let names: Vec<TestName> = names.map(|name| name.parse().unwrap()).collect();
    let run = |(speeds, run): (&[f64; 12], u32)| {
        run_of(run, names.iter().zip(speeds).map(|(name, mb_s)| result(*name, *mb_s)).collect())
    };
    LEXAR_ACTIVE.iter().zip(1..).map(run).collect()
}

fn speeds(runs: &[RunResult], test: &str) -> Vec<f64> {
    let name: TestName = test.parse().unwrap();
    runs.iter().flat_map(|run| &run.results).filter(|r| r.name() == name).map(|r| r.mb_s).collect()
}

/// Hot runs and runs past the cache, from 1.
fn states(runs: &[RunResult]) -> (Vec<usize>, Vec<usize>) {
    let of = |op: &str| -> Vec<Vec<f64>> {
        LINES[..3].iter().map(|(_, pattern)| speeds(runs, &format!("{pattern} {op}"))).collect()
    };
    let states = run_states(&of("read"), &of("write"));
    let numbered = |wanted: fn(&cardscope_statistics::run_levels::RunState) -> bool| {
        (1..).zip(&states).filter(|(_, s)| wanted(s)).map(|(run, _): (usize, _)| run).collect()
    };
    (numbered(|s| s.hot), numbered(|s| s.behind_cache))
}

fn named(runs: &[RunResult]) -> Vec<String> {
    let condition = Condition::default();
    let found = session_anomalies(&AnomalySession { runs, condition: &condition, ceiling_mb_s: None });
    found.iter().map(|f| format!("{}: {}", f.claim, f.verdict)).collect()
}

#[test]
fn adata_with_fan_is_cool_with_two_write_levels() {
    let Some(text) = log("adata-SD71-active-cooling.log") else { return };
    let runs = runs(&text);
    assert_eq!(runs.len(), 10);
    let (hot, behind) = states(&runs);
    assert!(hot.is_empty(), "{hot:?}");
    // docs/reference/flash.md#causes-of-a-slow-spell: the cache ends in 6 to 8 of 10 runs with a fan.
    assert!((6..=8).contains(&behind.len()), "{behind:?}");
    let found = find_levels(&speeds(&runs, "SEQ1G Q1T1 write")).unwrap();
    assert_eq!(found.levels.len(), 2, "{found:?}");
    assert!(!find_levels(&speeds(&runs, "SEQ1G Q1T1 read")).unwrap().has_several());
    let named = named(&runs);
    assert!(named.iter().any(|f| f.starts_with("bimodal-runs: SEQ1G Q1T1 write")), "{named:#?}");
    assert!(!named.iter().any(|f| f.starts_with("hot-runs")), "{named:#?}");
}

#[test]
fn adata_without_fan_is_hot_from_run_six() {
    let Some(text) = log("adata-SD71-passive-cooling.log") else { return };
    let runs = runs(&text);
    assert_eq!(states(&runs).0, [6, 7, 8, 9, 10]);
    let named = named(&runs);
    assert!(named.iter().any(|f| f.starts_with("hot-runs: 5 of 10")), "{named:#?}");
}

#[test]
fn lexar_without_fan_is_hot_in_nine_runs() {
    let Some(text) = log("lexar-LX1TB71-passive-cooling.log") else { return };
    let runs = runs(&text);
    let (hot, behind) = states(&runs);
    assert_eq!(hot, [2, 3, 4, 5, 6, 7, 8, 9, 10]);
    assert_eq!(behind, [1, 2, 3, 4, 5, 6, 7, 8, 10], "run 9 is the one fast run");
}

#[test]
fn lexar_with_fan_is_cool_with_two_write_levels() {
    let runs = lexar_active();
    let (hot, behind) = states(&runs);
    assert!(hot.is_empty(), "{hot:?}");
    assert_eq!(behind, [3, 4, 5, 6, 7, 9, 10]);
    let found = find_levels(&speeds(&runs, "SEQ1G Q1T1 write")).unwrap();
    assert_eq!((found.levels.len(), &found.levels[0].runs[..]), (2, &[0, 1, 7][..]));
    let named = named(&runs);
    assert!(named.iter().any(|f| f.starts_with("bimodal-runs: SEQ1G Q1T1 write")), "{named:#?}");
}

#[test]
fn sandisk_is_cool_with_slow_single_reads() {
    let Some(text) = log("sandisk-ST25671-passive-cooling.log") else { return };
    let runs = runs(&text);
    assert_eq!(runs.len(), 2, "of three runs one went over 256m");
    assert!(states(&runs).0.is_empty());
    let named = named(&runs);
    assert!(named.iter().any(|f| f.starts_with("read-below-class")), "{named:#?}");
}
