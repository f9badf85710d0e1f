//! Comparisons of the public ten-run logs of SD Express cards (docs/reference/reports.md#microsd-express-benchmarks).

use cardscope_model::comparison::{ChanceGrade, PairVerdict};
use cardscope_model::test_name::{IoOrder, TestOp};
use cardscope_statistics::priors::{SpreadKind, SpreadSubject, SpreadTable, UsualSpeed};
use cardscope_statistics::significance::{CardDifference, compare_speeds, split_two_levels};
use std::path::PathBuf;

/// Speeds of one test in the order of runs. None, with a message, if the logs are missing.
fn figures(log: &str, test: &str) -> Option<Vec<f64>> {
    let beside = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data"));
    let path = std::env::var_os("CARDSCOPE_DATA").map_or(beside, PathBuf::from).join("cdm_fio").join(log);
    let Ok(bytes) = std::fs::read(&path) else {
        println!("no logs at {}: nothing was tested", path.display());
        return None;
    };
    let text = String::from_utf8_lossy(&bytes);
    let rows = text.lines().filter_map(|line| line.trim().strip_prefix(test)?.split_once("MB/s"));
    Some(rows.map(|(value, _)| value.trim().parse().unwrap()).collect())
}

const ADATA: &str = "adata-SD71-active-cooling.log";
const ADATA_HOT: &str = "adata-SD71-passive-cooling.log";
const LEXAR_HOT: &str = "lexar-LX1TB71-passive-cooling.log";

#[test]
fn real_writes_have_two_levels_and_reads_one() {
    let Some(writes) = figures(ADATA, "Sequential Write:") else { return };
    let found = split_two_levels(&writes).unwrap();
    assert!((found.share_low - 0.6).abs() < 1e-12 && found.high > 1.5 * found.low, "{found:?}");
    assert_eq!(split_two_levels(&figures(ADATA, "Sequential Read:").unwrap()), None);
}

/// Two SD Express cards in a sequential test.
fn compared(op: TestOp, first: &[f64], second: &[f64]) -> CardDifference {
    let table = SpreadTable::shipped();
    let spread = table
        .spread_of_kind(SpreadKind { express: true, subject: SpreadSubject::Test(IoOrder::Sequential, op) });
    compare_speeds(
        UsualSpeed::from_runs(first, spread).as_ref(),
        UsualSpeed::from_runs(second, spread).as_ref(),
        table,
        0.0,
    )
}

#[test]
fn hot_cards_read_slower() {
    let Some(cool) = figures(ADATA, "Sequential Read:") else { return };
    let lexar = compared(TestOp::Read, &cool, &figures(LEXAR_HOT, "Sequential Read:").unwrap());
    assert_eq!(
        (lexar.verdict, lexar.grade),
        (PairVerdict::FirstFaster, ChanceGrade::AlmostCertain),
        "{:?}",
        lexar.p
    );
    // Hot from the sixth run on: two stretches are worth two or three independent runs, not ten.
    let itself = compared(TestOp::Read, &cool, &figures(ADATA_HOT, "Sequential Read:").unwrap());
    assert!(itself.grade >= ChanceGrade::Leans && itself.p.is_some_and(|p| p > 0.001), "{:?}", itself.p);
}

#[test]
fn writes_of_two_hot_cards_are_even() {
    let Some(adata) = figures(ADATA_HOT, "Sequential Write:") else { return };
    let found = compared(TestOp::Write, &adata, &figures(LEXAR_HOT, "Sequential Write:").unwrap());
    assert_eq!((found.verdict, found.grade), (PairVerdict::CannotTell, ChanceGrade::Even), "{:?}", found.p);
}
