//! Opening of devices that this user may not open, through UDisks2.

use crate::block::DeviceNumber;
use crate::open::{OpenAccess, OpenError, Opened, PermissionDialog, open_pinned};
use rustix::fd::AsFd;
use rustix::fs::fstat;
use std::path::Path;

pub(crate) fn open_or_request(
    pin: impl AsFd,
    name: &Path,
    access: OpenAccess,
    asking: &mut PermissionDialog<'_>,
) -> Opened {
    match open_pinned(&pin, name, access) {
        Err(OpenError::Denied(path)) if !rustix::process::geteuid().is_root() => match fstat(pin) {
            Ok(found) => ask(DeviceNumber::from_raw(found.st_rdev), name, access, asking),
            Err(_) => Err(OpenError::Denied(path)),
        },
        opened => opened,
    }
}

/// True if UDisks2 accepts requests to open a device.
pub fn can_request() -> bool {
    #[cfg(feature = "udisks")]
    let answers = crate::udisks::is_available();
    #[cfg(not(feature = "udisks"))]
    let answers = false;
    answers
}

#[cfg(feature = "udisks")]
use crate::udisks::open_through_udisks as ask;

#[cfg(not(feature = "udisks"))]
fn ask(_: DeviceNumber, name: &Path, _: OpenAccess, _: &mut PermissionDialog<'_>) -> Opened {
    Err(OpenError::Denied(name.to_owned()))
}
