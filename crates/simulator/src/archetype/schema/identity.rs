//! What a simulated card says of itself: its registers as hex, or its NVMe identity; and what is true of it, against
//! which each finding is held. The truth stands in the archetype's file for people to read; what is used is derived from
//! the parameters.

use cardscope_model::usb::UsbProtocol;
use cardscope_model::verify::Verdict;
use serde::{Deserialize, Serialize};

/// Registers of an SD card, the identity of an SD Express card, which Linux shows as an NVMe device only, or the
/// descriptors of a stick or of an adapter on USB, which hides what is behind it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CardIdentity {
    /// SD registers.
    pub sd: Option<SdRegisters>,
    /// NVMe Identify Controller and features.
    pub nvme: Option<NvmeDescription>,
    /// USB descriptors and INQUIRY answer.
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

/// The fields of Identify Controller and Get Features that `info` reads; temperatures in kelvin, as on the wire.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NvmeDescription {
    /// PCI vendor.
    pub vid: u16,
    /// PCI subsystem vendor.
    pub ssvid: u16,
    /// Serial number, as text.
    pub sn: String,
    /// Model number, as text.
    pub mn: String,
    /// Firmware revision.
    pub fr: String,
    /// Warning temperature.
    pub wctemp_k: u16,
    /// Critical temperature.
    pub cctemp_k: u16,
    /// Temperature threshold (feature 04h).
    pub tmpth_k: u16,
    /// Light throttling (feature 10h).
    pub tmt1_k: u16,
    /// Heavy throttling (feature 10h).
    pub tmt2_k: u16,
    /// Least value that either may be set to.
    pub mntmt_k: u16,
    /// Highest value that either may be set to.
    pub mxtmt_k: u16,
    /// Host memory buffer asked for, in units of 4 KiB.
    pub hmpre: u32,
    /// Host memory buffer needed at least, in units of 4 KiB.
    pub hmmin: u32,
    /// Capacity in bytes.
    pub tnvmcap: u64,
    /// Recommended burst, power of two of commands.
    #[serde(default)]
    pub rab: u8,
    /// IEEE number of the maker, 24 bits.
    #[serde(default)]
    pub ieee: u32,
    /// Largest transfer, power of two of 4 KiB; 0 for no limit.
    #[serde(default)]
    pub mdts: u8,
    /// Optional admin commands, one bit each.
    #[serde(default)]
    pub oacs: u16,
    /// Optional NVM commands, one bit each.
    #[serde(default)]
    pub oncs: u16,
    /// Spare below which the card warns, in percent.
    #[serde(default)]
    pub spare_threshold: u8,
    /// Power states, from the hungriest; at most 32.
    #[serde(default)]
    pub power_states: Vec<PowerState>,
    /// True with a volatile write cache.
    pub vwc: bool,
    /// PCIe transfers a second in 10^9.
    pub pcie_gt_s: f64,
    /// PCIe lanes.
    pub pcie_lanes: u8,
}

/// A power state of Identify Controller.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PowerState {
    /// Most power in W.
    pub max_w: f64,
    /// True where the card works in it.
    pub operational: bool,
    /// Longest time to enter it in µs.
    #[serde(default)]
    pub enter_us: u32,
    /// Longest time to leave it in µs.
    #[serde(default)]
    pub exit_us: u32,
}

/// Descriptors of a USB device and its answer to INQUIRY.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UsbIdentity {
    /// `idVendor`.
    pub vendor_id: u16,
    /// `idProduct`.
    pub product_id: u16,
    /// Text of the vendor.
    pub vendor: String,
    /// Text of the product.
    pub product: String,
    /// Serial number.
    pub serial: String,
    /// Speed of the link in Mbit/s.
    pub speed_mbit_s: u32,
    /// `bot` for one command at a time, `uas` for a queue.
    pub protocol: UsbProtocol,
    /// Vendor in the INQUIRY answer, at most 8 characters.
    pub inquiry_vendor: String,
    /// Model in it, at most 16 characters.
    pub inquiry_model: String,
    /// Revision in it, at most 4 characters.
    pub inquiry_rev: String,
}

/// What a probe should find. A property that the card does not have is absent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CardTruth {
    /// Effective page in bytes.
    pub page_bytes: Option<u64>,
    /// Bytes fetched by one read.
    pub read_unit_bytes: Option<u64>,
    /// Erase block (allocation unit) in bytes.
    pub erase_block_bytes: Option<u64>,
    /// Segment of the mapping table in bytes, where crossing one shows.
    pub map_segment_bytes: Option<u64>,
    /// The region at the start that is treated specially, in bytes.
    pub fat_region_bytes: Option<u64>,
    /// What is true of the capacity.
    #[serde(default = "genuine")]
    pub verdict: Verdict,
    /// The prefix from 0 that keeps what is written to it, in bytes. Where faults begin later, this is what it comes
    /// to.
    pub usable_bytes: u64,
    /// All bytes that keep what is written to them, wherever they lie.
    #[serde(default)]
    pub good_bytes: u64,
    /// Blocks that may be open at a time; absent where there is no limit.
    pub open_blocks: Option<OpenBlocks>,
    /// Bytes that the cache takes at full speed when it is clean and an empty card is written through.
    pub slc_cache_bytes: Option<u64>,
    /// Commands that the card really works on at a time: what more of them in flight gains, in 4 KiB reads of
    /// data just written.
    pub queue_depth: u32,
    /// Light throttling from this temperature on, in °C.
    pub tmt1_c: Option<f64>,
    /// Heavy throttling from this temperature on, in °C.
    pub tmt2_c: Option<f64>,
}

/// Blocks that may be open at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenBlocks {
    /// Written in order.
    pub linear: u32,
    /// Written out of order.
    pub random: u32,
}

fn genuine() -> Verdict {
    Verdict::Genuine
}
