//! `compare`: cards beside each other, with what can be said of their differences and what differs besides them.
//!
//! `choose` finds the cards, `columns` divides their runs, `judged` has crate `analysis` judge the differences,
//! `differs` lists what is not the same besides the card, `findings` says it in sentences, `age` what became of a piece over the
//! months.

mod age;
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
use cardscope_store::{MeasuredRun, StoredCard};
use std::path::PathBuf;

/// The word by which the runs of one piece are divided by their months.
const AGE: &str = "age";

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

/// A card, and what its settings must have.
pub(crate) type Chosen = (StoredCard, Vec<Wanted>);

/// Compares.
///
/// # Errors
/// A refusal where a card is not known or its name is several cards', or where nothing was measured under what is asked;
/// a failure where the archive cannot be read.
pub fn compare(request: &Request) -> Result<Comparison, Failure> {
    let mut shelf = Shelf::open(request.archive.as_deref(), !request.without_collection)?;
    let cards = chosen(request, &mut shelf)?;
    let columns = columns_of(request, &cards, &mut shelf)?.ok_or_else(|| too_many(cards.len()))?;
    Ok(comparison(columns, request.by.clone()))
}

/// The columns that a request asks for; `None` where there are more than anybody reads, found out without reading them all.
pub(crate) fn columns_of(
    request: &Request,
    cards: &[Chosen],
    shelf: &mut Shelf,
) -> Result<Option<Vec<Column>>, Failure> {
    let division = division(request)?;
    let mut found = Vec::new();
    for (card, wanted) in cards {
        let runs = runs_of(request, card, wanted, shelf)?;
        if runs.is_empty() && !request.cards.is_empty() {
            return Err(Failure::refused(format!(
                "{}: nothing was measured under what is asked",
                card.title
            )));
        }
        found.extend(columns(card, runs, &division));
        if found.len() > MOST_COLUMNS {
            return Ok(None);
        }
    }
    match found.is_empty() {
        true => Err(Failure::refused(
            "nothing to compare: no runs are known; `cardscope import` reads those of other tools",
        )),
        false => Ok(Some(found)),
    }
}

/// The runs of a card that have what is asked.
fn runs_of(
    request: &Request,
    card: &StoredCard,
    wanted: &[Wanted],
    shelf: &mut Shelf,
) -> Result<Vec<MeasuredRun>, Failure> {
    let mut runs = shelf.measurements(std::slice::from_ref(&card.id))?;
    runs.retain(|run| wanted.iter().chain(&request.settings).all(|w| w.is_met_by(&run.setting)));
    for run in &mut runs {
        run.figures.retain(|f| request.tests.is_empty() || request.tests.contains(&f.test));
    }
    runs.retain(|run| !run.figures.is_empty());
    Ok(runs)
}

/// The refusal of more columns than anybody reads.
pub(crate) fn too_many(cards: usize) -> Failure {
    Failure::refused(format!(
        "{cards} cards and their settings would stand in more than {MOST_COLUMNS} columns: name fewer cards, choose settings \
         with --condition, or mix them with --pool; `cardscope rank` and `cardscope report` order any number of cards"
    ))
}

fn division(request: &Request) -> Result<Division, Failure> {
    Ok(match request.by.as_deref() {
        _ if request.pool => Division::Pooled,
        None => Division::BySetting,
        Some(AGE) => Division::ByAge,
        Some(word) => {
            is_word(word).map_err(|why| Failure::refused(format!("--by: {why}, {AGE}")))?;
            Division::By(word.to_owned())
        }
    })
}

/// The cards that a request names.
pub(crate) fn chosen(request: &Request, shelf: &mut Shelf) -> Result<Vec<Chosen>, Failure> {
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
    let mut findings = findings::findings(&columns, &tests, &differs, by.as_deref());
    if by.as_deref() == Some(AGE) {
        findings.extend(age::findings(&columns));
    }
    let entries = columns.into_iter().map(|column| column.entry).collect();
    Comparison { entries, by, tests, differs, findings }
}

#[cfg(test)]
mod tests {
    use super::testing::file_of_cards;
    use super::*;

    #[test]
    fn more_cards_than_anybody_reads_are_refused_before_they_are_all_read() {
        let file = file_of_cards(40);
        let mut shelf = Shelf::open(Some(std::path::Path::new("/nowhere/archive")), false).unwrap();
        let request = Request { cards: vec![file.path().to_str().unwrap().to_owned()], ..Request::default() };
        let cards = chosen(&request, &mut shelf).unwrap();
        assert_eq!(cards.len(), 40);
        assert!(columns_of(&request, &cards[..MOST_COLUMNS], &mut shelf).unwrap().is_some());
        assert!(columns_of(&request, &cards, &mut shelf).unwrap().is_none());
        // What comes behind the 25th is not read: a card that has nothing would be refused.
        let mut with_an_empty_one = cards[..=MOST_COLUMNS].to_vec();
        with_an_empty_one.push((testing::card("nobody measured it"), Vec::new()));
        assert!(columns_of(&request, &with_an_empty_one, &mut shelf).unwrap().is_none());
        assert!(too_many(40).to_string().contains("more than 24 columns"));
    }
}
