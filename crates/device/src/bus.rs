//! Bus, model and removability of a disk.
//!
//! Directories of each bus: docs/reference/linux.md#sd-cards-in-sysfs, docs/reference/linux.md#nvme,
//! docs/reference/linux.md#usb-readers.

use crate::block::BlockDevice;
use crate::nvme;
use crate::system::{SystemRoots, flag, joined, text};
use crate::usb;
use cardscope_model::device::Bus;

/// Bus by prefix of the kernel name; SCSI disks (`sd…`) are classified by their parent device.
const BUS_BY_PREFIX: [(&str, Bus); 5] =
    [("mmcblk", Bus::Mmc), ("nvme", Bus::Nvme), ("loop", Bus::Loop), ("nbd", Bus::Nbd), ("vd", Bus::Virtio)];

pub fn bus(system: &SystemRoots, disk: &BlockDevice) -> Bus {
    match BUS_BY_PREFIX.iter().find(|(prefix, _)| disk.name.starts_with(prefix)) {
        Some((_, bus)) => *bus,
        None if !disk.name.starts_with("sd") => Bus::Other,
        None if usb::place(system, disk).is_some() => Bus::Usb,
        None => Bus::Ata,
    }
}

/// Model as reported by the card, the reader's inquiry data or the controller.
pub(crate) fn model(system: &SystemRoots, disk: &BlockDevice) -> Option<String> {
    let hardware = disk.hardware(system);
    if let Some(file) = disk.backing_file() {
        return Some(format!("file {file}"));
    }
    if disk.name.starts_with("mmcblk") {
        return joined([text(hardware.join("type")), text(hardware.join("name"))], " ");
    }
    match (text(hardware.join("vendor")), text(hardware.join("model"))) {
        // The vendor of virtio disks is a PCI-like id, and there is no model.
        _ if disk.name.starts_with("vd") => None,
        (None, None) => nvme::controller(system, disk).and_then(|dir| text(dir.join("model"))),
        (_, None) => None,
        said => joined(said.into(), " "),
    }
}

pub(crate) fn removable(system: &SystemRoots, disk: &BlockDevice) -> bool {
    match bus(system, disk) {
        Bus::Mmc => !is_emmc(system, disk),
        Bus::Usb => true,
        Bus::Nvme => nvme::is_removable(system, disk),
        Bus::Ata | Bus::Virtio | Bus::Other => flag(disk.dir.join("removable")) == Some(true),
        Bus::Loop | Bus::Nbd => false,
    }
}

/// eMMC has type `MMC` or boot areas. The kernel's `removable` is 0 for SD cards, too.
fn is_emmc(system: &SystemRoots, disk: &BlockDevice) -> bool {
    let boot = format!("{}boot0", disk.name);
    let has_boot = system.sys().join("block").join(&boot).exists() || disk.dir.join(&boot).exists();
    has_boot || text(disk.hardware(system).join("type")).as_deref() == Some("MMC")
}
