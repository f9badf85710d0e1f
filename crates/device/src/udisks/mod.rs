//! Opening and unmounting through UDisks2, as in GNOME Disks, for users without permission: UDisks2 asks polkit, and
//! polkit a rule or an administrator.
//!
//! Nothing returned is trusted: number, disk sequence number and access mode of the descriptor are compared.
//! Interfaces: the UDisks2 reference manual, `org.freedesktop.UDisks2.Manager`, `.Block` and `.Filesystem`, version
//! 2.7.3 or later.

mod agent;
mod bus;
#[cfg(test)]
mod tests;

pub(crate) use bus::{UdisksError, is_available};

use crate::block::{BlockDevice, DeviceNumber};
use crate::open::{OpenAccess, OpenError, Opened, PermissionDialog, disk_sequence, examine_open};
use crate::system::SystemRoots;
use agent::PolkitAgent;
use bus::{BLOCK, DIALOG_TIMEOUT, NAME, connect_bus, find_object, no_options, wait_for};
use rustix::fs::{FileType, OFlags, fcntl_getfl, fcntl_setfl, fstat};
use rustix::io::Errno;
use std::os::fd::OwnedFd;
use std::path::Path;
use zbus::{Connection, OwnedObjectPath, Variant};

/// Opens a device through UDisks2, exclusively for writing.
pub(crate) fn open_through_udisks(
    number: DeviceNumber,
    name: &Path,
    access: OpenAccess,
    asking: &mut PermissionDialog<'_>,
) -> Opened {
    let sequence = BlockDevice::by_number(&SystemRoots::host(), number).and_then(|device| device.sequence());
    let bus = connect_bus(asking).map_err(|trouble| to_open_error(name, trouble))?;
    let _agent = PolkitAgent::start(|| asking.is_interrupted());
    let fd = open_on_bus(&bus, number, name, access, asking)?;
    check_handed_over(fd, (number, sequence), name, access)
}

/// Checks that a descriptor is the requested device with the same medium and access mode.
fn check_handed_over(
    fd: OwnedFd,
    (number, sequence): (DeviceNumber, Option<u64>),
    name: &Path,
    access: OpenAccess,
) -> Opened {
    let explain = |errno| crate::open::open_error(name, errno);
    let stat = fstat(&fd).map_err(explain)?;
    let flags = fcntl_getfl(&fd).map_err(explain)?;
    let same = FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice
        && DeviceNumber::from_raw(stat.st_rdev) == number
        && disk_sequence(&fd) == sequence
        && flags & OFlags::RWMODE == access.flags()
        && !flags.contains(OFlags::PATH);
    if !same {
        return Err(OpenError::Exchanged(name.to_owned()));
    }
    // Set here and not by UDisks2, which would fail for drivers without direct I/O and need a second dialog.
    let direct = fcntl_setfl(&fd, flags | OFlags::DIRECT).is_ok()
        && fcntl_getfl(&fd).is_ok_and(|flags| flags.contains(OFlags::DIRECT));
    examine_open(fd, name, access == OpenAccess::ReadWrite, direct)
}

fn open_on_bus(
    bus: &Connection,
    number: DeviceNumber,
    name: &Path,
    access: OpenAccess,
    asking: &mut PermissionDialog<'_>,
) -> Result<OwnedFd, OpenError> {
    let explain = |trouble| to_open_error(name, trouble);
    let object = find_object(bus, number, asking).map_err(explain)?;
    asking.announce(&format!(
        "opening {} through UDisks2; answer the system's dialog if it asks for a password",
        name.display()
    ));
    let why = "nobody answered the system's dialog within ten minutes";
    let late = UdisksError::NotAllowed(why.to_owned());
    wait_for(open_device(bus, &object, access), DIALOG_TIMEOUT, || asking.is_interrupted(), late)
        .map_err(explain)
}

async fn open_device(bus: &Connection, at: &OwnedObjectPath, access: OpenAccess) -> zbus::Result<OwnedFd> {
    let (mode, flags) = match access {
        OpenAccess::Read => ("r", OFlags::CLOEXEC),
        OpenAccess::ReadWrite => ("rw", OFlags::CLOEXEC | OFlags::EXCL),
    };
    // UDisks2 reads the flags as an int32 and ignores any other type.
    let mut options = no_options();
    options.insert("flags", Variant::from(flags.bits() as i32));
    let reply = bus.call_method(Some(NAME), at, Some(BLOCK), "OpenDevice", &(mode, options)).await?;
    let fd: zbus::OwnedFd = reply.body().deserialize()?;
    Ok(fd.into())
}

fn to_open_error(name: &Path, trouble: UdisksError) -> OpenError {
    let not_allowed = |why| OpenError::NotAllowed { path: name.to_owned(), why };
    match trouble {
        UdisksError::Unavailable(why) | UdisksError::NotAllowed(why) => not_allowed(why),
        UdisksError::NoMethod => not_allowed("this UDisks2 is too old (2.7.3 is needed)".to_owned()),
        UdisksError::Failed { text, .. } => failed_open(name, &text),
        UdisksError::Interrupted => OpenError::Interrupted(name.to_owned()),
    }
}

/// UDisks2 passes on the system's message of a failed `open`, without the errno.
fn failed_open(name: &Path, text: &str) -> OpenError {
    const KNOWN: [Errno; 6] =
        [Errno::BUSY, Errno::NOMEDIUM, Errno::ROFS, Errno::NOENT, Errno::NXIO, Errno::NODEV];
    let sentence = |errno: &Errno| cardscope_files::error_text(&(*errno).into());
    let known = KNOWN.into_iter().find(|errno| text.trim_end().ends_with(&sentence(errno)));
    let other =
        || OpenError::Other { path: name.to_owned(), reason: format!("UDisks2: {}", text.trim_end()) };
    known.map_or_else(other, |errno| crate::open::open_error(name, errno))
}

const FILESYSTEM: &str = "org.freedesktop.UDisks2.Filesystem";

/// Undoes one mount through UDisks2, as file managers do: for mounts of another user after polkit's dialog. UDisks2
/// also removes the folder that it created for the mount. `number` is that of the disk or partition; `point` is for the announcement.
pub(crate) fn unmount_through_udisks(
    number: DeviceNumber,
    point: &Path,
    asking: &mut PermissionDialog<'_>,
) -> Result<(), UdisksError> {
    let bus = connect_bus(asking)?;
    let _agent = PolkitAgent::start(|| asking.is_interrupted());
    unmount_on_bus(&bus, number, point, asking)
}

fn unmount_on_bus(
    bus: &Connection,
    number: DeviceNumber,
    point: &Path,
    asking: &mut PermissionDialog<'_>,
) -> Result<(), UdisksError> {
    let object = find_object(bus, number, asking)?;
    asking.announce(&format!(
        "unmounting {} through UDisks2; answer the system's dialog if it asks for a password",
        point.display()
    ));
    // The dialog was not answered, or the card is still taking the data that the system has to write.
    let text = "it was not finished within ten minutes".to_owned();
    let late = UdisksError::Failed { kind: "Timedout".to_owned(), text };
    wait_for(call_unmount(bus, &object), DIALOG_TIMEOUT, || asking.is_interrupted(), late)
}

async fn call_unmount(bus: &Connection, object: &OwnedObjectPath) -> zbus::Result<()> {
    // These are the defaults of UDisks2, stated explicitly: no force, and a dialog is allowed.
    let mut options = no_options();
    options.insert("force", Variant::from(false));
    options.insert("auth.no_user_interaction", Variant::from(false));
    bus.call_method(Some(NAME), object, Some(FILESYSTEM), "Unmount", &(options,)).await?;
    Ok(())
}
