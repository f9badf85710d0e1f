//! Details of the compared cards other than speeds, with a row for each.

use super::tables::entry_columns;
use crate::page::details;
use cardscope_model::comparison::{ComparedEntry, Comparison};
use cardscope_model::units::NO_NUMBER as NONE;
use cardscope_page::tree::table::Table;

fn entry_facts(comparison: &Comparison, entry: &ComparedEntry) -> Vec<(String, String)> {
    let firmware = entry.card.firmware.clone().map(|firmware| ("firmware".to_owned(), firmware));
    let details = comparison.details.get(&entry.card_id).into_iter();
    let known = details.flat_map(|d| details::detail_facts(d).into_iter().chain(details::heat_facts(d)));
    firmware.into_iter().chain(known).collect()
}

/// Table with a row for each detail of any card; the columns of one card repeat its details.
pub(super) fn details_table(comparison: &Comparison) -> Table {
    let known: Vec<Vec<(String, String)>> =
        comparison.entries.iter().map(|entry| entry_facts(comparison, entry)).collect();
    let mut names: Vec<&String> = Vec::new();
    for (name, _) in known.iter().flatten() {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let mut table = entry_columns(comparison, "");
    for name in names {
        let of = |facts: &Vec<(String, String)>| {
            let value = facts.iter().find(|(known, _)| known == name);
            value.map_or(NONE.to_owned(), |(_, value)| value.clone())
        };
        table.add_row([name.clone()].into_iter().chain(known.iter().map(of)));
    }
    table
}
