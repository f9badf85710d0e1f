//! A card as a table names it: `Samsung Pro Endurance U1 32GB`.
//!
//! Not as a page describes it (`page::described`): a sentence ends its name at the first mark, explains behind commas and
//! adds brackets, where in a table every word that is neither mark nor size belongs to the name.

use cardscope_model::card::CardFacts;
use cardscope_sd::label;

/// Brand, name, size and marks. The brand is the first word; words with marks and sizes are no part of the name.
pub(crate) fn card_named(text: &str) -> CardFacts {
    let mut card = CardFacts::default();
    if let Ok(label) = label::parse(text) {
        card.capacity_label = label.capacity.map(|capacity| capacity.printed);
        card.marks = label.marks.iter().map(ToString::to_string).collect();
    }
    let named = without_printed(text);
    let mut words = named.split_whitespace();
    card.brand = words.next().map(str::to_owned);
    card.name = Some(words.collect::<Vec<_>>().join(" ")).filter(|name| !name.is_empty());
    card
}

/// The text without marks and sizes. What else stands in brackets with them keeps its brackets: `Example (old, C6)` is an
/// `Example (old)`.
fn without_printed(text: &str) -> String {
    let of_word = |word: &str| match is_printed(word) {
        true => word.chars().filter(|c| matches!(c, '(' | ')')).collect(),
        false => word.to_owned(),
    };
    let words: Vec<String> = text.split_whitespace().map(of_word).filter(|word| !word.is_empty()).collect();
    let tidied = [("( ", "("), (" )", ")"), (",)", ")"), ("()", "")];
    tidied.iter().fold(words.join(" "), |text, (from, to)| text.replace(from, to))
}

/// True for a word that is a mark or a size.
fn is_printed(word: &str) -> bool {
    let plain = word.trim_matches(|c: char| matches!(c, '(' | ')' | ','));
    label::parse(plain)
        .is_ok_and(|label| label.unknown.is_empty() && (label.capacity.is_some() || !label.marks.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_is_its_brand_name_size_and_marks() {
        let card = card_named("Example Pro+ U3 V30 A2 64GB");
        assert_eq!((card.brand.as_deref(), card.name.as_deref()), (Some("Example"), Some("Pro+")));
        assert_eq!(
            (card.capacity_label.as_deref(), card.marks.join(" ")),
            (Some("64GB"), "U3 V30 A2".to_owned())
        );
        assert_eq!(card_named("Example (C10) 16GB").name, None);
        for (text, name) in [
            ("Example Pi (1.4, C6) 8GB", "Pi (1.4)"),
            ("Example Turbo (U1, old) 16GB", "Turbo (old)"),
            ("Example Turbo (C10, U1) 16GB", "Turbo"),
            ("Example (C10 U1 of a friend) (red) 16GB", "(of a friend) (red)"),
        ] {
            assert_eq!(card_named(text).name.as_deref(), Some(name), "{text}");
        }
        assert_eq!(card_named(""), CardFacts::default());
    }
}
