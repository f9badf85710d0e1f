//! May this plain file be written to? An image under a loop device and a swap file are files in use, though no lock
//! says so.

use super::Refusal;
use crate::block::BlockDevice;
use crate::mounts::swaps;
use crate::open;
use crate::system::System;
use cardscope_files::Identity;
use std::path::Path;

/// Looks whether a plain file may be written to.
///
/// # Errors
/// If a loop device stands on it, or it is swap.
pub fn check_file(system: &System, file: &Path) -> Result<(), Refusal> {
    Identity::at(file).map_or(Ok(()), |id| check_file_id(system, id, file))
}

/// The same of a file that is known by its inode; `name` is for the refusal.
///
/// # Errors
/// As [`check_file`].
pub fn check_file_id(system: &System, id: Identity, name: &Path) -> Result<(), Refusal> {
    let file = || name.display().to_string();
    if let Some(device) = BlockDevice::all(system).iter().find(|device| stands_on(system, device, id)) {
        return Err(Refusal::UnderLoop { file: file(), device: device.name.clone() });
    }
    match swaps(system).iter().find(|swap| Identity::at(swap) == Some(id)) {
        Some(_) => Err(Refusal::SwapFile { file: file() }),
        None => Ok(()),
    }
}

/// The loop device itself knows the inode it stands on; its path in sysfs, which has to do where we may not ask the
/// device, leads nowhere for a file that was removed or is seen in another mount namespace only.
fn stands_on(system: &System, device: &BlockDevice, id: Identity) -> bool {
    let Some(path) = device.backing_file() else { return false };
    let asked = system.is_live().then(|| open::loop_file(&device.path(system))).flatten();
    asked.or_else(|| Identity::at(Path::new(&path))) == Some(id)
}
