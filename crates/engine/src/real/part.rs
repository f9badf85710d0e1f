//! Single files on a mounted card, beside the user's own: a new one that grows as it is written, or one that is there
//! and is only read. They come open: whoever opened them knows which file it is, whatever stands under its name by now.

use super::RealTarget;
use super::backing::Backing;
use super::options::RealOptions;
use super::test_file::setup_error;
use crate::target::TargetError;
use rustix::fs::{FallocateFlags, fallocate, fstat};
use std::os::fd::OwnedFd;
use std::path::Path;

impl RealTarget {
    /// A file that was just made, empty and open for reading and writing, which may grow to `bytes` bytes. It is as long
    /// as what was written to it, and it stays when the target is dropped. `path` is its name in messages.
    ///
    /// # Errors
    /// [`TargetError::Setup`] if it cannot be used.
    pub fn new_file(
        file: OwnedFd,
        path: &Path,
        bytes: u64,
        options: RealOptions,
    ) -> Result<Self, TargetError> {
        // Blocks in one piece where the file system can promise them; its length still follows what is written, so
        // that a crash leaves no zeros behind that nobody wrote.
        let _ = fallocate(&file, FallocateFlags::KEEP_SIZE, 0, bytes);
        Self::on_file(Backing::File(file), path, (bytes, bytes), false, options)
    }

    /// A plain file that is open for reading only. What a write to it would do is fail. `path` is its name in messages.
    ///
    /// # Errors
    /// [`TargetError::Setup`] if it cannot be used.
    pub fn existing_file(file: OwnedFd, path: &Path, options: RealOptions) -> Result<Self, TargetError> {
        let bytes = fstat(&file).map_err(|errno| setup_error(path, errno))?.st_size as u64;
        Self::on_file(Backing::File(file), path, (bytes, bytes), false, options)
    }
}
