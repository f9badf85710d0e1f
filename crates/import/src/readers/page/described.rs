//! Descriptions of a card in a heading or a list: `64GB Example Fast microSDXC UHS-I Class U3 (EX64)`.
//!
//! Module `label` of `sd` parses the marks printed on cards; the rest, brand and name, is parsed here.

use crate::readers::trimmed_text;
use cardscope_model::card::CardFacts;
use cardscope_sd::label::{CardLabel, parse};

/// Words that end the name.
const RATINGS: [&str; 7] = ["class", "speed", "video", "application", "performance", "uhs", "card"];

/// Forms as spelled in the standards.
const FORMS: [&str; 9] =
    ["microSDHC", "microSDXC", "microSDUC", "microSDSC", "microSD", "SDHC", "SDXC", "SDUC", "SD"];

/// A card, and the text in brackets after it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct DescribedCard {
    pub(super) card: CardFacts,
    /// Content of each pair of brackets.
    pub(super) brackets: Vec<String>,
}

/// Parses a description. Any other text becomes the name of a card without further facts.
pub(super) fn parse_description(text: &str) -> DescribedCard {
    let (outside, brackets) = without_brackets(text);
    // A comma begins an explanation.
    let (main, after) = outside.split_once(", ").unwrap_or((&outside, ""));
    let mut card = CardFacts::default();
    if let Ok(label) = parse(&with_spelled_speed_class(&outside)) {
        let buses = label.buses.iter().map(ToString::to_string);
        card.marks = buses.chain(label.marks.iter().map(ToString::to_string)).collect();
        card.capacity_label = label.capacity.map(|capacity| capacity.printed);
    }
    let words = || main.split_whitespace().map(trim_signs).filter(|word| !word.is_empty());
    card.form = words().find_map(card_form);
    let mut names = words().filter(|word| !is_capacity(word)).take_while(|word| !is_rating(word));
    card.brand = names.next().map(str::to_owned);
    card.name = trimmed_text(&names.collect::<Vec<_>>().join(" "));
    card.note = trimmed_text(after).filter(|n| !n.split_whitespace().all(|word| is_rating(trim_signs(word))));
    DescribedCard { card, brackets }
}

/// True for a word that is a size and nothing else.
fn is_capacity(word: &str) -> bool {
    parse(word).is_ok_and(|label| label.capacity.is_some() && label.unknown.is_empty())
}

fn card_form(word: &str) -> Option<String> {
    FORMS.iter().find(|form| form.eq_ignore_ascii_case(word)).map(|form| (*form).to_owned())
}

fn is_rating(word: &str) -> bool {
    let says_something = |label: CardLabel| !label.marks.is_empty() || !label.buses.is_empty();
    card_form(word).is_some()
        || RATINGS.contains(&word.to_lowercase().as_str())
        || parse(word).is_ok_and(says_something)
}

/// Word without the signs around it: `“1TB”`, `Example®`.
fn trim_signs(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric() && c != '+')
}

/// Replaces `UHS-I Class 3` by U3: after the bus, 1 and 3 are UHS grades.
fn with_spelled_speed_class(text: &str) -> String {
    let mut out: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let grade = matches!(trim_signs(word), "1" | "3")
            && matches!(out.as_slice(), [.., bus, class]
            if bus.to_lowercase().starts_with("uhs-") && class.eq_ignore_ascii_case("class"));
        if grade {
            out.pop();
            out.push(format!("U{word}"));
        } else {
            out.push(word.to_owned());
        }
    }
    out.join(" ")
}

/// Text outside of brackets, and the content of these. A bracket that is never closed extends to the end.
fn without_brackets(text: &str) -> (String, Vec<String>) {
    let (mut outside, mut brackets, mut rest) = (String::new(), Vec::new(), text);
    while let Some((before, after)) = rest.split_once('(') {
        outside.push_str(before);
        let (inside, after) = after.split_once(')').unwrap_or((after, ""));
        brackets.push(inside.trim().to_owned());
        rest = after;
    }
    outside.push_str(rest);
    (outside.split_whitespace().collect::<Vec<_>>().join(" "), brackets)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_words(text: &str) -> String {
        let card = parse_description(text).card;
        let words = [card.brand, card.name, card.capacity_label, card.form].map(Option::unwrap_or_default);
        format!("{} | {}", words.join(" | "), card.marks.join(" "))
    }

    #[test]
    fn description_is_parsed_in_any_order() {
        for (text, card) in [
            (
                "16GB Example Swift MicroSDHC UHS-I Class U1 (9€)",
                "Example | Swift | 16GB | microSDHC | UHS-I U1",
            ),
            ("Example 4Gb Class 4 microSDHC", "Example |  | 4GB | microSDHC | C4"),
            ("1TB Example® GO PRO (EX1T)", "Example | GO PRO | 1TB |  | "),
            ("8GB MicroSDHC, likely Example (unknown)", " |  | 8GB | microSDHC | "),
            (
                "256GB Example EVO+ MicroSDXC UHS-I Class 3 Video Speed Class V30 Application Performance Class A2",
                "Example | EVO+ | 256GB | microSDXC | UHS-I U3 V30 A2",
            ),
            ("32GB Example MicroSDHC Speed Class 10 (5€", "Example |  | 32GB | microSDHC | C10"),
            ("“2TB” (50GB real) Exampel MicroSDXC, plus a 4K logo", "Exampel |  | 2TB | microSDXC | "),
        ] {
            assert_eq!(in_words(text), card, "{text}");
        }
    }

    #[test]
    fn brackets_and_text_after_a_comma_are_kept() {
        let fake = parse_description("“2TB” (50GB real) Exampel MicroSDXC, plus a 4K logo (free");
        assert_eq!(fake.brackets, ["50GB real", "free"]);
        assert_eq!(fake.card.note.as_deref(), Some("plus a 4K logo"));
    }
}
