//! USB readers: identity, speed, protocol, and what can slow a test down: hubs, power saving, a slow port.
//!
//! A reader hides the registers of its card: docs/reference/linux.md#usb-readers. Files of `/sys/bus/usb/devices/…`:
//! `Documentation/ABI/stable/sysfs-bus-usb`, `Documentation/ABI/testing/sysfs-bus-usb` and
//! `Documentation/driver-api/usb/power-management.rst` of the Linux kernel; device classes: the USB specification.

use crate::block::BlockDevice;
use crate::system::{
    SystemRoots, base_name, dir_entries, is_number, join_texts, link_name, read_number, read_text,
};
use cardscope_model::usb::UsbReader;
use std::path::{Path, PathBuf};

/// Device class of hubs, and interface class of storage.
const HUB: &str = "09";
const STORAGE: &str = "08";

/// Most directory levels between a USB device and its disk (interface, host, target, LUN, block).
const DEPTH_TO_DISK: usize = 7;

#[derive(Debug, Clone)]
pub(crate) struct UsbPath {
    pub(crate) device: PathBuf,
    pub(crate) interface: Option<PathBuf>,
}

/// USB device of a disk; `None` if it is not on USB.
pub(crate) fn usb_path(system: &SystemRoots, device: &BlockDevice) -> Option<UsbPath> {
    let ancestors = device.ancestors(system);
    let Some(at) = ancestors.iter().position(|dir| is_usb_device(dir)) else {
        return search_down(system, &device.disk().name);
    };
    let interface = at.checked_sub(1).map(|below| ancestors[below].clone());
    Some(UsbPath { device: ancestors[at].clone(), interface })
}

/// Finds the USB device of a disk from above, in trees copied without links.
fn search_down(system: &SystemRoots, disk: &str) -> Option<UsbPath> {
    if system.is_live() {
        return None;
    }
    let root = system.sys.join("bus/usb/devices");
    let mut devices = dir_entries(root).into_iter().map(|dir| system.resolve(&dir));
    let device = devices.find(|dir| is_usb_device(dir) && leads_to(dir, disk, DEPTH_TO_DISK))?;
    let interface = dir_entries(&device).into_iter().find(|dir| leads_to(dir, disk, DEPTH_TO_DISK));
    Some(UsbPath { device, interface: interface.filter(|dir| dir.join("bInterfaceClass").exists()) })
}

fn leads_to(dir: &Path, disk: &str, depth: usize) -> bool {
    let down = |dir: &PathBuf| dir.is_dir() && !dir.is_symlink() && leads_to(dir, disk, depth - 1);
    dir.join("block").join(disk).exists() || depth > 0 && dir_entries(dir).iter().any(down)
}

fn is_usb_device(dir: &Path) -> bool {
    dir.join("idVendor").is_file() && dir.join("idProduct").is_file()
}

impl UsbPath {
    /// Attribute of the device, such as `manufacturer`, `speed`, `idVendor`.
    pub(crate) fn attribute(&self, name: &str) -> Option<String> {
        read_text(self.device.join(name))
    }

    /// Driver of the interface: `uas` or `usb-storage`.
    pub(crate) fn driver(&self) -> Option<String> {
        let interface = self.interface.as_ref()?;
        link_name(interface.join("driver"))
    }

    /// Protocol of the disk: `62` for UAS, `50` for bulk only. An interface with both may report the inactive one, so
    /// the driver takes precedence.
    pub(crate) fn protocol(&self) -> Option<&'static str> {
        let shown = self.interface.as_ref().and_then(|dir| read_text(dir.join("bInterfaceProtocol")));
        match (self.driver().as_deref(), shown.as_deref()) {
            (Some("uas"), _) | (None, Some("62")) => Some("62"),
            (Some("usb-storage"), _) | (None, Some("50")) => Some("50"),
            _ => None,
        }
    }

    pub(crate) fn label(&self) -> String {
        let id = |name| self.attribute(name).unwrap_or_else(|| "????".into());
        let ids = format!("{}:{}", id("idVendor"), id("idProduct"));
        match join_texts([self.attribute("manufacturer"), self.attribute("product")], " ") {
            Some(words) => format!("{words} ({ids})"),
            None => format!("USB reader {ids}"),
        }
    }
}

pub(crate) fn describe_reader(system: &SystemRoots, disk: &BlockDevice) -> Option<UsbReader> {
    let place = usb_path(system, disk)?;
    let inquiry = disk.hardware_dir(system);
    let mut reader = UsbReader {
        vendor_id: place.attribute("idVendor"),
        product_id: place.attribute("idProduct"),
        vendor: place.attribute("manufacturer"),
        product: place.attribute("product"),
        serial: place.attribute("serial"),
        driver: place.driver(),
        inquiry_vendor: read_text(inquiry.join("vendor")),
        inquiry_model: read_text(inquiry.join("model")),
        inquiry_rev: read_text(inquiry.join("rev")),
        ..UsbReader::default()
    };
    if let Some(speed) = place.attribute("speed") {
        reader.set_speed(&speed);
    }
    if let Some(protocol) = place.protocol() {
        reader.set_interface_protocol(protocol);
    }
    Some(reader)
}

/// USB host controller of a device: the PCI or platform device above its root hub.
pub(crate) fn host_controller(system: &SystemRoots, place: &UsbPath) -> Option<String> {
    let mut above = place.device.ancestors().take_while(|dir| *dir != system.sys);
    let controller = above.find(|dir| is_root_hub(dir))?.parent()?;
    let driver = link_name(controller.join("driver"));
    let name = base_name(controller)?.to_owned();
    let id = |name: &str| read_text(controller.join(name)).map(|id| id.trim_start_matches("0x").to_owned());
    let ids = id("vendor").zip(id("device")).map(|(vendor, device)| format!("{vendor}:{device}"));
    let extra = join_texts([driver, ids], ", ").map_or(String::new(), |extra| format!(" ({extra})"));
    Some(format!("{name}{extra}"))
}

#[derive(Debug, Clone, PartialEq)]
pub struct UsbTopology {
    pub reader: String,
    /// USB version of the reader, such as 3.2.
    pub built_for: Option<f64>,
    /// Hubs between the reader and the root hub, nearest first.
    pub hubs: Vec<String>,
    pub controller: Option<String>,
    /// Number of other storage devices on the same bus, which share its controller.
    pub neighbours: usize,
    /// Idle time in ms before the kernel suspends the reader; `None` for never.
    pub autosuspend_ms: Option<i64>,
    /// File that switches suspending off.
    pub power_control: PathBuf,
}

/// USB connection of a device; `None` if it is not on USB.
pub fn usb_topology(system: &SystemRoots, device: &str) -> Option<UsbTopology> {
    let disk = BlockDevice::find(system, device)?.disk();
    let place = usb_path(system, &disk)?;
    let power = place.device.join("power");
    let sleeps = read_text(power.join("control")).as_deref() == Some("auto");
    let delay = || read_text(power.join("autosuspend_delay_ms"))?.parse::<i64>().ok();
    Some(UsbTopology {
        reader: place.label(),
        built_for: place.attribute("version").and_then(|version| version.parse().ok()),
        hubs: hub_names(system, &place.device),
        controller: host_controller(system, &place),
        neighbours: count_neighbours(system, &place.device),
        // A delay below 0 means never.
        autosuspend_ms: sleeps.then(delay).flatten().filter(|delay| *delay >= 0),
        power_control: power.join("control"),
    })
}

fn hub_names(system: &SystemRoots, reader: &Path) -> Vec<String> {
    let is_hub =
        |dir: &&Path| read_text(dir.join("bDeviceClass")).as_deref() == Some(HUB) && !is_root_hub(dir);
    let hubs = reader.ancestors().skip(1).take_while(|dir| *dir != system.sys).filter(is_hub);
    hubs.map(|dir| read_text(dir.join("product")).unwrap_or_else(|| "a USB hub".to_owned())).collect()
}

fn is_root_hub(dir: &Path) -> bool {
    let number = base_name(dir).and_then(|name| name.strip_prefix("usb"));
    number.is_some_and(|number| !number.is_empty() && is_number(number))
}

fn count_neighbours(system: &SystemRoots, reader: &Path) -> usize {
    let root = system.sys.join("bus/usb/devices");
    let Some(bus) = read_number(reader.join("busnum")) else { return 0 };
    let class = |dir: &PathBuf| read_text(dir.join("bInterfaceClass"));
    let storage = |dir: &Path| dir_entries(dir).iter().any(|dir| class(dir).as_deref() == Some(STORAGE));
    let counts =
        |dir: &PathBuf| dir != reader && read_number(dir.join("busnum")) == Some(bus) && storage(dir);
    dir_entries(&root).iter().map(|dir| system.resolve(dir)).filter(counts).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::machine;

    #[test]
    fn reader_behind_hub_with_autosuspend_is_described() {
        let usb = "sys/devices/pci0000:00/0000:00:14.0/usb1";
        let reader = format!("{usb}/1-2/1-2.4");
        let disk = format!("{reader}/1-2.4:1.0/host1/target1:0:0/1:0:0:0");
        let (dir, system) = machine(&format!(
            "
            {usb}/bDeviceClass = 09
            {usb}/1-2/bDeviceClass = 09
            {usb}/1-2/product = USB2.0 Hub
            {reader}/idVendor = 05e3
            {reader}/idProduct = 0749
            {reader}/product = Reader
            {reader}/version =  3.20
            {reader}/power/control = auto
            {reader}/power/autosuspend_delay_ms = 2000
            {disk}/block/sda/size = 8
            {disk}/block/sda/device -> ../../../1:0:0:0
            sys/block/sda -> ../../{disk}/block/sda
            "
        ));
        let between = usb_topology(&system, "sda").unwrap();
        assert_eq!((between.hubs, between.built_for), (vec!["USB2.0 Hub".to_owned()], Some(3.2)));
        assert_eq!((between.autosuspend_ms, between.neighbours), (Some(2000), 0));
        std::fs::write(dir.path().join(&reader).join("power/control"), "on\n").unwrap();
        assert_eq!(usb_topology(&system, "sda").unwrap().autosuspend_ms, None);
    }

    #[test]
    fn non_usb_device_has_no_topology() {
        assert_eq!(usb_topology(&SystemRoots::host(), "loop0"), None);
    }
}
