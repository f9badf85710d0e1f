//! Temperature sensors of this computer, and the part that each measures.
//!
//! `Documentation/hwmon/sysfs-interface.rst` and `Documentation/driver-api/thermal/sysfs-api.rst` of the Linux kernel;
//! `drivers/nvme/host/hwmon.c` for the card's own (docs/reference/linux.md#temperature).

use crate::block::BlockDevice;
use crate::hwmon::{self, PLAUSIBLE_C, SensorChip};
use crate::nvme;
use crate::system::SystemRoots;
use crate::usb;
use std::path::{Path, PathBuf};

const NVME_SENSORS: u8 = 8;

/// Thermal zones of the SoC or processor, best first: the package, then names in boards' device trees.
const SOC_ZONES: &[&str] = &[
    "x86_pkg_temp",
    "cpu-thermal",
    "cpu_thermal",
    "soc-thermal",
    "soc_thermal",
    "package-thermal",
    "cpu0-thermal",
];

/// hwmon drivers of processors, whose `temp1` is the package or control temperature.
const SOC_DRIVERS: &[&str] =
    &["coretemp", "k10temp", "zenpower", "cpu_thermal", "soc_thermal", "bcm2835_thermal", "scpi_sensors"];

/// hwmon drivers of chips with a board's USB, SD or PCIe controllers: `rp1_adc` is the Raspberry Pi 5's RP1.
const CONTROLLER_DRIVERS: &[&str] = &["rp1_adc"];

#[derive(Debug)]
pub(super) struct BuiltInSensor {
    pub(super) place: String,
    pub(super) source: String,
    how: SensorSource,
}

#[derive(Debug)]
enum SensorSource {
    /// File with thousandths of °C.
    File(PathBuf),
    /// Controller whose SMART log has the composite temperature, for kernels without NVMe hwmon; needs root.
    Smart(PathBuf),
}

impl BuiltInSensor {
    fn from_file(place: impl Into<String>, source: impl Into<String>, file: PathBuf) -> Self {
        BuiltInSensor { place: place.into(), source: source.into(), how: SensorSource::File(file) }
    }

    pub(super) fn read_celsius(&self) -> Option<f64> {
        match &self.how {
            SensorSource::File(file) => hwmon::read_celsius(file),
            SensorSource::Smart(path) => nvme::composite_celsius(path).filter(|c| PLAUSIBLE_C.contains(c)),
        }
    }
}

pub(super) fn find_sensors(system: &SystemRoots, device: Option<&str>) -> Vec<BuiltInSensor> {
    let (chips, mut found) = (hwmon::list_chips(system), Vec::new());
    if let Some(disk) = device.and_then(|device| BlockDevice::find(system, device)).map(|found| found.disk())
    {
        found.extend(card_sensors(system, &disk));
        found.extend(sensors_between(system, &disk, &chips));
    }
    found.extend(controller_sensor(&chips, &found));
    found.extend(soc_sensor(system, &chips));
    found
}

fn card_sensors(system: &SystemRoots, disk: &BlockDevice) -> Vec<BuiltInSensor> {
    let more = hwmon::nvme_hwmon_dir(system, disk).into_iter().flat_map(|dir| {
        (1..=NVME_SENSORS).map(move |n| {
            let file = dir.join(format!("temp{}_input", n + 1));
            BuiltInSensor::from_file(format!("card sensor {n}"), format!("NVMe sensor {n} (hwmon)"), file)
        })
    });
    composite_sensor(system, disk).into_iter().chain(more).collect()
}

/// Composite temperature of an NVMe card; SD cards and USB readers report none.
pub(super) fn composite_sensor(system: &SystemRoots, disk: &BlockDevice) -> Option<BuiltInSensor> {
    let by_hwmon = hwmon::nvme_hwmon_dir(system, disk)
        .map(|dir| BuiltInSensor::from_file("card", "NVMe composite (hwmon)", dir.join("temp1_input")));
    by_hwmon.filter(|sensor| sensor.read_celsius().is_some()).or_else(|| smart_sensor(system, disk))
}

fn smart_sensor(system: &SystemRoots, disk: &BlockDevice) -> Option<BuiltInSensor> {
    let device = system.is_live().then(|| nvme::controller_device(system, disk)).flatten()?;
    let source = "NVMe composite (SMART log)".to_owned();
    Some(BuiltInSensor { place: "card".to_owned(), source, how: SensorSource::Smart(device) })
}

/// Sensors built into the devices between computer and card: the disk itself (`drivetemp`), the reader, the host
/// controller.
fn sensors_between(system: &SystemRoots, disk: &BlockDevice, chips: &[SensorChip]) -> Vec<BuiltInSensor> {
    let way = disk.ancestors(system);
    let hardware = disk.hardware_dir(system);
    let reader = usb::usb_path(system, disk).map(|place| place.device);
    let place = |device: &Path| match &reader {
        _ if device == hardware => "card",
        Some(reader) if device.starts_with(reader) => "reader",
        _ => "host controller",
    };
    let on_it = |chip: &&SensorChip| chip.driver != "nvme" && way.contains(&chip.device);
    let mut found: Vec<BuiltInSensor> = Vec::new();
    for chip in chips.iter().filter(on_it) {
        let place = place(&chip.device);
        if !found.iter().any(|sensor| sensor.place == place) {
            found.push(chip_sensor(place, chip));
        }
    }
    found
}

fn chip_sensor(place: &str, chip: &SensorChip) -> BuiltInSensor {
    BuiltInSensor::from_file(place, format!("hwmon {}", chip.driver), chip.dir.join("temp1_input"))
}

fn controller_sensor(chips: &[SensorChip], found: &[BuiltInSensor]) -> Option<BuiltInSensor> {
    if found.iter().any(|sensor| sensor.place == "host controller") {
        return None;
    }
    let known = chips.iter().find(|chip| CONTROLLER_DRIVERS.contains(&chip.driver.as_str()))?;
    Some(chip_sensor("host controller", known))
}

/// Sensor of the SoC or processor: a thermal zone, or else the processor's hwmon chip.
fn soc_sensor(system: &SystemRoots, chips: &[SensorChip]) -> Option<BuiltInSensor> {
    let zones = hwmon::thermal_zones(system);
    let readable = |dir: &Path| hwmon::read_celsius(&dir.join("temp")).is_some();
    let named = |wanted: &&str| zones.iter().find(|(kind, dir)| kind == *wanted && readable(dir));
    if let Some((kind, dir)) = SOC_ZONES.iter().find_map(named) {
        return Some(BuiltInSensor::from_file("soc", format!("thermal zone {kind}"), dir.join("temp")));
    }
    let processor = chips.iter().find(|chip| SOC_DRIVERS.contains(&chip.driver.as_str()))?;
    Some(chip_sensor("soc", processor))
}
