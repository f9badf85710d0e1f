//! A directory, in which a test file is made and removed again, and a plain file tested in place.

use super::opened::Opened;
use super::sources;
use crate::error::Failure;
use cardscope_device::held::Held;
use cardscope_device::sensors::Sensors;
use cardscope_device::{filesystem, host, inspect, system::System};
use cardscope_engine::interrupt::Interrupt;
use cardscope_engine::null::NullTarget;
use cardscope_engine::real::{FileSystemNote, Holding, IoChoice, RealOptions, RealTarget};
use cardscope_engine::target::{Target, TargetError};
use cardscope_files::Folder;
use cardscope_model::condition::{Condition, Origin};
use cardscope_model::units::Capacity;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;

pub(super) fn directory(held: &Arc<Held>, interrupt: &Interrupt) -> Result<Opened, Failure> {
    let folder = Folder::over(held.descriptor().map_err(Failure::io)?, held.name());
    let opened = opened(held, interrupt, |options| RealTarget::directory(folder, options))?;
    Ok(opened.on_disk_of_system(filesystem::shared_with_system(&System::host(), &held.path())))
}

pub(super) fn file(
    name: &str,
    held: &Arc<Held>,
    writes: bool,
    interrupt: &Interrupt,
) -> Result<Opened, Failure> {
    let file = held.descriptor().map_err(Failure::io)?;
    let mut opened = opened(held, interrupt, |options| {
        RealTarget::file(file, Path::new(name), RealOptions { read_only: !writes, ..options })
    })?;
    opened.may_write = writes;
    Ok(opened)
}

/// What stands to be lost.
pub(super) fn at_stake(name: &str, bytes: u64) -> String {
    format!("the file {name}, {}, all of whose content may be lost", Capacity(bytes))
}

/// A directory whose files are targets of their own: what is known of card and rig, with the directory held open, and
/// the options with which each file is opened. Nothing is made in it.
pub(crate) fn mounted(directory: OwnedFd, name: &Path, interrupt: &Interrupt) -> Result<Opened, Failure> {
    let mut for_files = RealOptions::default();
    let held = Arc::new(Held::directory(directory, name).map_err(Failure::refused)?);
    let mut opened = opened(&held, interrupt, |options| {
        for_files = options;
        Ok(NullTarget::new(0))
    })?;
    opened.files = Some(for_files);
    Ok(opened.on_disk_of_system(filesystem::shared_with_system(&System::host(), &held.path())))
}

fn opened<T: Target + 'static>(
    held: &Arc<Held>,
    interrupt: &Interrupt,
    open: impl FnOnce(RealOptions) -> Result<T, TargetError>,
) -> Result<Opened, Failure> {
    let below = filesystem::of_path(&held.path()).ok();
    let system = System::host();
    let disk = below.as_ref().and_then(|f| f.disk.clone());
    let thermometer = disk.as_deref().and_then(|disk| Sensors::of_card(&system, disk));
    let mut options = RealOptions {
        io: IoChoice::from_env(),
        // Its effect is told by the caveats below, which know the layers beneath it too.
        file_system: below.as_ref().map(|f| FileSystemNote { name: f.name.clone(), effect: None }),
        interrupt: interrupt.clone(),
        temperature: thermometer.as_ref().map(sources::temperature),
        holding: Some(Arc::clone(held) as Arc<dyn Holding>),
        ..RealOptions::default()
    };
    let mut caveats = below.as_ref().map(|f| f.caveats()).unwrap_or_default();
    if let Some(disk) = &disk {
        caveats.extend(sources::ask(&system, disk, disk, &mut options)?);
    }
    let identity = disk.as_deref().and_then(|disk| inspect::inspect(&system, disk).ok());
    let mut condition: Condition = host::condition(&system, disk.as_deref());
    if let Some(file_system) = &below {
        condition.set("file_system", &file_system.name, Origin::Read);
    }
    let target = Box::new(open(options).map_err(Failure::refused)?);
    Ok(Opened {
        caveats,
        held: Some(Arc::clone(held)),
        _thermometer: thermometer,
        ..Opened::of(target, identity, condition)
    })
}
