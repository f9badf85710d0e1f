//! Opening a real target: the three kinds, the check whether direct I/O works there, and opening it once more.

use super::handles::Handles;
use super::options::{BlockDevice, RealOptions, Reopen};
use super::place::{Place, Shared, lock_file};
use super::test_file::TestFile;
use super::{RealTarget, TargetInfo};
use crate::target::{Target, TargetError};
use rustix::fs::{Advice, fadvise};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The smallest sector there is; files have none of their own.
const LEAST_SECTOR: u32 = 512;

/// How long opening again is tried: the kernel lets go of an exclusive device some time after the last descriptor
/// on it, one in a ring too, is closed.
const REOPEN_PATIENCE: Duration = Duration::from_secs(1);

impl RealTarget {
    /// A block device that was opened exclusively, after its guards let it pass.
    ///
    /// # Errors
    /// [`TargetError::Setup`] if the descriptor cannot be used.
    pub fn device(device: BlockDevice, options: RealOptions) -> Result<Self, TargetError> {
        let BlockDevice { fd, bytes, sector, name, reopen } = device;
        let handles = Handles::new(fd).map_err(|e| cannot_open(&name, &e))?;
        let shared = Shared::new(Place::Device, bytes, options);
        let info = info(name, bytes, sector.max(LEAST_SECTOR), true, &shared);
        Self::assemble(info, handles, Some(reopen), shared)
    }

    /// A plain file of the user's, tested in place: its size stays, its content does not.
    ///
    /// # Errors
    /// [`TargetError::Setup`] if it cannot be opened as the options ask, is no plain file, is shorter than a sector, or is
    /// locked by another program.
    pub fn file(path: &Path, options: RealOptions) -> Result<Self, TargetError> {
        let (lock, bytes) = lock_file(path, options.read_only)?;
        let bytes = bytes - bytes % u64::from(LEAST_SECTOR);
        let whole_card = options.whole_card;
        Self::on_file(Place::File(lock), path, (bytes, bytes), whole_card, options)
    }

    /// A test file made in `directory`. It is removed when the last lane is dropped; those of crashed runs are
    /// removed here.
    ///
    /// # Errors
    /// [`TargetError::Setup`] if the directory cannot be written to, or another Cardscope is testing there.
    pub fn directory(directory: &Path, options: RealOptions) -> Result<Self, TargetError> {
        let file = TestFile::create(directory)?;
        let room = file.room();
        Self::on_file(Place::Directory(file), directory, (room, 0), false, options)
    }

    pub(super) fn on_file(
        place: Place,
        path: &Path,
        (bytes, limit): (u64, u64),
        whole_card: bool,
        options: RealOptions,
    ) -> Result<Self, TargetError> {
        let name = path.display().to_string();
        let shared = Shared::new(place, limit, options);
        let handles = fresh_handles(&shared, &name)?;
        let info = info(name, bytes, LEAST_SECTOR, whole_card, &shared);
        Self::assemble(info, handles, None, shared)
    }

    fn assemble(
        info: TargetInfo,
        handles: Handles,
        reopen: Option<Reopen>,
        shared: Shared,
    ) -> Result<Self, TargetError> {
        let mut target = Self { lane: None, info, handles, reopen, shared: Arc::new(shared) };
        target.settle_direct()?;
        Ok(target)
    }

    /// Tries direct I/O with a read; where it does not work, a lane that relies on it is made anew.
    pub(super) fn settle_direct(&mut self) -> Result<(), TargetError> {
        match self.handles.direct_alignment(self.info.sector) {
            Some(alignment) => self.info.sector = alignment,
            None if self.handles.has_direct() => {
                self.handles.give_up_direct();
                if let Some(plan) = self.lane.take().map(|lane| lane.plan) {
                    self.make_lane(&plan)?;
                }
            }
            None => {}
        }
        Ok(())
    }

    /// Closes what this handle has open and opens it afresh; a plan is kept.
    pub(super) fn open_again(&mut self) -> Result<(), TargetError> {
        if self.shared.is_device() && self.reopen.is_none() {
            return Err(TargetError::Unsupported("a device is opened again by its first handle only".into()));
        }
        let plan = self.lane.take().map(|lane| lane.plan);
        self.flush()?;
        if let Some(reopen) = &mut self.reopen {
            // The old description must be closed before the device can be had exclusively again.
            let nothing = Handles::new(null()?).map_err(|e| cannot_open("/dev/null", &e))?;
            drop(std::mem::replace(&mut self.handles, nothing));
            let fd = insist(reopen)?;
            self.handles = Handles::new(fd).map_err(|e| cannot_open(&self.info.name, &e))?;
        } else {
            let _ = fadvise(self.handles.any(), 0, None, Advice::DontNeed);
            self.handles = fresh_handles(&self.shared, &self.info.name)?;
        }
        self.settle_direct()?;
        plan.map_or(Ok(()), |plan| self.make_lane(&plan))
    }
}

fn info(name: String, bytes: u64, sector: u32, whole_card: bool, shared: &Shared) -> TargetInfo {
    let file_system = shared.options.file_system.as_ref().map(|note| note.name.clone());
    TargetInfo { name, bytes, sector, io_path: shared.io_path(), file_system, whole_card }
}

fn fresh_handles(shared: &Shared, name: &str) -> Result<Handles, TargetError> {
    match shared.open_handles() {
        Some(handles) => handles.map_err(|e| cannot_open(name, &e)),
        None => Err(TargetError::Unsupported(format!("{name} is opened by who guards it"))),
    }
}

fn insist(reopen: &mut Reopen) -> Result<OwnedFd, TargetError> {
    let deadline = Instant::now() + REOPEN_PATIENCE;
    loop {
        match reopen() {
            Err(_) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(20)),
            outcome => return outcome,
        }
    }
}

/// Stands in while a device is closed.
fn null() -> Result<OwnedFd, TargetError> {
    std::fs::File::open("/dev/null").map(OwnedFd::from).map_err(|e| cannot_open("/dev/null", &e))
}

fn cannot_open(name: &str, error: &std::io::Error) -> TargetError {
    TargetError::Setup { what: format!("opening {name} for a test"), reason: error.to_string() }
}
