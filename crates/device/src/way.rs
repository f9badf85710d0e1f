//! The way from the computer to a card, as far as it can slow a measurement down: hubs, power saving, a reader that
//! could be faster in another port.
//!
//! `Documentation/ABI/testing/sysfs-bus-usb` and `Documentation/driver-api/usb/power-management.rst` of the Linux
//! kernel; device classes from the USB specification (09h: hub).

use crate::block::BlockDevice;
use crate::system::{System, base_name, names, number, text};
use crate::usb;
use std::path::{Path, PathBuf};

/// Class of a hub.
const HUB: &str = "09";

/// What stands between a USB port and a reader.
#[derive(Debug, Clone, PartialEq)]
pub struct UsbWay {
    /// Maker and product of the reader.
    pub reader: String,
    /// Version of USB that the reader was built for, e.g. 3.2.
    pub built_for: Option<f64>,
    /// Hubs between the reader and the computer's own, the nearest first.
    pub hubs: Vec<String>,
    /// The host controller that everything on this bus shares.
    pub controller: Option<String>,
    /// Readers and other storage on the same bus.
    pub neighbours: usize,
    /// After how much idling the kernel puts the reader to sleep, in ms; `None` where it never does.
    pub autosuspend_ms: Option<i64>,
    /// File that switches that off.
    pub power_control: PathBuf,
}

/// The USB way to a device; `None` if it hangs on no USB.
#[must_use]
pub fn usb_way(system: &System, device: &str) -> Option<UsbWay> {
    let disk = BlockDevice::find(system, device)?.disk();
    let place = usb::place(system, &disk)?;
    let power = place.device.join("power");
    let sleeps = text(power.join("control")).as_deref() == Some("auto");
    let delay = || text(power.join("autosuspend_delay_ms"))?.parse::<i64>().ok();
    Some(UsbWay {
        reader: place.label(),
        built_for: place.text("version").and_then(|version| version.parse().ok()),
        hubs: hubs(system, &place.device),
        controller: usb::host_controller(system, &place),
        neighbours: neighbours(system, &place.device),
        // A delay below 0 means never.
        autosuspend_ms: sleeps.then(delay).flatten().filter(|delay| *delay >= 0),
        power_control: power.join("control"),
    })
}

fn hubs(system: &System, reader: &Path) -> Vec<String> {
    let above = reader.ancestors().skip(1).take_while(|dir| *dir != system.sys());
    above
        .filter(|dir| text(dir.join("bDeviceClass")).as_deref() == Some(HUB) && !is_root_hub(dir))
        .map(|dir| text(dir.join("product")).unwrap_or_else(|| "a USB hub".to_owned()))
        .collect()
}

fn is_root_hub(dir: &Path) -> bool {
    let number = base_name(dir).and_then(|name| name.strip_prefix("usb"));
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

/// Other storage devices on the reader's bus, which share its controller.
fn neighbours(system: &System, reader: &Path) -> usize {
    let root = system.sys().join("bus/usb/devices");
    let Some(bus) = number(reader.join("busnum")) else { return 0 };
    let storage = |dir: &Path| {
        let interfaces = names(dir).into_iter().map(|name| dir.join(name));
        interfaces.into_iter().any(|i| text(i.join("bInterfaceClass")).as_deref() == Some("08"))
    };
    names(&root)
        .iter()
        .map(|name| system.resolve(&root.join(name)))
        .filter(|dir| dir.as_path() != reader && number(dir.join("busnum")) == Some(bus) && storage(dir))
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_behind_a_hub_that_may_fall_asleep_is_told_as_one() {
        let dir = tempfile::tempdir().unwrap();
        let usb = "sys/devices/pci0000:00/0000:00:14.0/usb1";
        let reader = format!("{usb}/1-2/1-2.4");
        let disk = format!("{reader}/1-2.4:1.0/host1/target1:0:0/1:0:0:0");
        let file = |name: String, content: &str| {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        };
        for hub in [usb.to_owned(), format!("{usb}/1-2")] {
            file(format!("{hub}/bDeviceClass"), "09\n");
        }
        file(format!("{usb}/1-2/product"), "USB2.0 Hub\n");
        for (name, content) in [
            ("idVendor", "05e3"),
            ("idProduct", "0749"),
            ("product", "Reader"),
            ("version", " 3.20"),
            ("power/control", "auto"),
            ("power/autosuspend_delay_ms", "2000"),
        ] {
            file(format!("{reader}/{name}"), content);
        }
        file(format!("{disk}/block/sda/size"), "8\n");
        let link = |name: String, to: &str| {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(to, path).unwrap();
        };
        link(format!("{disk}/block/sda/device"), "../../../1:0:0:0");
        link("sys/block/sda".to_owned(), &format!("../{}/block/sda", disk.trim_start_matches("sys/")));
        let way = usb_way(&System::recorded(dir.path()), "sda").unwrap();
        assert_eq!((way.hubs, way.built_for), (vec!["USB2.0 Hub".to_owned()], Some(3.2)));
        assert_eq!((way.autosuspend_ms, way.neighbours), (Some(2000), 0));
        std::fs::write(dir.path().join(&reader).join("power/control"), "on\n").unwrap();
        assert_eq!(usb_way(&System::recorded(dir.path()), "sda").unwrap().autosuspend_ms, None);
    }

    #[test]
    fn what_hangs_on_no_usb_has_no_such_way() {
        assert_eq!(usb_way(&System::host(), "loop0"), None);
    }
}
