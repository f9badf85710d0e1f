//! Cross-validation on real series: 95 % intervals contain 90 to 97 % of the runs that were held out.

use super::spreads::{all_series, kinds};
use crate::comparing::tables::{percent, table, update_docs};
use cardscope_statistics::priors::{KindSpread, next_run_interval95};

#[test]
fn prediction_intervals_cover_held_out_runs() {
    let Some(series) = all_series() else { return };
    let mut rows = Vec::new();
    let (mut held, mut all) = (0, 0);
    // The table for a fifth of the series is learned from the others.
    for fold in 0..5 {
        let taught: Vec<_> =
            series.iter().enumerate().filter(|(i, _)| i % 5 != fold).map(|(_, s)| s.clone()).collect();
        let spreads = kinds(&taught);
        for of in series.iter().skip(fold).step_by(5) {
            let spread: &KindSpread = &spreads[&of.kind.table_key()];
            for known in 1..of.logs.len() {
                let next95 = next_run_interval95(&of.logs[..known], spread).unwrap();
                let next = of.logs[known].exp();
                rows.push((of.kind.table_key(), known, next95[0] <= next && next <= next95[1]));
            }
        }
    }
    let mut cells = Vec::new();
    for kind in cardscope_statistics::priors::SpreadKind::all_kinds() {
        let of: Vec<bool> = rows.iter().filter(|r| r.0 == kind.table_key()).map(|r| r.2).collect();
        let inside = of.iter().filter(|inside| **inside).count();
        if !of.is_empty() {
            cells.push((
                kind.table_key(),
                vec![of.len().to_string(), percent(inside as f64 / of.len() as f64)],
            ));
        }
        (held, all) = (held + inside, all + of.len());
    }
    let share = held as f64 / all as f64;
    cells.push(("all".to_owned(), vec![all.to_string(), percent(share)]));
    update_docs("predicted", &table("series", &["runs held out", "inside"].map(str::to_owned), &cells));
    assert!((0.90..=0.97).contains(&share), "{share}");
}
