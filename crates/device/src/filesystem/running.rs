//! Which disk a path lies on: that of the running system, which on a small board is a card like those that are tested, or
//! the card that is measured, where nothing that belongs to a test may lie.

use super::{descend, mounted_devices, nearest};
use crate::block::{BlockDevice, DeviceNumber};
use crate::guard::{self, is_system_point};
use crate::mounts::{MountEntry, mount_of, own_mounts};
use crate::system::{SystemRoots, names};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// File systems in memory: nothing of them is on a disk.
const IN_MEMORY: [&str; 2] = ["tmpfs", "ramfs"];

/// The disk, by its kernel name, or the file system where no disk shows, that a path shares with the running system;
/// `None` where it lies elsewhere, or in memory.
pub fn shared_with_system(system: &SystemRoots, path: &Path) -> Option<String> {
    let mounts = own_mounts(system);
    let real = if system.is_live() { nearest(path).ok()? } else { path.to_owned() };
    let here = written_to(&mounts, mount_of(&mounts, &real)?);
    if IN_MEMORY.contains(&here.kind.as_str()) {
        return None;
    }
    let mine = disks(system, &mounts, here);
    let of_system = mounts.iter().filter(|mount| !mount.elsewhere && holds_system(&mount.point));
    of_system.map(|mount| written_to(&mounts, mount)).find_map(|mount| {
        let theirs = disks(system, &mounts, mount);
        let disk = mine.iter().find(|disk| theirs.contains(disk)).cloned();
        disk.or_else(|| same_file_system(here, mount).then(|| here.kind.clone()))
    })
}

/// True where `path`, or its nearest parent that is there, lies on the disk of `card`, in whatever partition and however
/// deep below: through loop devices, device mapper and mounts. False for a card that is no block device.
pub fn lies_on(path: &Path, card: &str) -> bool {
    let system = SystemRoots::host();
    let Some(card) = BlockDevice::find(&system, card) else { return false };
    let Ok(real) = nearest(path) else { return false };
    let Ok(meta) = real.metadata() else { return false };
    let mounts = own_mounts(&system);
    let number = DeviceNumber::from_raw(meta.dev());
    let devices = mounted_devices(&system, mount_of(&mounts, &real), number);
    let below = guard::all_beneath(&system, &mounts, devices);
    below.iter().any(|device| device.disk().name == card.disk().name)
}

/// In a container single files of the system are mounted from its disk.
fn holds_system(point: &Path) -> bool {
    is_system_point(&point.to_string_lossy()) || point.starts_with("/etc")
}

/// What an overlay writes to, as far as it can be seen from here; any other mount itself.
fn written_to<'m>(mounts: &'m [MountEntry], mount: &'m MountEntry) -> &'m MountEntry {
    let upper = mount.options.split(',').find_map(|option| option.strip_prefix("upperdir="));
    let beneath =
        upper.filter(|_| mount.kind == "overlay").and_then(|upper| mount_of(mounts, Path::new(upper)));
    beneath.unwrap_or(mount)
}

/// One and the same file system, mounted twice perhaps; of a ZFS pool all its file systems.
fn same_file_system(one: &MountEntry, other: &MountEntry) -> bool {
    let pool = |mount: &MountEntry| mount.source.split('/').next().unwrap_or_default().to_owned();
    one.number == other.number || one.kind == "zfs" && other.kind == "zfs" && pool(one) == pool(other)
}

/// All disks beneath a mount.
fn disks(system: &SystemRoots, mounts: &[MountEntry], mount: &MountEntry) -> Vec<String> {
    let mut devices = mounted_devices(system, Some(mount), mount.number);
    if mount.kind == "btrfs" {
        let known: Vec<String> = devices.iter().map(|device| device.name.clone()).collect();
        devices.extend(other_members(system, &known));
    }
    let (_, mut disks) = descend(system, mounts, devices);
    disks.sort();
    disks
}

/// The other devices of a btrfs file system: only one of them appears in the list of mounts.
fn other_members(system: &SystemRoots, known: &[String]) -> Vec<BlockDevice> {
    let root = system.sys().join("fs/btrfs");
    let members = names(&root).into_iter().map(|uuid| names(root.join(uuid).join("devices")));
    let ours = members.filter(|members| members.iter().any(|name| known.contains(name)));
    ours.flatten()
        .filter(|name| !known.contains(name))
        .filter_map(|name| BlockDevice::named(system, &name))
        .collect()
}
