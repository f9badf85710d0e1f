//! Columns of a comparison: a card, or a card under one of its settings, with its runs; and the differences between columns
//! other than the card.

use cardscope_model::archive_rows::StoredCard;
use cardscope_model::comparison::{ComparedEntry, ComparedLatency, EntryLatency, SettingDifference};
use cardscope_model::condition::word_in_sentence;
use cardscope_model::result::ToolPrints;
use cardscope_model::run::{CardRun, LatencyPercentiles, TestFigure};
use cardscope_model::setting::Setting;
use cardscope_model::statistics::{distinct_values, mean};
use cardscope_model::test_name::TestName;
use cardscope_statistics::priors::{SpreadKind, SpreadTable};
use std::collections::BTreeSet;

/// Words that affect the measured speed: runs that differ in one of them become separate columns unless they are pooled.
/// Other words (kernel, room, notes) are only listed.
const DIVIDING_WORDS: [&str; 12] = [
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

/// Word that divides the runs of a card by month.
pub const AGE: &str = "age";

/// Displayed value of an unknown word.
const UNKNOWN: &str = "unknown";

/// A test, and the step that distinguishes it within its recipe.
pub(super) type TestKey = (TestName, Option<String>);

/// Runs of one test, in order.
#[derive(Debug, Clone, Default)]
pub struct TestRuns {
    /// MB/s (10^6).
    pub mb_s: Vec<f64>,
    pub printed: Vec<Option<ToolPrints>>,
    /// Time of each run, if known.
    pub at: Vec<Option<String>>,
    /// Latencies of the runs that have any.
    pub latencies: Vec<EntryLatency>,
}

/// Column of a comparison.
#[derive(Debug, Clone)]
pub struct ComparedColumn {
    pub entry: ComparedEntry,
    /// Name shared by columns of one unit under one setting, which differ only in their months.
    pub series: String,
    /// Tests in the order of their first measurement.
    pub tests: Vec<(TestKey, TestRuns)>,
    /// Counted runs: session, and number within it.
    pub runs: Vec<(String, u32)>,
}

impl ComparedColumn {
    /// Kind of series to which the runs of a test belong.
    pub(super) fn series_kind(&self, (test, _): &TestKey) -> SpreadKind {
        SpreadKind::new(&self.entry.card, self.entry.settings.first(), *test)
    }

    pub(super) fn test_runs(&self, key: &TestKey) -> Option<&TestRuns> {
        self.tests.iter().find(|(of, _)| of == key).map(|(_, values)| values)
    }

    /// Mean of one test in MB/s; `None` without a speed.
    pub(super) fn mean_speed(&self, key: &TestKey) -> Option<f64> {
        mean(&self.test_runs(key)?.mb_s).filter(|mb_s| mb_s.is_finite() && *mb_s > 0.0)
    }

    /// True if both columns are of one unit under one setting, at different times.
    pub fn is_same_series(&self, other: &ComparedColumn) -> bool {
        (&self.entry.card_id, &self.series) == (&other.entry.card_id, &other.series)
    }
}

/// Tests of all columns: those of the first column in its order, then further ones.
pub(super) fn test_keys<'a>(columns: impl Iterator<Item = &'a ComparedColumn>) -> Vec<&'a TestKey> {
    distinct_values(columns.flat_map(|column| &column.tests).map(|(key, _)| key))
}

/// Division of a card's runs into columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunDivision {
    /// By all words that affect speeds.
    BySetting,
    /// By these words, which are compared, and by all other words that affect speeds.
    By(Vec<&'static str>),
    /// By month, separately for each unit and setting.
    ByAge,
    Pooled,
}

impl RunDivision {
    pub(super) fn requested_words(&self) -> &[&'static str] {
        if let RunDivision::By(words) = self { words } else { &[] }
    }

    /// Value in the document.
    pub(super) fn name(&self) -> Option<String> {
        match self {
            RunDivision::By(words) => Some(words.join(",")),
            RunDivision::ByAge => Some(AGE.to_owned()),
            RunDivision::BySetting | RunDivision::Pooled => None,
        }
    }
}

/// Divides a card's runs into columns, in the order of their first runs.
pub fn divide_runs(card: &StoredCard, runs: Vec<CardRun>, division: &RunDivision) -> Vec<ComparedColumn> {
    let asked = division.requested_words();
    let mut words: Vec<&str> = asked.to_vec();
    for word in DIVIDING_WORDS.iter().filter(|_| *division != RunDivision::Pooled) {
        // A word that follows from the requested ones, as the bus does from the board, needs no column name.
        let divides = || asked.is_empty() || divides_further(&runs, &words, word);
        if !asked.contains(word) && has_several_values(&runs, word) && divides() {
            words.push(word);
        }
    }
    let by_age = *division == RunDivision::ByAge;
    let units: BTreeSet<Option<String>> =
        runs.iter().filter(|_| by_age).map(|run| run.unit.clone()).collect();
    let mut groups: Vec<(Vec<String>, Vec<CardRun>)> = Vec::new();
    for run in runs {
        let mut key = setting_words(&run, &words);
        if let Some(unit) = units.iter().position(|unit| *unit == run.unit).filter(|_| units.len() > 1) {
            key.push(format!("unit {}", unit + 1));
        }
        if by_age {
            // The month of a date of any length: `2026-11`.
            let month = run.measured_at.as_deref().map_or(UNKNOWN, |date| date.get(..7).unwrap_or(date));
            key.push(month.to_owned());
        }
        match groups.iter_mut().find(|(k, _)| *k == key) {
            Some((_, members)) => members.push(run),
            None => groups.push((key, vec![run])),
        }
    }
    if by_age {
        groups.sort_by(|a, b| a.0.cmp(&b.0));
    }
    let shared = |key: &[String]| key.len() - usize::from(by_age);
    groups.into_iter().map(|(key, runs)| build_column(card, &key, shared(&key), &runs)).collect()
}

fn has_several_values(runs: &[CardRun], word: &str) -> bool {
    runs.windows(2).any(|pair| pair[0].setting.value(word) != pair[1].setting.value(word))
}

/// True if a word splits runs that are in one group by these words.
fn divides_further(runs: &[CardRun], words: &[&str], word: &str) -> bool {
    let keys = |words: &[&str]| runs.iter().map(|run| setting_words(run, words)).collect::<BTreeSet<_>>();
    keys(&[words, &[word]].concat()).len() > keys(words).len()
}

/// Values of these words for a run, as they appear in the name of its column.
fn setting_words(run: &CardRun, words: &[&str]) -> Vec<String> {
    words.iter().map(|word| displayed_value(word, run.setting.value(word))).collect()
}

/// Words whose values are displayed alone.
const SELF_EXPLANATORY: [&str; 5] = ["recipe", "size", "board", "bus_mode", "file_system"];

/// Displayed value of a word: `cooling active`, `clock 100 MHz`, `Raspberry Pi 4 B`.
pub(super) fn displayed_value(word: &str, value: Option<String>) -> String {
    let called = if word == "board_clock" { "clock".to_owned() } else { word_in_sentence(word) };
    match value {
        Some(value) if SELF_EXPLANATORY.contains(&word) => value,
        Some(value) => format!("{called} {value}"),
        None => format!("{called} {UNKNOWN}"),
    }
}

/// Builds the column of the runs of `card`. `key` names it; its first `shared` words name its series.
fn build_column(card: &StoredCard, key: &[String], shared: usize, runs: &[CardRun]) -> ComparedColumn {
    let series = column_name(card, &key[..shared]);
    let counted = runs.iter().filter(|run| run.run.counted);
    let mut column = ComparedColumn {
        entry: build_entry(card, column_name(card, key), runs),
        series,
        tests: Vec::new(),
        runs: counted.clone().map(|run| (run.session.clone(), run.run.run)).collect(),
    };
    for (run, figure) in counted.flat_map(|run| run.run.results.iter().map(move |figure| (run, figure))) {
        let key = (figure.name(), figure.step.clone());
        let place = column.tests.iter().position(|(k, _)| *k == key).unwrap_or_else(|| {
            column.tests.push((key, TestRuns::default()));
            column.tests.len() - 1
        });
        let values = &mut column.tests[place].1;
        values.mb_s.push(figure.mb_s);
        values.printed.push(figure.as_printed.clone());
        values.at.push(run.measured_at.clone());
        values.latencies.extend(run_latency(figure));
    }
    column
}

fn run_latency(figure: &TestFigure) -> Option<EntryLatency> {
    let mean_us = figure.latency_us?;
    let TestFigure { percentiles_us, max_latency_us: max_us, .. } = *figure;
    Some(EntryLatency { n: 1, mean_us, percentiles_us, max_us })
}

fn column_name(card: &StoredCard, key: &[String]) -> String {
    [card.title.clone()].into_iter().chain(key.iter().cloned()).collect::<Vec<_>>().join(" · ")
}

fn build_entry(card: &StoredCard, name: String, runs: &[CardRun]) -> ComparedEntry {
    let each = |of: fn(&CardRun) -> Option<String>| runs.iter().filter_map(of).collect::<BTreeSet<_>>();
    let days = each(|run| run.measured_at.as_ref().map(|at| at.get(..10).unwrap_or(at).to_owned()));
    ComparedEntry {
        name,
        card_id: card.id.clone(),
        card: card.facts.without_serial(),
        settings: distinct_values(runs.iter().map(|run| run.setting.clone())),
        specimens: (each(|run| run.unit.clone()).len() as u32).max(1),
        sessions: each(|run| Some(run.session.clone())).len() as u32,
        runs: runs.iter().filter(|run| run.run.counted).count() as u32,
        measured: Option::zip(days.first().cloned(), days.last().cloned()).map(|(a, b)| [a, b]),
        sources: each(|run| run.source.clone()).into_iter().collect(),
    }
}

/// All words in which columns differ, with the value of each column.
pub(super) fn find_differences<'a>(
    columns: impl IntoIterator<Item = &'a ComparedColumn>,
) -> Vec<SettingDifference> {
    let entries: Vec<&ComparedEntry> = columns.into_iter().map(|column| &column.entry).collect();
    let difference = |what: &str, value: &dyn Fn(&ComparedEntry) -> Option<String>| SettingDifference {
        what: what.to_owned(),
        values: entries.iter().map(|entry| value(entry)).collect(),
    };
    let words = Setting::all_words();
    let words = words.map(|word| difference(displayed_word(word), &|entry| joined_values(entry, word)));
    let runs = difference("runs", &|entry| Some(entry.runs.to_string()));
    let units = difference("units", &|entry| Some(entry.specimens.to_string()));
    let all = words.chain([runs, units]);
    all.filter(|d| d.values.windows(2).any(|pair| pair[0] != pair[1])).collect()
}

/// Displayed form of a word: the size of a test must not pass for that of a card.
fn displayed_word(word: &str) -> &str {
    if word == "size" { "test size" } else { word }
}

/// False for the numbers of runs and units, which the statistics account for, for notes, and for the words by which the
/// cards were divided.
pub(super) fn is_blamed(differs: &SettingDifference, by: &[&str]) -> bool {
    !["runs", "units", "note"].contains(&differs.what.as_str())
        && by.iter().all(|by| differs.what != displayed_word(by))
}

/// Values of a word in a column, joined; `None` if all are unknown.
fn joined_values(entry: &ComparedEntry, word: &str) -> Option<String> {
    let values = distinct_values(entry.settings.iter().map(|setting| setting.value(word)));
    let words: Vec<&str> = values.iter().map(|value| value.as_deref().unwrap_or(UNKNOWN)).collect();
    values.iter().any(Option::is_some).then(|| words.join(" / "))
}

/// Context in which each pair is compared.
#[derive(Clone, Copy)]
pub(super) struct PairBasis<'a> {
    pub(super) differs: &'a [SettingDifference],
    pub(super) by: &'a [&'static str],
    pub(super) table: &'a SpreadTable,
}

/// Differences between two columns other than the compared one.
pub(super) struct OtherDifferences<'a> {
    differences: Vec<(&'a SettingDifference, [Option<&'a str>; 2])>,
    /// True for two settings of one card: a single word in which they differ is what is compared.
    one_card: bool,
}

impl<'a> OtherDifferences<'a> {
    pub(super) fn new(
        columns: &[ComparedColumn],
        differs: &'a [SettingDifference],
        (first, second): (usize, usize),
        by: &[&str],
    ) -> OtherDifferences<'a> {
        let blamed = differs.iter().filter(|d| is_blamed(d, by) && d.values[first] != d.values[second]);
        let values = |d: &'a SettingDifference| [first, second].map(|side| d.values[side].as_deref());
        let one_card = columns[first].entry.card_id == columns[second].entry.card_id;
        OtherDifferences { differences: blamed.map(|d| (d, values(d))).collect(), one_card }
    }

    pub(super) fn difference_phrases(&self) -> Vec<String> {
        let phrase = |(d, values): &(&SettingDifference, [Option<&str>; 2])| {
            let [a, b] = values.map(|value| value.unwrap_or(UNKNOWN));
            format!("{}: {a} against {b}", word_in_sentence(&d.what))
        };
        self.differences.iter().map(phrase).collect()
    }

    /// Differing words of rig, tool, size and cooling, which affect speeds as much as cards do. A single such word between two
    /// settings of one card is what is compared, so it confounds nothing.
    pub(super) fn confounders(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.confounding_words().into_iter().map(|(word, _)| word)
    }

    /// Variance that these words add to the logarithm of a ratio.
    pub(super) fn added_variance(&self, table: &SpreadTable) -> f64 {
        self.confounding_words().into_iter().map(|(word, known)| table.effect_variance(word, known)).sum()
    }

    /// Confounding words, each with true if both values are known.
    fn confounding_words(&self) -> Vec<(&'a str, bool)> {
        let known = |values: &[Option<&str>; 2]| values.iter().all(Option::is_some);
        let words = self.differences.iter().map(|(d, values)| (internal_word(&d.what), known(values)));
        let words: Vec<(&str, bool)> = words.filter(|(word, _)| CONFOUNDING_WORDS.contains(word)).collect();
        if self.one_card && words.len() == 1 { Vec::new() } else { words }
    }
}

/// Words of a rig that affect speeds of any card. Bus mode and firmware belong to the card.
const CONFOUNDING_WORDS: [&str; 9] =
    ["recipe", "size", "state", "reader", "usb_host", "board", "board_clock", "cooling", "file_system"];

/// True if a difference affects speeds and was not requested.
pub(super) fn is_confounding(differs: &SettingDifference, by: &[&str]) -> bool {
    is_blamed(differs, by) && CONFOUNDING_WORDS.contains(&internal_word(&differs.what))
}

/// Word for its displayed form.
fn internal_word(shown: &str) -> &str {
    if shown == "test size" { "size" } else { shown }
}

/// Latencies of each test for which a column has any.
pub(super) fn compared_latencies(columns: &[ComparedColumn]) -> Vec<ComparedLatency> {
    let of = |key: &TestKey| ComparedLatency {
        test: key.0,
        step: key.1.clone(),
        entries: columns.iter().map(|c| combine_latencies(&c.test_runs(key)?.latencies)).collect(),
    };
    let all = test_keys(columns.iter()).into_iter().map(of);
    all.filter(|test| test.entries.iter().any(Option::is_some)).collect()
}

fn combine_latencies(runs: &[EntryLatency]) -> Option<EntryLatency> {
    let mean = |of: fn(&EntryLatency) -> Option<f64>| {
        let known: Vec<f64> = runs.iter().filter_map(of).collect();
        (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
    };
    Some(EntryLatency {
        n: runs.len() as u32,
        mean_us: mean(|run| Some(run.mean_us))?,
        percentiles_us: LatencyPercentiles {
            p50: mean(|run| run.percentiles_us.p50),
            p99: mean(|run| run.percentiles_us.p99),
            p999: mean(|run| run.percentiles_us.p999),
        },
        max_us: runs.iter().filter_map(|run| run.max_us).reduce(f64::max),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_are_averaged_and_the_longest_is_kept() {
        let run = |mean_us, p99, max_us| EntryLatency {
            n: 1,
            mean_us,
            percentiles_us: LatencyPercentiles { p99, ..LatencyPercentiles::default() },
            max_us,
        };
        let all =
            combine_latencies(&[run(400.0, Some(900.0), Some(5e3)), run(600.0, None, Some(7e3))]).unwrap();
        assert_eq!(
            (all.n, all.mean_us, all.percentiles_us.p99, all.max_us),
            (2, 500.0, Some(900.0), Some(7e3))
        );
        assert_eq!((all.percentiles_us.p50, combine_latencies(&[])), (None, None));
    }
}
