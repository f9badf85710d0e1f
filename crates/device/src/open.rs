//! Opening of block devices for a test: exclusively, with direct I/O if possible.
//!
//! `O_EXCL` without `O_CREAT` claims a block device (open(2)): the kernel then refuses it to others, a second
//! Cardscope, mkfs and mount among them, and refuses us a device that they claim.

use crate::block::DeviceNumber;
use crate::system::{dir_names, link_name, read_text};
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_files::FileIdentity;
use rustix::fd::{AsFd, AsRawFd, OwnedFd};
use rustix::fs::{FileType, Mode, OFlags, fstat};
use rustix::io::Errno;
use rustix::ioctl::{Getter, opcode};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// `BLKGETSIZE64` (linux/fs.h): the size in bytes as 64 bits, though the header declares `size_t`.
const BLKGETSIZE64: rustix::ioctl::Opcode = opcode::read::<usize>(0x12, 114);

/// `BLKROGET` (linux/fs.h): not 0 for a read-only device.
const BLKROGET: rustix::ioctl::Opcode = opcode::none(0x12, 94);

/// `BLKRRPART` (linux/fs.h): the kernel reads the partition table again.
const BLKRRPART: rustix::ioctl::Opcode = opcode::none(0x12, 95);

/// `BLKGETDISKSEQ` (linux/fs.h, Linux 5.15).
const BLKGETDISKSEQ: rustix::ioctl::Opcode = opcode::read::<u64>(0x12, 128);

/// `LOOP_GET_STATUS64` (linux/loop.h), whose code has no size encoded.
const LOOP_GET_STATUS64: rustix::ioctl::Opcode = 0x4c05;

/// Start of `struct loop_info64` (linux/loop.h); 232 bytes in all.
#[repr(C)]
struct LoopInfo {
    device: u64,
    inode: u64,
    rest: [u64; 27],
}

/// `cardscope list`, `losetup` or a partition scan hold a device only briefly, so it counts as busy once the same
/// program was observed this many times in a row.
const BUSY_RETRIES: u32 = 25;
const BUSY_PAUSE: Duration = Duration::from_millis(20);

/// A killed process is gone from `/proc` before the kernel has ended its I/O and releases the device, so a busy device
/// without a holder is retried this long.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(2);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenAccess {
    Read,
    ReadWrite,
}

impl OpenAccess {
    pub(crate) fn flags(self) -> OFlags {
        if self == OpenAccess::Read { OFlags::RDONLY } else { OFlags::RDWR }
    }
}

/// Way to request permission for a device: announcement of the dialog, and the interrupt that ends the wait.
pub struct PermissionDialog<'a> {
    announce: &'a mut dyn FnMut(&str),
    interrupt: &'a InterruptFlag,
}

impl<'a> PermissionDialog<'a> {
    /// `announce` receives the text for the user before the dialog appears.
    pub fn new(announce: &'a mut dyn FnMut(&str), interrupt: &'a InterruptFlag) -> Self {
        PermissionDialog { announce, interrupt }
    }

    #[cfg_attr(not(feature = "udisks"), allow(dead_code, reason = "nobody is asked"))]
    pub(crate) fn announce(&mut self, text: &str) {
        (self.announce)(text);
    }

    #[cfg_attr(not(feature = "udisks"), allow(dead_code, reason = "nobody is asked"))]
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupt.is_raised()
    }
}

#[derive(Debug)]
pub struct OpenDevice {
    /// `O_EXCL` holds until it is closed.
    pub fd: OwnedFd,
    pub bytes: u64,
    /// Logical sector size in bytes.
    pub sector: u32,
    /// Compared with [`crate::guard::WriteClearance::number`].
    pub rdev: DeviceNumber,
    /// Disk sequence number, compared with [`crate::guard::WriteClearance::sequence`]; `None` before Linux 5.15.
    pub sequence: Option<u64>,
    /// False if the driver refused `O_DIRECT`, so that I/O goes through the page cache.
    pub direct: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    #[error("{path} is in use by another program{by}, perhaps another Cardscope, or mounted; end that and \
             start again", path = .path.display())]
    Busy {
        path: PathBuf,
        /// Programs, such as ` (fio, process 12)`; empty if unknown.
        by: String,
    },
    #[error("no permission to open {path}; use sudo, or join the group that owns it (often disk): sudo \
             usermod -aG disk $USER, then log in again", path = .0.display())]
    Denied(PathBuf),
    /// No permission, and none was granted on request.
    #[error(
        "no permission to open {path}: {why}; use sudo, or see the other ways with `cardscope doctor`",
        path = .path.display()
    )]
    NotAllowed {
        path: PathBuf,
        /// Reason as a sentence without its end.
        why: String,
    },
    #[error("interrupted while the system was asked to open {path}; nothing was written", path = .0.display())]
    Interrupted(PathBuf),
    /// UDisks2 handed over another object than requested.
    #[error("UDisks2 opened something else than {path}; nothing was written. Plug the card in again and \
             start again", path = .0.display())]
    Exchanged(PathBuf),
    #[error("{path} has 0 sectors: no card is in it, or one that does not answer this reader; insert the \
             card again, or try another reader", path = .0.display())]
    NoMedium(PathBuf),
    #[error("{path} is read-only; check the lock switch of card or adapter; a worn-out card also locks \
             itself", path = .0.display())]
    ReadOnly(PathBuf),
    #[error("{path} does not exist; was the card removed? `cardscope list` shows the \
             devices", path = .0.display())]
    NotFound(PathBuf),
    #[error("{path} is not a block device; `cardscope list` shows the devices", path = .0.display())]
    NotABlockDevice(PathBuf),
    #[error("{path} could not be opened ({reason}); plug the card in again and check the kernel \
             log", path = .path.display())]
    Other { path: PathBuf, reason: String },
}

pub(crate) type Opened = Result<OpenDevice, OpenError>;

/// Opens a block device exclusively, with `O_DIRECT` if the driver supports it.
pub fn open_device(path: &Path, access: OpenAccess) -> Result<OpenDevice, OpenError> {
    open_with(path, path, access.flags() | OFlags::EXCL | OFlags::CLOEXEC)
}

/// Opens the block device behind an `O_PATH` descriptor, exclusively for writing, shared for reading; with `O_DIRECT`
/// if the driver supports it. `name` is for messages.
pub(crate) fn open_pinned(pin: impl AsFd, name: &Path, access: OpenAccess) -> Opened {
    let claim = if access == OpenAccess::ReadWrite { OFlags::EXCL } else { OFlags::empty() };
    open_with(&fd_path(pin), name, access.flags() | claim | OFlags::CLOEXEC)
}

/// Path of this process that leads to the object of a descriptor, and to nothing else.
pub(crate) fn fd_path(fd: impl AsFd) -> PathBuf {
    format!("/proc/self/fd/{}", fd.as_fd().as_raw_fd()).into()
}

fn open_with(path: &Path, name: &Path, flags: OFlags) -> Opened {
    let explain = |errno| open_error(name, errno);
    require_block_device(path)?;
    let (fd, direct) = match open_retrying(path, flags | OFlags::DIRECT) {
        // EINVAL: the driver has no direct I/O.
        Err(Errno::INVAL) => (open_retrying(path, flags).map_err(explain)?, false),
        other => (other.map_err(explain)?, true),
    };
    examine_open(fd, name, flags.contains(OFlags::RDWR), direct)
}

/// Reads size and sector of an open device. Fails if it is empty, or read-only where writes are intended.
pub(crate) fn examine_open(fd: OwnedFd, name: &Path, writes: bool, direct: bool) -> Opened {
    let explain = |errno| open_error(name, errno);
    // Some drivers, loop among them, allow opening a read-only device for writing and then fail each write.
    if writes && is_read_only(&fd) {
        return Err(OpenError::ReadOnly(name.to_owned()));
    }
    let stat = fstat(&fd).map_err(explain)?;
    let bytes = device_size(&fd).map_err(explain)?;
    if bytes == 0 {
        return Err(OpenError::NoMedium(name.to_owned()));
    }
    let sector = rustix::fs::ioctl_blksszget(&fd).map_err(explain)?;
    let sequence = disk_sequence(&fd);
    Ok(OpenDevice { fd, bytes, sector, rdev: DeviceNumber::from_raw(stat.st_rdev), sequence, direct })
}

fn is_read_only(fd: impl AsFd) -> bool {
    // SAFETY: BLKROGET writes exactly one int to the pointer it is given, which `Getter` owns.
    let answer = unsafe { rustix::ioctl::ioctl(fd, Getter::<BLKROGET, std::ffi::c_int>::new()) };
    answer.is_ok_and(|value| value != 0)
}

/// Opens a block device for reading without claiming it, which disturbs no other program.
pub fn open_shared(path: &Path) -> Result<File, OpenError> {
    require_block_device(path)?;
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let fd = rustix::fs::open(path, flags, Mode::empty()).map_err(|errno| open_error(path, errno))?;
    Ok(File::from(fd))
}

/// Tests whether a device could be claimed, and releases it at once.
pub(crate) fn try_exclusive(path: &Path) -> Result<(), OpenError> {
    require_block_device(path)?;
    let flags = OFlags::RDONLY | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NONBLOCK;
    open_retrying(path, flags).map(drop).map_err(|errno| open_error(path, errno))
}

pub fn device_size(fd: impl AsFd) -> Result<u64, Errno> {
    // SAFETY: BLKGETSIZE64 writes exactly one u64 to the pointer it is given, which `Getter` owns.
    unsafe { rustix::ioctl::ioctl(fd, Getter::<BLKGETSIZE64, u64>::new()) }
}

/// Makes the kernel read the partition table again after it was changed. Failures are harmless and ignored: a device
/// without partitions or in use, or a file.
pub fn reread_partitions(fd: impl AsFd) {
    // SAFETY: BLKRRPART takes no argument and accesses no memory of this process.
    let _ = unsafe { rustix::ioctl::ioctl(fd, rustix::ioctl::NoArg::<BLKRRPART>::new()) };
}

/// File behind a loop device, as the device itself reports it; `None` if it may not be queried.
pub(crate) fn loop_backing_file(device: &Path) -> Option<FileIdentity> {
    let file = open_shared(device).ok()?;
    // SAFETY: LOOP_GET_STATUS64 writes one struct loop_info64, for which `LoopInfo` has the size and the alignment.
    let info = unsafe { rustix::ioctl::ioctl(&file, Getter::<LOOP_GET_STATUS64, LoopInfo>::new()) }.ok()?;
    Some(FileIdentity { device: info.device, inode: info.inode })
}

/// Disk sequence number of an open device; `None` before Linux 5.15.
pub(crate) fn disk_sequence(fd: impl AsFd) -> Option<u64> {
    // SAFETY: BLKGETDISKSEQ writes exactly one u64 to the pointer it is given, which `Getter` owns.
    unsafe { rustix::ioctl::ioctl(fd, Getter::<BLKGETDISKSEQ, u64>::new()) }.ok()
}

fn open_retrying(path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let (mut sightings, mut last, began) = (0, String::new(), Instant::now());
    loop {
        match rustix::fs::open(path, flags, Mode::empty()) {
            Err(Errno::BUSY) if sightings < BUSY_RETRIES && began.elapsed() < RELEASE_TIMEOUT => {
                // A process visible once holds nothing: it may be a child about to execute another program.
                let seen = openers_text(path);
                let before = if seen == last { sightings } else { 0 };
                sightings = if seen.is_empty() { 0 } else { before + 1 };
                last = seen;
                std::thread::sleep(BUSY_PAUSE);
            }
            Err(Errno::INTR) => {}
            other => return other,
        }
    }
}

fn require_block_device(path: &Path) -> Result<(), OpenError> {
    let stat = rustix::fs::stat(path).map_err(|errno| open_error(path, errno))?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::BlockDevice => Ok(()),
        _ => Err(OpenError::NotABlockDevice(path.to_owned())),
    }
}

pub(crate) fn open_error(path: &Path, errno: Errno) -> OpenError {
    let path = path.to_owned();
    match errno {
        Errno::BUSY => OpenError::Busy { by: openers_text(&path), path },
        Errno::ACCESS | Errno::PERM => OpenError::Denied(path),
        Errno::NOMEDIUM => OpenError::NoMedium(path),
        Errno::ROFS => OpenError::ReadOnly(path),
        Errno::NOENT | Errno::NXIO | Errno::NODEV => OpenError::NotFound(path),
        _ => OpenError::Other { path, reason: std::io::Error::from(errno).to_string() },
    }
}

/// Other processes that have a device or file open, as far as `/proc` may be read.
pub fn processes_using(path: &Path) -> Vec<u32> {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let processes = dir_names("/proc").into_iter().filter(|process| process_has_open(process, &real));
    processes.filter_map(|process| process.parse().ok()).filter(|id| *id != std::process::id()).collect()
}

fn openers_text(path: &Path) -> String {
    let describe = |process| {
        let program = read_text(format!("/proc/{process}/comm")).unwrap_or_else(|| "unknown".into());
        format!("{program}, process {process}")
    };
    let found: Vec<String> = processes_using(path).into_iter().map(describe).collect();
    if found.is_empty() { String::new() } else { format!(" ({})", found.join("; ")) }
}

fn process_has_open(process: &str, device: &Path) -> bool {
    let dir = PathBuf::from(format!("/proc/{process}/fd"));
    let Some(name) = crate::system::base_name(device) else { return false };
    // Reading the link accesses no file system; following it could hang on a dead one.
    dir_names(&dir).iter().any(|fd| {
        link_name(dir.join(fd)).as_deref() == Some(name)
            && std::fs::read_link(dir.join(fd)).is_ok_and(|target| target == device)
    })
}
