//! Survey of the devices in use on this computer, and of the devices that each use depends on.
//!
//! A mount names one device, which may be a volume of LVM on LUKS on RAID, or a loop device over a file on a mounted
//! disk: each use is followed through `slaves` and backing files down to the disks.

use super::refusal::GuardRefusal;
use crate::block::BlockDevice;
use crate::mounts::{MountEntry, MountTable, btrfs_members, device_at, swap_paths};
use crate::open::{self, OpenError};
use crate::system::{SystemRoots, read_text};
use std::collections::BTreeSet;
use std::path::Path;

/// Result of the guards.
pub(crate) type Checked<T = ()> = Result<T, GuardRefusal>;

/// Mount points that the system needs to run or to boot. `/boot/…` covers `efi` and `firmware`.
const SYSTEM_POINTS: &[&str] = &["/", "/boot", "/efi", "/usr", "/var", "/etc", "/home", "/nix", "/opt"];

/// Folders with further parts of the running system: mounts below them are not unmounted.
const SYSTEM_FOLDERS: &[&str] =
    &["/boot", "/dev", "/efi", "/etc", "/nix", "/opt", "/proc", "/root", "/srv", "/sys", "/usr", "/var"];

/// File systems of several devices, whose mount source is set by the kernel and can be trusted.
const OF_SEVERAL: &[&str] = &["btrfs", "bcachefs"];

#[derive(Debug, Clone)]
enum UsePurpose {
    Mount {
        point: String,
        elsewhere: bool,
        /// True if only the mount's own source names the device, as with FUSE.
        claimed: bool,
    },
    Swap {
        path: String,
    },
    Btrfs {
        members: Vec<String>,
    },
}

/// Use of a device, followed down to one of the devices below it.
#[derive(Debug, Clone)]
struct DeviceUse {
    purpose: UsePurpose,
    /// Kernel names from the device used down to the one below.
    path: Vec<String>,
}

/// Uses of all devices, collected once for many checks.
#[derive(Debug, Clone)]
pub struct UseSurvey {
    uses: Vec<DeviceUse>,
    loops: Vec<(String, BlockDevice)>,
}

impl UseSurvey {
    /// Collects mounts of all namespaces, swap, and loop devices.
    pub fn read_all(system: &SystemRoots) -> UseSurvey {
        Self::from_mounts(&MountTable::read_all(system))
    }

    pub(crate) fn from_mounts(table: &MountTable<'_>) -> UseSurvey {
        let mut uses: Vec<DeviceUse> = Vec::new();
        for mount in &table.mounts {
            uses.extend(uses_below(table, &table.mount_devices(mount), &mount_purpose(mount)));
        }
        for swap in swap_paths(table.system) {
            let purpose = UsePurpose::Swap { path: swap.to_string_lossy().into_owned() };
            uses.extend(uses_below(table, &table.devices_at(&swap), &purpose));
        }
        for members in btrfs_members(table.system) {
            let member = |name: &String| {
                let purpose = UsePurpose::Btrfs { members: members.clone() };
                DeviceUse { purpose, path: vec![name.clone()] }
            };
            uses.extend(members.iter().map(member));
        }
        UseSurvey { uses, ..Self::loops_only(table.system) }
    }

    pub(super) fn loops_only(system: &SystemRoots) -> UseSurvey {
        let disks = BlockDevice::all_disks(system).into_iter();
        let beneath = |disk: &BlockDevice| device_at(system, Path::new(&disk.backing_file()?));
        let loops = disks.filter_map(|disk| Some((disk.name.clone(), beneath(&disk)?)));
        UseSurvey { uses: Vec::new(), loops: loops.collect() }
    }

    /// Checks that a device may be written to. Returns the most serious reason against it.
    pub fn check_writable(&self, system: &SystemRoots, device: &BlockDevice) -> Result<(), GuardRefusal> {
        self.check_claimed(system, device)?;
        check_exclusive(system, device)
    }

    pub(super) fn check_claimed(&self, system: &SystemRoots, device: &BlockDevice) -> Checked {
        self.check_all(system, device, is_system_point, |_, _| true)
    }

    /// Checks that only mounts of this device itself, visible to this process, prevent writing to it. Returns the most
    /// serious other reason. For the disk of the running system, more mount points count than for writing.
    pub(crate) fn check_unmount(&self, system: &SystemRoots, device: &BlockDevice) -> Checked {
        self.check_all(system, device, is_system_folder, |used, parts| {
            !self.ends_with_unmounting(used, parts)
        })
    }

    /// Checks for the running system, uses that count, devices built on this one, its medium and write protection.
    fn check_all(
        &self,
        system: &SystemRoots,
        device: &BlockDevice,
        is_system: fn(&str) -> bool,
        counts: impl Fn(&DeviceUse, &[BlockDevice]) -> bool,
    ) -> Checked {
        self.check_system(device, is_system)?;
        let parts = affected_parts(device);
        if let Some(used) = self.hits(&parts).find(|used| counts(used, &parts)) {
            return Err(used.refusal(&device.name));
        }
        self.check_holders(system, device, &parts)?;
        match device.bytes() {
            Some(0) => return Err(GuardRefusal::Empty(device.name.clone())),
            None => return Err(GuardRefusal::SizeUnknown(device.name.clone())),
            Some(_) => {}
        }
        // A read-only partition is not protected from writes to the whole disk, so its flag is taken as the user's
        // intention.
        match parts.iter().find(|part| part.is_read_only()) {
            Some(part) => {
                Err(GuardRefusal::ReadOnly { device: device.name.clone(), part: part.name.clone() })
            }
            None => Ok(()),
        }
    }

    /// True if unmounting what is visible here ends a use, without touching another device.
    fn ends_with_unmounting(&self, used: &DeviceUse, parts: &[BlockDevice]) -> bool {
        let is_part = |name: &String| parts.iter().any(|part| part.name == *name);
        match &used.purpose {
            // A copy of the mount in another namespace usually disappears with ours.
            UsePurpose::Mount { claimed: false, .. } => {
                matches!(&used.path[..], [name] if self.is_mounted_here(name))
            }
            UsePurpose::Btrfs { members } => {
                members.iter().all(is_part) && members.iter().any(|name| self.is_mounted_here(name))
            }
            _ => false,
        }
    }

    fn is_mounted_here(&self, name: &String) -> bool {
        self.uses.iter().any(|used| {
            used.path == std::slice::from_ref(name)
                && matches!(used.purpose, UsePurpose::Mount { elsewhere: false, claimed: false, .. })
        })
    }

    pub fn is_mounted(&self, device: &BlockDevice) -> bool {
        let parts = affected_parts(device);
        self.hits(&parts).any(|used| !matches!(used.purpose, UsePurpose::Swap { .. }))
    }

    /// Mount points of a disk or partition itself, without devices built on it.
    pub(crate) fn mount_points(&self, device: &BlockDevice) -> Vec<String> {
        let own = self.uses.iter().filter(|used| used.path == std::slice::from_ref(&device.name));
        let points = own.filter_map(|used| match &used.purpose {
            UsePurpose::Mount { point, .. } => Some(point.clone()),
            _ => None,
        });
        BTreeSet::from_iter(points).into_iter().collect()
    }

    fn hits<'a>(&'a self, parts: &'a [BlockDevice]) -> impl Iterator<Item = &'a DeviceUse> {
        self.uses.iter().filter(|used| parts.iter().any(|part| used.path.last() == Some(&part.name)))
    }

    /// The disk of the running system is refused as a whole, its other partitions too: one mistyped digit would destroy
    /// the system.
    fn check_system(&self, device: &BlockDevice, is_system: fn(&str) -> bool) -> Checked {
        let disk = device.disk();
        let mut all = disk.partitions();
        all.push(disk);
        let hit = self.hits(&all).find_map(|used| match &used.purpose {
            UsePurpose::Mount { point, elsewhere: false, .. } if is_system(point) => Some((used, point)),
            _ => None,
        });
        let Some((hit, point)) = hit else { return Ok(()) };
        let (used, through) = (hit.path.first().cloned().unwrap_or_default(), hit.layers_text());
        Err(GuardRefusal::System { device: device.name.clone(), used, mount_point: point.clone(), through })
    }

    fn check_holders(&self, system: &SystemRoots, device: &BlockDevice, parts: &[BlockDevice]) -> Checked {
        for part in parts {
            let by_loop = self.loops.iter().find(|(_, beneath)| beneath.name == part.name);
            let by_loop = by_loop.map(|(name, _)| {
                (format!("the loop device {name}"), format!("detach it (losetup -d /dev/{name})"))
            });
            let holder = part.holders().first().map(|name| describe_holder(system, name)).or(by_loop);
            if let Some((holder, advice)) = holder {
                let (device, part) = (device.name.clone(), part.name.clone());
                return Err(GuardRefusal::HasHolder { device, part, holder, advice });
            }
        }
        Ok(())
    }
}

impl DeviceUse {
    fn layers_text(&self) -> String {
        match self.path.split_first() {
            Some((_, beneath)) if !beneath.is_empty() => format!(", which lies on {}", beneath.join(" on ")),
            _ => String::new(),
        }
    }

    fn refusal(&self, device: &str) -> GuardRefusal {
        let device = device.to_owned();
        let used = self.path.first().cloned().unwrap_or_default();
        match &self.purpose {
            UsePurpose::Mount { point, elsewhere, .. } => {
                let whose = elsewhere.then_some(", by a process with its own mounts, e.g. a container");
                let whose = whose.unwrap_or_default();
                let through = format!("{}{whose}", self.layers_text());
                GuardRefusal::Mounted { device, used, mount_point: point.clone(), through }
            }
            UsePurpose::Swap { path } => {
                GuardRefusal::Swap { device, swap: path.clone(), through: self.layers_text() }
            }
            UsePurpose::Btrfs { .. } => GuardRefusal::HasHolder {
                device,
                part: used,
                holder: "a mounted btrfs file system".to_owned(),
                advice: "unmount that".to_owned(),
            },
        }
    }
}

/// True for mount points that the system needs to run or to boot.
pub(crate) fn is_system_point(point: &str) -> bool {
    SYSTEM_POINTS.contains(&point) || point.starts_with("/boot/")
}

/// True for mount points of the running system, its services or a home folder: these are not unmounted, even if nothing
/// uses them right now.
fn is_system_folder(point: &str) -> bool {
    let path = Path::new(point);
    is_system_point(point)
        || ["/run", "/tmp"].contains(&point)
        || SYSTEM_FOLDERS.iter().any(|folder| path.starts_with(folder))
        || path.parent() == Some(Path::new("/home"))
}

/// Describes a device built on a disk or partition, and the way to release it. `dm/uuid` begins with the name of the
/// volume's maker (dmsetup(8)); RAID and bcache are recognized by kernel name.
fn describe_holder(system: &SystemRoots, name: &str) -> (String, String) {
    let dir = system.sys.join("block").join(name);
    let volume = read_text(dir.join("dm/name")).unwrap_or_else(|| name.to_owned());
    let uuid = read_text(dir.join("dm/uuid")).unwrap_or_default();
    let made_by = |maker: &str| uuid.starts_with(maker);
    let kind = |prefix: &str, part: &str| name.starts_with(prefix) || dir.join(part).is_dir();
    if made_by("LVM-") {
        let release = format!("deactivate it (lvchange -an {volume}, or vgchange -an its group)");
        (format!("the LVM volume {volume}"), release)
    } else if made_by("CRYPT-") {
        (format!("the encrypted volume {volume} (LUKS)"), format!("close it (cryptsetup close {volume})"))
    } else if made_by("mpath-") {
        (format!("the multipath device {volume}"), format!("flush it (multipath -f {volume})"))
    } else if kind("dm-", "dm") {
        (format!("the device-mapper volume {volume}"), format!("remove it (dmsetup remove {volume})"))
    } else if kind("md", "md") {
        let level = read_text(dir.join("md/level")).map(|level| format!(" ({level})")).unwrap_or_default();
        (format!("the RAID array {name}{level}"), format!("stop it (mdadm --stop /dev/{name})"))
    } else if name.starts_with("bcache") {
        (format!("the cached device {name} (bcache)"), "stop it".to_owned())
    } else {
        (format!("the device {name}"), format!("release /dev/{name}"))
    }
}

/// Devices that a write could hit: the device, its partitions, and for a partition also the disk and all partitions
/// that share bytes with it (an extended partition and the logical ones inside).
fn affected_parts(device: &BlockDevice) -> Vec<BlockDevice> {
    let mut parts = vec![device.clone()];
    if !device.is_partition() {
        parts.extend(device.partitions());
        return parts;
    }
    let disk = device.disk();
    let siblings = disk.partitions().into_iter().filter(|other| other.name != device.name);
    parts.extend(siblings.filter(|other| overlaps(device, other)));
    parts.push(disk);
    parts
}

fn overlaps(a: &BlockDevice, b: &BlockDevice) -> bool {
    let range = |device: &BlockDevice| {
        let start = device.start()?;
        Some(start..start.saturating_add(device.bytes()?))
    };
    // Unknown positions count as an overlap.
    range(a).zip(range(b)).is_none_or(|(a, b)| a.start < b.end && b.start < a.end)
}

/// Some users leave no trace in sysfs (ZFS, another Cardscope), but opening exclusively reveals them.
fn check_exclusive(system: &SystemRoots, device: &BlockDevice) -> Checked {
    if !system.is_live() {
        return Ok(());
    }
    match open::try_exclusive(&device.path(system)) {
        Err(OpenError::Busy { by, .. }) => Err(GuardRefusal::InUse { device: device.name.clone(), by }),
        Err(OpenError::NoMedium { .. }) => Err(GuardRefusal::Empty(device.name.clone())),
        // Without permission nothing can be written either; opening for the test reports that.
        _ => Ok(()),
    }
}

fn mount_purpose(mount: &MountEntry) -> UsePurpose {
    UsePurpose::Mount {
        point: mount.point.to_string_lossy().into_owned(),
        elsewhere: mount.in_other_namespace,
        claimed: mount.number.major == 0 && !OF_SEVERAL.contains(&mount.kind.as_str()),
    }
}

fn uses_below(table: &MountTable<'_>, devices: &[BlockDevice], purpose: &UsePurpose) -> Vec<DeviceUse> {
    let mut uses = Vec::new();
    for device in devices {
        table.visit_below(device, &[], &mut |path| {
            uses.push(DeviceUse { purpose: purpose.clone(), path: path.to_vec() });
        });
    }
    uses
}
