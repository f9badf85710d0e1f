//! Temperatures from hwmon and thermal zones, which need no root.
//!
//! `drivers/nvme/host/hwmon.c` of the Linux kernel: `temp1` is the composite temperature in thousandths of °C,
//! `temp1_max` feature 04h, `temp1_crit` the critical temperature of Identify. The kernel subtracts 273.15.

use crate::block::BlockDevice;
use crate::nvme;
use crate::system::{SystemRoots, base_name, dir_entries, dir_names, read_text};
use std::path::{Path, PathBuf};

/// Range in °C outside of which a sensor counts as faulty.
pub(crate) const PLAUSIBLE_C: std::ops::RangeInclusive<f64> = -60.0..=200.0;

#[derive(Debug, Clone)]
pub(crate) struct SensorChip {
    pub(crate) driver: String,
    pub(crate) dir: PathBuf,
    pub(crate) device: PathBuf,
}

pub(crate) fn list_chips(system: &SystemRoots) -> Vec<SensorChip> {
    let chip = |dir: PathBuf| {
        let dir = system.resolve(&dir);
        let (driver, device) = (read_text(dir.join("name"))?, system.resolve(&dir.join("device")));
        Some(SensorChip { driver, dir, device })
    };
    dir_entries(system.sys.join("class/hwmon")).into_iter().filter_map(chip).collect()
}

pub(crate) fn thermal_zones(system: &SystemRoots) -> Vec<(String, PathBuf)> {
    let root = system.sys.join("class/thermal");
    let zones = dir_names(&root).into_iter().filter(|name| name.starts_with("thermal_zone"));
    zones.map(|name| root.join(name)).filter_map(|dir| Some((read_text(dir.join("type"))?, dir))).collect()
}

/// Directory of the hwmon chip of an NVMe disk's controller.
pub(crate) fn nvme_hwmon_dir(system: &SystemRoots, disk: &BlockDevice) -> Option<PathBuf> {
    let controller = nvme::controller_dir(system, disk)?;
    let is_its = |chip: &SensorChip| is_nvme_chip(&chip.dir) && chip.device == controller;
    let listed = || Some(list_chips(system).into_iter().find(is_its)?.dir);
    hwmon_below(&controller).or_else(|| hwmon_below(&controller.join("device"))).or_else(listed)
}

fn hwmon_below(dir: &Path) -> Option<PathBuf> {
    [dir.to_owned(), dir.join("hwmon")].iter().flat_map(dir_entries).find(|dir| is_nvme_chip(dir))
}

fn is_nvme_chip(dir: &Path) -> bool {
    let named = base_name(dir).is_some_and(|name| name.starts_with("hwmon"));
    named && read_text(dir.join("name")).as_deref() == Some("nvme")
}

/// Reads a file in thousandths of °C; `None` if the value is implausible.
pub(crate) fn read_celsius(file: &Path) -> Option<f64> {
    let thousandths: i64 = read_text(file)?.parse().ok()?;
    Some(thousandths as f64 / 1000.0).filter(|celsius| PLAUSIBLE_C.contains(celsius))
}
