//! D-Bus connection to UDisks2: its presence, its object of a device, the meaning of its errors, and
//! waiting for its answer with a time limit and an interrupt.
//!
//! Names of errors: the UDisks2 and polkit reference manuals, and the D-Bus specification.

use crate::block::{BlockDevice, DeviceNumber};
use crate::open::PermissionDialog;
use crate::system::SystemRoots;
use std::collections::HashMap;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::{Duration, Instant};
use zbus::{Connection, DBusError, OwnedObjectPath, OwnedVariant, Variant};

pub(super) const NAME: &str = "org.freedesktop.UDisks2";
pub(super) const MANAGER: &str = "/org/freedesktop/UDisks2/Manager";
pub(super) const MANAGER_INTERFACE: &str = "org.freedesktop.UDisks2.Manager";
pub(super) const BLOCK: &str = "org.freedesktop.UDisks2.Block";
const PROPERTIES: &str = "org.freedesktop.DBus.Properties";

/// Prefix of UDisks2's own errors.
const ERROR: &str = "org.freedesktop.UDisks2.Error.";

pub(super) const CHECK_INTERVAL: Duration = Duration::from_millis(50);

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
}

/// True if UDisks2 answers this user; starts it if the system does so on demand.
pub(crate) fn is_available() -> bool {
    let asked = async {
        let bus = Connection::system().await?;
        let body = (MANAGER_INTERFACE, "Version");
        bus.call_method(Some(NAME), MANAGER, Some(PROPERTIES), "Get", &body).await
    };
    wait_for(asked, Duration::from_secs(5), || false, UdisksError::absent("")).is_ok()
}

pub(super) fn connect_bus(asking: &PermissionDialog<'_>) -> Result<Connection, UdisksError> {
    let late = UdisksError::absent("the system bus does not answer");
    wait_for(Connection::system(), DAEMON_TIMEOUT, || asking.is_interrupted(), late)
}

pub(super) fn find_object(
    bus: &Connection,
    number: DeviceNumber,
    asking: &PermissionDialog<'_>,
) -> Result<OwnedObjectPath, UdisksError> {
    let late = UdisksError::absent("UDisks2 does not answer");
    let object = wait_for(resolve_object(bus, number), DAEMON_TIMEOUT, || asking.is_interrupted(), late)?;
    object.ok_or_else(|| UdisksError::absent("UDisks2 does not know this device"))
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

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs a call on this thread until it is answered, the time is over (`late` is the error), or `given_up` returns true.
pub(super) fn wait_for<T>(
    call: impl Future<Output = zbus::Result<T>>,
    limit: Duration,
    given_up: impl Fn() -> bool,
    late: UdisksError,
) -> Result<T, UdisksError> {
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    let (mut call, began) = (pin!(call), Instant::now());
    loop {
        if let Poll::Ready(answer) = call.as_mut().poll(&mut context) {
            return answer.map_err(|error| classify_error(&error));
        }
        if given_up() {
            return Err(UdisksError::Interrupted);
        }
        if began.elapsed() >= limit {
            return Err(late);
        }
        std::thread::park_timeout(CHECK_INTERVAL);
    }
}

pub(super) fn classify_error(error: &zbus::Error) -> UdisksError {
    let (name, text) = match error {
        zbus::Error::MethodError(name, text, _) => (name.to_string(), text.clone().unwrap_or_default()),
        zbus::Error::FDO(e) => (e.name().to_string(), e.description().unwrap_or_default().to_owned()),
        zbus::Error::Connection(..) => {
            return UdisksError::absent("no system bus runs that could ask for it");
        }
        other => return UdisksError::absent(format!("the system bus failed ({other})")),
    };
    if let Some(kind) = name.strip_prefix(ERROR) {
        let why = match kind {
            "NotAuthorized" => "the system's policy does not allow it, or the password was wrong",
            "NotAuthorizedCanObtain" => {
                "the system asks for a password, and nothing here can show its dialog"
            }
            "NotAuthorizedDismissed" => "the system's dialog was dismissed",
            _ => return UdisksError::Failed { kind: kind.to_owned(), text: text.trim_end().to_owned() },
        };
        return UdisksError::NotAllowed(why.to_owned());
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
