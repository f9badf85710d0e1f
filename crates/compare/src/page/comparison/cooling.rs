//! Gain by a fan of each card that was measured with and without one.

use super::answer::grade_and_chance;
use cardscope_model::comparison::{ChanceGrade, Comparison, CoolingGain};
use cardscope_model::report::NewsTone;
use cardscope_model::units::three_digits as speed;
use cardscope_page::figure::pluralize;
use cardscope_page::tree::{Page, PageBlock};

/// More cards than this get a section, since a page has few reasons.
const MOST_REASONS: usize = 3;

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
