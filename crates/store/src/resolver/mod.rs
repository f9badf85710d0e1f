//! Assigns sessions to cards and units, and creates those that are new.
//!
//! It works on batches: the cards concerned are read once, decided in memory by the rules of `naming`, and written at
//! the end.

use crate::connection::{Connection, RowBatch, SqlResult, SqlRow, json_text, require_one_row, statement};
use crate::naming::{self, CardNames, CardSighting};
use crate::{hash, sql, timestamps};
use cardscope_model::card::CardFacts;
use cardscope_model::session_file::CardUnit;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Card and unit that a sighting belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ResolvedSighting {
    pub(crate) card: String,
    pub(crate) unit: Option<String>,
}

struct KnownCard {
    facts: CardFacts,
    /// Title of a card without any name, made of the place of its sighting; else `None`.
    title: Option<String>,
    new: bool,
    changed: bool,
}

struct KnownUnit {
    card: String,
    facts: CardFacts,
    new: Option<CardUnit>,
    changed: bool,
}

/// The part of the archive's cards and units that concerns a batch.
#[derive(Default)]
pub(crate) struct CardResolver {
    cards: BTreeMap<String, KnownCard>,
    units: BTreeMap<String, KnownUnit>,
    by_fingerprint: HashMap<String, String>,
    by_label: HashMap<String, BTreeSet<String>>,
    by_registers: HashMap<String, BTreeSet<String>>,
    new_names: Vec<(String, CardNames)>,
    touched_cards: BTreeSet<String>,
}

impl CardResolver {
    /// Finds or creates, and writes, the card and the unit of one sighting.
    pub(crate) async fn resolve_and_store(
        c: &mut Connection,
        met: &CardSighting,
    ) -> SqlResult<ResolvedSighting> {
        let mut resolver = CardResolver::load(c, std::slice::from_ref(met)).await?;
        let placed = resolver.resolve(met);
        resolver.store(c).await?;
        Ok(placed)
    }

    fn add_names(&mut self, card: &str, names: &CardNames) {
        self.by_fingerprint.insert(names.fingerprint.clone(), card.to_owned());
        if let Some(label) = &names.label {
            self.by_label.entry(label.clone()).or_default().insert(card.to_owned());
        }
        if let Some(registers) = &names.registers_of_claims {
            self.by_registers.entry(registers.clone()).or_default().insert(card.to_owned());
        }
    }

    /// Returns the card and the unit of a sighting; new ones are written by [`CardResolver::write`].
    pub(crate) fn resolve(&mut self, sighting: &CardSighting) -> ResolvedSighting {
        let names = CardNames::from_facts(&sighting.facts);
        let unit = sighting.unit.as_ref().and_then(|unit| self.units.get(&unit.id));
        // By priority: a known unit, the id from an imported file, the names.
        let card = match (unit, self.imported_id(sighting), &names) {
            (Some(unit), _, _) => unit.card.clone(),
            (None, Some(id), _) => id,
            (None, None, Some(names)) => {
                self.find_by_names(sighting, names).unwrap_or_else(|| self.new_card_id(sighting, names))
            }
            (None, None, None) => self.new_unnamed_card_id(sighting),
        };
        self.assign(&card, names, sighting)
    }

    /// The card whose id an imported file brings along. Archives may give one id to two cards with equal registers, so
    /// the facts of both decide.
    fn imported_id(&self, sighting: &CardSighting) -> Option<String> {
        let id = sighting.id.as_ref()?;
        let known = &self.cards.get(id)?.facts;
        let differ = naming::registers_conflict(known, &sighting.facts)
            || naming::labels_conflict(known, &sighting.facts);
        (!differ).then(|| id.clone())
    }

    fn new_unnamed_card_id(&self, sighting: &CardSighting) -> String {
        let brought = sighting.id.clone().filter(|id| !self.cards.contains_key(id));
        brought.unwrap_or_else(|| unnamed_card_id(&sighting.place))
    }

    fn assign(&mut self, card: &str, names: Option<CardNames>, sighting: &CardSighting) -> ResolvedSighting {
        self.merge_facts(card, sighting);
        if let Some(names) = names.filter(|n| !self.by_fingerprint.contains_key(&n.fingerprint)) {
            self.add_names(card, &names);
            self.new_names.push((card.to_owned(), names));
        }
        self.touched_cards.insert(card.to_owned());
        let unit = sighting.unit.as_ref().map(|unit| self.merge_unit_facts(card, unit));
        ResolvedSighting { card: card.to_owned(), unit }
    }

    fn find_by_names(&self, sighting: &CardSighting, names: &CardNames) -> Option<String> {
        if let Some(card) = self.by_fingerprint.get(&names.fingerprint) {
            return Some(card.clone());
        }
        let by_registers = names.registers_of_claims.as_ref().and_then(|key| self.by_registers.get(key));
        let by_label = names.label.as_ref().and_then(|key| self.by_label.get(key));
        let met = &sighting.facts;
        let fits = |card: &CardFacts| !naming::registers_conflict(card, met);
        let by_registers = self.find_fitting(by_registers, fits, |card| card.brand.is_none());
        let fits = |card: &CardFacts| !naming::labels_conflict(card, met);
        by_registers.or_else(|| self.find_fitting(by_label, fits, naming::is_general))
    }

    /// The only candidate that fits. Of several the general one, since nothing tells which of the specific ones it is.
    fn find_fitting(
        &self,
        candidates: Option<&BTreeSet<String>>,
        fits: impl Fn(&CardFacts) -> bool,
        general: impl Fn(&CardFacts) -> bool,
    ) -> Option<String> {
        let facts = |id: &&String| self.cards.get(*id).map(|card| &card.facts);
        let fitting: Vec<&String> = candidates?.iter().filter(|id| facts(id).is_some_and(&fits)).collect();
        let chosen = match fitting[..] {
            [only] => Some(only),
            _ => fitting.into_iter().find(|id| facts(id).is_some_and(&general)),
        };
        chosen.cloned()
    }

    /// Deterministic id of a new card: equal facts give an equal id.
    fn new_card_id(&self, sighting: &CardSighting, names: &CardNames) -> String {
        let brought = sighting.id.clone().or_else(|| naming::register_id(&sighting.facts));
        let id = brought.unwrap_or_else(|| hash::hash_texts(&["card", &names.fingerprint]));
        // A different card with the same registers has that id already.
        if self.cards.contains_key(&id) { hash::hash_texts(&[&id, &names.fingerprint]) } else { id }
    }

    fn merge_facts(&mut self, id: &str, sighting: &CardSighting) {
        let met = sighting.facts.without_serial();
        if let Some(card) = self.cards.get_mut(id) {
            let before = card.facts.clone();
            card.facts.fill_missing_from(&met);
            card.changed |= card.facts != before;
            return;
        }
        let title = (!naming::is_named(&met)).then(|| sighting.title.clone());
        self.cards.insert(id.to_owned(), KnownCard { facts: met, title, new: true, changed: false });
    }

    fn merge_unit_facts(&mut self, card: &str, unit: &CardUnit) -> String {
        let (card, facts) = (card.to_owned(), CardFacts::default());
        let new = || KnownUnit { card, facts, new: Some(unit.clone()), changed: false };
        let known = self.units.entry(unit.id.clone()).or_insert_with(new);
        let before = known.facts.clone();
        known.facts.fill_missing_from(&unit.facts);
        known.changed |= known.facts != before;
        unit.id.clone()
    }

    /// Loads all cards and units that these sightings may belong to.
    pub(crate) async fn load(c: &mut Connection, sightings: &[CardSighting]) -> SqlResult<Self> {
        let mut resolver = CardResolver::default();
        let names: Vec<_> = sightings.iter().filter_map(|s| CardNames::from_facts(&s.facts)).collect();
        let units = sightings.iter().filter_map(|s| s.unit.as_ref());
        resolver.load_units(c, distinct(units.map(|unit| unit.id.clone()))).await?;
        let fingerprints = names.iter().map(|names| names.fingerprint.clone());
        resolver.load_names(c, "fingerprint", distinct(fingerprints)).await?;
        let labels = names.iter().filter_map(|names| names.label.clone());
        resolver.load_names(c, "label", distinct(labels)).await?;
        let registers = names.iter().filter_map(|names| names.registers_of_claims.clone());
        resolver.load_names(c, "registers", distinct(registers)).await?;
        // A card without any name gets an id made of its place, and may exist already.
        let unnamed = sightings.iter().filter(|s| CardNames::from_facts(&s.facts).is_none());
        let ids = unnamed.map(|s| unnamed_card_id(&s.place));
        let ids = ids.chain(sightings.iter().filter_map(|s| s.id.clone()));
        let ids = ids.chain(resolver.units.values().map(|unit| unit.card.clone()));
        let ids = distinct(ids.chain(resolver.by_fingerprint.values().cloned()));
        resolver.load_cards(c, ids).await?;
        Ok(resolver)
    }

    async fn load_units(&mut self, c: &mut Connection, ids: Vec<String>) -> SqlResult<()> {
        let unit = |row: &SqlRow| {
            let known = KnownUnit { card: row.get(1)?, facts: row.get_json(2)?, new: None, changed: false };
            Ok((row.get::<String>(0)?, known))
        };
        let head = "SELECT id, card_id, facts FROM specimen WHERE id";
        self.units.extend(c.fetch_for_keys(head, &ids, unit).await?);
        Ok(())
    }

    async fn load_names(&mut self, c: &mut Connection, column: &str, keys: Vec<String>) -> SqlResult<()> {
        let asked = format!("SELECT fingerprint, card_id, label, registers FROM known_as WHERE {column}");
        let names = |row: &SqlRow| {
            let (fingerprint, label, registers_of_claims) = (row.get(0)?, row.get(2)?, row.get(3)?);
            Ok((row.get::<String>(1)?, CardNames { fingerprint, label, registers_of_claims }))
        };
        for (card, names) in c.fetch_for_keys(&asked, &keys, names).await? {
            self.add_names(&card, &names);
        }
        Ok(())
    }

    async fn load_cards(&mut self, c: &mut Connection, ids: Vec<String>) -> SqlResult<()> {
        let card = |row: &SqlRow| {
            let title = if row.get(3)? { None } else { Some(row.get(2)?) };
            let known = KnownCard { facts: row.get_json(1)?, title, new: false, changed: false };
            Ok((row.get::<String>(0)?, known))
        };
        let head = "SELECT id, facts, title, named FROM card WHERE id";
        self.cards.extend(c.fetch_for_keys(head, &ids, card).await?);
        Ok(())
    }

    /// Writes new and completed entries, and marks the cards of all sightings as stale.
    pub(crate) async fn store(self, c: &mut Connection) -> SqlResult<()> {
        let now = timestamps::now();
        let mut cards = RowBatch::new(sql::INSERT_CARDS, "ON CONFLICT (id) DO NOTHING");
        for (id, card) in &self.cards {
            if card.new {
                let row = sql::card_row(id, &card.facts, card.title.as_deref())?;
                cards.extend(row.into_iter().chain([(&now).into()]));
            } else if card.changed {
                update_card(c, id, &card.facts, card.title.as_deref()).await?;
            }
        }
        cards.write(c).await?;
        self.write_units(c, &now).await?;
        write_names(c, self.new_names).await?;
        mark_stale(c, &self.touched_cards).await
    }

    async fn write_units(&self, c: &mut Connection, now: &str) -> SqlResult<()> {
        let mut rows = RowBatch::new(sql::INSERT_SPECIMENS, "ON CONFLICT (id) DO NOTHING");
        for (id, known) in &self.units {
            let facts = json_text(&known.facts)?;
            match &known.new {
                Some(unit) => rows.push([
                    id.into(),
                    (&known.card).into(),
                    (&unit.serial).into(),
                    (&unit.maker).into(),
                    (&unit.model).into(),
                    unit.capacity_bytes.into(),
                    facts.into(),
                    now.into(),
                ]),
                None if known.changed => {
                    c.execute(statement(sql::UPDATE_SPECIMEN).bind(id).bind(facts)).await?;
                }
                None => {}
            }
        }
        rows.write(c).await
    }
}

fn unnamed_card_id(place: &str) -> String {
    hash::hash_texts(&["unnamed card", place])
}

fn distinct(all: impl Iterator<Item = String>) -> Vec<String> {
    all.collect::<BTreeSet<_>>().into_iter().collect()
}

/// Stores names of cards; a name that already leads to a card keeps doing so.
pub(crate) async fn write_names<N>(c: &mut Connection, names: N) -> SqlResult<()>
where
    N: IntoIterator<Item = (String, CardNames)>,
{
    let mut rows = RowBatch::new(sql::INSERT_NAMES, "ON CONFLICT (fingerprint) DO NOTHING");
    for (card, n) in names {
        rows.push([n.fingerprint.into(), card.into(), n.label.into(), n.registers_of_claims.into()]);
    }
    rows.write(c).await
}

/// Stores a card's facts; `unnamed` is the title of a card without any name.
pub(crate) async fn update_card(
    c: &mut Connection,
    id: &str,
    facts: &CardFacts,
    unnamed: Option<&str>,
) -> SqlResult<()> {
    let values = sql::card_row(id, facts, unnamed)?;
    require_one_row(c.execute(statement(sql::UPDATE_CARD).bind_all(values)).await?)
}

/// Marks cards as stale. A marked card is written again, so that a concurrent recomputation waits for this
/// transaction.
pub(crate) async fn mark_stale(c: &mut Connection, cards: &BTreeSet<String>) -> SqlResult<()> {
    let mut rows = RowBatch::new(sql::INSERT_STALE, sql::ON_STALE_CONFLICT);
    cards.iter().for_each(|card| rows.push([card.into()]));
    rows.write(c).await
}

#[cfg(test)]
mod tests;
