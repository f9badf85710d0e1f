//! May this plain file be written to? An image under a loop device and a swap file are files in use, though no lock
//! says so.

use super::Refusal;
use crate::block::BlockDevice;
use crate::mounts::swaps;
use crate::open;
use crate::system::{System, text};
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
    if swaps(system).iter().any(|swap| Identity::at(swap) == Some(id)) {
        return Err(Refusal::SwapFile(file()));
    }
    Ok(())
}

/// Looks whether another program has a part of the file locked. The kernel stops all locking for some milliseconds to
/// list the locks, so this is nothing to ask every second.
///
/// # Errors
/// If one has.
pub(crate) fn check_locks(system: &System, id: Identity, name: &Path) -> Result<(), Refusal> {
    match locked_by(system, id) {
        Some(by) => Err(Refusal::LockedFile { file: name.display().to_string(), by }),
        None => Ok(()),
    }
}

/// Who has a part of the file locked with fcntl(2), as virtual machines lock their images and databases their files; from
/// `proc_locks(5)`. Locks of flock(2), our own among them, are met by taking one.
fn locked_by(system: &System, id: Identity) -> Option<String> {
    let (major, minor) = (rustix::fs::major(id.device), rustix::fs::minor(id.device));
    let file = format!("{major:02x}:{minor:02x}:{}", id.inode);
    let locks = text(system.proc().join("locks"))?;
    let holder = locks.lines().find_map(|line| {
        let mut words = line.split_whitespace().skip(1).filter(|word| *word != "->");
        let kind = words.next().filter(|kind| ["POSIX", "OFDLCK"].contains(kind))?;
        let (process, locked) = (words.nth(2)?, words.next()?);
        (locked == file).then_some((kind, process))
    })?;
    Some(match holder {
        ("POSIX", process) => format!("process {process}"),
        _ => "another program".to_owned(),
    })
}

/// The loop device itself knows the inode it stands on; its path in sysfs, which has to do where we may not ask the
/// device, leads nowhere for a file that was removed or is seen in another mount namespace only.
fn stands_on(system: &System, device: &BlockDevice, id: Identity) -> bool {
    let Some(path) = device.backing_file() else { return false };
    let asked = system.is_live().then(|| open::loop_file(&device.path(system))).flatten();
    asked.or_else(|| Identity::at(Path::new(&path))) == Some(id)
}
