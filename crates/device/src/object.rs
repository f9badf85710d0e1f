//! The name of the very card in a device, to which a user agrees: device number, disk sequence, size, and the registers that
//! sysfs shows without a command to the card.
//!
//! A device path says where a card is, not which one: `/dev/sdb` is the next card after a swap. The disk sequence
//! (`diskseq`, `Documentation/ABI/testing/sysfs-block` of the Linux kernel, since 5.15) rises with each medium, also in a reader
//! that stays; before it, size and registers have to do.

use crate::block::{BlockDevice, DeviceNumber, is_listed};
use crate::bus::bus;
use crate::nvme;
use crate::system::{SystemRoots, text};
use crate::usb;
use cardscope_model::device::Bus;
use std::path::{Path, PathBuf};

/// A device that is not, or no longer, the one that was agreed to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ObjectError {
    /// Another card, or the same one after it was taken out and put back.
    #[error(
        "{name} holds another card than when it was listed, or the card was taken out and put back; nothing was written. \
         List the cards again and look which one it is"
    )]
    Changed {
        /// The device as it was named.
        name: String,
    },
    /// Only devices have one.
    #[error("--object is for devices that `cardscope list --json` shows; {name} is not one")]
    NotADevice {
        /// The target as it was named.
        name: String,
    },
}

/// Names the card in a disk; `None` where sysfs has no number for it.
pub(crate) fn object(system: &SystemRoots, disk: &BlockDevice) -> Option<String> {
    let disk = disk.disk();
    let mut parts = vec![disk.number()?.to_string()];
    let mut add = |name: &str, value: Option<String>| {
        let value = value.map(|value| value.split_whitespace().collect::<String>());
        parts.extend(value.filter(|value| !value.is_empty()).map(|value| format!("{name}={value}")));
    };
    add("diskseq", disk.sequence().map(|sequence| sequence.to_string()));
    add("bytes", disk.bytes().map(|bytes| bytes.to_string()));
    let hardware = disk.hardware(system);
    match bus(system, &disk) {
        Bus::Mmc => {
            ["cid", "csd"].into_iter().for_each(|register| add(register, text(hardware.join(register))))
        }
        Bus::Usb => add("serial", usb::place(system, &disk).and_then(|usb| usb.text("serial"))),
        Bus::Nvme => {
            add("serial", nvme::controller(system, &disk).and_then(|dir| text(dir.join("serial"))));
            add("wwid", text(disk.dir.join("wwid")));
        }
        _ => {}
    }
    Some(parts.join(","))
}

/// Checks that the device of this number holds the card that `object` names.
///
/// # Errors
/// If it holds another one, or is gone.
pub fn check_object(number: DeviceNumber, object: &str, name: &Path) -> Result<(), ObjectError> {
    let system = SystemRoots::host();
    let now = BlockDevice::numbered(&system, number).filter(|_| is_listed(number));
    match now.and_then(|disk| self::object(&system, &disk)).as_deref() == Some(object) {
        true => Ok(()),
        false => Err(ObjectError::Changed { name: name.display().to_string() }),
    }
}

/// Checks that a device path leads to the card that `object` names.
///
/// # Errors
/// As [`check_object`], and if the path does not lead to a block device.
pub fn check_object_at(path: &str, object: &str) -> Result<(), ObjectError> {
    let number = crate::block::path_number(Path::new(path))
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
        object(system, &BlockDevice::named(system, name).unwrap()).unwrap()
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
