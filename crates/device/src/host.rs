//! Test conditions read from this computer: kernel, board, governor, power supply, and the way to the card.
//!
//! Each fact is optional. Their words are those of [`cardscope_model::condition::WORDS`].

use crate::block::BlockDevice;
use crate::bus::disk_bus;
use crate::inspect;
use crate::inspect::mmc::mmc_host;
use crate::system::{SystemRoots, base_name, dir_entries, join_texts, link_name, read_flag, read_text};
use crate::{hwmon, nvme, usb};
use cardscope_model::condition::{Condition, ConditionOrigin};
use cardscope_model::device::Bus;
use cardscope_model::supply::SupplyState;
use std::collections::BTreeSet;
use std::path::PathBuf;

const EMPTY_WORDS: &[&str] = &[
    "to be filled by o.e.m.",
    "system product name",
    "system manufacturer",
    "default string",
    "not specified",
];

/// Facts of the computer, and of the way to `device` (name or path of a disk) if one is given.
pub fn host_condition(system: &SystemRoots, device: Option<&str>) -> Condition {
    let mut condition = Condition::default();
    let facts = [
        ("kernel", kernel_release(system)),
        ("board", board_name(system)),
        ("cpu_governor", cpu_governor(system)),
        ("supply", supply_state(system).map(|state| state.to_string())),
    ];
    set_facts(&mut condition, facts);
    if let Some(disk) = device.and_then(|device| BlockDevice::find(system, device)).map(|found| found.disk())
    {
        let facts = [
            ("reader", reader_name(system, &disk)),
            ("usb_host", usb::usb_path(system, &disk).and_then(|place| usb::host_controller(system, &place))),
            ("bus_mode", inspect::bus_mode(system, &disk)),
            ("firmware", card_firmware(system, &disk)),
        ];
        set_facts(&mut condition, facts);
    }
    condition
}

fn set_facts<const N: usize>(condition: &mut Condition, facts: [(&str, Option<String>); N]) {
    for (word, value) in facts.into_iter().filter_map(|(word, value)| Some((word, value?))) {
        condition.set(word, value, ConditionOrigin::Read);
    }
}

pub fn kernel_release(system: &SystemRoots) -> Option<String> {
    if system.is_live() {
        return Some(rustix::system::uname().release().to_string_lossy().into_owned());
    }
    read_text(system.proc.join("sys/kernel/osrelease")).or_else(|| {
        // Linux version 6.12.25+rpt-rpi-2712 (…) …
        let version = read_text(system.proc.join("version"))?;
        version.split_whitespace().nth(2).map(str::to_owned)
    })
}

/// Board or computer: the device tree's model, or maker and product from DMI.
pub fn board_name(system: &SystemRoots) -> Option<String> {
    let tree = [system.proc.join("device-tree/model"), system.sys.join("firmware/devicetree/base/model")];
    tree.iter().find_map(read_text).or_else(|| {
        let dmi = system.sys.join("class/dmi/id");
        let known = |word: &String| !EMPTY_WORDS.contains(&word.to_ascii_lowercase().as_str());
        let word = |name: &str| read_text(dmi.join(name)).filter(known);
        let maker = word("sys_vendor").or_else(|| word("board_vendor"));
        let product = word("product_name").or_else(|| word("board_name"));
        join_texts([maker, product], " ")
    })
}

/// CPU frequency governor; several if cores differ.
pub fn cpu_governor(system: &SystemRoots) -> Option<String> {
    let cpu = system.sys.join("devices/system/cpu");
    let cores = dir_entries(&cpu).into_iter().map(|core| core.join("cpufreq"));
    let policies = dir_entries(cpu.join("cpufreq")).into_iter().chain(cores);
    let names = BTreeSet::from_iter(policies.filter_map(|dir| read_text(dir.join("scaling_governor"))));
    (!names.is_empty()).then(|| Vec::from_iter(names).join(", "))
}

/// Power supply state, on boards that monitor it.
pub fn supply_state(system: &SystemRoots) -> Option<SupplyState> {
    let root = system.sys.join("devices/platform");
    let is_soc = |dir: &PathBuf| base_name(dir).is_some_and(|name| name.starts_with("soc"));
    let socs = dir_entries(&root).into_iter().filter(is_soc);
    let devices = [root.clone()].into_iter().chain(socs).flat_map(dir_entries);
    let file = devices.map(|dir| dir.join("get_throttled")).find(|file| file.is_file());
    let word = file.and_then(|file| u32::from_str_radix(read_text(file)?.trim_start_matches("0x"), 16).ok());
    word.map(SupplyState::Firmware).or_else(|| {
        let volts = hwmon::list_chips(system).into_iter().find(|chip| chip.driver == "rpi_volt")?.dir;
        read_flag(volts.join("in0_lcrit_alarm")).map(SupplyState::Alarm)
    })
}

fn reader_name(system: &SystemRoots, disk: &BlockDevice) -> Option<String> {
    match disk_bus(system, disk) {
        Bus::Usb => usb::usb_path(system, disk).map(|place| place.label()),
        Bus::Mmc => sd_host(system, disk),
        Bus::Nvme => Some("PCI Express".to_owned()),
        _ => None,
    }
}

/// SD host controller, such as `mmc0 (sdhci-pci)`; with the reader's name if it is on USB.
fn sd_host(system: &SystemRoots, disk: &BlockDevice) -> Option<String> {
    let (name, controller) = mmc_host(system, disk)?;
    let driver = controller.and_then(|dir| link_name(dir.join("driver")));
    let host = driver.map_or(format!("SD host {name}"), |driver| format!("SD host {name} ({driver})"));
    join_texts([Some(host), usb::usb_path(system, disk).map(|place| place.label())], ", ")
}

/// Firmware revision of an NVMe card, or hardware and firmware revision from an SD card's CID.
fn card_firmware(system: &SystemRoots, disk: &BlockDevice) -> Option<String> {
    match disk_bus(system, disk) {
        Bus::Nvme => read_text(nvme::controller_dir(system, disk)?.join("firmware_rev")),
        Bus::Mmc => {
            let card = disk.hardware_dir(system);
            let revision = |name| Some(read_text(card.join(name))?.trim_start_matches("0x").to_owned());
            Some(format!("{}.{}", revision("hwrev")?, revision("fwrev")?))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::machine;

    #[test]
    fn raspberry_pi_conditions_are_read() {
        let (_dir, system) = machine(
            "
            proc/device-tree/model = Raspberry Pi 5 Model B Rev 1.0\0
            proc/version = Linux version 6.12.25+rpt-rpi-2712 (serge@raspberrypi.com) #1 SMP
            sys/devices/system/cpu/cpufreq/policy0/scaling_governor = ondemand
            sys/devices/platform/soc/soc:firmware/get_throttled = 50005
            ",
        );
        let condition = host_condition(&system, None);
        assert_eq!(condition.get("board"), Some("Raspberry Pi 5 Model B Rev 1.0"));
        assert_eq!(condition.get("kernel"), Some("6.12.25+rpt-rpi-2712"));
        assert_eq!(condition.get("cpu_governor"), Some("ondemand"));
        assert_eq!(
            condition.get("supply"),
            Some("under-voltage now, under-voltage since boot, throttled now, throttled since boot")
        );
        assert_eq!(condition.origin("board"), Some(ConditionOrigin::Read));
    }

    #[test]
    fn dmi_placeholders_are_ignored() {
        let (_dir, system) = machine(
            "
            sys/class/dmi/id/sys_vendor = To Be Filled By O.E.M.
            sys/class/dmi/id/board_vendor = ASRock
            sys/class/dmi/id/product_name = X300
            ",
        );
        assert_eq!(board_name(&system).as_deref(), Some("ASRock X300"));
    }

    #[test]
    fn under_voltage_alarm_is_read() {
        let (_dir, system) = machine(
            "
            sys/class/hwmon/hwmon0/name = rpi_volt
            sys/class/hwmon/hwmon0/in0_lcrit_alarm = 1
            ",
        );
        assert_eq!(supply_state(&system), Some(SupplyState::Alarm(true)));
    }

    #[test]
    fn kernel_of_this_computer_is_read() {
        let kernel = host_condition(&SystemRoots::host(), None);
        assert!(
            kernel.get("kernel").is_some_and(|release| release.starts_with(|c: char| c.is_ascii_digit()))
        );
    }
}
