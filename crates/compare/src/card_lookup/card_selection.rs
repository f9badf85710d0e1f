//! Selection of the card that a text means, the same in every verb that takes the name of a card.

use cardscope_model::archive_rows::StoredCard;
use cardscope_session::error::{Failure, Result};
use std::collections::{HashMap, HashSet};

/// Most cards that are listed if several match.
const MOST_LISTED: usize = 6;

/// Displayed digits of an id, which are enough to distinguish the hashes of any archive.
const SHOWN_DIGITS: usize = 8;

/// Selects the card that a text means. An exact title wins over titles that contain it.
///
/// # Errors
/// Refuses a text without a match, or with several, which are listed with their ids.
pub fn select_card(mut found: Vec<StoredCard>, text: &str) -> Result<StoredCard> {
    let text = text.trim();
    let is_exact = |card: &StoredCard| card.title.eq_ignore_ascii_case(text);
    if let Some(at) = found.iter().position(|card| card.id == text) {
        return Ok(found.swap_remove(at));
    }
    if found.iter().any(is_exact) {
        found.retain(is_exact);
    }
    match found.len() {
        1 => Ok(found.swap_remove(0)),
        0 => Err(no_card_refusal(text)),
        _ => {
            let cards = list_cards(&found);
            Err(Failure::refused(format!("{text:?} matches {cards}; name one of them, or give its id")))
        }
    }
}

pub fn no_card_refusal(text: &str) -> Failure {
    Failure::refused(format!(
        "no card {text:?}; `cardscope archive cards` lists those of the archive, with --builtin those that \
         come with the program"
    ))
}

/// Adds part of the id to titles that several cards have.
pub fn disambiguate_titles<'a>(cards: impl Iterator<Item = &'a mut StoredCard>) {
    let cards: Vec<&mut StoredCard> = cards.collect();
    let mut ids: HashMap<String, HashSet<String>> = HashMap::new();
    for card in &cards {
        ids.entry(card.title.to_lowercase()).or_default().insert(card.id.clone());
    }
    for card in cards {
        let shared = ids.get(&card.title.to_lowercase()).is_some_and(|ids| ids.len() > 1);
        if let Some(id) = short_id(card).filter(|_| shared) {
            card.title = format!("{} ({id})", card.title);
        }
    }
}

/// Beginning of an archive's id; `None` for a card of a file, whose id begins with the file's name.
fn short_id(card: &StoredCard) -> Option<&str> {
    card.id.get(..SHOWN_DIGITS).filter(|id| id.chars().all(|c| c.is_ascii_hexdigit()))
}

fn list_cards(cards: &[StoredCard]) -> String {
    let shown = |card: &StoredCard| format!("{:?} ({})", card.title, short_id(card).unwrap_or(&card.id));
    let named: Vec<String> = cards.iter().take(MOST_LISTED).map(shown).collect();
    let more = match cards.len().saturating_sub(MOST_LISTED) {
        0 => String::new(),
        1 => " or 1 other".to_owned(),
        others => format!(" or {others} others"),
    };
    named.join(", ") + &more
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card(id: &str, title: &str) -> StoredCard {
        StoredCard { id: id.to_owned(), ..cardscope_testkit::cards::stored_card(title) }
    }

    #[test]
    fn exact_title_wins_over_longer_ones() {
        let found = || vec![card("a1", "Acme Swift Pro"), card("b2", "Acme Swift")];
        assert_eq!(select_card(found(), " acme swift").unwrap().id, "b2");
        assert_eq!(select_card(found(), "a1").unwrap().id, "a1");
        assert!(select_card(found(), "acme").is_err());
    }

    #[test]
    fn equal_titles_are_refused_and_listed_with_ids() {
        let found = || vec![card("a1", "fio"), card("b2", "fio"), card("c3", "fio 2")];
        let refused = select_card(found(), "fio").unwrap_err();
        assert_eq!(
            refused.to_string(),
            r#""fio" matches "fio" (a1), "fio" (b2); name one of them, or give its id"#
        );
        assert_eq!(refused.exit_status(), 2);
        assert_eq!(select_card(found(), "b2").unwrap().id, "b2");
    }

    #[test]
    fn equal_titles_of_different_cards_get_ids() {
        let mut cards = [
            ("a1b2c3d4e5", "SD71"),
            ("b1b2c3d4e5", "sd71"),
            ("c1b2c3d4e5", "Swift"),
            ("c1b2c3d4e5", "Swift"),
        ]
        .map(|(id, title)| card(id, title));
        disambiguate_titles(cards.iter_mut());
        assert_eq!(cards.map(|card| card.title), ["SD71 (a1b2c3d4)", "sd71 (b1b2c3d4)", "Swift", "Swift"]);
    }

    #[test]
    fn ids_with_any_letters_are_listed() {
        let id = format!("{}:kärtchen", "ä".repeat(40));
        for id in [id.clone(), format!("x{id}")] {
            let refused = select_card(vec![card(&id, "a"), card("b", "a")], "a").unwrap_err().to_string();
            assert!(refused.contains("\"a\" ("), "{refused}");
        }
        let many: Vec<_> = (0..9).map(|n| card(&n.to_string(), "many")).collect();
        assert!(select_card(many, "many").unwrap_err().to_string().contains(" or 3 others"));
    }
}
