//! A benchmark session as text: what was measured on what, one line a test, caveats and findings below.

use crate::figure::{count, interval, rate, speed, test_of, time_us};
use crate::page::{Block, Page};
use crate::table::Table;
use cardscope_model::result::{BenchReport, RunResult, Summary, TestResult, ToolPrints};
use cardscope_model::test_name::TestName;

/// The session as text.
pub fn text(report: &BenchReport) -> String {
    let (header, body) = (&report.header, &report.body);
    let mut page = Page::new(&header.target, answer(report));
    let mut facts = vec![format!("I/O by {}", header.io_path)];
    facts.extend(body.bus_ceiling_mb_s.map(|mb_s| format!("the bus carries {} MB/s", speed(mb_s))));
    facts.extend(header.condition.iter().map(|(word, value)| format!("{word}={value}")));
    page.add("", [Block::Lines(vec![facts.join(", ")])]);
    if let Some(run) = body.runs.iter().rfind(|run| run.counted) {
        let several = body.summary.iter().any(|summary| summary.n > 1);
        page.add(
            "",
            [Block::Table(if several { summary_table(&body.summary) } else { run_table(&run.results) })],
        );
        page.add("", [Block::Lines(not_measured(run)), Block::Lines(scores(run))]);
    }
    page.add_findings(header, body.runs.iter().flat_map(|run| &run.results));
    page.add_end(header);
    page.text()
}

fn answer(report: &BenchReport) -> String {
    let runs = report.body.runs.iter().filter(|run| run.counted).count();
    let (recipe, version) = (&report.body.recipe, &report.body.recipe_version);
    format!("recipe {recipe} {version}, {}, seed {}", count(runs as u64, "run"), report.header.seed)
}

fn printed(prints: Option<&ToolPrints>) -> String {
    prints.map(|own| format!("{} {}", own.value, own.unit)).unwrap_or_default()
}

/// A test each with what one run says of it; `check` shows some of these columns.
pub(crate) fn run_table(results: &[TestResult]) -> Table {
    Table::of(
        results,
        &[
            ("test", &|r| test_of(r.name(), r.step.as_deref())),
            ("MB/s", &|r| speed(r.mb_s)),
            ("± of 95 %", &precision),
            ("IOPS", &|r| rate(r.iops)),
            ("mean", &|r| time_us(r.latency_us.mean)),
            ("p99", &|r| time_us(r.latency_us.p99)),
            ("p99.9", &|r| time_us(r.latency_us.p999)),
            ("longest", &|r| time_us(r.latency_us.max)),
            ("of the bus", &|r| r.bus_share.map(|s| format!("{:.0} %", s * 100.0)).unwrap_or_default()),
            ("°C", &temperatures),
            ("tool prints", &|r| printed(r.tool_prints.as_ref())),
        ],
    )
}

/// Half of the 95 % interval's width in percent, where it is known.
pub(crate) fn precision(result: &TestResult) -> String {
    let width = result.precision.as_ref().and_then(|precision| precision.ci95_percent);
    width.map(|width| format!("{width:.1} %")).unwrap_or_default()
}

fn temperatures(result: &TestResult) -> String {
    match (result.temperature_c.start, result.temperature_c.max) {
        (Some(start), Some(max)) => format!("{start:.0} to {max:.0}"),
        _ => String::new(),
    }
}

fn summary_table(summary: &[Summary]) -> Table {
    Table::of(
        summary,
        &[
            ("test", &|s| test_of(TestName { pattern: s.test, op: s.op }, s.step.as_deref())),
            ("mean MB/s", &|s| speed(s.mean)),
            ("95 % interval", &|s| s.ci95.map(|ends| interval(ends, speed)).unwrap_or_default()),
            ("median", &|s| speed(s.median)),
            ("worst", &|s| speed(s.worst)),
            ("best", &|s| speed(s.best)),
            ("runs", &|s| s.n.to_string()),
            ("tool prints", &|s| printed(s.tool_prints.as_ref())),
        ],
    )
}

fn not_measured(run: &RunResult) -> Vec<String> {
    let line = |n: &cardscope_model::result::NotMeasured| {
        let name = test_of(TestName { pattern: n.test, op: n.op }, n.step.as_deref());
        format!("{name}: ----- not measured: {}", n.reason)
    };
    run.not_measured.iter().map(line).collect()
}

fn scores(run: &RunResult) -> Vec<String> {
    run.scores.iter().map(|(name, value)| format!("Score ({name}): {value}")).collect()
}
