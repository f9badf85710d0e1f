//! What is known of the cards of a comparison beside their figures, a row for each fact.

use super::tables::beside;
use crate::details;
use crate::figure::NONE;
use crate::page::table::Table;
use cardscope_model::card_details::CardDetails;
use cardscope_model::comparison::Comparison;

fn facts(details: &CardDetails) -> Vec<(String, String)> {
    let heat = details::heat(details).into_iter().map(|heat| ("temperature".to_owned(), heat));
    details::known(details).into_iter().chain(heat).collect()
}

/// A row for each fact that one of the cards has; a card under several settings has the same in each of its columns.
pub(super) fn table(comparison: &Comparison) -> Table {
    let known: Vec<Vec<(String, String)>> = comparison
        .entries
        .iter()
        .map(|entry| comparison.details.get(&entry.card_id).map(facts).unwrap_or_default())
        .collect();
    let mut names: Vec<&String> = Vec::new();
    for (name, _) in known.iter().flatten() {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let mut table = beside(comparison, "");
    for name in names {
        let of = |facts: &Vec<(String, String)>| {
            let values: Vec<&str> =
                facts.iter().filter(|(known, _)| known == name).map(|(_, value)| value.as_str()).collect();
            if values.is_empty() { NONE.to_owned() } else { values.join(" ") }
        };
        table.row([name.clone()].into_iter().chain(known.iter().map(of)));
    }
    table
}
