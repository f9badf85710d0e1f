//! Unmounting of all file systems of one card, through UDisks2 or, for root without UDisks2, by umount(2). Nothing is
//! forced.
//!
//! The card is named once; from then on its number and disk sequence number identify it, and a mount ID each mount.
//! Before each unmount everything is read again, and the guards ([`crate::guard`]) refuse the card for any reason but
//! its mounts.

mod error;
#[cfg(test)]
mod tests;

pub use error::UnmountError;

use crate::block::{BlockDevice, DeviceNumber};
use crate::bus::is_removable;
use crate::guard::{GuardRefusal, UseSurvey};
use crate::mounts::{MountEntry, MountTable};
use crate::object::check_object;
use crate::open::PermissionDialog;
use crate::permission::can_request;
use crate::system::{SystemRoots, dir_entries, dir_names, errno_reason, is_number, read_text};
#[cfg(feature = "udisks")]
use crate::udisks::{self, UdisksError};
use crate::vitals::capabilities;
use rustix::fs::{AtFlags, CWD, StatxFlags, makedev, statx};
use rustix::io::Errno;
use rustix::mount::{UnmountFlags, unmount};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// `CAP_SYS_ADMIN` (`capabilities(7)`), required for umount(2).
const CAP_SYS_ADMIN: u32 = 21;

/// Mounts that may appear meanwhile; with more, some program mounts the card again each time.
const SPARE_MOUNTS: usize = 2;

/// Result of unmounting.
pub type Unmounted<E = UnmountError> = Result<(), E>;

/// Unmounts every file system of a removable disk, given by kernel name or path; with `object`, only if that card is in
/// it. Succeeds if nothing is mounted. On an error some may be unmounted already.
pub fn unmount_card(name: &str, object: Option<&str>, ask: &mut PermissionDialog<'_>) -> Unmounted {
    let system = SystemRoots::host();
    let disk = whole_disk(&system, name)?;
    let card = MountedCard::from_disk(system, &disk)?;
    // The sequence number is fixed from here on, so a card inserted later is not mistaken for this one.
    if let Some(object) = object {
        check_object(card.number, object, Path::new(&format!("/dev/{}", card.name)))?;
    }
    if !is_removable(&card.system, &disk) {
        return Err(UnmountError::Fixed(disk.name));
    }
    card.unmount_all(&mut |place| place.unmount_one(ask))
}

/// True for a removable disk if only its mounts prevent writing to it. Permission is not checked.
pub(crate) fn can_unmount(system: &SystemRoots, survey: &UseSurvey, disk: &BlockDevice) -> bool {
    survey.is_mounted(disk) && is_removable(system, disk) && survey.check_unmount(system, disk).is_ok()
}

pub(crate) fn may_unmount() -> bool {
    process_may_unmount() || can_request()
}

fn process_may_unmount() -> bool {
    capabilities(&SystemRoots::host()).is_some_and(|set| set >> CAP_SYS_ADMIN & 1 == 1)
}

fn whole_disk(system: &SystemRoots, name: &str) -> Result<BlockDevice, UnmountError> {
    let found = BlockDevice::find(system, name).ok_or_else(|| GuardRefusal::NotFound(name.to_owned()))?;
    match found.is_partition() {
        true => Err(UnmountError::Partition { disk: found.disk().name, part: found.name }),
        false => Ok(found),
    }
}

struct MountedCard {
    system: SystemRoots,
    name: String,
    number: DeviceNumber,
    sequence: Option<u64>,
}

impl MountedCard {
    fn from_disk(system: SystemRoots, disk: &BlockDevice) -> Result<MountedCard, UnmountError> {
        let number = disk.number().ok_or_else(|| GuardRefusal::NotFound(disk.name.clone()))?;
        Ok(MountedCard { system, name: disk.name.clone(), number, sequence: disk.sequence() })
    }

    /// Undoes the mounts one by one with `way`, until none remains.
    fn unmount_all(&self, way: &mut dyn FnMut(&MountOfCard) -> Unmounted) -> Unmounted {
        let mut left = None;
        while let Some(place) = self.next_mount()? {
            let left = left.get_or_insert(place.total_mounts + SPARE_MOUNTS);
            *left = left.checked_sub(1).ok_or_else(|| UnmountError::Again(place.mount.point.clone()))?;
            way(&place)?;
        }
        Ok(())
    }

    /// Next mount to undo, read anew: the deepest, and of several at one place the top one.
    fn next_mount(&self) -> Result<Option<MountOfCard>, UnmountError> {
        let device = BlockDevice::by_number(&self.system, self.number);
        let device = device.filter(|device| device.name == self.name && device.sequence() == self.sequence);
        let device = device.ok_or_else(|| UnmountError::Exchanged(self.name.clone()))?;
        let table = MountTable::read_all(&self.system);
        UseSurvey::from_mounts(&table).check_unmount(&self.system, &device)?;
        let parts: Vec<BlockDevice> = device.partitions().into_iter().chain([device]).collect();
        // Reversed, since a later mount covers an earlier one at the same place.
        let own = table.mounts.iter().rev().filter(|mount| !mount.in_other_namespace);
        let part_of = |mount: &MountEntry| {
            let devices = table.mount_devices(mount);
            parts.iter().find(|part| devices.contains(part))?.number()
        };
        let mut places: Vec<_> = own.filter_map(|mount| Some((mount, part_of(mount)?))).collect();
        places.sort_by_key(|(mount, _)| std::cmp::Reverse(mount.point.components().count()));
        let total_mounts = places.len();
        let deepest = places.into_iter().next();
        Ok(deepest.map(|(mount, number)| MountOfCard { mount: mount.clone(), number, total_mounts }))
    }
}

struct MountOfCard {
    mount: MountEntry,
    /// Number of the disk or partition mounted there.
    #[cfg_attr(not(feature = "udisks"), allow(dead_code, reason = "the kernel knows it by its place"))]
    number: DeviceNumber,
    /// Number of mounts of the card, including this one.
    total_mounts: usize,
}

impl MountOfCard {
    fn point(&self) -> PathBuf {
        self.mount.point.clone()
    }

    fn unmount_one(&self, asking: &mut PermissionDialog<'_>) -> Unmounted {
        match self.by_udisks(asking) {
            Err(UdisksRefusal::Unavailable(_)) if process_may_unmount() => {
                self.unmount_directly(&|| asking.is_interrupted())
            }
            Err(UdisksRefusal::Unavailable(why)) => {
                Err(UnmountError::NotAllowed { point: self.point(), why })
            }
            Err(UdisksRefusal::Error(error)) => Err(error),
            Ok(()) => Ok(()),
        }
    }

    #[cfg(feature = "udisks")]
    fn by_udisks(&self, asking: &mut PermissionDialog<'_>) -> Unmounted<UdisksRefusal> {
        self.unmount_with(|number, point| udisks::unmount_through_udisks(number, point, asking))
    }

    #[cfg(not(feature = "udisks"))]
    fn by_udisks(&self, _: &mut PermissionDialog<'_>) -> Unmounted<UdisksRefusal> {
        Err(UdisksRefusal::Unavailable("only root may unmount it".to_owned()))
    }

    #[cfg(feature = "udisks")]
    fn unmount_with(
        &self,
        ask: impl FnOnce(DeviceNumber, &Path) -> Unmounted<UdisksError>,
    ) -> Unmounted<UdisksRefusal> {
        let point = self.point();
        if !is_on_top(&self.mount) {
            return Err(UnmountError::Covered(point).into());
        }
        let unavailable = |why: &str| UdisksRefusal::Unavailable(why.to_owned());
        ask(self.number, &point).map_err(|error| match error {
            UdisksError::Unavailable(why) => UdisksRefusal::Unavailable(why),
            UdisksError::NoMethod => unavailable("UDisks2 finds no file system on it"),
            UdisksError::NotAllowed(why) => UnmountError::NotAllowed { point, why }.into(),
            UdisksError::Interrupted => UnmountError::Interrupted(point).into(),
            UdisksError::Failed { kind, text } => match kind.as_str() {
                "NotMounted" => unavailable("UDisks2 does not see this mount"),
                _ if kind == "DeviceBusy" || text.contains("busy") => self.busy_error().into(),
                _ => UnmountError::Other { point, reason: format!("UDisks2: {text}") }.into(),
            },
        })
    }

    fn unmount_directly(&self, given_up: &dyn Fn() -> bool) -> Unmounted {
        let point = self.point();
        match unmount_direct(&self.mount, given_up) {
            UnmountOutcome::Done(Ok(())) => Ok(()),
            UnmountOutcome::Done(Err(Errno::BUSY)) => Err(self.busy_error()),
            UnmountOutcome::Done(Err(errno)) => {
                Err(UnmountError::Other { point, reason: errno_reason(errno) })
            }
            UnmountOutcome::Covered => Err(UnmountError::Covered(point)),
            UnmountOutcome::Interrupted => Err(UnmountError::Interrupted(point)),
        }
    }

    /// Error that names the mount below, or the programs that use this one.
    fn busy_error(&self) -> UnmountError {
        let point = self.point();
        let mounts = MountTable::read_all(&SystemRoots::host()).mounts;
        let mut others = mounts.into_iter().map(|mount| mount.point);
        match others.find(|other| *other != point && other.starts_with(&point)) {
            Some(below) => UnmountError::Below { point, below },
            None => UnmountError::Busy { by: mount_users_text(&point), point },
        }
    }
}

enum UdisksRefusal {
    /// UDisks2 cannot do it for this mount; the reason is a sentence without its end.
    Unavailable(String),
    Error(UnmountError),
}

impl From<UnmountError> for UdisksRefusal {
    fn from(error: UnmountError) -> UdisksRefusal {
        UdisksRefusal::Error(error)
    }
}

const CHECK_INTERVAL: Duration = Duration::from_millis(50);

enum UnmountOutcome {
    Done(Result<(), Errno>),
    /// Another mount is on top at this place.
    Covered,
    /// Interrupted; the call may still succeed.
    Interrupted,
}

/// Unmounts a mount that is the top one at its place by umount(2), without force, on a separate thread: the call
/// returns only when the card has all cached data, and no signal interrupts it.
fn unmount_direct(mount: &MountEntry, given_up: &dyn Fn() -> bool) -> UnmountOutcome {
    let (done, wait) = channel();
    let mount = mount.clone();
    let started = std::thread::Builder::new().spawn(move || {
        // umount(2) takes a path and not a mount, and a descriptor that pins the mount would keep it busy: checked
        // right before.
        let unmounted = is_on_top(&mount).then(|| unmount(&mount.point, UnmountFlags::NOFOLLOW));
        let _ = done.send(unmounted.map_or(UnmountOutcome::Covered, UnmountOutcome::Done));
    });
    if let Err(error) = started {
        return UnmountOutcome::Done(Err(Errno::from_io_error(&error).unwrap_or(Errno::AGAIN)));
    }
    loop {
        match wait.recv_timeout(CHECK_INTERVAL) {
            Ok(outcome) => return outcome,
            Err(RecvTimeoutError::Timeout) if !given_up() => {}
            Err(_) => return UnmountOutcome::Interrupted,
        }
    }
}

/// True for the top mount at its place, by mount ID (Linux 5.8) and device number. Accesses no file system.
fn is_on_top(mount: &MountEntry) -> bool {
    let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT | AtFlags::STATX_DONT_SYNC;
    let Ok(found) = statx(CWD, &mount.point, flags, StatxFlags::MNT_ID) else { return false };
    let known = StatxFlags::from_bits_retain(found.stx_mask).contains(StatxFlags::MNT_ID);
    let device = DeviceNumber::from_raw(makedev(found.stx_dev_major, found.stx_dev_minor));
    // Anonymous device numbers differ by subvolume.
    let same_device = device == mount.number || mount.number.major == 0 && known;
    same_device && (!known || found.stx_mnt_id == mount.id)
}

const MAX_NAMED_USERS: usize = 4;

/// Programs that use a mounted file system by working directory, root, executable or open file (proc(5)), as far as
/// `/proc` may be read, and loop devices over files of it, worded for a sentence; empty if none is visible.
fn mount_users_text(point: &Path) -> String {
    let processes = dir_names("/proc").into_iter().filter(|name| is_number(name));
    let mut found: Vec<String> = processes.filter_map(|process| describe_user(&process, point)).collect();
    let over_it =
        |disk: &BlockDevice| disk.backing_file().is_some_and(|file| Path::new(&file).starts_with(point));
    let loops = BlockDevice::all_disks(&SystemRoots::host()).into_iter().filter(over_it);
    found.extend(loops.map(|disk| format!("the loop device /dev/{}", disk.name)));
    let more = found.len().saturating_sub(MAX_NAMED_USERS);
    found.truncate(MAX_NAMED_USERS);
    if more > 0 {
        found.push(format!("{more} more"));
    }
    if found.is_empty() { String::new() } else { format!(" ({})", found.join("; ")) }
}

fn describe_user(process: &str, point: &Path) -> Option<String> {
    let dir = Path::new("/proc").join(process);
    // Reading a link accesses no file system; following it could hang on a dead one.
    let leads_there = |link: &Path| std::fs::read_link(link).is_ok_and(|target| target.starts_with(point));
    let own = ["cwd", "root", "exe"].iter().any(|name| leads_there(&dir.join(name)));
    let uses = own || dir_entries(dir.join("fd")).iter().any(|link| leads_there(link));
    let program = read_text(dir.join("comm")).unwrap_or_else(|| "unknown".to_owned());
    uses.then(|| format!("{program}, process {process}"))
}
