//! May this plain file be written to? An image under a loop device and a swap file are files in use, though no lock
//! says so.

use super::Refusal;
use crate::block::BlockDevice;
use crate::mounts::swaps;
use crate::system::System;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Looks whether a plain file may be written to.
///
/// # Errors
/// If a loop device stands on it, or it is swap.
pub fn check_file(system: &System, file: &Path) -> Result<(), Refusal> {
    match file.metadata() {
        Ok(about) => check_open_file(system, file, &about),
        Err(_) => Ok(()),
    }
}

/// As [`check_file`], of a file that is held open: `about` is its own, `file` its name for messages.
///
/// # Errors
/// If a loop device stands on it, or it is swap.
pub fn check_open_file(system: &System, file: &Path, about: &Metadata) -> Result<(), Refusal> {
    let same = |other: &Path| is_file(about, other);
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
fn is_file(about: &Metadata, other: &Path) -> bool {
    other.metadata().is_ok_and(|other| (about.dev(), about.ino()) == (other.dev(), other.ino()))
}
