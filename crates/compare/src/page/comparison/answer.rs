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
    match &names[..] {
        [] => return "Nothing to compare.".to_owned(),
        [one] => return format!("One card only: {one}. Name a second card to compare it with."),
        _ => {}
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
        let cards = pluralize(names.len() as u64, "card");
        return format!("{cards} share no test, so no speed can be compared.");
    }
    let leads = |s: usize| tests.iter().filter(|all| fastest_side(all).is_some_and(|(f, _)| f == s)).count();
    let chance = |entries: &Vec<usize>| overall_of(comparison, entries).map(|all| all.probability_best).sum();
    let chances: Vec<f64> = sides.iter().map(chance).collect();
    // If no card is likelier to be the best, the one that leads in most tests comes first; of equal ones the first.
    let even = chances.iter().all(|chance| ChanceGrade::from_chance(*chance) == ChanceGrade::Even);
    let before = |a: &usize, b: &usize| {
        let chance = |side: usize| if even { 0.0 } else { chances[side] };
        chance(*a).total_cmp(&chance(*b)).then(leads(*a).cmp(&leads(*b)))
    };
    let Some(winner) = (0..names.len()).rev().max_by(before) else { return "Nothing to compare.".to_owned() };
    let ratio = typical_ratio(&tests, winner);
    let typical = ratio.map(|factor| format!(", typically {} ×", three_digits(factor))).unwrap_or_default();
    let all_tests = pluralize(tests.len() as u64, "test");
    let lead = format!("{} of {all_tests}{typical}", leads(winner));
    // A longer sentence is used only if it fits.
    let fitting = |long: String, short: String| if long.width() <= ANSWER_COLUMNS { long } else { short };
    if comparison.overall.is_empty() {
        return format!("{} leads in {lead}.", names[winner]);
    }
    if even && names.len() > 2 {
        let mut likely: Vec<usize> = (0..names.len()).collect();
        likely.sort_by(|a, b| chances[*b].total_cmp(&chances[*a]));
        let chance = |side: &usize| format!("{} ({})", names[*side], percent(chances[*side]));
        let named: Vec<String> = likely.iter().take(2).map(chance).collect();
        let sentence =
            |n: &[String]| format!("No card is clearly the fastest; likeliest: {}.", join_names(n));
        return fitting(sentence(&named), sentence(&named[..1]));
    }
    if even && names.len() == 2 {
        let leads = format!("{} leads in {lead}.", names[winner]);
        return fitting(format!("{} and {} are even: {leads}", names[0], names[1]), format!("Even: {leads}"));
    }
    // Rig, tool, size or cooling of the winner differ from another entry, without being compared.
    let confounded =
        overall_of(comparison, &sides[winner]).next().is_some_and(|all| !all.confounded_by.is_empty());
    let grade = ChanceGrade::from_chance(chances[winner]);
    let sure =
        grade_and_chance(if confounded { grade.min(ChanceGrade::Likely) } else { grade }, chances[winner]);
    // A card that leads in few tests can be the best over all of them.
    if names.len() > 2 && ratio.is_some_and(|factor| factor < 1.0) {
        let lead = format!("{} is the fastest over {all_tests} together", names[winner]);
        return fitting(format!("{lead} ({sure})."), format!("{lead} ({}).", percent(chances[winner])));
    }
    let other = if names.len() == 2 { &names[1 - winner] } else { "the others" };
    let name = &names[winner];
    let shorter = format!("{name} leads in {lead} ({}).", percent(chances[winner]));
    let short = fitting(format!("{name} leads in {lead} ({sure})."), shorter);
    fitting(format!("{name} leads {other} in {lead} ({sure})."), short)
}

/// Overall results of these entries.
fn overall_of<'c>(comparison: &'c Comparison, entries: &[usize]) -> impl Iterator<Item = &'c OverallFactor> {
    comparison.overall.iter().filter(|all| is_result_of(comparison, entries, all))
}

/// True if an overall result is of one of these entries, or of their card.
fn is_result_of(comparison: &Comparison, entries: &[usize], all: &OverallFactor) -> bool {
    let names = entries.iter().map(|entry| comparison.entries[*entry].name.as_str());
    names.into_iter().any(|name| name == all.name || name.split(" · ").next() == Some(all.name.as_str()))
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
    let parts: Vec<(&str, &str)> = names.iter().map(|n| n.split_once(" · ").unwrap_or((n, ""))).collect();
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
        match cut(first(title, words)) {
            name if setting.is_empty() || !several(title) => name,
            name => format!("{name} ({})", cut(setting.to_owned())),
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
