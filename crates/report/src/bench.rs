//! A benchmark session as text: what was measured on what, one line a test, doubts and findings below.

use crate::figure::{rate, speed, time_us};
use crate::table::Table;
use cardscope_model::caveat::Caveat;
use cardscope_model::finding::{Finding, Weight};
use cardscope_model::result::{BenchReport, Run, Summary, TestResult};
use std::fmt::Write;

/// The session as text.
#[must_use]
pub fn text(report: &BenchReport) -> String {
    let mut out = head(report);
    if let Some(run) = report.body.runs.iter().rfind(|r| r.counted) {
        match report.body.summary.iter().any(|s| s.n > 1) {
            true => write(&mut out, &summary_table(report).to_string()),
            false => write(&mut out, &run_table(run).to_string()),
        }
        write(&mut out, &not_measured(run));
        write(&mut out, &scores(run));
    }
    write(&mut out, &doubts(report));
    write(&mut out, &findings(&report.header.findings));
    if let Some(session) = &report.header.session {
        let _ = writeln!(out, "\nKept as session {session}.");
    }
    if let Some(error) = &report.header.error {
        let _ = writeln!(out, "\nEnded early: {error}");
    }
    out
}

fn write(out: &mut String, part: &str) {
    if !part.is_empty() {
        out.push('\n');
        out.push_str(part);
    }
}

fn head(report: &BenchReport) -> String {
    let runs = report.body.runs.iter().filter(|r| r.counted).count();
    let plural = if runs == 1 { "run" } else { "runs" };
    let mut out = format!(
        "{}, recipe {} {}, {runs} {plural}, seed {}\n",
        report.header.target, report.body.recipe, report.body.recipe_version, report.header.seed
    );
    let mut facts = vec![format!("I/O by {}", report.header.io_path)];
    if let Some(ceiling) = report.body.bus_ceiling_mb_s {
        facts.push(format!("the bus carries {} MB/s", speed(ceiling)));
    }
    facts.extend(report.header.condition.iter().map(|(word, value)| format!("{word}={value}")));
    let _ = writeln!(out, "{}", facts.join(", "));
    out
}

fn name(step: Option<&String>, test: String) -> String {
    step.map_or(test.clone(), |step| format!("{test} ({step})"))
}

/// Heads of the columns of `run_row`; one type for both, so that none is left out.
const RUN_HEAD: [&str; RUN_COLUMNS] = [
    "test",
    "MB/s",
    "± of 95 %",
    "IOPS",
    "mean",
    "p99",
    "p99.9",
    "longest",
    "of the bus",
    "°C",
    "tool prints",
];
const RUN_COLUMNS: usize = 11;

fn run_table(run: &Run) -> Table {
    let mut table = Table::new(RUN_HEAD);
    for r in &run.results {
        table.row(run_row(r));
    }
    table.drop_blank_columns();
    table
}

fn run_row(r: &TestResult) -> [String; RUN_COLUMNS] {
    let l = r.latency_us;
    [
        name(r.step.as_ref(), r.name().to_string()),
        speed(r.mb_s),
        r.precision.as_ref().and_then(|p| p.ci95_percent).map(|w| format!("{w:.1} %")).unwrap_or_default(),
        rate(r.iops),
        time_us(l.mean),
        time_us(l.p99),
        time_us(l.p999),
        time_us(l.max),
        r.bus_share.map(|s| format!("{:.0} %", s * 100.0)).unwrap_or_default(),
        temperatures(r),
        r.tool_prints.as_ref().map(|p| format!("{} {}", p.value, p.unit)).unwrap_or_default(),
    ]
}

fn temperatures(r: &TestResult) -> String {
    match (r.temperature_c.start, r.temperature_c.max) {
        (Some(start), Some(max)) => format!("{start:.0} to {max:.0}"),
        _ => String::new(),
    }
}

fn summary_table(report: &BenchReport) -> Table {
    let mut table =
        Table::new(["test", "mean MB/s", "95 % interval", "median", "worst", "best", "runs", "tool prints"]);
    for s in &report.body.summary {
        table.row(summary_row(s));
    }
    table.drop_blank_columns();
    table
}

fn summary_row(s: &Summary) -> [String; 8] {
    [
        name(s.step.as_ref(), format!("{} {}", s.test, s.op)),
        speed(s.mean),
        s.ci95.map(|[lo, hi]| format!("{} … {}", speed(lo), speed(hi))).unwrap_or_default(),
        speed(s.median),
        speed(s.worst),
        speed(s.best),
        s.n.to_string(),
        s.tool_prints.as_ref().map(|p| format!("{} {}", p.value, p.unit)).unwrap_or_default(),
    ]
}

fn not_measured(run: &Run) -> String {
    run.not_measured.iter().fold(String::new(), |mut out, n| {
        let name = name(n.step.as_ref(), format!("{} {}", n.test, n.op));
        let _ = writeln!(out, "{name}: ----- not measured: {}", n.reason);
        out
    })
}

fn scores(run: &Run) -> String {
    run.scores.iter().fold(String::new(), |mut out, (name, value)| {
        let _ = writeln!(out, "Score ({name}): {value}");
        out
    })
}

fn doubts(report: &BenchReport) -> String {
    let lines = caveats(&report.header.caveats, report.body.runs.iter().flat_map(|r| &r.results));
    lines.iter().fold(String::new(), |mut out, line| {
        let _ = writeln!(out, "Mind: {line}.");
        out
    })
}

/// What speaks against figures: of all of them, and of single tests.
pub(crate) fn caveats<'a>(of_all: &[Caveat], tests: impl Iterator<Item = &'a TestResult>) -> Vec<String> {
    let of_tests = tests.flat_map(|r| {
        let name = name(r.step.as_ref(), r.name().to_string());
        r.caveats.iter().map(move |c| format!("{name}: {c}"))
    });
    let mut lines: Vec<String> = of_all.iter().map(ToString::to_string).chain(of_tests).collect();
    lines.dedup();
    lines
}

/// Findings, one a paragraph.
#[must_use]
pub fn findings(findings: &[Finding]) -> String {
    findings.iter().fold(String::new(), |mut out, f| {
        let weight = match f.weight {
            Weight::Note => "Note",
            Weight::Hint => "Hint",
            Weight::Bad => "BAD",
        };
        let evidence: Vec<_> = f.evidence.iter().map(|(what, value)| format!("{what} {value}")).collect();
        let _ = write!(out, "{weight}: {}", f.verdict);
        if !evidence.is_empty() {
            let _ = write!(out, " ({})", evidence.join(", "));
        }
        if let Some(advice) = &f.advice {
            out.push_str(joint(&f.verdict, advice));
            out.push_str(advice);
        }
        out.push('\n');
        out
    })
}

/// What stands between a verdict, with its evidence, and the advice on the same line: either may be a sentence or less.
pub(crate) fn joint(verdict: &str, advice: &str) -> &'static str {
    match (verdict.ends_with(['.', '!', '?', ':']), advice.starts_with(char::is_uppercase)) {
        (true, _) => " ",
        (false, true) => ". ",
        (false, false) => "; ",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_on_the_line_of_its_verdict_is_set_off_from_it() {
        let line = |verdict: &str, advice: &str| {
            let found = Finding::new("x", Weight::Note, 1.0, verdict).because("runs", 3);
            findings(&[found.advise(advice)])
        };
        assert_eq!(line("It is hot.", "Cool it."), "Note: It is hot. (runs 3) Cool it.\n");
        assert_eq!(line("it is hot", "Cool it."), "Note: it is hot (runs 3). Cool it.\n");
        assert_eq!(line("it is hot", "cool it"), "Note: it is hot (runs 3); cool it\n");
        assert_eq!(line("it is hot", "`sustain` finds it"), "Note: it is hot (runs 3); `sustain` finds it\n");
    }
}
