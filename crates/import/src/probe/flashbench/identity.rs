//! Whose registers the script's identity line holds: the tested card's only if the capacity agrees.

use super::parts::{Heading, Part};
use crate::identity::facts::{facts, registers};
use cardscope_model::identity::{HexRegisters, Identity, from_hex};
use cardscope_model::log::Log;
use cardscope_model::units::grouped;
use serde_json::Value;

/// What was tested, as the script says.
#[derive(Debug, Default)]
pub(super) struct Tested<'a> {
    /// `/dev/mmcblk0`.
    pub(super) device: Option<&'a str>,
    /// Its size by fdisk.
    bytes: Option<u64>,
}

impl Tested<'_> {
    /// True where it is a card in the host's own slot, false for a reader.
    pub(super) fn in_slot(&self) -> Option<bool> {
        self.device.map(|device| device.contains("mmcblk"))
    }
}

/// Device and size from their headings.
pub(super) fn tested<'a>(parts: &[Part<'a>]) -> Tested<'a> {
    let device = parts.iter().find_map(|part| part.title?.strip_prefix("Device:")).map(str::trim);
    let partitions = parts.iter().filter(|part| part.heading == Heading::Partitions);
    let bytes = partitions.flat_map(|part| &part.lines).find_map(|line| fdisk_bytes(line, device?));
    Tested { device, bytes }
}

/// The bytes in `Disk /dev/sdf: 7902 MB, 7902068736 bytes`, in any language.
fn fdisk_bytes(line: &str, device: &str) -> Option<u64> {
    let (before, rest) = line.split_once(device)?;
    let (_, sizes) = rest.split_once(':').filter(|_| !before.is_empty())?;
    let size = sizes.split(',').nth(1)?;
    size.split_whitespace().next()?.parse().ok()
}

/// Puts capacity and identity where they belong, or says why not.
pub(super) fn put(tested: &Tested<'_>, parts: &[Part<'_>], log: &mut Log) {
    log.card.capacity_bytes = tested.bytes;
    let Some(line) = parts.iter().flat_map(|part| part.lines.first()).find(|line| line.starts_with("man:"))
    else {
        return;
    };
    match decode(line) {
        Err(why) => log.doubts.push(format!("the card's registers could not be read: {why}")),
        Ok(identity) => match other_card(tested, &identity) {
            Some(why) => {
                log.doubts.push(format!("{why}; its registers stand under slot_identity"));
                log.other.insert("slot_identity".into(), Value::Object(registers(&identity)));
            }
            None => {
                log.card.complete_from(&facts(&identity));
                log.other.extend(registers(&identity));
            }
        },
    }
}

fn decode(line: &str) -> Result<Identity, String> {
    let value = |name: &str| line.split_whitespace().find_map(|word| word.strip_prefix(name));
    let hex = HexRegisters { cid: value("cid:"), csd: value("csd:"), ..HexRegisters::default() };
    from_hex(hex).map_err(|error| error.to_string())
}

/// Why the identity is not the tested card's, if it is not.
fn other_card(tested: &Tested<'_>, identity: &Identity) -> Option<String> {
    let device = tested.device.unwrap_or("the device");
    match (tested.bytes, identity.capacity_bytes) {
        (Some(fdisk), Some(csd)) if fdisk != csd => Some(format!(
            "the identity is of another card: its CSD says {} bytes, fdisk says {} of {device}; the script reads the \
             host's own slot",
            grouped(csd),
            grouped(fdisk)
        )),
        (None, _) if tested.in_slot() == Some(false) => Some(format!(
            "the identity may be of another card: the script reads it from the host's own slot, {device} is in a reader, \
             and no capacity was printed to compare"
        )),
        _ => None,
    }
}
