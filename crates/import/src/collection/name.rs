//! A card as a table names it: `Samsung Pro Endurance U1 32GB`.
//!
//! Not as a page describes it (`page::described`): a sentence ends its name at the first mark, explains behind commas and
//! adds brackets, where in a table every word that is neither mark nor size belongs to the name.

use cardscope_model::card::CardFacts;
use cardscope_model::label;

/// Brand, name, size and marks. The brand is the first word; words with marks and sizes are no part of the name.
pub(super) fn card_named(text: &str) -> CardFacts {
    let mut card = CardFacts::default();
    if let Ok(label) = label::parse(text) {
        card.capacity_label = label.capacity.map(|capacity| capacity.printed);
        card.marks = label.marks.iter().map(ToString::to_string).collect();
    }
    let mut words = text.split_whitespace().filter(|word| !is_printed(word));
    card.brand = words.next().map(str::to_owned);
    card.name = Some(words.collect::<Vec<_>>().join(" ")).filter(|name| !name.is_empty());
    card
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
        assert_eq!(card_named(""), CardFacts::default());
    }
}
