//! Cards, sticks and readers that are present.

use super::simulated::SimulatedLine;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Devices that are present.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Devices {
    /// Number of devices, and how many are safe to test; a sentence.
    pub answer: String,
    /// The devices, by name.
    pub devices: Vec<Device>,
    /// Simulated cards to try without one.
    pub examples: Vec<SimulatedLine>,
}

/// A card, stick or reader.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Device {
    /// Kernel name: `sdb`.
    pub name: String,
    /// Device file; also the target to order a test with, and the name to type back.
    pub path: String,
    /// Name of the very card in it: device number, disk sequence, size and registers. An order, an unmounting and a restoring
    /// carry it back. Null where the system has no number for the device.
    pub object: Option<String>,
    /// Bytes that it announces; 0 for an empty slot.
    pub bytes: Option<u64>,
    /// How it is attached: `mmc`, `usb`, `nvme` …
    pub bus: String,
    /// What it says it is.
    pub model: Option<String>,
    /// Whether it can be taken out.
    pub removable: bool,
    /// Whether it takes no writes.
    pub read_only: bool,
    /// Whether it is a reader without a card.
    pub empty: bool,
    /// Its partitions, in order.
    pub partitions: Vec<Partition>,
    /// File system over the whole of it.
    pub filesystem: Option<String>,
    /// Where the whole of it is mounted.
    pub mounted_at: Vec<String>,
    /// Whether it or a partition is mounted.
    pub mounted: bool,
    /// Whether it may be tested.
    pub safe: bool,
    /// Why it may not.
    pub reason: Option<String>,
    /// What to do about that.
    pub advice: Option<String>,
    /// Whether it can be unmounted from here.
    pub can_unmount: bool,
    /// The task that runs or waits on it.
    pub task: Option<String>,
}

/// The card that is unmounted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CardObject {
    /// Its name, as the list of devices has it.
    #[serde(default)]
    pub object: Option<String>,
}

/// A partition.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Partition {
    /// Kernel name: `sdb1`.
    pub name: String,
    /// Bytes.
    pub bytes: Option<u64>,
    /// What is in it.
    pub filesystem: Option<String>,
    /// Where it is mounted.
    pub mounted_at: Vec<String>,
}
