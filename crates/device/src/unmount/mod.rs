//! Unmounting of all file systems of one card, through UDisks2 or, for root without UDisks2, by umount(2). Nothing is
//! forced.
//!
//! The card is named once; from then on its number and disk sequence number identify it, and a mount ID each mount.
//! Before each unmount everything is read again, and the guards ([`crate::guard`]) refuse the card for any reason but
//! its mounts.

mod direct;
mod error;
#[cfg(test)]
mod tests;
mod users;

pub use error::UnmountError;

use crate::block::{BlockDevice, DeviceNumber};
use crate::bus::is_removable;
use crate::guard::{GuardRefusal, UseSurvey, mount_devices};
use crate::mounts::{MountEntry, all_mounts};
use crate::object::check_object;
use crate::open::PermissionDialog;
use crate::permission::can_request;
use crate::system::SystemRoots;
#[cfg(feature = "udisks")]
use crate::udisks::{self, UdisksError};
use crate::vitals::capabilities;
use rustix::io::Errno;
use std::path::{Path, PathBuf};

/// `CAP_SYS_ADMIN` (`capabilities(7)`), required for umount(2).
const CAP_SYS_ADMIN: u32 = 21;

/// Mounts that may appear meanwhile; with more, some program mounts the card again each time.
const SPARE_MOUNTS: usize = 2;

/// Unmounts every file system of a removable disk, given by kernel name or path; with `object`, only if that card is in
/// it. Succeeds if nothing is mounted. On an error some may be unmounted already.
pub fn unmount_card(
    name: &str,
    object: Option<&str>,
    asking: &mut PermissionDialog<'_>,
) -> Result<(), UnmountError> {
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
    card.unmount_all(&mut |place| place.unmount_one(asking))
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
    fn unmount_all(
        &self,
        way: &mut dyn FnMut(&MountOfCard) -> Result<(), UnmountError>,
    ) -> Result<(), UnmountError> {
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
        let mounts = all_mounts(&self.system);
        UseSurvey::from_mounts(&self.system, &mounts).check_unmount(&self.system, &device)?;
        let parts: Vec<BlockDevice> = device.partitions().into_iter().chain([device]).collect();
        // Reversed, since a later mount covers an earlier one at the same place.
        let own = mounts.iter().rev().filter(|mount| !mount.in_other_namespace);
        let mut places: Vec<(&MountEntry, DeviceNumber)> = own
            .filter_map(|mount| {
                let of = mount_devices(&self.system, mount);
                let part = parts.iter().find(|part| of.contains(part))?;
                Some((mount, part.number()?))
            })
            .collect();
        places.sort_by_key(|(mount, _)| std::cmp::Reverse(mount.point.components().count()));
        let of = places.len();
        Ok(places.first().map(|(mount, number)| MountOfCard {
            mount: (*mount).clone(),
            number: *number,
            total_mounts: of,
        }))
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

    fn unmount_one(&self, asking: &mut PermissionDialog<'_>) -> Result<(), UnmountError> {
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
    fn by_udisks(&self, asking: &mut PermissionDialog<'_>) -> Result<(), UdisksRefusal> {
        self.unmount_with(|number, point| udisks::unmount_through_udisks(number, point, asking))
    }

    #[cfg(not(feature = "udisks"))]
    fn by_udisks(&self, _: &mut PermissionDialog<'_>) -> Result<(), UdisksRefusal> {
        Err(UdisksRefusal::Unavailable("only root may unmount it".to_owned()))
    }

    #[cfg(feature = "udisks")]
    fn unmount_with(
        &self,
        ask: impl FnOnce(DeviceNumber, &Path) -> Result<(), UdisksError>,
    ) -> Result<(), UdisksRefusal> {
        let point = self.point();
        if !direct::is_on_top(&self.mount) {
            return Err(UnmountError::Covered(point).into());
        }
        ask(self.number, &point).map_err(|trouble| match trouble {
            UdisksError::Unavailable(why) => UdisksRefusal::Unavailable(why),
            UdisksError::NoMethod => {
                UdisksRefusal::Unavailable("UDisks2 finds no file system on it".to_owned())
            }
            UdisksError::NotAllowed(why) => UnmountError::NotAllowed { point, why }.into(),
            UdisksError::Interrupted => UnmountError::Interrupted(point).into(),
            UdisksError::Failed { kind, .. } if kind == "NotMounted" => {
                UdisksRefusal::Unavailable("UDisks2 does not see this mount".to_owned())
            }
            UdisksError::Failed { kind, text } if kind == "DeviceBusy" || text.contains("busy") => {
                self.busy_error().into()
            }
            UdisksError::Failed { text, .. } => {
                UnmountError::Other { point, reason: format!("UDisks2: {text}") }.into()
            }
        })
    }

    fn unmount_directly(&self, given_up: &dyn Fn() -> bool) -> Result<(), UnmountError> {
        let point = self.point();
        match direct::unmount_direct(&self.mount, given_up) {
            direct::UnmountOutcome::Done(Ok(())) => Ok(()),
            direct::UnmountOutcome::Done(Err(Errno::BUSY)) => Err(self.busy_error()),
            direct::UnmountOutcome::Done(Err(errno)) => {
                Err(UnmountError::Other { point, reason: crate::refused::errno_reason(errno) })
            }
            direct::UnmountOutcome::Covered => Err(UnmountError::Covered(point)),
            direct::UnmountOutcome::Interrupted => Err(UnmountError::Interrupted(point)),
        }
    }

    /// Error that names the mount below, or the programs that use this one.
    fn busy_error(&self) -> UnmountError {
        let point = self.point();
        let mut others = all_mounts(&SystemRoots::host()).into_iter().map(|mount| mount.point);
        match others.find(|other| *other != point && other.starts_with(&point)) {
            Some(below) => UnmountError::Below { point, below },
            None => UnmountError::Busy { by: users::mount_users_text(&point), point },
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
