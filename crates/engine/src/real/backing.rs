//! State shared by the lanes of a real target: its file or device, options, clock, ownership check and caveats; and the
//! flush, cache drop and discard of files and devices (ioctls of `linux/fs.h`).

use super::handles::FileHandles;
use super::hanging_call::{HangingCall, IO_TIMEOUT};
use super::ownership::{OwnershipCheck, OwnershipTimer};
use super::slots::SharedClock;
use super::test_file::TestFile;
use super::uring;
use crate::interrupt::InterruptFlag;
use crate::pending::PendingWait;
use crate::target::{TargetError, TargetRegion, TargetResult};
use cardscope_model::caveat::Caveat;
use cardscope_sd::nvme::SmartLog;
use rustix::fs::{Advice, FallocateFlags, fadvise, fallocate, fdatasync};
use rustix::io::Errno;
use rustix::ioctl::{NoArg, Setter, ioctl, opcode};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

const BLKFLSBUF: u32 = opcode::none(0x12, 97);
const BLKDISCARD: u32 = opcode::none(0x12, 119);

/// Environment variable for comparing I/O paths: `CARDSCOPE_IO=preads` uses plain pread and pwrite.
pub const IO_VARIABLE: &str = "CARDSCOPE_IO";

/// Reads the card's temperature in °C.
pub type TemperatureSource = Arc<dyn Fn() -> Option<f64> + Send + Sync>;

/// Times a command that the controller answers without its flash.
pub type PingSource = Arc<dyn Fn() -> Result<Duration, Errno> + Send + Sync>;

pub type HealthSource = Arc<dyn Fn() -> Option<SmartLog> + Send + Sync>;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IoChoice {
    /// `io_uring` if the kernel allows it, else pread and pwrite.
    #[default]
    Auto,
    Preads,
}

impl IoChoice {
    /// Reads `CARDSCOPE_IO`; any value but `preads` means automatic.
    pub fn from_env() -> Self {
        match std::env::var_os(IO_VARIABLE) {
            Some(value) if value == "preads" => Self::Preads,
            _ => Self::Auto,
        }
    }
}

/// Settings of a real target. Defaults: automatic I/O, no temperature, an interrupt that is never raised.
#[derive(Clone, Default)]
pub struct RealOptions {
    pub io: IoChoice,
    /// File system of a file or directory, such as `ext4`, `exfat`, `tmpfs`.
    pub file_system: Option<String>,
    pub temperature: Option<TemperatureSource>,
    pub ping: Option<PingSource>,
    pub health: Option<HealthSource>,
    pub interrupt: InterruptFlag,
    /// Check of the open object; `None` skips the check.
    pub holding: Option<Arc<dyn OwnershipCheck>>,
    /// True if the device or file is open for reading only.
    pub read_only: bool,
    /// Time after which the card counts as silent; four minutes by default.
    pub io_timeout: Option<Duration>,
}

impl RealOptions {
    pub(super) fn io_timeout(&self) -> Duration {
        self.io_timeout.unwrap_or(IO_TIMEOUT)
    }
}

/// Block device opened by the caller, exclusively and for reading and writing.
#[derive(Debug)]
pub struct BlockDevice {
    /// Holds the claim until the target is dropped; I/O uses new descriptions of it.
    pub fd: OwnedFd,
    pub bytes: u64,
    /// Logical sector size in bytes.
    pub sector: u32,
    pub name: String,
}

type SyscallResult = Result<(), Errno>;

pub(super) enum TargetBacking {
    /// Block device; if it is written to, the descriptor holds an exclusive claim.
    Device(OwnedFd),
    /// File of the user; the descriptor holds its lock.
    File(OwnedFd),
    Directory(TestFile),
}

pub(super) struct LaneBacking {
    pub(super) backing: TargetBacking,
    pub(super) name: Arc<str>,
    pub(super) ownership: OwnershipTimer,
    pub(super) clock: SharedClock,
    pub(super) options: RealOptions,
    /// Bytes that I/O may reach: size of the device, the file, or the test area so far.
    limit: AtomicU64,
    /// Error of a lane that was dropped before its I/Os had ended.
    abandoned: Mutex<Option<TargetError>>,
    uring: AtomicBool,
    caveats: Mutex<Vec<Caveat>>,
}

impl LaneBacking {
    pub(super) fn new(backing: TargetBacking, name: &str, limit: u64, options: RealOptions) -> Self {
        let shared = Self {
            backing,
            name: name.into(),
            ownership: OwnershipTimer::new(options.holding.clone(), !options.read_only),
            clock: SharedClock::start(),
            options,
            limit: AtomicU64::new(limit),
            abandoned: Mutex::default(),
            uring: AtomicBool::new(true),
            caveats: Mutex::default(),
        };
        shared.try_uring();
        shared
    }

    /// io_uring is tried here, once, so that the target reports its I/O path from the start.
    fn try_uring(&self) {
        if self.options.io == IoChoice::Preads {
            self.uring.store(false, Ordering::Relaxed);
            let text = "CARDSCOPE_IO=preads: threads with pread and pwrite were used, which need more \
                        processor time for deep queues";
            self.add_caveat(Caveat::Other { text: text.into() });
        } else if let Err(error) = uring::check_available() {
            self.give_up_uring(&error);
        }
    }

    pub(super) fn give_up_uring(&self, error: &std::io::Error) {
        self.uring.store(false, Ordering::Relaxed);
        self.add_caveat(Caveat::NoIoUring { reason: error.to_string() });
    }

    pub(super) fn uses_uring(&self) -> bool {
        self.uring.load(Ordering::Relaxed)
    }

    pub(super) fn io_path(&self) -> &'static str {
        if self.uses_uring() { "io_uring" } else { "preads" }
    }

    pub(super) fn limit(&self) -> u64 {
        self.limit.load(Ordering::Relaxed)
    }

    pub(super) fn set_limit(&self, bytes: u64) {
        self.limit.store(bytes, Ordering::Relaxed);
    }

    /// I/Os of a dropped lane may still be in flight, so no other lane begins new ones.
    pub(super) fn set_abandoned(&self, error: TargetError) {
        *self.abandoned.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
    }

    pub(super) fn check_abandoned(&self) -> TargetResult {
        self.abandoned.lock().unwrap_or_else(PoisonError::into_inner).clone().map_or(Ok(()), Err)
    }

    pub(super) fn is_device(&self) -> bool {
        matches!(self.backing, TargetBacking::Device(_))
    }

    pub(super) fn file_system(&self) -> String {
        self.options.file_system.clone().unwrap_or_else(|| "this file system".into())
    }

    /// Opens new file descriptions of the object that is open, whatever its name refers to by now.
    pub(super) fn open_handles(&self) -> std::io::Result<FileHandles> {
        match &self.backing {
            TargetBacking::Device(claim) => FileHandles::reopened_device(claim.as_fd()),
            TargetBacking::File(lock) => FileHandles::reopened(lock.as_fd()),
            TargetBacking::Directory(file) => FileHandles::reopened(file.fd()),
        }
    }

    /// Flushes the target, at most for `limit`. The inner error is that of `fdatasync`.
    pub(super) fn flush(&self, fd: BorrowedFd<'_>, limit: Option<Duration>) -> TargetResult<SyscallResult> {
        let again = "opening the target once more for a flush";
        let own = fd.try_clone_to_owned().map_err(|e| TargetError::setup(again, e))?;
        let what = PendingWait::Call(format!("a flush of {}", self.name).into());
        let interrupt = &self.options.interrupt;
        HangingCall { what, operation: "flush", interrupt, limit }.run_limited(move || fdatasync(own))
    }

    /// Drops the target from the page cache; dirty pages must have been flushed.
    pub(super) fn drop_caches(&self, fd: BorrowedFd<'_>) -> TargetResult {
        let (dropped, what) = match self.is_device() {
            true => (flush_buffers(fd), "device"),
            false => (fadvise(fd, 0, None, Advice::DontNeed), "file"),
        };
        let refused = |errno| format!("the page cache of the {what} could not be emptied: {errno}");
        dropped.map_err(|errno| TargetError::Unsupported(refused(errno)))?;
        if !self.is_device() {
            // Drops the file's extents and the device's pages below (proc_sys_vm(5)). Only root may; the file's own
            // pages are dropped without it.
            let _ = std::fs::write("/proc/sys/vm/drop_caches", "1");
        }
        Ok(())
    }

    pub(super) fn discard(&self, fd: BorrowedFd<'_>, range: TargetRegion) -> SyscallResult {
        let TargetRegion { start, len } = range;
        match self.is_device() {
            // SAFETY: BLKDISCARD reads two u64, start and length in bytes.
            true => unsafe { ioctl(fd, Setter::<BLKDISCARD, [u64; 2]>::new([start, len])) },
            false => fallocate(fd, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, start, len),
        }
    }

    pub(super) fn add_caveat(&self, caveat: Caveat) {
        let mut caveats = self.caveats.lock().unwrap_or_else(PoisonError::into_inner);
        if !caveats.contains(&caveat) {
            caveats.push(caveat);
        }
    }

    pub(super) fn caveats(&self) -> Vec<Caveat> {
        self.caveats.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Writes back and drops the page cache of a device. Needs root.
pub(super) fn flush_buffers(fd: BorrowedFd<'_>) -> SyscallResult {
    // SAFETY: BLKFLSBUF takes no argument.
    unsafe { ioctl(fd, NoArg::<BLKFLSBUF>::new()) }
}
