//! Scores of PiBenchmarks, recomputed from published results.

use cardscope_model::aggregate::tool_scores;
use cardscope_model::recipe::{RECIPES, Recipe, parse};
use cardscope_model::result::{RunResult, TestResult, ToolPrints};
use std::path::PathBuf;

fn logs() -> Option<PathBuf> {
    let data = std::env::var_os("CARDSCOPE_DATA").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data")),
        PathBuf::from,
    );
    Some(data.join("pibenchmarks")).filter(|p| p.is_dir())
}

/// Returns the number before the unit in the row of a step.
fn row(log: &str, step: &str) -> Option<f64> {
    let (tool, test) = step.split_once(' ')?;
    let line = log.lines().find(|l| {
        l.trim_start().strip_prefix(tool).is_some_and(|rest| {
            rest.trim_start().strip_prefix(test).is_some_and(|rest| rest.starts_with("  "))
        })
    })?;
    line.trim_start()[tool.len()..].trim_start()[test.len()..].split_whitespace().next()?.parse().ok()
}

/// Builds a run from the figures in a log.
fn printed_run(recipe: &Recipe, log: &str) -> RunResult {
    let results = recipe.tests.iter().filter_map(|test| {
        let value = row(log, &test.key())?;
        Some(TestResult {
            step: test.step.clone(),
            tool_prints: Some(ToolPrints { value, unit: String::new() }),
            ..TestResult::from_speed(test.name, 0.0)
        })
    });
    RunResult { run: 1, counted: true, results: results.collect(), ..RunResult::default() }
}

#[test]
fn score_of_sample_log_matches_manual_result() {
    let recipe = parse(RECIPES.find_text("pibenchmarks").unwrap(), None).unwrap();
    let log = "HDParm  Disk Read  99.99 MB/s\nDD  Disk Write  12.5 MB/s\nFIO  4k random read  1000 IOPS (4000 KB/s)\n\
               FIO  4k random write  100 IOPS (400 KB/s)\nIOZone  4k read  3000 KB/s\nIOZone  4k write  700 KB/s\n\
               IOZone  4k random read  2500 KB/s\nIOZone  4k random write  199 KB/s\n";
    // 12.5 * 1024 + 4 * 1000 + 10 * 100 + 3000 + 700 + 4 * 2500 + 10 * 199 = 33490; hdparm does not count.
    assert_eq!(tool_scores(&printed_run(&recipe, log), &recipe), [("PiBenchmarks".to_owned(), 334.0)]);
}

#[test]
fn scores_match_published_results() {
    let Some(folder) = logs() else {
        println!("no published logs here (CARDSCOPE_DATA): nothing compared");
        return;
    };
    let recipe = parse(RECIPES.find_text("pibenchmarks").unwrap(), None).unwrap();
    // Scores from the index of the logs, which is independent of the files.
    let printed = [
        ("sandisk-ultra-16gb-sd", 923.0),
        ("pny-128-usb3", 860.0),
        ("sandisk-ultra-8gb-sd", 742.0),
        ("orangepi5-sd", 1409.0),
        ("sandisk-ultra-sdsquar-064g", 1132.0),
    ];
    for (name, score) in printed {
        let log = std::fs::read_to_string(folder.join(format!("{name}.txt"))).unwrap();
        assert_eq!(
            tool_scores(&printed_run(&recipe, &log), &recipe),
            [("PiBenchmarks".to_owned(), score)],
            "{name}"
        );
    }
}
