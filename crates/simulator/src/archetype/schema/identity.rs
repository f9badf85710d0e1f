//! What a simulated card says of itself: its registers as hex, or its NVMe identity.

use cardscope_model::usb::UsbProtocol;
use serde::{Deserialize, Serialize};

/// Registers of an SD card, the identity of an SD Express card, which Linux shows as an NVMe device only, or the
/// descriptors of a stick or of an adapter on USB, which hides what is behind it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Identity {
    /// SD registers.
    pub sd: Option<SdRegisters>,
    /// NVMe Identify Controller and features.
    pub nvme: Option<NvmeIdentity>,
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NvmeIdentity {
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
