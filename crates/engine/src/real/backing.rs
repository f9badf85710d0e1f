//! State shared by the lanes of a real target: its file or device, clock, ownership check and caveats.

use super::handles::FileHandles;
use super::options::{IoChoice, RealOptions};
use super::ownership::OwnershipTimer;
use super::test_file::TestFile;
use super::transfer::SharedClock;
use super::uring;
use crate::target::TargetError;
use cardscope_model::caveat::Caveat;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

pub(super) enum TargetBacking {
    /// Block device; if it is written to, the descriptor holds an exclusive claim.
    Device(OwnedFd),
    /// File of the user; the descriptor holds its lock.
    File(OwnedFd),
    Directory(TestFile),
}

pub(super) struct LaneBacking {
    pub(super) backing: TargetBacking,
    pub(super) name: String,
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
    pub(super) fn new(backing: TargetBacking, name: String, limit: u64, options: RealOptions) -> Self {
        let shared = Self {
            backing,
            name,
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

    pub(super) fn check_abandoned(&self) -> Result<(), TargetError> {
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
