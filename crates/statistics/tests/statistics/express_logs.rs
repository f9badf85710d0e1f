//! Run states in the public ten-run logs of SD Express cards (docs/reference/flash.md#sd-express-runs), compared with the
//! judgement of a person (docs/reference/flash.md#causes-of-a-slow-spell): no run is hot with a fan; without one the Lexar
//! is hot from the second run on and the ADATA from the sixth, the SanDisk never.

use cardscope_statistics::run_levels::{RunState, run_states};
use std::path::PathBuf;

/// Text of a log. None, with a message, if the logs are missing.
fn log(name: &str) -> Option<String> {
    let beside = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data"));
    let path = std::env::var_os("CARDSCOPE_DATA").map_or(beside, PathBuf::from).join("cdm_fio").join(name);
    let text = std::fs::read(&path).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    if text.is_none() {
        println!("no logs at {}: nothing was tested", path.display());
    }
    text
}

/// States of the runs of a log by its sequential tests.
fn judged(name: &str) -> Option<Vec<RunState>> {
    let text = log(name)?;
    let all = |head: &str| -> Vec<f64> {
        let values = text.lines().filter_map(|line| line.trim().strip_prefix(head)?.split_once("MB/s"));
        values.map(|(value, _)| value.trim().parse().unwrap()).collect()
    };
    let reads = ["Sequential Read:", "512KB Read:", "Sequential Q32T1 Read:"].map(all);
    Some(run_states(&reads, &[all("Sequential Write:")]))
}

fn hot(judged: &[RunState]) -> Vec<usize> {
    (1..=judged.len()).filter(|run| judged[run - 1].hot).collect()
}

#[test]
fn adata_log_is_hot_from_run_six_without_fan() {
    let Some(passive) = judged("adata-SD71-passive-cooling.log") else { return };
    assert_eq!(hot(&passive), [6, 7, 8, 9, 10]);
    let active = judged("adata-SD71-active-cooling.log").unwrap();
    assert!(hot(&active).is_empty());
    let full = active.iter().filter(|run| run.behind_cache).count();
    assert!((6..=8).contains(&full), "{full} of 10 runs with its cache full");
}

#[test]
fn lexar_log_is_hot_in_nine_runs_without_fan() {
    let Some(passive) = judged("lexar-LX1TB71-passive-cooling.log") else { return };
    assert_eq!(hot(&passive), [2, 3, 4, 5, 6, 7, 8, 9, 10]);
}

#[test]
fn sandisk_log_is_never_hot() {
    let Some(passive) = judged("sandisk-ST25671-passive-cooling.log") else { return };
    assert!(hot(&passive).is_empty());
}
