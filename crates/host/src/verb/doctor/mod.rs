//! `doctor`: checks whether this computer is fit to measure. Each module checks one group of points; a point has what
//! was found, why it matters and what to do.
//!
//! Facts come from `device::vitals` and the readers' directories, so a copy of another machine's `/sys` and `/proc`
//! can be checked, too. Points that must be tried out (clock, io_uring, permissions) are checked on the live machine
//! only.

mod memory_and_disk;
mod processor;
mod reader;
mod system;

use cardscope_device::block::BlockDevice;
use cardscope_device::filesystem;
use cardscope_device::list::{self, ListScope};
use cardscope_device::system::SystemRoots;
use cardscope_model::device::DeviceInfo;
use cardscope_model::doctor::DoctorReport;
use cardscope_session::error::{Failure, Result};
use cardscope_session::options::{ArchiveAt, MachineOptions};
use cardscope_simulator::target_spec;
use clap::Args;
use std::path::Path;

/// Check whether this computer is fit to measure, and what to fix
///
/// Exit status 1 if a check fails; warnings leave it 0.
#[derive(Debug, Clone, Default, Args)]
#[command(mut_arg("archive", |archive| archive.help(
    "Archive whose location is checked: a file, or postgres://... [default: in the XDG data folder]"
)))]
pub struct DoctorRequest {
    /// Card or reader as `list` shows it, or a directory on it [default: all present]
    pub target: Option<String>,
    /// The archive whose place is examined.
    #[command(flatten)]
    pub archive: ArchiveAt,
    #[command(flatten)]
    pub machine: MachineOptions,
}

/// Checks a machine, and with a target also the way to one card.
pub fn check_machine(request: &DoctorRequest) -> Result<DoctorReport> {
    let system = request.machine.system()?;
    let target = request.target.as_deref();
    let device = target.map(|target| target_disk(&system, target)).transpose()?;
    let cards = present_cards(&system, device.as_deref());
    let mut points = processor::points(&system);
    points.extend(memory_and_disk::points(&system, device.as_deref(), &request.archive)?);
    cards.iter().for_each(|card| points.extend(reader::points(&system, card)));
    points.extend(system::points(&system, &cards));
    Ok(DoctorReport::new(target.map(str::to_owned), points))
}

/// Disk that a target names; for a directory the disk that it lies on.
fn target_disk(system: &SystemRoots, target: &str) -> Result<String> {
    if target_spec::is_simulated(target) {
        let why = "a simulated card has no reader; `cardscope doctor` alone examines this computer";
        return Err(Failure::refused(why));
    }
    let path = Path::new(target);
    if system.is_live() && (path.is_dir() || path.is_file()) {
        let below = filesystem::file_system_at(path).ok().and_then(|found| found.disk);
        return below.ok_or_else(|| Failure::refused(format!("{target} is not on a single disk")));
    }
    let why = "is not a block device; `cardscope list --all` shows the devices";
    let device = BlockDevice::find(system, target);
    device.map(|device| device.disk().name).ok_or_else(|| Failure::refused(format!("{target} {why}")))
}

/// Cards and readers that are present, or only the requested one.
fn present_cards(system: &SystemRoots, device: Option<&str>) -> Vec<DeviceInfo> {
    let mut found = list::list_devices(system, ListScope::WithLoops);
    match device {
        Some(device) => found.retain(|entry| entry.name == device),
        None => found.retain(|entry| entry.removable),
    }
    found
}
