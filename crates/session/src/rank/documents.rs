//! The documents of cards that a ranking looks into.

use crate::error::Result;
use cardscope_model::archived::StoredCard;
use cardscope_store::{Archive, SessionId};
use serde::Deserialize;
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// Documents of one card that are looked into, the newest first: each is read whole, and one of the last says it or none.
pub(super) const MOST_DOCUMENTS: usize = 6;

/// The records of these kinds by card, the newest first.
pub(super) fn records(
    archive: &mut Archive,
    cards: &[StoredCard],
    kinds: &[&str],
) -> Result<HashMap<String, Vec<SessionId>>> {
    let asked: HashSet<&str> = cards.iter().map(|card| card.id.as_str()).collect();
    let mut by_card: HashMap<String, Vec<SessionId>> = HashMap::new();
    for record in archive.sessions()?.into_iter().rev() {
        let says_it = kinds.contains(&record.kind.as_str());
        if let Some(card) = record.card_id.filter(|card| says_it && asked.contains(card.as_str())) {
            by_card.entry(card).or_default().push(record.id);
        }
    }
    Ok(by_card)
}

/// A document, or a part of one, as what it is; `None` where it is something else.
pub(super) fn read<T: for<'a> Deserialize<'a>>(document: &Value) -> Option<T> {
    T::deserialize(document).ok()
}
