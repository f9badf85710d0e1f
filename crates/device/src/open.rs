//! Opening a device for a test: exclusively, past the page cache where it can be, with its size and sector.
//!
//! `O_EXCL` without `O_CREAT` claims a block device (open(2)): the kernel then refuses others, a second
//! Cardscope, mkfs and mount among them, and refuses us what they hold.

use crate::block::DeviceNumber;
use crate::system::{link_name, names, text};
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

/// `BLKROGET` (linux/fs.h): not 0 for a device that takes no writes.
const BLKROGET: rustix::ioctl::Opcode = opcode::none(0x12, 94);

/// `BLKRRPART` (linux/fs.h): the kernel reads the partition table again.
const BLKRRPART: rustix::ioctl::Opcode = opcode::none(0x12, 95);

/// `BLKGETDISKSEQ` (linux/fs.h, Linux 5.15).
const BLKGETDISKSEQ: rustix::ioctl::Opcode = opcode::read::<u64>(0x12, 128);

/// `LOOP_GET_STATUS64` (linux/loop.h); its number is older than the scheme that tells sizes.
const LOOP_GET_STATUS64: rustix::ioctl::Opcode = 0x4c05;

/// The beginning of `struct loop_info64` (linux/loop.h); 232 bytes in all.
#[repr(C)]
struct LoopInfo {
    device: u64,
    inode: u64,
    rest: [u64; 27],
}

/// A look by `cardscope list`, `losetup` or a partition scan holds a device for a moment only: who is seen so often in a row
/// keeps it.
const BUSY_RETRIES: u32 = 25;
const BUSY_PAUSE: Duration = Duration::from_millis(20);

/// A process that was killed holds its device until the kernel has ended its I/O, when it is no process any more: a
/// device that nobody holds is waited for so long.
const RELEASE_PATIENCE: Duration = Duration::from_secs(2);

/// What a device is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenAccess {
    /// Reading only.
    Read,
    /// Reading and writing.
    ReadWrite,
}

/// How the system is asked for a device that this user may not open: what is said before, and what ends the wait for an answer.
pub struct PermissionDialog<'a> {
    announce: &'a mut dyn FnMut(&str),
    interrupt: &'a InterruptFlag,
}

impl<'a> PermissionDialog<'a> {
    /// Says what is asked by `announce`; gives up once the interrupt is raised.
    pub fn with(announce: &'a mut dyn FnMut(&str), interrupt: &'a InterruptFlag) -> Self {
        PermissionDialog { announce, interrupt }
    }

    #[cfg_attr(not(feature = "udisks"), allow(dead_code, reason = "nobody is asked"))]
    pub(crate) fn announce(&mut self, text: &str) {
        (self.announce)(text);
    }

    #[cfg_attr(not(feature = "udisks"), allow(dead_code, reason = "nobody is asked"))]
    pub(crate) fn given_up(&self) -> bool {
        self.interrupt.raised()
    }
}

/// A device opened for a test.
#[derive(Debug)]
pub struct OpenDevice {
    /// The descriptor; `O_EXCL` holds until it is closed.
    pub fd: OwnedFd,
    /// Bytes the device announces.
    pub bytes: u64,
    /// Logical sector in bytes.
    pub sector: u32,
    /// Its number, to compare with [`crate::guard::Clearance::number`].
    pub rdev: DeviceNumber,
    /// Number of its coming, to compare with [`crate::guard::Clearance::sequence`]; `None` before Linux 5.15.
    pub sequence: Option<u64>,
    /// True where `O_DIRECT` was taken; false: the page cache is in the way.
    pub direct: bool,
}

/// A device that could not be opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// Held by another.
    #[error("{path} is in use by another program{by}, perhaps another Cardscope, or mounted; end that and \
             start again", path = .path.display())]
    Busy {
        /// The device.
        path: PathBuf,
        /// Who, as far as can be seen: ` (fio, process 12)`; empty if unknown.
        by: String,
    },
    /// No right.
    #[error("no permission to open {path}; use sudo, or join the group that owns it (often disk): sudo \
             usermod -aG disk $USER, then log in again", path = .0.display())]
    Denied(PathBuf),
    /// No right, and the system did not give it when it was asked.
    #[error(
        "no permission to open {path}: {why}; use sudo, or see the other ways with `cardscope doctor`",
        path = .path.display()
    )]
    NotAllowed {
        /// The device.
        path: PathBuf,
        /// Why not, as a sentence without its end.
        why: String,
    },
    /// Ctrl-C while the system was asked.
    #[error("interrupted while the system was asked to open {path}; nothing was written", path = .0.display())]
    Interrupted(PathBuf),
    /// What the system handed over is not what it was asked for.
    #[error(
        "UDisks2 opened something else than {path}; nothing was written. Plug the card in again and start \
         again",
        path = .0.display()
    )]
    Exchanged(PathBuf),
    /// Size of 0 sectors.
    #[error(
        "{path} has 0 sectors: no card is in it, or one that does not answer this reader; insert the card again, \
         or try another reader",
        path = .0.display()
    )]
    NoMedium(PathBuf),
    /// Write protected.
    #[error("{path} is read-only; check the lock switch of card or adapter; a worn-out card also locks \
             itself", path = .0.display())]
    ReadOnly(PathBuf),
    /// No such device.
    #[error("{path} does not exist; was the card removed? `cardscope list` shows the \
             devices", path = .0.display())]
    NotFound(PathBuf),
    /// A file or directory.
    #[error("{path} is not a block device; `cardscope list` shows the devices", path = .0.display())]
    NotABlockDevice(PathBuf),
    /// Anything else.
    #[error("{path} could not be opened ({reason}); plug the card in again and check the kernel \
             log", path = .path.display())]
    Other {
        /// The device.
        path: PathBuf,
        /// The errno's text.
        reason: String,
    },
}

/// Opens a block device exclusively, with `O_DIRECT` where the driver takes it.
///
/// # Errors
/// If it is no block device, is in use, empty, write protected, gone, or not ours to open.
pub fn open_device(path: &Path, access: OpenAccess) -> Result<OpenDevice, OpenError> {
    let mode = match access {
        OpenAccess::Read => OFlags::RDONLY,
        OpenAccess::ReadWrite => OFlags::RDWR,
    };
    open_with(path, path, mode | OFlags::EXCL | OFlags::CLOEXEC)
}

/// Opens the block device behind a descriptor that pins it (`O_PATH`), exclusively to write to it and beside others to
/// read; `name` is for messages. With `O_DIRECT` where the driver takes it.
pub(crate) fn open_pinned(pin: impl AsFd, name: &Path, access: OpenAccess) -> Result<OpenDevice, OpenError> {
    let mode = match access {
        OpenAccess::Read => OFlags::RDONLY,
        OpenAccess::ReadWrite => OFlags::RDWR | OFlags::EXCL,
    };
    open_with(&by_descriptor(pin), name, mode | OFlags::CLOEXEC)
}

/// A path of this process that leads to what a descriptor has open, and to nothing else.
pub(crate) fn by_descriptor(fd: impl AsFd) -> PathBuf {
    format!("/proc/self/fd/{}", fd.as_fd().as_raw_fd()).into()
}

fn open_with(path: &Path, name: &Path, flags: OFlags) -> Result<OpenDevice, OpenError> {
    let explain = |errno| explain(name, errno);
    require_block_device(path)?;
    let (fd, direct) = match open_patiently(path, flags | OFlags::DIRECT) {
        Err(Errno::INVAL) => (open_patiently(path, flags).map_err(explain)?, false),
        other => (other.map_err(explain)?, true),
    };
    examined(fd, name, flags.contains(OFlags::RDWR), direct)
}

/// An open device with its size and sector, unless it is empty or takes no writes that are meant.
pub(crate) fn examined(
    fd: OwnedFd,
    name: &Path,
    writes: bool,
    direct: bool,
) -> Result<OpenDevice, OpenError> {
    let explain = |errno| explain(name, errno);
    // Some drivers, loop among them, let a read-only device be opened for writing and fail each write.
    if writes && is_read_only(&fd) {
        return Err(OpenError::ReadOnly(name.to_owned()));
    }
    let stat = fstat(&fd).map_err(explain)?;
    let bytes = size_of(&fd).map_err(explain)?;
    if bytes == 0 {
        return Err(OpenError::NoMedium(name.to_owned()));
    }
    let sector = rustix::fs::ioctl_blksszget(&fd).map_err(explain)?;
    let sequence = sequence_of(&fd);
    Ok(OpenDevice { fd, bytes, sector, rdev: DeviceNumber::from_raw(stat.st_rdev), sequence, direct })
}

fn is_read_only(fd: impl AsFd) -> bool {
    // SAFETY: BLKROGET writes exactly one int to the pointer it is given, which `Getter` owns.
    let answer = unsafe { rustix::ioctl::ioctl(fd, Getter::<BLKROGET, std::ffi::c_int>::new()) };
    answer.is_ok_and(|value| value != 0)
}

/// Opens a block device for a look that disturbs nobody: reading only, not exclusively.
///
/// # Errors
/// If it is no block device, empty, gone, or not ours to open.
pub fn peek(path: &Path) -> Result<File, OpenError> {
    require_block_device(path)?;
    let fd = rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK, Mode::empty())
        .map_err(|errno| explain(path, errno))?;
    Ok(File::from(fd))
}

/// Asks the kernel whether a device could be had exclusively, and lets go at once.
pub(crate) fn try_exclusive(path: &Path) -> Result<(), OpenError> {
    require_block_device(path)?;
    let flags = OFlags::RDONLY | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NONBLOCK;
    open_patiently(path, flags).map(drop).map_err(|errno| explain(path, errno))
}

/// Size of an open block device in bytes.
pub fn size_of(fd: impl AsFd) -> Result<u64, Errno> {
    // SAFETY: BLKGETSIZE64 writes exactly one u64 to the pointer it is given, which `Getter` owns.
    unsafe { rustix::ioctl::ioctl(fd, Getter::<BLKGETSIZE64, u64>::new()) }
}

/// Has the kernel look at the partition table of an open device again, after it was written anew. Nothing depends on it:
/// a device without partitions, one in use, or a file is left as it is.
pub fn read_partitions_again(fd: impl AsFd) {
    // SAFETY: BLKRRPART takes no argument and touches no memory of ours.
    let _ = unsafe { rustix::ioctl::ioctl(fd, rustix::ioctl::NoArg::<BLKRRPART>::new()) };
}

/// The file that a loop device stands on, as the device itself knows it; `None` where it cannot be asked.
pub(crate) fn loop_file(device: &Path) -> Option<FileIdentity> {
    let file = peek(device).ok()?;
    // SAFETY: LOOP_GET_STATUS64 writes one struct loop_info64, for which `LoopInfo` has the size and the alignment.
    let info = unsafe { rustix::ioctl::ioctl(&file, Getter::<LOOP_GET_STATUS64, LoopInfo>::new()) }.ok()?;
    Some(FileIdentity { device: info.device, inode: info.inode })
}

/// Number of an open device's coming; it rises with each medium. `None` before Linux 5.15.
pub(crate) fn sequence_of(fd: impl AsFd) -> Option<u64> {
    // SAFETY: BLKGETDISKSEQ writes exactly one u64 to the pointer it is given, which `Getter` owns.
    unsafe { rustix::ioctl::ioctl(fd, Getter::<BLKGETDISKSEQ, u64>::new()) }.ok()
}

fn open_patiently(path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let (mut sightings, mut last, began) = (0, String::new(), Instant::now());
    loop {
        match rustix::fs::open(path, flags, Mode::empty()) {
            Err(Errno::BUSY) if sightings < BUSY_RETRIES && began.elapsed() < RELEASE_PATIENCE => {
                // Who is seen for a moment only keeps nothing: a child that is about to become another program.
                let seen = openers(path);
                sightings = match seen.as_str() {
                    "" => 0,
                    same if same == last => sightings + 1,
                    _ => 1,
                };
                last = seen;
                std::thread::sleep(BUSY_PAUSE);
            }
            Err(Errno::INTR) => {}
            other => return other,
        }
    }
}

fn require_block_device(path: &Path) -> Result<(), OpenError> {
    let stat = rustix::fs::stat(path).map_err(|errno| explain(path, errno))?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::BlockDevice => Ok(()),
        _ => Err(OpenError::NotABlockDevice(path.to_owned())),
    }
}

pub(crate) fn explain(path: &Path, errno: Errno) -> OpenError {
    let path = path.to_owned();
    match errno {
        Errno::BUSY => OpenError::Busy { by: openers(&path), path },
        Errno::ACCESS | Errno::PERM => OpenError::Denied(path),
        Errno::NOMEDIUM => OpenError::NoMedium(path),
        Errno::ROFS => OpenError::ReadOnly(path),
        Errno::NOENT | Errno::NXIO | Errno::NODEV => OpenError::NotFound(path),
        _ => OpenError::Other { path, reason: std::io::Error::from(errno).to_string() },
    }
}

/// Other processes that have a device or file open, as far as `/proc` may be read.
pub fn processes_with(path: &Path) -> Vec<u32> {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let processes = names("/proc").into_iter().filter(|process| has_open(process, &real));
    processes.filter_map(|process| process.parse().ok()).filter(|id| *id != std::process::id()).collect()
}

/// Programs that have the device open; ready to stand in a sentence.
fn openers(path: &Path) -> String {
    let found: Vec<String> = processes_with(path)
        .into_iter()
        .map(|process| {
            let program = text(format!("/proc/{process}/comm")).unwrap_or_else(|| "unknown".into());
            format!("{program}, process {process}")
        })
        .collect();
    if found.is_empty() { String::new() } else { format!(" ({})", found.join("; ")) }
}

fn has_open(process: &str, device: &Path) -> bool {
    let dir = PathBuf::from(format!("/proc/{process}/fd"));
    let Some(name) = crate::system::base_name(device) else { return false };
    // Reading the link asks no file system; following it could hang on a dead one.
    names(&dir).iter().any(|fd| {
        link_name(dir.join(fd)).as_deref() == Some(name)
            && std::fs::read_link(dir.join(fd)).is_ok_and(|target| target == device)
    })
}
