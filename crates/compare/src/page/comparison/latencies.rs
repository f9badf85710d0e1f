//! Latencies of the compared cards.

use super::tables::entry_columns;
use cardscope_model::comparison::{Comparison, EntryLatency};
use cardscope_model::units::NO_NUMBER as NONE;
use cardscope_page::figure::{test_with_step, time_us};
use cardscope_page::tree::table::Table;

/// Heading of [`table`].
pub(super) const LATENCY_HEADING: &str = "Latency: mean / 99 % / longest";

/// Table with a row for each test that has latencies.
pub(super) fn latency_table(comparison: &Comparison) -> Table {
    let mut table = entry_columns(comparison, "test");
    for test in &comparison.latencies {
        let cells =
            test.entries.iter().map(|entry| entry.as_ref().map_or_else(|| NONE.to_owned(), latency_cell));
        table.add_row([test_with_step(test.test, test.step.as_deref())].into_iter().chain(cells));
    }
    table
}

fn latency_cell(latency: &EntryLatency) -> String {
    let known = |us: Option<f64>| us.map_or_else(|| NONE.to_owned(), time_us);
    [Some(latency.mean_us), latency.percentiles_us.p99, latency.max_us].map(known).join(" / ")
}
