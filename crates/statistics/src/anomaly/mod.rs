//! What a person would stumble over in the figures of a session: runs on two levels, a read far below its class, large
//! blocks slower than small ones, a queue that makes it worse, a speed that no bus carries, a rig that gets hot. Each of
//! the seeds names one of them; each finding names its numbers.

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

/// Everything odd about a session.
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
