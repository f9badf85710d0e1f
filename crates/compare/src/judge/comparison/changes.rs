//! Effect of changing the words by which cards were divided (board, clock, size), for each test, over all cards that were
//! measured both ways and otherwise alike; and the gain by active cooling, over all tests.

use super::columns::{
    ComparedColumn, PairBasis, TestKey, displayed_value, find_differences, is_blamed, is_confounding,
    test_keys,
};
use super::overall::overall_results;
use cardscope_model::comparison::{ChangeEffect, ChangedTest, CoolingGain, NOTABLE_CHANGE, OverallFactor};
use cardscope_model::statistics::mean;
use cardscope_statistics::estimate::estimate_values;
use cardscope_statistics::priors::SpreadTable;

/// A change with its values from and to, and the two columns of each card that was measured both ways.
type ChangePairs<'a> = (String, String, Vec<(&'a ComparedColumn, &'a ComparedColumn)>);

/// Every change between two values of these words; empty if the cards were not divided by words.
pub(super) fn find_changes(columns: &[ComparedColumn], by: &[&'static str]) -> Vec<ChangeEffect> {
    let mut found: Vec<ChangePairs> = Vec::new();
    for (number, first) in columns.iter().enumerate() {
        for second in columns[number + 1..].iter().filter(|second| is_changed(first, second, by)) {
            // Cards may have been measured in either order.
            let mut both = [(division_value(first, by), first), (division_value(second, by), second)];
            both.sort_by(|a, b| a.0.cmp(&b.0));
            let [(from, a), (to, b)] = both;
            match found.iter_mut().find(|known| (&known.0, &known.1) == (&from, &to)) {
                Some(known) => known.2.push((a, b)),
                None => found.push((from, to, vec![(a, b)])),
            }
        }
    }
    found.into_iter().filter_map(build_change).collect()
}

/// True if two columns are of one card and differ in these words, but in nothing else that affects speeds.
fn is_changed(first: &ComparedColumn, second: &ComparedColumn, by: &[&str]) -> bool {
    first.entry.card_id == second.entry.card_id
        && division_value(first, by) != division_value(second, by)
        && !find_differences([first, second]).iter().any(|differs| is_confounding(differs, by))
}

/// Value by which a column was divided: `Raspberry Pi 3 B, clock 100 MHz`.
fn division_value(column: &ComparedColumn, by: &[&str]) -> String {
    let setting = column.entry.settings.first();
    let of = |word: &&str| displayed_value(word, setting.and_then(|setting| setting.value(word)));
    by.iter().map(of).collect::<Vec<_>>().join(", ")
}

/// Builds a change from the slower to the faster value.
fn build_change((from, to, pairs): ChangePairs) -> Option<ChangeEffect> {
    let tests = changed_tests(&pairs);
    let all: Vec<f64> = tests.iter().map(|test| test.factor.ln()).collect();
    Some(match mean(&all)? < 0.0 {
        true => {
            let turned: Vec<_> = pairs.into_iter().map(|(first, second)| (second, first)).collect();
            ChangeEffect { from: to, to: from, tests: changed_tests(&turned) }
        }
        false => ChangeEffect { from, to, tests },
    })
}

fn changed_tests(pairs: &[(&ComparedColumn, &ComparedColumn)]) -> Vec<ChangedTest> {
    let all = test_keys(pairs.iter().flat_map(|(first, second)| [*first, *second]));
    let test = |key: &TestKey| {
        let logs = pairs.iter().filter_map(|(a, b)| Some((b.mean_speed(key)? / a.mean_speed(key)?).ln()));
        let logs: Vec<f64> = logs.collect();
        let over = estimate_values(&logs)?;
        let (test, step) = key.clone();
        Some(ChangedTest {
            test,
            step,
            cards: over.n,
            faster: logs.iter().filter(|log| **log > NOTABLE_CHANGE.ln_1p()).count() as u32,
            factor: over.mean.exp(),
            factor_ci95: over.ci95.map(|ends| ends.map(f64::exp)),
            lowest: over.worst.exp(),
            highest: over.best.exp(),
        })
    };
    all.into_iter().filter_map(test).collect()
}

/// Words that may differ, since cooling is what is compared.
const COOLING_WORDS: [&str; 2] = ["cooling", "cooling_of"];

/// Gain of each card that was measured both ways and otherwise alike.
pub(super) fn cooling_gains(columns: &[ComparedColumn], table: &SpreadTable) -> Vec<CoolingGain> {
    let cooled = |how: &'static str| columns.iter().filter(move |column| is_cooled(column, how));
    let of_card = |active| cooled("passive").filter_map(move |passive| fan_gain(active, passive, table));
    cooled("active").flat_map(of_card).collect()
}

/// True if all runs of a column had this cooling, and it did not cool anything but the card.
fn is_cooled(column: &ComparedColumn, how: &str) -> bool {
    column.entry.settings.iter().all(|s| {
        s.value("cooling").as_deref() == Some(how) && s.value("cooling_of").is_none_or(|v| v == "card")
    })
}

fn fan_gain(active: &ComparedColumn, passive: &ComparedColumn, table: &SpreadTable) -> Option<CoolingGain> {
    let both = [active.clone(), passive.clone()];
    let differs = find_differences(&both);
    let mut blamed = differs.iter().filter(|d| is_blamed(d, &[]));
    let alike = blamed.all(|d| COOLING_WORDS.contains(&d.what.as_str()));
    if active.entry.card_id != passive.entry.card_id || !alike {
        return None;
    }
    let all = overall_results(&both, PairBasis { differs: &differs, by: &[], table });
    let of = |column: &ComparedColumn| all.iter().find(|overall| overall.name == column.entry.name);
    let (cooled, uncooled) = (of(active)?, of(passive)?);
    Some(CoolingGain {
        name: active.entry.name.split(" · ").next().unwrap_or_default().to_owned(),
        factor: cooled.factor_to_best / uncooled.factor_to_best,
        ci95: gain_interval(cooled, uncooled),
        tests: cooled.tests,
        probability_faster: cooled.probability_best,
    })
}

/// Interval of the gain. Only the slower of the two columns has an interval, of its ratio to the other.
fn gain_interval(cooled: &OverallFactor, uncooled: &OverallFactor) -> [f64; 2] {
    let [low, high] = uncooled.ci95;
    if cooled.factor_to_best < 1.0 { cooled.ci95 } else { [1.0 / high, 1.0 / low] }
}
