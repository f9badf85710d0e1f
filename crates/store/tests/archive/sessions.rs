//! Fixtures: sessions as a runner stores them.

use cardscope_model::caveat::Caveat;
use cardscope_model::condition::{Condition, ConditionOrigin};
use cardscope_model::finding::{Finding, FindingWeight};
use cardscope_model::histogram::LatencyHistogram;
use cardscope_model::report::{Report, ReportHeader};
use cardscope_model::result::{
    BenchReport, BenchResult, LatencyUs, LoopSample, RunResult, TemperatureC, TestResult, ToolPrints,
};
use cardscope_model::series::SeriesBucket;
use cardscope_model::session_file::SampleRecord;
use cardscope_model::session_file::{CardUnit, FileRecipe, SessionFile};
use cardscope_store::{Archive, RunStart, SessionId, SessionSummary, unit_id};

pub(crate) fn start() -> SessionFile {
    let mut condition = Condition::default();
    condition.set("cooling", "passive", ConditionOrigin::Stated);
    condition.set("kernel", "6.18", ConditionOrigin::Read);
    SessionFile {
        kind: "bench".into(),
        target: "/dev/mmcblk0".into(),
        specimen: Some(CardUnit {
            id: unit_id("035344534e33324780001a2b3c4d0125"),
            maker: Some("SanDisk".into()),
            model: "SN32G".into(),
            capacity_bytes: Some(31_914_983_424),
            serial: Some("0x1a2b3c4d".into()),
            ..CardUnit::default()
        }),
        recipe: Some(FileRecipe {
            name: "quick".into(),
            version: "1".into(),
            text: "name = \"quick\"\n".into(),
        }),
        seed: (u64::MAX - 1).to_string(),
        condition,
        io_path: Some("io_uring".into()),
        bus_ceiling_mb_s: Some(104.0),
        identity: serde_json::json!({"cid": {"mid": 3, "pnm": "SN32G"}}),
        host: serde_json::json!({"name": "bench", "kernel": "6.18"}),
        tool_version: "0.1.0".into(),
        ..SessionFile::default()
    }
}

/// Start of a record.
pub(crate) fn record(kind: &str) -> SessionFile {
    SessionFile { kind: kind.into(), recipe: None, io_path: None, bus_ceiling_mb_s: None, ..start() }
}

/// Sessions whose process ended without finishing them.
pub(crate) fn interrupted(archive: &mut Archive) -> Vec<SessionSummary> {
    let mut sessions = archive.sessions().unwrap();
    sessions.retain(|s| s.ended_at.is_none() && !s.running);
    sessions
}

pub(crate) fn run(number: u32) -> RunStart {
    RunStart { run: number, seed: u64::from(number) << 60, counted: number > 1, size_bytes: Some(1 << 30) }
}

/// Sample of a loop; its number of I/Os is the index of the loop, to recognize it.
pub(crate) fn sample(loop_index: u32) -> SampleRecord {
    let mut histogram = LatencyHistogram::default();
    (0..200).for_each(|i| histogram.record(100_000 + i * 7919 + u64::from(loop_index)));
    let ios = u64::from(loop_index) + 1;
    let second = |at_s| SeriesBucket {
        at_s,
        bytes: ios * 4096,
        ios,
        sum_us: 1683 * ios,
        max_us: 1683.3,
        temperature_c: Some(41.7),
        ..SeriesBucket::default()
    };
    SampleRecord {
        test_key: "RND4K Q32T1 read".into(),
        test: "RND4K Q32T1 read".parse().unwrap(),
        step: None,
        loop_index,
        sample: LoopSample {
            bytes: ios * 4096,
            ios,
            nanos: 5_000_000_123,
            histogram,
            series: (0..5).map(second).collect(),
            temperature_c: TemperatureC { start: Some(38.1), end: None, max: Some(41.7) },
            counted: loop_index > 0,
        },
        caveats: vec![Caveat::AboveBusCeiling { mb_s: 0.1 + 0.2, ceiling_mb_s: 0.1 }],
    }
}

pub(crate) fn results(number: u32) -> RunResult {
    let RunStart { run, seed, counted, .. } = self::run(number);
    RunResult {
        run,
        counted,
        seed,
        results: Vec::new(),
        not_measured: Vec::new(),
        scores: vec![("total".into(), 1.1)],
        passed: None,
    }
}

/// Run with these speeds in MB/s.
pub(crate) fn results_of(number: u32, speeds: &[(&str, f64)]) -> RunResult {
    RunResult { results: speeds.iter().map(|(test, mb_s)| result(test, *mb_s)).collect(), ..results(number) }
}

fn result(test: &str, mb_s: f64) -> TestResult {
    let name: cardscope_model::test_name::TestName = test.parse().unwrap();
    let iops = mb_s * 1e6 / name.pattern.block as f64;
    TestResult {
        iops,
        latency_us: LatencyUs { mean: 410.0, p50: 400.0, p99: 800.0, p999: 850.0, max: 900.0 },
        bytes: (mb_s * 5e6) as u64,
        ios: (iops * 5.0) as u64,
        seconds: 5.0,
        tool_prints: Some(ToolPrints { value: mb_s / 1.048576, unit: "MiB/s".into() }),
        ..TestResult::from_speed(name, mb_s)
    }
}

pub(crate) fn report(session: SessionId, runs: Vec<RunResult>) -> BenchReport {
    let start = start();
    let recipe = start.recipe.unwrap();
    Report {
        header: ReportHeader {
            target: start.target,
            seed: start.seed.parse().unwrap(),
            condition: start.condition,
            io_path: start.io_path.unwrap_or_default(),
            findings: vec![
                Finding::new("serial-zero", FindingWeight::Hint, 0.5, "The serial number is 0.")
                    .because("psn", 0),
            ],
            session: Some(session.to_string()),
            ..ReportHeader::default()
        },
        body: BenchResult {
            recipe: recipe.name,
            recipe_version: recipe.version,
            bus_ceiling_mb_s: start.bus_ceiling_mb_s,
            runs,
            ..BenchResult::default()
        },
    }
}

/// Writes samples into a new session and prints the number of each stored one.
pub(crate) fn write(archive: &mut Archive, samples: u32) {
    let session = archive.begin_session(&start()).unwrap();
    archive.begin_run(session, run(1)).unwrap();
    println!("session: {session}");
    for index in 0..samples {
        archive.add_sample(session, 1, &sample(index)).unwrap();
        println!("stored: {index}");
    }
}
