use super::*;
use crate::recipe::{RECIPES, Recipe, parse};
use crate::result::RunResult;
use crate::series::SeriesBucket;
use crate::units::{GIB, MIB, NANOS_PER_S};
use proptest::prelude::*;
use rstest::rstest;

fn recipe(name: &str) -> Recipe {
    parse(RECIPES.find_text(name).unwrap(), None).unwrap()
}

fn test_of(recipe: &Recipe, key: &str) -> RecipeTest {
    recipe.tests.iter().find(|t| t.key() == key).unwrap_or_else(|| panic!("{key}")).clone()
}

/// Sample of a loop with I/Os of equal latency.
fn sample(test: &RecipeTest, bytes: u64, seconds: f64) -> LoopSample {
    let ios = bytes / test.name.pattern.block;
    let mut histogram = LatencyHistogram::default();
    histogram.record((seconds * NANOS_PER_S as f64 / ios.max(1) as f64) as u64);
    LoopSample {
        bytes,
        ios,
        nanos: (seconds * NANOS_PER_S as f64).round() as u64,
        histogram,
        series: TimeSeries::default(),
        temperature_c: TemperatureC::default(),
        counted: true,
    }
}

fn printed(recipe_name: &str, key: &str, bytes: u64, seconds: f64) -> (f64, String) {
    let test = test_of(&recipe(recipe_name), key);
    let prints = aggregate_test(&test, &[sample(&test, bytes, seconds)]).unwrap().tool_prints.unwrap();
    (prints.value, prints.unit)
}

// Figures: published logs of the tools, and the table of units in the reference.
#[rstest]
// The script truncates 836.97 MiB/s and prints it as MB/s; the true speed is 877.6 MB/s.
#[case("cdm-fio", "SEQ1G Q1T1 read", GIB, 1024.0 / 836.97, 836.0, "MB/s")]
#[case("cdm-fio", "RND4K Q1T1 write", 4096 * 1000, 4096.0 * 1000.0 / (140.4 * 1_048_576.0), 140.0, "MB/s")]
// 5550.5 I/Os of 1 MiB per second are 5820.1 MB/s; KDiskMark shows 5683.7.
#[case("kdiskmark", "SEQ1M Q8T1 read", 55505 * MIB, 10.0, 5683.712, "MB/s")]
#[case("cdm8-default", "SEQ1M Q8T1 read", 5180 * MIB, 9.999_398, 543.195, "MB/s")]
#[case("geerling-2020", "hdparm -t", 204 * MIB, 3.0218, 67.51, "MB/sec")]
// dd prints 54.1, 16.6 and 9.6 for 400 MiB in 7.74791, 25.3193 and 43.8039 s, and 123 at 123.4 MB/s.
#[case("geerling-2020", "dd", 400 * MIB, 7.74791, 54.1, "MB/s")]
#[case("geerling-2020", "dd", 400 * MIB, 25.3193, 16.6, "MB/s")]
#[case("geerling-2020", "dd", 400 * MIB, 43.8039, 9.6, "MB/s")]
#[case("geerling-2020", "dd", 400 * MIB, 400.0 * 1.048576 / 123.4, 123.0, "MB/s")]
#[case("geerling-2020", "iozone random write", 100 * MIB, 102_400.0 / 5744.5, 5744.0, "kBytes/sec")]
#[case("geerling-2024", "1024k reread", GIB, 1024.0 / 88.75, 88.75, "MB/s")]
#[case("pibenchmarks", "FIO 4k random write", 296 * 4096, 0.999, 296.0, "IOPS")]
#[case("pibenchmarks", "IOZone 4k write", 80 * MIB, 81_920.0 / 2808.2, 2808.0, "KB/s")]
#[case("agnostics-a1", "seq-write", 256 * MIB, 262_144.0 / 10_000.9, 10_000.0, "KB/sec")]
#[case("as-ssd", "4K read", 100 * MIB, 4.0, 25.0, "MB/s")]
#[case("as-ssd", "Acc.time read", 4096 * 2000, 0.9, 0.45, "ms")]
#[case("dd-sweep", "SEQ4K Q1T1 write", GIB, 1073.741824 / 2.0, 2.0, "MB/s")]
fn printed_figures_match_the_tools(
    #[case] recipe: &str,
    #[case] key: &str,
    #[case] bytes: u64,
    #[case] seconds: f64,
    #[case] value: f64,
    #[case] unit: &str,
) {
    let (got, got_unit) = printed(recipe, key, bytes, seconds);
    assert!((got - value).abs() < 1e-6, "{recipe} {key}: {got}, not {value}");
    assert_eq!(got_unit, unit);
}

/// Loops of 1 s each at these MiB/s in blocks of 1 MiB; the first is discarded.
fn loops(recipe: &str, key: &str, mib_s: &[u64]) -> TestResult {
    let test = test_of(&self::recipe(recipe), key);
    let mut samples: Vec<LoopSample> = mib_s.iter().map(|m| sample(&test, m * MIB, 1.0)).collect();
    samples[0].counted = false;
    aggregate_test(&test, &samples).unwrap()
}

#[test]
fn crystaldiskmark_value_is_the_fastest_counted_loop() {
    let result = loops("cdm8-default", "SEQ1M Q1T1 read", &[900, 10, 30, 20]);
    assert!((result.recipe_value - 30.0 * 1.048576).abs() < 1e-9, "{}", result.recipe_value);
    assert!((result.mb_s - 20.0 * 1.048576).abs() < 1e-9);
    assert_eq!((result.loops.len(), result.loops[0].counted, result.bytes), (4, false, 60 * MIB));
}

#[test]
fn kdiskmark_value_is_the_mean_of_its_loops() {
    let result = loops("kdiskmark", "SEQ1M Q1T1 read", &[900, 10, 30, 20]);
    assert!((result.recipe_value - 20.0 * 1.048576).abs() < 1e-9);
    assert!((result.tool_prints.unwrap().value - 20.48).abs() < 1e-9);
}

#[test]
fn a_test_without_a_counted_loop_has_no_result() {
    let test = test_of(&recipe("cdm3"), "RND4K Q1T1 read");
    let mut discarded = sample(&test, MIB, 1.0);
    discarded.counted = false;
    assert_eq!(aggregate_test(&test, &[discarded]), None);
    assert_eq!(aggregate_test(&test, &[]), None);
}

#[test]
fn series_of_loops_are_joined() {
    let test = test_of(&recipe("cdm3"), "RND4K Q1T1 read");
    let second = |at_s| SeriesBucket { at_s, bytes: 4096, ios: 1, ..SeriesBucket::default() };
    let mut one = sample(&test, 8192, 1.5);
    one.series = [second(0), second(1)].into_iter().collect();
    one.temperature_c = TemperatureC { start: Some(30.0), end: Some(41.0), max: Some(42.0) };
    let mut two = one.clone();
    two.temperature_c = TemperatureC { start: Some(40.0), end: Some(50.0), max: None };
    let result = aggregate_test(&test, &[one, two]).unwrap();
    assert_eq!(result.series.iter().map(|s| s.at_s).collect::<Vec<_>>(), [0, 1, 2, 3]);
    assert_eq!(result.temperature_c, TemperatureC { start: Some(30.0), end: Some(50.0), max: Some(42.0) });
}

proptest! {
    #[test]
    fn mb_s_and_iops_are_consistent(
        moved in prop::collection::vec((1u64..1 << 22, 1u64..1 << 45, any::<bool>()), 1..12),
        index in 0usize..8, tool in prop::sample::select(vec!["cdm3", "kdiskmark", "cdm-fio", "quick"]),
    ) {
        let test = recipe(tool).tests.swap_remove(index);
        let block = test.name.pattern.block;
        let samples: Vec<LoopSample> = moved.iter().map(|(ios, nanos, counted)| LoopSample {
            bytes: ios * block, ios: *ios, nanos: *nanos, counted: *counted, ..sample(&test, block, 1.0)
        }).collect();
        let Some(result) = aggregate_test(&test, &samples) else {
            prop_assert!(samples.iter().all(|s| !s.counted));
            return Ok(());
        };
        let agree = |mb_s: f64, iops: f64| (mb_s * 1e6 - iops * block as f64).abs() <= mb_s * 1e6 * 1e-9;
        prop_assert!(agree(result.mb_s, result.iops));
        prop_assert!(result.loops.iter().all(|l| agree(l.mb_s, l.iops)));
        let counted: Vec<&LoopSample> = samples.iter().filter(|s| s.counted).collect();
        let (ios, nanos): (u64, u64) = (counted.iter().map(|s| s.ios).sum(), counted.iter().map(|s| s.nanos).sum());
        let rate = ios as f64 / (nanos as f64 / 1e9);
        prop_assert!((result.iops - rate).abs() <= rate * 1e-9, "{} I/Os per second, counted {rate}", result.iops);
        let (slowest, fastest) = result.loops.iter().filter(|l| l.counted)
            .fold((f64::MAX, 0.0f64), |(lo, hi), l| (lo.min(l.mb_s), hi.max(l.mb_s)));
        prop_assert!(result.recipe_value >= slowest * (1.0 - 1e-9) && result.recipe_value <= fastest * (1.0 + 1e-9));
    }
}

/// Run with a given speed for each test of the recipe.
fn run_of(recipe: &Recipe, number: u32, bytes_per_s: impl Fn(&RecipeTest) -> f64) -> RunResult {
    let results = recipe.tests.iter().map(|test| {
        let bytes = test.name.pattern.block * 10_000;
        aggregate_test(test, &[sample(test, bytes, bytes as f64 / bytes_per_s(test))]).unwrap()
    });
    RunResult {
        run: number,
        counted: true,
        seed: 1,
        results: results.collect(),
        not_measured: Vec::new(),
        scores: Vec::new(),
        passed: None,
    }
}

#[test]
fn summary_covers_counted_runs_only() {
    let recipe = recipe("cdm-fio");
    let speeds = [600e6, 300e6, 280e6, 290e6, 9e6];
    let mut runs: Vec<RunResult> =
        (1..).zip(speeds).map(|(n, speed)| run_of(&recipe, n, |_| speed)).collect();
    runs[4].counted = false;
    let summary = &summarize_tests(&runs, &recipe, |_, speeds| Some([speeds.len() as f64, 0.0]))[0];
    let close = |a: f64, b: f64| (a - b).abs() < 1e-3;
    assert_eq!((summary.n, summary.ci95), (4, Some([4.0, 0.0])));
    let figures = [summary.mean, summary.best, summary.worst, summary.median, summary.recipe_value];
    let expected = [367.5, 600.0, 280.0, 295.0, 367.5];
    assert!(figures.iter().zip(expected).all(|(a, b)| close(*a, b)), "{summary:?}");
    // 367.5 MB/s are 350.48 MiB/s.
    assert_eq!(summary.tool_prints.as_ref().unwrap().value, 350.0);
}

#[test]
fn single_run_summary_has_no_interval() {
    let recipe = recipe("as-ssd");
    let run = run_of(&recipe, 1, |_| 20e6);
    let summaries =
        summarize_tests(std::slice::from_ref(&run), &recipe, |_, _| panic!("one value has no interval"));
    assert_eq!(summaries.len(), recipe.tests.len());
    for (summary, result) in summaries.iter().zip(&run.results) {
        assert_eq!((summary.ci95, &summary.tool_prints), (None, &result.tool_prints));
    }
}

#[test]
fn summary_omits_unmeasured_tests() {
    let recipe = recipe("quick");
    let mut run = run_of(&recipe, 1, |_| 20e6);
    run.results.truncate(1);
    assert_eq!(summarize_tests(&[run], &recipe, |_, _| None).len(), 1);
}

/// Run with these writes of 4 KiB per second and this sequential speed; reads are fast enough.
fn a1_run(recipe: &Recipe, number: u32, write_iops: f64, seq_kib_s: f64) -> RunResult {
    run_of(recipe, number, |test| match test.key().as_str() {
        "rand-4k-write" => write_iops * 4096.0,
        "rand-4k-read" => 1500.5 * 4096.0,
        _ => seq_kib_s * 1024.0,
    })
}

#[test]
fn demands_are_met_at_the_limit_and_missed_below() {
    let recipe = recipe("agnostics-a1");
    assert_eq!(demands_met(&a1_run(&recipe, 1, 500.5, 10_001.0), &recipe), Some(true));
    assert_eq!(demands_met(&a1_run(&recipe, 1, 499.0, 10_001.0), &recipe), Some(false));
    // The mark demands 10 MB/s, but the script 10 000 KiB/s, which is 2.4 % more.
    assert_eq!(demands_met(&a1_run(&recipe, 1, 600.0, 10_000_000.0 / 1024.0), &recipe), Some(false));
}

#[test]
fn unmeasured_demand_gives_no_verdict() {
    let recipe = recipe("agnostics-a1");
    let mut run = a1_run(&recipe, 1, 600.0, 20_000.0);
    run.results.retain(|r| r.key() != "rand-4k-read");
    assert_eq!(demands_met(&run, &recipe), None);
    assert_eq!(demands_met(&run, &self::recipe("quick")), None);
    assert!(demand_findings(&[run], &recipe).is_empty());
}

#[test]
fn first_passing_run_decides_demands() {
    let recipe = recipe("agnostics-a1");
    let runs = [a1_run(&recipe, 1, 400.0, 20_000.0), a1_run(&recipe, 2, 700.4, 20_000.0)];
    let summary = summarize_tests(&runs, &recipe, |_, _| None);
    let write = summary.iter().find(|s| s.step.as_deref() == Some("rand-4k-write")).unwrap();
    assert_eq!(write.tool_prints.as_ref().unwrap().value, 700.0);
    let findings = demand_findings(&runs, &recipe);
    assert_eq!(findings[0].weight, crate::finding::FindingWeight::Note);
    assert!(findings[0].verdict.contains("only in run 2"), "{}", findings[0].verdict);
}

#[test]
fn failed_runs_give_a_bad_finding_with_figures() {
    let recipe = recipe("agnostics-a1");
    let runs: Vec<RunResult> = (1..=3).map(|n| a1_run(&recipe, n, 312.0, 20_000.0)).collect();
    let finding = &demand_findings(&runs, &recipe)[0];
    assert_eq!(finding.weight, crate::finding::FindingWeight::Bad);
    assert!(finding.verdict.contains("all 3 runs"));
    assert!(finding.evidence.contains(&("rand-4k-write".into(), "312 IOPS (needs 500)".into())));
}

#[test]
fn as_ssd_score_weighs_sequential_speed_by_a_tenth() {
    let recipe = recipe("as-ssd");
    let mib = |test: &RecipeTest| match test.key().as_str() {
        "Seq read" => 80.0,
        "4K read" => 8.0,
        "4K-64Thrd read" => 9.0,
        _ => 10.0,
    };
    let run = run_of(&recipe, 1, |test| mib(test) * MIB as f64);
    // 0.1 * 80 + 8 + 9 and 0.1 * 10 + 10 + 10.
    assert_eq!(tool_scores(&run, &recipe), [("read".to_owned(), 25.0), ("write".to_owned(), 21.0)]);
}

#[test]
fn score_needs_every_step() {
    let recipe = recipe("pibenchmarks");
    let mut run = run_of(&recipe, 1, |_| 20e6);
    assert_eq!(tool_scores(&run, &recipe).len(), 1);
    run.results.retain(|r| r.key() != "DD Disk Write");
    assert!(tool_scores(&run, &recipe).is_empty());
}
