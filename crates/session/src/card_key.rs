//! By what a card is known again: in the archive, by a run that is resumed, by a journal that waits.
//!
//! Only what names the piece itself counts: a CID, or model and serial number of NVMe. The serial number of a USB
//! reader does not, since it stays the same whatever card is in it; there the content has to tell.

use crate::opened::OpenTarget;
use cardscope_device::{inspect, system::SystemRoots};
use cardscope_model::card::CardFacts;
use cardscope_model::identity::Identity;
use cardscope_model::random::mix;
use cardscope_model::session_file::CardUnit;
use cardscope_simulator::target_spec;
use cardscope_store::unit_id;

/// BLAKE3 over the card's identity, in hex; `None` if it says nothing of itself.
pub fn card_key(opened: &OpenTarget) -> Option<String> {
    opened.identity.as_ref().and_then(unit_of).map(|unit| unit.id)
}

/// The same, asked anew of the device of this name; `None` where it says nothing, or is none.
pub(crate) fn key_now(name: &str) -> Option<String> {
    let identity = inspect::inspect(&SystemRoots::host(), name).ok()?;
    Some(unit_id(&identity.unit()?.unique))
}

/// Stands for a card's identity and size in the salt of its stamps; the size alone, where the card says nothing of itself.
pub fn fingerprint(key: Option<&str>, card_bytes: u64) -> u64 {
    key.unwrap_or_default().bytes().fold(mix(card_bytes), |sum, byte| mix(sum ^ u64::from(byte)))
}

/// The unit on the table, where it says enough of itself to be known again.
pub fn unit_of(identity: &Identity) -> Option<CardUnit> {
    let known = identity.unit()?;
    // What groups of cards are made by: the marks that it claims and the month of its CID.
    let facts = CardFacts {
        marks: identity.marks.iter().map(ToString::to_string).collect(),
        made: identity
            .cid
            .as_ref()
            .filter(|cid| (1..=12).contains(&cid.mdt_month))
            .map(|cid| cid.mdt.clone()),
        ..CardFacts::default()
    };
    Some(CardUnit {
        id: unit_id(&known.unique),
        maker: known.maker,
        model: known.model,
        capacity_bytes: identity.capacity_bytes,
        serial: known.serial,
        facts,
    })
}

/// The same of a target by its name: a simulated card bears that name, whatever its registers say, and no card that somebody
/// sells is taken for it.
pub(crate) fn unit_at(target: &str, identity: &Identity) -> Option<CardUnit> {
    let mut unit = unit_of(identity)?;
    let named = target.split('?').next().filter(|_| target_spec::is_simulated(target));
    unit.facts.name = named.map(str::to_owned);
    Some(unit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_simulator::identity;

    #[test]
    fn a_simulated_card_bears_the_name_of_its_target_and_the_marks_of_its_registers() {
        let target = "sim:evo-64g-u3?seed=7";
        let card = identity(&target_spec::parse(target).unwrap().archetype).unwrap();
        let facts = unit_at(target, &card).unwrap().facts;
        assert_eq!(facts.title(), "sim:evo-64g-u3");
        assert_eq!((facts.marks.join(" "), facts.made.as_deref()), ("C10 U3".to_owned(), Some("2019-03")));
        assert_eq!(unit_at("/dev/mmcblk0", &card).unwrap().facts.name, None);
    }
}
