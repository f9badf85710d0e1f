//! Unmounting through UDisks2, as file managers do: for mounts of another user after polkit's dialog. UDisks2 also
//! removes the folder that it created for the mount.

use super::agent::PolkitAgent;
use super::bus::{NAME, PATIENCE_WITH_PERSON, UdisksError, answer, connect, find, no_options};
use super::waiting::wait;
use crate::block::DeviceNumber;
use crate::open::PermissionDialog;
use std::path::Path;
use zbus::{Connection, OwnedObjectPath, Variant};

const FILESYSTEM: &str = "org.freedesktop.UDisks2.Filesystem";

/// Undoes one mount of the disk or partition with this number; `point` is for the announcement.
pub(crate) fn unmount(
    number: DeviceNumber,
    point: &Path,
    asking: &mut PermissionDialog<'_>,
) -> Result<(), UdisksError> {
    let bus = connect(asking)?;
    let _agent = PolkitAgent::start(|| asking.given_up());
    unmount_over(&bus, number, point, asking)
}

pub(super) fn unmount_over(
    bus: &Connection,
    number: DeviceNumber,
    point: &Path,
    asking: &mut PermissionDialog<'_>,
) -> Result<(), UdisksError> {
    let object = find(bus, number, asking)?;
    asking.announce(&format!(
        "unmounting {} through UDisks2; answer the system's dialog if it asks for a password",
        point.display()
    ));
    let unmounted = wait(call_unmount(bus, &object), PATIENCE_WITH_PERSON, || asking.given_up());
    // The dialog was not answered, or the card is still taking the data that the system has to write.
    let late = || UdisksError::Failed {
        kind: "Timedout".to_owned(),
        text: "it was not finished within ten minutes".to_owned(),
    };
    answer(unmounted, late)
}

async fn call_unmount(bus: &Connection, object: &OwnedObjectPath) -> zbus::Result<()> {
    // These are the defaults of UDisks2, stated explicitly: no force, and a dialog is allowed.
    let mut options = no_options();
    options.insert("force", Variant::from(false));
    options.insert("auth.no_user_interaction", Variant::from(false));
    bus.call_method(Some(NAME), object, Some(FILESYSTEM), "Unmount", &(options,)).await?;
    Ok(())
}
