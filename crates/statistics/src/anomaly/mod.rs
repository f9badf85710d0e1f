//! Anomalies of a session: runs on several speed levels, reads far below the card's class, large blocks slower than small
//! ones, a harmful queue, speeds above the bus, an overheating reader. The rules come from published reports
//! (docs/reference/reports.md).

mod run_differences;
mod test_differences;
mod test_table;
#[cfg(test)]
mod tests;

pub use run_differences::{UsbLoad, hot_host_finding, is_over_usb};
pub use test_differences::{SizedTest, optimistic_small_tests};
pub use test_table::AnomalySession;

use cardscope_model::finding::Finding;
use test_table::AnomalyTable;

/// Finds all anomalies of a session.
pub fn session_anomalies(session: &AnomalySession<'_>) -> Vec<Finding> {
    let table = AnomalyTable::new(session.runs);
    let mut found = run_differences::level_findings(&table);
    found.extend(run_differences::run_state_findings(&table));
    found.extend(test_differences::slow_reads_finding(&table, session.condition));
    found.extend(test_differences::test_findings(&table));
    found.extend(test_differences::above_bus_finding(&table, session.ceiling_mb_s));
    found.extend(run_differences::hot_host_in_session(session));
    found
}
