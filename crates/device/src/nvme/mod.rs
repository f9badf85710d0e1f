//! NVMe cards: controllers in sysfs, and their answers to admin commands, which need root.
//!
//! docs/reference/linux.md#nvme. Recorded trees may have raw answers as files in the controller's directory
//! (`class/nvme/nvme0/` or the target of the disk's `device`) or in `nvme0/` at the top: `identify_controller.bin` and
//! `identify_namespace.bin` (4096 bytes each), `smart_log.bin` (512 bytes), `feature_04.bin` and `feature_10.bin` (the
//! result dword, 4 bytes, little-endian).

mod command;

pub(crate) use command::{ControllerData, composite_celsius, ping_controller, read_smart_log};

use crate::block::BlockDevice;
use crate::system::{self, SystemRoots, base_name, read_bytes, read_number, read_text};
use cardscope_sd::nvme::{ExpressIdentity, IdentifyController};
use std::path::{Path, PathBuf};

/// Size of an Identify Controller answer, and positions and lengths of its names.
const IDENTIFY_BYTES: usize = 4096;
const NAMES: [(&str, usize, usize); 3] = [("serial", 4, 20), ("model", 24, 40), ("firmware_rev", 64, 8)];

/// Controller of a namespace's disk: `nvme0` for `nvme0n1` and `nvme0c1n1`.
fn controller_name(disk: &str) -> Option<String> {
    let digits: String = disk.strip_prefix("nvme")?.chars().take_while(char::is_ascii_digit).collect();
    (!digits.is_empty()).then(|| format!("nvme{digits}"))
}

pub(crate) fn controller_dir(system: &SystemRoots, disk: &BlockDevice) -> Option<PathBuf> {
    let name = controller_name(&disk.name)?;
    let candidates = [
        disk.hardware_dir(system),
        system.resolve(&system.sys.join("class/nvme").join(&name)),
        // With multipath the disk belongs to the subsystem, which links to its controllers.
        system.resolve(&disk.hardware_dir(system).join(&name)),
    ];
    let above = disk.ancestors(system).into_iter().find(|dir| base_name(dir) == Some(&name));
    let is_controller =
        |dir: &PathBuf| ["transport", "model", "firmware_rev"].iter().any(|f| dir.join(f).exists());
    above.into_iter().chain(candidates).find(is_controller)
}

/// True for SD Express cards, and for cards in a port that opens to the outside.
pub(crate) fn is_removable(system: &SystemRoots, disk: &BlockDevice) -> bool {
    // `removable` of PCI devices: Documentation/ABI/testing/sysfs-devices-removable.
    let outside = |dir: PathBuf| read_text(pci_dir(system, &dir)?.join("removable"));
    let is_outside = controller_dir(system, disk).and_then(outside).as_deref() == Some("removable");
    is_outside || sysfs_names(system, disk).is_some_and(|names| ExpressIdentity::from_names(&names).is_some())
}

/// Names from sysfs, readable without root, as an Identify Controller answer with nothing else.
pub(crate) fn sysfs_names(system: &SystemRoots, disk: &BlockDevice) -> Option<IdentifyController> {
    let dir = controller_dir(system, disk)?;
    let mut data = vec![b' '; IDENTIFY_BYTES];
    for (name, place, length) in NAMES {
        let text = read_text(dir.join(name)).unwrap_or_default();
        let len = text.len().min(length);
        data[place..place + len].copy_from_slice(&text.as_bytes()[..len]);
    }
    IdentifyController::decode(&data).ok()
}

/// PCI device of an NVMe controller in `/sys/bus/pci/devices`: `Documentation/ABI/testing/sysfs-bus-pci` of the Linux
/// kernel.
pub(crate) fn pci_dir(system: &SystemRoots, controller: &Path) -> Option<PathBuf> {
    let linked = system.resolve(&controller.join("device"));
    if is_pci(&linked) {
        return Some(linked);
    }
    let above = controller.ancestors().skip(1).take_while(|dir| *dir != system.sys).find(|dir| is_pci(dir));
    above.map(Path::to_owned).or_else(|| {
        let address = read_text(controller.join("address")).filter(|address| !address.contains('/'))?;
        let by_address = system.resolve(&system.sys.join("bus/pci/devices").join(address));
        is_pci(&by_address).then_some(by_address)
    })
}

fn is_pci(dir: &Path) -> bool {
    dir.join("current_link_speed").exists() || (dir.join("vendor").is_file() && dir.join("class").is_file())
}

/// Queries the controller, or reads its recorded answers.
pub(crate) fn query_controller(system: &SystemRoots, disk: &BlockDevice) -> ControllerData {
    if system.is_live() {
        let device = controller_device(system, disk);
        return device.map(|device| command::query_all(&device, namespace_id(disk))).unwrap_or_default();
    }
    read_recorded(&recorded_dirs(system, disk))
}

fn recorded_dirs(system: &SystemRoots, disk: &BlockDevice) -> Vec<PathBuf> {
    let mut places: Vec<PathBuf> = controller_dir(system, disk).into_iter().collect();
    if let Some(name) = controller_name(&disk.name) {
        places.push(system.sys.join("class/nvme").join(&name));
        places.push(system.sys.join(&name));
        places.extend(system.proc.parent().map(|top| top.join(&name)));
    }
    places
}

fn read_recorded(places: &[PathBuf]) -> ControllerData {
    ControllerData::collect_answers(1, |question| {
        let found = places.iter().find_map(|place| read_bytes(place.join(question.file)));
        // A dword must be complete; the decoders check the lengths of other answers.
        let whole = found.filter(|bytes| question.bytes > 4 || bytes.len() >= 4);
        whole.ok_or_else(|| "it is not in the recording".to_owned())
    })
}

/// Namespace number of a disk; nearly always 1.
fn namespace_id(disk: &BlockDevice) -> u32 {
    let said = read_number(disk.dir.join("nsid")).and_then(|n| u32::try_from(n).ok());
    said.or_else(|| disk.name.rsplit('n').next()?.parse().ok()).unwrap_or(1)
}

/// Device file of the controller (`/dev/nvme0`), which accepts admin commands.
pub(crate) fn controller_device(system: &SystemRoots, disk: &BlockDevice) -> Option<PathBuf> {
    controller_name(&disk.name).map(|name| system.dev.join(name))
}

pub(crate) fn first_namespace(system: &SystemRoots, controller: &str) -> Option<BlockDevice> {
    let mut names = system::dir_names(system.sys.join("block")).into_iter();
    BlockDevice::by_name(system, &names.find(|name| controller_name(name).as_deref() == Some(controller))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controller_name_follows_from_disk_name() {
        assert_eq!(controller_name("nvme0n1").as_deref(), Some("nvme0"));
        assert_eq!(controller_name("nvme12c0n1").as_deref(), Some("nvme12"));
        assert_eq!(controller_name("nvme"), None);
        assert_eq!(controller_name("sda"), None);
    }
}
