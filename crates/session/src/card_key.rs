//! Card keys, which identify a card in the archive, in checkpoints and in journals, and targets that are no retail cards:
//! simulated cards, loop devices, network block devices, RAM disks.
//!
//! A key is made of data that is unique to the card: its CID, or model and serial number of an NVMe card. The serial
//! number of a USB reader is useless for that, as it stays the same for every card, so such cards are recognized by content.

use crate::error::Result;
use crate::open_target::OpenTarget;
use cardscope_device::{inspect, system::SystemRoots};
use cardscope_model::card::CardFacts;
use cardscope_model::identity::Identity;
use cardscope_model::random::mix_bits;
use cardscope_model::session_file::CardUnit;
use cardscope_simulator::target_spec;
use cardscope_store::{Archive, unit_id};
use std::collections::HashMap;

/// BLAKE3 hash of the card's identity in hex, None if the card reports none.
pub fn card_key(opened: &OpenTarget) -> Option<String> {
    opened.identity.as_ref().and_then(card_unit).map(|unit| unit.id)
}

/// Key of the card that is in a device now, None if it reports none or the device is missing.
pub(crate) fn current_key(name: &str) -> Option<String> {
    let identity = inspect::inspect_card(&SystemRoots::host(), name).ok()?;
    Some(unit_id(&identity.unit_name()?.unique))
}

/// Hash of a card's key and size for the salt of its stamps. Without a key it depends on the size alone.
pub fn salt_fingerprint(key: Option<&str>, card_bytes: u64) -> u64 {
    key.unwrap_or_default().bytes().fold(mix_bits(card_bytes), |sum, byte| mix_bits(sum ^ u64::from(byte)))
}

/// Card unit with its key, model and facts, None if the card reports too little to be recognized.
pub fn card_unit(identity: &Identity) -> Option<CardUnit> {
    let known = identity.unit_name()?;
    // Facts by which cards are grouped: the marks they claim and the month in their CID.
    let dated = identity.cid.as_ref().filter(|cid| (1..=12).contains(&cid.mdt_month));
    let facts = CardFacts {
        marks: identity.marks.iter().map(ToString::to_string).collect(),
        made: dated.map(|cid| cid.mdt.clone()),
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

/// Card unit of a named target. A simulated card also gets its name, so that it is never mistaken for a retail card with
/// the same registers.
pub(crate) fn target_unit(target: &str, identity: &Identity) -> Option<CardUnit> {
    let mut unit = card_unit(identity)?;
    let named = target.split('?').next().filter(|_| target_spec::is_simulated(target));
    unit.facts.name = named.map(str::to_owned);
    Some(unit)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotCard {
    Simulated,
    LoopDevice,
    NetworkBlockDevice,
    RamDisk,
}

impl NotCard {
    /// The kind as a tag: `simulated`, `loop device`.
    pub fn label(self) -> &'static str {
        self.words().0
    }

    /// The kind with its article: `a simulated card`, `a loop device`.
    pub fn reason(self) -> &'static str {
        self.words().1
    }

    fn words(self) -> (&'static str, &'static str) {
        match self {
            NotCard::Simulated => ("simulated", "a simulated card"),
            NotCard::LoopDevice => ("loop device", "a loop device"),
            NotCard::NetworkBlockDevice => ("network block device", "a network block device"),
            NotCard::RamDisk => ("RAM disk", "a RAM disk"),
        }
    }
}

/// Cards of an archive that were only measured on such targets. Logs of other tools count as cards.
pub fn find_not_cards(archive: &mut Archive) -> Result<HashMap<String, NotCard>> {
    let mut found: HashMap<String, Option<NotCard>> = HashMap::new();
    for (card, target) in archive.card_targets()? {
        let reason = target.as_deref().and_then(kind_of_target);
        // A single measurement of any other target makes it a card.
        found.entry(card).and_modify(|known| *known = known.and(reason)).or_insert(reason);
    }
    Ok(found.into_iter().filter_map(|(card, reason)| Some((card, reason?))).collect())
}

fn kind_of_target(target: &str) -> Option<NotCard> {
    let named = |prefix: &str| target.starts_with(prefix);
    match () {
        () if target_spec::is_simulated(target) => Some(NotCard::Simulated),
        () if named("/dev/loop") => Some(NotCard::LoopDevice),
        () if named("/dev/nbd") => Some(NotCard::NetworkBlockDevice),
        () if named("/dev/ram") || named("/dev/zram") => Some(NotCard::RamDisk),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_simulator::decode_identity;

    #[test]
    fn simulated_unit_has_target_name_and_register_marks() {
        let target = "sim:evo-64g-u3?seed=7";
        let card = decode_identity(&target_spec::parse(target).unwrap().archetype).unwrap();
        let facts = target_unit(target, &card).unwrap().facts;
        assert_eq!(facts.title(), "sim:evo-64g-u3");
        assert_eq!((facts.marks.join(" "), facts.made.as_deref()), ("C10 U3".to_owned(), Some("2019-03")));
        assert_eq!(target_unit("/dev/mmcblk0", &card).unwrap().facts.name, None);
    }
}
