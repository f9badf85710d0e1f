//! Opening and reopening of real targets: devices, files, and test files in directories. Files are passed in open, so
//! that a changed name cannot lead to another object. Direct I/O is tested here.

use super::backing::{BlockDevice, LaneBacking, RealOptions, TargetBacking, flush_buffers};
use super::ownership::change_error;
use super::test_file::{TestFile, setup_error};
use super::{RealTarget, TargetInfo};
use crate::pending::{PendingWait, register_wait};
use crate::target::{Target, TargetError, TargetResult};
use cardscope_files::ResolvedFolder;
use rustix::fs::{Advice, FallocateFlags, fadvise, fallocate, fstat};
use std::fmt::Display;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;

/// Files have no sector size of their own; this is the smallest that devices have.
const LEAST_SECTOR: u32 = 512;

impl RealTarget {
    /// Block device that passed the guards and was opened exclusively.
    pub fn open_device(device: BlockDevice, options: RealOptions) -> TargetResult<Self> {
        let BlockDevice { fd, bytes, sector, name } = device;
        Self::assemble(TargetBacking::Device(fd), &name, (bytes, bytes), sector.max(LEAST_SECTOR), options)
    }

    /// User's file, open and locked, tested in place: its size stays, its content is lost. I/O uses new descriptions of
    /// it.
    pub fn open_file(file: OwnedFd, name: &Path, options: RealOptions) -> TargetResult<Self> {
        let found = fstat(&file).map_err(|errno| setup_error(name, errno))?;
        let bytes = found.st_size as u64 / u64::from(LEAST_SECTOR) * u64::from(LEAST_SECTOR);
        Self::assemble(TargetBacking::File(file), &name.display(), (bytes, bytes), LEAST_SECTOR, options)
    }

    /// Test file created in `directory`, removed with the last lane; leftovers of crashed runs are removed too. Fails
    /// if the directory is not writable, or another Cardscope is testing there.
    pub fn create_in_directory(directory: ResolvedFolder, options: RealOptions) -> TargetResult<Self> {
        let name = directory.path().to_owned();
        let file = TestFile::create(directory)?;
        let room = file.free_space();
        Self::assemble(TargetBacking::Directory(file), &name.display(), (room, 0), LEAST_SECTOR, options)
    }

    /// New file, empty and open for reading and writing, that may grow to `bytes`. Its length follows the writes, and
    /// it is not removed. `path` is its name in messages.
    pub fn new_file(file: OwnedFd, path: &Path, bytes: u64, options: RealOptions) -> TargetResult<Self> {
        // Contiguous blocks if the file system can promise them. The length still follows the writes, so that a crash
        // leaves no zeros that nothing wrote.
        let _ = fallocate(&file, FallocateFlags::KEEP_SIZE, 0, bytes);
        Self::assemble(TargetBacking::File(file), &path.display(), (bytes, bytes), LEAST_SECTOR, options)
    }

    /// File that is open for reading only, so that writes fail. `path` is its name in messages.
    pub fn existing_file(file: OwnedFd, path: &Path, options: RealOptions) -> TargetResult<Self> {
        let bytes = fstat(&file).map_err(|errno| setup_error(path, errno))?.st_size as u64;
        Self::assemble(TargetBacking::File(file), &path.display(), (bytes, bytes), LEAST_SECTOR, options)
    }

    fn assemble(
        backing: TargetBacking,
        name: &dyn Display,
        (bytes, limit): (u64, u64),
        sector: u32,
        options: RealOptions,
    ) -> TargetResult<Self> {
        let (name, file_system) = (name.to_string(), options.file_system.clone());
        let shared = LaneBacking::new(backing, &name, limit, options);
        let handles = shared.open_handles().map_err(|e| open_error(&name, &e))?;
        let (io_path, whole_card) = (shared.io_path(), shared.is_device());
        let info = TargetInfo { name, bytes, sector, io_path, file_system, whole_card };
        let mut target = Self { lane: None, info, handles, shared: Arc::new(shared) };
        target.update_direct_io()?;
        Ok(target)
    }

    /// Tests direct I/O with a read; without it, a lane that relies on it is made anew.
    pub(super) fn update_direct_io(&mut self) -> TargetResult {
        match self.handles.direct_alignment(self.info.sector) {
            Some(alignment) => self.info.sector = alignment,
            None if self.handles.has_direct() => {
                self.handles.disable_direct();
                if let Some(plan) = self.lane.take().map(|lane| lane.plan) {
                    self.make_lane(&plan)?;
                }
            }
            None => {}
        }
        Ok(())
    }

    /// Closes the descriptions and opens the same object anew, with the same plan. Its lock or claim is held
    /// throughout.
    pub(super) fn reopen_handles(&mut self) -> TargetResult {
        self.drain()?;
        self.flush()?;
        let what = format!("the reopening of {}", self.info.name);
        let _waiting = register_wait(PendingWait::Call(what.into()));
        let plan = self.lane.take().map(|lane| lane.plan);
        let _ = fadvise(self.handles.any_fd(), 0, None, Advice::DontNeed);
        if self.shared.is_device() {
            // The page cache of a device lives as long as any descriptor. Only root may drop it, and direct I/O does
            // not need it.
            let _ = flush_buffers(self.handles.any_fd());
        }
        let name = &self.shared.name;
        self.handles = self.shared.open_handles().map_err(|e| open_error(name, &e))?;
        // Opening makes the kernel check for a card change in the reader.
        self.shared.ownership.object_present().map_err(|change| change_error(name, change, "reopen", 0))?;
        self.update_direct_io()?;
        plan.map_or(Ok(()), |plan| self.make_lane(&plan))
    }
}

fn open_error(name: &str, error: &std::io::Error) -> TargetError {
    TargetError::setup(format!("opening {name} for a test"), error)
}
