//! Finds the card and the piece of everything that comes in, and makes those that are not there yet.
//!
//! It works on whole batches: what concerns them is read once (`load`), decided in memory (here, by the rules of
//! `naming`), and written at the end (`store`).

mod load;
mod store;

pub(crate) use store::{mark_stale, update_card};

use crate::naming::{self, Names, Sighting};
use crate::{Piece, hash};
use cardscope_model::card::CardFacts;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Where a sighting was put.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Resolved {
    pub(crate) card: String,
    pub(crate) specimen: Option<String>,
}

struct Card {
    facts: CardFacts,
    /// Of a card of which nothing is known: where it was met.
    title: Option<String>,
    new: bool,
    changed: bool,
}

struct Specimen {
    card: String,
    facts: CardFacts,
    new: Option<Piece>,
    changed: bool,
}

/// Cards and pieces as far as they concern a batch.
#[derive(Default)]
pub(crate) struct CardResolver {
    cards: BTreeMap<String, Card>,
    specimens: BTreeMap<String, Specimen>,
    by_fingerprint: HashMap<String, String>,
    by_label: HashMap<String, BTreeSet<String>>,
    by_registers: HashMap<String, BTreeSet<String>>,
    new_names: Vec<(String, Names)>,
    met: BTreeSet<String>,
}

impl CardResolver {
    fn remember(&mut self, card: &str, names: &Names) {
        self.by_fingerprint.insert(names.fingerprint.clone(), card.to_owned());
        if let Some(label) = &names.label {
            self.by_label.entry(label.clone()).or_default().insert(card.to_owned());
        }
        if let Some(registers) = &names.registers {
            self.by_registers.entry(registers.clone()).or_default().insert(card.to_owned());
        }
    }

    /// The card and the piece of a sighting; both are there after [`CardResolver::write`].
    pub(crate) fn resolve(&mut self, sighting: &Sighting) -> Resolved {
        let names = Names::of(&sighting.facts);
        let piece = sighting.piece.as_ref().and_then(|piece| self.specimens.get(&piece.identity_hash));
        let card = match (piece, self.brought(sighting), &names) {
            (Some(specimen), _, _) => specimen.card.clone(),
            (None, Some(id), _) => id,
            (None, None, Some(names)) => {
                self.known(sighting, names).unwrap_or_else(|| self.fresh_id(sighting, names))
            }
            (None, None, None) => self.fresh_unnamed_id(sighting),
        };
        self.put(&card, names, sighting)
    }

    /// The card of the id that a sighting brings along from another archive. Two archives may have given one id to two
    /// cards whose registers are alike, so what is known of both decides.
    fn brought(&self, sighting: &Sighting) -> Option<String> {
        let id = sighting.id.as_ref()?;
        let known = &self.cards.get(id)?.facts;
        let differ = naming::registers_hide_difference(known, &sighting.facts)
            || naming::labels_hide_difference(known, &sighting.facts);
        (!differ).then(|| id.clone())
    }

    fn fresh_unnamed_id(&self, sighting: &Sighting) -> String {
        let brought = sighting.id.clone().filter(|id| !self.cards.contains_key(id));
        brought.unwrap_or_else(|| unnamed_id(&sighting.met_at))
    }

    fn put(&mut self, card: &str, names: Option<Names>, sighting: &Sighting) -> Resolved {
        self.learn(card, sighting);
        if let Some(names) = names.filter(|n| !self.by_fingerprint.contains_key(&n.fingerprint)) {
            self.remember(card, &names);
            self.new_names.push((card.to_owned(), names));
        }
        self.met.insert(card.to_owned());
        let specimen =
            sighting.piece.as_ref().map(|piece| self.learn_piece(card, piece, &sighting.piece_facts));
        Resolved { card: card.to_owned(), specimen }
    }

    fn known(&self, sighting: &Sighting, names: &Names) -> Option<String> {
        if let Some(card) = self.by_fingerprint.get(&names.fingerprint) {
            return Some(card.clone());
        }
        let by_registers = names.registers.as_ref().and_then(|key| self.by_registers.get(key));
        let by_label = names.label.as_ref().and_then(|key| self.by_label.get(key));
        let met = &sighting.facts;
        self.fitting(
            by_registers,
            |known| !naming::registers_hide_difference(known, met),
            |known| known.brand.is_none(),
        )
        .or_else(|| {
            self.fitting(by_label, |known| !naming::labels_hide_difference(known, met), naming::is_general)
        })
    }

    /// The one card that fits; of several the one that makes no difference between them, since nothing tells which
    /// of the others it is.
    fn fitting(
        &self,
        candidates: Option<&BTreeSet<String>>,
        fits: impl Fn(&CardFacts) -> bool,
        general: impl Fn(&CardFacts) -> bool,
    ) -> Option<String> {
        let facts = |id: &&String| self.cards.get(*id).map(|card| &card.facts);
        let fitting: Vec<&String> = candidates?.iter().filter(|id| facts(id).is_some_and(&fits)).collect();
        let only = if fitting.len() == 1 { fitting.first() } else { None };
        only.or_else(|| fitting.iter().find(|id| facts(id).is_some_and(&general))).map(|id| (*id).clone())
    }

    /// An id for a card that is not there yet: of the same facts always the same.
    fn fresh_id(&self, sighting: &Sighting, names: &Names) -> String {
        let by_names = || {
            naming::register_id(&sighting.facts).unwrap_or_else(|| hash::of(&["card", &names.fingerprint]))
        };
        let id = sighting.id.clone().unwrap_or_else(by_names);
        // Another card of the same registers is there, and it was found to be a different one.
        if self.cards.contains_key(&id) { hash::of(&[&id, &names.fingerprint]) } else { id }
    }

    fn learn(&mut self, id: &str, sighting: &Sighting) {
        let told = sighting.facts.without_serial();
        if let Some(card) = self.cards.get_mut(id) {
            let before = card.facts.clone();
            card.facts.complete_from(&told);
            card.changed |= card.facts != before;
            return;
        }
        let title = (!naming::is_named(&told)).then(|| sighting.title.clone());
        self.cards.insert(id.to_owned(), Card { facts: told, title, new: true, changed: false });
    }

    fn learn_piece(&mut self, card: &str, piece: &Piece, own: &CardFacts) -> String {
        let new = || Specimen {
            card: card.to_owned(),
            facts: CardFacts::default(),
            new: Some(piece.clone()),
            changed: false,
        };
        let specimen = self.specimens.entry(piece.identity_hash.clone()).or_insert_with(new);
        let before = specimen.facts.clone();
        specimen.facts.complete_from(own);
        specimen.changed |= specimen.facts != before;
        piece.identity_hash.clone()
    }
}

fn unnamed_id(place: &str) -> String {
    hash::of(&["unnamed card", place])
}

#[cfg(test)]
mod tests;
