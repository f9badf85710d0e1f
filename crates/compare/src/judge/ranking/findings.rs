//! Findings on the order of cards as a whole.

use super::figures::RIG_WORDS;
use cardscope_model::condition::word_in_sentence;
use cardscope_model::finding::{Finding, FindingWeight};
use cardscope_model::ranking::RankedCard;
use cardscope_model::statistics::distinct_values;
use std::collections::BTreeSet;

/// Values of a word that are named; the others are counted.
const MOST_NAMED: usize = 4;

pub(super) fn ranking_findings(places: &[RankedCard]) -> Vec<Finding> {
    [tools_finding, rig_finding, currencies_finding].iter().filter_map(|find| find(places)).collect()
}

fn tools_finding(places: &[RankedCard]) -> Option<Finding> {
    let settings = places.iter().flat_map(|p| &p.entry.settings);
    let tools: BTreeSet<&str> = settings.map(|s| s.recipe.as_str()).collect();
    (tools.len() > 1).then(|| {
        let named = tools.into_iter().collect::<Vec<_>>().join(", ");
        let verdict = format!("The cards were measured with different tools ({named}).");
        Finding::new("several-tools", FindingWeight::Hint, 1.0, verdict)
            .with_advice("Select one with --condition recipe=NAME.")
    })
}

/// Different conditions, which affect the order in addition to the cards.
fn rig_finding(places: &[RankedCard]) -> Option<Finding> {
    let differing = RIG_WORDS.iter().filter_map(|word| differing_values(word, places));
    let differing: Vec<(String, String)> = differing.collect();
    let words: Vec<String> = differing.iter().map(|(word, _)| word_in_sentence(word)).collect();
    let words = words.join(", ");
    let verdict =
        format!("The cards were measured under different conditions ({words}), which affects their order.");
    let finding = Finding::new("not-the-card-alone", FindingWeight::Hint, 1.0, verdict);
    let finding = finding.with_advice("Select one with --condition WORD=VALUE.");
    (!words.is_empty()).then_some(Finding { evidence: differing, ..finding })
}

/// Values of a word, if there are several; unknown counts as one.
fn differing_values(word: &str, places: &[RankedCard]) -> Option<(String, String)> {
    let settings = places.iter().flat_map(|p| &p.entry.settings);
    let values = distinct_values(settings.map(|s| s.value(word).unwrap_or_else(|| "unknown".to_owned())));
    let more = values.len().saturating_sub(MOST_NAMED);
    let named = values.iter().take(MOST_NAMED).cloned().collect::<Vec<_>>().join(", ");
    let named = if more > 0 { format!("{named} and {more} more") } else { named };
    (values.len() > 1).then(|| (word.to_owned(), named))
}

fn currencies_finding(places: &[RankedCard]) -> Option<Finding> {
    let prices = places.iter().filter_map(|p| p.price.as_ref());
    let currencies: BTreeSet<&str> = prices.map(|price| price.currency.as_str()).collect();
    (currencies.len() > 1).then(|| {
        let named = currencies.into_iter().collect::<Vec<_>>().join(" and ");
        let verdict = format!("Prices are in {named}, as paid, and are not converted.");
        Finding::new("currencies", FindingWeight::Note, 1.0, verdict)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::comparison::ComparedEntry;
    use cardscope_model::condition::Condition;
    use cardscope_model::setting::Setting;

    fn place(name: &str, condition: &str) -> RankedCard {
        let mut words = Condition::default();
        words.set_stated(condition).unwrap();
        let settings = vec![Setting { condition: words, ..Setting::default() }];
        let entry = ComparedEntry { name: name.into(), settings, ..ComparedEntry::default() };
        RankedCard { entry, value: 1.0, ..RankedCard::default() }
    }

    #[test]
    fn different_cooling_is_a_finding() {
        let found = rig_finding(&[place("A", "cooling=active"), place("B", "cooling=passive")]).unwrap();
        assert_eq!(found.claim, "not-the-card-alone");
        assert_eq!(found.evidence, [("cooling".to_owned(), "active, passive".to_owned())]);
        assert_eq!(rig_finding(&[place("A", "cooling=active"), place("B", "cooling=active")]), None);
        let unknown = rig_finding(&[place("A", "cooling=active"), place("B", "room_c=20")]).unwrap();
        assert_eq!(unknown.evidence[0].1, "active, unknown");
    }
}
