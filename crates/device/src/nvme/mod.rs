//! NVMe cards: where their controller lies in sysfs, and what it answers when asked.
//!
//! sd-facts section 7. Asking needs root; in a recorded tree the raw answers may lie as files in the controller's
//! directory (`class/nvme/nvme0/` or where the disk's `device` leads) or in `nvme0/` at the top of the recording:
//! `identify_controller.bin` and `identify_namespace.bin` (4096 bytes each), `smart_log.bin` (512 bytes),
//! `feature_04.bin` and `feature_10.bin` (the result dword, 4 bytes, little-endian).

mod command;

pub(crate) use command::{Answers, composite_celsius, ping, smart_log};

use crate::block::BlockDevice;
use crate::system::{System, base_name, bytes, names, number, text};
use std::path::{Path, PathBuf};

/// Name of the controller of a namespace's disk: `nvme0n1` and `nvme0c1n1` belong to `nvme0`.
fn controller_name(disk: &str) -> Option<String> {
    let digits: String = disk.strip_prefix("nvme")?.chars().take_while(char::is_ascii_digit).collect();
    (!digits.is_empty()).then(|| format!("nvme{digits}"))
}

/// Directory of the controller behind a disk.
pub(crate) fn controller(system: &System, disk: &BlockDevice) -> Option<PathBuf> {
    let name = controller_name(&disk.name)?;
    let candidates = [
        disk.hardware(system),
        system.resolve(&system.sys().join("class/nvme").join(&name)),
        // With multipath the disk hangs on the subsystem, which links to its controllers.
        system.resolve(&disk.hardware(system).join(&name)),
    ];
    let above = disk.ancestors(system).into_iter().find(|dir| base_name(dir) == Some(&name));
    above.into_iter().chain(candidates).find(|dir| {
        dir.join("transport").exists() || dir.join("model").exists() || dir.join("firmware_rev").exists()
    })
}

/// True for a card that can be taken out: an SD Express card, or any in a port that opens to the outside.
pub(crate) fn is_removable(system: &System, disk: &BlockDevice) -> bool {
    let Some(dir) = controller(system, disk) else { return false };
    let model = text(dir.join("model")).unwrap_or_default();
    // `removable` of PCI devices: Documentation/ABI/testing/sysfs-devices-removable.
    let outside =
        pci_place(system, &dir).and_then(|pci| text(pci.join("removable"))).as_deref() == Some("removable");
    outside || is_sd_express_name(&model)
}

/// The model of an SD Express card: five letters of product name, then major and minor number of its SD
/// specification, 7.0 or later, then nothing or a blank or a line (PLS 8.1.7: `LX1TB71`, `SD   71`, `ST25671_WDC…`).
pub(crate) fn is_sd_express_name(model: &str) -> bool {
    let name = model.as_bytes();
    let spec = matches!(name.get(5), Some(b'7'..=b'9')) && matches!(name.get(6), Some(b'0'..=b'9'));
    spec && name.get(7).is_none_or(|next| !next.is_ascii_alphanumeric())
}

/// The PCI device above a directory of an NVMe controller, of `/sys/bus/pci/devices`:
/// `Documentation/ABI/testing/sysfs-bus-pci` of the Linux kernel.
pub(crate) fn pci_place(system: &System, controller: &Path) -> Option<PathBuf> {
    let linked = system.resolve(&controller.join("device"));
    if is_pci(&linked) {
        return Some(linked);
    }
    let above = controller.ancestors().skip(1).take_while(|dir| *dir != system.sys()).find(|dir| is_pci(dir));
    above.map(Path::to_owned).or_else(|| {
        let address = text(controller.join("address")).filter(|address| !address.contains('/'))?;
        let by_address = system.resolve(&system.sys().join("bus/pci/devices").join(address));
        is_pci(&by_address).then_some(by_address)
    })
}

fn is_pci(dir: &Path) -> bool {
    dir.join("current_link_speed").exists() || (dir.join("vendor").is_file() && dir.join("class").is_file())
}

/// Asks the controller, or reads what was recorded of it.
pub(crate) fn ask(system: &System, disk: &BlockDevice) -> Answers {
    if system.is_live() {
        return controller_device(system, disk)
            .map(|device| command::ask(&device, namespace_id(disk)))
            .unwrap_or_default();
    }
    recorded(&recorded_places(system, disk))
}

fn recorded_places(system: &System, disk: &BlockDevice) -> Vec<PathBuf> {
    let mut places: Vec<PathBuf> = controller(system, disk).into_iter().collect();
    if let Some(name) = controller_name(&disk.name) {
        places.push(system.sys().join("class/nvme").join(&name));
        places.push(system.sys().join(&name));
        places.extend(system.proc().parent().map(|top| top.join(&name)));
    }
    places
}

fn recorded(places: &[PathBuf]) -> Answers {
    let find = |name: &str| places.iter().find_map(|place| bytes(place.join(name)));
    let dword = |name: &str| find(name)?.get(..4)?.try_into().ok().map(u32::from_le_bytes);
    let mut answers = Answers {
        identify: find("identify_controller.bin"),
        namespace: find("identify_namespace.bin"),
        smart: find("smart_log.bin"),
        feature_04: dword("feature_04.bin"),
        feature_10: dword("feature_10.bin"),
        missing: Vec::new(),
    };
    answers.note_missing("it is not in the recording");
    answers
}

impl Answers {
    fn note_missing(&mut self, reason: &str) {
        let wanted = [
            ("Identify Controller", self.identify.is_none()),
            ("Identify Namespace", self.namespace.is_none()),
            ("SMART log", self.smart.is_none()),
            ("Get Features 04h", self.feature_04.is_none()),
            ("Get Features 10h", self.feature_10.is_none()),
        ];
        let told = |what| self.missing.iter().any(|(known, _)| *known == what);
        let new: Vec<_> = wanted.into_iter().filter(|(what, missing)| *missing && !told(*what)).collect();
        self.missing.extend(new.into_iter().map(|(what, _)| (what, reason.to_owned())));
    }
}

/// Number of the namespace that a disk stands for; nearly all controllers have number 1 only.
fn namespace_id(disk: &BlockDevice) -> u32 {
    let said = number(disk.dir.join("nsid")).and_then(|n| u32::try_from(n).ok());
    said.or_else(|| disk.name.rsplit('n').next()?.parse().ok()).unwrap_or(1)
}

/// The controller's own device file (`/dev/nvme0`), which takes admin commands.
pub(crate) fn controller_device(system: &System, disk: &BlockDevice) -> Option<PathBuf> {
    controller_name(&disk.name).map(|name| system.dev().join(name))
}

/// The disk of a controller's first namespace.
pub(crate) fn first_namespace(system: &System, controller: &str) -> Option<BlockDevice> {
    let wanted = names(system.sys().join("block"))
        .into_iter()
        .find(|name| controller_name(name).as_deref() == Some(controller))?;
    BlockDevice::named(system, &wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_controller_of_a_namespace_is_known_by_its_name() {
        assert_eq!(controller_name("nvme0n1").as_deref(), Some("nvme0"));
        assert_eq!(controller_name("nvme12c0n1").as_deref(), Some("nvme12"));
        assert_eq!(controller_name("nvme"), None);
        assert_eq!(controller_name("sda"), None);
    }

    #[test]
    fn sd_express_cards_are_told_from_other_nvme_by_their_model() {
        for card in ["LX1TB71", "SD   71", "ST25671_WDC SanDisk SD Express SDSQXFN"] {
            assert!(is_sd_express_name(card), "{card}");
        }
        for disk in
            ["Samsung SSD 980", "WDS500G1X0C-00ENX0", "MZVLB512HAJQ", "KXG60ZNV256G", "CT500P1SSD8", ""]
        {
            assert!(!is_sd_express_name(disk), "{disk}");
        }
    }
}
