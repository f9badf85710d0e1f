//! Block devices as `/sys/block` and `/sys/class/block` show them: whole disks, their partitions, their numbers,
//! what they stand on (`slaves`) and what stands on them (`holders`).
//!
//! Layout: `Documentation/ABI/stable/sysfs-block` of the Linux kernel; sizes there are in 512-byte units always.

use crate::system::{SystemRoots, base_name, flag, link_name, names, number, text};
use std::path::{Path, PathBuf};

/// The unit of `size` and `start` in sysfs, whatever the device's own sector.
pub(crate) const SYSFS_UNIT: u64 = 512;

/// Major and minor number of a block device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DeviceNumber {
    /// Major number: the driver.
    pub major: u32,
    /// Minor number: which of its devices.
    pub minor: u32,
}

impl DeviceNumber {
    /// Reads `major:minor`.
    pub fn parse(text: &str) -> Option<DeviceNumber> {
        let (major, minor) = text.trim().split_once(':')?;
        Some(DeviceNumber { major: major.parse().ok()?, minor: minor.parse().ok()? })
    }

    /// From the number that `stat` gives.
    pub fn from_raw(device: u64) -> DeviceNumber {
        DeviceNumber { major: rustix::fs::major(device), minor: rustix::fs::minor(device) }
    }
}

impl std::fmt::Display for DeviceNumber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}

/// A whole disk or one partition, by its directory in sysfs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockDevice {
    /// Kernel name: `mmcblk0`, `sda1`.
    pub name: String,
    /// Its directory, links followed.
    pub(crate) dir: PathBuf,
    /// The whole disk, if this is a partition.
    pub(crate) whole: Option<Box<BlockDevice>>,
}

impl BlockDevice {
    /// All whole disks, in the order of their names.
    pub(crate) fn all(system: &SystemRoots) -> Vec<BlockDevice> {
        let root = system.sys().join("block");
        names(&root)
            .into_iter()
            .filter(|name| root.join(name).is_dir())
            .map(|name| BlockDevice { dir: system.resolve(&root.join(&name)), name, whole: None })
            .collect()
    }

    /// The device of this kernel name, a whole disk or a partition.
    pub(crate) fn named(system: &SystemRoots, name: &str) -> Option<BlockDevice> {
        if name.is_empty() || name.contains('/') || name.starts_with('.') {
            return None;
        }
        let dir = system.sys().join("block").join(name);
        if dir.is_dir() {
            return Some(BlockDevice { name: name.to_owned(), dir: system.resolve(&dir), whole: None });
        }
        Self::all(system)
            .into_iter()
            .filter(|disk| name.starts_with(&disk.name))
            .flat_map(|disk| disk.partitions())
            .find(|partition| partition.name == name)
    }

    /// The device with this number, a whole disk or a partition.
    pub(crate) fn numbered(system: &SystemRoots, wanted: DeviceNumber) -> Option<BlockDevice> {
        // Major 0 stands for file systems without a device.
        if wanted.major == 0 {
            return None;
        }
        let link = system.sys().join("dev/block").join(wanted.to_string());
        if let Some(name) = link_name(link)
            && let Some(device) = Self::named(system, &name)
        {
            return Some(device);
        }
        // Recorded trees may lack the links.
        Self::all(system)
            .into_iter()
            .flat_map(|disk| std::iter::once(disk.clone()).chain(disk.partitions()))
            .find(|device| device.number() == Some(wanted))
    }

    /// The device behind a name or path as a user gives it: `sda`, `/dev/sda`, `/dev/disk/by-id/…`.
    pub fn find(system: &SystemRoots, name_or_path: &str) -> Option<BlockDevice> {
        let path = Path::new(name_or_path);
        if system.is_live() && name_or_path.contains('/') {
            return Self::numbered(system, path_number(path)?);
        }
        base_name(path).and_then(|name| Self::named(system, name))
    }

    /// Partitions of a whole disk, in order.
    pub(crate) fn partitions(&self) -> Vec<BlockDevice> {
        if self.whole.is_some() {
            return Vec::new();
        }
        names(&self.dir)
            .into_iter()
            .filter(|name| name.starts_with(&self.name) && self.dir.join(name).join("partition").exists())
            .map(|name| BlockDevice { dir: self.dir.join(&name), name, whole: Some(Box::new(self.clone())) })
            .collect()
    }

    /// The whole disk: the device itself unless it is a partition.
    pub fn disk(&self) -> BlockDevice {
        self.whole.as_deref().unwrap_or(self).clone()
    }

    /// True for a partition.
    pub fn is_partition(&self) -> bool {
        self.whole.is_some()
    }

    /// Bytes that it announces; 0 for an empty slot, `None` where sysfs does not say.
    pub fn bytes(&self) -> Option<u64> {
        number(self.dir.join("size"))?.checked_mul(SYSFS_UNIT)
    }

    /// First byte of a partition on its disk.
    pub fn start(&self) -> Option<u64> {
        number(self.dir.join("start"))?.checked_mul(SYSFS_UNIT)
    }

    /// Major and minor number.
    pub fn number(&self) -> Option<DeviceNumber> {
        DeviceNumber::parse(&text(self.dir.join("dev"))?)
    }

    /// Number of the coming of its disk (`diskseq`, Linux 5.15), never given twice while the kernel runs.
    pub fn sequence(&self) -> Option<u64> {
        number(self.disk().dir.join("diskseq"))
    }

    /// True where the device takes no writes: `ro`, or `force_ro` of the MMC driver.
    pub(crate) fn read_only(&self) -> bool {
        flag(self.dir.join("ro")) == Some(true) || flag(self.dir.join("force_ro")) == Some(true)
    }

    /// Names of devices made of this one: device mapper, RAID, bcache.
    pub(crate) fn holders(&self) -> Vec<String> {
        names(self.dir.join("holders"))
    }

    /// Names of devices that this one is made of.
    pub(crate) fn slaves(&self) -> Vec<String> {
        names(self.dir.join("slaves"))
    }

    /// The file or device behind a loop device.
    pub(crate) fn backing_file(&self) -> Option<String> {
        text(self.dir.join("loop/backing_file"))
    }

    /// The `device` directory: the card, SCSI device or NVMe controller behind the disk.
    pub(crate) fn hardware(&self, system: &SystemRoots) -> PathBuf {
        system.resolve(&self.disk().dir.join("device"))
    }

    /// The directories from the device behind the disk up to the root of the tree, nearest first.
    pub(crate) fn ancestors(&self, system: &SystemRoots) -> Vec<PathBuf> {
        let hardware = self.hardware(system);
        let start =
            if hardware.starts_with(system.sys().join("devices")) { hardware } else { self.disk().dir };
        start.ancestors().take_while(|dir| *dir != system.sys()).map(Path::to_owned).collect()
    }

    /// Path of the device file.
    pub fn path(&self, system: &SystemRoots) -> PathBuf {
        // A device in a subdirectory is named with `!` in sysfs (cciss!c0d0).
        let name = self.name.replace('!', "/");
        if system.is_live() { system.dev().join(name) } else { Path::new("/dev").join(name) }
    }
}

/// The number of the block device that a path of this machine leads to.
pub(crate) fn path_number(path: &Path) -> Option<DeviceNumber> {
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    let meta = path.metadata().ok()?;
    meta.file_type().is_block_device().then(|| DeviceNumber::from_raw(meta.rdev()))
}

/// Whether the kernel lists a block device of this number.
pub(crate) fn is_listed(number: DeviceNumber) -> bool {
    number.major != 0 && Path::new("/sys/dev/block").join(number.to_string()).exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_numbers_are_read_and_printed_alike() {
        let number = DeviceNumber::parse("179:2\n").unwrap();
        assert_eq!((number.major, number.minor, number.to_string()), (179, 2, "179:2".into()));
        assert_eq!(DeviceNumber::parse("179"), None);
        assert_eq!(DeviceNumber::parse("x:y"), None);
    }

    #[test]
    fn names_that_would_leave_the_tree_find_nothing() {
        for name in ["", ".", "..", "../etc", "/dev/none-such"] {
            assert_eq!(BlockDevice::named(&SystemRoots::host(), name), None, "{name}");
        }
        assert_eq!(BlockDevice::find(&SystemRoots::host(), "/etc/passwd"), None);
    }
}
