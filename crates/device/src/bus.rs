//! Bus, model and removability of a disk.
//!
//! Directories of each bus: docs/reference/linux.md#sd-cards-in-sysfs, docs/reference/linux.md#nvme,
//! docs/reference/linux.md#usb-readers.

use crate::block::BlockDevice;
use crate::nvme;
use crate::system::{SystemRoots, join_texts, read_flag, read_text};
use crate::usb;
use cardscope_model::device::Bus;

/// Bus by prefix of the kernel name; SCSI disks (`sd…`) are classified by their parent device.
const BUS_BY_PREFIX: [(&str, Bus); 5] =
    [("mmcblk", Bus::Mmc), ("nvme", Bus::Nvme), ("loop", Bus::Loop), ("nbd", Bus::Nbd), ("vd", Bus::Virtio)];

pub fn disk_bus(system: &SystemRoots, disk: &BlockDevice) -> Bus {
    match BUS_BY_PREFIX.iter().find(|(prefix, _)| disk.name.starts_with(prefix)) {
        Some((_, bus)) => *bus,
        None if !disk.name.starts_with("sd") => Bus::Other,
        None if usb::usb_path(system, disk).is_some() => Bus::Usb,
        None => Bus::Ata,
    }
}

/// Model as reported by the card, the reader's inquiry data or the controller.
pub(crate) fn disk_model(system: &SystemRoots, disk: &BlockDevice) -> Option<String> {
    let hardware = disk.hardware_dir(system);
    if let Some(file) = disk.backing_file() {
        return Some(format!("file {file}"));
    }
    if disk.name.starts_with("mmcblk") {
        return join_texts([read_text(hardware.join("type")), read_text(hardware.join("name"))], " ");
    }
    match (read_text(hardware.join("vendor")), read_text(hardware.join("model"))) {
        // The vendor of virtio disks is a PCI-like id, and there is no model.
        _ if disk.name.starts_with("vd") => None,
        (None, None) => nvme::controller_dir(system, disk).and_then(|dir| read_text(dir.join("model"))),
        (_, None) => None,
        said => join_texts(said.into(), " "),
    }
}

pub(crate) fn is_removable(system: &SystemRoots, disk: &BlockDevice) -> bool {
    match disk_bus(system, disk) {
        Bus::Mmc => !is_emmc(system, disk),
        Bus::Usb => true,
        Bus::Nvme => nvme::is_removable(system, disk),
        Bus::Ata | Bus::Virtio | Bus::Other => read_flag(disk.dir.join("removable")) == Some(true),
        Bus::Loop | Bus::Nbd => false,
    }
}

/// eMMC has type `MMC` or boot areas. The kernel's `removable` is 0 for SD cards, too.
pub(crate) fn is_emmc(system: &SystemRoots, disk: &BlockDevice) -> bool {
    let boot = format!("{}boot0", disk.name);
    let has_boot = system.sys.join("block").join(&boot).exists() || disk.dir.join(&boot).exists();
    has_boot || read_text(disk.hardware_dir(system).join("type")).as_deref() == Some("MMC")
}
