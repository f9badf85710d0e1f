//! May this device be written to? Refuses what is mounted, swap, part of the running system, of LVM, RAID or
//! LUKS, read-only, empty, or opened exclusively by others; nothing overrides it.
//!
//! `DESIGN.md`, "Safety comes before speed". What a file system or partition table on the device means is asked
//! elsewhere ([`crate::contents`]): that is no reason to refuse.

mod file;
mod layers;
mod refusal;
mod survey;

pub(crate) use file::check_locks;
pub use file::{check_file, check_file_id};
pub(crate) use layers::{all_beneath, beneath, mount_devices};
pub use refusal::Refusal;
pub use survey::Survey;
pub(crate) use survey::is_system_point;

use crate::block::{BlockDevice, DeviceNumber};
use crate::system::System;
use std::path::{Path, PathBuf};

/// A device that may be written to, as it was when the guards looked. Open it exclusively at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clearance {
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

impl Clearance {
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
pub fn check(system: &System, device: &str) -> Result<Clearance, Refusal> {
    let found = find(system, device)?;
    Survey::read(system).check(system, &found)?;
    Ok(clearance(system, &found))
}

/// The same for a device by its number.
///
/// # Errors
/// As [`check`].
pub(crate) fn check_number(system: &System, number: DeviceNumber, name: &str) -> Result<Clearance, Refusal> {
    let device = numbered(system, number, name)?;
    Survey::read(system).check(system, &device)?;
    Ok(clearance(system, &device))
}

/// Looks again at a device that we hold exclusively. Meanwhile the kernel refuses it to mounts, swap and volumes; a loop
/// device claims nothing. `all` looks at everything all the same.
///
/// # Errors
/// As [`check`].
pub(crate) fn check_held(
    system: &System,
    number: DeviceNumber,
    name: &str,
    all: bool,
) -> Result<(), Refusal> {
    let device = numbered(system, number, name)?;
    let survey = if all { Survey::read(system) } else { Survey::of_loops(system) };
    survey.check_held(system, &device)
}

fn numbered(system: &System, number: DeviceNumber, name: &str) -> Result<BlockDevice, Refusal> {
    BlockDevice::numbered(system, number).ok_or_else(|| Refusal::NotFound(name.to_owned()))
}

fn find(system: &System, device: &str) -> Result<BlockDevice, Refusal> {
    if let Some(found) = BlockDevice::find(system, device) {
        return Ok(found);
    }
    let device = device.to_owned();
    let there =
        if system.is_live() { Path::new(&device).exists() } else { system.dev().join(&device).exists() };
    Err(if there { Refusal::NotABlockDevice(device) } else { Refusal::NotFound(device) })
}

fn clearance(system: &System, device: &BlockDevice) -> Clearance {
    Clearance {
        name: device.name.clone(),
        path: device.path(system),
        number: device.number(),
        sequence: device.sequence(),
        bytes: device.bytes().unwrap_or_default(),
        model: crate::list::model(system, &device.disk()),
        removable: crate::list::removable(system, &device.disk()),
        partitions: device
            .partitions()
            .into_iter()
            .map(|part| (part.name.clone(), part.bytes().unwrap_or_default()))
            .collect(),
        partition_of: device.is_partition().then(|| device.disk().name),
    }
}
