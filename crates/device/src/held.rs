//! What a test is going to use, opened and locked before anybody is asked: a block device, a plain file or a directory.
//!
//! The name is resolved once. From then on everything goes through the descriptor, and the object is known again by what
//! it is: a device by its number, the sequence of its coming and its size, a file by device, inode and size, a directory
//! by device and inode. After the question, and before each stage that writes, it is looked at again.
//!
//! A device is claimed (`O_EXCL`), so that the kernel refuses it to mounts and volumes. A file is locked (flock(2)), which
//! other programs need not heed: what remains is a loop device or a program that begins to use the file between a look
//! and the next, one second later at most.

use crate::block::{DeviceNumber, is_listed};
use crate::contents::{self, DeviceContents, UnlikeCard};
use crate::filesystem::{KernelFile, refuse_kernel_file};
use crate::guard::{self, GuardRefusal, WriteClearance};
use crate::open::{OpenAccess, OpenError, PermissionDialog, by_descriptor, sequence_of, size_of};
use crate::permission::open_or_ask;
use crate::system::SystemRoots;
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_engine::real::{OwnershipCheck, lock};
use cardscope_engine::target::ObjectChange;
use cardscope_files::FileIdentity;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{FileType, Mode, OFlags, Stat, fstat, open, stat};
use rustix::io::Errno;
use std::fs::File;
use std::path::{Path, PathBuf};

/// The least that a file must have: one sector.
const LEAST_BYTES: u64 = 512;

/// How a directory is opened.
const READ_DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// An open, locked object.
#[derive(Debug)]
pub struct ClaimedTarget {
    name: PathBuf,
    fd: OwnedFd,
    kind: ClaimedKind,
    id: FileIdentity,
    bytes: u64,
    writes: bool,
    /// The block device that it is or lies on, where there is one: when that is gone, so is this.
    carrier: Option<DeviceNumber>,
}

/// What it is.
#[derive(Debug)]
pub enum ClaimedKind {
    /// A block device.
    Device(ClaimedDevice),
    /// A plain file.
    File,
    /// A directory.
    Directory,
}

/// What is known of a block device that is held.
#[derive(Debug)]
pub struct ClaimedDevice {
    /// Major and minor number.
    pub number: DeviceNumber,
    /// Number of its coming; `None` before Linux 5.15.
    pub sequence: Option<u64>,
    /// Logical sector in bytes.
    pub sector: u32,
    /// What the guards saw; `None` where it is only read.
    pub clearance: Option<WriteClearance>,
}

/// Why something cannot be held.
#[derive(Debug, thiserror::Error)]
pub enum HoldError {
    /// The name leads to nothing that could be opened.
    #[error("{}", std::io::Error::from(*.0))]
    Name(Errno),
    /// It must not be written to.
    #[error(transparent)]
    Refused(#[from] GuardRefusal),
    /// The device could not be opened.
    #[error(transparent)]
    Device(#[from] OpenError),
    /// The kernel shows its own state in it.
    #[error(transparent)]
    KernelFile(#[from] KernelFile),
    /// The file cannot be tested, and why.
    #[error("{0}")]
    File(String),
}

/// What a name leads to, resolved and not opened yet, since opening some devices has effects of its own.
#[derive(Debug)]
pub struct ResolvedPath {
    name: PathBuf,
    fd: OwnedFd,
    found: Stat,
}

impl ResolvedPath {
    /// Resolves a name.
    ///
    /// # Errors
    /// If it leads to nothing, or to a file of the kernel's own (sysfs, procfs …).
    pub fn of(name: &Path) -> Result<ResolvedPath, HoldError> {
        // A directory is opened to be read: what is mounted there on demand is not mounted for less.
        let fd = match open(name, READ_DIRECTORY, Mode::empty()) {
            Err(Errno::NOTDIR | Errno::ACCESS) => open(name, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()),
            fd => fd,
        };
        let fd = fd.map_err(HoldError::Name)?;
        let found = fstat(&fd).map_err(HoldError::Name)?;
        if FileType::from_raw_mode(found.st_mode) != FileType::BlockDevice {
            refuse_kernel_file(&fd, name)?;
        }
        Ok(ResolvedPath { name: name.to_owned(), fd, found })
    }

    /// The number of a block device.
    pub fn device(&self) -> Option<DeviceNumber> {
        let is_device = FileType::from_raw_mode(self.found.st_mode) == FileType::BlockDevice;
        is_device.then(|| DeviceNumber::from_raw(self.found.st_rdev))
    }

    /// Whether it is a directory.
    pub fn is_directory(&self) -> bool {
        FileType::from_raw_mode(self.found.st_mode) == FileType::Directory
    }
}

impl ClaimedTarget {
    /// Opens what a name leads to, as [`Held::of`]; where the system has to be asked, without a word.
    ///
    /// # Errors
    /// As there, or if the name leads to nothing.
    pub fn open(name: &Path, access: OpenAccess) -> Result<ClaimedTarget, HoldError> {
        Self::of(
            ResolvedPath::of(name)?,
            access,
            &mut PermissionDialog::with(&mut |_| (), &InterruptFlag::default()),
        )
    }

    /// Opens what a name led to, claimed or locked; to write to it, only past its guards.
    ///
    /// # Errors
    /// If it is neither device, file nor directory, not safe to write to, in use, or not ours to open.
    pub fn of(
        pinned: ResolvedPath,
        access: OpenAccess,
        asking: &mut PermissionDialog<'_>,
    ) -> Result<ClaimedTarget, HoldError> {
        let ResolvedPath { name, fd, found } = pinned;
        match FileType::from_raw_mode(found.st_mode) {
            FileType::Directory => {
                let fd = open(by_descriptor(&fd), READ_DIRECTORY, Mode::empty()).map_err(HoldError::Name)?;
                Self::directory(fd, &name)
            }
            FileType::RegularFile => Self::of_file(&fd, &found, &name, access),
            FileType::BlockDevice => Self::of_device(&fd, &found, &name, access, asking),
            _ => Err(GuardRefusal::NotABlockDevice(name.display().to_string()).into()),
        }
    }

    /// A directory that is open already, with the name that leads to it: one that lasts as long as it is held, so none
    /// by a descriptor of somebody else.
    pub fn directory(fd: OwnedFd, name: &Path) -> Result<ClaimedTarget, HoldError> {
        let found = fstat(&fd).map_err(HoldError::Name)?;
        Ok(Self::new(name, fd, ClaimedKind::Directory, &found, (0, true)))
    }

    fn of_file(
        pin: &OwnedFd,
        found: &Stat,
        name: &Path,
        access: OpenAccess,
    ) -> Result<ClaimedTarget, HoldError> {
        let refuse = |why: &str| HoldError::File(format!("{}: {why}", name.display()));
        let writes = access == OpenAccess::ReadWrite;
        if writes {
            // Before it is opened: the kernel opens a swap file for nobody who would write to it.
            guard::check_file_id(&SystemRoots::host(), FileIdentity::from(found), name)?;
            guard::check_locks(&SystemRoots::host(), FileIdentity::from(found), name)?;
        }
        let mode = if writes { OFlags::RDWR } else { OFlags::RDONLY };
        let flags = mode | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let fd = open(by_descriptor(pin), flags, Mode::empty()).map_err(|errno| refuse(&advice(errno)))?;
        if !lock(&fd) {
            return Err(refuse("it is locked by another program; wait for it to end, or stop it"));
        }
        let found = fstat(&fd).map_err(HoldError::Name)?;
        match found.st_size as u64 {
            0 => Err(refuse("the file is empty; name its directory to test with a new file")),
            1..LEAST_BYTES => Err(refuse("it is shorter than one sector; give a file of the size to test")),
            bytes => Ok(Self::new(name, fd, ClaimedKind::File, &found, (bytes, writes))),
        }
    }

    fn of_device(
        pin: &OwnedFd,
        found: &Stat,
        name: &Path,
        access: OpenAccess,
        asking: &mut PermissionDialog<'_>,
    ) -> Result<ClaimedTarget, HoldError> {
        let number = DeviceNumber::from_raw(found.st_rdev);
        let writes = access == OpenAccess::ReadWrite;
        let check = || guard::check_number(&SystemRoots::host(), number, &name.display().to_string());
        let clearance = writes.then(check).transpose()?;
        let opened = open_or_ask(pin, name, access, asking)?;
        let same = |seen: &WriteClearance| {
            opened.rdev == number && seen.sequence == opened.sequence && seen.bytes == opened.bytes
        };
        if !clearance.as_ref().is_none_or(same) {
            let name = name.display();
            return Err(HoldError::File(format!(
                "{name}: the card was swapped while it was opened; nothing was written"
            )));
        }
        let device = ClaimedDevice { number, sequence: opened.sequence, sector: opened.sector, clearance };
        Ok(Self::new(name, opened.fd, ClaimedKind::Device(device), found, (opened.bytes, writes)))
    }

    fn new(
        name: &Path,
        fd: OwnedFd,
        kind: ClaimedKind,
        found: &Stat,
        (bytes, writes): (u64, bool),
    ) -> ClaimedTarget {
        let number = match &kind {
            ClaimedKind::Device(device) => device.number,
            _ => DeviceNumber::from_raw(found.st_dev),
        };
        let carrier = Some(number).filter(|number| is_listed(*number));
        ClaimedTarget {
            name: name.to_owned(),
            fd,
            kind,
            id: FileIdentity::from(found),
            bytes,
            writes,
            carrier,
        }
    }

    /// Returns the name that the user gave, for messages; I/O goes through the descriptor.
    pub fn name(&self) -> &Path {
        &self.name
    }

    /// Says whether it is a device, a file or a directory.
    pub fn kind(&self) -> &ClaimedKind {
        &self.kind
    }

    /// Bytes of a device or file, as it was opened; 0 for a directory.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// A path that leads to this very object as long as it is held, for what takes no descriptor.
    pub fn path(&self) -> PathBuf {
        by_descriptor(&self.fd)
    }

    /// Where it really lies, where the name that was given is only a link to it or one of several names.
    pub fn also_known_as(&self) -> Option<String> {
        let real = std::fs::read_link(self.path()).ok()?;
        let given = std::path::absolute(&self.name).ok()?;
        let links = fstat(&self.fd).map_or(1, |found| found.st_nlink);
        let several = matches!(self.kind, ClaimedKind::File) && links > 1;
        match (real != given, several) {
            (true, true) => Some(format!("{}, which has {links} names", real.display())),
            (true, false) => Some(real.display().to_string()),
            (false, true) => Some(format!("a file with {links} names")),
            (false, false) => None,
        }
    }

    /// What is on a device or in a file: partition table and file systems.
    pub fn contents(&self) -> std::io::Result<DeviceContents> {
        Ok(contents::describe(&File::from(self.fd.try_clone()?), self.bytes))
    }

    /// Why a plain file does not look like the image of a card; `None` where it does, and of all else.
    pub fn unlike_card(&self) -> std::io::Result<Option<UnlikeCard>> {
        match self.kind {
            ClaimedKind::File => Ok(contents::unlike_card(&File::from(self.fd.try_clone()?), self.bytes)),
            ClaimedKind::Device(_) | ClaimedKind::Directory => Ok(None),
        }
    }

    /// One more descriptor of it, with the same lock or claim.
    pub fn descriptor(&self) -> std::io::Result<OwnedFd> {
        self.fd.try_clone()
    }

    /// Whether what was agreed to is what is going to be written: asked once, after the question.
    pub fn agreed(&self) -> Result<(), ObjectChange> {
        self.present()?;
        self.named()?;
        self.unused(true)
    }

    /// Whether the guards saw this very device, in this very coming.
    pub fn is(&self, seen: &WriteClearance) -> bool {
        matches!(&self.kind, ClaimedKind::Device(device)
            if (Some(device.number), device.sequence, self.bytes) == (seen.number, seen.sequence, seen.bytes))
    }

    /// Whether its name still leads to it.
    fn named(&self) -> Result<(), ObjectChange> {
        let name = self.name.display();
        let other = || ObjectChange::Another(format!("{name} is now another file or device"));
        let found = stat(&self.name)
            .map_err(|errno| ObjectChange::Another(format!("{name} was moved or removed ({errno})")))?;
        let same = match &self.kind {
            ClaimedKind::Device(device) => {
                FileType::from_raw_mode(found.st_mode) == FileType::BlockDevice
                    && DeviceNumber::from_raw(found.st_rdev) == device.number
            }
            _ => self.id == FileIdentity::from(&found),
        };
        same.then_some(()).ok_or_else(other)
    }

    /// Whether nobody else uses it. A directory may be used: in it only files of our own are written.
    fn unused(&self, all: bool) -> Result<(), ObjectChange> {
        let system = SystemRoots::host();
        let free = match &self.kind {
            ClaimedKind::Device(device) => {
                guard::check_held(&system, device.number, &self.name.to_string_lossy(), all)
            }
            ClaimedKind::File => {
                guard::check_file_id(&system, self.id, &self.name).and_then(|()| match all {
                    true => guard::check_locks(&system, self.id, &self.name),
                    false => Ok(()),
                })
            }
            ClaimedKind::Directory => Ok(()),
        };
        free.map_err(|refusal| ObjectChange::InUse(refusal.to_string()))
    }

    fn resized(&self, is: u64) -> Result<(), ObjectChange> {
        match is == self.bytes {
            true => Ok(()),
            false => Err(ObjectChange::Resized { was: self.bytes, is }),
        }
    }

    fn device_present(&self, device: &ClaimedDevice) -> Result<(), ObjectChange> {
        // A device whose driver let go answers with no size, or not at all.
        match size_of(&self.fd) {
            Ok(0) => Err(ObjectChange::Gone("its size is 0".to_owned())),
            Err(errno) => Err(ObjectChange::Gone(errno.to_string())),
            Ok(_) if sequence_of(&self.fd) != device.sequence => {
                Err(ObjectChange::Another(format!("{} now holds another card", self.name.display())))
            }
            Ok(bytes) => self.resized(bytes),
        }
    }
}

impl AsFd for ClaimedTarget {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl OwnershipCheck for ClaimedTarget {
    fn present(&self) -> Result<(), ObjectChange> {
        if self.carrier.is_some_and(|number| !is_listed(number)) {
            return Err(ObjectChange::Gone("the kernel no longer lists its device".to_owned()));
        }
        match &self.kind {
            ClaimedKind::Device(device) => self.device_present(device),
            ClaimedKind::File | ClaimedKind::Directory => {
                let found = fstat(&self.fd).map_err(|errno| ObjectChange::Gone(errno.to_string()))?;
                if matches!(self.kind, ClaimedKind::File) {
                    self.resized(found.st_size as u64)
                } else {
                    Ok(())
                }
            }
        }
    }

    fn may_write(&self) -> Result<(), ObjectChange> {
        self.present()?;
        // Links to a device come and go with what is written to it (by-label, by-uuid): its number and sequence tell.
        if !matches!(self.kind, ClaimedKind::Device(_)) {
            self.named()?;
        }
        if self.writes { self.unused(false) } else { Ok(()) }
    }
}

fn advice(errno: Errno) -> String {
    let what_to_do = match errno {
        Errno::ACCESS | Errno::PERM => "choose a writable one, or ask its owner",
        Errno::ROFS => "the file system is read-only: mount it for writing",
        Errno::TXTBSY => "it is a running program, or swap",
        _ => "choose another file, or test the bare device",
    };
    format!("{errno}; {what_to_do}")
}
