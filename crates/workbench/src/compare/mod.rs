//! `compare`: cards beside each other, with what can be said of their differences and what differs besides them.
//!
//! `choose` finds the cards, `columns` divides their runs, `judged` has crate `analysis` judge the differences,
//! `differs` lists what is not the same besides the card, `findings` says it in sentences.

mod choose;
mod columns;
mod differs;
mod findings;
mod judged;
#[cfg(test)]
pub(crate) mod testing;

pub use choose::Wanted;
pub(crate) use choose::{is_word, value_of};
pub(crate) use columns::{Column, Division, columns};

use crate::error::Failure;
use crate::shelf::Shelf;
use cardscope_model::comparison::Comparison;
use cardscope_model::test_name::TestName;
use cardscope_store::StoredCard;
use std::path::PathBuf;

/// More columns than this say nothing to anybody.
const MOST_COLUMNS: usize = 24;

/// What is asked.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The cards, each as `NAME` or `NAME@WORD=VALUE,…`; none means all that the archive has, if they are few.
    pub cards: Vec<String>,
    /// What every setting must have.
    pub settings: Vec<Wanted>,
    /// Only these tests.
    pub tests: Vec<TestName>,
    /// By which word each card is divided: a word of the condition, `recipe`, `size`, or `age`.
    pub by: Option<String>,
    /// Do not divide at all.
    pub pool: bool,
    /// Leave the built-in collection out.
    pub without_collection: bool,
    /// The archive; `None` is the user's own.
    pub archive: Option<PathBuf>,
}

/// Compares.
///
/// # Errors
/// A refusal where a card is not known or its name is several cards', or where nothing was measured under what is asked;
/// a failure where the archive cannot be read.
pub fn compare(request: &Request) -> Result<Comparison, Failure> {
    let mut shelf = Shelf::open(request.archive.as_deref(), !request.without_collection)?;
    let columns = chosen(request, &mut shelf)?;
    Ok(comparison(columns, request.by.clone()))
}

/// The columns that a request asks for.
pub(crate) fn chosen(request: &Request, shelf: &mut Shelf) -> Result<Vec<Column>, Failure> {
    let division = division(request)?;
    let mut found = Vec::new();
    for (card, wanted) in cards(request, shelf)? {
        let mut runs = shelf.measurements(std::slice::from_ref(&card.id))?;
        runs.retain(|run| wanted.iter().chain(&request.settings).all(|w| w.is_met_by(&run.setting)));
        for run in &mut runs {
            run.figures.retain(|f| request.tests.is_empty() || request.tests.contains(&f.test));
        }
        runs.retain(|run| !run.figures.is_empty());
        if runs.is_empty() && !request.cards.is_empty() {
            return Err(Failure::refused(format!(
                "{}: nothing was measured under what is asked",
                card.title
            )));
        }
        found.extend(columns(&card, runs, &division));
    }
    match found.len() {
        0 => Err(Failure::refused(
            "nothing to compare: no runs are known; `cardscope import` reads those of other tools",
        )),
        n if n > MOST_COLUMNS => Err(Failure::refused(format!(
            "{n} columns would stand beside each other, more than {MOST_COLUMNS}: name fewer cards, choose settings with \
             --condition, or mix them with --pool; `cardscope rank` orders any number of cards"
        ))),
        _ => Ok(found),
    }
}

fn division(request: &Request) -> Result<Division, Failure> {
    Ok(match request.by.as_deref() {
        _ if request.pool => Division::Pooled,
        None => Division::BySetting,
        Some("age") => Division::ByAge,
        Some(word) => {
            is_word(word).map_err(|why| Failure::refused(format!("--by: {why}, age")))?;
            Division::By(word.to_owned())
        }
    })
}

fn cards(request: &Request, shelf: &mut Shelf) -> Result<Vec<(StoredCard, Vec<Wanted>)>, Failure> {
    if !request.cards.is_empty() {
        let mut found = Vec::new();
        for text in &request.cards {
            found.extend(choose::cards(shelf, text)?);
        }
        return Ok(found);
    }
    // Without a name: the user's own cards, and those that come with the program only where there are none.
    let mut all: Vec<_> = shelf.cards()?.into_iter().filter(|card| card.runs > 0).collect();
    if all.iter().any(|card| !shelf.is_collected(&card.id)) {
        all.retain(|card| !shelf.is_collected(&card.id));
    }
    Ok(all.into_iter().map(|card| (card, Vec::new())).collect())
}

/// The document of columns that stand beside each other.
pub(crate) fn comparison(columns: Vec<Column>, by: Option<String>) -> Comparison {
    let differs = differs::differs(&columns);
    let tests = judged::tests(&columns, &differs, by.as_deref());
    let findings = findings::findings(&columns, &tests, &differs);
    let entries = columns.into_iter().map(|column| column.entry).collect();
    Comparison { entries, by, tests, differs, findings }
}
