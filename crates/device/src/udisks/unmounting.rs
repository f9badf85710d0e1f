//! A file system unmounted by UDisks2, as a file manager does it: what another user has mounted only past polkit's dialog.
//! UDisks2 also removes the folder that it made for the mount.

use super::agent::PolkitAgent;
use super::bus::{NAME, PATIENCE_WITH_PERSON, UdisksError, answer, connect, find, no_options};
use super::waiting::wait;
use crate::block::DeviceNumber;
use crate::open::PermissionDialog;
use std::path::Path;
use zbus::{Connection, OwnedObjectPath, Variant};

const FILESYSTEM: &str = "org.freedesktop.UDisks2.Filesystem";

/// Has UDisks2 undo one mount of the disk or partition with this number; `point` is for what is announced.
pub(crate) fn unmount(
    number: DeviceNumber,
    point: &Path,
    asking: &mut PermissionDialog<'_>,
) -> Result<(), UdisksError> {
    let bus = connect(asking)?;
    let _agent = PolkitAgent::start(|| asking.given_up());
    unmount_over(&bus, number, point, asking)
}

/// The same over a connection.
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
    let unmounted = wait(call(bus, &object), PATIENCE_WITH_PERSON, || asking.given_up());
    // Nobody has answered a dialog, or the card is still taking what the system has to write to it.
    let late = || UdisksError::Failed {
        kind: "Timedout".to_owned(),
        text: "it was not finished within ten minutes".to_owned(),
    };
    answer(unmounted, late)
}

async fn call(bus: &Connection, object: &OwnedObjectPath) -> zbus::Result<()> {
    // Nothing is forced, and a person may be asked: that is what UDisks2 does without being told, said all the same.
    let mut options = no_options();
    options.insert("force", Variant::from(false));
    options.insert("auth.no_user_interaction", Variant::from(false));
    bus.call_method(Some(NAME), object, Some(FILESYSTEM), "Unmount", &(options,)).await?;
    Ok(())
}
