//! Rules by which two names mean one card.
//!
//! A card is a model as sold. It is identified by its registers (maker, model, capacity), else by its label (brand,
//! name, size). Makers sell different flash under one name, so contradicting facts make two cards of one name.
//! `docs/archive.md` has the rules and their limits.

use crate::hash::{self, unit_id};
use cardscope_model::card::CardFacts;
use cardscope_model::identity::{HexRegisters, Identity, from_hex};
use cardscope_model::log::CardLog;
use cardscope_model::session_file::CardUnit;

/// Appearance of a card in a log, a slot or a file.
#[derive(Debug, Clone)]
pub(crate) struct CardSighting {
    pub(crate) facts: CardFacts,
    /// The unit if it is identifiable, with the facts that hold for it alone.
    pub(crate) unit: Option<CardUnit>,
    /// Unique place of the sighting; identifies a card without any name.
    pub(crate) place: String,
    /// Title if nothing names the card.
    pub(crate) title: String,
    /// Id in the archive that the session comes from.
    pub(crate) id: Option<String>,
}

/// Keys by which a card is identified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CardNames {
    /// Hash of label, registers and all facts that distinguish generations.
    pub(crate) fingerprint: String,
    /// Hash of the label. Hashed, because a label may be longer than an index row allows.
    pub(crate) label: Option<String>,
    /// Hash of maker, model and capacity of the registers.
    pub(crate) registers_of_claims: Option<String>,
}

impl CardNames {
    /// `None` if nothing names the card.
    pub(crate) fn from_facts(facts: &CardFacts) -> Option<Self> {
        let (label, registers_of_claims) = (label_text(facts), registers_text(facts));
        if label.is_none() && registers_of_claims.is_none() {
            return None;
        }
        let part = |text: &Option<String>| normalized(text.as_deref().unwrap_or_default());
        let short = |text: Option<String>| text.map(|text| hash::short_hash(&[&text]));
        let all = [
            part(&label),
            part(&registers_of_claims),
            part(&facts.brand),
            part(&facts.generation),
            part(&facts.firmware),
            capacity_text(facts),
        ];
        let fingerprint = hash::short_hash(&all.each_ref().map(String::as_str));
        Some(CardNames { fingerprint, label: short(label), registers_of_claims: short(registers_of_claims) })
    }
}

/// Id of a card made of its registers; unchanged since the archive's first version.
pub(crate) fn register_id(facts: &CardFacts) -> Option<String> {
    let model = facts.model.as_deref()?;
    Some(hash::hash_texts(&[facts.maker.as_deref().unwrap_or_default(), model, &capacity_text(facts)]))
}

/// Title of a card without any name.
pub(crate) fn unnamed_title(place: &str) -> String {
    format!("unnamed card of {place}")
}

/// True if brand, name or model is set, so that the card is identified by its name.
pub fn is_named(facts: &CardFacts) -> bool {
    [&facts.brand, &facts.name, &facts.model].into_iter().any(Option::is_some)
}

fn label_text(facts: &CardFacts) -> Option<String> {
    if facts.brand.is_none() && facts.name.is_none() {
        return None;
    }
    let printed = CardFacts {
        brand: facts.brand.clone(),
        name: facts.name.clone(),
        capacity_label: facts.capacity_label.clone(),
        capacity_bytes: facts.capacity_bytes,
        generation: facts.generation.clone(),
        ..CardFacts::default()
    };
    Some(normalized(&printed.title()))
}

fn registers_text(facts: &CardFacts) -> Option<String> {
    let model = normalized(facts.model.as_deref()?);
    let maker = normalized(facts.maker.as_deref().unwrap_or_default());
    Some(format!("{maker} {model} {}", capacity_text(facts)))
}

fn capacity_text(facts: &CardFacts) -> String {
    facts.capacity_bytes.map(|bytes| bytes.to_string()).unwrap_or_default()
}

/// Ignores case and blanks, which people type differently.
fn normalized(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase).collect()
}

/// True if the facts of two cards with one label contradict each other.
pub(crate) fn labels_conflict(known: &CardFacts, met: &CardFacts) -> bool {
    values_differ(&known.model, &met.model)
        || known.capacity_bytes.zip(met.capacity_bytes).is_some_and(|(a, b)| a != b)
        || generations_differ(known, met)
}

/// True if the facts of two cards with equal registers contradict each other. Several brands sell the same flash, and
/// a simulated card may have the registers of a real one.
pub(crate) fn registers_conflict(known: &CardFacts, met: &CardFacts) -> bool {
    values_differ(&known.brand, &met.brand)
        || known.simulated_target() != met.simulated_target()
        || generations_differ(known, met)
}

fn generations_differ(known: &CardFacts, met: &CardFacts) -> bool {
    values_differ(&known.generation, &met.generation) || values_differ(&known.firmware, &met.firmware)
}

fn values_differ(a: &Option<String>, b: &Option<String>) -> bool {
    a.as_deref().zip(b.as_deref()).is_some_and(|(a, b)| normalized(a) != normalized(b))
}

/// True if the facts do not distinguish generations of one name.
pub(crate) fn is_general(facts: &CardFacts) -> bool {
    [&facts.model, &facts.generation, &facts.firmware].into_iter().all(Option::is_none)
        && facts.capacity_bytes.is_none()
}

/// Sighting of a card that is measured here.
pub(crate) fn sighting_of_unit(unit: Option<&CardUnit>, place: &str, place_shown: &str) -> CardSighting {
    let facts = unit.map(facts_of_unit).unwrap_or_default();
    let unit = unit.map(|unit| CardUnit { facts: unit_only_facts(&facts), ..unit.clone() });
    CardSighting { facts, unit, place: place.to_owned(), title: unnamed_title(place_shown), id: None }
}

fn facts_of_unit(unit: &CardUnit) -> CardFacts {
    CardFacts {
        maker: unit.maker.clone(),
        model: Some(unit.model.clone()).filter(|model| !model.is_empty()),
        capacity_bytes: unit.capacity_bytes,
        serial: unit.serial.clone(),
        name: unit.facts.name.clone(),
        marks: unit.facts.marks.clone(),
        made: unit.facts.made.clone(),
        ..CardFacts::default()
    }
}

/// The facts that hold for one unit only, not for its model.
fn unit_only_facts(facts: &CardFacts) -> CardFacts {
    CardFacts {
        serial: facts.serial.clone(),
        cid: facts.cid.clone(),
        csd: facts.csd.clone(),
        made: facts.made.clone(),
        firmware: facts.firmware.clone(),
        ..CardFacts::default()
    }
}

/// Sighting of the card of a log. Registers in the log win over its other statements; `called` is the title if nothing
/// names the card.
pub(crate) fn sighting_of_log(log: &CardLog, place: &str, called: &str) -> CardSighting {
    let mut facts = log.card.clone();
    let mut unit = log_identity(log).and_then(|identity| unit_from_identity(&identity, facts.capacity_bytes));
    if let Some(unit) = &mut unit {
        let mut known = facts_of_unit(unit);
        known.fill_missing_from(&facts);
        facts = known;
        unit.facts = unit_only_facts(&facts);
    }
    let title = log.part.as_ref().map_or(called.to_owned(), |part| format!("{called} ({part})"));
    CardSighting { facts, unit, place: place.to_owned(), title, id: None }
}

fn unit_from_identity(identity: &Identity, capacity_bytes: Option<u64>) -> Option<CardUnit> {
    let known = identity.unit_name()?;
    Some(CardUnit {
        id: unit_id(&known.unique),
        maker: known.maker,
        model: known.model,
        capacity_bytes: capacity_bytes.or(identity.capacity_bytes),
        serial: known.serial,
        ..CardUnit::default()
    })
}

/// Registers of a log: its CID, or its NVMe identity. Unreadable registers identify nothing.
fn log_identity(log: &CardLog) -> Option<Identity> {
    if let Some(cid) = &log.card.cid {
        let registers = |csd| from_hex(HexRegisters { cid: Some(cid), csd, ..HexRegisters::default() }).ok();
        return registers(log.card.csd.as_deref()).or_else(|| registers(None));
    }
    let nvme = serde::Deserialize::deserialize(log.other.get("nvme")?).ok()?;
    let mut identity = Identity { nvme: Some(nvme), ..Identity::default() };
    identity.derive_fields();
    Some(identity)
}

#[cfg(test)]
mod tests;
