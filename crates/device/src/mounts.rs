//! Mounts of all visible mount namespaces, swap areas, and the devices below them, down to the disks.
//!
//! Formats: `proc_pid_mountinfo(5)` and `proc_swaps(5)`. Mounts of a container are missing in our own table, so those
//! of all other processes are read as far as permitted.

use crate::block::{BlockDevice, DeviceNumber, block_number_at};
use crate::system::{SystemRoots, dir_names, is_number, read_text};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MountEntry {
    /// Mount ID, unique while the mount lasts.
    pub(crate) id: u64,
    /// Device number; anonymous (`0:n`) for btrfs, overlayfs and others.
    pub(crate) number: DeviceNumber,
    pub(crate) point: PathBuf,
    /// File system type, such as `ext4`, `vfat`, `fuse.sshfs`.
    pub(crate) kind: String,
    /// Mounted device, such as `/dev/sda1`, or `tmpfs`.
    pub(crate) source: String,
    /// Options of the file system, such as `rw,compress=zstd:1`.
    pub(crate) options: String,
    pub(crate) in_other_namespace: bool,
}

/// Most layers of block devices that are followed (partition, dm, loop); damaged data may form a loop.
const DEEPEST: usize = 16;

/// Mounts of a computer, and the devices that they lead to.
pub(crate) struct MountTable<'s> {
    pub(crate) system: &'s SystemRoots,
    pub(crate) mounts: Vec<MountEntry>,
}

impl<'s> MountTable<'s> {
    /// Mounts of our own namespace.
    pub(crate) fn read_own(system: &'s SystemRoots) -> MountTable<'s> {
        let files = ["self/mountinfo", "1/mountinfo", "mountinfo"];
        let text = files.iter().find_map(|name| read_text(system.proc.join(name))).unwrap_or_default();
        MountTable { system, mounts: parse_mounts(&text, false) }
    }

    /// Mounts of all namespaces, ours first; each namespace is read once.
    pub(crate) fn read_all(system: &'s SystemRoots) -> MountTable<'s> {
        let mut table = Self::read_own(system);
        let mut seen: HashSet<PathBuf> = mount_namespace(&system.proc.join("self")).into_iter().collect();
        for process in dir_names(&system.proc).iter().filter(|name| is_number(name)) {
            let dir = system.proc.join(process);
            if mount_namespace(&dir).is_some_and(|namespace| !seen.insert(namespace)) {
                continue;
            }
            if let Some(text) = read_text(dir.join("mountinfo")) {
                table.mounts.extend(parse_mounts(&text, true));
            }
        }
        table
    }

    /// Mount of a path: the longest matching mount point, the last of equals.
    pub(crate) fn mount_of(&self, path: &Path) -> Option<&MountEntry> {
        let above = |mount: &&MountEntry| !mount.in_other_namespace && path.starts_with(&mount.point);
        self.mounts.iter().filter(above).max_by_key(|mount| mount.point.as_os_str().len())
    }

    /// Devices of a mount: by number, or by source if the number is anonymous (btrfs, bcachefs).
    pub(crate) fn mount_devices(&self, mount: &MountEntry) -> Vec<BlockDevice> {
        let mut devices = Vec::from_iter(BlockDevice::by_number(self.system, mount.number));
        if devices.is_empty() && mount.number.major == 0 {
            let sources = mount.source.split(':').filter(|source| source.starts_with("/dev/"));
            devices.extend(sources.filter_map(|source| device_at(self.system, Path::new(source))));
        }
        devices
    }

    /// Device at a path, or those of the mount that holds a file.
    pub(crate) fn devices_at(&self, path: &Path) -> Vec<BlockDevice> {
        match device_at(self.system, path) {
            Some(device) => vec![device],
            None => self.mount_of(path).map(|mount| self.mount_devices(mount)).unwrap_or_default(),
        }
    }

    /// Calls `visit` for a device and each one below it, with the names from the top down to it.
    pub(crate) fn visit_below(&self, top: &BlockDevice, above: &[String], visit: &mut dyn FnMut(&[String])) {
        if above.len() >= DEEPEST || above.contains(&top.name) {
            return;
        }
        let path = [above, std::slice::from_ref(&top.name)].concat();
        visit(&path);
        for beneath in self.devices_below(top) {
            self.visit_below(&beneath, &path, visit);
        }
    }

    /// These devices and all below them, each once.
    pub(crate) fn with_all_below(&self, mut devices: Vec<BlockDevice>) -> Vec<BlockDevice> {
        let mut all: Vec<BlockDevice> = Vec::new();
        while let Some(device) = devices.pop() {
            if !all.contains(&device) {
                devices.extend(self.devices_below(&device));
                all.push(device);
            }
        }
        all
    }

    /// Devices directly below: slaves, or the device or disk behind a loop device. Partitions have those of their disk.
    pub(crate) fn devices_below(&self, device: &BlockDevice) -> Vec<BlockDevice> {
        let disk = device.disk();
        let slaves = disk.slaves().into_iter().filter_map(|name| BlockDevice::by_name(self.system, &name));
        let behind = disk.backing_file().map(|file| self.devices_at(Path::new(&file)));
        slaves.chain(behind.into_iter().flatten()).collect()
    }
}

/// Block device at a path; recorded trees are searched by name.
pub(crate) fn device_at(system: &SystemRoots, path: &Path) -> Option<BlockDevice> {
    if system.is_live() {
        return BlockDevice::by_number(system, block_number_at(path)?);
    }
    let name = path.strip_prefix("/dev").ok()?.to_str()?;
    let mapped = name.strip_prefix("mapper/").and_then(|mapped| {
        let is_mapped = |disk: &BlockDevice| read_text(disk.dir.join("dm/name")).as_deref() == Some(mapped);
        BlockDevice::all_disks(system).into_iter().find(is_mapped)
    });
    mapped.or_else(|| BlockDevice::by_name(system, name))
}

/// Member devices of each mounted btrfs file system; only one of them appears in the mount table.
pub(crate) fn btrfs_members(system: &SystemRoots) -> Vec<Vec<String>> {
    let root = system.sys.join("fs/btrfs");
    dir_names(&root).into_iter().map(|uuid| dir_names(root.join(uuid).join("devices"))).collect()
}

fn mount_namespace(process: &Path) -> Option<PathBuf> {
    std::fs::read_link(process.join("ns/mnt")).ok()
}

pub(crate) fn parse_mounts(text: &str, elsewhere: bool) -> Vec<MountEntry> {
    text.lines().filter_map(|line| parse_mount(line, elsewhere)).collect()
}

fn parse_mount(line: &str, elsewhere: bool) -> Option<MountEntry> {
    // 36 35 98:0 /root /point rw,noatime [optional fields …] - ext3 /dev/root rw,errors=continue
    let (place, what) = line.split_once(" - ")?;
    let (mut place, mut what) = (place.split(' '), what.split(' '));
    Some(MountEntry {
        id: place.next()?.parse().unwrap_or_default(),
        number: DeviceNumber::parse(place.nth(1)?)?,
        point: PathBuf::from(unescape(place.nth(1)?)),
        kind: what.next()?.to_owned(),
        source: unescape(what.next().unwrap_or_default()),
        options: what.next().unwrap_or_default().to_owned(),
        in_other_namespace: elsewhere,
    })
}

pub(crate) fn swap_paths(system: &SystemRoots) -> Vec<PathBuf> {
    let text = read_text(system.proc.join("swaps")).unwrap_or_default();
    let paths = text.lines().skip(1).filter_map(|line| line.split_whitespace().next());
    paths.map(|path| PathBuf::from(unescape(path))).collect()
}

/// Decodes the kernel's octal escapes of blanks and backslashes (`\040`).
fn unescape(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let escaped = (first == b'\\').then(|| tail.get(..3)).flatten().and_then(parse_octal);
        out.push(escaped.unwrap_or(first));
        rest = if escaped.is_some() { &tail[3..] } else { tail };
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn parse_octal(digits: &[u8]) -> Option<u8> {
    u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn kind_of(mountinfo: &str, path: &str) -> String {
        let table = MountTable { system: &SystemRoots::host(), mounts: parse_mounts(mountinfo, false) };
        table.mount_of(Path::new(path)).unwrap().kind.clone()
    }

    const LINE: &str = "36 35 8:1 / /media/My\\040Card rw,noatime shared:1 master:2 - vfat /dev/sda1 rw,utf8";

    #[test]
    fn mount_point_with_blank_is_decoded() {
        let mounts = parse_mounts(LINE, false);
        assert_eq!(mounts[0].point, Path::new("/media/My Card"));
        assert_eq!((mounts[0].kind.as_str(), mounts[0].source.as_str()), ("vfat", "/dev/sda1"));
        assert_eq!(mounts[0].number, DeviceNumber { major: 8, minor: 1 });
    }

    #[test]
    fn path_belongs_to_innermost_mount() {
        let root = "1 0 8:2 / / rw - ext4 /dev/sda2 rw";
        assert_eq!(kind_of(&format!("{root}\n{LINE}"), "/media/My Card/x"), "vfat");
        assert_eq!(kind_of(&format!("{root}\n{LINE}"), "/media/My Cards"), "ext4");
    }

    #[test]
    fn last_mount_on_one_point_wins() {
        assert_eq!(kind_of("1 0 8:2 / /a rw - ext4 x rw\n2 0 8:3 / /a rw - xfs y rw", "/a/b"), "xfs");
    }

    proptest! {
        #[test]
        fn garbage_in_mountinfo_never_panics(text in "\\PC*", tail in "[ -~\\\\\n]{0,200}") {
            parse_mounts(&format!("{text} - {tail}"), false);
            parse_mounts(&format!("1 2 3:4 / {text} - {tail}"), true);
        }
    }
}
