//! Page of a benchmark session: one line a test, then caveats and findings.

pub mod recipes;

use cardscope_model::answer::Answer;
use cardscope_model::report::{NewsTone, ReportBody as _};
use cardscope_model::result::{BenchReport, RunResult, Summary, TIME_LIMIT_REASON, TestResult, ToolPrints};
use cardscope_model::test_name::{IoOrder, TestName};
use cardscope_model::units::{DecimalSize, SpeedMbS, three_digits as speed};
use cardscope_page::figure::{answer_line, interval_text, pluralize, test_with_step, time_us, to_sentence};
use cardscope_page::tree::table::Table;
use cardscope_page::tree::{self, Page, PageBlock, PageFact, claim_verdicts, fact};

pub fn page(report: &BenchReport) -> Page {
    let (header, body) = (&report.header, &report.body);
    let counted = body.runs.iter().rfind(|run| run.counted);
    let missed = counted.is_some_and(|run| run.passed == Some(false)) && !body.is_untested();
    let tone = if missed { NewsTone::Bad } else { tree::tone_of_figures(body.exit_status()) };
    let mut page = Page::new(&header.target, tone, answer(report, counted));
    page.reasons.extend(tree::failed_io_reason(&body.moved));
    page.add_reasons(NewsTone::Warning, uneven_run_warnings(report));
    if let Some(run) = counted {
        let several = body.summary.iter().any(|summary| summary.n > 1);
        let table = if several { summary_table(&body.summary) } else { run_table(&run.results) };
        let scores = run.scores.iter().map(|(name, value)| format!("Score ({name}): {value}")).collect();
        let lines = [scores, missing_lines(run)].map(PageBlock::Lines);
        page.add_section("", [PageBlock::Table(table)].into_iter().chain(lines));
        page.add_reasons(NewsTone::Warning, claim_verdicts(header, "limited-by"));
    }
    page.add_reason(NewsTone::Plain, moved_summary(report));
    page.add_section("", [PageBlock::Facts(temperature_facts(&body.runs))]);
    page.add_detail("Conditions", [PageBlock::Facts(condition_facts(report))]);
    page.add_findings(header, body.runs.iter().flat_map(|run| &run.results));
    page.add_end(header);
    page
}

/// First sequential test of each direction, by which cards are known, or the reason why there is none.
fn answer(report: &BenchReport, counted: Option<&RunResult>) -> Answer {
    let body = &report.body;
    let Some(run) = counted.filter(|run| !run.results.is_empty()) else {
        return no_figure_answer(report, counted);
    };
    let known = |verb: &'static str, writes: bool| {
        let all = run.results.iter().filter(|r| r.op.writes() == writes);
        let first = all.min_by_key(|r| (r.op.reads() == writes, r.test.order != IoOrder::Sequential))?;
        let same = |s: &&Summary| (s.test, s.op, &s.step) == (first.test, first.op, &first.step);
        let summed = body.summary.iter().find(same);
        let runs = summed.map_or(1, |summary| summary.n);
        let mb_s = summed.filter(|summary| summary.n > 1).map_or(first.mb_s, |summary| summary.median);
        Some((format!("{verb} {}", SpeedMbS(mb_s)), first.test.to_string(), runs))
    };
    let known: Vec<_> = [known("reads", false), known("writes", true)].into_iter().flatten().collect();
    let one_test = known.iter().all(|(_, test, _)| *test == known[0].1);
    let said = known.iter().map(|(figure, test, _)| match one_test {
        true => figure.clone(),
        false => format!("{figure} ({test})"),
    });
    let said = to_sentence(&said.collect::<Vec<_>>().join(", "));
    let test = known.first().filter(|_| one_test).map(|(_, test, _)| test.clone());
    let median = known.iter().map(|(.., runs)| *runs).max().filter(|runs| *runs > 1);
    let early = report.header.error.as_ref().map(|_| "ended early".to_owned());
    let how = [test, median.map(|runs| format!("median of {runs}")), early];
    let how: Vec<String> = how.into_iter().flatten().collect();
    let how = if how.is_empty() { String::new() } else { format!(" ({})", how.join(", ")) };
    let said = format!("{}{how}.", said.trim_end_matches('.'));
    match run.passed {
        Some(passed) => Answer::with_verdict(if passed { "PASSED" } else { "FAILED" }, &format!(": {said}")),
        None => said.into(),
    }
}

const NOT_TESTED: &str = "NOT TESTED";

/// Answer without a figure: the error that ended the session, or the most frequent reason of its tests.
fn no_figure_answer(report: &BenchReport, counted: Option<&RunResult>) -> Answer {
    let recipe = &report.body.recipe;
    let missing = counted.iter().flat_map(|run| &run.not_measured);
    let reasons: Vec<&str> = missing.map(|test| test.reason.as_str()).collect();
    let most = reasons.iter().max_by_key(|reason| reasons.iter().filter(|other| other == reason).count());
    let why = match (report.header.error.as_deref(), most) {
        (Some(error), _) => error.split(';').next().unwrap_or(error).to_owned(),
        (None, Some(&TIME_LIMIT_REASON)) => format!("the time limit ended {recipe} before its first result"),
        (None, Some(reason)) => (*reason).to_owned(),
        (None, None) => format!("{recipe} ended before its first result"),
    };
    Answer::with_verdict(NOT_TESTED, &answer_line(&format!("{NOT_TESTED}: {why}"))[NOT_TESTED.len()..])
}

/// Warnings that the runs differ by more than chance, so that their mean misleads.
fn uneven_run_warnings(report: &BenchReport) -> Vec<String> {
    let of = |claim: &'static str| claim_verdicts(&report.header, claim).collect::<Vec<_>>();
    let mut levels = of("bimodal-runs");
    if levels.len() > 1 {
        let tests = levels.len();
        levels = vec![format!("{tests} tests alternate between two speeds, so their means are misleading.")];
    }
    let whole = ["hot-runs", "runs-behind-cache"].into_iter().flat_map(of);
    levels.into_iter().chain(whole).collect()
}

/// Recipe, number of runs, and bytes that the tests moved.
fn moved_summary(report: &BenchReport) -> String {
    let body = &report.body;
    let runs = pluralize(body.runs.iter().filter(|run| run.counted).count() as u64, "run");
    let bytes: u64 = body.runs.iter().flat_map(|run| &run.results).map(|result| result.bytes).sum();
    format!("Recipe {}, {runs}; its tests moved {}.", body.recipe, DecimalSize(bytes))
}

/// Temperature range over several runs. The table of a single run has a column for it instead.
fn temperature_facts(runs: &[RunResult]) -> Vec<PageFact> {
    let counted = runs.iter().filter(|run| run.counted).flat_map(|run| &run.results);
    let all = counted.flat_map(|r| [r.temperature_c.start, r.temperature_c.max]).flatten();
    let ends = all.fold(None, |ends: Option<[f64; 2]>, celsius| {
        let [low, high] = ends.unwrap_or([celsius; 2]);
        Some([low.min(celsius), high.max(celsius)])
    });
    ends.map(|[low, high]| fact("temperature", format!("{low:.0} to {high:.0} °C"))).into_iter().collect()
}

fn condition_facts(report: &BenchReport) -> Vec<PageFact> {
    let header = &report.header;
    let bus = report.body.bus_ceiling_mb_s.map(|mb_s| fact("bus carries", SpeedMbS(mb_s)));
    let all = header.condition.iter().map(|(word, value)| fact(&word.replace('_', " "), value));
    let recipe = fact("recipe", format!("{} {}", report.body.recipe, report.body.recipe_version));
    let rest = [recipe, fact("I/O by", &header.io_path), fact("seed", header.seed)];
    bus.into_iter().chain(all).chain(rest).collect()
}

fn tool_value(prints: Option<&ToolPrints>) -> String {
    prints.map(|own| format!("{} {}", own.value, own.unit)).unwrap_or_default()
}

/// Table of one run, one line a test. `check` uses some of these columns.
pub(crate) fn run_table(results: &[TestResult]) -> Table {
    Table::from_items(
        results,
        &[
            ("test", &|r| test_with_step(r.name(), r.step.as_deref())),
            ("MB/s", &|r| speed(r.mb_s)),
            ("±", &precision_text),
            ("IOPS", &|r| speed(r.iops)),
            ("mean", &|r| time_us(r.latency_us.mean)),
            ("p99", &|r| time_us(r.latency_us.p99)),
            ("p99.9", &|r| time_us(r.latency_us.p999)),
            ("longest", &|r| time_us(r.latency_us.max)),
            ("of the bus", &|r| r.bus_share.map(|s| format!("{:.0} %", s * 100.0)).unwrap_or_default()),
            ("°C", &temperature_range),
            ("tool prints", &|r| tool_value(r.tool_prints.as_ref())),
        ],
    )
    .least_important(["p99.9", "of the bus", "mean", "tool prints", "p99"])
}

/// Half width of the 95 % interval in percent; empty if unknown.
pub fn precision_text(result: &TestResult) -> String {
    let width = result.precision.as_ref().and_then(|precision| precision.ci95_percent);
    let decimals = |width: f64| usize::from(width < 99.95);
    width.map(|width| format!("{width:.*} %", decimals(width))).unwrap_or_default()
}

fn temperature_range(result: &TestResult) -> String {
    match (result.temperature_c.start, result.temperature_c.max) {
        (Some(start), Some(max)) => format!("{start:.0} to {max:.0}"),
        _ => String::new(),
    }
}

fn summary_table(summary: &[Summary]) -> Table {
    Table::from_items(
        summary,
        &[
            ("test", &|s| test_with_step(TestName { pattern: s.test, op: s.op }, s.step.as_deref())),
            ("mean MB/s", &|s| speed(s.mean)),
            ("95 % interval", &|s| s.ci95.map(|ends| interval_text(ends, speed)).unwrap_or_default()),
            ("median", &|s| speed(s.median)),
            ("worst", &|s| speed(s.worst)),
            ("best", &|s| speed(s.best)),
            ("runs", &|s| s.n.to_string()),
            ("tool prints", &|s| tool_value(s.tool_prints.as_ref())),
        ],
    )
}

/// Tests without a figure, one line a reason.
fn missing_lines(run: &RunResult) -> Vec<String> {
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for missing in &run.not_measured {
        let test = TestName { pattern: missing.test, op: missing.op };
        let name = test_with_step(test, missing.step.as_deref());
        match reasons.iter_mut().find(|(reason, _)| *reason == missing.reason) {
            Some((_, names)) => names.push(name),
            None => reasons.push((&missing.reason, vec![name])),
        }
    }
    let line = |(reason, names): (&str, Vec<String>)| match names.as_slice() {
        [only] => format!("{only}: not measured: {reason}"),
        all => format!("{} not measured: {reason}", pluralize(all.len() as u64, "test")),
    };
    reasons.into_iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::report::{Report, ReportHeader};
    use cardscope_model::result::{BenchResult, NotMeasured};

    /// Session of one run in which no test was measured, all for the same reason.
    fn nothing_for(reason: &str) -> BenchReport {
        let name: TestName = "SEQ1M Q8T1 read".parse().unwrap();
        let missing = NotMeasured { test: name.pattern, op: name.op, step: None, reason: reason.to_owned() };
        let run = RunResult { counted: true, not_measured: vec![missing], ..RunResult::default() };
        let body = BenchResult { recipe: "quick".to_owned(), runs: vec![run], ..BenchResult::default() };
        Report { header: ReportHeader::default(), body }
    }

    #[test]
    fn page_without_figures_states_the_reason() {
        let timed_out = page(&nothing_for(TIME_LIMIT_REASON));
        assert_eq!(timed_out.answer, "NOT TESTED: the time limit ended quick before its first result.");
        assert!(timed_out.next.is_empty(), "what to do next is the verb's to say");
        let failed = page(&nothing_for("the reader is gone"));
        assert_eq!(failed.answer, "NOT TESTED: the reader is gone.");
        let mut stopped = nothing_for(TIME_LIMIT_REASON);
        stopped.header.error = Some("interrupted; results are stored".to_owned());
        assert_eq!(page(&stopped).answer, "NOT TESTED: interrupted.");
    }
}
