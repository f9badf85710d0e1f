//! List of the devices present: size, bus, mounts, and whether they are safe to test.

use crate::block::BlockDevice;
use crate::bus::{disk_bus, disk_model, is_removable};
use crate::contents;
use crate::guard::{GuardRefusal, UseSurvey};
use crate::mounts::MountTable;
use crate::object::object_id;
use crate::open;
use crate::system::{SystemRoots, is_number, read_flag, read_text};
use crate::unmount;
use cardscope_model::device::{Bus, DeviceInfo, Partition};
use std::cell::LazyCell;
use std::path::Path;

/// Fingerprint of devices, sizes and mounts, to detect changes. Opens no device.
pub fn device_fingerprint(system: &SystemRoots) -> String {
    let disks = BlockDevice::all_disks(system).into_iter();
    let line = |disk: BlockDevice| format!("{} {:?} {:?}\n", disk.name, disk.bytes(), disk.sequence());
    let mut text: String = disks.map(line).collect();
    for mount in MountTable::read_own(system).mounts {
        text += &format!("{:?}\n", mount.number);
    }
    text
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListScope {
    /// Disks of real hardware, removable or not.
    Hardware,
    WithLoops,
}

/// Parts of an eMMC with disks of their own, and devices made by the kernel.
const EXCLUDED_PREFIXES: &[&str] = &["zram", "ram", "dm-", "md", "sr", "fd", "bcache", "mtdblock"];

/// Lists whole devices by name. Needs no root; unreadable properties stay unknown.
pub fn list_devices(system: &SystemRoots, scope: ListScope) -> Vec<DeviceInfo> {
    let survey = UseSurvey::read_all(system);
    // Queried once, and only if something is mounted. Devices of a recorded computer cannot be unmounted.
    let permitted = LazyCell::new(|| system.is_live() && unmount::may_unmount());
    let entry = |disk: &BlockDevice| DeviceInfo {
        can_unmount: unmount::can_unmount(system, &survey, disk) && *permitted,
        ..device_info(system, &survey, disk)
    };
    BlockDevice::all_disks(system).iter().filter(|disk| is_in_scope(system, disk, scope)).map(entry).collect()
}

fn is_in_scope(system: &SystemRoots, disk: &BlockDevice, scope: ListScope) -> bool {
    match disk_bus(system, disk) {
        // Sixteen unused network devices and eight unused loop devices would clutter the list.
        Bus::Loop | Bus::Nbd => scope == ListScope::WithLoops && disk.bytes() != Some(0),
        Bus::Mmc => disk.name.strip_prefix("mmcblk").is_some_and(is_number),
        Bus::Nvme => read_flag(disk.dir.join("hidden")) != Some(true),
        Bus::Other => {
            let kernel_made = disk.dir.components().any(|part| part.as_os_str() == "virtual");
            !kernel_made && !EXCLUDED_PREFIXES.iter().any(|prefix| disk.name.starts_with(prefix))
        }
        Bus::Usb | Bus::Ata | Bus::Virtio => true,
    }
}

fn device_info(system: &SystemRoots, survey: &UseSurvey, disk: &BlockDevice) -> DeviceInfo {
    let refusal = survey.check_writable(system, disk).err();
    let empty = matches!(refusal, Some(GuardRefusal::Empty { .. })) || disk.bytes() == Some(0);
    let mut entry = DeviceInfo {
        name: disk.name.clone(),
        path: disk.path(system).to_string_lossy().into_owned(),
        bytes: disk.bytes(),
        bus: disk_bus(system, disk),
        model: disk_model(system, disk),
        removable: is_removable(system, disk),
        read_only: disk.is_read_only(),
        empty,
        partitions: disk.partitions().iter().map(|part| partition_info(system, survey, part)).collect(),
        filesystem: file_system_of(system, disk),
        mounted_at: survey.mount_points(disk),
        mounted: survey.is_mounted(disk),
        safe: refusal.is_none(),
        reason: refusal.as_ref().map(ToString::to_string),
        cause: refusal.as_ref().map(GuardRefusal::cause),
        advice: refusal.as_ref().map(GuardRefusal::advice),
        can_unmount: false,
        object: None,
    };
    // Comes last: a reader detects another card only when its device is opened, which reading its file system did
    // above.
    entry.object = object_id(system, disk);
    entry
}

fn partition_info(system: &SystemRoots, survey: &UseSurvey, part: &BlockDevice) -> Partition {
    Partition {
        name: part.name.clone(),
        bytes: part.bytes(),
        filesystem: file_system_of(system, part),
        mounted_at: survey.mount_points(part),
    }
}

/// File system of a disk or partition, from the mount table, its first bytes, or udev's database.
fn file_system_of(system: &SystemRoots, device: &BlockDevice) -> Option<String> {
    let number = device.number();
    if let Some(mount) = MountTable::read_own(system).mounts.iter().find(|mount| Some(mount.number) == number)
    {
        return Some(mount.kind.clone());
    }
    if !system.is_live() || device.bytes() == Some(0) {
        return None;
    }
    file_system_from_bytes(&device.path(system)).or_else(|| {
        let notes = read_text(format!("/run/udev/data/b{}", number?))?;
        notes.lines().find_map(|line| line.strip_prefix("E:ID_FS_TYPE=")).map(str::to_owned)
    })
}

fn file_system_from_bytes(path: &Path) -> Option<String> {
    let file = open::open_shared(path).ok()?;
    let bytes = open::device_size(&file).ok()?;
    contents::examine_file(&file, bytes).whole.map(|found| found.kind.to_owned())
}
