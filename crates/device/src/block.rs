//! Block devices in `/sys/block` and `/sys/class/block`: disks and partitions, their numbers, the devices below them
//! (`slaves`) and above them (`holders`).
//!
//! Layout: `Documentation/ABI/stable/sysfs-block` of the Linux kernel.

use crate::system::{SystemRoots, base_name, dir_names, link_name, read_flag, read_number, read_text};
use std::path::{Path, PathBuf};

/// Unit of `size` and `start` in sysfs, whatever the sector size of the device.
pub(crate) const SYSFS_UNIT: u64 = 512;

/// Major and minor number of a block device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DeviceNumber {
    pub major: u32,
    pub minor: u32,
}

impl DeviceNumber {
    /// Parses `major:minor`.
    pub fn parse(text: &str) -> Option<DeviceNumber> {
        let (major, minor) = text.trim().split_once(':')?;
        Some(DeviceNumber { major: major.parse().ok()?, minor: minor.parse().ok()? })
    }

    /// Decodes the number returned by `stat`.
    pub fn from_raw(device: u64) -> DeviceNumber {
        DeviceNumber { major: rustix::fs::major(device), minor: rustix::fs::minor(device) }
    }
}

impl std::fmt::Display for DeviceNumber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockDevice {
    /// Kernel name, such as `mmcblk0`, `sda1`.
    pub name: String,
    pub(crate) dir: PathBuf,
    pub(crate) whole: Option<Box<BlockDevice>>,
}

impl BlockDevice {
    pub(crate) fn all_disks(system: &SystemRoots) -> Vec<BlockDevice> {
        let root = system.sys.join("block");
        let names = dir_names(&root).into_iter().filter(|name| root.join(name).is_dir());
        names.map(|name| BlockDevice { dir: system.resolve(&root.join(&name)), name, whole: None }).collect()
    }

    pub(crate) fn by_name(system: &SystemRoots, name: &str) -> Option<BlockDevice> {
        if name.is_empty() || name.contains('/') || name.starts_with('.') {
            return None;
        }
        let dir = system.sys.join("block").join(name);
        if dir.is_dir() {
            return Some(BlockDevice { name: name.to_owned(), dir: system.resolve(&dir), whole: None });
        }
        let disks = Self::all_disks(system).into_iter().filter(|disk| name.starts_with(&disk.name));
        disks.flat_map(|disk| disk.partitions()).find(|partition| partition.name == name)
    }

    pub(crate) fn by_number(system: &SystemRoots, wanted: DeviceNumber) -> Option<BlockDevice> {
        // File systems without a device have major number 0.
        if wanted.major == 0 {
            return None;
        }
        let link = link_name(system.sys.join("dev/block").join(wanted.to_string()));
        // Recorded trees may lack the links.
        link.and_then(|name| Self::by_name(system, &name)).or_else(|| {
            let disks = Self::all_disks(system).into_iter();
            let mut all = disks.flat_map(|disk| std::iter::once(disk.clone()).chain(disk.partitions()));
            all.find(|device| device.number() == Some(wanted))
        })
    }

    /// Finds a device by name or path, such as `sda`, `/dev/sda`, `/dev/disk/by-id/…`.
    pub fn find(system: &SystemRoots, name_or_path: &str) -> Option<BlockDevice> {
        let path = Path::new(name_or_path);
        if system.is_live() && name_or_path.contains('/') {
            return Self::by_number(system, block_number_at(path)?);
        }
        base_name(path).and_then(|name| Self::by_name(system, name))
    }

    pub(crate) fn partitions(&self) -> Vec<BlockDevice> {
        if self.whole.is_some() {
            return Vec::new();
        }
        dir_names(&self.dir)
            .into_iter()
            .filter(|name| name.starts_with(&self.name) && self.dir.join(name).join("partition").exists())
            .map(|name| BlockDevice { dir: self.dir.join(&name), name, whole: Some(Box::new(self.clone())) })
            .collect()
    }

    /// Disk of a partition, or the device itself.
    pub fn disk(&self) -> BlockDevice {
        self.whole.as_deref().unwrap_or(self).clone()
    }

    pub fn is_partition(&self) -> bool {
        self.whole.is_some()
    }

    /// Announced bytes; 0 for an empty slot, `None` if sysfs does not report it.
    pub fn bytes(&self) -> Option<u64> {
        read_number(self.dir.join("size"))?.checked_mul(SYSFS_UNIT)
    }

    /// First byte of a partition on its disk.
    pub fn start(&self) -> Option<u64> {
        read_number(self.dir.join("start"))?.checked_mul(SYSFS_UNIT)
    }

    pub fn number(&self) -> Option<DeviceNumber> {
        DeviceNumber::parse(&read_text(self.dir.join("dev"))?)
    }

    /// Disk sequence number (`diskseq`, Linux 5.15), new for every medium and never reused until reboot.
    pub fn sequence(&self) -> Option<u64> {
        read_number(self.disk().dir.join("diskseq"))
    }

    /// True if `ro` or the MMC driver's `force_ro` is set.
    pub(crate) fn is_read_only(&self) -> bool {
        read_flag(self.dir.join("ro")) == Some(true) || read_flag(self.dir.join("force_ro")) == Some(true)
    }

    /// Devices built on this one: device mapper, RAID, bcache.
    pub(crate) fn holders(&self) -> Vec<String> {
        dir_names(self.dir.join("holders"))
    }

    pub(crate) fn slaves(&self) -> Vec<String> {
        dir_names(self.dir.join("slaves"))
    }

    /// File or device behind a loop device.
    pub(crate) fn backing_file(&self) -> Option<String> {
        read_text(self.dir.join("loop/backing_file"))
    }

    /// Directory of the hardware: card, SCSI device or NVMe controller.
    pub(crate) fn hardware_dir(&self, system: &SystemRoots) -> PathBuf {
        system.resolve(&self.disk().dir.join("device"))
    }

    /// Directories from the hardware up to the root of the tree, nearest first.
    pub(crate) fn ancestors(&self, system: &SystemRoots) -> Vec<PathBuf> {
        let hardware = self.hardware_dir(system);
        let start = if hardware.starts_with(system.sys.join("devices")) { hardware } else { self.disk().dir };
        start.ancestors().take_while(|dir| *dir != system.sys).map(Path::to_owned).collect()
    }

    pub fn path(&self, system: &SystemRoots) -> PathBuf {
        // Sysfs writes `!` for the slash of a device in a subdirectory (cciss!c0d0).
        let name = self.name.replace('!', "/");
        if system.is_live() { system.dev.join(name) } else { Path::new("/dev").join(name) }
    }
}

pub(crate) fn block_number_at(path: &Path) -> Option<DeviceNumber> {
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    let meta = path.metadata().ok()?;
    meta.file_type().is_block_device().then(|| DeviceNumber::from_raw(meta.rdev()))
}

pub(crate) fn is_listed(number: DeviceNumber) -> bool {
    number.major != 0 && Path::new("/sys/dev/block").join(number.to_string()).exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_number_round_trips() {
        let number = DeviceNumber::parse("179:2\n").unwrap();
        assert_eq!((number.major, number.minor, number.to_string()), (179, 2, "179:2".into()));
        assert_eq!(DeviceNumber::parse("179"), None);
        assert_eq!(DeviceNumber::parse("x:y"), None);
    }

    #[test]
    fn names_outside_tree_match_no_device() {
        for name in ["", ".", "..", "../etc", "/dev/none-such"] {
            assert_eq!(BlockDevice::by_name(&SystemRoots::host(), name), None, "{name}");
        }
        assert_eq!(BlockDevice::find(&SystemRoots::host(), "/etc/passwd"), None);
    }
}
