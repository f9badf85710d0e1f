//! Unmounting through UDisks2, as file managers do: for mounts of another user after polkit's dialog. UDisks2 also
//! removes the folder that it created for the mount.

use super::agent::PolkitAgent;
use super::bus::{DIALOG_TIMEOUT, NAME, UdisksError, connect_bus, find_object, into_result, no_options};
use super::waiting::wait_for;
use crate::block::DeviceNumber;
use crate::open::PermissionDialog;
use std::path::Path;
use zbus::{Connection, OwnedObjectPath, Variant};

const FILESYSTEM: &str = "org.freedesktop.UDisks2.Filesystem";

/// Undoes one mount of the disk or partition with this number; `point` is for the announcement.
pub(crate) fn unmount_through_udisks(
    number: DeviceNumber,
    point: &Path,
    asking: &mut PermissionDialog<'_>,
) -> Result<(), UdisksError> {
    let bus = connect_bus(asking)?;
    let _agent = PolkitAgent::start(|| asking.is_interrupted());
    unmount_on_bus(&bus, number, point, asking)
}

pub(super) fn unmount_on_bus(
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
    let unmounted = wait_for(call_unmount(bus, &object), DIALOG_TIMEOUT, || asking.is_interrupted());
    // The dialog was not answered, or the card is still taking the data that the system has to write.
    let late = || UdisksError::Failed {
        kind: "Timedout".to_owned(),
        text: "it was not finished within ten minutes".to_owned(),
    };
    into_result(unmounted, late)
}

async fn call_unmount(bus: &Connection, object: &OwnedObjectPath) -> zbus::Result<()> {
    // These are the defaults of UDisks2, stated explicitly: no force, and a dialog is allowed.
    let mut options = no_options();
    options.insert("force", Variant::from(false));
    options.insert("auth.no_user_interaction", Variant::from(false));
    bus.call_method(Some(NAME), object, Some(FILESYSTEM), "Unmount", &(options,)).await?;
    Ok(())
}
