//! Real targets: a block device, a plain file, or a test file in a directory, by io_uring or by pread and pwrite.
//!
//! Honest figures depend on this module: direct I/O or a caveat, aligned memory, incompressible data, one clock for all
//! lanes (DESIGN.md, "Honest numbers"). Devices are guarded and opened by the crate `device`.

mod backing;
mod failures;
mod handles;
mod hanging_call;
mod lane;
mod open;
mod ownership;
mod psync;
mod slots;
mod test_file;
mod uring;

pub use backing::{
    BlockDevice, HealthSource, IO_VARIABLE, IoChoice, PingSource, RealOptions, TemperatureSource,
};
pub use hanging_call::try_lock_file;
pub use ownership::OwnershipCheck;
pub use uring::check_available as check_io_uring;

use crate::content::{ContentMatch, IoContent, compare_content};
use crate::pending::{PendingWait, must_restore, register_wait};
use crate::target::{
    IoCompletion, IoDirection, IoRequest, LanePlan, Target, TargetError, TargetInfo, TargetRegion,
    TargetResult, place_area,
};
use backing::{LaneBacking, TargetBacking};
use cardscope_model::caveat::Caveat;
use cardscope_model::recipe::KernelPath;
use cardscope_model::units::Nanos;
use cardscope_sd::nvme::SmartLog;
use failures::{FailedCall, IoFailure};
use handles::FileHandles;
use lane::{FinishedIo, RealLane};
use ownership::change_error;
use rustix::io::Errno;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Real device, file or directory, made by [`RealTarget::open_device`], [`RealTarget::open_file`] or [`RealTarget::create_in_directory`];
/// [`Target::lane`] adds lanes.
pub struct RealTarget {
    /// Declared first: I/O ends before descriptors close and the test file is removed.
    lane: Option<RealLane>,
    info: TargetInfo,
    handles: FileHandles,
    shared: Arc<LaneBacking>,
}

impl std::fmt::Debug for RealTarget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RealTarget").field("info", &self.info).finish_non_exhaustive()
    }
}

impl RealTarget {
    fn planned_lane(&mut self) -> TargetResult<&mut RealLane> {
        let unplanned = "a lane is planned before its first I/O";
        let name = &self.info.name;
        self.lane.as_mut().ok_or_else(|| TargetError::setup(format!("using {name}"), unplanned))
    }

    fn make_lane(&mut self, plan: &LanePlan) -> TargetResult {
        // The old lane is dropped first, since the memory that may be locked is scarce.
        self.lane = None;
        let direct = plan.path == KernelPath::Direct;
        if direct && !self.handles.has_direct() {
            self.shared.add_caveat(Caveat::NoDirectIo { file_system: self.shared.file_system() });
        }
        let switching = "switching direct I/O on or off";
        let file = self.handles.get(direct).map_err(|e| self.target_setup_error(switching, &e))?;
        self.lane = Some(RealLane::new(plan, file, &self.shared)?);
        self.info.io_path = self.shared.io_path();
        Ok(())
    }

    /// Only final errors are returned: the plan that these I/Os belonged to is over.
    fn drain(&mut self) -> TargetResult {
        let Self { lane, shared, handles, info } = self;
        if let Some(lane) = lane
            && let Some((io, failure)) = lane.drain(shared.options.io_timeout())?
        {
            let error = FailedCall::from_io(&io, failure).classify(shared, handles, info.sector);
            if error.is_final() {
                return Err(error);
            }
        }
        shared.check_abandoned()
    }

    fn target_setup_error(&self, what: &str, error: &std::io::Error) -> TargetError {
        TargetError::setup(format!("{what} for {}", self.info.name), error)
    }

    fn call_failed(&self, operation: &'static str, range: TargetRegion, errno: Errno) -> TargetError {
        let call = FailedCall { operation, range, failure: IoFailure::Errno(errno) };
        call.classify(&self.shared, &self.handles, self.info.sector)
    }

    /// Runs the ownership check, unless one ended within `fresh`.
    fn check_ownership(&self, fresh: Duration) -> TargetResult {
        let options = &self.shared.options;
        self.shared.ownership.check_now(&options.interrupt, options.io_timeout(), fresh)
    }

    #[inline]
    fn check_writable(&self, operation: &'static str, offset: u64) -> TargetResult {
        let looked = self.shared.ownership.write_allowed();
        looked.map_err(|change| change_error(&self.shared.name, change, operation, offset))
    }
}

impl Drop for RealTarget {
    /// An I/O left in flight may write when other data is in its place: if data must be restored, it gets the full I/O
    /// timeout.
    fn drop(&mut self) {
        let Self { lane: Some(lane), shared, .. } = self else { return };
        let limit = if must_restore() { shared.options.io_timeout() } else { hanging_call::DROP_TIMEOUT };
        if let Err(error) = lane.drain(limit) {
            shared.set_abandoned(error);
        }
    }
}

impl Target for RealTarget {
    fn info(&self) -> &TargetInfo {
        &self.info
    }

    #[inline]
    fn now(&mut self) -> Nanos {
        self.shared.clock.now()
    }

    fn plan(&mut self, plan: &LanePlan) -> TargetResult {
        let same = self.lane.as_ref().is_some_and(|lane| lane.plan == *plan);
        self.check_ownership(if same { ownership::RECENT } else { Duration::ZERO })?;
        self.drain()?;
        if same { Ok(()) } else { self.make_lane(plan) }
    }

    #[inline]
    fn submit(&mut self, io: &IoRequest) -> TargetResult {
        let limit = self.shared.limit();
        let end = io.offset.checked_add(u64::from(io.len)).filter(|end| *end <= limit);
        let Some(end) = end else { return Err(beyond_size_error(&self.info, io, limit)) };
        if io.direction == IoDirection::Write {
            // Only a write to the end of a file can hide that the file was cut meanwhile.
            if end == limit && !self.shared.is_device() {
                self.check_ownership(Duration::ZERO)?;
            }
            self.check_writable("write", io.offset)?;
        }
        self.planned_lane()?.submit(io)
    }

    fn complete(&mut self, at_least: usize, done: &mut Vec<IoCompletion>) -> TargetResult {
        let Self { lane: Some(lane), shared, handles, info, .. } = self else {
            return self.planned_lane().map(drop);
        };
        let mut gone = None;
        lane.complete(at_least, shared, |FinishedIo { slot, at, carried, failure }| {
            let result = match (failure, carried, &gone) {
                // All further failures have the same cause, and classifying each would take as long again.
                (Some(_), _, Some(gone)) => Err(TargetError::clone(gone)),
                (Some(failure), Some(io), None) => {
                    Err(FailedCall::from_io(&io, failure).classify(shared, handles, info.sector))
                }
                _ => Ok(()),
            };
            gone = gone.take().or(result.as_ref().err().filter(|error| error.is_final()).cloned());
            done.push(IoCompletion { slot, at, result });
        })?;
        gone.map_or(Ok(()), Err)
    }

    fn flush(&mut self) -> TargetResult {
        // Through the page cache a flush takes as long as writing back all cached data, so it has no limit.
        let direct = self.lane.as_ref().is_none_or(|lane| lane.plan.path == KernelPath::Direct);
        let limit = direct.then(|| self.shared.options.io_timeout());
        let whole = TargetRegion { start: 0, len: self.shared.limit() };
        let flushed = self.shared.flush(self.handles.any_fd(), limit)?;
        flushed.map_err(|errno| self.call_failed("flush", whole, errno))
    }

    fn discard(&mut self, range: TargetRegion) -> TargetResult {
        self.check_ownership(ownership::RECENT)?;
        self.check_writable("discard", range.start)?;
        let _waiting = register_wait(PendingWait::Call(format!("a discard of {}", self.info.name).into()));
        match self.shared.discard(self.handles.any_fd(), range) {
            Ok(()) => Ok(()),
            Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::NOTTY) => {
                Err(TargetError::Unsupported(format!("{} does not support discard", self.info.name)))
            }
            Err(errno) => Err(self.call_failed("discard", range, errno)),
        }
    }

    fn idle(&mut self, time: Duration) {
        let until = Instant::now() + time;
        while !self.shared.options.interrupt.is_raised() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            std::thread::sleep(left.min(hanging_call::CHECK_INTERVAL));
        }
    }

    fn area(&mut self, bytes: u64) -> TargetResult<TargetRegion> {
        let sector = u64::from(self.info.sector);
        let bytes = bytes.checked_next_multiple_of(sector).unwrap_or(u64::MAX / sector * sector);
        if let TargetBacking::Directory(file) = &self.shared.backing
            && bytes > self.shared.limit()
        {
            file.grow(bytes, &self.shared.options.interrupt)?;
            self.shared.set_limit(bytes);
            self.update_direct_io()?;
        }
        let available = self.shared.limit();
        match self.info.whole_card {
            true => place_area(available, bytes),
            false if bytes <= available => Ok(TargetRegion { start: 0, len: bytes }),
            false => {
                let what = format!("the test area on {}", self.info.name);
                Err(TargetError::NoSpace { what, needed: bytes, available })
            }
        }
    }

    fn drop_caches(&mut self) -> TargetResult {
        self.flush()?;
        self.shared.drop_caches(self.handles.any_fd())
    }

    fn temperature(&mut self) -> Option<f64> {
        self.shared.options.temperature.as_ref().and_then(|source| source())
    }

    fn ping(&mut self) -> TargetResult<Option<Nanos>> {
        let Some(ping) = &self.shared.options.ping else { return Ok(None) };
        match ping() {
            Ok(took) => Ok(Some(u64::try_from(took.as_nanos()).unwrap_or(Nanos::MAX))),
            Err(errno) => Err(self.call_failed("ping", TargetRegion { start: 0, len: 0 }, errno)),
        }
    }

    fn health(&mut self) -> Option<SmartLog> {
        self.shared.options.health.as_ref().and_then(|source| source())
    }

    fn reopen(&mut self) -> TargetResult {
        self.reopen_handles()
    }

    fn lane(&mut self) -> TargetResult<Option<Box<dyn Target>>> {
        let again = "opening one more handle";
        let handles = self.handles.try_clone().map_err(|e| self.target_setup_error(again, &e))?;
        let (info, shared) = (self.info.clone(), Arc::clone(&self.shared));
        Ok(Some(Box::new(Self { lane: None, info, handles, shared })))
    }

    fn buffer(&mut self, slot: u32) -> TargetResult<&mut [u8]> {
        self.planned_lane()?.slots.free_memory(slot)
    }

    fn compare(&mut self, slot: u32, expected: IoContent) -> TargetResult<ContentMatch> {
        if matches!(expected, IoContent::Noise | IoContent::Buffer) {
            return Err(TargetError::Unsupported("noise and buffers leave no rule to compare with".into()));
        }
        let slots = &mut self.planned_lane()?.slots;
        let Some(io) = slots.last_io(slot) else {
            return Err(TargetError::Unsupported(format!("slot {slot} has read nothing")));
        };
        let found = compare_content(expected, io.offset, &slots.free_memory(slot)?[..io.len as usize]);
        if found != ContentMatch::Same {
            // A file that was cut reads as zeros, a device that shrank as anything; neither is the card's fault.
            let present = self.shared.ownership.object_present();
            present.map_err(|change| change_error(&self.shared.name, change, "read", io.offset))?;
        }
        Ok(found)
    }

    fn caveats(&self) -> Vec<Caveat> {
        self.shared.caveats()
    }
}

#[cold]
fn beyond_size_error(info: &TargetInfo, io: &IoRequest, limit: u64) -> TargetError {
    let what = format!("submitting {} bytes at {} to {}", io.len, io.offset, info.name);
    TargetError::setup(what, format!("its size is {limit} bytes"))
}
