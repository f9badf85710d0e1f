//! Documents of cards that decide about a ranking.

use cardscope_model::archive_rows::StoredCard;
use cardscope_session::error::Result;
use cardscope_store::{Archive, SessionId};
use serde::Deserialize;
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// Most documents that are read of one card, newest first. Each is read whole, and older ones hardly ever decide.
const MOST_DOCUMENTS: usize = 6;

/// Records of these kinds by card, newest first; at most [`MOST_DOCUMENTS`] of each card.
pub(super) fn newest_records(
    archive: &mut Archive,
    cards: &[StoredCard],
    kinds: &[&str],
) -> Result<HashMap<String, Vec<SessionId>>> {
    let asked: HashSet<&str> = cards.iter().map(|card| card.id.as_str()).collect();
    let mut by_card = archive.newest_sessions_of_kinds(kinds, MOST_DOCUMENTS)?;
    by_card.retain(|card, _| asked.contains(card.as_str()));
    Ok(by_card)
}

/// Parses a document, or a part of one; `None` if it is of another kind.
pub(super) fn parse_document<T: for<'a> Deserialize<'a>>(document: &Value) -> Option<T> {
    T::deserialize(document).ok()
}
