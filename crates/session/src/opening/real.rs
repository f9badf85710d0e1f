//! Targets on real objects: block devices, files and directories, with thermometer and queries that do not touch the
//! flash.

use crate::error::{Failure, Result};
use crate::open_target::OpenTarget;
use cardscope_device::claimed::{ClaimedDevice, ClaimedKind, ClaimedTarget};
use cardscope_device::commands::{DeviceCommands, detect_commands};
use cardscope_device::contents::DeviceContents;
use cardscope_device::filesystem::FileSystem;
use cardscope_device::sensors::SensorThreads;
use cardscope_device::{filesystem, host, inspect, system::SystemRoots};
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_engine::null_target::NullTarget;
use cardscope_engine::real::{
    BlockDevice, HealthSource, IoChoice, OwnershipCheck, PingSource, RealOptions, RealTarget,
};
use cardscope_engine::target::{Target, TargetError};
use cardscope_files::ResolvedFolder;
use cardscope_model::caveat::Caveat;
use cardscope_model::condition::ConditionOrigin;
use cardscope_model::units::DecimalSize;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;

/// Claimed object that is being opened under the user's name.
#[derive(Clone, Copy)]
pub(super) struct RealOpening<'a> {
    pub(super) name: &'a str,
    pub(super) held: &'a Arc<ClaimedTarget>,
    pub(super) writes: bool,
    pub(super) interrupt: &'a InterruptFlag,
}

impl RealOpening<'_> {
    pub(super) fn open_device(self, device: &ClaimedDevice) -> Result<OpenTarget> {
        let RealOpening { name, held, writes, interrupt } = self;
        // Queries use the open descriptor, because the name may lead to another object by now.
        let path = held.descriptor_path();
        let fd = held.duplicate_fd().map_err(Failure::io)?;
        let block = BlockDevice { fd, bytes: held.bytes(), sector: device.sector, name: name.to_owned() };
        let disk = Some((name, &*path.to_string_lossy()));
        let mut opened = open_target(held, disk, None, interrupt, |options| {
            RealTarget::open_device(block, RealOptions { read_only: !writes, ..options })
        })?;
        let remark = device.clearance.as_ref().and_then(|seen| seen.remark());
        opened.caveats.splice(0..0, remark.map(|text| Caveat::Other { text }));
        Ok(opened)
    }

    pub(super) fn open_file(self) -> Result<OpenTarget> {
        let file = self.held.duplicate_fd().map_err(Failure::io)?;
        open_on_file_system(self.held, self.interrupt, |options| {
            let options = RealOptions { read_only: !self.writes, ..options };
            RealTarget::open_file(file, Path::new(self.name), options)
        })
    }

    pub(super) fn open_directory(self) -> Result<OpenTarget> {
        let held = self.held;
        let folder = ResolvedFolder::from_fd(held.duplicate_fd().map_err(Failure::io)?, held.name());
        let create = |options| RealTarget::create_in_directory(folder, options);
        let opened = open_on_file_system(held, self.interrupt, create)?;
        Ok(opened.with_system_disk_limit(shared_system_disk(held)))
    }
}

/// Data that would be lost: device, model, size, partitions and file systems, or the file.
pub(super) fn describe_stake(name: &str, held: &ClaimedTarget, contents: &DeviceContents) -> String {
    let bytes = DecimalSize(held.bytes());
    let ClaimedKind::Device(device) = held.kind() else {
        return format!("the file {name}, {bytes}, with all its content");
    };
    let model = device.clearance.as_ref().and_then(|seen| seen.model.as_deref());
    let model = model.map(|m| format!("{m}, ")).unwrap_or_default();
    format!("{name} ({model}{bytes}), which holds {}", contents.sentence())
}

/// Opens a directory whose files are separate targets, with the options for opening each. Creates nothing in it.
pub fn open_mounted(directory: OwnedFd, name: &Path, interrupt: &InterruptFlag) -> Result<OpenTarget> {
    let mut for_files = RealOptions::default();
    let held = Arc::new(ClaimedTarget::from_directory(directory, name).map_err(Failure::refused)?);
    let mut opened = open_on_file_system(&held, interrupt, |options| {
        for_files = options;
        Ok(NullTarget::new(0))
    })?;
    opened.files = Some(for_files);
    Ok(opened.with_system_disk_limit(shared_system_disk(&held)))
}

fn shared_system_disk(held: &ClaimedTarget) -> Option<String> {
    filesystem::disk_shared_with_system(&SystemRoots::host(), &held.descriptor_path())
}

fn open_on_file_system<T: Target + 'static>(
    held: &Arc<ClaimedTarget>,
    interrupt: &InterruptFlag,
    open: impl FnOnce(RealOptions) -> Result<T, TargetError>,
) -> Result<OpenTarget> {
    let below = filesystem::file_system_at(&held.descriptor_path()).ok();
    let disk = below.as_ref().and_then(|f| f.disk.as_deref()).map(|disk| (disk, disk));
    open_target(held, disk, below.as_ref(), interrupt, open)
}

/// Opens the target on `disk`, given by the user's name and by its descriptor path, below a file system if there is one.
fn open_target<T: Target + 'static>(
    held: &Arc<ClaimedTarget>,
    disk: Option<(&str, &str)>,
    below: Option<&FileSystem>,
    interrupt: &InterruptFlag,
    open: impl FnOnce(RealOptions) -> Result<T, TargetError>,
) -> Result<OpenTarget> {
    let system = SystemRoots::host();
    let thermometer = disk.and_then(|(_, disk)| SensorThreads::card_only(&system, disk));
    // Another thread reads the thermometer, so that queries do not disturb a measurement.
    let readings = thermometer.as_ref().map(SensorThreads::readings);
    let mut options = RealOptions {
        io: IoChoice::from_env(),
        // The caveats below cover the file system and the layers beneath it, so the target needs only its name.
        file_system: below.map(|f| f.name.clone()),
        interrupt: interrupt.clone(),
        temperature: readings.map(|readings| Arc::new(move || readings.celsius_at("card")) as _),
        holding: Some(Arc::clone(held) as Arc<dyn OwnershipCheck>),
        ..RealOptions::default()
    };
    let mut caveats = below.map(FileSystem::caveats).unwrap_or_default();
    if let Some((name, disk)) = disk {
        caveats.extend(add_queries(&system, name, disk, &mut options)?);
    }
    let target = Box::new(open(options).map_err(Failure::refused)?);
    let identity = disk.and_then(|(_, disk)| inspect::inspect_card(&system, disk).ok());
    let mut condition = host::host_condition(&system, disk.map(|(_, disk)| disk));
    if let Some(file_system) = below {
        condition.set("file_system", &file_system.name, ConditionOrigin::Read);
    }
    Ok(OpenTarget {
        caveats,
        open_object: Some(Arc::clone(held)),
        thermometer,
        ..OpenTarget::writable(target, identity, condition)
    })
}

/// Sets the queries that the card answers without touching its flash. Missing ones become caveats.
/// Refuses if the card was removed or exchanged, since the guards checked another one.
fn add_queries(host: &SystemRoots, name: &str, disk: &str, options: &mut RealOptions) -> Result<Vec<Caveat>> {
    let DeviceCommands { ping, health, missing, card_gone: gone } = detect_commands(host, disk);
    if gone {
        return Err(Failure::refused(format!(
            "the card in {name} was removed or changed while it was opened; nothing was written. Start again"
        )));
    }
    options.ping = ping.map(|ping| -> PingSource { Arc::new(move || ping.ping()) });
    options.health = health.map(|health| -> HealthSource { Arc::new(move || health.read_log()) });
    Ok(missing.into_iter().map(|text| Caveat::Other { text }).collect())
}
