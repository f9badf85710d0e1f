//! What a simulated card says of itself: its registers as hex, or its NVMe identity.

use serde::{Deserialize, Serialize};

/// Registers of an SD card, or the identity of an SD Express card, which Linux shows as an NVMe device only.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Identity {
    /// SD registers.
    pub sd: Option<SdRegisters>,
    /// NVMe Identify Controller and features.
    pub nvme: Option<NvmeIdentity>,
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
    /// True with a volatile write cache.
    pub vwc: bool,
    /// PCIe transfers a second in 10^9.
    pub pcie_gt_s: f64,
    /// PCIe lanes.
    pub pcie_lanes: u8,
}
