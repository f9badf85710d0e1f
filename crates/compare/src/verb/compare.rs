//! `compare`: compares cards. Measurements are read from the archive here; `crate::judge::comparison` builds the document.

use crate::card_lookup::{CardLookup, disambiguate_titles, select_card};
use crate::judge::comparison::{AGE, ComparedColumn, RunDivision, build_comparison, divide_runs};
use cardscope_model::archive_rows::StoredCard;
use cardscope_model::comparison::Comparison;
use cardscope_model::setting::{Setting, WantedSetting};
use cardscope_model::statistics::distinct_values;
use cardscope_model::test_name::TestName;
use cardscope_session::error::{Failure, Result};
use cardscope_session::options::ArchiveAt;
use clap::Args;
use std::path::Path;

/// Most columns of a comparison.
const MOST_COLUMNS: usize = 200;

/// Choice of measurements, shared by several verbs.
#[derive(Debug, Clone, Default, Args)]
#[command(mut_arg("archive", |archive| archive.help(
    "Archive to read from: a file, or postgres://... [default: in the XDG data folder]"
)))]
pub struct MeasurementChoice {
    /// Only measurements under this condition, e.g. cooling=active, recipe=cdm_fio, size=1GiB (repeatable)
    #[arg(long = "condition", value_name = "WORD=VALUE", value_parser = WantedSetting::parse)]
    pub settings: Vec<WantedSetting>,
    /// Only this test, e.g. "RND4K Q1T1 write" (repeatable)
    #[arg(id = "test", long = "test", value_name = "TEST")]
    pub tests: Vec<TestName>,
    /// Leave out the cards that come with the program
    #[arg(long = "own")]
    pub without_collection: bool,
    /// The archive that is read.
    #[command(flatten)]
    pub archive: ArchiveAt,
}

impl MeasurementChoice {
    /// True if measurements of a setting are selected.
    pub(crate) fn is_met_by(&self, setting: &Setting) -> bool {
        self.settings.iter().all(|wanted| wanted.is_met_by(setting))
    }

    /// Opens the source of the measurements.
    pub(crate) fn open_source(&self) -> Result<CardLookup> {
        CardLookup::open(self.archive.named_path(), !self.without_collection)
    }
}

/// Compare cards side by side, and say which differences are real
///
/// Name a card by words of its name or the beginning of its id; NAME@WORD=VALUE,... selects measurements
/// under that condition (`"ADATA@cooling=active"`). A card measured under several settings has one column for
/// each. Other differences are listed, too. The cards of five published reports are
/// built in (`cardscope archive cards --builtin`).
#[derive(Debug, Clone, Default, Args)]
pub struct CompareRequest {
    /// Cards to compare [default: all of the archive]
    #[arg(value_name = "CARD")]
    pub cards: Vec<String>,
    #[command(flatten)]
    pub choice: MeasurementChoice,
    /// Show what each change of WORD is worth: cooling, board, reader, size, recipe, state ..., several as
    /// board,clock; or age (months)
    #[arg(long, value_name = "WORD", value_delimiter = ',', conflicts_with = "pool")]
    pub by: Vec<String>,
    /// Pool all measurements of a card
    #[arg(long)]
    pub pool: bool,
}

/// A card, and conditions on its settings.
pub(crate) type Chosen = (StoredCard, Vec<WantedSetting>);

/// Compares the cards of a request.
///
/// # Errors
/// Refuses unknown and ambiguous names, and a selection without measurements.
pub fn compare_cards(request: &CompareRequest) -> Result<Comparison> {
    let mut source = request.choice.open_source()?;
    let cards = chosen_cards(request, &mut source)?;
    let division = requested_division(request)?;
    let columns = read_columns(request, &cards, &division, &mut source)?;
    let columns = columns.ok_or_else(|| too_many_columns(cards.len()))?;
    let mut compared = build_comparison(columns, &division, &source.spreads()?);
    compared.details = source.details_by_card(&compared.entries)?;
    Ok(compared)
}

/// Columns of a request; `None` if there are more than [`MOST_COLUMNS`], in which case the rest is not read.
pub(crate) fn read_columns(
    request: &CompareRequest,
    cards: &[Chosen],
    division: &RunDivision,
    source: &mut CardLookup,
) -> Result<Option<Vec<ComparedColumn>>> {
    let MeasurementChoice { settings, tests, .. } = &request.choice;
    let mut found = Vec::new();
    for (card, wanted) in cards {
        let mut runs = source.measurements(std::slice::from_ref(&card.id))?;
        runs.retain(|run| settings.iter().chain(wanted).all(|wanted| wanted.is_met_by(&run.setting)));
        for run in &mut runs {
            run.run.results.retain(|f| tests.is_empty() || tests.contains(&f.name()));
        }
        runs.retain(|run| !run.run.results.is_empty());
        if runs.is_empty() && !request.cards.is_empty() {
            let selected = !(wanted.is_empty() && settings.is_empty() && tests.is_empty());
            let under = if selected { " under the selected condition" } else { "" };
            return Err(Failure::refused(format!("{:?} has no measurements{under}", card.title)));
        }
        found.extend(divide_runs(card, runs, division));
        if found.len() > MOST_COLUMNS {
            return Ok(None);
        }
    }
    if found.is_empty() {
        let advice = "add some with `cardscope bench` or `cardscope import`";
        return Err(Failure::refused(format!("nothing to compare: the archive has no runs; {advice}")));
    }
    Ok(Some(found))
}

/// Refusal of more than [`MOST_COLUMNS`] columns.
pub(crate) fn too_many_columns(cards: usize) -> Failure {
    Failure::refused(format!(
        "{cards} cards and their settings need more than {MOST_COLUMNS} columns; name fewer cards, select \
         settings with --condition, or pool them with --pool. `cardscope rank` and `cardscope report` order \
         any number of cards"
    ))
}

/// Division of a card's runs in a request; refuses unknown words.
pub(crate) fn requested_division(request: &CompareRequest) -> Result<RunDivision> {
    let word = |text: &String| {
        Setting::find_word(text).map_err(|why| Failure::refused_for(format!("--by: {why}, {AGE}"), why))
    };
    Ok(match &request.by[..] {
        _ if request.pool => RunDivision::Pooled,
        [] => RunDivision::BySetting,
        [only] if only == AGE => RunDivision::ByAge,
        words if words.iter().any(|word| word == AGE) => {
            return Err(Failure::refused("--by age divides by months alone: name no other word beside it"));
        }
        words => RunDivision::By(distinct_values(words.iter().map(word).collect::<Result<Vec<_>>>()?)),
    })
}

/// Cards of a request with distinct titles; the title of an object that is not a card states this.
pub(crate) fn chosen_cards(request: &CompareRequest, source: &mut CardLookup) -> Result<Vec<Chosen>> {
    let mut found = requested_cards(request, source)?;
    disambiguate_titles(found.iter_mut().map(|(card, _)| card));
    source.label_not_cards(found.iter_mut().map(|(card, _)| card))?;
    Ok(found)
}

fn requested_cards(request: &CompareRequest, source: &mut CardLookup) -> Result<Vec<Chosen>> {
    if !request.cards.is_empty() {
        let mut found: Vec<Chosen> = Vec::new();
        for text in &request.cards {
            for chosen in cards_or_file(source, text)? {
                // A card that is named twice would be compared with itself.
                if !found.contains(&chosen) {
                    found.push(chosen);
                }
            }
        }
        return Ok(found);
    }
    // Without names the user's own cards are compared, and the built-in ones only if there are no others.
    let mut all: Vec<_> = source.cards()?.into_iter().filter(|card| card.runs > 0).collect();
    if all.iter().any(|card| !source.is_collected(&card.id)) {
        all.retain(|card| !source.is_collected(&card.id));
    }
    Ok(all.into_iter().map(|card| (card, Vec::new())).collect())
}

/// Cards as the user names them, with conditions on their settings: `ADATA@cooling=active,size=1GiB`. The name of a file
/// selects the cards in its logs.
fn cards_or_file(source: &mut CardLookup, text: &str) -> Result<Vec<Chosen>> {
    if !Path::new(text).is_file() {
        return Ok(vec![card_with_conditions(source, text)?]);
    }
    Ok(source.read_file(Path::new(text))?.into_iter().map(|card| (card, Vec::new())).collect())
}

fn card_with_conditions(source: &mut CardLookup, text: &str) -> Result<Chosen> {
    let (name, wanted) = text.split_once('@').unwrap_or((text, ""));
    let wanted = wanted.split(',').filter(|w| !w.is_empty()).map(WantedSetting::parse);
    let wanted = wanted.collect::<Result<Vec<_>, _>>().map_err(Failure::refused)?;
    let mut found = source.find_cards(name)?;
    // A card without runs cannot be compared, so it does not make a name ambiguous.
    if found.iter().any(|card| card.runs > 0) {
        found.retain(|card| card.runs > 0);
    }
    Ok((select_card(found, name)?, wanted))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_testkit::cards::{csv_of_cards, stored_card};

    #[test]
    fn too_many_cards_are_refused_before_all_are_read() {
        let file = csv_of_cards(240);
        let archive = tempfile::NamedTempFile::new().unwrap();
        let mut source = CardLookup::open(Some(archive.path()), false).unwrap();
        let request = CompareRequest {
            cards: vec![file.path().to_str().unwrap().to_owned()],
            ..CompareRequest::default()
        };
        let cards = chosen_cards(&request, &mut source).unwrap();
        assert_eq!(cards.len(), 240);
        assert!(
            read_columns(&request, &cards[..MOST_COLUMNS], &RunDivision::BySetting, &mut source)
                .unwrap()
                .is_some()
        );
        assert!(read_columns(&request, &cards, &RunDivision::BySetting, &mut source).unwrap().is_none());
        // Cards after the 201st are not read: one without measurements would be refused.
        let mut with_an_empty_one = cards[..=MOST_COLUMNS].to_vec();
        with_an_empty_one.push((stored_card("nobody measured it"), Vec::new()));
        assert!(
            read_columns(&request, &with_an_empty_one, &RunDivision::BySetting, &mut source)
                .unwrap()
                .is_none()
        );
        assert!(too_many_columns(240).to_string().contains("more than 200 columns"));
    }
}
