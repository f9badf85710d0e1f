//! Targets of a test, opened and locked before the prompt: a block device, a plain file or a directory.
//!
//! A name is resolved once; from then on everything goes through the descriptor. The object is identified by its
//! properties: a device by number, disk sequence number and size, a file by device, inode and size, a directory by
//! device and inode. They are checked again after the prompt and before each stage that writes.
//!
//! A device is claimed (`O_EXCL`), so that the kernel refuses it to mounts and volumes. A file is locked (flock(2)),
//! which other programs may ignore: a loop device or program that begins to use it is detected within a second.

use crate::block::{DeviceNumber, is_listed};
use crate::contents::{self, DeviceContents, UnlikeCard};
use crate::filesystem::{KernelFile, refuse_kernel_file};
use crate::guard::{self, GuardRefusal, WriteClearance};
use crate::open::{OpenAccess, OpenError, PermissionDialog, device_size, disk_sequence, fd_path};
use crate::permission::open_or_request;
use crate::system::SystemRoots;
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_engine::real::{OwnershipCheck, try_lock_file};
use cardscope_engine::target::ObjectChange;
use cardscope_files::FileIdentity;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{FileType, Mode, OFlags, Stat, fstat, open, stat};
use rustix::io::Errno;
use std::fs::File;
use std::path::{Path, PathBuf};

const LEAST_BYTES: u64 = 512;

const READ_DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

type Claimed = Result<ClaimedTarget, HoldError>;

#[derive(Debug)]
pub struct ClaimedTarget {
    name: PathBuf,
    fd: OwnedFd,
    kind: ClaimedKind,
    id: FileIdentity,
    bytes: u64,
    writes: bool,
    /// Block device that it is, or is stored on: when that is gone, so is the object.
    carrier: Option<DeviceNumber>,
}

#[derive(Debug)]
pub enum ClaimedKind {
    Device(ClaimedDevice),
    File,
    Directory,
}

#[derive(Debug)]
pub struct ClaimedDevice {
    pub number: DeviceNumber,
    /// Disk sequence number; `None` before Linux 5.15.
    pub sequence: Option<u64>,
    /// Logical sector size in bytes.
    pub sector: u32,
    /// Result of the guards; `None` if opened for reading.
    pub clearance: Option<WriteClearance>,
}

#[derive(Debug, thiserror::Error)]
pub enum HoldError {
    /// The name leads to nothing that can be opened.
    #[error("{}", std::io::Error::from(*.0))]
    Name(Errno),
    #[error(transparent)]
    Refused(#[from] GuardRefusal),
    #[error(transparent)]
    Device(#[from] OpenError),
    /// Part of a pseudo file system.
    #[error(transparent)]
    KernelFile(#[from] KernelFile),
    /// The file cannot be tested, for this reason.
    #[error("{0}")]
    File(String),
}

/// Resolved name, not opened for I/O yet, since opening some devices has side effects.
#[derive(Debug)]
pub struct ResolvedPath {
    name: PathBuf,
    fd: OwnedFd,
    found: Stat,
}

impl ResolvedPath {
    /// Resolves a name. Fails if it leads to nothing, or to a pseudo file system (sysfs, procfs and others).
    pub fn resolve(name: &Path) -> Result<ResolvedPath, HoldError> {
        // Directories are opened for reading: less would not trigger an automount.
        let fd = match open(name, READ_DIRECTORY, Mode::empty()) {
            Err(Errno::NOTDIR | Errno::ACCESS) => open(name, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()),
            fd => fd,
        };
        let fd = fd.map_err(HoldError::Name)?;
        let found = fstat(&fd).map_err(HoldError::Name)?;
        if device_number(&found).is_none() {
            refuse_kernel_file(&fd, name)?;
        }
        Ok(ResolvedPath { name: name.to_owned(), fd, found })
    }

    pub fn device_number(&self) -> Option<DeviceNumber> {
        device_number(&self.found)
    }

    pub fn is_directory(&self) -> bool {
        FileType::from_raw_mode(self.found.st_mode) == FileType::Directory
    }
}

impl ClaimedTarget {
    /// Opens a name like [`ClaimedTarget::claim`], without announcing a permission dialog.
    pub fn open_name(name: &Path, access: OpenAccess) -> Result<ClaimedTarget, HoldError> {
        let (mut silent, interrupt) = (|_: &str| (), InterruptFlag::default());
        Self::claim(ResolvedPath::resolve(name)?, access, &mut PermissionDialog::new(&mut silent, &interrupt))
    }

    /// Opens a resolved object, claimed or locked. For writing, the guards must agree.
    pub fn claim(
        pinned: ResolvedPath,
        access: OpenAccess,
        asking: &mut PermissionDialog<'_>,
    ) -> Result<ClaimedTarget, HoldError> {
        let ResolvedPath { name, fd, found } = pinned;
        match FileType::from_raw_mode(found.st_mode) {
            FileType::Directory => {
                let fd = open(fd_path(&fd), READ_DIRECTORY, Mode::empty()).map_err(HoldError::Name)?;
                Self::from_directory(fd, &name)
            }
            FileType::RegularFile => Self::claim_file(&fd, &found, &name, access),
            FileType::BlockDevice => Self::claim_device(&fd, &found, &name, access, asking),
            _ => Err(GuardRefusal::NotABlockDevice(name.display().to_string()).into()),
        }
    }

    /// Wraps an open directory. `name` must remain valid, so it must not go through another descriptor.
    pub fn from_directory(fd: OwnedFd, name: &Path) -> Result<ClaimedTarget, HoldError> {
        let found = fstat(&fd).map_err(HoldError::Name)?;
        Ok(Self::new(name, fd, ClaimedKind::Directory, &found, (0, true)))
    }

    fn claim_file(pin: &OwnedFd, found: &Stat, name: &Path, access: OpenAccess) -> Claimed {
        let refuse = |why: &str| HoldError::File(format!("{}: {why}", name.display()));
        let writes = access == OpenAccess::ReadWrite;
        if writes {
            // Checked before opening, since the kernel refuses to open a swap file for writing.
            guard::check_file(&SystemRoots::host(), FileIdentity::from(found), name)?;
            guard::check_locks(&SystemRoots::host(), FileIdentity::from(found), name)?;
        }
        let flags = access.flags() | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let fd = open(fd_path(pin), flags, Mode::empty()).map_err(|errno| refuse(&open_advice(errno)))?;
        if !try_lock_file(&fd) {
            return Err(refuse("it is locked by another program; wait for it to end, or stop it"));
        }
        let found = fstat(&fd).map_err(HoldError::Name)?;
        match found.st_size as u64 {
            0 => Err(refuse("the file is empty; name its directory to test with a new file")),
            1..LEAST_BYTES => Err(refuse("it is shorter than one sector; give a file of the size to test")),
            bytes => Ok(Self::new(name, fd, ClaimedKind::File, &found, (bytes, writes))),
        }
    }

    fn claim_device(
        pin: &OwnedFd,
        found: &Stat,
        name: &Path,
        access: OpenAccess,
        asking: &mut PermissionDialog<'_>,
    ) -> Claimed {
        let number = DeviceNumber::from_raw(found.st_rdev);
        let writes = access == OpenAccess::ReadWrite;
        let check = || guard::check_number(&SystemRoots::host(), number, &name.display().to_string());
        let clearance = writes.then(check).transpose()?;
        let opened = open_or_request(pin, name, access, asking)?;
        let same = |seen: &WriteClearance| {
            opened.rdev == number && seen.sequence == opened.sequence && seen.bytes == opened.bytes
        };
        if !clearance.as_ref().is_none_or(same) {
            let why = "the card was swapped while it was opened; nothing was written";
            return Err(HoldError::File(format!("{}: {why}", name.display())));
        }
        let device = ClaimedDevice { number, sequence: opened.sequence, sector: opened.sector, clearance };
        Ok(Self::new(name, opened.fd, ClaimedKind::Device(device), found, (opened.bytes, writes)))
    }

    fn new(name: &Path, fd: OwnedFd, kind: ClaimedKind, found: &Stat, (bytes, writes): (u64, bool)) -> Self {
        let number = match &kind {
            ClaimedKind::Device(device) => device.number,
            _ => DeviceNumber::from_raw(found.st_dev),
        };
        let carrier = Some(number).filter(|number| is_listed(*number));
        let (name, id) = (name.to_owned(), FileIdentity::from(found));
        ClaimedTarget { name, fd, kind, id, bytes, writes, carrier }
    }

    /// Name given by the user, for messages; I/O goes through the descriptor.
    pub fn name(&self) -> &Path {
        &self.name
    }

    pub fn kind(&self) -> &ClaimedKind {
        &self.kind
    }

    /// Size of a device or file at opening; 0 for a directory.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Path that leads to this very object while it is open, for interfaces without descriptors.
    pub fn descriptor_path(&self) -> PathBuf {
        fd_path(&self.fd)
    }

    /// Real path, or further names, if the given name is a link or one of several.
    pub fn also_known_as(&self) -> Option<String> {
        let real = std::fs::read_link(self.descriptor_path()).ok()?;
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

    pub fn read_contents(&self) -> std::io::Result<DeviceContents> {
        Ok(contents::examine_file(&File::from(self.fd.try_clone()?), self.bytes))
    }

    /// Reason why a plain file does not look like a card image; `None` for everything else.
    pub fn unlike_card(&self) -> std::io::Result<Option<UnlikeCard>> {
        match self.kind {
            ClaimedKind::File => Ok(contents::unlike_card(&File::from(self.fd.try_clone()?), self.bytes)),
            ClaimedKind::Device(_) | ClaimedKind::Directory => Ok(None),
        }
    }

    /// Duplicates the descriptor, with its lock or claim.
    pub fn duplicate_fd(&self) -> std::io::Result<OwnedFd> {
        self.fd.try_clone()
    }

    /// Checks that the object is still the one confirmed by the user; call it once after the prompt.
    pub fn check_after_consent(&self) -> Result<(), ObjectChange> {
        self.check_present()?;
        self.check_name()?;
        self.check_unused(true)
    }

    /// True if the guards checked this very device with this very medium.
    pub fn matches_clearance(&self, seen: &WriteClearance) -> bool {
        matches!(&self.kind, ClaimedKind::Device(device)
            if (Some(device.number), device.sequence, self.bytes) == (seen.number, seen.sequence, seen.bytes))
    }

    fn check_name(&self) -> Result<(), ObjectChange> {
        let name = self.name.display();
        let other = || ObjectChange::Replaced(format!("{name} is now another file or device"));
        let found = stat(&self.name)
            .map_err(|errno| ObjectChange::Replaced(format!("{name} was moved or removed ({errno})")))?;
        let same = match &self.kind {
            ClaimedKind::Device(device) => device_number(&found) == Some(device.number),
            _ => self.id == FileIdentity::from(&found),
        };
        same.then_some(()).ok_or_else(other)
    }

    /// Checks that nothing else uses it. A directory may be in use: only our own files are written there.
    fn check_unused(&self, all: bool) -> Result<(), ObjectChange> {
        let system = SystemRoots::host();
        let free = match &self.kind {
            ClaimedKind::Device(device) => {
                guard::check_claimed(&system, device.number, &self.name.to_string_lossy(), all)
            }
            ClaimedKind::File => {
                let locks = || guard::check_locks(&system, self.id, &self.name);
                guard::check_file(&system, self.id, &self.name)
                    .and_then(|()| if all { locks() } else { Ok(()) })
            }
            ClaimedKind::Directory => Ok(()),
        };
        free.map_err(|refusal| ObjectChange::InUse(refusal.to_string()))
    }

    fn check_size(&self, is: u64) -> Result<(), ObjectChange> {
        if is == self.bytes { Ok(()) } else { Err(ObjectChange::Resized { was: self.bytes, is }) }
    }

    fn check_device(&self, device: &ClaimedDevice) -> Result<(), ObjectChange> {
        // A device whose driver is detached reports size 0 or fails.
        match device_size(&self.fd) {
            Ok(0) => Err(ObjectChange::Gone("its size is 0".to_owned())),
            Err(errno) => Err(ObjectChange::Gone(errno.to_string())),
            Ok(_) if disk_sequence(&self.fd) != device.sequence => {
                Err(ObjectChange::Replaced(format!("{} now holds another card", self.name.display())))
            }
            Ok(bytes) => self.check_size(bytes),
        }
    }
}

impl AsFd for ClaimedTarget {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl OwnershipCheck for ClaimedTarget {
    fn check_present(&self) -> Result<(), ObjectChange> {
        if self.carrier.is_some_and(|number| !is_listed(number)) {
            return Err(ObjectChange::Gone("the kernel no longer lists its device".to_owned()));
        }
        if let ClaimedKind::Device(device) = &self.kind {
            return self.check_device(device);
        }
        let found = fstat(&self.fd).map_err(|errno| ObjectChange::Gone(errno.to_string()))?;
        if matches!(self.kind, ClaimedKind::File) { self.check_size(found.st_size as u64) } else { Ok(()) }
    }

    fn check_writable(&self) -> Result<(), ObjectChange> {
        self.check_present()?;
        // Symbolic links to a device change with its content (by-label, by-uuid), so it is identified by number and
        // sequence.
        if !matches!(self.kind, ClaimedKind::Device(_)) {
            self.check_name()?;
        }
        if self.writes { self.check_unused(false) } else { Ok(()) }
    }
}

fn device_number(found: &Stat) -> Option<DeviceNumber> {
    let is_device = FileType::from_raw_mode(found.st_mode) == FileType::BlockDevice;
    is_device.then(|| DeviceNumber::from_raw(found.st_rdev))
}

fn open_advice(errno: Errno) -> String {
    let what_to_do = match errno {
        Errno::ACCESS | Errno::PERM => "choose a writable one, or ask its owner",
        Errno::ROFS => "the file system is read-only: mount it for writing",
        Errno::TXTBSY => "it is a running program, or swap",
        _ => "choose another file, or test the bare device",
    };
    format!("{errno}; {what_to_do}")
}
