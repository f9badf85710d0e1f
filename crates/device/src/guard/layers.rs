//! Devices below a mount, a swap area or a loop device, down to the disks.

use crate::block::{BlockDevice, block_number_at};
use crate::mounts::{MountEntry, mount_of};
use crate::system::{SystemRoots, read_text};
use std::path::{Path, PathBuf};

/// Limit, since garbage may form a loop.
const DEEPEST: usize = 16;

/// Devices of a mount: by number, or by source if the number is anonymous (btrfs, bcachefs).
pub(crate) fn mount_devices(system: &SystemRoots, mount: &MountEntry) -> Vec<BlockDevice> {
    let mut devices: Vec<BlockDevice> = BlockDevice::by_number(system, mount.number).into_iter().collect();
    if devices.is_empty() && mount.number.major == 0 {
        let sources = mount.source.split(':').filter(|source| source.starts_with("/dev/"));
        devices.extend(sources.filter_map(|source| device_at(system, Path::new(source))));
    }
    devices
}

/// Block device at a path; recorded trees are searched by name.
pub(super) fn device_at(system: &SystemRoots, path: &Path) -> Option<BlockDevice> {
    if system.is_live() {
        return BlockDevice::by_number(system, block_number_at(path)?);
    }
    let name = path.strip_prefix("/dev").ok()?.to_str()?;
    let mapped = name.strip_prefix("mapper/").and_then(|mapped| by_mapper_name(system, mapped));
    mapped.or_else(|| BlockDevice::by_name(system, name))
}

fn by_mapper_name(system: &SystemRoots, mapped: &str) -> Option<BlockDevice> {
    BlockDevice::all_disks(system)
        .into_iter()
        .find(|disk| read_text(disk.dir.join("dm/name")).as_deref() == Some(mapped))
}

/// Calls `visit` for a device and each one below it, with the names from the top down to it.
pub(super) fn visit_below(
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
    for beneath in devices_below(system, mounts, device) {
        visit_below(system, mounts, &beneath, &path, visit);
    }
}

/// These devices and all below them, each once.
pub(crate) fn with_all_below(
    system: &SystemRoots,
    mounts: &[MountEntry],
    mut devices: Vec<BlockDevice>,
) -> Vec<BlockDevice> {
    let mut found: Vec<BlockDevice> = Vec::new();
    while let Some(device) = devices.pop() {
        if !found.contains(&device) {
            devices.extend(devices_below(system, mounts, &device));
            found.push(device);
        }
    }
    found
}

/// Devices directly below: slaves, or the device or disk behind a loop device. Partitions have those of their disk.
pub(crate) fn devices_below(
    system: &SystemRoots,
    mounts: &[MountEntry],
    device: &BlockDevice,
) -> Vec<BlockDevice> {
    let disk = device.disk();
    let mut found: Vec<BlockDevice> =
        disk.slaves().iter().filter_map(|name| BlockDevice::by_name(system, name)).collect();
    if let Some(file) = disk.backing_file().map(PathBuf::from) {
        match device_at(system, &file) {
            Some(device) => found.push(device),
            None => found
                .extend(mount_of(mounts, &file).into_iter().flat_map(|mount| mount_devices(system, mount))),
        }
    }
    found
}
