//! Share of its bus that each card uses in sequential tests, if the bus mode is known.

use super::sentences;
use super::tables::entry_columns;
use cardscope_model::comparison::{ComparedEntry, Comparison};
use cardscope_model::test_name::IoOrder;
use cardscope_model::units::{NO_NUMBER as NONE, three_digits as speed};
use cardscope_page::tree::table::Table;

/// Heading of [`table`].
pub(super) const BUS_HEADING: &str = "Share of the bus in sequential tests";

/// Limit of each bus, then a row for each sequential test; empty if no bus is known.
pub(super) fn bus_table(comparison: &Comparison) -> Table {
    let mut table = entry_columns(comparison, "test");
    let ceilings: Vec<Option<f64>> = comparison.entries.iter().map(ComparedEntry::bus_ceiling_mb_s).collect();
    let shown = |value: Option<String>| value.unwrap_or_else(|| NONE.to_owned());
    let sequential = comparison.tests.iter().filter(|test| test.test.pattern.order == IoOrder::Sequential);
    let rows: Vec<Vec<Option<String>>> = sequential
        .clone()
        .map(|test| {
            let share = |(spread, ceiling): (&Option<_>, &Option<f64>)| {
                let spread: &cardscope_model::comparison::Spread = spread.as_ref()?;
                Some(format!("{:.0} %", 100.0 * spread.mean / (*ceiling)?))
            };
            test.spreads.iter().zip(&ceilings).map(share).collect()
        })
        .collect();
    if rows.iter().flatten().all(Option::is_none) {
        return table;
    }
    let carries = ceilings.iter().map(|ceiling| shown(ceiling.map(|mb_s| format!("{} MB/s", speed(mb_s)))));
    table.add_row(["bus".to_owned()].into_iter().chain(carries));
    for (test, row) in sequential.zip(rows).filter(|(_, row)| row.iter().any(Option::is_some)) {
        table.add_row([sentences::test_title(test)].into_iter().chain(row.into_iter().map(shown)));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::condition::ConditionOrigin;
    use cardscope_testkit::samples as sample;

    #[test]
    fn bus_share_needs_a_known_bus() {
        let mut two = sample::comparison(2, 3, 12);
        for (entry, mode) in two.entries.iter_mut().zip(["PCIe 3.0 x1", "unknown"]) {
            entry
                .settings
                .iter_mut()
                .for_each(|s| s.condition.set("bus_mode", mode, ConditionOrigin::Stated));
        }
        let sequential = |test: &&mut cardscope_model::comparison::ComparedTest| {
            test.test.pattern.order == IoOrder::Sequential
        };
        let first = two.tests.iter_mut().find(sequential).unwrap();
        first.spreads[0].as_mut().unwrap().mean = 778.0;
        let name = sentences::test_title(first);
        let table = bus_table(&two);
        let row = |of: &str| table.rows().iter().find(|row| row[0] == of).cloned().unwrap();
        assert_eq!(row("bus")[1..], ["985 MB/s", NONE]);
        assert_eq!(row(&name)[1..], ["79 %", NONE]);
        assert!(table.rows().iter().all(|row| !row[0].starts_with("RND")), "random tests never fill a bus");
    }

    #[test]
    fn mixed_buses_have_no_share() {
        let mut two = sample::comparison(2, 3, 12);
        for entry in &mut two.entries {
            let mut other = entry.settings[0].clone();
            entry.settings[0].condition.set("bus_mode", "SDR50", ConditionOrigin::Stated);
            other.condition.set("bus_mode", "SDR104", ConditionOrigin::Stated);
            entry.settings.push(other);
        }
        assert!(bus_table(&two).rows().is_empty());
    }
}
