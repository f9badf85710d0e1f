//! The USB reader between this computer and the card: who made it, how fast it is attached, which protocol.
//!
//! sd-facts section 8: a reader answers for the card, so its registers stay hidden. Files of
//! `/sys/bus/usb/devices/…` as in `Documentation/ABI/stable/sysfs-bus-usb` of the Linux kernel.

use crate::block::BlockDevice;
use crate::system::{System, link_name, names, text};
use std::path::{Path, PathBuf};

/// Levels of directories between a USB device and the disk beneath it, at most (interface, host, target, LUN, block).
const DEPTH_TO_DISK: usize = 7;

/// Directories of the USB device and of its storage interface.
#[derive(Debug, Clone)]
pub(crate) struct UsbPlace {
    /// The USB device: `…/usb1/1-2`.
    pub(crate) device: PathBuf,
    /// The interface that carries the disk: `…/1-2/1-2:1.0`.
    pub(crate) interface: Option<PathBuf>,
}

/// Where on USB a disk hangs; `None` if it does not.
pub(crate) fn place(system: &System, device: &BlockDevice) -> Option<UsbPlace> {
    let ancestors = device.ancestors(system);
    if let Some(at) = ancestors.iter().position(|dir| is_device(dir)) {
        let interface = at.checked_sub(1).map(|below| ancestors[below].clone());
        return Some(UsbPlace { device: ancestors[at].clone(), interface });
    }
    by_search(system, &device.disk().name)
}

/// In a tree copied without links the way up is lost: look down from each USB device instead.
fn by_search(system: &System, disk: &str) -> Option<UsbPlace> {
    if system.is_live() {
        return None;
    }
    let root = system.sys().join("bus/usb/devices");
    let dirs: Vec<PathBuf> = names(&root).iter().map(|name| system.resolve(&root.join(name))).collect();
    let device = dirs.iter().filter(|dir| is_device(dir)).find(|dir| leads_to(dir, disk, DEPTH_TO_DISK))?;
    let interface =
        names(device).iter().map(|name| device.join(name)).find(|dir| leads_to(dir, disk, DEPTH_TO_DISK));
    Some(UsbPlace {
        device: device.clone(),
        interface: interface.filter(|dir| dir.join("bInterfaceClass").exists()),
    })
}

fn leads_to(dir: &Path, disk: &str, depth: usize) -> bool {
    if dir.join("block").join(disk).exists() {
        return true;
    }
    depth > 0
        && names(dir)
            .iter()
            .map(|name| dir.join(name))
            .any(|below| below.is_dir() && !below.is_symlink() && leads_to(&below, disk, depth - 1))
}

fn is_device(dir: &Path) -> bool {
    dir.join("idVendor").is_file() && dir.join("idProduct").is_file()
}

impl UsbPlace {
    /// One of the device's texts: `manufacturer`, `speed`, `idVendor` …
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        text(self.device.join(name))
    }

    /// The driver of the interface: `uas` or `usb-storage`.
    pub(crate) fn driver(&self) -> Option<String> {
        let interface = self.interface.as_ref()?;
        link_name(interface.join("driver"))
    }

    /// The protocol by which the disk is spoken to, `62` UAS or `50` bulk only. An interface may offer both and
    /// show the one it was not switched to, so the driver is believed first.
    pub(crate) fn protocol(&self) -> Option<&'static str> {
        let shown = self.interface.as_ref().and_then(|dir| text(dir.join("bInterfaceProtocol")));
        match (self.driver().as_deref(), shown.as_deref()) {
            (Some("uas"), _) | (None, Some("62")) => Some("62"),
            (Some("usb-storage"), _) | (None, Some("50")) => Some("50"),
            _ => None,
        }
    }

    /// Maker and product as people know the reader, else its ids.
    pub(crate) fn label(&self) -> String {
        let ids = format!(
            "{}:{}",
            self.text("idVendor").unwrap_or_else(|| "????".into()),
            self.text("idProduct").unwrap_or_else(|| "????".into())
        );
        match (self.text("manufacturer"), self.text("product")) {
            (Some(maker), Some(product)) => format!("{maker} {product} ({ids})"),
            (None, Some(product)) => format!("{product} ({ids})"),
            (Some(maker), None) => format!("{maker} ({ids})"),
            (None, None) => format!("USB reader {ids}"),
        }
    }
}

/// The USB host controller that a device hangs on: the PCI or platform device above its root hub.
pub(crate) fn host_controller(system: &System, place: &UsbPlace) -> Option<String> {
    let root_hub = place.device.ancestors().take_while(|dir| *dir != system.sys()).find(|dir| {
        crate::system::base_name(dir)
            .and_then(|name| name.strip_prefix("usb"))
            .is_some_and(|bus| !bus.is_empty() && bus.bytes().all(|b| b.is_ascii_digit()))
    })?;
    let controller = root_hub.parent()?;
    let driver = link_name(controller.join("driver"));
    let name = crate::system::base_name(controller)?.to_owned();
    let ids = match (text(controller.join("vendor")), text(controller.join("device"))) {
        (Some(vendor), Some(device)) => {
            Some(format!("{}:{}", vendor.trim_start_matches("0x"), device.trim_start_matches("0x")))
        }
        _ => None,
    };
    let extra: Vec<String> = [driver, ids].into_iter().flatten().collect();
    Some(if extra.is_empty() { name } else { format!("{name} ({})", extra.join(", ")) })
}
