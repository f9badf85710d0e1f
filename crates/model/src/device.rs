//! Cards, sticks and readers that are present. The document of `list`.

use serde::{Deserialize, Serialize};

/// A whole device.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct DeviceInfo {
    /// Kernel name: `mmcblk0`, `sda`.
    pub name: String,
    /// Path of the device file.
    pub path: String,
    /// Name of the very card in it, to which `--object` holds a test; `None` where sysfs has no number for the device.
    #[serde(default)]
    pub object: Option<String>,
    /// Bytes it announces; 0 for an empty slot, `None` where the system does not say.
    pub bytes: Option<u64>,
    /// How it is attached: `mmc`, `usb`, `nvme` …
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub bus: Bus,
    /// What card, reader or disk says it is.
    pub model: Option<String>,
    /// True for what can be taken out: cards, USB sticks, cards in adapters.
    pub removable: bool,
    /// True where it takes no writes.
    pub read_only: bool,
    /// True for a slot of a reader without a card in it.
    pub empty: bool,
    /// Partitions in order.
    pub partitions: Vec<Partition>,
    /// A file system over the whole device, where it could be read.
    pub filesystem: Option<String>,
    /// Where the whole device is mounted.
    pub mounted_at: Vec<String>,
    /// True where the device or anything on it is mounted.
    pub mounted: bool,
    /// True where no guard stands against writing to it.
    pub safe: bool,
    /// Why it is not safe: cause and advice in one sentence.
    pub reason: Option<String>,
    /// Cause alone, beside a device that is named already; not in JSON.
    #[serde(skip)]
    pub cause: Option<String>,
    /// Advice alone; not in JSON.
    #[serde(skip)]
    pub advice: Option<String>,
    /// True where it is unsafe for its mounts alone, can be taken out, and may be unmounted from here.
    #[cfg_attr(feature = "schema", schema(required))]
    #[serde(default)]
    pub can_unmount: bool,
}

/// A partition of a listed device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Partition {
    /// Kernel name: `sda1`.
    pub name: String,
    /// Bytes.
    pub bytes: Option<u64>,
    /// File system, swap or volume in it, where that could be read.
    pub filesystem: Option<String>,
    /// Where it is mounted.
    pub mounted_at: Vec<String>,
}

/// How a device is attached.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Bus {
    /// A slot of an SD host controller.
    Mmc,
    /// A USB reader or stick.
    Usb,
    /// PCI Express: SD Express cards, SSDs.
    Nvme,
    /// SATA, SAS and other SCSI.
    Ata,
    /// A disk of a virtual machine.
    Virtio,
    /// A file as a device.
    Loop,
    /// A device over the network.
    Nbd,
    /// Anything else.
    #[default]
    Other,
}

impl std::fmt::Display for Bus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&format!("{self:?}").to_lowercase())
    }
}
