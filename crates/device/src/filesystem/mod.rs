//! File system below a path, and the layers between it and the card.
//!
//! Recognized by the magic number of `statfs(2)`; the mount table and sysfs distinguish kinds with the same number
//! (ext2/3/4, FUSE programs) and give the layers below.

mod extent;
mod kernel_files;
mod kinds;
mod system_disk;

pub use extent::device_offset;
pub use kernel_files::{KernelFile, refuse_kernel_file};
pub use system_disk::{disk_shared_with_system, is_on_disk_of};

use crate::block::{BlockDevice, DeviceNumber};
use crate::guard;
use crate::mounts::{MountEntry, mount_of, own_mounts};
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
        let own = self
            .effect
            .iter()
            .map(|effect| Caveat::Layered { file_system: self.name.clone(), effect: effect.clone() });
        let layers = self.layers.iter().map(|layer| Caveat::Layered {
            file_system: format!("{} over {}", self.name, layer.name),
            effect: layer.effect.clone(),
        });
        own.chain(layers).collect()
    }
}

/// File system of a path on this computer, or of its nearest existing parent.
pub fn file_system_at(path: &Path) -> std::io::Result<FileSystem> {
    let system = SystemRoots::host();
    let real = nearest_existing(path)?;
    let magic = rustix::fs::statfs(&real)?.f_type as u32;
    let mounts = own_mounts(&system);
    let number = DeviceNumber::from_raw(real.metadata()?.dev());
    let mut file_system = describe_file_system(&system, &mounts, &real, magic, number);
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

fn describe_file_system(
    system: &SystemRoots,
    mounts: &[MountEntry],
    path: &Path,
    magic: u32,
    number: DeviceNumber,
) -> FileSystem {
    let mount = mount_of(mounts, path);
    let by_magic =
        || kinds::name_by_magic(magic).map_or_else(|| format!("unknown ({magic:#x})"), str::to_owned);
    let name = mount.map_or_else(by_magic, |mount| mount.kind.clone());
    let devices = mounted_devices(system, mount, number);
    let (layers, disks) = layers_and_disks(system, mounts, devices);
    let effect = join_texts([kinds::data_effect(magic, &name), mount.and_then(kinds::mount_effect)], ", ");
    FileSystem {
        name,
        magic,
        mounted_at: mount.map(|mount| mount.point.to_string_lossy().into_owned()),
        effect,
        layers,
        disk: if disks.len() == 1 { disks.into_iter().next() } else { None },
    }
}

fn mounted_devices(
    system: &SystemRoots,
    mount: Option<&MountEntry>,
    number: DeviceNumber,
) -> Vec<BlockDevice> {
    let found = BlockDevice::by_number(system, number).into_iter().collect::<Vec<_>>();
    match mount {
        Some(mount) if found.is_empty() => guard::mount_devices(system, mount),
        _ => found,
    }
}

fn layers_and_disks(
    system: &SystemRoots,
    mounts: &[MountEntry],
    devices: Vec<BlockDevice>,
) -> (Vec<DiskLayer>, Vec<String>) {
    let (mut layers, mut disks) = (Vec::new(), Vec::new());
    for device in guard::with_all_below(system, mounts, devices) {
        layers.extend(data_layer(&device.disk()));
        let name = device.disk().name;
        if guard::devices_below(system, mounts, &device).is_empty() && !disks.contains(&name) {
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
    let set = stat.stx_attributes.bits();
    let words: Vec<&str> =
        ATTRIBUTES.iter().filter(|(bit, _)| set & bit != 0).map(|(_, word)| *word).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

#[cfg(test)]
mod tests;
