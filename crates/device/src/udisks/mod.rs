//! A device that this user may not open, opened by UDisks2 and handed over, as GNOME Disks has it done: UDisks2 asks polkit, and
//! polkit a rule or an administrator. And a file system that is unmounted the same way.
//!
//! Nothing that comes back is believed: number, coming and access of the descriptor are compared, the rest as ever.
//! Interfaces: the UDisks2 reference manual, `org.freedesktop.UDisks2.Manager`, `.Block` and `.Filesystem`, version
//! 2.7.3 or later.

mod agent;
mod bus;
#[cfg(test)]
mod tests;
mod unmounting;
mod waiting;

pub(crate) use bus::{UdisksError, answers};
pub(crate) use unmounting::unmount;

use crate::block::{BlockDevice, DeviceNumber};
use crate::open::{OpenAccess, OpenDevice, OpenError, PermissionDialog, examined, sequence_of};
use crate::system::SystemRoots;
use agent::PolkitAgent;
use bus::{BLOCK, NAME, PATIENCE_WITH_PERSON, answer, connect, find, no_options};
use rustix::fs::{FileType, OFlags, fcntl_getfl, fcntl_setfl, fstat};
use rustix::io::Errno;
use std::os::fd::OwnedFd;
use std::path::Path;
use waiting::wait;
use zbus::{Connection, OwnedObjectPath, Variant};

/// Has UDisks2 open a device, exclusively to write to it, and hand it over.
pub(crate) fn open(
    number: DeviceNumber,
    name: &Path,
    access: OpenAccess,
    asking: &mut PermissionDialog<'_>,
) -> Result<OpenDevice, OpenError> {
    let sequence = BlockDevice::numbered(&SystemRoots::host(), number).and_then(|device| device.sequence());
    let bus = connect(asking).map_err(|trouble| explain(name, trouble))?;
    let _agent = PolkitAgent::start(|| asking.given_up());
    let fd = open_over(&bus, number, name, access, asking)?;
    handed_over(fd, (number, sequence), name, access)
}

/// What was handed over, if it is the device that was asked for, in the same coming, and open for what was asked.
fn handed_over(
    fd: OwnedFd,
    (number, sequence): (DeviceNumber, Option<u64>),
    name: &Path,
    access: OpenAccess,
) -> Result<OpenDevice, OpenError> {
    let explain = |errno| crate::open::explain(name, errno);
    let stat = fstat(&fd).map_err(explain)?;
    let flags = fcntl_getfl(&fd).map_err(explain)?;
    let mode = match access {
        OpenAccess::Read => OFlags::RDONLY,
        OpenAccess::ReadWrite => OFlags::RDWR,
    };
    let same = FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice
        && DeviceNumber::from_raw(stat.st_rdev) == number
        && sequence_of(&fd) == sequence
        && flags & OFlags::RWMODE == mode
        && !flags.contains(OFlags::PATH);
    if !same {
        return Err(OpenError::Exchanged(name.to_owned()));
    }
    // Set here: UDisks2 would fail where a driver takes no direct I/O, and a second dialog would follow.
    let direct = fcntl_setfl(&fd, flags | OFlags::DIRECT).is_ok()
        && fcntl_getfl(&fd).is_ok_and(|flags| flags.contains(OFlags::DIRECT));
    examined(fd, name, access == OpenAccess::ReadWrite, direct)
}

/// The same over a connection.
fn open_over(
    bus: &Connection,
    number: DeviceNumber,
    name: &Path,
    access: OpenAccess,
    asking: &mut PermissionDialog<'_>,
) -> Result<OwnedFd, OpenError> {
    let explain = |trouble| explain(name, trouble);
    let object = find(bus, number, asking).map_err(explain)?;
    asking.announce(&format!(
        "opening {} through UDisks2; answer the system's dialog if it asks for a password",
        name.display()
    ));
    let opened = wait(open_device(bus, &object, access), PATIENCE_WITH_PERSON, || asking.given_up());
    let late =
        || UdisksError::NotAllowed("nobody answered the system's dialog within ten minutes".to_owned());
    answer(opened, late).map_err(explain)
}

async fn open_device(
    bus: &Connection,
    object: &OwnedObjectPath,
    access: OpenAccess,
) -> zbus::Result<OwnedFd> {
    let (mode, flags) = match access {
        OpenAccess::Read => ("r", OFlags::CLOEXEC),
        OpenAccess::ReadWrite => ("rw", OFlags::CLOEXEC | OFlags::EXCL),
    };
    // UDisks2 reads the flags as an int32 and takes any other type for none.
    let mut options = no_options();
    options.insert("flags", Variant::from(flags.bits() as i32));
    let reply = bus.call_method(Some(NAME), object, Some(BLOCK), "OpenDevice", &(mode, options)).await?;
    let fd: zbus::OwnedFd = reply.body().deserialize()?;
    Ok(fd.into())
}

/// Why a device was not opened.
fn explain(name: &Path, trouble: UdisksError) -> OpenError {
    let not_allowed = |why| OpenError::NotAllowed { path: name.to_owned(), why };
    match trouble {
        UdisksError::Absent(why) | UdisksError::NotAllowed(why) => not_allowed(why),
        UdisksError::NoMethod => not_allowed("this UDisks2 is too old (2.7.3 is needed)".to_owned()),
        UdisksError::Failed { text, .. } => failed(name, &text),
        UdisksError::GivenUp => OpenError::Interrupted(name.to_owned()),
    }
}

/// What `open` failed with in UDisks2, which passes the system's sentence on and not the number.
fn failed(name: &Path, text: &str) -> OpenError {
    const KNOWN: [Errno; 6] =
        [Errno::BUSY, Errno::NOMEDIUM, Errno::ROFS, Errno::NOENT, Errno::NXIO, Errno::NODEV];
    let sentence = |errno: &Errno| cardscope_files::in_words(&(*errno).into());
    match KNOWN.into_iter().find(|errno| text.trim_end().ends_with(&sentence(errno))) {
        Some(errno) => crate::open::explain(name, errno),
        None => OpenError::Other { path: name.to_owned(), reason: format!("UDisks2: {}", text.trim_end()) },
    }
}
