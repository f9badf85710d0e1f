//! Runs that are not alike: two levels, and runs that were hot or behind the cache.

use super::table::{Row, Table, digits, large_in_order, listed};
use crate::levels::{Companion, Levels, companion, levels, run_states};
use cardscope_model::finding::{Finding, Weight};
use cardscope_model::test_name::{Op, Order};
use cardscope_model::units::KIB;

/// Fewer runs say nothing about states.
const LEAST_RUNS: usize = 3;

/// One finding for each test whose runs fall into levels.
pub(super) fn levels_of(table: &Table<'_>) -> Vec<Finding> {
    let single = table.small(Op::Read, 1);
    table
        .rows
        .iter()
        .filter_map(|row| {
            let speeds = row.speeds();
            let found = levels(&speeds).filter(Levels::several)?;
            let start: Vec<Option<f64>> = row.results.iter().map(|r| r.temperature_c.start).collect();
            // Reads of the same test say nothing about themselves.
            let reads = single.filter(|reads| reads.name != row.name && row.name.op == Op::Write);
            let reads: Vec<Option<f64>> =
                reads.map_or(Vec::new(), |reads| reads.speeds().into_iter().map(Some).collect());
            let why = companion(&found, &speeds, &start, &reads);
            Some(level_finding(&row.name.to_string(), &found, &speeds, why))
        })
        .collect()
}

fn level_finding(name: &str, found: &Levels, speeds: &[f64], why: Companion) -> Finding {
    let middles: Vec<String> = found.levels.iter().map(|l| digits(l.estimate.median)).collect();
    let text = format!(
        "{name} has {} levels, {} MB/s: its mean over {} runs measures the share of fast runs, not the card",
        found.levels.len(),
        middles.join(" and "),
        speeds.len()
    );
    let finding =
        found.levels.iter().fold(Finding::new("bimodal-runs", Weight::Note, 0.95, text), |finding, level| {
            let interval = level.estimate.ci95.map_or(String::new(), |[low, high]| {
                format!(", 95 % interval {} to {} MB/s", digits(low), digits(high))
            });
            let runs: Vec<String> = level.runs.iter().map(|run| (run + 1).to_string()).collect();
            finding.because(
                &format!("level at {} MB/s", digits(level.estimate.median)),
                format!("{:.0} % of the runs ({}){interval}", level.share * 100.0, runs.join(" ")),
            )
        });
    finding
        .because("runs in MB/s", listed(speeds))
        .because("goes along with", words(why))
        .advise("Compare cards level by level, fast with fast and slow with slow.")
}

fn words(why: Companion) -> &'static str {
    match why {
        Companion::Order => "what was written before: the fast runs come first, as with a cache that ends",
        Companion::Heat => "temperature: the slow runs began hotter",
        Companion::Cells => {
            "the time of single 4 KiB reads: what is written in slow runs lies in slower cells, behind a cache"
        }
        Companion::Unknown => "nothing that was recorded",
    }
}

/// Which runs were hot and which behind the cache, by the rule for whole runs.
pub(super) fn states(table: &Table<'_>) -> Vec<Finding> {
    let in_order = |op| -> Vec<Vec<f64>> {
        let rows = table.of(op, |n| {
            large_in_order(n) || n.pattern.order == Order::Sequential && n.pattern.block >= 512 * KIB
        });
        rows.map(Row::speeds).collect()
    };
    let states = run_states(&in_order(Op::Read), &in_order(Op::Write));
    if states.len() < LEAST_RUNS {
        return Vec::new();
    }
    let named = |wanted: fn(&crate::levels::RunState) -> bool| -> Vec<String> {
        (1..).zip(&states).filter(|(_, s)| wanted(s)).map(|(run, _): (usize, _)| run.to_string()).collect()
    };
    let hot = named(|s| s.hot);
    let behind = named(|s| s.behind_cache && !s.hot);
    let read = table.in_order(Op::Read).map(Row::speeds);
    let write = table.in_order(Op::Write).map(Row::speeds);
    let mut findings = Vec::new();
    if !hot.is_empty() {
        let text = format!(
            "{} of {} runs were hot: reading in order stayed below 90 % of the best run, and reads have no cache that could end",
            hot.len(),
            states.len()
        );
        let finding = Finding::new("hot-runs", Weight::Hint, 0.9, text).because("runs", hot.join(" "));
        findings.push(read.map_or(finding.clone(), |v| finding.because("reading in MB/s", listed(&v))));
    }
    if !behind.is_empty() {
        let text = format!(
            "{} of {} runs wrote behind the card's cache: below 85 % of the best run, while reads kept their speed",
            behind.len(),
            states.len()
        );
        let finding =
            Finding::new("runs-behind-cache", Weight::Note, 0.85, text).because("runs", behind.join(" "));
        findings.push(write.map_or(finding.clone(), |v| finding.because("writing in MB/s", listed(&v))));
    }
    findings
}
