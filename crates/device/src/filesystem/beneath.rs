//! May something that belongs to a test lie under this path: does the path lie on the card itself, through
//! partitions, loop devices, device mapper and mounts.

use super::{mounted_devices, nearest};
use crate::block::{BlockDevice, DeviceNumber};
use crate::guard;
use crate::mounts::{mount_of, own_mounts};
use crate::system::System;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// True where `path`, or its nearest parent that is there, lies on the disk of `card`, in whatever partition and
/// however deep below. False for a card that is no block device.
#[must_use]
pub fn lies_on(path: &Path, card: &str) -> bool {
    let system = System::host();
    let Some(card) = BlockDevice::find(&system, card) else { return false };
    let Ok(real) = nearest(path) else { return false };
    let Ok(meta) = real.metadata() else { return false };
    let mounts = own_mounts(&system);
    let number = DeviceNumber::from_raw(meta.dev());
    let mut devices = mounted_devices(&system, mount_of(&mounts, &real), number);
    let mut seen = Vec::new();
    while let Some(device) = devices.pop() {
        if seen.contains(&device.name) {
            continue;
        }
        if device.disk().name == card.disk().name {
            return true;
        }
        devices.extend(guard::beneath(&system, &mounts, &device));
        seen.push(device.name);
    }
    false
}
