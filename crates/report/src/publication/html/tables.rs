//! Tables on the page: what was compared, and the figures. Cards stand at the left where they are many.

use crate::comparison::tables::{self, entries};
use crate::comparison::words::{self, Measure};
use crate::markup::{folded, grid, list, prose};
use crate::table::Table;
use cardscope_model::comparison::{Comparison, Differs};

/// Entries up to which each has a column; more have a row.
const COLUMNS: usize = 6;

/// Characters of a name at the head of a column, which has no room for all of them.
const NAME: usize = 60;

/// What was compared, each with what differs besides the card.
pub(super) fn compared(comparison: &Comparison) -> String {
    if comparison.entries.is_empty() {
        return String::new();
    }
    let all = entries(comparison);
    let words = comparison.differs.iter().map(|differs| differs.what.replace('_', " "));
    let head: Vec<String> = all.head().iter().cloned().chain(words).collect();
    let mut table = Table::new(head.clone()).left_aligned(head.iter().map(String::as_str));
    for (number, row) in all.rows().iter().enumerate() {
        let value = |differs: &Differs| differs.values.get(number).cloned().flatten();
        let values =
            comparison.differs.iter().map(|differs| value(differs).unwrap_or_else(|| "unknown".to_owned()));
        table.row(row.iter().cloned().chain(values));
    }
    let mut out = grid(&table);
    if !comparison.differs.is_empty() {
        out += "<p>What stands behind <i>measured</i> differs besides the card: a difference in speed may be its work.</p>\n";
    }
    out + &format!("<p>Measured by: {}.</p>\n", prose(&words::common_setting(comparison)))
}

/// Average, worst, best and median.
pub(super) fn figures(comparison: &Comparison) -> String {
    let n = comparison.entries.len();
    let mut out = String::new();
    for measure in Measure::ALL {
        let table = tables::figures(comparison, measure, false).with_heads_of(NAME);
        if !table.rows().is_empty() {
            let head = format!("{}, MB/s: {}", measure.word(), measure.meaning(false));
            out += &folded(&head, measure == Measure::Average, &grid(&turned(table, n)));
        }
    }
    let levels = list(words::jumps(comparison).iter().map(|line| prose(line)));
    out + &folded("Runs that jump between two levels", n <= COLUMNS, &levels)
}

/// I/Os a second of the tests of 4 KiB.
pub(super) fn iops(comparison: &Comparison) -> String {
    let n = comparison.entries.len();
    let table = tables::iops(comparison).with_heads_of(NAME);
    if table.rows().is_empty() { String::new() } else { grid(&turned(table, n)) }
}

/// Rows for columns where the columns are too many to be read.
fn turned(table: Table, entries: usize) -> Table {
    if entries <= COLUMNS {
        return table;
    }
    let tests = table.rows().iter().filter_map(|row| row.first().cloned());
    let mut turned = Table::new(["card".to_owned()].into_iter().chain(tests));
    for (column, card) in table.head().iter().enumerate().skip(1) {
        let cells = table.rows().iter().map(|row| row.get(column).cloned().unwrap_or_default());
        turned.row([card.clone()].into_iter().chain(cells));
    }
    turned
}
