//! What lies under a mount, a swap area or a loop device, down to the disks.

use crate::block::{BlockDevice, path_number};
use crate::mounts::{MountEntry, mount_of};
use crate::system::{SystemRoots, text};
use std::path::{Path, PathBuf};

/// Layers that are followed down at most; a ring in garbage must end.
const DEEPEST: usize = 16;

/// Devices of a mount: by its number, and by its source where the number is anonymous (btrfs, bcachefs).
pub(crate) fn mount_devices(system: &SystemRoots, mount: &MountEntry) -> Vec<BlockDevice> {
    let mut devices: Vec<BlockDevice> = BlockDevice::numbered(system, mount.number).into_iter().collect();
    if devices.is_empty() && mount.number.major == 0 {
        let sources = mount.source.split(':').filter(|source| source.starts_with("/dev/"));
        devices.extend(sources.filter_map(|source| device_at(system, Path::new(source))));
    }
    devices
}

/// The block device that a path names, on this machine by its number, in a recorded tree by its name.
pub(super) fn device_at(system: &SystemRoots, path: &Path) -> Option<BlockDevice> {
    if system.is_live() {
        return BlockDevice::numbered(system, path_number(path)?);
    }
    let name = path.strip_prefix("/dev").ok()?.to_str()?;
    let mapped = name.strip_prefix("mapper/").and_then(|mapped| by_mapper_name(system, mapped));
    mapped.or_else(|| BlockDevice::named(system, name))
}

fn by_mapper_name(system: &SystemRoots, mapped: &str) -> Option<BlockDevice> {
    BlockDevice::all(system)
        .into_iter()
        .find(|disk| text(disk.dir.join("dm/name")).as_deref() == Some(mapped))
}

/// Visits a device and all beneath it, each with the names on the way down to it, itself last.
pub(super) fn descend(
    system: &SystemRoots,
    mounts: &[MountEntry],
    device: &BlockDevice,
    above: &[String],
    visit: &mut dyn FnMut(&[String]),
) {
    if above.len() >= DEEPEST || above.contains(&device.name) {
        return;
    }
    let path: Vec<String> = above.iter().cloned().chain([device.name.clone()]).collect();
    visit(&path);
    for beneath in beneath(system, mounts, device) {
        descend(system, mounts, &beneath, &path, visit);
    }
}

/// These devices and all that they stand on, however deep, each once.
pub(crate) fn all_beneath(
    system: &SystemRoots,
    mounts: &[MountEntry],
    mut devices: Vec<BlockDevice>,
) -> Vec<BlockDevice> {
    let mut found: Vec<BlockDevice> = Vec::new();
    while let Some(device) = devices.pop() {
        if !found.contains(&device) {
            devices.extend(beneath(system, mounts, &device));
            found.push(device);
        }
    }
    found
}

/// What a device stands on directly: slaves, or the device or mounted file behind a loop device. A partition
/// of a device mapper or loop disk stands on what its disk stands on.
pub(crate) fn beneath(system: &SystemRoots, mounts: &[MountEntry], device: &BlockDevice) -> Vec<BlockDevice> {
    let disk = device.disk();
    let mut found: Vec<BlockDevice> =
        disk.slaves().iter().filter_map(|name| BlockDevice::named(system, name)).collect();
    if let Some(file) = disk.backing_file().map(PathBuf::from) {
        match device_at(system, &file) {
            Some(device) => found.push(device),
            None => found
                .extend(mount_of(mounts, &file).into_iter().flat_map(|mount| mount_devices(system, mount))),
        }
    }
    found
}
