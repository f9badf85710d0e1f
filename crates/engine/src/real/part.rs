//! Single files on a mounted card, beside the user's own: a new one that grows as it is written, or one that is there
//! and is only read.

use super::RealTarget;
use super::options::RealOptions;
use super::place::Place;
use super::test_file::setup_error;
use crate::target::TargetError;
use rustix::fs::{FallocateFlags, FileType, Mode, OFlags, fallocate, fstat, open};
use rustix::io::Errno;
use std::os::fd::OwnedFd;
use std::path::Path;

impl RealTarget {
    /// Makes a file that nobody has yet and that may grow to `bytes` bytes. It is as long as what was written to it,
    /// and it stays when the target is dropped.
    ///
    /// # Errors
    /// [`TargetError::Setup`] if it is there already or cannot be made, [`TargetError::NoSpace`] if not even an empty
    /// file fits.
    pub fn new_file(path: &Path, bytes: u64, options: RealOptions) -> Result<Self, TargetError> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::ROTH;
        let file = open(path, flags, mode).map_err(|errno| match errno {
            Errno::NOSPC | Errno::DQUOT => TargetError::NoSpace {
                what: format!("the file {}", path.display()),
                needed: bytes,
                available: 0,
            },
            _ => setup_error(path, errno),
        })?;
        // Blocks in one piece where the file system can promise them; its length still follows what is written, so
        // that a crash leaves no zeros behind that nobody wrote.
        let _ = fallocate(&file, FallocateFlags::KEEP_SIZE, 0, bytes);
        Self::on_file(Place::File(file), path, (bytes, bytes), false, options)
    }

    /// Opens a file for reading only, on a read-only mount too. What a write to it would do is fail.
    ///
    /// # Errors
    /// [`TargetError::Setup`] if it cannot be opened or is no plain file.
    pub fn existing_file(path: &Path, options: RealOptions) -> Result<Self, TargetError> {
        let (file, bytes) = open_to_read(path)?;
        Self::on_file(Place::File(file), path, (bytes, bytes), false, options)
    }
}

fn open_to_read(path: &Path) -> Result<(OwnedFd, u64), TargetError> {
    let setup = |errno| setup_error(path, errno);
    // Not blocking, or a pipe of that name would hang the run.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = open(path, flags, Mode::empty()).map_err(setup)?;
    let found = fstat(&file).map_err(setup)?;
    if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
        return Err(TargetError::Setup {
            what: format!("opening {} for reading", path.display()),
            reason: "it is no plain file".into(),
        });
    }
    Ok((file, found.st_size as u64))
}
