//! The table of simulated cards in the book. `UPDATE_DOCS=1 cargo test -p cardscope-simulator docs_table` writes a new card's
//! row.

use cardscope_model::units::DecimalSize;
use cardscope_simulator::{Archetype, load_builtin};
use cardscope_testkit::measured_tables::{Column, compare, table};

#[test]
fn simulated_cards_are_listed() {
    let columns: &[Column<Archetype>] = &[
        ("card", &|card| format!("`{}`", card.name)),
        ("announces", &|card| DecimalSize(card.announced_bytes).to_string()),
        ("is", &|card| card.title.clone()),
    ];
    compare("simulator", "cards", &table(&load_builtin().unwrap(), columns));
}
