//! Raspberry Pi's agnostics (`sdtest.sh`): up to three runs of four or five fio jobs, and whether the card reaches A1.
//!
//! KB/sec is fio's KiB/s. The rows `seq-write;0;0;11603;22` hold KiB/s and IOPS of reads and of writes; since July 2024 a
//! row `seq-read` is among them, and blocks and depth are larger (docs/reference/tools.md#agnostics). The sentences below
//! the rows once had values of wrong rows (agnostics' issue 20), so the rows count.

use crate::readers::{
    KIB_S, LogText, PrintedAmount, ReaderOutcome, new_log, parse_number, parse_speed, random_test,
    sequential_test, step_figure, strip_start,
};
use cardscope_model::run::{Run, TestFigure};
use cardscope_model::test_name::{AccessPattern, TestName, TestOp};
use cardscope_model::units::{KIB, MIB};
use serde::Serialize;
use serde_json::{Value, json};

#[derive(Debug, Default)]
struct ScriptTry {
    figures: Vec<TestFigure>,
    targets: Vec<TargetLine>,
}

/// Parts of `Random write speed 822 IOPS (target 500) - PASS`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
struct TargetLine {
    step: &'static str,
    value: f64,
    target: f64,
    passed: bool,
}

/// Beginnings of sentences, and the rows with the same value.
const SENTENCES: [(&str, &str); 3] = [
    ("Sequential write speed ", "seq-write"),
    ("Random write speed ", "rand-4k-write"),
    ("Random read speed ", "rand-4k-read"),
];

/// True if the text has a row or a sentence of the script.
pub(crate) fn recognise(text: &LogText) -> bool {
    text.head().lines().any(|line| parse_row(line, false).is_some() || parse_sentence(line).is_some())
}

pub(crate) fn read(text: &LogText) -> ReaderOutcome {
    let since_2024 = text.lines().any(|line| line.trim_start().starts_with("seq-read;"));
    let tries = split_tries(text, since_2024);
    let mut log = new_log("agnostics", None);
    let size_bytes = Some(if since_2024 { 256 * MIB } else { 64 * MIB });
    for (run, one) in (1..).zip(&tries) {
        let results = one.figures_or_targets(since_2024);
        log.doubts.extend(one.contradiction(run, &results));
        log.runs.push(Run { run, size_bytes, results, ..Run::default() });
    }
    let judged = tries.iter().filter(|one| !one.targets.is_empty()).map(ScriptTry::to_json);
    let judged: Vec<Value> = judged.collect();
    log.other.extend((!judged.is_empty()).then(|| ("agnostics".to_owned(), json!({ "runs": judged }))));
    Ok(vec![log])
}

fn split_tries(text: &LogText, since_2024: bool) -> Vec<ScriptTry> {
    let mut tries: Vec<ScriptTry> = Vec::new();
    for line in text.lines().map(str::trim) {
        let number = line.strip_prefix("Run ").is_some_and(|n| n.parse::<u32>().is_ok());
        let (figure, target) = (parse_row(line, since_2024), parse_sentence(line));
        if number || tries.is_empty() && (figure.is_some() || target.is_some()) {
            tries.push(ScriptTry::default());
        }
        if let Some(last) = tries.last_mut() {
            last.figures.extend(figure);
            last.targets.extend(target);
        }
    }
    tries.retain(|one| !one.figures.is_empty() || !one.targets.is_empty());
    tries
}

impl ScriptTry {
    /// Figures of the rows; those of the sentences in a log without rows.
    fn figures_or_targets(&self, since_2024: bool) -> Vec<TestFigure> {
        if !self.figures.is_empty() {
            return self.figures.clone();
        }
        self.targets.iter().filter_map(|target| target.to_figure(since_2024)).collect()
    }

    fn to_json(&self) -> Value {
        let passed = self.targets.len() == SENTENCES.len() && self.targets.iter().all(|t| t.passed);
        json!({ "passed": passed, "targets": self.targets })
    }

    fn contradiction(&self, run: u32, results: &[TestFigure]) -> Option<String> {
        let differs = |target: &&TargetLine| {
            let row = results.iter().find(|figure| figure.step.as_deref() == Some(target.step));
            row.is_some_and(|figure| (figure.printed_or_speed().value - target.value).abs() > 0.5)
        };
        let target = self.targets.iter().find(differs)?;
        let TargetLine { step, value, .. } = target;
        Some(format!("run {run}: sentence and row disagree about {step} ({value}); the row was used"))
    }
}

impl TargetLine {
    fn to_figure(self, since_2024: bool) -> Option<TestFigure> {
        let (test, in_iops) = row_test(self.step, since_2024)?;
        let kib_s = if in_iops { self.value * 4.0 } else { self.value };
        Some(build_figure(self.step, test, kib_s, self.value, in_iops))
    }
}

/// Test of a row, and true if its figure is in IOPS.
fn row_test(step: &str, since_2024: bool) -> Option<(TestName, bool)> {
    let (block, queue) = if since_2024 { (4 * MIB, 32) } else { (512 * KIB, 4) };
    let (order, op) = step.rsplit_once('-')?;
    let op = op.parse().ok().filter(|op| matches!(op, TestOp::Read | TestOp::Write))?;
    let sequential = sequential_test(block, op);
    match order {
        "seq" => Some((TestName { pattern: AccessPattern { queue, ..sequential.pattern }, op }, false)),
        "rand-4k" => Some((random_test(4 * KIB, queue, op), true)),
        _ => None,
    }
}

fn build_figure(step: &str, test: TestName, kib_s: f64, value: f64, in_iops: bool) -> TestFigure {
    let printed = PrintedAmount { value, unit: if in_iops { "IOPS" } else { "KB/sec" } };
    let iops = in_iops.then_some(value);
    TestFigure { mb_s: kib_s * KIB_S, iops, ..step_figure(step, test, printed, 0.0) }
}

/// Parses `rand-4k-write;0;0;3291;822`.
fn parse_row(line: &str, since_2024: bool) -> Option<TestFigure> {
    let mut cells = line.trim().split(';');
    let name = cells.next()?;
    let (test, in_iops) = row_test(name, since_2024)?;
    let numbers: Vec<f64> = cells.map(parse_speed).collect::<Option<_>>()?;
    let [read, read_iops, write, write_iops] = numbers[..] else { return None };
    let (kib_s, iops) = if test.op == TestOp::Read { (read, read_iops) } else { (write, write_iops) };
    let figure = build_figure(name, test, kib_s, if in_iops { iops } else { kib_s }, in_iops);
    Some(TestFigure { iops: Some(iops).filter(|iops| *iops > 0.0), ..figure })
}

fn parse_sentence(line: &str) -> Option<TargetLine> {
    let (rest, step) = strip_start(line.trim(), &SENTENCES)?;
    let (value, rest) = rest.split_once(' ')?;
    let (target, verdict) = rest.split_once("(target ")?.1.split_once(") - ")?;
    let passed = verdict == "PASS";
    let line = TargetLine { step, value: parse_number(value)?, target: parse_number(target)?, passed };
    (passed || verdict == "FAIL").then_some(line)
}
