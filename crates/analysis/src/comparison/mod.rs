//! The document of `compare`, made of runs: `columns` divides them, `judged` holds the columns' figures against each
//! other, `differs` lists what is not the same besides the card, `findings` says it in sentences, and `age` what became of
//! a card over the months.

mod age;
mod columns;
mod differs;
mod findings;
mod judged;
#[cfg(test)]
mod tests;

pub use columns::{Column, Division, Values, columns};

use cardscope_model::comparison::Comparison;

/// The word by which the runs of one card are divided by their months.
pub const AGE: &str = "age";

/// The document of columns that stand beside each other, divided by a word where one was asked for.
#[must_use]
pub fn comparison(columns: Vec<Column>, by: Option<String>) -> Comparison {
    let differs = differs::differs(&columns);
    let tests = judged::tests(&columns, &differs, by.as_deref());
    let mut findings = findings::findings(&columns, &tests, &differs, by.as_deref());
    if by.as_deref() == Some(AGE) {
        findings.extend(age::findings(&columns));
    }
    let entries = columns.into_iter().map(|column| column.entry).collect();
    Comparison { entries, by, tests, differs, findings }
}
