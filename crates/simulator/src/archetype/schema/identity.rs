//! Identity of a simulated card (registers as hex, NVMe identity or USB descriptors), and the truth that findings are
//! compared with. The truth in a card's file is for readers; the one in use is derived from the parameters.

use cardscope_model::usb::UsbProtocol;
use cardscope_model::verify::Verdict;
use serde::{Deserialize, Serialize};

/// Identity by kind of card. Linux shows an SD Express card as an NVMe device only, and USB hides the card behind it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CardIdentity {
    pub sd: Option<SdRegisters>,
    pub nvme: Option<NvmeDescription>,
    pub usb: Option<UsbIdentity>,
}

/// Registers as lower-case hex, most significant byte first, as sysfs shows them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SdRegisters {
    /// Card identification, 16 bytes, CRC7 included.
    pub cid: String,
    /// Card-specific data, 16 bytes, CRC7 included.
    pub csd: String,
    /// SD configuration register, 8 bytes.
    pub scr: String,
    /// SD status, 64 bytes.
    pub ssr: String,
    /// Operation conditions, 4 bytes.
    pub ocr: String,
}

/// Fields of Identify Controller and Get Features that `info` reads. Temperatures are kelvin, as on the wire.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NvmeDescription {
    /// PCI vendor.
    pub vid: u16,
    /// PCI subsystem vendor.
    pub ssvid: u16,
    pub sn: String,
    pub mn: String,
    /// Firmware revision.
    pub fr: String,
    /// Warning temperature.
    pub wctemp_k: u16,
    /// Critical temperature.
    pub cctemp_k: u16,
    /// Temperature threshold (feature 04h).
    pub tmpth_k: u16,
    /// Light throttling from this temperature (feature 10h).
    pub tmt1_k: u16,
    /// Heavy throttling from this temperature (feature 10h).
    pub tmt2_k: u16,
    /// Lowest value for both throttling temperatures.
    pub mntmt_k: u16,
    /// Highest value for both throttling temperatures.
    pub mxtmt_k: u16,
    /// Preferred host memory buffer, in units of 4 KiB.
    pub hmpre: u32,
    /// Least host memory buffer, in units of 4 KiB.
    pub hmmin: u32,
    /// Capacity in bytes.
    pub tnvmcap: u64,
    /// Recommended burst: a power of two of commands.
    #[serde(default)]
    pub rab: u8,
    /// IEEE number of the maker, 24 bits.
    #[serde(default)]
    pub ieee: u32,
    /// Largest transfer: a power of two of 4 KiB; 0 for no limit.
    #[serde(default)]
    pub mdts: u8,
    /// Optional admin commands, a bit each.
    #[serde(default)]
    pub oacs: u16,
    /// Optional NVM commands, a bit each.
    #[serde(default)]
    pub oncs: u16,
    /// Spare in percent below which the card warns.
    #[serde(default)]
    pub spare_threshold: u8,
    /// Power states, highest power first; at most 32.
    #[serde(default)]
    pub power_states: Vec<PowerState>,
    /// True if the card has a volatile write cache.
    pub vwc: bool,
    /// PCIe transfers in 10^9 per second.
    pub pcie_gt_s: f64,
    pub pcie_lanes: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PowerState {
    /// Maximum power in W.
    pub max_w: f64,
    /// True if the card executes commands in this state.
    pub operational: bool,
    /// Longest time to enter the state, in µs.
    #[serde(default)]
    pub enter_us: u32,
    /// Longest time to leave the state, in µs.
    #[serde(default)]
    pub exit_us: u32,
}

/// Descriptors of a USB device and its answer to INQUIRY.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UsbIdentity {
    pub vendor_id: u16,
    pub product_id: u16,
    pub vendor: String,
    pub product: String,
    pub serial: String,
    pub speed_mbit_s: u32,
    /// `bot` executes one command at a time, `uas` has a queue.
    pub protocol: UsbProtocol,
    /// At most 8 characters.
    pub inquiry_vendor: String,
    /// At most 16 characters.
    pub inquiry_model: String,
    /// At most 4 characters.
    pub inquiry_rev: String,
}

/// Correct results of the tests. None for a property that the card does not have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CardTruth {
    /// Effective page.
    pub page_bytes: Option<u64>,
    /// Bytes that one read fetches.
    pub read_unit_bytes: Option<u64>,
    /// Erase blocks that are mapped as one (allocation unit).
    pub erase_block_bytes: Option<u64>,
    /// Segment of the mapping table, if crossing one shows.
    pub map_segment_bytes: Option<u64>,
    /// Region at the start that is treated differently.
    pub fat_region_bytes: Option<u64>,
    #[serde(default = "default_verdict")]
    pub verdict: Verdict,
    /// Prefix from 0 that keeps its data, after all faults have begun.
    pub usable_bytes: u64,
    /// All bytes that keep their data, at any address.
    #[serde(default)]
    pub good_bytes: u64,
    /// Blocks that may be open at a time; None without a limit.
    pub open_blocks: Option<OpenBlocks>,
    /// Bytes that a clean cache takes at full speed when an empty card is written from start to end.
    pub slc_cache_bytes: Option<u64>,
    /// Commands that the card works on at a time: the gain of a queue in 4 KiB reads of data just written.
    pub queue_depth: u32,
    /// Light throttling from this temperature.
    pub tmt1_c: Option<f64>,
    /// Heavy throttling from this temperature.
    pub tmt2_c: Option<f64>,
}

/// Blocks that may be open at a time, by the order of the writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenBlocks {
    pub linear: u32,
    /// Blocks written out of order.
    pub random: u32,
}

fn default_verdict() -> Verdict {
    Verdict::Genuine
}
