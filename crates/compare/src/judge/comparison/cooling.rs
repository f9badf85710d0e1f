//! Gain by active cooling: a card's speeds with and without it, over all tests.

use super::columns::{ComparedColumn, PairBasis, find_differences, is_blamed};
use super::overall::overall_results;
use cardscope_model::comparison::{CoolingGain, OverallFactor};
use cardscope_statistics::priors::SpreadTable;

/// Words that may differ, since cooling is what is compared.
const COOLING_WORDS: [&str; 2] = ["cooling", "cooling_of"];

/// Gain of each card that was measured both ways and otherwise alike.
pub(super) fn cooling_gains(columns: &[ComparedColumn], table: &SpreadTable) -> Vec<CoolingGain> {
    let cooled = |how: &'static str| columns.iter().filter(move |column| is_cooled(column, how));
    let of_card = |active| cooled("passive").filter_map(move |passive| cooling_gain(active, passive, table));
    cooled("active").flat_map(of_card).collect()
}

/// True if all runs of a column had this cooling, and it did not cool anything but the card.
fn is_cooled(column: &ComparedColumn, how: &str) -> bool {
    let settings = &column.entry.settings;
    let same = |word: &str, known: &str| {
        settings.iter().all(|setting| setting.value(word).is_none_or(|value| value == known))
    };
    settings.iter().all(|setting| setting.value("cooling").as_deref() == Some(how))
        && same("cooling_of", "card")
}

fn cooling_gain(
    active: &ComparedColumn,
    passive: &ComparedColumn,
    table: &SpreadTable,
) -> Option<CoolingGain> {
    if active.entry.card_id != passive.entry.card_id {
        return None;
    }
    let both = [active.clone(), passive.clone()];
    let differs = find_differences(&both);
    if !differs.iter().filter(|d| is_blamed(d, &[])).all(|d| COOLING_WORDS.contains(&d.what.as_str())) {
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
