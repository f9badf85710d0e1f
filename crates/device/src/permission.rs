//! What this user may not open, the system is asked for, where it can be asked.

use crate::block::DeviceNumber;
use crate::open::{OpenAccess, OpenDevice, OpenError, PermissionDialog, open_pinned};
use rustix::fd::AsFd;
use rustix::fs::fstat;
use std::path::Path;

/// Opens the block device behind a descriptor that pins it, by itself or through UDisks2.
///
/// # Errors
/// As [`open_pinned`], or why the system did not open it.
pub(crate) fn open_or_ask(
    pin: impl AsFd,
    name: &Path,
    access: OpenAccess,
    asking: &mut PermissionDialog<'_>,
) -> Result<OpenDevice, OpenError> {
    match open_pinned(&pin, name, access) {
        Err(OpenError::Denied(path)) if !rustix::process::geteuid().is_root() => match fstat(pin) {
            Ok(found) => ask(DeviceNumber::from_raw(found.st_rdev), name, access, asking),
            Err(_) => Err(OpenError::Denied(path)),
        },
        opened => opened,
    }
}

/// Whether the system can be asked for a device that this user may not open.
pub fn can_be_asked() -> bool {
    #[cfg(feature = "udisks")]
    let answers = crate::udisks::answers();
    #[cfg(not(feature = "udisks"))]
    let answers = false;
    answers
}

#[cfg(feature = "udisks")]
use crate::udisks::open as ask;

/// Without UDisks2 nobody is asked.
#[cfg(not(feature = "udisks"))]
fn ask(
    _: DeviceNumber,
    name: &Path,
    _: OpenAccess,
    _: &mut PermissionDialog<'_>,
) -> Result<OpenDevice, OpenError> {
    Err(OpenError::Denied(name.to_owned()))
}
