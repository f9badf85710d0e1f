//! The PCI device that an NVMe controller hangs on.
//!
//! Directories of `/sys/bus/pci/devices`: `Documentation/ABI/testing/sysfs-bus-pci` of the Linux kernel, sd-facts
//! section 7.

use crate::system::{System, text};
use std::path::{Path, PathBuf};

/// The PCI device above a directory of an NVMe controller.
pub(crate) fn place(system: &System, controller: &Path) -> Option<PathBuf> {
    let linked = system.resolve(&controller.join("device"));
    if is_pci(&linked) {
        return Some(linked);
    }
    let above = controller.ancestors().skip(1).take_while(|dir| *dir != system.sys()).find(|dir| is_pci(dir));
    above.map(Path::to_owned).or_else(|| {
        let address = text(controller.join("address")).filter(|address| !address.contains('/'))?;
        let by_address = system.resolve(&system.sys().join("bus/pci/devices").join(address));
        is_pci(&by_address).then_some(by_address)
    })
}

fn is_pci(dir: &Path) -> bool {
    dir.join("current_link_speed").exists() || (dir.join("vendor").is_file() && dir.join("class").is_file())
}
