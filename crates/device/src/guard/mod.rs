//! May this device, or this plain file, be written to? Refuses what is mounted, swap, part of the running system, of LVM, RAID or
//! LUKS, read-only, empty, or opened exclusively by others; nothing overrides it.
//!
//! An image under a loop device and a swap file are files in use, though no lock says so.
//!
//! `DESIGN.md`, "Safety comes before speed". What a file system or partition table on the device means is asked
//! elsewhere ([`crate::contents`]): that is no reason to refuse.

mod layers;
mod refusal;
mod survey;

pub(crate) use layers::{all_beneath, beneath, mount_devices};
pub use refusal::GuardRefusal;
pub use survey::UseSurvey;
pub(crate) use survey::is_system_point;

use crate::block::{BlockDevice, DeviceNumber};
use crate::bus;
use crate::mounts::swaps;
use crate::open;
use crate::system::{SystemRoots, text};
use cardscope_files::FileIdentity;
use std::path::{Path, PathBuf};

/// A device that may be written to, as it was when the guards looked. Open it exclusively at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriteClearance {
    /// Kernel name: `sda`, `mmcblk0`.
    pub name: String,
    /// Path of the device file.
    pub path: PathBuf,
    /// Its number, to see after opening that it is still the same device.
    pub number: Option<DeviceNumber>,
    /// Number of its coming, which the kernel never gives twice: tells a card put back from the one before.
    pub sequence: Option<u64>,
    /// Bytes it announces.
    pub bytes: u64,
    /// Model as the reader or card says it.
    pub model: Option<String>,
    /// True for what can be taken out; false is worth a question, is it a card at all?
    pub removable: bool,
    /// Names and sizes of its partitions.
    pub partitions: Vec<(String, u64)>,
    /// The whole disk, where a partition was named.
    pub partition_of: Option<String>,
}

impl WriteClearance {
    /// What the user should know before it starts: that only a partition was named.
    pub fn remark(&self) -> Option<String> {
        let disk = self.partition_of.as_ref()?;
        Some(format!(
            "{} is a partition of {disk}, not the whole card: name /dev/{disk} to test all of it",
            self.name
        ))
    }
}

/// Looks whether a device may be written to.
///
/// # Errors
/// The first reason why not, the heaviest first.
pub fn check(system: &SystemRoots, device: &str) -> Result<WriteClearance, GuardRefusal> {
    let found = find(system, device)?;
    UseSurvey::read(system).check(system, &found)?;
    Ok(clearance(system, &found))
}

/// The same for a device by its number.
pub(crate) fn check_number(
    system: &SystemRoots,
    number: DeviceNumber,
    name: &str,
) -> Result<WriteClearance, GuardRefusal> {
    let device = numbered(system, number, name)?;
    UseSurvey::read(system).check(system, &device)?;
    Ok(clearance(system, &device))
}

/// Looks again at a device that we hold exclusively. Meanwhile the kernel refuses it to mounts, swap and volumes; a loop
/// device claims nothing. `all` looks at everything all the same.
pub(crate) fn check_held(
    system: &SystemRoots,
    number: DeviceNumber,
    name: &str,
    all: bool,
) -> Result<(), GuardRefusal> {
    let device = numbered(system, number, name)?;
    let survey = if all { UseSurvey::read(system) } else { UseSurvey::of_loops(system) };
    survey.check_held(system, &device)
}

fn numbered(system: &SystemRoots, number: DeviceNumber, name: &str) -> Result<BlockDevice, GuardRefusal> {
    BlockDevice::numbered(system, number).ok_or_else(|| GuardRefusal::NotFound(name.to_owned()))
}

fn find(system: &SystemRoots, device: &str) -> Result<BlockDevice, GuardRefusal> {
    if let Some(found) = BlockDevice::find(system, device) {
        return Ok(found);
    }
    let device = device.to_owned();
    let there =
        if system.is_live() { Path::new(&device).exists() } else { system.dev().join(&device).exists() };
    Err(if there { GuardRefusal::NotABlockDevice(device) } else { GuardRefusal::NotFound(device) })
}

fn clearance(system: &SystemRoots, device: &BlockDevice) -> WriteClearance {
    WriteClearance {
        name: device.name.clone(),
        path: device.path(system),
        number: device.number(),
        sequence: device.sequence(),
        bytes: device.bytes().unwrap_or_default(),
        model: bus::model(system, &device.disk()),
        removable: bus::removable(system, &device.disk()),
        partitions: device
            .partitions()
            .into_iter()
            .map(|part| (part.name.clone(), part.bytes().unwrap_or_default()))
            .collect(),
        partition_of: device.is_partition().then(|| device.disk().name),
    }
}

/// Looks whether a plain file, known by its inode, may be written to; `name` is for the refusal.
///
/// # Errors
/// If a loop device stands on it, or it is swap.
pub fn check_file_id(system: &SystemRoots, id: FileIdentity, name: &Path) -> Result<(), GuardRefusal> {
    let file = || name.display().to_string();
    if let Some(device) = BlockDevice::all(system).iter().find(|device| stands_on(system, device, id)) {
        return Err(GuardRefusal::UnderLoop { file: file(), device: device.name.clone() });
    }
    if swaps(system).iter().any(|swap| FileIdentity::at(swap) == Some(id)) {
        return Err(GuardRefusal::SwapFile(file()));
    }
    Ok(())
}

/// Looks whether another program has a part of the file locked. The kernel stops all locking for some milliseconds to
/// list the locks, so this is nothing to ask every second.
pub(crate) fn check_locks(system: &SystemRoots, id: FileIdentity, name: &Path) -> Result<(), GuardRefusal> {
    match locked_by(system, id) {
        Some(by) => Err(GuardRefusal::LockedFile { file: name.display().to_string(), by }),
        None => Ok(()),
    }
}

/// Who has a part of the file locked with fcntl(2), as virtual machines lock their images and databases their files; from
/// `proc_locks(5)`. Locks of flock(2), our own among them, are met by taking one.
fn locked_by(system: &SystemRoots, id: FileIdentity) -> Option<String> {
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
fn stands_on(system: &SystemRoots, device: &BlockDevice, id: FileIdentity) -> bool {
    let Some(path) = device.backing_file() else { return false };
    let asked = system.is_live().then(|| open::loop_file(&device.path(system))).flatten();
    asked.or_else(|| FileIdentity::at(Path::new(&path))) == Some(id)
}
