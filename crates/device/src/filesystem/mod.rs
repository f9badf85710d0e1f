//! File system below a path, the layers between it and the card, and its disk compared with that of the running system
//! (on a small board a card itself) and with the card under test, on which Cardscope must not store its own files.
//!
//! Recognized by the magic number of `statfs(2)`; the mount table and sysfs distinguish kinds with the same number
//! (ext2/3/4, FUSE programs) and give the layers below.

mod extent;
mod kinds;

pub use extent::device_offset;
pub use kinds::{KernelFile, refuse_kernel_file};

use crate::block::{BlockDevice, DeviceNumber};
use crate::guard::is_system_point;
use crate::mounts::{MountEntry, MountTable, btrfs_members};
use crate::system::{SystemRoots, join_texts, read_text};
use cardscope_model::caveat::Caveat;
use serde::Serialize;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// `STATX_ATTR_COMPRESSED` and `STATX_ATTR_ENCRYPTED` (linux/stat.h), also set for single directories.
const ATTRIBUTES: [(u64, &str); 2] = [(0x4, "compressed here"), (0x800, "encrypted here")];

const LAYERS: [(&str, &str); 4] = [
    ("zram", "compressed in memory"),
    ("ram", "in memory"),
    ("nbd", "over the network"),
    ("bcache", "cached by another disk (bcache)"),
];

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileSystem {
    /// Name, such as `ext4`, `fuse.sshfs`; `unknown (0x…)` for an unlisted magic number.
    pub name: String,
    /// Magic number of `statfs(2)`.
    pub magic: u32,
    /// Mount point, if the mount table has it.
    pub mounted_at: Option<String>,
    /// Effect on data on its way to the card; `None` for a plain file system.
    pub effect: Option<String>,
    /// Layers below, from top to bottom: encryption, loop devices, RAID.
    pub layers: Vec<DiskLayer>,
    /// Kernel name of the disk below, if it is exactly one.
    pub disk: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DiskLayer {
    /// Device name, such as `dm-0 (secret)`, `loop3`.
    pub name: String,
    /// Effect, such as `encrypted (LUKS)`.
    pub effect: String,
}

impl FileSystem {
    /// True for tmpfs and the like.
    pub fn is_in_memory(&self) -> bool {
        kinds::is_in_memory(self.magic)
    }

    pub fn caveats(&self) -> Vec<Caveat> {
        let caveat = |file_system, effect: &String| Caveat::Layered { file_system, effect: effect.clone() };
        let own = self.effect.iter().map(|effect| caveat(self.name.clone(), effect));
        let over = |layer: &DiskLayer| caveat(format!("{} over {}", self.name, layer.name), &layer.effect);
        own.chain(self.layers.iter().map(over)).collect()
    }
}

/// File system of a path on this computer, or of its nearest existing parent.
pub fn file_system_at(path: &Path) -> std::io::Result<FileSystem> {
    let system = SystemRoots::host();
    let real = nearest_existing(path)?;
    let magic = rustix::fs::statfs(&real)?.f_type as u32;
    let number = DeviceNumber::from_raw(real.metadata()?.dev());
    let mut file_system = describe_file_system(&MountTable::read_own(&system), &real, magic, number);
    file_system.effect = join_texts([file_system.effect, directory_attributes(&real)], ", ");
    Ok(file_system)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiskSpace {
    pub total: u64,
    /// Bytes that this user may still write.
    pub free: u64,
    pub read_only: bool,
    /// True if the running system is on it: filling it would stop more than a test.
    pub holds_system: bool,
}

/// Free space below a path, from `statvfs(3)`.
pub fn disk_space(path: &Path) -> std::io::Result<DiskSpace> {
    let found = rustix::fs::statvfs(path)?;
    let number = path.metadata()?.dev();
    let system = ["/", "/usr", "/var", "/tmp", "/home"];
    Ok(DiskSpace {
        total: found.f_blocks.saturating_mul(found.f_frsize),
        free: found.f_bavail.saturating_mul(found.f_frsize),
        read_only: found.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY),
        holds_system: system.iter().any(|p| Path::new(p).metadata().is_ok_and(|m| m.dev() == number)),
    })
}

fn nearest_existing(path: &Path) -> std::io::Result<PathBuf> {
    match path.canonicalize() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => nearest_existing(parent),
            Some(_) => std::env::current_dir(),
            None => Err(error),
        },
        other => other,
    }
}

fn describe_file_system(table: &MountTable<'_>, path: &Path, magic: u32, number: DeviceNumber) -> FileSystem {
    let mount = table.mount_of(path);
    let name = match mount {
        Some(mount) => mount.kind.clone(),
        None => kinds::name_by_magic(magic).map_or_else(|| format!("unknown ({magic:#x})"), str::to_owned),
    };
    let (layers, disks) = layers_and_disks(table, mounted_devices(table, mount, number));
    let effect = join_texts([kinds::data_effect(magic, &name), mount.and_then(kinds::mount_effect)], ", ");
    let mounted_at = mount.map(|mount| mount.point.to_string_lossy().into_owned());
    let disk = <[String; 1]>::try_from(disks).ok().map(|[disk]| disk);
    FileSystem { name, magic, mounted_at, effect, layers, disk }
}

fn mounted_devices(
    table: &MountTable<'_>,
    at: Option<&MountEntry>,
    number: DeviceNumber,
) -> Vec<BlockDevice> {
    match BlockDevice::by_number(table.system, number) {
        Some(device) => vec![device],
        None => at.map(|mount| table.mount_devices(mount)).unwrap_or_default(),
    }
}

fn layers_and_disks(table: &MountTable<'_>, devices: Vec<BlockDevice>) -> (Vec<DiskLayer>, Vec<String>) {
    let (mut layers, mut disks) = (Vec::new(), Vec::new());
    for device in table.with_all_below(devices) {
        layers.extend(data_layer(&device.disk()));
        let name = device.disk().name;
        if table.devices_below(&device).is_empty() && !disks.contains(&name) {
            disks.push(name);
        }
    }
    (layers, disks)
}

fn data_layer(disk: &BlockDevice) -> Option<DiskLayer> {
    let uuid = read_text(disk.dir.join("dm/uuid")).unwrap_or_default();
    let name = match read_text(disk.dir.join("dm/name")) {
        Some(mapped) => format!("{} ({mapped})", disk.name),
        None => disk.name.clone(),
    };
    let effect = if uuid.starts_with("CRYPT-") {
        "encrypted (dm-crypt, LUKS)".to_owned()
    } else if let Some(file) = disk.backing_file() {
        format!("a loop device over the file {file}")
    } else if disk.dir.join("md").is_dir() {
        "a RAID array of several disks".to_owned()
    } else {
        LAYERS.iter().find(|(prefix, _)| disk.name.starts_with(prefix))?.1.to_owned()
    };
    Some(DiskLayer { name, effect })
}

fn directory_attributes(path: &Path) -> Option<String> {
    use rustix::fs::{AtFlags, CWD, StatxFlags};
    let stat = rustix::fs::statx(CWD, path, AtFlags::empty(), StatxFlags::BASIC_STATS).ok()?;
    let is_set = |bit: u64| stat.stx_attributes.bits() & bit != 0;
    join_texts(ATTRIBUTES.map(|(bit, word)| is_set(bit).then(|| word.to_owned())), ", ")
}

const IN_MEMORY: [&str; 2] = ["tmpfs", "ramfs"];

/// Disk that a path shares with the running system, or their file system if no disk is visible; `None` if they share
/// none, or the path is in memory.
pub fn disk_shared_with_system(system: &SystemRoots, path: &Path) -> Option<String> {
    let table = MountTable::read_own(system);
    let real = if system.is_live() { nearest_existing(path).ok()? } else { path.to_owned() };
    let here = upper_mount(&table, table.mount_of(&real)?);
    if IN_MEMORY.contains(&here.kind.as_str()) {
        return None;
    }
    let mine = disks_below(&table, here);
    // A container mounts single files of the system from its disk.
    let holds_system = |point: &Path| is_system_point(&point.to_string_lossy()) || point.starts_with("/etc");
    let own = table.mounts.iter().filter(|mount| !mount.in_other_namespace);
    let of_system = own.filter(|mount| holds_system(&mount.point));
    of_system.map(|mount| upper_mount(&table, mount)).find_map(|mount| {
        let theirs = disks_below(&table, mount);
        let disk = mine.iter().find(|disk| theirs.contains(disk)).cloned();
        disk.or_else(|| same_file_system(here, mount).then(|| here.kind.clone()))
    })
}

/// True if `path`, or its nearest existing parent, is stored on the disk of `card`, directly or through loop devices,
/// device mapper and mounts. False if `card` is not a block device.
pub fn is_on_disk_of(path: &Path, card: &str) -> bool {
    let system = SystemRoots::host();
    let Some(card) = BlockDevice::find(&system, card) else { return false };
    let Ok(real) = nearest_existing(path) else { return false };
    let Ok(meta) = real.metadata() else { return false };
    let table = MountTable::read_own(&system);
    let devices = mounted_devices(&table, table.mount_of(&real), DeviceNumber::from_raw(meta.dev()));
    table.with_all_below(devices).iter().any(|device| device.disk().name == card.disk().name)
}

/// Mount that an overlay writes to, if it is visible here; any other mount itself.
fn upper_mount<'m>(table: &'m MountTable<'_>, mount: &'m MountEntry) -> &'m MountEntry {
    let upper = mount.options.split(',').find_map(|option| option.strip_prefix("upperdir="));
    let upper = upper.filter(|_| mount.kind == "overlay");
    upper.and_then(|upper| table.mount_of(Path::new(upper))).unwrap_or(mount)
}

/// True also for the same file system mounted twice, and for all file systems of a ZFS pool.
fn same_file_system(one: &MountEntry, other: &MountEntry) -> bool {
    let pool = |mount: &MountEntry| mount.source.split('/').next().unwrap_or_default().to_owned();
    one.number == other.number || one.kind == "zfs" && other.kind == "zfs" && pool(one) == pool(other)
}

fn disks_below(table: &MountTable<'_>, mount: &MountEntry) -> Vec<String> {
    let mut devices = mounted_devices(table, Some(mount), mount.number);
    if mount.kind == "btrfs" {
        let known: Vec<String> = devices.iter().map(|device| device.name.clone()).collect();
        let ours =
            btrfs_members(table.system).into_iter().filter(|all| all.iter().any(|name| known.contains(name)));
        let others = ours.flatten().filter(|name| !known.contains(name));
        devices.extend(others.filter_map(|name| BlockDevice::by_name(table.system, &name)));
    }
    let (_, mut disks) = layers_and_disks(table, devices);
    disks.sort();
    disks
}

#[cfg(test)]
mod tests;
