//! Disk of a path compared with that of the running system, which on a small board is a card itself, and with the card
//! under test, on which Cardscope must not store its own files.

use super::{layers_and_disks, mounted_devices, nearest_existing};
use crate::block::{BlockDevice, DeviceNumber};
use crate::guard::{self, is_system_point};
use crate::mounts::{MountEntry, mount_of, own_mounts};
use crate::system::{SystemRoots, dir_names};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

const IN_MEMORY: [&str; 2] = ["tmpfs", "ramfs"];

/// Disk that a path shares with the running system, or their file system if no disk is visible; `None` if they share
/// none, or the path is in memory.
pub fn disk_shared_with_system(system: &SystemRoots, path: &Path) -> Option<String> {
    let mounts = own_mounts(system);
    let real = if system.is_live() { nearest_existing(path).ok()? } else { path.to_owned() };
    let here = upper_mount(&mounts, mount_of(&mounts, &real)?);
    if IN_MEMORY.contains(&here.kind.as_str()) {
        return None;
    }
    let mine = disks_below(system, &mounts, here);
    let of_system = mounts.iter().filter(|mount| !mount.in_other_namespace && holds_system(&mount.point));
    of_system.map(|mount| upper_mount(&mounts, mount)).find_map(|mount| {
        let theirs = disks_below(system, &mounts, mount);
        let disk = mine.iter().find(|disk| theirs.contains(disk)).cloned();
        disk.or_else(|| same_file_system(here, mount).then(|| here.kind.clone()))
    })
}

/// True if `path`, or its nearest existing parent, is stored on the disk of `card`, directly or through loop devices,
/// device mapper and mounts. False if `card` is not a block device.
pub fn is_on_disk_of(path: &Path, card: &str) -> bool {
    let system = SystemRoots::host();
    let Some(card) = BlockDevice::find(&system, card) else { return false };
    let Ok(real) = nearest_existing(path) else { return false };
    let Ok(meta) = real.metadata() else { return false };
    let mounts = own_mounts(&system);
    let number = DeviceNumber::from_raw(meta.dev());
    let devices = mounted_devices(&system, mount_of(&mounts, &real), number);
    let below = guard::with_all_below(&system, &mounts, devices);
    below.iter().any(|device| device.disk().name == card.disk().name)
}

/// A container mounts single files of the system from its disk.
fn holds_system(point: &Path) -> bool {
    is_system_point(&point.to_string_lossy()) || point.starts_with("/etc")
}

/// Mount that an overlay writes to, if it is visible here; any other mount itself.
fn upper_mount<'m>(mounts: &'m [MountEntry], mount: &'m MountEntry) -> &'m MountEntry {
    let upper = mount.options.split(',').find_map(|option| option.strip_prefix("upperdir="));
    let beneath =
        upper.filter(|_| mount.kind == "overlay").and_then(|upper| mount_of(mounts, Path::new(upper)));
    beneath.unwrap_or(mount)
}

/// True also for the same file system mounted twice, and for all file systems of a ZFS pool.
fn same_file_system(one: &MountEntry, other: &MountEntry) -> bool {
    let pool = |mount: &MountEntry| mount.source.split('/').next().unwrap_or_default().to_owned();
    one.number == other.number || one.kind == "zfs" && other.kind == "zfs" && pool(one) == pool(other)
}

fn disks_below(system: &SystemRoots, mounts: &[MountEntry], mount: &MountEntry) -> Vec<String> {
    let mut devices = mounted_devices(system, Some(mount), mount.number);
    if mount.kind == "btrfs" {
        let known: Vec<String> = devices.iter().map(|device| device.name.clone()).collect();
        devices.extend(other_btrfs_members(system, &known));
    }
    let (_, mut disks) = layers_and_disks(system, mounts, devices);
    disks.sort();
    disks
}

/// Only one device of a btrfs file system appears in the mount table.
fn other_btrfs_members(system: &SystemRoots, known: &[String]) -> Vec<BlockDevice> {
    let root = system.sys.join("fs/btrfs");
    let members = dir_names(&root).into_iter().map(|uuid| dir_names(root.join(uuid).join("devices")));
    let ours = members.filter(|members| members.iter().any(|name| known.contains(name)));
    ours.flatten()
        .filter(|name| !known.contains(name))
        .filter_map(|name| BlockDevice::by_name(system, &name))
        .collect()
}
