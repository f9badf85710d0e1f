//! The documents of cards that a ranking looks into.

use cardscope_model::archived::StoredCard;
use cardscope_session::error::Result;
use cardscope_store::{Archive, SessionId};
use serde::Deserialize;
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// Documents of one card that are looked into, the newest first: each is read whole, and one of the last says it or none.
const MOST_DOCUMENTS: usize = 6;

/// The records of these kinds by card, the newest first; [`MOST_DOCUMENTS`] of each at most.
pub(super) fn records(
    archive: &mut Archive,
    cards: &[StoredCard],
    kinds: &[&str],
) -> Result<HashMap<String, Vec<SessionId>>> {
    let asked: HashSet<&str> = cards.iter().map(|card| card.id.as_str()).collect();
    let mut by_card = archive.newest_of_kinds(kinds, MOST_DOCUMENTS)?;
    by_card.retain(|card, _| asked.contains(card.as_str()));
    Ok(by_card)
}

/// A document, or a part of one, as what it is; `None` where it is something else.
pub(super) fn read<T: for<'a> Deserialize<'a>>(document: &Value) -> Option<T> {
    T::deserialize(document).ok()
}
