//! Effect of each change of a word by which the cards were divided: board, clock, fan, size; and the gain by a fan of each card
//! that was measured with and without one.

use super::answer::grade_and_chance;
use cardscope_model::comparison::{
    ChanceGrade, ChangeEffect, ChangedTest, Comparison, CoolingGain, NOTABLE_CHANGE,
};
use cardscope_model::report::NewsTone;
use cardscope_model::statistics::distinct_values;
use cardscope_model::test_name::TestName;
use cardscope_model::units::{NO_NUMBER as NONE, three_digits, three_digits as speed};
use cardscope_page::figure::{pluralize, test_with_step};
use cardscope_page::tree::table::Table;
use cardscope_page::tree::{Page, PageBlock};

/// More changes, or cards with a fan, get a section, since a page has few reasons.
const MOST_REASONS: usize = 3;

/// Adds a reason for each of a few changes, and a table of all tests and changes.
pub(crate) fn add_changes(page: &mut Page, comparison: &Comparison) {
    let changes = &comparison.changes;
    if changes.len() <= MOST_REASONS {
        page.add_reasons(NewsTone::Plain, changes.iter().filter_map(change_sentence).collect::<Vec<_>>());
    }
    let table = change_table(changes);
    if !table.rows().is_empty() {
        let meaning = "Geometric mean over the cards measured both ways and otherwise alike; in brackets how many of them gain \
                       more than 3 %.";
        let meaning = PageBlock::Words(meaning.to_owned());
        page.add_section("What each change is worth", [PageBlock::Table(table), meaning]);
    }
}

/// Table with a row for each test and a column for each change.
fn change_table(changes: &[ChangeEffect]) -> Table {
    let heads = changes.iter().map(|change| format!("{} → {}", change.from, change.to));
    let mut table = Table::new(["test".to_owned()].into_iter().chain(heads)).side_by_side();
    for (test, step) in distinct_values(changes.iter().flat_map(|change| &change.tests).map(test_key)) {
        let cell = |change: &ChangeEffect| {
            let found = change.tests.iter().find(|other| test_key(other) == (test, step));
            found.map_or(NONE.to_owned(), |test| {
                format!("{} ({} of {})", ratio_text(test.factor), test.faster, test.cards)
            })
        };
        table.add_row([test_with_step(test, step)].into_iter().chain(changes.iter().map(cell)));
    }
    table
}

fn test_key(test: &ChangedTest) -> (TestName, Option<&str>) {
    (test.test, test.step.as_deref())
}

fn ratio_text(factor: f64) -> String {
    format!("{} ×", three_digits(factor))
}

/// Sentence with the test that gains most and the one that gains least.
fn change_sentence(change: &ChangeEffect) -> Option<String> {
    let by_factor = |a: &&ChangedTest, b: &&ChangedTest| a.factor.total_cmp(&b.factor);
    let least = change.tests.iter().min_by(by_factor)?;
    let most = change.tests.iter().max_by(by_factor)?;
    let cards = pluralize(change.tests.iter().map(|test| test.cards).max()?, "card");
    let range = match change.tests.len() {
        1 => test_phrase(most),
        _ => format!("{}, {}", test_phrase(most), test_phrase(least)),
    };
    Some(format!("{} against {}: {range} ({cards}).", change.to, change.from))
}

/// Phrase for a test; a change too small to be noticed counts as no change.
fn test_phrase(test: &ChangedTest) -> String {
    let noticed = test.factor.ln().abs() > NOTABLE_CHANGE.ln_1p();
    let worth = if noticed { ratio_text(test.factor) } else { "no change".to_owned() };
    format!("{worth} in {}", test_with_step(test.test, test.step.as_deref()))
}

/// Adds a line for each card: to the reasons of the page if they are few.
pub(crate) fn add_cooling(page: &mut Page, comparison: &Comparison) {
    let lines: Vec<String> = comparison.cooling.iter().map(gain_sentence).collect();
    if lines.len() <= MOST_REASONS {
        page.add_reasons(NewsTone::Plain, lines);
    } else {
        page.add_detail("What a fan is worth", [PageBlock::Lines(lines)]);
    }
}

fn gain_sentence(gain: &CoolingGain) -> String {
    let CoolingGain { name, factor, tests, probability_faster, .. } = gain;
    let chance = if *factor < 1.0 { 1.0 - probability_faster } else { *probability_faster };
    let grade = ChanceGrade::from_chance(chance);
    let sure = format!("({}, {})", pluralize(*tests, "test"), grade_and_chance(grade, chance));
    let percent = |share: f64| format!("{} %", speed(100.0 * share));
    match *factor {
        _ if grade == ChanceGrade::Even => format!("A fan makes no clear difference to {name} {sure}."),
        factor if factor < 1.0 => format!("{name} is {} slower with a fan {sure}.", percent(1.0 - factor)),
        factor => format!("A fan is worth {} for {name} {sure}.", percent(factor - 1.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(factors: &[f64]) -> ChangeEffect {
        let tests = ["SEQ1M Q1T1", "RND4K Q1T1"].iter().zip(factors).map(|(pattern, factor)| ChangedTest {
            test: format!("{pattern} read").parse().unwrap(),
            step: None,
            cards: 8,
            faster: if *factor > 1.03 { 8 } else { 0 },
            factor: *factor,
            factor_ci95: Some([0.99 * factor, 1.01 * factor]),
            lowest: 0.9 * factor,
            highest: 1.1 * factor,
        });
        ChangeEffect { from: "Pi 3".into(), to: "Pi 4".into(), tests: tests.collect() }
    }

    fn page(changes: Vec<ChangeEffect>) -> String {
        let mut page = Page::from_answer("answer".to_owned());
        add_changes(&mut page, &Comparison { changes, ..Comparison::default() });
        page.to_text()
    }

    #[test]
    fn change_names_the_largest_and_smallest_gain() {
        let said = page(vec![change(&[1.99, 1.012])]);
        let line = "Pi 4 against Pi 3: 1.99 × in SEQ1M Q1T1 read, no change in RND4K Q1T1 read";
        assert!(said.contains(line), "{said}");
        assert!(said.contains("1.99 × (8 of 8)") && said.contains("1.01 × (0 of 8)"), "{said}");
        let one = page(vec![change(&[1.99])]);
        assert!(one.contains("Pi 4 against Pi 3: 1.99 × in SEQ1M Q1T1 read (8 cards)."), "{one}");
    }

    #[test]
    fn many_changes_are_a_table_only() {
        let many = page(vec![change(&[1.5]); 4]);
        assert!(!many.contains("against") && many.matches("Pi 3 → Pi 4").count() == 4, "{many}");
        assert_eq!(page(Vec::new()), Page::from_answer("answer".to_owned()).to_text());
    }

    fn gain(factor: f64, probability_faster: f64) -> CoolingGain {
        CoolingGain { name: "Lexar".into(), factor, ci95: [factor; 2], tests: 12, probability_faster }
    }

    #[test]
    fn fan_gain_is_stated_unless_it_is_chance() {
        assert_eq!(
            gain_sentence(&gain(1.284, 0.997)),
            "A fan is worth 28.4 % for Lexar (12 tests, almost certain, 99.7 %)."
        );
        assert_eq!(
            gain_sentence(&gain(0.9, 0.1)),
            "Lexar is 10.0 % slower with a fan (12 tests, likely, 90 %)."
        );
        assert_eq!(
            gain_sentence(&gain(1.01, 0.55)),
            "A fan makes no clear difference to Lexar (12 tests, even, 55 %)."
        );
    }

    #[test]
    fn many_fan_gains_are_a_section() {
        let with = |cards: usize| {
            let mut page = Page::from_answer("answer".to_owned());
            add_cooling(
                &mut page,
                &Comparison { cooling: vec![gain(1.3, 0.99); cards], ..Comparison::default() },
            );
            page.to_text()
        };
        assert_eq!(with(3).matches("• A fan is worth").count(), 3);
        assert!(!with(4).contains("• A fan is worth") && with(4).contains("What a fan is worth"));
        assert!(!with(0).contains("fan"));
    }
}
