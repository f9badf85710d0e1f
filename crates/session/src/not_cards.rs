//! Targets that are not retail cards: simulated cards, loop devices, network block devices, RAM disks.

use crate::error::Result;
use cardscope_simulator::target_spec;
use cardscope_store::Archive;
use std::collections::HashMap;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotCard {
    Simulated,
    LoopDevice,
    NetworkBlockDevice,
    RamDisk,
}

impl NotCard {
    pub fn label(self) -> &'static str {
        match self {
            NotCard::Simulated => "simulated",
            other => other.reason().trim_start_matches("a "),
        }
    }

    /// The kind with its article: `a simulated card`, `a loop device`.
    pub fn reason(self) -> &'static str {
        match self {
            NotCard::Simulated => "a simulated card",
            NotCard::LoopDevice => "a loop device",
            NotCard::NetworkBlockDevice => "a network block device",
            NotCard::RamDisk => "a RAM disk",
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
