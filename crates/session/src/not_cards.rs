//! What is no card that one buys: simulated cards, loop devices, RAM disks.

use crate::error::Result;
use cardscope_simulator::target_spec;
use cardscope_store::Archive;
use std::collections::HashMap;

/// Cards of an archive whose every measurement here was of something that is no card, with what it was. Logs of other tools
/// count as cards'.
pub fn not_cards(archive: &mut Archive) -> Result<HashMap<String, &'static str>> {
    let mut found: HashMap<String, Option<&'static str>> = HashMap::new();
    for (card, target) in archive.card_targets()? {
        let reason = target.as_deref().and_then(no_card);
        found.entry(card).and_modify(|known| *known = known.and(reason)).or_insert(reason);
    }
    Ok(found.into_iter().filter_map(|(card, reason)| Some((card, reason?))).collect())
}

/// What a target is, where it is no card.
fn no_card(target: &str) -> Option<&'static str> {
    let named = |prefix: &str| target.starts_with(prefix);
    match () {
        () if target_spec::is_simulated(target) => Some("a simulated card"),
        () if named("/dev/loop") => Some("a loop device"),
        () if named("/dev/nbd") => Some("a network block device"),
        () if named("/dev/ram") || named("/dev/zram") => Some("a RAM disk"),
        () => None,
    }
}
