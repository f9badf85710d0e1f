//! A device that this user may not open, opened by UDisks2 and handed over, as GNOME Disks has it done: UDisks2 asks polkit, and
//! polkit a rule or an administrator.
//!
//! Nothing that comes back is believed: number, coming and access of the descriptor are compared, the rest as ever.
//! Interfaces: the UDisks2 reference manual, `org.freedesktop.UDisks2.Manager` and `.Block`, version 2.7.3 or later.

mod agent;
#[cfg(test)]
mod tests;
mod waiting;

use crate::block::{BlockDevice, DeviceNumber};
use crate::open::{Access, Asking, OpenDevice, OpenError, examined, sequence_of};
use crate::system::System;
use agent::Agent;
use rustix::fs::{FileType, OFlags, fcntl_getfl, fcntl_setfl, fstat};
use rustix::io::Errno;
use std::collections::HashMap;
use std::fmt::Display;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;
use waiting::{Waited, wait};
use zbus::{Connection, DBusError, OwnedObjectPath, OwnedVariant, Variant};

const NAME: &str = "org.freedesktop.UDisks2";
const MANAGER: &str = "/org/freedesktop/UDisks2/Manager";
const MANAGER_INTERFACE: &str = "org.freedesktop.UDisks2.Manager";
const BLOCK: &str = "org.freedesktop.UDisks2.Block";
const PROPERTIES: &str = "org.freedesktop.DBus.Properties";

/// What begins the names of UDisks2's own errors.
const ERROR: &str = "org.freedesktop.UDisks2.Error.";

/// A daemon that is started for us and looks at all disks takes some seconds, and no person is asked meanwhile.
const PATIENCE_WITH_DAEMON: Duration = Duration::from_secs(30);

/// A person looks for a password.
const PATIENCE_WITH_PERSON: Duration = Duration::from_secs(600);

/// Whether UDisks2 answers for this user, for `cardscope doctor`; starts it where the system starts it on demand.
pub(crate) fn answers() -> bool {
    let asked = async {
        let bus = Connection::system().await?;
        let body = (MANAGER_INTERFACE, "Version");
        bus.call_method(Some(NAME), MANAGER, Some(PROPERTIES), "Get", &body).await
    };
    matches!(wait(asked, Duration::from_secs(5), || false), Waited::Answer(Ok(_)))
}

/// Has UDisks2 open a device, exclusively to write to it, and hand it over.
pub(crate) fn open(
    number: DeviceNumber,
    name: &Path,
    access: Access,
    asking: &mut Asking<'_>,
) -> Result<OpenDevice, OpenError> {
    let sequence = BlockDevice::numbered(&System::host(), number).and_then(|device| device.sequence());
    let connected = wait(Connection::system(), PATIENCE_WITH_DAEMON, || asking.given_up());
    let bus = answer(connected, name, "the system bus does not answer")?;
    let _agent = Agent::start(|| asking.given_up());
    let fd = open_over(&bus, number, name, access, asking)?;
    handed_over(fd, (number, sequence), name, access)
}

/// What was handed over, if it is the device that was asked for, in the same coming, and open for what was asked.
fn handed_over(
    fd: OwnedFd,
    (number, sequence): (DeviceNumber, Option<u64>),
    name: &Path,
    access: Access,
) -> Result<OpenDevice, OpenError> {
    let explain = |errno| crate::open::explain(name, errno);
    let stat = fstat(&fd).map_err(explain)?;
    let flags = fcntl_getfl(&fd).map_err(explain)?;
    let mode = match access {
        Access::Read => OFlags::RDONLY,
        Access::ReadWrite => OFlags::RDWR,
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
    examined(fd, name, access == Access::ReadWrite, direct)
}

/// The same over a connection.
fn open_over(
    bus: &Connection,
    number: DeviceNumber,
    name: &Path,
    access: Access,
    asking: &mut Asking<'_>,
) -> Result<OwnedFd, OpenError> {
    let found = wait(object(bus, number), PATIENCE_WITH_DAEMON, || asking.given_up());
    let Some(object) = answer(found, name, "UDisks2 does not answer")? else {
        return Err(not_allowed(name, "UDisks2 does not know this device"));
    };
    asking.announce(&format!(
        "opening {} through UDisks2; answer the system's dialog if it asks for a password",
        name.display()
    ));
    let opened = wait(open_device(bus, &object, access), PATIENCE_WITH_PERSON, || asking.given_up());
    answer(opened, name, "nobody answered the system's dialog within ten minutes")
}

/// The object of a device, found by its kernel name and known by its number.
async fn object(bus: &Connection, number: DeviceNumber) -> zbus::Result<Option<OwnedObjectPath>> {
    let Some(device) = BlockDevice::numbered(&System::host(), number) else { return Ok(None) };
    let path = device.path(&System::host());
    let wanted = HashMap::from([("path", Variant::from(path.to_string_lossy().into_owned()))]);
    let body = (wanted, no_options());
    let reply = bus.call_method(Some(NAME), MANAGER, Some(MANAGER_INTERFACE), "ResolveDevice", &body).await?;
    let objects: Vec<OwnedObjectPath> = reply.body().deserialize()?;
    for object in objects {
        let body = (BLOCK, "DeviceNumber");
        let reply = bus.call_method(Some(NAME), &object, Some(PROPERTIES), "Get", &body).await?;
        let value: OwnedVariant = reply.body().deserialize()?;
        if u64::try_from(value).is_ok_and(|found| DeviceNumber::from_raw(found) == number) {
            return Ok(Some(object));
        }
    }
    Ok(None)
}

async fn open_device(bus: &Connection, object: &OwnedObjectPath, access: Access) -> zbus::Result<OwnedFd> {
    let (mode, flags) = match access {
        Access::Read => ("r", OFlags::CLOEXEC),
        Access::ReadWrite => ("rw", OFlags::CLOEXEC | OFlags::EXCL),
    };
    // UDisks2 reads the flags as an int32 and takes any other type for none.
    let mut options = no_options();
    options.insert("flags", Variant::from(flags.bits() as i32));
    let reply = bus.call_method(Some(NAME), object, Some(BLOCK), "OpenDevice", &(mode, options)).await?;
    let fd: zbus::OwnedFd = reply.body().deserialize()?;
    Ok(fd.into())
}

fn no_options() -> HashMap<&'static str, Variant<'static>> {
    HashMap::new()
}

fn not_allowed(name: &Path, why: impl Display) -> OpenError {
    OpenError::NotAllowed { path: name.to_owned(), why: why.to_string() }
}

fn answer<T>(waited: Waited<zbus::Result<T>>, name: &Path, late: &str) -> Result<T, OpenError> {
    match waited {
        Waited::Answer(Ok(value)) => Ok(value),
        Waited::Answer(Err(error)) => Err(explain(name, &error)),
        Waited::TooLong => Err(not_allowed(name, late)),
        Waited::GivenUp => Err(OpenError::Interrupted(name.to_owned())),
    }
}

/// An error of the bus or of UDisks2 as one of opening a device.
fn explain(name: &Path, error: &zbus::Error) -> OpenError {
    let (kind, text) = match error {
        zbus::Error::MethodError(kind, text, _) => (kind.to_string(), text.clone().unwrap_or_default()),
        zbus::Error::FDO(error) => {
            (error.name().to_string(), error.description().unwrap_or_default().to_owned())
        }
        zbus::Error::Connection(..) => return not_allowed(name, "no system bus runs that could ask for it"),
        other => return not_allowed(name, format_args!("the system bus failed ({other})")),
    };
    if let Some(kind) = kind.strip_prefix(ERROR) {
        return match kind {
            "NotAuthorized" => {
                not_allowed(name, "the system's policy does not allow it, or the password was wrong")
            }
            "NotAuthorizedCanObtain" => {
                not_allowed(name, "the system asks for a password, and nothing here can show its dialog")
            }
            "NotAuthorizedDismissed" => not_allowed(name, "the system's dialog was dismissed"),
            _ => failed(name, &text),
        };
    }
    match kind.rsplit('.').next().unwrap_or_default() {
        "ServiceUnknown" | "NameHasNoOwner" | "FileNotFound" => not_allowed(name, "UDisks2 is not running"),
        kind if kind.starts_with("Spawn") || kind == "ExecFailed" || kind == "ServiceNotFound" => {
            not_allowed(name, "UDisks2 could not be started")
        }
        "UnknownMethod" => not_allowed(name, "this UDisks2 is too old (2.7.3 is needed)"),
        _ => not_allowed(name, format_args!("UDisks2 answered: {text}")),
    }
}

/// What `open` failed with in UDisks2, which passes the system's sentence on and not the number.
fn failed(name: &Path, text: &str) -> OpenError {
    const KNOWN: [Errno; 6] =
        [Errno::BUSY, Errno::NOMEDIUM, Errno::ROFS, Errno::NOENT, Errno::NXIO, Errno::NODEV];
    let sentence = |errno: &Errno| {
        let text = std::io::Error::from(*errno).to_string();
        text.split(" (os error").next().unwrap_or_default().to_owned()
    };
    match KNOWN.into_iter().find(|errno| text.trim_end().ends_with(&sentence(errno))) {
        Some(errno) => crate::open::explain(name, errno),
        None => OpenError::Other { path: name.to_owned(), reason: format!("UDisks2: {}", text.trim_end()) },
    }
}
