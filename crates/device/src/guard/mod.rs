//! Safety guards before a device or file is overwritten. They refuse anything mounted, used as swap, part of the
//! running system, of LVM, RAID or LUKS, read-only, empty, or opened exclusively by others; no option overrides them.
//!
//! Images under a loop device and swap files are in use although no lock exists.
//!
//! `DESIGN.md`, "Safety comes before speed". Contents such as a file system lead to a prompt and not to a refusal
//! ([`crate::contents`]).

mod refusal;
mod survey;

pub use refusal::GuardRefusal;
pub use survey::UseSurvey;
pub(crate) use survey::{Checked, is_system_point};

use crate::block::{BlockDevice, DeviceNumber};
use crate::bus;
use crate::mounts::{MountTable, swap_paths};
use crate::open;
use crate::system::{SystemRoots, read_text};
use cardscope_files::FileIdentity;
use std::path::{Path, PathBuf};

/// Device that may be written to, at the time of the check. Open it exclusively at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriteClearance {
    pub name: String,
    pub path: PathBuf,
    /// Compared after opening, to detect another device.
    pub number: Option<DeviceNumber>,
    /// Disk sequence number, to detect a card that was taken out, even if it is inserted again.
    pub sequence: Option<u64>,
    pub bytes: u64,
    pub model: Option<String>,
    /// False raises the question whether it is a card at all.
    pub removable: bool,
    /// Kernel names and bytes.
    pub partitions: Vec<(String, u64)>,
    pub partition_of: Option<String>,
}

impl WriteClearance {
    /// Remark for the user if only a partition was named.
    pub fn remark(&self) -> Option<String> {
        let disk = self.partition_of.as_ref()?;
        let name = &self.name;
        Some(format!(
            "{name} is a partition of {disk}, not the whole card: name /dev/{disk} to test all of it"
        ))
    }
}

/// Checks that a device may be written to. Returns the most serious reason against it.
pub fn check_device(system: &SystemRoots, device: &str) -> Result<WriteClearance, GuardRefusal> {
    let found = find_device(system, device)?;
    UseSurvey::read_all(system).check_writable(system, &found)?;
    Ok(make_clearance(system, &found))
}

pub(crate) fn check_number(
    system: &SystemRoots,
    number: DeviceNumber,
    name: &str,
) -> Checked<WriteClearance> {
    let device = device_by_number(system, number, name)?;
    UseSurvey::read_all(system).check_writable(system, &device)?;
    Ok(make_clearance(system, &device))
}

/// Checks a device that we hold exclusively. The kernel then refuses it to mounts, swap and volumes, so only loop
/// devices need checking; `all` checks everything nonetheless.
pub(crate) fn check_claimed(system: &SystemRoots, number: DeviceNumber, name: &str, all: bool) -> Checked {
    let device = device_by_number(system, number, name)?;
    let survey = if all { UseSurvey::read_all(system) } else { UseSurvey::loops_only(system) };
    survey.check_claimed(system, &device)
}

fn device_by_number(system: &SystemRoots, number: DeviceNumber, name: &str) -> Checked<BlockDevice> {
    BlockDevice::by_number(system, number).ok_or_else(|| GuardRefusal::NotFound(name.to_owned()))
}

fn find_device(system: &SystemRoots, device: &str) -> Checked<BlockDevice> {
    if let Some(found) = BlockDevice::find(system, device) {
        return Ok(found);
    }
    let path = if system.is_live() { device.into() } else { system.dev.join(device) };
    let refusal = if path.exists() { GuardRefusal::NotABlockDevice } else { GuardRefusal::NotFound };
    Err(refusal(device.to_owned()))
}

fn make_clearance(system: &SystemRoots, device: &BlockDevice) -> WriteClearance {
    let partition = |part: BlockDevice| (part.name.clone(), part.bytes().unwrap_or_default());
    WriteClearance {
        name: device.name.clone(),
        path: device.path(system),
        number: device.number(),
        sequence: device.sequence(),
        bytes: device.bytes().unwrap_or_default(),
        model: bus::disk_model(system, &device.disk()),
        removable: bus::is_removable(system, &device.disk()),
        partitions: device.partitions().into_iter().map(partition).collect(),
        partition_of: device.is_partition().then(|| device.disk().name),
    }
}

/// Checks that a plain file, identified by its inode, is neither swap nor under a loop device. `name` is for the
/// refusal.
pub fn check_file(system: &SystemRoots, id: FileIdentity, name: &Path) -> Result<(), GuardRefusal> {
    let file = name.display().to_string();
    let mut disks = BlockDevice::all_disks(system).into_iter();
    match disks.find(|disk| is_loop_over(system, disk, id)) {
        Some(disk) => Err(GuardRefusal::UnderLoop { file, device: disk.name }),
        None if swap_paths(system).iter().any(|swap| FileIdentity::of_path(swap) == Some(id)) => {
            Err(GuardRefusal::SwapFile(file))
        }
        None => Ok(()),
    }
}

/// Checks that no other program has locked a part of the file. The kernel stops all locking for some milliseconds to
/// list the locks, so this must not run every second.
pub(crate) fn check_locks(system: &SystemRoots, id: FileIdentity, name: &Path) -> Checked {
    match lock_holder(system, id, name) {
        Some(by) => Err(GuardRefusal::LockedFile { file: name.display().to_string(), by }),
        None => Ok(()),
    }
}

/// Holder of an fcntl(2) lock on the file, as virtual machines and databases take it; from `proc_locks(5)`. flock(2)
/// locks, ours among them, are detected by taking one.
fn lock_holder(system: &SystemRoots, id: FileIdentity, name: &Path) -> Option<String> {
    let file = |DeviceNumber { major, minor }| format!("{major:02x}:{minor:02x}:{}", id.inode);
    let own = DeviceNumber::from_raw(id.device);
    // Locks have the number of the file system as the mount table has it; subvolumes of btrfs have others.
    let path = name.canonicalize().unwrap_or_else(|_| name.to_owned());
    let mounted = MountTable::read_own(system).mount_of(&path).map_or(own, |mount| mount.number);
    let files = [file(own), file(mounted)];
    let locks = read_text(system.proc.join("locks"))?;
    locks.lines().find_map(|line| {
        let mut words = line.split_whitespace().skip(1).filter(|word| *word != "->");
        let (kind, process, locked) = (words.next()?, words.nth(2)?, words.next()?);
        match kind {
            _ if !files.iter().any(|file| file == locked) => None,
            "POSIX" => Some(format!("process {process}")),
            "OFDLCK" => Some("another program".to_owned()),
            _ => None,
        }
    })
}

/// The loop device knows the inode of its file. The path in sysfs, used if the device may not be queried, is wrong for
/// a file that was removed or is visible in another mount namespace only.
fn is_loop_over(system: &SystemRoots, device: &BlockDevice, id: FileIdentity) -> bool {
    let Some(path) = device.backing_file() else { return false };
    let asked = system.is_live().then(|| open::loop_backing_file(&device.path(system))).flatten();
    asked.or_else(|| FileIdentity::of_path(Path::new(&path))) == Some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lock_in_btrfs_subvolume_is_found_by_number_of_file_system() {
        let (_dir, system) = crate::testing::machine(
            "
            proc/self/mountinfo = 1 0 0:34 /home /no-such-place rw - btrfs /dev/sda1 rw
            proc/locks = 1: POSIX  ADVISORY  WRITE 712 00:22:257 0 EOF
            ",
        );
        let check = |inode, name| {
            let id = FileIdentity { device: rustix::fs::makedev(0, 51), inode };
            check_locks(&system, id, Path::new(name))
        };
        let locked = check(257, "/no-such-place/card.img").unwrap_err().to_string();
        assert!(locked.contains("process 712"), "{locked}");
        assert_eq!(check(258, "/no-such-place/card.img"), Ok(()));
        assert_eq!(check(257, "/elsewhere/card.img"), Ok(()));
    }
}
