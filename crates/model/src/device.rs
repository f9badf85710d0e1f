//! Document of `list`: cards, sticks and readers in the system.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct DeviceInfo {
    pub name: String,
    pub path: String,
    /// Id of the inserted card, which `--object` ties a test to. None if sysfs has no number for the device.
    #[serde(default)]
    pub object: Option<String>,
    /// Announced bytes; 0 for an empty slot, None if unknown.
    pub bytes: Option<u64>,
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub bus: Bus,
    /// Model according to card, reader or disk.
    pub model: Option<String>,
    pub removable: bool,
    pub read_only: bool,
    pub empty: bool,
    pub partitions: Vec<Partition>,
    pub filesystem: Option<String>,
    pub mounted_at: Vec<String>,
    pub mounted: bool,
    /// True if no guard forbids writes to it.
    pub safe: bool,
    pub reason: Option<String>,
    /// Cause without advice, for pages that name the device already; not in JSON.
    #[serde(skip)]
    pub cause: Option<String>,
    #[serde(skip)]
    pub advice: Option<String>,
    /// True for a removable device that is unsafe only because it is mounted.
    #[cfg_attr(feature = "schema", schema(required))]
    #[serde(default)]
    pub can_unmount: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Partition {
    pub name: String,
    pub bytes: Option<u64>,
    pub filesystem: Option<String>,
    pub mounted_at: Vec<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Bus {
    Mmc,
    Usb,
    /// PCI Express: SD Express cards, SSDs.
    Nvme,
    /// SATA, SAS and other SCSI.
    Ata,
    Virtio,
    Loop,
    Nbd,
    #[default]
    Other,
}

impl std::fmt::Display for Bus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&format!("{self:?}").to_lowercase())
    }
}
