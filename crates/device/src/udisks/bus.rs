//! D-Bus connection to UDisks2: its presence, its object of a device, and the meaning of its errors.
//!
//! Names of errors: the UDisks2 and polkit reference manuals, and the D-Bus specification.

use super::waiting::{WaitOutcome, wait_for};
use crate::block::{BlockDevice, DeviceNumber};
use crate::open::PermissionDialog;
use crate::system::SystemRoots;
use std::collections::HashMap;
use std::time::Duration;
use zbus::{Connection, DBusError, OwnedObjectPath, OwnedVariant, Variant};

pub(super) const NAME: &str = "org.freedesktop.UDisks2";
pub(super) const MANAGER: &str = "/org/freedesktop/UDisks2/Manager";
pub(super) const MANAGER_INTERFACE: &str = "org.freedesktop.UDisks2.Manager";
pub(super) const BLOCK: &str = "org.freedesktop.UDisks2.Block";
const PROPERTIES: &str = "org.freedesktop.DBus.Properties";

/// Prefix of UDisks2's own errors.
const ERROR: &str = "org.freedesktop.UDisks2.Error.";

/// A daemon started on demand that examines all disks takes some seconds; no person is involved yet.
pub(super) const DAEMON_TIMEOUT: Duration = Duration::from_secs(30);

pub(super) const DIALOG_TIMEOUT: Duration = Duration::from_secs(600);

/// Reason why UDisks2 did not fulfil a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum UdisksError {
    /// Not available; the reason is a sentence without its end.
    Unavailable(String),
    /// UDisks2 has no such method for this device.
    NoMethod,
    /// Not permitted, or the dialog was declined; the reason is a sentence without its end.
    NotAllowed(String),
    Failed {
        /// Name of the error without the common prefix.
        kind: String,
        text: String,
    },
    Interrupted,
}

impl UdisksError {
    fn absent(why: impl Into<String>) -> UdisksError {
        UdisksError::Unavailable(why.into())
    }

    fn not_allowed(why: &str) -> UdisksError {
        UdisksError::NotAllowed(why.to_owned())
    }
}

/// True if UDisks2 answers this user; starts it if the system does so on demand.
pub(crate) fn is_available() -> bool {
    let asked = async {
        let bus = Connection::system().await?;
        let body = (MANAGER_INTERFACE, "Version");
        bus.call_method(Some(NAME), MANAGER, Some(PROPERTIES), "Get", &body).await
    };
    matches!(wait_for(asked, Duration::from_secs(5), || false), WaitOutcome::Answer(Ok(_)))
}

pub(super) fn connect_bus(asking: &PermissionDialog<'_>) -> Result<Connection, UdisksError> {
    let connected = wait_for(Connection::system(), DAEMON_TIMEOUT, || asking.is_interrupted());
    into_result(connected, || UdisksError::absent("the system bus does not answer"))
}

pub(super) fn find_object(
    bus: &Connection,
    number: DeviceNumber,
    asking: &PermissionDialog<'_>,
) -> Result<OwnedObjectPath, UdisksError> {
    let found = wait_for(resolve_object(bus, number), DAEMON_TIMEOUT, || asking.is_interrupted());
    let found = into_result(found, || UdisksError::absent("UDisks2 does not answer"))?;
    found.ok_or_else(|| UdisksError::absent("UDisks2 does not know this device"))
}

/// Object of a device, searched by kernel name and confirmed by number.
async fn resolve_object(bus: &Connection, number: DeviceNumber) -> zbus::Result<Option<OwnedObjectPath>> {
    let Some(device) = BlockDevice::by_number(&SystemRoots::host(), number) else { return Ok(None) };
    let path = device.path(&SystemRoots::host());
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

pub(super) fn no_options() -> HashMap<&'static str, Variant<'static>> {
    HashMap::new()
}

/// Converts the outcome of a wait; `late` makes the error of a timeout.
pub(super) fn into_result<T>(
    waited: WaitOutcome<zbus::Result<T>>,
    late: impl FnOnce() -> UdisksError,
) -> Result<T, UdisksError> {
    match waited {
        WaitOutcome::Answer(answer) => answer.map_err(|error| classify_error(&error)),
        WaitOutcome::TooLong => Err(late()),
        WaitOutcome::Interrupted => Err(UdisksError::Interrupted),
    }
}

pub(super) fn classify_error(error: &zbus::Error) -> UdisksError {
    let (name, text) = match error {
        zbus::Error::MethodError(name, text, _) => (name.to_string(), text.clone().unwrap_or_default()),
        zbus::Error::FDO(error) => {
            (error.name().to_string(), error.description().unwrap_or_default().to_owned())
        }
        zbus::Error::Connection(..) => {
            return UdisksError::absent("no system bus runs that could ask for it");
        }
        other => return UdisksError::absent(format!("the system bus failed ({other})")),
    };
    if let Some(kind) = name.strip_prefix(ERROR) {
        return match kind {
            "NotAuthorized" => {
                UdisksError::not_allowed("the system's policy does not allow it, or the password was wrong")
            }
            "NotAuthorizedCanObtain" => UdisksError::not_allowed(
                "the system asks for a password, and nothing here can show its dialog",
            ),
            "NotAuthorizedDismissed" => UdisksError::not_allowed("the system's dialog was dismissed"),
            _ => UdisksError::Failed { kind: kind.to_owned(), text: text.trim_end().to_owned() },
        };
    }
    match name.rsplit('.').next().unwrap_or_default() {
        "ServiceUnknown" | "NameHasNoOwner" | "FileNotFound" => UdisksError::absent("UDisks2 is not running"),
        kind if kind.starts_with("Spawn") || kind == "ExecFailed" || kind == "ServiceNotFound" => {
            UdisksError::absent("UDisks2 could not be started")
        }
        "UnknownMethod" | "UnknownInterface" => UdisksError::NoMethod,
        _ => UdisksError::absent(format!("UDisks2 answered: {text}")),
    }
}
