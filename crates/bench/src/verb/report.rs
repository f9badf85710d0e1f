//! Report of a session: results from samples, summary from runs.

use super::limit_findings;
use super::sizing::WriteEstimate;
use cardscope_engine::null_target;
use cardscope_model::aggregate;
use cardscope_model::card::CardFacts;
use cardscope_model::recipe::{Recipe, RecipeTest, TestSpan};
use cardscope_model::result::{BenchReport, BenchResult};
use cardscope_model::session_file::{FileRecipe, SessionFile};
use cardscope_model::setting::Setting;
use cardscope_model::statistics::mean;
use cardscope_model::units::DataAmount;
use cardscope_session::archive_access::open_existing;
use cardscope_session::error::Result;
use cardscope_session::frame::VerbSession;
use cardscope_session::open_target::OpenTarget;
use cardscope_session::spreads;
use cardscope_statistics::anomaly::{self, SizedTest};
use cardscope_statistics::priors::{SpreadKind, SpreadTable, UsualSpeed};
use cardscope_statistics::{io_errors, long_stalls};

/// Fills the report's body before the first run.
pub(super) fn begin_report(report: &mut BenchReport, recipe: &Recipe, opened: &OpenTarget) {
    report.body = BenchResult {
        recipe: recipe.name.clone(),
        recipe_version: recipe.fingerprint.clone(),
        bus_ceiling_mb_s: opened.ceiling_mb_s,
        engine_cost: null_target::engine_cost(),
        moved: std::mem::take(&mut report.body.moved),
        ..BenchResult::default()
    };
}

/// Begins the session's row in the archive, with the text of the recipe.
pub(super) fn begin_row(
    report: &mut BenchReport,
    recipe: &Recipe,
    text: &str,
    session: &mut VerbSession<'_>,
) -> Result<()> {
    let (name, version) = (recipe.name.clone(), recipe.fingerprint.clone());
    let io_path = report.header.io_path.clone();
    let bus_ceiling_mb_s = report.body.bus_ceiling_mb_s;
    session.begin_row_with(&mut report.header, |start| SessionFile {
        recipe: Some(FileRecipe { name, version, text: text.to_owned() }),
        io_path: Some(io_path),
        bus_ceiling_mb_s,
        ..start
    })
}

/// Line for the plan: tests, area, and how much will be written.
pub(super) fn plan_line(recipe: &Recipe, runs: u32, opened: &OpenTarget) -> String {
    let tests = match recipe.tests.len() {
        1 => "1 test".to_owned(),
        tests => format!("{tests} tests"),
    };
    let times = if runs > 1 { format!(", at most {runs} runs") } else { String::new() };
    let writes = match opened.is_writable {
        true => WriteEstimate::for_target(recipe, runs, opened).describe(),
        false => "writes nothing".to_owned(),
    };
    let limit = opened.limit.warning_text().map(|words| format!("; {words}")).unwrap_or_default();
    format!("{}: {tests} over {}{times}; {writes}{limit}", recipe.title, DataAmount(recipe.area))
}

/// Adds summary and findings that follow from the runs.
pub(super) fn summarize(report: &mut BenchReport, recipe: &Recipe, session: &mut VerbSession<'_>) {
    session.collect_target_caveats(&mut report.header);
    let setting = Setting { condition: report.header.condition.clone(), ..Setting::default() };
    let table = known_spreads(session);
    let interval = |test, runs: &[f64]| {
        let spread = table.spread_of_kind(SpreadKind::new(&CardFacts::default(), Some(&setting), test));
        Some(UsualSpeed::from_runs(runs, spread)?.interval95(mean(runs)?))
    };
    report.body.summary = aggregate::summarize_tests(&report.body.runs, recipe, interval);
    report.header.findings.extend(aggregate::demand_findings(&report.body.runs, recipe));
    let odd = anomaly::session_anomalies(&anomaly::AnomalySession {
        runs: &report.body.runs,
        condition: &report.header.condition,
        ceiling_mb_s: report.body.bus_ceiling_mb_s,
    });
    report.header.findings.extend(odd);
    report.header.findings.extend(long_stalls::long_stall_in_runs(&report.body.runs));
    report.header.findings.extend(anomaly::optimistic_small_tests(&tests_with_size(report, recipe)));
    report.header.findings.extend(limit_findings::limit_findings(report, session));
    let moved = &report.body.moved;
    let failed = io_errors::io_error_finding(moved, session.card_bytes(), "while it was measured");
    report.header.findings.extend(failed);
}

/// Usual spreads of runs from the archive, or the shipped ones if it cannot be read.
fn known_spreads(session: &VerbSession<'_>) -> SpreadTable {
    let mut archive = open_existing(session.common.archive.named_path()).ok().flatten();
    spreads::spread_table(archive.as_mut()).unwrap_or_else(|_| SpreadTable::shipped().clone())
}

/// Tests with the size of the range that each used.
fn tests_with_size(report: &BenchReport, recipe: &Recipe) -> Vec<SizedTest> {
    let of = |test: &RecipeTest| {
        let name = (test.name.pattern, test.name.op, &test.step);
        let summary = report.body.summary.iter().find(|s| (s.test, s.op, &s.step) == name)?;
        Some(SizedTest { test: test.name, area_bytes: test.size, mb_s: summary.median })
    };
    // A test over the whole card has no area size and uses other addresses.
    recipe.tests.iter().filter(|test| test.span == TestSpan::Area).filter_map(of).collect()
}
