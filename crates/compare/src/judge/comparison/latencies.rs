//! Latencies of the compared cards, from logs and own runs.

use super::columns::{ComparedColumn, TestKey, test_keys};
use cardscope_model::comparison::{ComparedLatency, EntryLatency};
use cardscope_model::run::LatencyPercentiles;

/// Latencies of each test for which a column has any.
pub(super) fn compared_latencies(columns: &[ComparedColumn]) -> Vec<ComparedLatency> {
    let of = |key: &TestKey| ComparedLatency {
        test: key.0,
        step: key.1.clone(),
        entries: columns.iter().map(|column| column_latency(column, key)).collect(),
    };
    let all = test_keys(columns.iter()).into_iter().map(of);
    all.filter(|test| test.entries.iter().any(Option::is_some)).collect()
}

fn column_latency(column: &ComparedColumn, key: &TestKey) -> Option<EntryLatency> {
    let (_, values) = column.tests.iter().find(|(known, _)| known == key)?;
    combine_latencies(&values.latencies)
}

fn combine_latencies(runs: &[EntryLatency]) -> Option<EntryLatency> {
    let mean = |of: fn(&EntryLatency) -> Option<f64>| {
        let known: Vec<f64> = runs.iter().filter_map(of).collect();
        (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
    };
    Some(EntryLatency {
        n: runs.len() as u32,
        mean_us: mean(|run| Some(run.mean_us))?,
        percentiles_us: LatencyPercentiles {
            p50: mean(|run| run.percentiles_us.p50),
            p99: mean(|run| run.percentiles_us.p99),
            p999: mean(|run| run.percentiles_us.p999),
        },
        max_us: runs.iter().filter_map(|run| run.max_us).reduce(f64::max),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_are_averaged_and_the_longest_is_kept() {
        let run = |mean_us, p99, max_us| EntryLatency {
            n: 1,
            mean_us,
            percentiles_us: LatencyPercentiles { p99, ..LatencyPercentiles::default() },
            max_us,
        };
        let all =
            combine_latencies(&[run(400.0, Some(900.0), Some(5e3)), run(600.0, None, Some(7e3))]).unwrap();
        assert_eq!(
            (all.n, all.mean_us, all.percentiles_us.p99, all.max_us),
            (2, 500.0, Some(900.0), Some(7e3))
        );
        assert_eq!((all.percentiles_us.p50, combine_latencies(&[])), (None, None));
    }
}
