//! What of an archive a text names: a session by the beginning of its id, a card by words of its name or the beginning of
//! its id.

use crate::card_source::the_one;
use crate::error::{Failure, Result};
use cardscope_model::archived::StoredCard;
use cardscope_store::{Archive, SessionId, SessionSummary};

/// So many sessions are listed where several may be meant.
const LISTED: usize = 3;

/// Digits of a session's id that are shown: its last ones, as in `archive list`, since ids begin with the time.
const SHOWN_DIGITS: usize = 8;

/// What a text names.
pub(super) enum Named {
    Session(SessionId),
    Card(Box<StoredCard>),
}

/// The one session or card that a text names.
pub(super) fn any(archive: &mut Archive, text: &str) -> Result<Named> {
    if let Ok(session) = text.parse() {
        return Ok(Named::Session(session));
    }
    let sessions = archive.sessions_by_id(text)?;
    let cards = cards(archive, text)?;
    match (&sessions[..], cards.is_empty()) {
        ([], _) => Ok(Named::Card(Box::new(the_one(cards, text)?))),
        ([session], true) => Ok(Named::Session(session.id)),
        (_, true) => Err(several(text, &sessions)),
        (_, false) => Err(Failure::refused(format!(
            "{text:?} names sessions and cards: {}; give more of the id, or the whole name",
            listed(&sessions, cards.iter().map(|card| format!("{:?}", card.title)))
        ))),
    }
}

/// The one session that a text names.
pub(super) fn session(archive: &mut Archive, text: &str) -> Result<SessionId> {
    let unknown = match text.parse() {
        Ok(session) => return Ok(session),
        Err(unknown) => unknown,
    };
    match &archive.sessions_by_id(text)?[..] {
        [] => Err(Failure::refused(unknown)),
        [session] => Ok(session.id),
        several_of_them => Err(several(text, several_of_them)),
    }
}

/// The one card that a text names.
pub(super) fn card(archive: &mut Archive, text: &str) -> Result<StoredCard> {
    let found = cards(archive, text)?;
    the_one(found, text)
}

fn cards(archive: &mut Archive, text: &str) -> Result<Vec<StoredCard>> {
    let found = archive.find_cards(text)?;
    Ok(if found.is_empty() { archive.cards_by_id(text)? } else { found })
}

fn several(text: &str, sessions: &[SessionSummary]) -> Failure {
    let listed = listed(sessions, std::iter::empty());
    Failure::refused(format!("{text:?} may be {listed}; give more of the id"))
}

fn short(session: &SessionSummary) -> String {
    let id = session.id.to_string();
    id.get(id.len().saturating_sub(SHOWN_DIGITS)..).unwrap_or(&id).to_owned()
}

fn listed(sessions: &[SessionSummary], others: impl Iterator<Item = String>) -> String {
    let named = |s: &SessionSummary| format!("{} ({} of {})", short(s), s.kind, s.target);
    let all: Vec<String> = sessions.iter().map(named).chain(others).collect();
    match all.len().saturating_sub(LISTED) {
        0 => all.join(", "),
        more => format!("{} or {more} other{}", all[..LISTED].join(", "), if more == 1 { "" } else { "s" }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorder;
    use cardscope_model::card::CardFacts;
    use cardscope_model::condition::Condition;
    use cardscope_model::log::Log;
    use cardscope_model::run::{Figure, Run};
    use cardscope_store::NewSource;

    fn begin(archive: &mut Archive, target: &str) -> SessionId {
        archive.begin_session(&recorder::start("verify", target, 1, &Condition::default(), None)).unwrap()
    }

    #[test]
    fn a_session_is_named_by_any_beginning_that_no_other_has() {
        let folder = tempfile::tempdir().unwrap();
        let mut archive = Archive::open(folder.path().join("a.sqlite")).unwrap();
        let first = begin(&mut archive, "sim:constant").to_string();
        assert_eq!(session(&mut archive, &first[..1]).unwrap().to_string(), first);
        let second = begin(&mut archive, "sim:usb-stick-tlc").to_string();
        // Ids begin with the time: those of one second share most of their first digits.
        let shared = first.bytes().zip(second.bytes()).take_while(|(a, b)| a == b).count();
        let refused = session(&mut archive, &first[..shared]).unwrap_err();
        assert_eq!(refused.exit_status(), 2);
        let text = refused.to_string();
        assert!(
            text.contains(&first[28..])
                && text.contains(&second[28..])
                && text.contains("verify of sim:constant"),
            "{text}"
        );
        for (id, other) in [(&first, &second), (&second, &first)] {
            let beginning = id[..=shared].to_uppercase();
            assert_eq!(session(&mut archive, &beginning).unwrap().to_string(), *id, "not {other}");
            assert!(
                matches!(any(&mut archive, &beginning).unwrap(), Named::Session(found) if found.to_string() == *id)
            );
        }
        for nothing in ["", "zz", "%", "ffffffff"] {
            assert!(
                session(&mut archive, nothing).unwrap_err().to_string().contains("is not a session name")
            );
        }
    }

    #[test]
    fn a_card_is_named_by_any_beginning_of_its_id_unless_it_is_a_word_of_a_name() {
        let folder = tempfile::tempdir().unwrap();
        let mut archive = Archive::open(folder.path().join("a.sqlite")).unwrap();
        for name in ["Moss", "Hilt"] {
            let card =
                CardFacts { brand: Some("Onyx".into()), name: Some(name.into()), ..CardFacts::default() };
            let run =
                Run { results: vec![Figure::of("SEQ1M Q8T1 read".parse().unwrap(), 90.0)], ..Run::default() };
            let log = Log { card, runs: vec![run], ..Log::default() };
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
            assert_eq!(card(&mut archive, &meant.id[..=shared]).unwrap().id, meant.id);
        }
        assert!(card(&mut archive, "onyx").unwrap_err().to_string().contains("matches"));
    }
}
