//! What a card is called, when two names mean one card, and when they do not.
//!
//! A card is a model as one buys it. It is known by how its registers name it (maker, model, capacity), else by what
//! is printed on it (brand, name, size). Makers sell other flash under the same name, so facts that contradict each
//! other make two cards of one name: `docs/archive.md` has the rules and their limits.

use crate::hash;
use crate::record::unit_id;
use cardscope_model::card::CardFacts;
use cardscope_model::identity::{HexRegisters, Identity, from_hex};
use cardscope_model::log::CardLog;
use cardscope_model::session_file::CardUnit;

/// A card as it was met: in a log, in a slot, in a file.
#[derive(Debug, Clone)]
pub(crate) struct CardSighting {
    /// What is known of it.
    pub(crate) facts: CardFacts,
    /// The unit, where it can be told from others, with what is known of it alone.
    pub(crate) unit: Option<CardUnit>,
    /// Where it was met, told apart from all other places: what names a card of which nothing else is known.
    pub(crate) met_at: String,
    /// How it is called if nothing names it.
    pub(crate) title: String,
    /// The name it had in the archive that it comes from.
    pub(crate) id: Option<String>,
}

/// The names by which a card is found again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CardNames {
    /// Hash of all that names it.
    pub(crate) fingerprint: String,
    /// Hash of what is printed on it: a name may be longer than a row of an index.
    pub(crate) label: Option<String>,
    /// Hash of how its registers name it.
    pub(crate) registers: Option<String>,
}

impl CardNames {
    /// `None` where nothing names the card.
    pub(crate) fn of(facts: &CardFacts) -> Option<Self> {
        let (label, registers) = (label(facts), registers(facts));
        if label.is_none() && registers.is_none() {
            return None;
        }
        let part = |text: &Option<String>| normal(text.as_deref().unwrap_or_default());
        let short = |text: Option<String>| text.map(|text| hash::short(&[&text]));
        let all = [
            part(&label),
            part(&registers),
            part(&facts.brand),
            part(&facts.generation),
            part(&facts.firmware),
            capacity(facts),
        ];
        let fingerprint = hash::short(&all.each_ref().map(String::as_str));
        Some(CardNames { fingerprint, label: short(label), registers: short(registers) })
    }
}

/// The id of a card that its registers name; the same since the archive's first version.
pub(crate) fn register_id(facts: &CardFacts) -> Option<String> {
    let model = facts.model.as_deref()?;
    Some(hash::of(&[facts.maker.as_deref().unwrap_or_default(), model, &capacity(facts)]))
}

/// How a card is called of which nothing is known but where it was met.
pub(crate) fn unnamed(place: &str) -> String {
    format!("unnamed card of {place}")
}

/// True where anything names the card, so that it is known again by its name.
pub fn is_named(facts: &CardFacts) -> bool {
    [&facts.brand, &facts.name, &facts.model].into_iter().any(Option::is_some)
}

fn label(facts: &CardFacts) -> Option<String> {
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
    Some(normal(&printed.title()))
}

fn registers(facts: &CardFacts) -> Option<String> {
    let model = normal(facts.model.as_deref()?);
    Some(format!("{} {model} {}", normal(facts.maker.as_deref().unwrap_or_default()), capacity(facts)))
}

fn capacity(facts: &CardFacts) -> String {
    facts.capacity_bytes.map(|bytes| bytes.to_string()).unwrap_or_default()
}

/// Case and blanks are as people happen to type them.
fn normal(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase).collect()
}

/// True where both know something and it is not the same: two cards, though they share a label.
pub(crate) fn labels_hide_difference(known: &CardFacts, met: &CardFacts) -> bool {
    differ(&known.model, &met.model)
        || known.capacity_bytes.zip(met.capacity_bytes).is_some_and(|(a, b)| a != b)
        || generations_differ(known, met)
}

/// The same for cards whose registers are alike: flash of one kind is sold by several brands, and registers of a simulated
/// card may be those of a real one.
pub(crate) fn registers_hide_difference(known: &CardFacts, met: &CardFacts) -> bool {
    differ(&known.brand, &met.brand)
        || known.simulated_target() != met.simulated_target()
        || generations_differ(known, met)
}

fn generations_differ(known: &CardFacts, met: &CardFacts) -> bool {
    differ(&known.generation, &met.generation) || differ(&known.firmware, &met.firmware)
}

fn differ(a: &Option<String>, b: &Option<String>) -> bool {
    a.as_deref().zip(b.as_deref()).is_some_and(|(a, b)| normal(a) != normal(b))
}

/// True where facts say nothing that would tell generations of one name apart.
pub(crate) fn is_general(facts: &CardFacts) -> bool {
    facts.model.is_none()
        && facts.capacity_bytes.is_none()
        && facts.generation.is_none()
        && facts.firmware.is_none()
}

/// The card of a unit that was measured here.
pub(crate) fn of_unit(unit: Option<&CardUnit>, place: &str, place_shown: &str) -> CardSighting {
    let facts = unit.map(facts_of_unit).unwrap_or_default();
    let unit = unit.map(|unit| CardUnit { facts: of_unit_alone(&facts), ..unit.clone() });
    CardSighting { facts, unit, met_at: place.to_owned(), title: unnamed(place_shown), id: None }
}

/// What a unit tells of its card.
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

/// Of all that was told, what is true of one unit and not of each that is sold.
fn of_unit_alone(facts: &CardFacts) -> CardFacts {
    CardFacts {
        serial: facts.serial.clone(),
        cid: facts.cid.clone(),
        csd: facts.csd.clone(),
        made: facts.made.clone(),
        firmware: facts.firmware.clone(),
        ..CardFacts::default()
    }
}

/// The card of a log, and how it is called if nothing names it. Registers in it win over what stands beside them.
pub(crate) fn of_log(log: &CardLog, place: &str, called: &str) -> CardSighting {
    let mut facts = log.card.clone();
    let mut unit = identity(log).and_then(|identity| unit(&identity, facts.capacity_bytes));
    if let Some(unit) = &mut unit {
        let mut known = facts_of_unit(unit);
        known.complete_from(&facts);
        facts = known;
        unit.facts = of_unit_alone(&facts);
    }
    let title = log.part.as_ref().map_or(called.to_owned(), |part| format!("{called} ({part})"));
    CardSighting { facts, unit, met_at: place.to_owned(), title, id: None }
}

fn unit(identity: &Identity, capacity_bytes: Option<u64>) -> Option<CardUnit> {
    let known = identity.unit()?;
    Some(CardUnit {
        id: unit_id(&known.unique),
        maker: known.maker,
        model: known.model,
        capacity_bytes: capacity_bytes.or(identity.capacity_bytes),
        serial: known.serial,
        ..CardUnit::default()
    })
}

/// The registers of a log, by which the unit is known like one that was measured here: its CID, or what it holds of
/// NVMe's own description. Registers that cannot be read name nobody.
fn identity(log: &CardLog) -> Option<Identity> {
    if let Some(cid) = &log.card.cid {
        let registers = |csd| from_hex(HexRegisters { cid: Some(cid), csd, ..HexRegisters::default() }).ok();
        return registers(log.card.csd.as_deref()).or_else(|| registers(None));
    }
    let nvme = serde::Deserialize::deserialize(log.other.get("nvme")?).ok()?;
    let mut identity = Identity { nvme: Some(nvme), ..Identity::default() };
    identity.complete();
    Some(identity)
}

#[cfg(test)]
mod tests;
