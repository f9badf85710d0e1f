//! Answer of a comparison: the fastest card, in one sentence.

use cardscope_model::comparison::{ChanceGrade, ComparedTest, Comparison, OverallFactor};
use cardscope_model::statistics;
use cardscope_model::units::three_digits;
use cardscope_page::figure::{ANSWER_COLUMNS, join_names, percent, pluralize, wrap_text};
use unicode_width::UnicodeWidthStr;

/// Sentence on the fastest card over all tests, with its chance to be so; for cards that share no test, on the one that leads
/// in most. A card counts with the best of its settings; the settings of a single card are compared with each other.
pub(crate) fn comparison_answer(comparison: &Comparison) -> String {
    let sides = compared_sides(comparison);
    let names = side_names(comparison, &sides);
    if names.len() < 2 {
        return match names.first() {
            Some(one) => format!("One card only: {one}. Name a second card to compare it with."),
            None => "Nothing to compare.".to_owned(),
        };
    }
    // Of several settings, those count that represent their card in the overall result.
    let counted = |entries: &Vec<usize>| -> Vec<usize> {
        let is = |entry: &usize| comparison.overall.iter().any(|o| o.name == comparison.entries[*entry].name);
        let found: Vec<usize> = entries.iter().copied().filter(is).collect();
        if found.is_empty() { entries.clone() } else { found }
    };
    let sides: Vec<Vec<usize>> = sides.iter().map(counted).collect();
    let tests: Vec<Vec<(usize, f64)>> =
        comparison.tests.iter().map(|test| side_means(test, &sides)).filter(|all| all.len() > 1).collect();
    if tests.is_empty() {
        return format!(
            "{} share no test, so no speed can be compared.",
            pluralize(names.len() as u64, "card")
        );
    }
    let leads = |side: usize| {
        tests.iter().filter(|all| fastest_side(all).is_some_and(|(fastest, _)| fastest == side)).count()
    };
    let chances: Vec<f64> = sides.iter().map(|entries| chance_of_best(comparison, entries)).collect();
    // If no card is likelier to be the best, the one that leads in most tests comes first; of equal ones the first.
    let even = chances.iter().all(|chance| ChanceGrade::from_chance(*chance) == ChanceGrade::Even);
    let before = |a: &usize, b: &usize| {
        let chance = |side: usize| if even { 0.0 } else { chances[side] };
        chance(*a).total_cmp(&chance(*b)).then(leads(*a).cmp(&leads(*b)))
    };
    let Some(winner) = (0..names.len()).rev().max_by(before) else { return "Nothing to compare.".to_owned() };
    let typical =
        typical_ratio(&tests, winner).map(|factor| format!(", typically {} ×", three_digits(factor)));
    let lead = format!(
        "{} of {}{}",
        leads(winner),
        pluralize(tests.len() as u64, "test"),
        typical.unwrap_or_default()
    );
    if comparison.overall.is_empty() {
        return format!("{} leads in {lead}.", names[winner]);
    }
    if even && names.len() > 2 {
        let mut likely: Vec<usize> = (0..names.len()).collect();
        likely.sort_by(|a, b| chances[*b].total_cmp(&chances[*a]));
        let chance = |side: &usize| format!("{} ({})", names[*side], percent(chances[*side]));
        let named: Vec<String> = likely.iter().take(2).map(chance).collect();
        let said =
            |named: &[String]| format!("No card is clearly the fastest; likeliest: {}.", join_names(named));
        let both = said(&named);
        return if both.width() <= ANSWER_COLUMNS { both } else { said(&named[..1]) };
    }
    if even && names.len() == 2 {
        let said = format!("{} and {} are even", names[0], names[1]);
        let whole = format!("{said}: {} leads in {lead}.", names[winner]);
        return if whole.width() <= ANSWER_COLUMNS {
            whole
        } else {
            format!("Even: {} leads in {lead}.", names[winner])
        };
    }
    let sure = match (ChanceGrade::from_chance(chances[winner]), is_confounded(comparison, &sides[winner])) {
        (grade, true) => grade.min(ChanceGrade::Likely),
        (grade, false) => grade,
    };
    let sure = grade_and_chance(sure, chances[winner]);
    // A card that leads in few tests can be the best over all of them.
    if names.len() > 2 && typical_ratio(&tests, winner).is_some_and(|factor| factor < 1.0) {
        let lead = format!(
            "{} is the fastest over {} together",
            names[winner],
            pluralize(tests.len() as u64, "test")
        );
        let whole = format!("{lead} ({sure}).");
        return if whole.width() <= ANSWER_COLUMNS {
            whole
        } else {
            format!("{lead} ({}).", percent(chances[winner]))
        };
    }
    let other = if names.len() == 2 { &names[1 - winner] } else { "the others" };
    // The longest sentence that fits is used.
    let whole = format!("{} leads {other} in {lead} ({sure}).", names[winner]);
    let shorter = format!("{} leads in {lead} ({sure}).", names[winner]);
    let short = format!("{} leads in {lead} ({}).", names[winner], percent(chances[winner]));
    [whole, shorter].into_iter().find(|said| said.width() <= ANSWER_COLUMNS).unwrap_or(short)
}

/// Chance that the best entry is one of these.
fn chance_of_best(comparison: &Comparison, entries: &[usize]) -> f64 {
    let of = |all: &&OverallFactor| is_result_of(comparison, entries, all);
    comparison.overall.iter().filter(of).map(|all| all.probability_best).sum()
}

/// True if an overall result is of one of these entries, or of their card.
fn is_result_of(comparison: &Comparison, entries: &[usize], all: &OverallFactor) -> bool {
    let names = entries.iter().map(|entry| comparison.entries[*entry].name.as_str());
    names.into_iter().any(|name| name == all.name || name.split(" · ").next() == Some(all.name.as_str()))
}

/// True if rig, tool, size or cooling of the best of these entries differ from another entry, without being compared.
fn is_confounded(comparison: &Comparison, entries: &[usize]) -> bool {
    let of = |all: &&OverallFactor| is_result_of(comparison, entries, all);
    comparison.overall.iter().find(of).is_some_and(|all| !all.confounded_by.is_empty())
}

/// Typical ratio of a side to the best of the others, over all tests that both have.
fn typical_ratio(tests: &[Vec<(usize, f64)>], side: usize) -> Option<f64> {
    let ratios = tests.iter().filter_map(|all| ratio_to_best(all, side)).filter(|ratio| ratio.is_normal());
    let logarithms: Vec<f64> = ratios.map(f64::ln).collect();
    Some(statistics::mean(&logarithms)?.exp())
}

/// A chance with its name: `likely, 85 %`.
pub(crate) fn grade_and_chance(grade: ChanceGrade, chance: f64) -> String {
    let word = match grade {
        ChanceGrade::Even => "even",
        ChanceGrade::Leans => "leans",
        ChanceGrade::Likely => "likely",
        ChanceGrade::AlmostCertain => "almost certain",
    };
    format!("{word}, {}", percent(chance))
}

/// Compared sides, each with its entries: the cards, or the settings of a single card.
fn compared_sides(comparison: &Comparison) -> Vec<Vec<usize>> {
    let mut cards: Vec<(&str, Vec<usize>)> = Vec::new();
    for (number, entry) in comparison.entries.iter().enumerate() {
        match cards.iter_mut().find(|(card, _)| *card == entry.card_id) {
            Some((_, entries)) => entries.push(number),
            None => cards.push((&entry.card_id, vec![number])),
        }
    }
    match &cards[..] {
        [(_, settings)] => settings.iter().map(|setting| vec![*setting]).collect(),
        _ => cards.into_iter().map(|(_, entries)| entries).collect(),
    }
}

/// Names of the sides; a card with several settings is named without them.
fn side_names(comparison: &Comparison, sides: &[Vec<usize>]) -> Vec<String> {
    let name = |entries: &Vec<usize>| {
        let name = comparison.entries[entries[0]].name.as_str();
        if entries.len() > 1 { name.split(" · ").next().unwrap_or(name) } else { name }
    };
    short_names(&sides.iter().map(name).collect::<Vec<_>>())
}

/// Most characters of a name in an answer, unless its first word is longer.
const MOST_NAME_CHARS: usize = 22;

/// Short names for a sentence: as many words as distinguish a card from the others. A card with several settings is named
/// with its setting: `Lexar (cooling active)`.
pub(crate) fn short_names(names: &[&str]) -> Vec<String> {
    let parts: Vec<(&str, &str)> =
        names.iter().map(|name| name.split_once(" · ").unwrap_or((name, ""))).collect();
    let first = |name: &str, words: usize| name.split_whitespace().take(words).collect::<Vec<_>>().join(" ");
    let same = |one: &str, other: &str| one.to_lowercase() == other.to_lowercase();
    let several = |title: &str| parts.iter().filter(|(other, _)| same(other, title)).count() > 1;
    // True if this number of words distinguishes a card, other than from its own settings.
    let alone = |of: usize, words: usize| {
        let (title, setting) = parts[of];
        parts.iter().enumerate().all(|(other, (name, measured))| {
            let another = !same(&first(name, words), &first(title, words));
            other == of || another || (same(name, title) && *measured != setting)
        })
    };
    let cut = |text: String| match wrap_text(&text, MOST_NAME_CHARS).first() {
        Some(line) if *line != text => format!("{line}…"),
        _ => text,
    };
    let short = |of: usize| {
        let (title, setting) = parts[of];
        let all = title.split_whitespace().count();
        let words = (1..=all).find(|words| names.len() > 1 && alone(of, *words)).unwrap_or(all);
        let name = cut(first(title, words));
        if setting.is_empty() || !several(title) {
            name
        } else {
            format!("{name} ({})", cut(setting.to_owned()))
        }
    };
    (0..parts.len()).map(short).collect()
}

/// Sides with a mean in a test; of several entries the fastest counts.
fn side_means(test: &ComparedTest, sides: &[Vec<usize>]) -> Vec<(usize, f64)> {
    let mean = |entry: &usize| test.spreads.get(*entry)?.as_ref().map(|spread| spread.mean);
    let measured = |entries: &Vec<usize>| {
        entries.iter().filter_map(mean).filter(|mean| mean.is_finite() && *mean > 0.0).max_by(f64::total_cmp)
    };
    sides.iter().enumerate().filter_map(|(side, entries)| Some((side, measured(entries)?))).collect()
}

fn fastest_side(all: &[(usize, f64)]) -> Option<(usize, f64)> {
    all.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1))
}

fn ratio_to_best(all: &[(usize, f64)], entry: usize) -> Option<f64> {
    let own = all.iter().find(|(of, _)| *of == entry)?.1;
    let others: Vec<(usize, f64)> = all.iter().copied().filter(|(of, _)| *of != entry).collect();
    Some(own / fastest_side(&others)?.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_testkit::samples as sample;

    #[test]
    fn short_names_keep_distinguishing_words() {
        let cards = ["SanDisk Extreme 32GB", "SanDisk Ultra 32GB", "ADATA Premier Extreme 256GB"];
        assert_eq!(short_names(&cards), ["SanDisk Extreme", "SanDisk Ultra", "ADATA"]);
        let alike = "a card that somebody described at length";
        assert_eq!(short_names(&[alike, alike]), ["a card that somebody…"; 2]);
        assert_eq!(short_names(&["Lexar PLAY PRO 1TB"]), ["Lexar PLAY PRO 1TB"]);
        assert_eq!(short_names(&["lexar LX1TB71", "Lexar PLAY PRO 1TB"]), ["lexar LX1TB71", "Lexar PLAY"]);
        let twice =
            ["Lexar PLAY PRO 1TB · cooling active", "Lexar PLAY PRO 1TB · cooling passive", "ADATA SD71"];
        assert_eq!(short_names(&twice), ["Lexar (cooling active)", "Lexar (cooling passive)", "ADATA"]);
    }

    /// Comparison of these cards, in order of speed, each the best with this chance.
    fn compared(cards: &[(&str, f64)]) -> Comparison {
        let mut comparison = sample::comparison(cards.len(), 3, 1);
        for (number, (card, chance)) in cards.iter().enumerate() {
            let name = format!("{card} · setting {number}");
            (comparison.entries[number].card_id, comparison.entries[number].name) =
                ((*card).to_owned(), name.clone());
            let all = &mut comparison.overall[number];
            (all.name, all.probability_best) = (name, *chance);
        }
        for (number, spread) in comparison.tests[0].spreads.iter_mut().enumerate() {
            if let Some(spread) = spread {
                spread.mean = 90.0 - 10.0 * number as f64;
            }
        }
        comparison
    }

    #[test]
    fn answer_names_the_leader_with_its_chance() {
        let said =
            |chances: [f64; 2]| comparison_answer(&compared(&[("Alder", chances[0]), ("Birch", chances[1])]));
        assert_eq!(
            said([0.97, 0.03]),
            "Alder leads Birch in 1 of 1 test, typically 1.12 × (almost certain, 97 %)."
        );
        assert_eq!(said([0.85, 0.15]), "Alder leads Birch in 1 of 1 test, typically 1.12 × (likely, 85 %).");
        assert_eq!(
            said([0.55, 0.45]),
            "Alder and Birch are even: Alder leads in 1 of 1 test, typically 1.12 ×."
        );
    }

    #[test]
    fn confounded_lead_is_at_most_likely() {
        let mut comparison = compared(&[("Alder", 0.97), ("Birch", 0.03)]);
        comparison.overall[0].confounded_by = vec!["cooling".into()];
        assert!(
            comparison_answer(&comparison).ends_with("(likely, 97 %)."),
            "{}",
            comparison_answer(&comparison)
        );
    }

    #[test]
    fn settings_compete_only_if_there_is_one_card() {
        let said = comparison_answer(&compared(&[("Alder", 0.5), ("Alder", 0.4), ("Birch", 0.1)]));
        assert_eq!(said, "Alder leads Birch in 1 of 1 test, typically 1.29 × (likely, 90 %).");
        let alone = comparison_answer(&compared(&[("Alder", 0.9), ("Alder", 0.1)]));
        assert!(alone.starts_with("Alder (setting 0) leads in 1 of 1 test"), "{alone}");
    }
}
