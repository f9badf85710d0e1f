//! Who is fastest, in one sentence.

use crate::figure::{ANSWER, count, wrapped};
use cardscope_model::comparison::{ComparedTest, Comparison, Pair, Verdict};
use cardscope_model::statistics;
use cardscope_model::units::three_digits;
use unicode_width::UnicodeWidthStr;

/// Who is fastest, in a line: the winner of two, or of many the one that leads in most tests. Of several cards each stands
/// for the best of its settings; of one card its settings are compared.
pub(crate) fn answer(comparison: &Comparison) -> String {
    let sides = sides(comparison);
    let names = names(comparison, &sides);
    if names.len() < 2 {
        return match names.first() {
            Some(one) => format!("One card only: {one}. Name a second card to compare it with."),
            None => "Nothing to compare.".to_owned(),
        };
    }
    let tests: Vec<Vec<(usize, f64)>> =
        comparison.tests.iter().map(|test| means(test, &sides)).filter(|all| all.len() > 1).collect();
    let leads = |side: usize| {
        tests.iter().filter(|all| best(all).is_some_and(|(fastest, _)| fastest == side)).count()
    };
    let Some(winner) = (0..names.len()).max_by_key(|side| (leads(*side), std::cmp::Reverse(*side))) else {
        return "Nothing to compare.".to_owned();
    };
    if tests.is_empty() {
        return format!("{} share no test, so no speed can be compared.", count(names.len() as u64, "card"));
    }
    // The winner against the best of the others, over all tests in which both were measured.
    let ratios = tests.iter().filter_map(|all| against_the_best(all, winner));
    let ratios: Vec<f64> = ratios.filter(|ratio| ratio.is_normal()).collect();
    let logarithms: Vec<f64> = ratios.iter().map(|ratio| ratio.ln()).collect();
    let typical =
        statistics::mean(&logarithms).map(|mean| format!(", typically {} ×", three_digits(mean.exp())));
    let runner_up = (0..names.len()).filter(|side| *side != winner).map(leads).max().unwrap_or(0);
    if runner_up == leads(winner) {
        let each = format!("{} of {} each", runner_up, count(tests.len() as u64, "test"));
        return match &names[..] {
            [one, other] if one.width() + other.width() <= 2 * BRIEF - 8 => {
                format!("{one} and {other} are even: they lead in {each}.")
            }
            [_, _] => format!("The two are even: they lead in {each}."),
            _ => format!("No card leads: the best are ahead in {each}."),
        };
    }
    let lead =
        format!("{} of {}{}", leads(winner), count(tests.len() as u64, "test"), typical.unwrap_or_default());
    let mut pairs = comparison.tests.iter().flat_map(|test| &test.pairs).peekable();
    if pairs.peek().is_some() && !pairs.any(|pair| wins(&sides[winner], pair)) {
        return format!("{} is ahead in {lead}; not significant.", names[winner]);
    }
    let other = if names.len() == 2 { &names[1 - winner] } else { "the others" };
    let said = format!("{} leads {other} in {lead}.", names[winner]);
    if said.width() <= ANSWER { said } else { format!("{} leads in {lead}.", names[winner]) }
}

/// Who is compared, each with its entries: the cards, or the settings where all are of one card.
fn sides(comparison: &Comparison) -> Vec<Vec<usize>> {
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

/// Their names: a card that stands there with several settings is named without them.
fn names(comparison: &Comparison, sides: &[Vec<usize>]) -> Vec<String> {
    let name = |entries: &Vec<usize>| {
        let name = comparison.entries[entries[0]].name.as_str();
        if entries.len() > 1 { name.split(" · ").next().unwrap_or(name) } else { name }
    };
    brief(&sides.iter().map(name).collect::<Vec<_>>())
}

/// Whether one of these entries is significantly faster than one of another card.
fn wins(entries: &[usize], pair: &Pair) -> bool {
    let (faster, slower) = match pair.verdict {
        Verdict::FirstFaster => (pair.first, pair.second),
        Verdict::SecondFaster => (pair.second, pair.first),
        Verdict::Alike | Verdict::CannotTell => return false,
    };
    entries.contains(&faster) && !entries.contains(&slower)
}

/// Characters of a name in an answer, unless a word is longer.
const BRIEF: usize = 22;

/// Names for a sentence: of each as many words as set it apart from the others, and no more than have room. Of a card
/// that stands there several times, how it was measured is named, too: `Lexar (cooling active)`.
pub(crate) fn brief(names: &[&str]) -> Vec<String> {
    let parts: Vec<(&str, &str)> =
        names.iter().map(|name| name.split_once(" · ").unwrap_or((name, ""))).collect();
    let first = |name: &str, words: usize| name.split_whitespace().take(words).collect::<Vec<_>>().join(" ");
    let same = |one: &str, other: &str| one.to_lowercase() == other.to_lowercase();
    let several = |title: &str| parts.iter().filter(|(other, _)| same(other, title)).count() > 1;
    // Whether so many words set a card apart from the others; what differs in its setting alone is set apart by that.
    let alone = |of: usize, words: usize| {
        let (title, setting) = parts[of];
        parts.iter().enumerate().all(|(other, (name, measured))| {
            let another = !same(&first(name, words), &first(title, words));
            other == of || another || (same(name, title) && *measured != setting)
        })
    };
    let cut = |text: String| match wrapped(&text, BRIEF).first() {
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

/// The sides of a test that were measured, with their means; of several entries the fastest counts.
fn means(test: &ComparedTest, sides: &[Vec<usize>]) -> Vec<(usize, f64)> {
    let mean = |entry: &usize| test.spreads.get(*entry)?.as_ref().map(|spread| spread.mean);
    let measured = |entries: &Vec<usize>| {
        entries.iter().filter_map(mean).filter(|mean| mean.is_finite() && *mean > 0.0).max_by(f64::total_cmp)
    };
    sides.iter().enumerate().filter_map(|(side, entries)| Some((side, measured(entries)?))).collect()
}

fn best(all: &[(usize, f64)]) -> Option<(usize, f64)> {
    all.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1))
}

fn against_the_best(all: &[(usize, f64)], entry: usize) -> Option<f64> {
    let own = all.iter().find(|(of, _)| *of == entry)?.1;
    let others: Vec<(usize, f64)> = all.iter().copied().filter(|(of, _)| *of != entry).collect();
    Some(own / best(&others)?.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_name_in_a_sentence_has_as_many_words_as_set_it_apart() {
        let cards = ["SanDisk Extreme 32GB", "SanDisk Ultra 32GB", "ADATA Premier Extreme 256GB"];
        assert_eq!(brief(&cards), ["SanDisk Extreme", "SanDisk Ultra", "ADATA"]);
        let alike = "a card that somebody described at length";
        assert_eq!(brief(&[alike, alike]), ["a card that somebody…"; 2]);
        assert_eq!(brief(&["Lexar PLAY PRO 1TB"]), ["Lexar PLAY PRO 1TB"]);
        assert_eq!(brief(&["lexar LX1TB71", "Lexar PLAY PRO 1TB"]), ["lexar LX1TB71", "Lexar PLAY"]);
        let twice =
            ["Lexar PLAY PRO 1TB · cooling active", "Lexar PLAY PRO 1TB · cooling passive", "ADATA SD71"];
        assert_eq!(brief(&twice), ["Lexar (cooling active)", "Lexar (cooling passive)", "ADATA"]);
    }

    /// Entries of these cards, faster from the first to the last, of which only the pair of the last two is significant.
    fn compared(cards: &[&str]) -> Comparison {
        let mut comparison = sample::comparison(cards.len(), 3, 1);
        for (number, (entry, card)) in comparison.entries.iter_mut().zip(cards).enumerate() {
            (entry.card_id, entry.name) = ((*card).to_owned(), format!("{card} · setting {number}"));
        }
        let last = cards.len() - 1;
        for pair in &mut comparison.tests[0].pairs {
            let sure = (pair.first, pair.second) == (last - 1, last);
            pair.verdict = if sure { Verdict::FirstFaster } else { Verdict::CannotTell };
        }
        for (number, spread) in comparison.tests[0].spreads.iter_mut().enumerate() {
            if let Some(spread) = spread {
                spread.mean = 90.0 - 10.0 * number as f64;
            }
        }
        comparison
    }

    #[test]
    fn only_what_the_winner_wins_for_sure_makes_it_lead() {
        let said = answer(&compared(&["Alder", "Birch", "Cedar"]));
        assert_eq!(said, "Alder is ahead in 1 of 1 test, typically 1.12 ×; not significant.");
        assert_eq!(
            answer(&compared(&["Alder", "Birch"])),
            "Alder leads Birch in 1 of 1 test, typically 1.12 ×."
        );
    }

    #[test]
    fn settings_of_one_card_are_no_rivals_of_it_and_alone_they_are_compared() {
        let said = answer(&compared(&["Alder", "Alder", "Birch"]));
        assert_eq!(said, "Alder leads Birch in 1 of 1 test, typically 1.29 ×.");
        let alone = answer(&compared(&["Alder", "Alder"]));
        assert!(alone.starts_with("Alder (setting 0) leads Alder (setting 1) in 1 of 1 test"), "{alone}");
        let sure_among_settings = answer(&compared(&["Birch", "Alder", "Alder"]));
        assert_eq!(sure_among_settings, "Birch is ahead in 1 of 1 test, typically 1.12 ×; not significant.");
    }
}
