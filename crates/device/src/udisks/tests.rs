//! A UDisks2 made for the test, at the other end of a socket, that hands over what a test tells it to. Needs root for its
//! loop devices. The real one is met in `tests/vm/without_root.rs`.

use super::bus::{MANAGER, classify_error};
use super::*;
use crate::open::OpenDevice;
use crate::testing::number;
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_testkit::devices::LoopDevice;
use rustix::fs::{Mode, open as open_file};
use std::collections::HashMap;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use zbus::{DBusError, OwnedVariant};

const OBJECT: &str = "/org/freedesktop/UDisks2/block_devices/card";

/// How the daemon answers.
#[derive(Clone)]
enum Answer {
    /// It opens this path, with the flags that it was given and these.
    Opens(String, OFlags),
    /// The same, but it heeds no flags.
    HeedsNoFlags(String),
    /// It fails like this.
    Fails(Problem),
    /// It never answers: a dialog that nobody sees.
    Waits,
}

#[derive(Debug, Clone, DBusError)]
#[zbus(prefix = "org.freedesktop.UDisks2.Error")]
enum Problem {
    #[zbus(error)]
    Bus(zbus::Error),
    Failed(String),
    NotAuthorized(String),
    NotAuthorizedCanObtain(String),
    NotAuthorizedDismissed(String),
    DeviceBusy(String),
    NotMounted(String),
}

struct Manager(Arc<Mutex<Vec<String>>>);

#[zbus::interface(name = "org.freedesktop.UDisks2.Manager")]
impl Manager {
    fn resolve_device(
        &self,
        wanted: HashMap<String, OwnedVariant>,
        _options: HashMap<String, OwnedVariant>,
    ) -> Vec<OwnedObjectPath> {
        let path = String::try_from(wanted["path"].try_clone().unwrap()).unwrap();
        self.0.lock().unwrap().push(path);
        vec![OwnedObjectPath::try_from(OBJECT).unwrap()]
    }
}

struct Block {
    number: DeviceNumber,
    answer: Answer,
    asked: Arc<Mutex<Vec<String>>>,
}

#[zbus::interface(name = "org.freedesktop.UDisks2.Block")]
impl Block {
    #[zbus(property)]
    fn device_number(&self) -> u64 {
        rustix::fs::makedev(self.number.major, self.number.minor)
    }

    async fn open_device(
        &self,
        mode: &str,
        options: HashMap<String, OwnedVariant>,
    ) -> Result<zbus::OwnedFd, Problem> {
        // As UDisks2 does: any other type is no flags.
        let flags = options.get("flags").and_then(|flags| i32::try_from(flags.try_clone().unwrap()).ok());
        self.asked.lock().unwrap().push(format!("{mode} {flags:?}"));
        let mode = if mode == "rw" { OFlags::RDWR } else { OFlags::RDONLY };
        let heeded = OFlags::from_bits_retain(flags.unwrap_or_default() as u32);
        let (path, flags) = match &self.answer {
            Answer::Opens(path, more) => (path, mode | heeded | *more),
            Answer::HeedsNoFlags(path) => (path, mode),
            Answer::Fails(problem) => return Err(problem.clone()),
            Answer::Waits => std::future::pending().await,
        };
        match open_file(path.as_str(), flags, Mode::empty()) {
            Ok(fd) => Ok(fd.into()),
            Err(errno) => {
                let text = std::io::Error::from(errno).to_string();
                let text = text.split(" (os error").next().unwrap();
                Err(Problem::Failed(format!("Error opening {path}: {text}")))
            }
        }
    }
}

/// The file system on the only device.
struct Filesystem {
    answer: Answer,
    asked: Arc<Mutex<Vec<String>>>,
}

#[zbus::interface(name = "org.freedesktop.UDisks2.Filesystem")]
impl Filesystem {
    async fn unmount(&self, options: HashMap<String, OwnedVariant>) -> Result<(), Problem> {
        let set = |name: &str| bool::try_from(options[name].try_clone().unwrap()).unwrap();
        let words = ["force", "auth.no_user_interaction"].map(|name| format!("{name}: {}", set(name)));
        self.asked.lock().unwrap().push(format!("unmount {}", words.join(", ")));
        match &self.answer {
            Answer::Fails(problem) => Err(problem.clone()),
            Answer::Waits => std::future::pending().await,
            _ => Ok(()),
        }
    }
}

/// A daemon, and our end of the line to it.
struct Daemon {
    bus: Connection,
    _daemon: Connection,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Daemon {
    /// A daemon that takes its only device for this one.
    fn of(number: DeviceNumber, answer: Answer) -> Daemon {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (ours, theirs) = UnixStream::pair().unwrap();
        let filesystem = Filesystem { answer: answer.clone(), asked: Arc::clone(&asked) };
        let block = Block { number, answer, asked: Arc::clone(&asked) };
        let manager = Manager(Arc::clone(&asked));
        let daemon = std::thread::spawn(move || {
            let builder = zbus::connection::Builder::unix_stream(theirs).server(zbus::Guid::generate()).p2p();
            let builder =
                builder.serve_at(MANAGER, manager).serve_at(OBJECT, block).serve_at(OBJECT, filesystem);
            now(builder.build())
        });
        let bus = now(zbus::connection::Builder::unix_stream(ours).p2p().build());
        Daemon { bus, _daemon: daemon.join().unwrap(), asked }
    }

    fn open(&self, card: &LoopDevice, access: OpenAccess) -> Result<OpenDevice, OpenError> {
        let (number, name) = (number(card), Path::new(&card.path));
        let sequence = BlockDevice::by_number(&SystemRoots::host(), number).unwrap().sequence();
        let mut said = Vec::new();
        let mut announce = |text: &str| said.push(text.to_owned());
        let interrupt = InterruptFlag::default();
        let mut asking = PermissionDialog::new(&mut announce, &interrupt);
        let fd = open_on_bus(&self.bus, number, name, access, &mut asking)?;
        assert!(said.len() == 1 && said[0].contains(&card.path), "{said:?}");
        check_handed_over(fd, (number, sequence), name, access)
    }

    fn unmount(&self, number: DeviceNumber, interrupt: &InterruptFlag) -> Result<(), UdisksError> {
        let mut said = Vec::new();
        let mut announce = |text: &str| said.push(text.to_owned());
        let mut asking = PermissionDialog::new(&mut announce, interrupt);
        let unmounted = unmount_on_bus(&self.bus, number, Path::new("/media/CARD"), &mut asking);
        assert!(said.iter().all(|text| text.contains("unmounting /media/CARD")), "{said:?}");
        unmounted
    }
}

fn now<T>(answer: impl Future<Output = zbus::Result<T>>) -> T {
    wait_for(answer, Duration::from_secs(60), || false, UdisksError::NoMethod).unwrap()
}

fn opened_by(answer: Answer, access: OpenAccess) -> Result<OpenDevice, OpenError> {
    let card = LoopDevice::zeroed(8, &[]);
    Daemon::of(number(&card), answer).open(&card, access)
}

#[test]
fn device_is_opened_exclusively_with_direct_io() {
    let card = LoopDevice::zeroed(8, &[]);
    let daemon = Daemon::of(number(&card), Answer::Opens(card.path.clone(), OFlags::empty()));
    let opened = daemon.open(&card, OpenAccess::ReadWrite).unwrap();
    assert_eq!(
        (opened.bytes, opened.sector, opened.rdev, opened.direct),
        (8 << 20, 512, number(&card), true)
    );
    assert!(fcntl_getfl(&opened.fd).unwrap().contains(OFlags::DIRECT | OFlags::RDWR));
    let flags = (OFlags::CLOEXEC | OFlags::EXCL).bits();
    assert_eq!(*daemon.asked.lock().unwrap(), [card.path.clone(), format!("rw Some({flags})")]);
    // It is ours alone: nobody else gets it, by us or by the daemon.
    let again = open_file(card.path.as_str(), OFlags::RDONLY | OFlags::EXCL, Mode::empty());
    assert_eq!(again.unwrap_err(), Errno::BUSY);
    assert!(matches!(daemon.open(&card, OpenAccess::ReadWrite), Err(OpenError::Busy { .. })));
    drop(opened);
    assert!(daemon.open(&card, OpenAccess::ReadWrite).is_ok());
}

#[test]
fn reading_opens_device_shared_and_read_only() {
    let card = LoopDevice::zeroed(8, &[]);
    let daemon = Daemon::of(number(&card), Answer::Opens(card.path.clone(), OFlags::empty()));
    let _other = open_file(card.path.as_str(), OFlags::RDONLY | OFlags::EXCL, Mode::empty()).unwrap();
    let opened = daemon.open(&card, OpenAccess::Read).unwrap();
    assert_eq!(fcntl_getfl(&opened.fd).unwrap() & OFlags::RWMODE, OFlags::RDONLY);
    assert!(rustix::io::write(&opened.fd, b"x").is_err());
}

#[test]
fn other_device_is_refused() {
    let other = LoopDevice::zeroed(8, &[]);
    for path in [other.path.as_str(), "/dev/null"] {
        let error =
            opened_by(Answer::Opens(path.to_owned(), OFlags::empty()), OpenAccess::ReadWrite).unwrap_err();
        assert!(matches!(error, OpenError::Exchanged(_)), "{path}: {error}");
    }
}

#[test]
fn descriptor_with_wrong_access_is_refused() {
    let card = LoopDevice::zeroed(8, &[]);
    let fd = |mode| open_file(card.path.as_str(), mode, Mode::empty()).unwrap();
    let sequence = BlockDevice::by_number(&SystemRoots::host(), number(&card)).unwrap().sequence();
    let name = Path::new(&card.path);
    let take = |fd, sequence, access| check_handed_over(fd, (number(&card), sequence), name, access);
    for (mode, access) in [
        (OFlags::RDONLY, OpenAccess::ReadWrite),
        (OFlags::WRONLY, OpenAccess::ReadWrite),
        (OFlags::RDWR, OpenAccess::Read),
        (OFlags::PATH, OpenAccess::Read),
    ] {
        assert!(matches!(take(fd(mode), sequence, access), Err(OpenError::Exchanged(_))), "{mode:?}");
    }
    // The same device, and another card in it.
    let later = sequence.map(|sequence| sequence + 1);
    assert!(matches!(take(fd(OFlags::RDWR), later, OpenAccess::ReadWrite), Err(OpenError::Exchanged(_))));
    assert!(take(fd(OFlags::RDWR), sequence, OpenAccess::ReadWrite).is_ok());
}

#[test]
fn wrong_udisks_object_is_not_opened() {
    let (card, other) = (LoopDevice::zeroed(8, &[]), LoopDevice::zeroed(8, &[]));
    let daemon = Daemon::of(number(&other), Answer::Opens(other.path.clone(), OFlags::empty()));
    let error = daemon.open(&card, OpenAccess::ReadWrite).unwrap_err();
    assert!(error.to_string().contains("UDisks2 does not know this device"), "{error}");
    assert_eq!(daemon.asked.lock().unwrap().as_slice(), std::slice::from_ref(&card.path));
}

#[test]
fn direct_io_is_set_even_if_flags_are_ignored() {
    let card = LoopDevice::zeroed(8, &[]);
    let daemon = Daemon::of(number(&card), Answer::HeedsNoFlags(card.path.clone()));
    let opened = daemon.open(&card, OpenAccess::Read).unwrap();
    assert!(opened.direct && fcntl_getfl(&opened.fd).unwrap().contains(OFlags::DIRECT));
    fcntl_setfl(&opened.fd, OFlags::empty()).unwrap();
}

#[test]
fn failures_have_reason_and_advice() {
    let text = |text: &str| text.to_owned();
    for (problem, why) in [
        (Problem::NotAuthorized(text("Not authorized")), "the system's policy does not allow it"),
        (Problem::NotAuthorizedCanObtain(text("Not authorized")), "nothing here can show its dialog"),
        (Problem::NotAuthorizedDismissed(text("dismissed")), "the system's dialog was dismissed"),
    ] {
        let error = opened_by(Answer::Fails(problem), OpenAccess::ReadWrite).unwrap_err().to_string();
        assert!(error.contains("no permission to open /dev/loop") && error.contains(why), "{error}");
        assert!(error.contains("use sudo") && error.contains("cardscope doctor"), "{error}");
    }
    let fails = |words: &str| {
        let problem = Problem::Failed(format!("Error opening /dev/loop0: {words}"));
        opened_by(Answer::Fails(problem), OpenAccess::ReadWrite).unwrap_err()
    };
    assert!(matches!(fails("Device or resource busy"), OpenError::Busy { .. }));
    assert!(matches!(fails("Read-only file system"), OpenError::ReadOnly(_)));
    assert!(matches!(fails("No medium found"), OpenError::NoMedium(_)));
    let other = fails("Das Gerät ist müde");
    assert!(matches!(other, OpenError::Other { .. }) && other.to_string().contains("müde"), "{other}");
}

#[test]
fn interrupt_ends_unanswered_dialog() {
    let card = LoopDevice::zeroed(8, &[]);
    let daemon = Daemon::of(number(&card), Answer::Waits);
    let interrupt = InterruptFlag::default();
    let (began, raise) = (Instant::now(), interrupt.clone());
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        raise.raise();
    });
    let name = Path::new(&card.path);
    let mut silent = |_: &str| ();
    let mut asking = PermissionDialog::new(&mut silent, &interrupt);
    let error =
        open_on_bus(&daemon.bus, number(&card), name, OpenAccess::ReadWrite, &mut asking).unwrap_err();
    assert!(matches!(error, OpenError::Interrupted(_)), "{error}");
    assert!(began.elapsed() < Duration::from_secs(2));
}

#[test]
fn missing_bus_or_daemon_is_reported() {
    let nowhere = tempfile::tempdir().unwrap().path().join("bus");
    let address = format!("unix:path={}", nowhere.display());
    let connected = wait_for(
        zbus::connection::Builder::address(address.as_str()).build(),
        Duration::from_secs(10),
        || false,
        UdisksError::NoMethod,
    );
    let absent = |trouble: UdisksError| match &trouble {
        UdisksError::Unavailable(_) => to_open_error(Path::new("/dev/card"), trouble).to_string(),
        other => panic!("{other:?}"),
    };
    let error = absent(connected.unwrap_err());
    assert!(error.contains("no system bus runs"), "{error}");
    // A bus answers for a name that nobody has.
    let unknown = zbus::Error::FDO(Box::new(zbus::fdo::Error::ServiceUnknown("no such name".into())));
    let error = absent(classify_error(&unknown));
    assert!(error.contains("UDisks2 is not running"), "{error}");
    let old = zbus::Error::FDO(Box::new(zbus::fdo::Error::UnknownMethod("no such method".into())));
    assert!(to_open_error(Path::new("/dev/card"), classify_error(&old)).to_string().contains("too old"));
}

#[test]
fn unmount_is_unforced_and_allows_dialog() {
    let card = LoopDevice::zeroed(8, &[]);
    let daemon = Daemon::of(number(&card), Answer::HeedsNoFlags(String::new()));
    assert_eq!(daemon.unmount(number(&card), &InterruptFlag::default()), Ok(()));
    let asked = "unmount force: false, auth.no_user_interaction: false".to_owned();
    assert_eq!(*daemon.asked.lock().unwrap(), [card.path.clone(), asked]);
}

#[test]
fn failed_unmount_reports_reason() {
    let card = LoopDevice::zeroed(8, &[]);
    let trouble = |problem| {
        let daemon = Daemon::of(number(&card), Answer::Fails(problem));
        daemon.unmount(number(&card), &InterruptFlag::default()).unwrap_err()
    };
    let busy = trouble(Problem::DeviceBusy("Error unmounting /dev/loop0: target is busy\n".to_owned()));
    let failed =
        |kind: &str, text: &str| UdisksError::Failed { kind: kind.to_owned(), text: text.to_owned() };
    assert_eq!(busy, failed("DeviceBusy", "Error unmounting /dev/loop0: target is busy"));
    let elsewhere = trouble(Problem::NotMounted("Device is not mounted".to_owned()));
    assert_eq!(elsewhere, failed("NotMounted", "Device is not mounted"));
    for (problem, why) in [
        (Problem::NotAuthorized(String::new()), "the system's policy does not allow it"),
        (Problem::NotAuthorizedCanObtain(String::new()), "nothing here can show its dialog"),
        (Problem::NotAuthorizedDismissed(String::new()), "dismissed"),
    ] {
        let trouble = trouble(problem);
        assert!(matches!(&trouble, UdisksError::NotAllowed(text) if text.contains(why)), "{trouble:?}");
    }
}

#[test]
fn wrong_udisks_object_is_not_unmounted() {
    let (card, other) = (LoopDevice::zeroed(8, &[]), LoopDevice::zeroed(8, &[]));
    let daemon = Daemon::of(number(&other), Answer::HeedsNoFlags(String::new()));
    let trouble = daemon.unmount(number(&card), &InterruptFlag::default()).unwrap_err();
    assert!(
        matches!(&trouble, UdisksError::Unavailable(why) if why.contains("does not know")),
        "{trouble:?}"
    );
    assert_eq!(daemon.asked.lock().unwrap().as_slice(), std::slice::from_ref(&card.path));
}

#[test]
fn interrupt_ends_unmount_dialog() {
    let card = LoopDevice::zeroed(8, &[]);
    let daemon = Daemon::of(number(&card), Answer::Waits);
    let interrupt = InterruptFlag::default();
    let (began, raise) = (Instant::now(), interrupt.clone());
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        raise.raise();
    });
    assert_eq!(daemon.unmount(number(&card), &interrupt), Err(UdisksError::Interrupted));
    assert!(began.elapsed() < Duration::from_secs(2));
}
