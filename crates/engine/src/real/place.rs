//! What lies behind a real target, and all that its lanes share: the file or device itself, the clock, the doubts.

use super::clock::Clock;
use super::handles::Handles;
use super::options::{IoChoice, RealOptions};
use super::patience::lock;
use super::test_file::{TestFile, setup_error};
use super::uring;
use crate::target::TargetError;
use cardscope_model::caveat::Caveat;
use rustix::fs::{FileType, Mode, OFlags, fstat, open};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Where the bytes are.
#[derive(Debug)]
pub(super) enum Place {
    /// A block device that was opened for us.
    Device,
    /// A file of the user's, with the description that holds its lock.
    File(OwnedFd),
    /// A file of our own in a directory.
    Directory(TestFile),
}

/// Shared by the lanes of one target.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) place: Place,
    pub(super) clock: Clock,
    pub(super) options: RealOptions,
    /// Bytes that I/O may reach: the device, the file, the test area so far.
    limit: AtomicU64,
    uring: AtomicBool,
    caveats: Mutex<Vec<Caveat>>,
}

impl Shared {
    pub(super) fn new(place: Place, limit: u64, options: RealOptions) -> Self {
        let shared = Self {
            place,
            clock: Clock::start(),
            options,
            limit: AtomicU64::new(limit),
            uring: AtomicBool::new(true),
            caveats: Mutex::default(),
        };
        shared.choose_io();
        shared.remember_layer();
        shared
    }

    /// Tries io_uring once, here, so that the target says from the start how its I/O goes.
    fn choose_io(&self) {
        if self.options.io == IoChoice::Preads {
            self.uring.store(false, Ordering::Relaxed);
            let text = "plain preads and pwrites were asked for, queue depths kept by threads; deep queues cost \
                        more processor time this way";
            self.remember(Caveat::Other { text: text.into() });
        } else if let Err(error) = uring::allowed() {
            self.give_up_uring(&error);
        }
    }

    fn remember_layer(&self) {
        let Some(note) = &self.options.file_system else { return };
        if let Some(effect) = &note.effect {
            self.remember(Caveat::Layered { file_system: note.name.clone(), effect: effect.clone() });
        }
    }

    pub(super) fn give_up_uring(&self, error: &std::io::Error) {
        self.uring.store(false, Ordering::Relaxed);
        self.remember(Caveat::NoIoUring { reason: error.to_string() });
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

    pub(super) fn is_device(&self) -> bool {
        matches!(self.place, Place::Device)
    }

    pub(super) fn file_system(&self) -> String {
        self.options.file_system.as_ref().map_or_else(|| "this file system".into(), |note| note.name.clone())
    }

    /// Fresh descriptions of a file; a device must be opened by who guards it.
    pub(super) fn open_handles(&self) -> Option<std::io::Result<Handles>> {
        match &self.place {
            Place::Device => None,
            Place::File(lock) => Some(Handles::beside(lock.as_fd())),
            Place::Directory(file) => Some(Handles::beside(file.fd())),
        }
    }

    /// Each doubt once, however often it comes up.
    pub(super) fn remember(&self, caveat: Caveat) {
        let mut caveats = self.caveats.lock().unwrap_or_else(PoisonError::into_inner);
        if !caveats.contains(&caveat) {
            caveats.push(caveat);
        }
    }

    pub(super) fn caveats(&self) -> Vec<Caveat> {
        self.caveats.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Opens and locks a plain file of the user's; gives its size with it.
pub(super) fn lock_file(path: &Path, read_only: bool) -> Result<(OwnedFd, u64), TargetError> {
    let setup = |errno| setup_error(path, errno);
    let refuse = |reason: &str| TargetError::Setup {
        what: format!("opening {} for a test", path.display()),
        reason: reason.into(),
    };
    let access = if read_only { OFlags::RDONLY } else { OFlags::RDWR };
    let flags = access | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = open(path, flags, Mode::empty()).map_err(setup)?;
    let found = fstat(&file).map_err(setup)?;
    if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
        return Err(refuse("it is no plain file; name a device, a directory or a plain file"));
    }
    if found.st_size < 512 {
        return Err(refuse("it is shorter than one sector; give a file that has the size to be tested"));
    }
    if !lock(&file) {
        return Err(refuse("another program has it locked; wait for it to end, or stop it"));
    }
    Ok((file, found.st_size as u64))
}
