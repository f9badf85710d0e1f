//! What stands beside each other: a card, or a card under one of its settings, with its runs.

use super::choose::{OWN_WORDS, value_of};
use cardscope_model::comparison::{Entry, Setting};
use cardscope_model::condition::WORDS;
use cardscope_model::result::ToolPrints;
use cardscope_model::test_name::TestName;
use cardscope_store::{MeasuredRun, SessionId, StoredCard};
use std::collections::BTreeSet;

/// Words that decide how fast a card is measured: runs that differ in one of them are not mixed unless it is wished.
/// What only describes (kernel, room, notes) is listed, but divides nothing.
const DIVIDING: [&str; 12] = [
    "recipe",
    "size",
    "state",
    "full_percent",
    "firmware",
    "reader",
    "usb_host",
    "board",
    "board_clock",
    "bus_mode",
    "cooling",
    "file_system",
];

/// The value that stands for "nobody knows" in a name.
const UNKNOWN: &str = "unknown";

/// A test by the words that tell it from others of a recipe.
pub(crate) type TestKey = (TestName, Option<String>);

/// The runs of one test, in order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Values {
    pub(crate) mb_s: Vec<f64>,
    pub(crate) printed: Vec<Option<ToolPrints>>,
    /// When each run was measured, where that is known.
    pub(crate) at: Vec<Option<String>>,
}

/// One column of a comparison.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    pub(crate) entry: Entry,
    /// What the columns of one piece under one setting share, which differ in their months alone.
    pub(crate) series: String,
    /// The tests in the order in which they were first measured.
    pub(crate) tests: Vec<(TestKey, Values)>,
    /// The runs that are counted, in order: session, and number in it.
    pub(crate) runs: Vec<(SessionId, u32)>,
}

impl Column {
    /// Whether another column is of the same piece under the same setting, at another time.
    pub(crate) fn ages_as(&self, other: &Column) -> bool {
        (&self.entry.card_id, &self.series) == (&other.entry.card_id, &other.series)
    }
}

/// How the runs of a card are divided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Division {
    /// By everything that decides how fast a card is measured.
    BySetting,
    /// By one word.
    By(String),
    /// By the month in which they were measured, each piece and each setting for itself.
    ByAge,
    /// Not at all.
    Pooled,
}

/// A card's columns, in the order of their first runs.
pub(crate) fn columns(card: &StoredCard, runs: Vec<MeasuredRun>, division: &Division) -> Vec<Column> {
    let words: Vec<&str> = match division {
        Division::BySetting | Division::ByAge => DIVIDING.into_iter().filter(|w| varies(&runs, w)).collect(),
        Division::By(word) => vec![word.as_str()],
        Division::Pooled => Vec::new(),
    };
    let pieces: Vec<Option<String>> = match division {
        Division::ByAge => {
            runs.iter().map(|run| run.specimen.clone()).collect::<BTreeSet<_>>().into_iter().collect()
        }
        _ => Vec::new(),
    };
    let mut groups: Vec<(Vec<String>, Vec<MeasuredRun>)> = Vec::new();
    for run in runs {
        let mut key = setting(&run, &words);
        if let Some(piece) =
            pieces.iter().position(|piece| *piece == run.specimen).filter(|_| pieces.len() > 1)
        {
            key.push(format!("piece {}", piece + 1));
        }
        if *division == Division::ByAge {
            key.push(run.at.as_deref().map_or(UNKNOWN, month).to_owned());
        }
        match groups.iter_mut().find(|(k, _)| *k == key) {
            Some((_, members)) => members.push(run),
            None => groups.push((key, vec![run])),
        }
    }
    if *division == Division::ByAge {
        groups.sort_by(|a, b| a.0.cmp(&b.0));
    }
    let shared = |key: &[String]| if *division == Division::ByAge { key.len() - 1 } else { key.len() };
    groups.into_iter().map(|(key, runs)| column(card, &key, shared(&key), &runs)).collect()
}

fn varies(runs: &[MeasuredRun], word: &str) -> bool {
    let mut values = runs.iter().map(|run| value_of(&run.setting, word));
    let first = values.next();
    values.any(|value| Some(value) != first)
}

/// What tells a run's column from the card's others by its setting, as it stands in the column's name.
fn setting(run: &MeasuredRun, words: &[&str]) -> Vec<String> {
    words
        .iter()
        .map(|word| {
            let value = value_of(&run.setting, word).unwrap_or_else(|| UNKNOWN.to_owned());
            if *word == "recipe" || *word == "size" { value } else { format!("{word} {value}") }
        })
        .collect()
}

/// `2026-11` of a date of any length.
fn month(date: &str) -> &str {
    date.get(..7).unwrap_or(date)
}

/// A column of a card; the first `shared` words of its key are those of its series.
fn column(card: &StoredCard, key: &[String], shared: usize, runs: &[MeasuredRun]) -> Column {
    let series = named(card, &key[..shared]);
    let counted = runs.iter().filter(|run| run.counted);
    let mut column = Column {
        entry: entry(card, named(card, key), runs),
        series,
        tests: Vec::new(),
        runs: counted.clone().map(|run| (run.session, run.run)).collect(),
    };
    for (run, figure) in counted.flat_map(|run| run.figures.iter().map(move |figure| (run, figure))) {
        let key = (figure.test, figure.step.clone());
        let place = column.tests.iter().position(|(k, _)| *k == key).unwrap_or_else(|| {
            column.tests.push((key, Values::default()));
            column.tests.len() - 1
        });
        let values = &mut column.tests[place].1;
        values.mb_s.push(figure.mb_s);
        values.printed.push(figure.printed.clone());
        values.at.push(run.at.clone());
    }
    column
}

fn named(card: &StoredCard, key: &[String]) -> String {
    [card.title.clone()].into_iter().chain(key.iter().cloned()).collect::<Vec<_>>().join(" · ")
}

fn entry(card: &StoredCard, name: String, runs: &[MeasuredRun]) -> Entry {
    let mut settings: Vec<Setting> = Vec::new();
    for run in runs {
        if !settings.contains(&run.setting) {
            settings.push(run.setting.clone());
        }
    }
    let distinct =
        |of: fn(&MeasuredRun) -> Option<String>| runs.iter().filter_map(of).collect::<BTreeSet<_>>();
    let days = distinct(|run| run.at.as_ref().map(|at| at.get(..10).unwrap_or(at).to_owned()));
    Entry {
        name,
        card_id: card.id.clone(),
        card: card.facts.without_serial(),
        settings,
        specimens: (distinct(|run| run.specimen.clone()).len() as u32).max(1),
        sessions: distinct(|run| Some(run.session.to_string())).len() as u32,
        runs: runs.iter().filter(|run| run.counted).count() as u32,
        measured: Option::zip(days.first().cloned(), days.last().cloned()).map(|(a, b)| [a, b]),
        sources: distinct(|run| run.source.clone()).into_iter().collect(),
    }
}

/// Every word by which two settings may differ, those of the setting itself first.
pub(crate) fn all_words() -> impl Iterator<Item = &'static str> {
    OWN_WORDS.into_iter().chain(WORDS.iter().map(|(word, _)| *word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::testing::{card, run};

    fn names(columns: &[Column]) -> Vec<&str> {
        columns.iter().map(|c| c.entry.name.as_str()).collect()
    }

    #[test]
    fn a_card_measured_with_and_without_a_fan_stands_there_twice() {
        let runs =
            vec![run("cooling=active", 800.0), run("cooling=passive", 500.0), run("cooling=active", 810.0)];
        let columns = columns(&card("A"), runs, &Division::BySetting);
        assert_eq!(names(&columns), ["A · cooling active", "A · cooling passive"]);
        assert_eq!(columns[0].tests[0].1.mb_s, [800.0, 810.0]);
    }

    #[test]
    fn what_only_describes_divides_nothing_and_what_is_unknown_is_said() {
        let runs = vec![run("room_c=20", 1.0), run("room_c=30", 2.0)];
        assert_eq!(columns(&card("A"), runs, &Division::BySetting).len(), 1);
        let runs = vec![run("cooling=active", 1.0), run("room_c=30", 2.0)];
        assert_eq!(
            names(&columns(&card("A"), runs, &Division::By("cooling".into()))),
            ["A · cooling active", "A · cooling unknown"]
        );
    }

    #[test]
    fn a_discarded_run_counts_nowhere() {
        let mut discarded = run("cooling=active", 1.0);
        discarded.counted = false;
        let columns = columns(&card("A"), vec![discarded, run("cooling=active", 2.0)], &Division::Pooled);
        assert_eq!((columns[0].entry.runs, columns[0].tests[0].1.mb_s.as_slice()), (1, [2.0].as_slice()));
    }

    #[test]
    fn one_piece_over_the_years_is_divided_by_month_in_their_order() {
        let at = |date: &str| MeasuredRun { at: Some(date.into()), ..run("cooling=active", 1.0) };
        let columns =
            columns(&card("A"), vec![at("2026-03-04"), at("2024-01-02T10:00:00")], &Division::ByAge);
        assert_eq!(names(&columns), ["A · 2024-01", "A · 2026-03"]);
    }
}
