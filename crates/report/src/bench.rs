//! A benchmark session as text: what was measured on what, one line a test, caveats and findings below.

use crate::figure::{count, interval, sentence, speed, test_of, time_us};
use crate::page::table::Table;
use crate::page::{Block, Fact, Page, Tone, fact};
use cardscope_model::result::{BenchReport, RunResult, Summary, TestResult, ToolPrints};
use cardscope_model::shell::quoted;
use cardscope_model::test_name::TestName;
use cardscope_model::units::Speed;

/// The page.
pub fn page(report: &BenchReport) -> Page {
    let (header, body) = (&report.header, &report.body);
    let counted = body.runs.iter().rfind(|run| run.counted);
    let missed = counted.is_some_and(|run| run.passed == Some(false));
    let tone = if missed { Tone::Bad } else { Tone::Plain };
    let mut page = Page::new(&header.target, tone, answer(report, counted));
    if let Some(run) = counted {
        let several = body.summary.iter().any(|summary| summary.n > 1);
        let table = if several { summary_table(&body.summary) } else { run_table(&run.results) };
        page.add("", [Block::Table(table), Block::Lines(scores(run)), Block::Lines(not_measured(run))]);
        page.because_all(Tone::Warning, not_the_card(run));
    }
    if counted.is_none_or(|run| run.results.is_empty()) {
        let again = format!("cardscope bench {}", quoted(&header.target));
        page.step("Measure again, with more time and writes allowed:", Some(again));
    }
    page.add("", [Block::Facts(warmth(&body.runs))]);
    page.fold("Conditions", [Block::Facts(conditions(report))]);
    page.add_findings(header, body.runs.iter().flat_map(|run| &run.results));
    page.add_end(header);
    page
}

/// The best-known figure of each direction, or that there is none.
fn answer(report: &BenchReport, counted: Option<&RunResult>) -> String {
    let (header, body) = (&report.header, &report.body);
    let Some(run) = counted.filter(|run| !run.results.is_empty()) else {
        return format!("Nothing measured: {} ended before its first result.", body.recipe);
    };
    let speed_of = |name: TestName, step: &Option<String>, alone: f64| {
        let summed = body.summary.iter().find(|s| (s.test, s.op, &s.step) == (name.pattern, name.op, step));
        Speed(summed.map_or(alone, |summary| summary.mean))
    };
    let fastest = |writes: bool| {
        let all = run.results.iter().filter(|r| r.op.writes() == writes);
        let best = all.max_by(|a, b| a.mb_s.total_cmp(&b.mb_s))?;
        let verb = if writes { "writes" } else { "reads" };
        Some(format!("{verb} {}", speed_of(best.name(), &best.step, best.mb_s)))
    };
    let said: Vec<String> = [fastest(false), fastest(true)].into_iter().flatten().collect();
    let runs = count(body.runs.iter().filter(|run| run.counted).count() as u64, "run");
    let failed = run.passed.map_or("", |passed| if passed { "PASSED: " } else { "FAILED: " });
    let early = if header.error.is_some() { ", ended early" } else { "" };
    format!("{failed}{} ({}, {runs}{early}).", sentence(&said.join(", ")).trim_end_matches('.'), body.recipe)
}

/// The temperatures of several runs, which their table has no column for.
fn warmth(runs: &[RunResult]) -> Vec<Fact> {
    let counted = runs.iter().filter(|run| run.counted).flat_map(|run| &run.results);
    let all = counted.flat_map(|r| [r.temperature_c.start, r.temperature_c.max]).flatten();
    let ends = all.fold(None, |ends: Option<[f64; 2]>, celsius| {
        let [low, high] = ends.unwrap_or([celsius; 2]);
        Some([low.min(celsius), high.max(celsius)])
    });
    ends.map(|[low, high]| fact("temperature", format!("{low:.0} to {high:.0} °C"))).into_iter().collect()
}

/// Why figures are not the card's own: what was measured is as fast as its bus.
fn not_the_card(run: &RunResult) -> Vec<String> {
    let full = run.results.iter().filter(|r| r.bus_share.is_some_and(|share| share > BUS_FULL)).count();
    let said =
        format!("{} at the limit of the bus: a faster reader may show more.", count(full as u64, "test"));
    (full > 0).then_some(said).into_iter().collect()
}

/// A test that uses more of the bus than this may be as fast as the bus, not as the card.
const BUS_FULL: f64 = 0.9;

/// Under what was measured.
fn conditions(report: &BenchReport) -> Vec<Fact> {
    let header = &report.header;
    let bus = report.body.bus_ceiling_mb_s.map(|mb_s| fact("bus carries", Speed(mb_s)));
    let all = header.condition.iter().map(|(word, value)| fact(&word.replace('_', " "), value));
    let recipe = fact("recipe", format!("{} {}", report.body.recipe, report.body.recipe_version));
    let rest = [recipe, fact("I/O by", &header.io_path), fact("seed", header.seed)];
    bus.into_iter().chain(all).chain(rest).collect()
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
            ("±", &precision),
            ("IOPS", &|r| speed(r.iops)),
            ("mean", &|r| time_us(r.latency_us.mean)),
            ("p99", &|r| time_us(r.latency_us.p99)),
            ("p99.9", &|r| time_us(r.latency_us.p999)),
            ("longest", &|r| time_us(r.latency_us.max)),
            ("of the bus", &|r| r.bus_share.map(|s| format!("{:.0} %", s * 100.0)).unwrap_or_default()),
            ("°C", &temperatures),
            ("tool prints", &|r| printed(r.tool_prints.as_ref())),
        ],
    )
    .least(["p99.9", "of the bus", "mean", "tool prints", "p99"])
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

/// Tests that were not measured, those of one reason in a line.
fn not_measured(run: &RunResult) -> Vec<String> {
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for missing in &run.not_measured {
        let name = test_of(TestName { pattern: missing.test, op: missing.op }, missing.step.as_deref());
        match reasons.iter_mut().find(|(reason, _)| *reason == missing.reason) {
            Some((_, names)) => names.push(name),
            None => reasons.push((&missing.reason, vec![name])),
        }
    }
    let line = |(reason, names): (&str, Vec<String>)| match names.as_slice() {
        [only] => format!("{only}: not measured: {reason}"),
        all => format!("{} not measured: {reason}", count(all.len() as u64, "test")),
    };
    reasons.into_iter().map(line).collect()
}

fn scores(run: &RunResult) -> Vec<String> {
    run.scores.iter().map(|(name, value)| format!("Score ({name}): {value}")).collect()
}
