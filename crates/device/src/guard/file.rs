//! May this plain file be written to? An image under a loop device and a swap file are files in use, though no lock
//! says so.

use super::Refusal;
use crate::block::BlockDevice;
use crate::mounts::swaps;
use crate::system::System;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Looks whether a plain file may be written to.
///
/// # Errors
/// If a loop device stands on it, or it is swap.
pub fn check_file(system: &System, file: &Path) -> Result<(), Refusal> {
    let same = |other: &Path| same_file(file, other);
    let file_name = || file.display().to_string();
    if let Some(device) =
        BlockDevice::all(system).iter().find(|d| d.backing_file().is_some_and(|b| same(Path::new(&b))))
    {
        return Err(Refusal::UnderLoop { file: file_name(), device: device.name.clone() });
    }
    match swaps(system).iter().find(|swap| same(swap)) {
        Some(_) => Err(Refusal::SwapFile { file: file_name() }),
        None => Ok(()),
    }
}

/// By inode, so that links and other names of one file are seen through.
fn same_file(a: &Path, b: &Path) -> bool {
    match (a.metadata(), b.metadata()) {
        (Ok(a), Ok(b)) => (a.dev(), a.ino()) == (b.dev(), b.ino()),
        _ => false,
    }
}
