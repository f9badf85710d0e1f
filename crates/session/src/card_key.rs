//! By what a card is known again: in the archive, by a run that is resumed, by a journal that waits.
//!
//! Only what names the piece itself counts: a CID, or model and serial number of NVMe. The serial number of a USB
//! reader does not, since it stays the same whatever card is in it; there the content has to tell.

use crate::opened::Opened;
use cardscope_device::{inspect, system::System};
use cardscope_model::identity::Identity;
use cardscope_model::random::mix;
use cardscope_model::session_file::CardUnit;
use cardscope_store::unit_id;

/// BLAKE3 over the card's identity, in hex; `None` if it says nothing of itself.
pub(crate) fn card_key(opened: &Opened) -> Option<String> {
    opened.identity.as_ref().and_then(unit_of).map(|unit| unit.id)
}

/// The same, asked anew of the device of this name; `None` where it says nothing, or is none.
pub(crate) fn key_now(name: &str) -> Option<String> {
    let identity = inspect::inspect(&System::host(), name).ok()?;
    Some(unit_id(&identity.unit()?.unique))
}

/// Stands for a card's identity and size in the salt of its stamps; the size alone, where the card says nothing of itself.
pub(crate) fn fingerprint(key: Option<&str>, card_bytes: u64) -> u64 {
    key.unwrap_or_default().bytes().fold(mix(card_bytes), |sum, byte| mix(sum ^ u64::from(byte)))
}

/// The unit on the table, where it says enough of itself to be known again.
pub(crate) fn unit_of(identity: &Identity) -> Option<CardUnit> {
    let known = identity.unit()?;
    Some(CardUnit {
        id: unit_id(&known.unique),
        maker: known.maker,
        model: known.model,
        capacity_bytes: identity.capacity_bytes,
        serial: known.serial,
        ..CardUnit::default()
    })
}
