//! Lookup of a session by a prefix of its id, or of a card by words of its name or a prefix of its id.

use cardscope_compare::card_lookup::select_card;
use cardscope_model::archive_rows::StoredCard;
use cardscope_session::archive_access::{ambiguous_id, list_sessions};
use cardscope_session::error::{Failure, Result};
use cardscope_store::{Archive, SessionId};

pub(super) enum NamedItem {
    Session(SessionId),
    Card(Box<StoredCard>),
}

/// The single session or card that matches a text. The refusal of an ambiguous text lists the matches.
pub(super) fn find_item(archive: &mut Archive, text: &str) -> Result<NamedItem> {
    if let Ok(session) = text.parse() {
        return Ok(NamedItem::Session(session));
    }
    let sessions = archive.sessions_by_id(text)?;
    let cards = matching_cards(archive, text)?;
    match (&sessions[..], cards.is_empty()) {
        ([], _) => Ok(NamedItem::Card(Box::new(select_card(cards, text)?))),
        ([session], true) => Ok(NamedItem::Session(session.id)),
        (_, true) => Err(ambiguous_id(text, &sessions)),
        (_, false) => Err(Failure::refused(format!(
            "{text:?} names sessions and cards: {}; give more of the id, or the whole name",
            list_sessions(&sessions, cards.iter().map(|card| format!("{:?}", card.title)))
        ))),
    }
}

pub(super) fn find_card(archive: &mut Archive, text: &str) -> Result<StoredCard> {
    let found = matching_cards(archive, text)?;
    select_card(found, text)
}

fn matching_cards(archive: &mut Archive, text: &str) -> Result<Vec<StoredCard>> {
    let found = archive.find_cards(text)?;
    Ok(if found.is_empty() { archive.cards_by_id(text)? } else { found })
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::card::CardFacts;
    use cardscope_model::condition::Condition;
    use cardscope_model::log::CardLog;
    use cardscope_model::run::{Run, TestFigure};
    use cardscope_session::recorder;
    use cardscope_store::NewSource;

    #[test]
    fn session_is_found_by_a_prefix_of_its_id() {
        let folder = tempfile::tempdir().unwrap();
        let mut archive = Archive::open(folder.path().join("a.sqlite")).unwrap();
        let start = recorder::session_start("verify", "sim:constant", 1, &Condition::default(), None);
        let id = archive.begin_session(&start).unwrap();
        let beginning = id.to_string()[..9].to_uppercase();
        assert!(
            matches!(find_item(&mut archive, &beginning).unwrap(), NamedItem::Session(found) if found == id)
        );
    }

    #[test]
    fn card_is_found_by_a_unique_prefix_of_its_id() {
        let folder = tempfile::tempdir().unwrap();
        let mut archive = Archive::open(folder.path().join("a.sqlite")).unwrap();
        for name in ["Moss", "Hilt"] {
            let card =
                CardFacts { brand: Some("Onyx".into()), name: Some(name.into()), ..CardFacts::default() };
            let run = Run {
                results: vec![TestFigure::from_speed("SEQ1M Q8T1 read".parse().unwrap(), 90.0)],
                ..Run::default()
            };
            let log = CardLog { card, runs: vec![run], ..CardLog::default() };
            let bytes = name.as_bytes().into();
            archive
                .import([NewSource {
                    name,
                    title: None,
                    shares_card_of: None,
                    format: "dd",
                    bytes,
                    logs: &[log],
                }])
                .unwrap();
        }
        let cards_there = archive.cards().unwrap();
        let [one, other] = &cards_there[..] else { panic!("{cards_there:?}") };
        let shared = one.id.bytes().zip(other.id.bytes()).take_while(|(a, b)| a == b).count();
        for meant in [one, other] {
            assert_eq!(find_card(&mut archive, &meant.id[..=shared]).unwrap().id, meant.id);
        }
        assert!(find_card(&mut archive, "onyx").unwrap_err().to_string().contains("matches"));
    }
}
