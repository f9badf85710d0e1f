//! Identity string of the card in a device, by which a user confirms one card: device number, disk sequence number,
//! size, and the registers in sysfs, so that no command goes to the card.
//!
//! A device path is not enough: after a swap `/dev/sdb` is the next card. The disk sequence number (`diskseq`,
//! `Documentation/ABI/testing/sysfs-block` of the Linux kernel, since 5.15) rises with each medium, even in the same
//! reader; older kernels leave only size and registers.

use crate::block::{BlockDevice, DeviceNumber, is_listed};
use crate::bus::disk_bus;
use crate::nvme;
use crate::system::{SystemRoots, read_text};
use crate::usb;
use cardscope_model::device::Bus;
use std::path::{Path, PathBuf};

/// Mismatch between a device and the confirmed card.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ObjectError {
    /// Another card, or the same one after it was taken out and inserted again.
    #[error(
        "{name} holds another card than when it was listed, or the card was taken out and put back; \
             nothing was written. List the cards again and look which one it is"
    )]
    Changed { name: String },
    #[error("--object is for devices that `cardscope list --json` shows; {name} is not one")]
    NotADevice { name: String },
}

/// Identity string of the card in a disk; `None` if sysfs has no number for it.
pub(crate) fn object_id(system: &SystemRoots, disk: &BlockDevice) -> Option<String> {
    let disk = disk.disk();
    let mut parts = vec![disk.number()?.to_string()];
    let mut add = |name: &str, value: Option<String>| {
        let value = value.map(|value| value.split_whitespace().collect::<String>());
        parts.extend(value.filter(|value| !value.is_empty()).map(|value| format!("{name}={value}")));
    };
    add("diskseq", disk.sequence().map(|sequence| sequence.to_string()));
    add("bytes", disk.bytes().map(|bytes| bytes.to_string()));
    let hardware = disk.hardware_dir(system);
    match disk_bus(system, &disk) {
        Bus::Mmc => ["cid", "csd"].into_iter().for_each(|name| add(name, read_text(hardware.join(name)))),
        Bus::Usb => add("serial", usb::usb_path(system, &disk).and_then(|usb| usb.attribute("serial"))),
        Bus::Nvme => {
            add("serial", nvme::controller_dir(system, &disk).and_then(|dir| read_text(dir.join("serial"))));
            add("wwid", read_text(disk.dir.join("wwid")));
        }
        _ => {}
    }
    Some(parts.join(","))
}

/// Checks that the device of this number still holds the card identified by `object`.
pub fn check_object(number: DeviceNumber, object: &str, name: &Path) -> Result<(), ObjectError> {
    let system = SystemRoots::host();
    let now = BlockDevice::by_number(&system, number).filter(|_| is_listed(number));
    let same = now.and_then(|disk| object_id(&system, &disk)).as_deref() == Some(object);
    same.then_some(()).ok_or_else(|| ObjectError::Changed { name: name.display().to_string() })
}

/// Checks a device by its path, like [`check_object`].
pub fn check_object_at(path: &str, object: &str) -> Result<(), ObjectError> {
    let number = crate::block::block_number_at(Path::new(path))
        .ok_or_else(|| ObjectError::Changed { name: path.to_owned() })?;
    check_object(number, object, &PathBuf::from(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{machine, put};

    const TREE: &str = "
        sys/block/mmcblk0/dev = 179:0
        sys/block/mmcblk0/diskseq = 7
        sys/block/mmcblk0/size = 62333952
        sys/block/mmcblk0/device/cid = 035344534c33324780123456780157ab
        sys/block/mmcblk0/device/csd = 400e00325b590000edc87f800a4040c3
        sys/block/mmcblk0/mmcblk0p1/partition = 1
        sys/block/sdb/dev = 8:16
        sys/block/sdb/size = 0
    ";

    fn named(system: &SystemRoots, name: &str) -> String {
        object_id(system, &BlockDevice::by_name(system, name).unwrap()).unwrap()
    }

    #[test]
    fn object_names_number_sequence_size_and_registers() {
        let (_dir, system) = machine(TREE);
        let card = "179:0,diskseq=7,bytes=31914983424,cid=035344534c33324780123456780157ab,\
                    csd=400e00325b590000edc87f800a4040c3";
        assert_eq!(named(&system, "mmcblk0"), card);
        assert_eq!(named(&system, "mmcblk0p1"), card, "a partition lies on the same card");
        assert_eq!(named(&system, "sdb"), "8:16,bytes=0");
    }

    #[test]
    fn object_changes_with_each_of_its_parts() {
        for (file, content) in [
            ("dev", "179:8\n"),
            ("diskseq", "8\n"),
            ("size", "62333951\n"),
            ("device/cid", "035344534c33324780123456790157ab\n"),
            ("device/csd", "400e00325b590000edc87f800a4040c5\n"),
        ] {
            let (dir, system) = machine(TREE);
            let before = named(&system, "mmcblk0");
            put(dir.path(), &format!("sys/block/mmcblk0/{file}"), content);
            assert_ne!(named(&system, "mmcblk0"), before, "{file}");
        }
    }
}
