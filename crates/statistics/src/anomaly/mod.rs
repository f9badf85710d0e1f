//! Anomalies of a session: runs on several speed levels, reads far below the card's class, large blocks slower than small
//! ones, a harmful queue, speeds above the bus, an overheating reader. The rules come from published reports
//! (docs/reference/reports.md).

mod runs;
mod shape;
mod table;
#[cfg(test)]
mod tests;

pub use runs::{UsbLoad, hot_host, is_over_usb};
pub use shape::{SizedTest, small_against_large};
pub use table::AnomalySession;

use cardscope_model::finding::Finding;
use table::AnomalyTable;

/// Finds all anomalies of a session.
pub fn findings(session: &AnomalySession<'_>) -> Vec<Finding> {
    let table = AnomalyTable::new(session.runs);
    let mut found = runs::levels_of(&table);
    found.extend(runs::states(&table));
    found.extend(shape::reads(&table, session.condition));
    found.extend(shape::all(&table));
    found.extend(shape::above_bus(&table, session.ceiling_mb_s));
    found.extend(runs::of_session(session));
    found
}
