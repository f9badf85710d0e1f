//! The kernel's temperature readings of an NVMe card, which need no root.
//!
//! `drivers/nvme/host/hwmon.c` of the Linux kernel: `temp1` is the composite temperature in thousandths of °C,
//! `temp1_max` feature 04h, `temp1_crit` the critical temperature of Identify. The kernel subtracts 273.15.

use crate::block::BlockDevice;
use crate::nvme;
use crate::system::{System, names, text};
use std::path::{Path, PathBuf};

/// Coldest and hottest values in °C that are taken for a temperature rather than for a faulty sensor.
pub(crate) const PLAUSIBLE_C: std::ops::RangeInclusive<f64> = -60.0..=200.0;

/// The hwmon directory of the NVMe controller behind a disk.
pub(crate) fn of_nvme(system: &System, disk: &BlockDevice) -> Option<PathBuf> {
    let controller = nvme::controller(system, disk)?;
    beneath(&controller)
        .or_else(|| beneath(&controller.join("device")))
        .or_else(|| by_class(system, &controller))
}

/// `hwmonN` or `hwmon/hwmonN` in a directory.
fn beneath(dir: &Path) -> Option<PathBuf> {
    [dir.to_owned(), dir.join("hwmon")]
        .iter()
        .flat_map(|dir| names(dir).into_iter().map(|name| dir.join(name)))
        .find(|dir| is_nvme(dir))
}

fn by_class(system: &System, controller: &Path) -> Option<PathBuf> {
    let root = system.sys().join("class/hwmon");
    names(&root)
        .into_iter()
        .map(|name| system.resolve(&root.join(name)))
        .find(|dir| is_nvme(dir) && system.resolve(&dir.join("device")) == *controller)
}

fn is_nvme(dir: &Path) -> bool {
    let named = dir.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with("hwmon"));
    named && text(dir.join("name")).as_deref() == Some("nvme")
}

/// A reading such as `temp1_input` in °C.
pub(crate) fn celsius(dir: &Path, name: &str) -> Option<f64> {
    celsius_in(&dir.join(name))
}

/// A file with thousandths of °C, as hwmon and thermal zones have them, in °C.
pub(crate) fn celsius_in(file: &Path) -> Option<f64> {
    let thousandths: i64 = text(file)?.parse().ok()?;
    Some(thousandths as f64 / 1000.0).filter(|celsius| PLAUSIBLE_C.contains(celsius))
}
